"""The record of a comparison: a file with what is done, so that one that was interrupted can go on.

One rule for a record that cannot be gone on with: it is refused, in a sentence, and stays as it is. No damaged cell is made again
in silence, because whoever damaged one figure may have changed others, which nobody can see. Remove the file to start anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tclose.errors import OutputError
from tclose.make.registry import ALGORITHMS
from tclose.release.entries import Count, Difference, Entry, Error, Share, read_entries
from tclose.study.compare.cell import Result, Task
from tclose.study.compare.comparison import Compared, Comparison
from tclose.tables.files import check_target, one_writer, sha256_of, write_whole
from tclose.tables.locations import Location
from tclose.tables.reader import Reader


class FiguresEntry(Entry):
    """What was measured on the release of a cell; see `tclose.study.compare.cell.Figures`."""

    attained: Annotated[dict[str, Error], Field(min_length=1)]
    classes: Count
    suppressed: Count
    homogeneous: Count
    gcp: Share
    lm: Share
    query_error: Error | None
    excess: Difference
    excess_interval: Annotated[list[Difference], Field(min_length=2, max_length=2)]
    attack: str
    seconds: Error
    gcp_stated: Share | None = None
    sentence: str | None = None
    share: dict[str, Share] = Field(default_factory=dict)
    share_in_table: dict[str, Share] = Field(default_factory=dict)


def _known(name: str) -> str:
    """Return the name of an algorithm; raise ValueError for one that this version does not have."""
    if name not in ALGORITHMS:
        raise ValueError("it names an algorithm that this version of tclose does not have")
    return name


class ResultEntry(Entry):
    """How a cell went; see `tclose.study.compare.cell.Result`."""

    algorithm: Annotated[str, AfterValidator(_known)]
    t: Annotated[float, Field(ge=0, le=1)] | None
    k: Annotated[Count, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]
    status: Literal["done", "refused", "time", "failed"]
    reason: str | None
    figures: FiguresEntry | None

    @model_validator(mode="after")
    def _is_done_or_not(self) -> Self:
        """Raise ValueError for a cell that is done without figures, or not done with some."""
        if (self.status == "done") != (self.figures is not None):
            raise ValueError("a cell is done without figures, or has some and is not done")
        return self


class CellsEntry(Entry):
    """The t of the policy itself, and how the cells of a comparison went."""

    asked: Annotated[float, Field(ge=0, le=1)] | None
    results: list[ResultEntry]

    @model_validator(mode="after")
    def _has_cells_of_one_comparison(self) -> Self:
        """Raise ValueError for a cell that is there twice, or that has a t where the policy has none."""
        if len({(one.algorithm, one.t, one.k, one.seed) for one in self.results}) < len(self.results):
            raise ValueError("it has a cell twice")
        if any((one.t is None) != (self.asked is None) for one in self.results):
            raise ValueError("a cell has a t and the policy has none, or the other way round")
        return self


class RecordEntry(CellsEntry):
    """The record of a comparison: what it is of, and its cells."""

    of: dict[str, Any]


class Record:
    """The file that has what is done."""

    def __init__(self, path: Path, of: dict[str, Any], own: float | None, compared: Compared | None = None) -> None:
        """Read what an earlier call has done; raise OutputError if the file is that of something else.

        Parameters
        ----------
        of
            What the comparison is of.
        own
            The t of the policy itself.
        compared
            The size of the table, and its columns.
        """
        self._path, self._of, self._own, self._compared = path, of, own, compared
        self.results: list[Result] = []
        if path.exists():
            self.results = self._read()

    def _read(self) -> list[Result]:
        """Return the results in the file."""
        remedy = "Remove it, or name another record."
        found = read_entries(self._path, RecordEntry, "the record of a comparison", remedy)
        if (found.of, found.asked) != (self._of, self._own):
            raise OutputError(
                f"File {str(self._path)!r} is not the record of this comparison, but of another table, policy, setting or "
                f"version of tclose. {remedy}"
            )
        results = [Result.from_dict(one.model_dump()) for one in found.results]
        return [one for one in results if one.status != "failed"]  # which is tried again

    def add(self, result: Result) -> None:
        """Write what is done, with one more result. Only its owner may read the file."""
        self.results.append(result)
        found = Comparison(self.results, self._own, self._compared).to_dict()
        text = json.dumps({"of": self._of, **found}, indent=2, ensure_ascii=False)
        write_whole(self._path, lambda to: to.write_text(text + "\n", encoding="utf-8"), force=True, private=True)


@contextmanager
def open_record(
    path: Path, task: Task, reader: Reader, seconds: float | None, own: float | None, compared: Compared
) -> Iterator[Record]:
    """Open the record of a comparison inside this block; raise OutputError if another comparison writes it at the same time."""
    where = Location.of(task.table)
    check_target(path, force=True, inputs=[where.path])
    digests = [] if reader.file is None else [sha256_of(file) for file in reader.file.files]
    of = {
        "version": version("tclose"),
        "table": " ".join(digests if where.part is None else [*digests, where.part]),
        "policy": json.dumps(task.policy.to_dict(None), default=str, sort_keys=True),
        "holdout": str(task.holdout),
        "effort": task.effort,
        "seconds": seconds,
    }
    with one_writer(path) as held:
        if not held:
            raise OutputError(
                f"Another comparison is writing the record {str(path)!r}. Wait until it has ended, or name another record."
            )
        yield Record(path, of, own, compared)
