"""The gate: a release is read back, as a reader would, and audited. A release that breaks the policy is not handed out.

Nothing here knows the partition, the codes or the kernels that the release was made with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tclose.columns.domains import Domain, domain_of, edges_from_table
from tclose.distances.choose import as_number
from tclose.errors import GateError
from tclose.judge.audit import Context, examine
from tclose.judge.parts import Figures
from tclose.judge.result import Audit
from tclose.policy import Policy
from tclose.tables.table import Table
from tclose.values.arrays import Ints
from tclose.values.bins import interval_of

Reference = Mapping[str, tuple[Domain, Ints]]


def reference_of(source: Table, policy: Policy) -> dict[str, tuple[Domain, Ints]]:
    """Return for each sensitive attribute of the input its domain as published, and the number of rows with each value."""
    found = {}
    for column in policy.sensitive:  # one by one: there may be as many combinations as rows
        cells, counts = source.cells([], [column.name]).domain(column.name)
        binned = column.bins is not None and column.publish is None
        domain = domain_of(source, column, cells, counts, binned=binned)
        if not binned:  # as they stand in the column, not as numbers
            values = source.values(column.name, cells).take(pa.array(np.argsort(domain.codes))).to_pylist()
            domain = replace(domain, values=values)
        found[column.name] = domain, domain.table(counts)
    return found


def bins_beside(source: Table, policy: Policy, reference: Reference) -> dict[str, tuple[Domain, Ints]]:
    """Return for each sensitive attribute whose values are published, and measured in bins too, the bins of the input.

    They are given as `tclose.judge.audit.Context.bins`: with a code for each value of the reference, and the number of rows of
    each bin.
    """
    found = {}
    for column in policy.sensitive:
        if column.bins is not None and column.publish is not None:
            cells, counts = source.cells([], [column.name]).domain(column.name)
            bins = domain_of(source, column, cells, counts, binned=True)
            of_values = np.empty(len(cells), dtype=np.int64)
            of_values[reference[column.name][0].codes] = bins.codes
            found[column.name] = replace(bins, codes=of_values), bins.table(counts)
    return found


def named_as_published(
    reference: Reference, source: Table, policy: Policy, table: pa.Table, rows: NDArray[Any]
) -> dict[str, tuple[Domain, Ints]]:
    """Return the input's domains and counts, its bins with the labels that the release publishes for them.

    Its edges come from the published rows alone, because they must not tell of suppressed ones.

    Each row's own number, read from the input once more, must lie in its published bin; and the rows of one bin of the input, and
    no others, must have one label. A bin without published rows has no label.

    Parameters
    ----------
    rows
        For each row of the release its row in the input.
    """
    found = dict(reference)
    for column in policy.sensitive:
        if edges_from_table(column):
            domain, counts = reference[column.name]
            cells, _ = source.cells([], [column.name]).domain(column.name)
            own = pc.index_in(source.column(column.name).take(pa.array(rows)), value_set=cells).to_numpy()
            values = source.values(column.name, cells).to_pylist()
            found[column.name] = (
                replace(domain, values=_published_labels(column.name, table[column.name], values, own, domain)),
                counts,
            )
    return found


def _published_labels(name: str, column: pa.ChunkedArray, values: Sequence[Any], own: Ints, domain: Domain) -> list[Any]:
    """Return the published label of each bin of a domain; raise GateError if some row has a wrong label."""
    shown = column.combine_chunks().dictionary_encode()
    labels = [*shown.dictionary.to_pylist(), None]
    index = shown.indices.fill_null(len(labels) - 1).to_numpy(zero_copy_only=False)
    pairs = [divmod(pair, len(values)) for pair in np.unique(index.astype(np.int64) * len(values) + own).tolist()]
    bins = {(label, int(domain.codes[value])) for label, value in pairs}
    apart = len(bins) == len({label for label, _ in bins}) == len({code for _, code in bins})
    if not apart or not all(_lies_in(values[value], labels[label]) for label, value in pairs):
        raise GateError(f"The release was stopped: its bins of {name!r} are not those of the input. Nothing is written.")
    published = {code: labels[label] for label, code in bins}
    return [published.get(code, ("no rows", code)) for code in range(len(domain.values))]


def _lies_in(value: Any, label: str | None) -> bool:
    """Whether a value lies in the bin of a label; a missing value has the label None."""
    if value is None or label is None:
        return value is None and label is None
    interval = interval_of(label)
    return interval is not None and interval[0] <= as_number(value) < interval[1]


def judge(table: pa.Table | Path, policy: Policy) -> Audit:
    """Return the audit of a release against itself, which any reader can make; raise GateError if it breaks the policy."""
    return _audit_or_raise(table, policy, Context(), "itself")


def judge_against(reference: Reference, table: pa.Table, policy: Policy) -> Audit:
    """Return the audit of a release against the input, suppressed rows included; raise GateError if it breaks the policy."""
    return _audit_or_raise(table, policy, Context(reference), "the input")


def _audit_quietly(table: Any, policy: Policy, context: Context) -> Audit:
    """Return the audit of a release as its reader gets it, without warnings."""
    return examine(as_read(table), policy, replace(context, warn=lambda _: None))  # a release has no unit


def _audit_or_raise(table: Any, policy: Policy, context: Context, against: str) -> Audit:
    """Return the audit of a release; raise GateError, naming the first broken limit, if it breaks the policy."""
    audit = _audit_quietly(table, policy, context)
    _refuse_broken({(judgement.model, judgement.sensitive): judgement.broken.any() for judgement in audit.judgements}, against)
    return audit


def check_figures(found: Figures, rows: int) -> None:
    """Raise GateError if a release breaks the policy, or has not all rows of its table, by the figures of its parts."""
    _refuse_broken(found.broken, "its table")
    if found.rows != rows:
        raise GateError("The release was stopped: it would not have the rows of its table. Nothing is written.")


def _refuse_broken(limits: Mapping[tuple[str, str | None], Any], against: str) -> None:
    """Raise GateError if a limit is broken, naming the first; limits are given by name and sensitive attribute."""
    for (model, sensitive), broken in limits.items():
        if broken:
            of = f" of {sensitive!r}" if sensitive else ""
            raise GateError(f"The release was stopped: compared with {against} it would break {model}{of}. Nothing is written.")


def as_read(table: Any) -> Any:
    """Return a release's table as its reader gets it: numbers, not dictionaries of numbers, which would be categories."""
    if not isinstance(table, pa.Table):
        return table
    columns = [
        column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type) and column.type.value_type != pa.string()
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def check_values(reference: Reference, table: pa.Table, suppressed: int) -> None:
    """Raise GateError unless each sensitive value occurs in the release as often as in the input, less suppressed rows."""
    for name in reference:
        after = {pair["values"]: pair["counts"] for pair in pc.value_counts(table[name]).to_pylist()}
        check_counts(reference, name, after, suppressed)


def check_counts(reference: Reference, name: str, after: Mapping[Any, int], suppressed: int) -> None:
    """Raise GateError unless the counts of a published sensitive column are those of the input, less suppressed rows."""
    domain, counts = reference[name]
    lost = [count - after.get(value, 0) for value, count in zip(domain.values, counts.tolist(), strict=True)]
    unknown = set(after).difference(domain.values)
    if unknown or min(lost) < 0 or sum(lost) != suppressed:
        raise GateError(f"The release was stopped: its values of {name!r} are not those of the input. Nothing is written.")
