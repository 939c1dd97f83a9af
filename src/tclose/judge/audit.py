"""audit: measure a table under a policy, from histograms of values, in exact integers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from tclose.columns.domains import Domain, domain_of, kind_to_read
from tclose.columns.persons import unit_to_audit, warn_of_risk
from tclose.columns.reading import readings_of, warn_of
from tclose.errors import InputError, PolicyError, raising_alone
from tclose.judge.attribute import AttributeAudit, measure
from tclose.judge.boxes import Line, Tree, axis_of
from tclose.judge.emd.joint import Lexicographic
from tclose.judge.models.base import Verdict
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.region import Regions, judge_regions
from tclose.judge.regions import regions
from tclose.judge.result import Audit
from tclose.policy import Policy, Sensitive, check_policy
from tclose.policy.models import REGION
from tclose.tables.counted import Cells
from tclose.tables.memory import bounded
from tclose.tables.readers import check_right_table, open_reader
from tclose.tables.table import Table, open_table
from tclose.tables.types import OR_AUTO, OR_PUBLISHED
from tclose.values.arrays import Ints
from tclose.values.histograms import Histograms


@raising_alone
def audit(table: Any, policy: Policy, *, memory: str | None = None) -> Audit:
    """Measure a table under every privacy model, exactly, and judge it by a policy.

    Rows that agree on all quasi-identifiers form a class; every class is judged under every model: k-anonymity, l-diversity,
    t-closeness, beta-likeness, delta-disclosure. Values are compared as they stand. Only the quasi-identifiers and the
    sensitive attributes are needed, so a release is audited with the policy that made it.

    Parameters
    ----------
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        Which files are read is in docs/tables.md. Anything else that speaks Arrow is taken too, and read into memory.
    policy : Policy
    memory : str, optional
        How much memory all of it may take, such as "1GB". Combinations of values that do not fit are spilled to disk. For CSV and
        Parquet files, folders of these, and files of DuckDB. The result is the same.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        The table cannot be read, does not fit the policy, or has too many classes for the memory.
    PolicyError
        The policy does not fit the table: a hierarchy misses a value, an order is needed.

    Warns
    -----
    PrivacyRiskWarning
        An identifier repeats and no unit is named, or the unit is not in the table: k counts rows.
    ReadingWarning
        A column is nearly numbers or dates, and was read as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"zip": ["476", "476", "479", "479"], "salary": [3, 5, 4, 6]})
    >>> audit(people, Policy(quasi=["zip"], sensitive={"salary": 0.2}, k=2))
    <Audit: 4 rows in 2 classes, k=2; salary t=0.1667; satisfied>
    """
    check_policy(policy)
    if memory is not None and policy.n is not None:
        raise PolicyError("n of the policy looks at all classes at once, so memory cannot be bounded. Leave memory out.")
    with bounded(memory):
        found = examine(table, policy, Context(readings=True))
    warn_of(found.readings, stacklevel=3)
    return found


@dataclass(frozen=True)
class Context:
    """What a table is compared with if not with itself, and whether to say how it was read.

    Attributes
    ----------
    reference : dict, optional
        For each sensitive attribute a domain and how often each of its codes occurs: the input of a release.
    bins : dict
        Where a part of a table is audited, and values are judged that are measured in bins, too: for each such attribute the bins
        of the whole table. Codes are those of the values of the reference.
    readings : bool
        Whether to find out, for a person, how columns were read.
    warn : callable
        Called with each sentence of warning; all threads share the filters of warnings, so none is caught later.
    """

    reference: Mapping[str, tuple[Domain, Ints]] | None = None
    bins: Mapping[str, tuple[Domain, Ints]] = field(default_factory=dict)
    readings: bool = False
    warn: Callable[[str], None] = field(default=warn_of_risk, repr=False)


def examine(table: Any, policy: Policy, context: Context) -> Audit:
    """Return the audit of a table, compared with itself or with the reference of the context."""
    check_policy(policy)
    reader = open_reader(table, policy.input)
    needed = quasi_kinds(policy, reader.names)
    quasi = list(needed)
    needed |= {column.name: kind_to_read(column) for column in policy.sensitive}
    check_right_table(reader, needed)
    optional = [*policy.identifiers, *([policy.unit] if policy.unit not in (None, "row") else [])]
    source = open_table(reader, needed, optional=optional, given=policy.input)
    unit = unit_to_audit(source, policy, context.warn)
    cells = source.cells(quasi, [column.name for column in policy.sensitive])
    values = {name: source.values(name, cells.quasi_values(name)) for name in quasi}
    around = _regions_of_classes(cells, values, policy)
    measured = {
        column.name: _measure_attribute(source, cells, quasi, column, policy, unit, context, around)
        for column in policy.sensitive
    }
    attributes = {name: attribute for name, (attribute, _) in measured.items()}
    joint = _judge_jointly(cells, {name: codes for name, (_, codes) in measured.items()}) if context.reference is None else None
    persons = None if unit is None else source.cells(quasi, [], unit).sizes
    readings = readings_of(source, policy, quasi) if context.readings else {}
    return Audit(policy, int(cells.sizes.sum()), cells.sizes, persons, attributes, values, joint, readings)


def quasi_kinds(policy: Policy, names: Collection[str]) -> dict[str, str]:
    """Return the quasi-identifiers' columns in a table, or in a release, each with the kind to read it as."""
    kinds: dict[str, str] = {}
    for column in policy.quasi:
        parts = [column.name]
        if column.recode == "bounds" and column.name not in names and f"{column.name}.min" in names:
            parts = [f"{column.name}.min", f"{column.name}.max"]
        kind = column.read_as
        if kind not in ("auto", "text"):  # asked of the input; a release has labels, or means, instead
            kind += OR_AUTO if column.hierarchy is not None or column.recode == "centroid" else OR_PUBLISHED
        kinds |= dict.fromkeys(parts, kind)
        if column.recode in ("bounds", "centroid") and f"{column.name}.missing" in names:
            kinds[f"{column.name}.missing"] = "auto"
    return kinds


def _regions_of_classes(cells: Cells, values: Mapping[str, pa.Array], policy: Policy) -> Regions:
    """Return a function that yields the regions around classes, which it finds from the published quasi-identifiers."""

    @cache
    def axes() -> list[Line | Tree]:
        """Return the published boxes of all classes, one axis for each quasi-identifier; labels are parsed once."""
        published = {name: _python_values(name, column) for name, column in values.items()}
        return [axis_of(column, published) for column in policy.quasi]

    return lambda wanted: regions(axes(), cells.sizes, int(policy.n or 0), wanted)


def _python_values(name: str, column: pa.Array) -> list[Any]:
    """Return a quasi-identifier's values as Python objects; raise InputError for dates that Python does not have."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        raise InputError(f"Column {name!r} must have dates in the years 1 to 9999 where n is asked for. Got others.") from None


def _measure_attribute(
    source: Table,
    cells: Cells,
    quasi: list[str],
    column: Sensitive,
    policy: Policy,
    unit: str | None,
    context: Context,
    around: Regions,
) -> tuple[AttributeAudit, Ints]:
    """Return the audit of one sensitive attribute, and the code of each value of its column.

    With it comes the code of each value of the column in what is judged.
    """
    in_bins = column.bins is not None and column.publish is None
    domain, table = _domain_and_reference(source, cells, column, context, binned=in_bins)
    parts = cells.histograms(column.name, domain.codes, table)
    persons = None
    if unit is not None and policy.unit is not None:
        persons = source.cells(quasi, [column.name], unit).histograms(column.name, domain.codes, table)
    if policy.n is None or column.t is None:
        attribute = measure(column, policy, domain.distance, parts, persons, domain.values)
    else:
        whole = Histograms.join(list(parts))
        region = judge_regions(whole, domain.distance, column.t, policy.n, around)
        attribute = measure(column, policy, domain.distance, [whole], persons, domain.values)
        attribute = replace(attribute, verdicts={**attribute.verdicts, REGION: region})
    if column.bins is None:
        return attribute, domain.codes
    other, bins = None, domain if in_bins else None
    if source.kinds[column.name] != "text":  # a release has the labels of bins, and no values below them
        if column.name in context.bins:
            beside, table = context.bins[column.name]
            beside = replace(beside, codes=beside.codes[domain.codes])
        else:
            beside, table = _domain_and_reference(source, cells, column, Context(), binned=not in_bins)
        closeness = Closeness(beside.distance)
        verdicts = [closeness.judge(part) for part in cells.histograms(column.name, beside.codes, table)]
        other, bins = Fraction(closeness.join(verdicts).worst), bins or beside
    count = None if bins is None else sum(value is not None for value in bins.values)
    return replace(attribute, judged="bins" if in_bins else "values", t_other=other, bins=count), domain.codes


def _judge_jointly(cells: Cells, codes: Mapping[str, Ints]) -> Verdict | None:
    """Return the verdict of the joint test: each class's distance over tuples of all sensitive values; None for one attribute.

    Parameters
    ----------
    codes
        For each attribute, in the order of the policy, the code of each value of its column.
    """
    if len(codes) < 2:
        return None
    parts, histograms = cells.tuples(codes)
    closeness = Closeness(Lexicographic(parts, [int(own.max()) + 1 for own in codes.values()]))
    return closeness.join([closeness.judge(classes) for classes in histograms])


def _domain_and_reference(
    source: Table, cells: Cells, column: Sensitive, context: Context, *, binned: bool
) -> tuple[Domain, Ints]:
    """Return the domain of a sensitive attribute, and the counts of its codes in what the classes are compared with."""
    found, counts = cells.domain(column.name)
    if context.reference is None:
        domain = domain_of(source, column, found, counts, binned=binned)
        return domain, domain.table(counts)
    domain, table = context.reference[column.name]
    rank = {value: code for code, value in enumerate(domain.values)}
    values = source.values(column.name, found).to_pylist()
    return replace(domain, codes=np.array([rank[value] for value in values], dtype=np.int64)), table
