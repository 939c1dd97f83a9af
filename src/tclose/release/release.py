"""Release: a table that has been checked, with its papers; all of it is written to the disk, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.errors import GateError, InputError, OutputError, PolicyError, raising_alone
from tclose.jobs import announce
from tclose.judge.gate import judge
from tclose.judge.result import Audit
from tclose.make.losses import Losses
from tclose.make.scales.grids import Grid
from tclose.policy import Policy
from tclose.release.certificate import CERTIFICATE, CODEBOOK, RECORD, codebook, to_json
from tclose.tables.files import Together, check_target, sha256_of
from tclose.tables.moments import Moments
from tclose.tables.readings import Reading
from tclose.tables.write import check_columns, check_suffix, write_table
from tclose.values.arrays import Ints
from tclose.values.exact import decimal_up, number_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from tclose.make.fragmentation.result import Fragmentation
    from tclose.study.attack import Attacks
    from tclose.study.compare.comparison import Comparison
    from tclose.study.utility.utility import Utility


@dataclass(frozen=True, eq=False)
class Details:
    """What writing and showing a release needs besides its public attributes.

    Attributes
    ----------
    coded : pyarrow.Table
        The release with its columns as dictionaries.
    policy : Policy
        What a reader can judge the release by: limits over rows, with every distance decided.
    against_input : Audit
        Of the release against the input. With the audit against itself it gives away the suppressed rows: never publish it.
    inputs : tuple of Path
        The files that were read to make the release: it is never written over one of them.
    in_words : dict
        How each quasi-identifier is published, for a person: "in ranges 8.6 wide on average".
    moments : dict of Moments
        How the timestamps of a column were written in the input: a CSV has them in the same form.
    levels : sequence of int or None
        The level of its hierarchy at which each quasi-identifier is published, as in `tclose.make.algorithm.Partition`.
    grids : dict
        The snap, top and bottom that ``snap: auto`` chose, by the name of the quasi-identifier.
    edge_grids : dict of Grid
        The grid to which ends of ranges are moved, for each quasi-identifier that has none itself.
    unique_before : int or None
        The rows of the input that differ from all others in the columns that are published; None if one table of several has
        not all of them.
    like_before : float
        Where the policy names no unit, the share of the input's rows that agree with the row before in all columns but one at
        most, as rows of one person do; 0 if that may be chance.
    """

    coded: pa.Table
    policy: Policy
    against_input: Audit
    inputs: tuple[Path, ...]
    in_words: dict[str, str]
    moments: dict[str, Moments]
    levels: Sequence[int | None]
    grids: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    edge_grids: Mapping[str, Grid] = field(default_factory=dict)
    unique_before: int | None = None
    like_before: float = 0.0

    def table_for(self, data: Path) -> pa.Table:
        """Return the table to write to a file: in a CSV, timestamps have the form that they had in the input.

        Raises
        ------
        OutputError
            A sensitive column has empty texts, which a reader of a CSV would take for missing cells.
        """
        if data.suffix.lower() != ".csv":
            return self.coded
        columns = dict(zip(self.coded.column_names, self.coded.columns, strict=True))
        for sensitive in self.policy.sensitive:
            values = columns[sensitive.name].combine_chunks().dictionary
            if pa.types.is_string(values.type) and "" in values.to_pylist():
                raise OutputError(
                    f"Sensitive column {sensitive.name!r} has empty texts, which a CSV cannot tell from missing cells. "
                    "Write Parquet or Arrow, or replace them."
                )
        for name, form in self.moments.items():
            column = columns[name].combine_chunks()
            texts = pa.array([form.text(moment) for moment in column.dictionary.to_pylist()], pa.string())
            columns[name] = pa.DictionaryArray.from_arrays(column.indices, texts)
        return pa.table(columns)

    def unique_without(self, name: str) -> int:
        """Return the number of rows that are unique in all published columns but one."""
        return self.unique_if({name: np.zeros(self.coded.num_rows, dtype=np.int64)})

    def unique_if(self, other: Mapping[str, Ints]) -> int:
        """Return the number of rows that would be unique in all published columns if some columns had other values.

        Parameters
        ----------
        other
            The codes of the other values of each row, from 0 on, by the names of their columns.
        """
        keys = np.zeros(self.coded.num_rows, dtype=np.int64)
        for name in self.coded.column_names:
            codes = other[name] if name in other else self.codes_of(name)
            keys = np.unique(keys * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
        return int(np.count_nonzero(np.bincount(keys) == 1))

    def codes_of(self, name: str) -> Ints:
        """Return the index of each row's value in the dictionary of a published column; a missing cell has the next index."""
        column = self.coded[name].combine_chunks()
        codes: Ints = column.indices.cast(pa.int64()).fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
        return codes


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A table that can be published: it was read back and audited before it was returned.

    Attributes
    ----------
    table : pyarrow.Table
        The release as it is written. Suppressed rows are not in it.
    partition : (rows of the input,) int64
        The class of each row of the input, in its order; -1 where the row is suppressed. It is never written.
    audit : Audit
        Of the release, against itself.
    loss : Losses
        The information loss against the input: ``loss["gcp"]``.
    certificate, record : dict
        The public and the internal paper; writing adds what they say of the file.
    codebook : str
        What each published column holds, in Markdown.
    readings : dict of Reading
        How each quasi-identifier and each sensitive attribute of the input was read.
    suppressed : int
        The number of rows of the input that are not in the release.

    Examples
    --------
    >>> import tclose as tc
    >>> people = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
    >>> release = tc.anonymize(people, tc.Policy(quasi=["age"], sensitive={"salary": 0.5}, k=2))
    >>> release.table["age"].to_pylist()
    ['[23, 27]', '[23, 27]', '[31, 39]', '[31, 39]']
    """

    partition: NDArray[np.int64]
    audit: Audit
    loss: Losses
    certificate: dict[str, Any]
    record: dict[str, Any]
    readings: dict[str, Reading]
    _details: Details

    @cached_property
    def table(self) -> pa.Table:
        """The release as it is written: a table of plain columns, without the suppressed rows."""
        coded = self._details.coded
        return pa.table([column.combine_chunks().dictionary_decode() for column in coded.columns], names=coded.column_names)

    @property
    def suppressed(self) -> int:
        """The number of rows of the input that are not in the release."""
        return int(np.count_nonzero(self.partition < 0))

    @property
    def codebook(self) -> str:
        """A description of each published column, in Markdown; `write` puts it beside the release."""
        return codebook("Release", self.certificate)

    def to_pandas(self, numeric: Literal["midpoint", "bounds"] | None = None) -> pd.DataFrame:
        """Return the release as a pandas frame: as it is published, or to compute with.

        Parameters
        ----------
        numeric : {"midpoint", "bounds"}, optional
            "midpoint": each published range of numbers or dates becomes its middle; one that is open at one side, as in
            ``90 or more``, becomes its other end. "bounds": it becomes two columns, ``age.min`` and ``age.max``, missing where a
            range is open. In both cases labels of hierarchies and of sets become categories.
        """
        if numeric is None:
            return self.table.to_pandas()
        from tclose.release.frames import frame_of

        return frame_of(self._details.coded, self._details.policy, self.readings, numeric)

    def to_polars(self) -> pl.DataFrame:
        """Return the release as a polars frame."""
        import polars as pl

        return pl.DataFrame(pl.from_arrow(self.table))

    @raising_alone
    def to_html(
        self,
        path: str | Path | None = None,
        *,
        internal: bool = False,
        data: Any = None,
        attacks: Attacks | None = None,
        utility: Utility | None = None,
        comparison: Comparison | None = None,
        fragmentation: Fragmentation | None = None,
        force: bool = False,
    ) -> str:
        """Return a report of the release as one HTML page, and write it to a file if a path is given.

        A public report shows what anybody can compute from the release and its certificate, and the policy's ``context``. Counts
        below the policy's ``small_cells`` are masked. It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Parameters
        ----------
        path
            Ends in .html. The name of an internal report has "internal" in it.
        internal
            Add what must not be published: the record, every class, the worst of them with their transport plans.
        data
            The raw table, for an internal report.
        attacks, utility, comparison
            What `tclose.attack`, `tclose.utility` and `tclose.compare` found, for an internal report.
        fragmentation
            What `tclose.find_fragmentation` found, for an internal report.
        force
            Whether a file that exists may be replaced.
        """
        from tclose.report.page import check_page, write_page
        from tclose.report.papers import papers_in_memory
        from tclose.report.report import check_internal, internal_report, public_report

        check_internal(internal, data, attacks, utility, comparison, fragmentation)
        if path is not None:
            check_page(Path(path), internal=internal, force=force, inputs=self._details.inputs)
        papers = papers_in_memory(self)
        if internal:
            given = {"attacks": attacks, "utility": utility, "comparison": comparison}
            found = {name: one.to_dict() for name, one in given.items() if one is not None}
            page = internal_report(papers, data, fragmentation=fragmentation, **found)
        else:
            page = public_report(papers)
        if path is not None:
            write_page(page, Path(path), internal=internal, force=force)
        return page

    @raising_alone
    def write(self, path: str | Path, *, force: bool = False) -> list[Path]:
        """Write the release and its papers, all or none of them, after it was read back from the disk and audited again.

        Parameters
        ----------
        path
            Ends in .csv, .parquet or .arrow.
        force
            Whether files that exist may be replaced; never those that the release was made from.

        Returns
        -------
        list of Path
            The release, its certificate, its private record and its codebook.
        """
        data = Path(path)
        self._check_target(data, force=force)
        announce("Writing")
        with Together(force=force) as files:
            paths = self._stage(files, data)
            files.commit()
        return paths

    def _check_target(self, data: Path, *, force: bool) -> None:
        """Raise where the release or one of its papers cannot be written."""
        check_columns(self._details.coded.column_names, data, formula_guard=self._details.policy.formula_guard)
        check_paths(data, force=force, inputs=self._details.inputs)

    def _stage(self, files: Together, data: Path) -> list[Path]:
        """Stage the release and its papers, and return their paths; the release is read back and audited again."""
        table, guard = self._details.table_for(data), self._details.policy.formula_guard
        staged = files.stage(data, lambda to: write_table(table, to, formula_guard=guard), data=True)
        announce("Reading back")
        self._check_file(staged)
        digest = sha256_of(staged)
        about: dict[str, Any] = {"release": {"file": data.name, "sha256": digest}}
        texts = (
            to_json({**self.certificate, **about}),
            to_json({**self.record, **about}),
            codebook(data.name, self.certificate, digest),
        )
        papers = papers_of(data)
        for target, text in zip(papers, texts, strict=True):
            files.stage(target, partial(_write_text, text), private=target.name.endswith(RECORD))
        return [data, *papers]

    def _check_file(self, file: Path) -> None:
        """Raise an error if the file on the disk, read back and audited, is not the release that was judged."""
        try:
            audit = judge(file, self._details.policy)
        except PolicyError:
            raise OutputError(
                "The release is not written: in such a file a sensitive column would not be what it was. Write Parquet or Arrow."
            ) from None
        except InputError:
            raise OutputError("The release cannot be read back from its folder, and is not written. Check the disk.") from None
        same = audit.rows == self.audit.rows and audit.classes == self.audit.classes and audit.k == self.audit.k
        if not same or any(audit.sensitive[name].t_judged != self.audit.sensitive[name].t_judged for name in audit.sensitive):
            raise GateError("The release was stopped: read back from its file it is not what was judged. Nothing is written.")

    def plot_attribute(self, sensitive: str, number: int | None = None) -> Any:
        """Return an Altair chart of a sensitive attribute in the release, and in one of its classes.

        It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Parameters
        ----------
        sensitive
            The attribute.
        number
            The class, as `Audit.class_table` numbers them; by default the one that is farthest from the table.

        Examples
        --------
        >>> import tclose as tc
        >>> people = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
        >>> release = tc.anonymize(people, tc.Policy(quasi=["age"], sensitive={"salary": 0.5}, k=2))
        >>> release.plot_attribute("salary", 1)
        alt.LayerChart(...)
        """
        from tclose.report.plots import plot_attribute

        return plot_attribute(self, sensitive, number)

    def plot_transport(self, sensitive: str, number: int | None = None) -> Any:
        """Return an Altair chart of the moves of mass that turn the distribution of a class into that of the release.

        It needs the extra ``report``: ``pip install 'tclose[report]'``. Parameters are those of `plot_attribute`.
        """
        from tclose.report.plots import plot_transport

        return plot_transport(self, sensitive, number)

    def _repr_html_(self) -> str:
        """Return the release as a small table for a notebook: what is asked and attained, and what it cost."""
        from tclose.report.summaries import release_html

        return release_html(self)

    def __repr__(self) -> str:
        """Return the release in one line: rows, classes, k, t of each sensitive attribute, suppressed rows, information loss."""
        measured = ", ".join(f"{name} t={decimal_up(found.t_judged)}" for name, found in self.audit.sensitive.items())
        rows, classes = number_of(self.audit.rows, "row"), number_of(self.audit.classes, "class", "classes")
        return (
            f"<Release: {rows} in {classes}, k={self.audit.k}; {measured}; {number_of(self.suppressed, 'row')} suppressed, "
            f"gcp={self.loss['gcp']:.4f}>"
        )


def papers_of(data: Path) -> list[Path]:
    """Return the paths of a release's certificate, record and codebook."""
    return [data.with_name(data.name + ending) for ending in (CERTIFICATE, RECORD, CODEBOOK)]


def check_paths(data: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Return the paths of a release, its certificate, record and codebook; raise if one cannot be written."""
    check_suffix(data)
    if not _is_utf8(str(data)):
        raise OutputError(f"Path {str(data)!r} is not UTF-8: the certificate could not name the file. Choose another name.")
    for path in (data, *papers_of(data)):
        check_target(path, force=force, inputs=inputs)


def _is_utf8(path: str) -> bool:
    """Whether a path can be written in UTF-8: Linux allows any bytes, of which Python makes lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _write_text(text: str, path: Path) -> None:
    """Write the text of a paper to a file in UTF-8."""
    path.write_bytes(text.encode())
