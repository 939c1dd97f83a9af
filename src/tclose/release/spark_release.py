"""A release on Spark: a table that has been checked where it is, with its papers, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tclose.errors import GateError, OutputError, raising_alone
from tclose.jobs import announce
from tclose.judge.parts import Figures
from tclose.make.losses import Losses
from tclose.release.certificate import RECORD, codebook, to_json
from tclose.release.release import papers_of
from tclose.tables.files import Together, check_new_folder, check_target, new_folder, sha256_of_folder
from tclose.tables.readings import Reading
from tclose.tables.spark_rows import PublishedRows
from tclose.values.exact import decimal_up, number_of

PARQUET = ".parquet"


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease:
    """A table on Spark that can be published: it was audited there before it was returned.

    It is a `Release` whose rows have not come home, so that it has no class for each row of the input.

    Attributes
    ----------
    table : DataFrame of Spark
        The release as it is written.
    audit : Figures
        What its classes attain.
    loss : Losses
        The information loss against the input: ``loss["gcp"]``.
    certificate, record : dict
        The public and the internal paper; writing adds what they say of the files.
    codebook : str
        What each published column holds, in Markdown.
    readings : dict of Reading
        How each quasi-identifier and each sensitive attribute of the input was read.
    suppressed : int
        0: on Spark no row is suppressed.
    """

    audit: Figures
    loss: Losses
    certificate: dict[str, Any]
    record: dict[str, Any]
    readings: dict[str, Reading]
    in_words: dict[str, str]
    _made: PublishedRows
    _names: Sequence[str]
    _judge: Callable[[PublishedRows], Figures]
    _by_reader: Figures
    suppressed: int = 0

    @property
    def table(self) -> Any:
        """The release as a DataFrame of Spark, its rows sorted by their values."""
        return self._made.table(self._names)

    @property
    def codebook(self) -> str:
        """A description of each published column, in Markdown; `write` puts it beside the release."""
        return codebook("Release", self.certificate)

    @raising_alone
    def write(self, path: str | Path, *, force: bool = False) -> list[Path]:
        """Write the release as a folder of Parquet files, and its papers beside it, after it was read back and audited again.

        Parameters
        ----------
        path
            A folder that ends in .parquet, on a disk that the driver and the executors see under this name.
        force
            Whether a folder that exists may be replaced.

        Returns
        -------
        list of Path
            The release, its certificate, its private record and its codebook.
        """
        data = Path(path).absolute()
        check_folder(data, force=force)
        papers = papers_of(data)
        with Together(force=force) as files, new_folder(data) as folder:
            announce("Writing")
            self._made.write(self._names, folder.path)
            announce("Reading back")
            if self._judge(self._made.read_back(self._names, folder.path)) != self._by_reader:
                raise GateError(
                    "The release was stopped: read back from its files it is not what was judged. Nothing is written."
                )
            digest = sha256_of_folder(folder.path)
            about: dict[str, Any] = {"release": {"file": data.name, "sha256": digest}}
            texts = (
                to_json({**self.certificate, **about}),
                to_json({**self.record, **about}),
                codebook(data.name, self.certificate, digest),
            )
            for target, text in zip(papers, texts, strict=True):
                files.stage(target, partial(_write_text, text), private=target.name.endswith(RECORD))
            folder.retire()
            files.commit()
            folder.commit()
        return [data, *papers]

    def __repr__(self) -> str:
        """Return the release in one line: rows, classes, k, t of each sensitive attribute, information loss."""
        measured = ", ".join(f"{name} t={decimal_up(found.t_judged)}" for name, found in self.audit.sensitive.items())
        rows, classes = number_of(self.audit.rows, "row"), number_of(self.audit.classes, "class", "classes")
        return f"<SparkRelease: {rows} in {classes}, k={self.audit.k}; {measured}; gcp={self.loss['gcp']:.4f}>"


def check_folder(data: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Raise OutputError, before long work, where a folder of Parquet files or a paper beside it could not be written."""
    if data.suffix.lower() != PARQUET:
        raise OutputError(
            f"On Spark a release is a folder of Parquet files: its name must end in {PARQUET}. Got {data.suffix or data.name!r}."
        )
    check_new_folder(data, force=force, inputs=inputs)
    for paper in papers_of(data):
        check_target(paper, force=force, inputs=inputs)


def _write_text(text: str, path: Path) -> None:
    """Write the text of a paper to a file in UTF-8."""
    path.write_bytes(text.encode())
