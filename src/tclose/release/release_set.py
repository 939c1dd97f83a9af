"""ReleaseSet: several tables made from one, each checked by itself, with what joining them again would show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tclose.errors import raising_alone
from tclose.jobs import announce
from tclose.release.joined import Joined
from tclose.release.release import Release
from tclose.tables.files import Together


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
            Whether files that exist may be replaced; never those that the releases were made from.

        Returns
        -------
        list of list of Path
            For each table the release, its certificate, its private record and its codebook.
        """
        targets = numbered(Path(path), len(self.releases))
        for release, target in zip(self.releases, targets, strict=True):
            release._check_target(target, force=force)
        announce("Writing")
        with Together(force=force) as files:
            paths = [release._stage(files, target) for release, target in zip(self.releases, targets, strict=True)]
            files.commit()
        return paths

    def __repr__(self) -> str:
        """The tables, line by line, and their smallest intersection."""
        lost, least = self.joined.association_lost, self.joined.smallest_intersection
        head = f"<ReleaseSet: {len(self.releases)} tables; smallest intersection {least}; {lost:.0%} of the association lost"
        return "\n  ".join([head, *map(repr, self.releases)]) + ">"


def numbered(path: Path, tables: int) -> list[Path]:
    """Return the paths of several tables: ``release.csv`` becomes release.1.csv, release.2.csv and so on."""
    return [path.with_name(f"{path.stem}.{number}{path.suffix}") for number in range(1, tables + 1)]
