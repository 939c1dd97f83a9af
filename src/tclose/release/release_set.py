"""ReleaseSet: several tables made from one, each checked by itself, with what joining them again would show."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tclose.errors import InputError, raising_alone
from tclose.jobs import announce
from tclose.release.certificate import CERTIFICATE
from tclose.release.claims import read_certificate
from tclose.release.joined import Joined
from tclose.release.release import Release, check_paths, papers_of
from tclose.tables.files import Together, check_target
from tclose.tables.write import check_suffix


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseSet:
    """Several releases of the same rows: each has all quasi-identifiers and some of the sensitive attributes.

    k, t and every other limit are satisfied by each table by itself. Someone who joins the tables by a person's
    quasi-identifiers sees that the person is in one class of each: in their intersection, which may have fewer than k rows.

    Attributes
    ----------
    releases : tuple of Release
        Each with its table, certificate, record and audit.
    joined : Joined
        What joining the tables shows, and the association between sensitive attributes that no table shows.
    """

    releases: tuple[Release, ...]
    joined: Joined

    @raising_alone
    def write(self, path: str | Path, *, force: bool = False) -> list[list[Path]]:
        """Write all tables with their papers, all or none of them: ``release.csv`` as release.1.csv, release.2.csv and so on.

        Parameters
        ----------
        path
            Ends in .csv, .parquet or .arrow.
        force
            Whether files that exist may be replaced; never those that the releases were made from. Tables of an earlier set
            that had more of them are removed.

        Returns
        -------
        list of list of Path
            For each table the release, its certificate, its private record and its codebook.
        """
        targets = numbered(Path(path), len(self.releases))
        for release, target in zip(self.releases, targets, strict=True):
            release._check_target(target, force=force)
        obsolete = earlier_tables(Path(path), len(self.releases))
        for file in obsolete:
            check_target(file, force=force, inputs=self.releases[0]._details.inputs)
        announce("Writing")
        with Together(force=force) as files:
            paths = [release._stage(files, target) for release, target in zip(self.releases, targets, strict=True)]
            for file in obsolete:
                files.remove(file)
            files.commit()
        return paths

    def __repr__(self) -> str:
        """The tables, line by line, and their smallest intersection."""
        lost, least = self.joined.association_lost, self.joined.smallest_intersection
        head = f"<ReleaseSet: {len(self.releases)} tables; smallest intersection {least}; {lost:.0%} of the association lost"
        return "\n  ".join([head, *map(repr, self.releases)]) + ">"


def check_several_paths(path: Path, tables: int, *, force: bool, inputs: Collection[Path]) -> None:
    """Raise OutputError, before long work, if a file of several tables cannot be written, or an earlier one not be removed."""
    for target in numbered(path, tables):
        check_paths(target, force=force, inputs=inputs)
    for file in earlier_tables(path, tables):
        check_target(file, force=force, inputs=inputs)


def earlier_tables(path: Path, tables: int) -> list[Path]:
    """Return the files of an earlier set of tables whose numbers are above the number of tables of a new one.

    Beside the new tables they would look as if they belonged to them. A file is such a table only if its certificate says that
    it is the table with that number, one of several: a file that merely has the name ``release.2024.csv`` is not.
    """
    name = re.compile(rf"({re.escape(path.stem)}\.([1-9][0-9]*){re.escape(path.suffix)}){re.escape(CERTIFICATE)}")
    found: list[Path] = []
    with suppress(OSError):  # a folder may be closed to readers
        for match in filter(None, map(name.fullmatch, sorted(file.name for file in path.absolute().parent.iterdir()))):
            data, number = path.with_name(match[1]), int(match[2])
            if number > tables and _is_table(path.with_name(match[0]), number):
                found += [file for file in (data, *papers_of(data)) if file.exists()]
    return found


def _is_table(certificate: Path, number: int) -> bool:
    """Whether a file is the certificate of the table with a number, one of several."""
    with suppress(InputError):
        tables = read_certificate(certificate).tables
        return tables is not None and tables.number == number
    return False


def numbered(path: Path, tables: int) -> list[Path]:
    """Return the paths of several tables: ``release.csv`` becomes release.1.csv, release.2.csv and so on.

    Raises OutputError for a path that does not name a kind of file: a number would be taken for its suffix.
    """
    check_suffix(path)
    return [path.with_name(f"{path.stem}.{number}{path.suffix}") for number in range(1, tables + 1)]
