"""audit: table + policy -> Audit, from histograms of values, in exact integers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tclose.attribute import REGION, AttributeAudit, measure
from tclose.distances.domain import Places, arrange, without_place
from tclose.errors import HierarchyError, InputError, PolicyError, PrivacyRiskWarning
from tclose.hierarchy import printed
from tclose.histograms import Histograms
from tclose.models import judge_regions
from tclose.policy import Policy, Sensitive
from tclose.regions import coarsenings
from tclose.result import Audit
from tclose.source.cells import Cells
from tclose.source.table import Table
from tclose.source.typing import PRINTED

if TYPE_CHECKING:
    import pyarrow as pa

IN_ORDER = ("integer", "decimal", "float", "date", "timestamp", "time", "category")
"""Kinds of columns for which ``distance: auto`` is the ordered distance."""


def audit(table: Any, policy: Policy) -> Audit:
    """Measure how far a table is from what a policy asks, exactly.

    Rows that agree on all quasi-identifiers form a class; every class is judged under every model: k-anonymity, l-diversity,
    t-closeness, beta-likeness, delta-disclosure. Values are compared as they stand. Only the quasi-identifiers and the
    sensitive attributes are needed, so a release is audited with the policy that made it.

    Parameters
    ----------
    table : path (CSV, Parquet, Arrow), pandas, polars or pyarrow table
        Anything else that speaks Arrow is taken too (a DuckDB relation, an ibis table); it is read into memory.
    policy : Policy

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        The table cannot be read, or does not fit the policy.
    PolicyError
        The policy does not fit the table: a hierarchy misses a value, an order is needed.

    Warns
    -----
    PrivacyRiskWarning
        An identifier repeats and no unit is named, or the unit is not in the table: k counts rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"zip": ["476", "476", "479", "479"], "salary": [3, 5, 4, 6]})
    >>> audit(people, Policy(quasi=["zip"], sensitive={"salary": 0.2}, k=2))
    <Audit: 4 rows in 2 classes, k=2; salary t=0.1667; satisfied>
    """
    if not isinstance(policy, Policy):
        raise PolicyError(f"policy must be a Policy; Policy.load reads one from YAML. Got {type(policy).__name__}.")
    quasi = [column.name for column in policy.quasi]
    needed = {column.name: column.type for column in policy.quasi}
    needed |= {column.name: "value" if _places(column) is None else PRINTED for column in policy.sensitive}
    source = Table(table, needed, optional=[*policy.identifiers, *([policy.unit] if policy.unit not in (None, "row") else [])])
    unit = _unit(source, policy)
    cells = source.cells(quasi, [column.name for column in policy.sensitive])
    attributes = {column.name: _attribute(source, cells, column, policy, unit) for column in policy.sensitive}
    persons = None if unit is None else source.cells(quasi, [], unit).sizes
    values = {name: source.values(name, cells.quasi_values(name)) for name in quasi}
    return Audit(policy, int(cells.sizes.sum()), cells.sizes, persons, attributes, values)


def _unit(source: Table, policy: Policy) -> str | None:
    """The column that names persons, if persons are to be counted."""
    if policy.unit == "row":
        return None
    if policy.unit is not None:
        if policy.unit not in source:
            _warn(f"The unit {policy.unit!r} is not a column of the table, so k and l count rows, not persons.")
            return None
        count, row = source.missing(policy.unit)
        if count:
            raise InputError(
                f"The unit {policy.unit!r} must name a person in every row. Got {count} missing, the first in row {row}."
            )
        return str(policy.unit)
    counts = {str(name): source.count_values(name) for name in policy.identifiers if name in source}
    repeated = {name: values for name, (rows, values) in counts.items() if values < rows}
    if not repeated:
        return None
    unit = min(repeated, key=repeated.__getitem__)  # the fewest persons: k is not shown larger than it is
    found = ", ".join(f"{name!r} has {values} values in {counts[name][0]} rows" for name, values in repeated.items())
    _warn(
        f"Identifiers repeat: {found}. k is given in rows, and in persons as {unit!r} names them. "
        "Set unit to the column that names a person, or unit: row if each row is one."
    )
    return unit


def _attribute(source: Table, cells: Cells, column: Sensitive, policy: Policy, unit: str | None) -> AttributeAudit:
    """Measure one sensitive attribute."""
    domain, counts = cells.domain(column.name)
    kind = _kind(source, column)
    try:
        values = (source.numbers(domain) if kind == "numeric" else source.values(column.name, domain)).to_pylist()
    except (OverflowError, ValueError):
        raise InputError(f"Sensitive column {column.name!r} must have dates in the years 1 to 9999. Got others.") from None
    _check_missing(source, column, kind, values)
    places = _places(column)
    if places is not None:
        _check_places(source, column, places, domain, values)
    if kind == "numeric" and float("inf") in map(abs, values):
        raise InputError(f"Sensitive column {column.name!r} must have finite numbers for the numeric distance. Got infinity.")
    ordered, distance = arrange(kind, values, places)
    rank = {value: code for code, value in enumerate(ordered)}
    if len(rank) < len(values):
        raise InputError(f"Sensitive column {column.name!r} has values that differ and yet are equal. Write each in one way.")
    codes = np.array([rank[value] for value in values], dtype=np.int64)
    table = np.zeros_like(counts)
    table[codes] = counts

    parts = cells.histograms(column.name, codes, table)
    persons = None
    if unit is not None and policy.unit is not None:
        persons = source.cells([quasi.name for quasi in policy.quasi], [column.name], unit).histograms(column.name, codes, table)
    if policy.n is None or column.t is None:
        return measure(column, policy, distance, parts, persons)
    whole = Histograms.join(list(parts))
    levels = coarsenings(
        [(quasi.hierarchy, source.values(quasi.name, cells.quasi_values(quasi.name)).to_pylist()) for quasi in policy.quasi]
    )
    region = judge_regions(whole, distance, column.t, policy.n, levels)
    attribute = measure(column, policy, distance, [whole], persons)
    return replace(attribute, verdicts={**attribute.verdicts, REGION: region})


def _kind(source: Table, column: Sensitive) -> str:
    """The distance that is meant."""
    measured = source.kinds[column.name] in IN_ORDER
    if column.kind == "auto":
        return "ordered" if measured else "equal"
    if column.kind == "ordered" and not measured and column.order is None:
        raise PolicyError(
            f"distance: ordered of {column.name!r} needs an order: the column holds {source.kinds[column.name]}. Give one."
        )
    if column.kind == "numeric" and (not measured or source.kinds[column.name] == "category"):
        raise PolicyError(
            f"distance: numeric of {column.name!r} needs numbers or dates. The column holds {source.kinds[column.name]}."
        )
    return str(column.kind)


def _places(column: Sensitive) -> Places | None:
    """Where the values of an attribute are looked up."""
    places: Places | None = next((given for given in (column.hierarchy, column.matrix, column.order) if given is not None), None)
    return places


def _check_missing(source: Table, column: Sensitive, kind: str, values: list[Any]) -> None:
    """A missing value is a value for the equal distance; for the others only if the policy gives it a place."""
    if kind == "equal" or None not in values:
        return
    places = _places(column)
    if column.missing == "value":
        if places is not None and not without_place([None], places):
            return
        raise PolicyError(
            f"missing: value of {column.name!r} needs a place for missing cells, a null in its order or an empty leaf."
        )
    count, row = source.missing(column.name)
    raise InputError(
        f"Sensitive column {column.name!r} must have a value in every row for the {kind} distance. Got {count} missing, "
        f"the first in row {row}. Fill them, leave those rows out, or set missing: value and give it a place."
    )


def _check_places(source: Table, column: Sensitive, places: Places, domain: pa.Array, values: list[Any]) -> None:
    """Every value of the table must be known to the attribute's hierarchy, matrix or order."""
    unknown = set(without_place(values, places))
    if not unknown:
        if len({printed(value) for value in values}) < len(values):
            raise InputError(
                f"Sensitive column {column.name!r} has missing cells and empty text, which would share a place. Use one."
            )
        return
    value, row = source.first(column.name, domain.take([place for place, value in enumerate(values) if value in unknown]))
    what = "hierarchy" if column.hierarchy is not None else "matrix" if column.matrix is not None else "order"
    inner = column.hierarchy is not None and column.hierarchy.find(printed(value)) is not None
    others = len(unknown) - 1
    more = f" {others} more {'value is' if others == 1 else 'values are'} missing." if others else ""
    found, mend = ("stands above other values in", "Only leaves are values") if inner else ("is not in", "Add it there")
    raise HierarchyError(f"Value {printed(value)!r} of {column.name!r}, first in row {row}, {found} its {what}.{more} {mend}.")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, PrivacyRiskWarning, stacklevel=4)
