"""anonymize on Spark: a release is made where the table is, and judged there.

No row comes to the driver. It knows the histograms of the columns, cuts the table into blocks by them, and sends the executors
what they need to release one block: see `tclose.make.distributed`.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tclose.errors import ColumnError, GateError, InputError, PolicyError
from tclose.jobs import announce, report
from tclose.judge.audit import Context, examine
from tclose.judge.edges import column_with_ends_of_few, columns_with_ends, refuse_ends_of_few
from tclose.judge.gate import Reference, bins_beside, check_counts, check_figures, reference_of
from tclose.judge.parts import Figures
from tclose.make.algorithm import Settings
from tclose.make.distributed.alike import (
    PlaceByClass,
    PlaceByKey,
    classes_to_merge,
    merge_block,
    merge_until_none_breaks,
    settle_block,
)
from tclose.make.distributed.block import Summary, grow_block, publish_block, release_block
from tclose.make.distributed.coding import CLASS, Coding, PersonCoding, RowCoding
from tclose.make.distributed.cuts import Cuts, Histogram, Terms, cut_into_blocks
from tclose.make.distributed.plan import DRIFT_OF_BLOCKS, ON_ONE_MACHINE, Plan, plan_of
from tclose.make.distributed.walk import ENTRIES, OWNERS, CountAlong, CountCodes, ListPersons, PlaceRows, Walk
from tclose.make.encode import chosen_grids
from tclose.make.kernels.loss import loss_table
from tclose.make.losses import Charges, Whole, charges_in_words, losses_of_charges, losses_seen_of_charges
from tclose.make.one_class import has_limit
from tclose.make.registry import DEFAULT
from tclose.policy import Policy
from tclose.policy.models import merging_may_break
from tclose.release.certificate import Commitment, PrivateFacts, PublicFacts, certificate, record
from tclose.release.opened import Opened, open_input
from tclose.release.published import (
    check_missing_texts,
    chosen_edge_grids,
    describe_columns,
    on_chosen_grids,
    plain_grids,
    policies_of_release,
    words_for_missing,
)
from tclose.release.spark_release import SparkRelease
from tclose.tables.spark import SparkReader
from tclose.tables.spark_people import SparkPeople
from tclose.tables.spark_rows import PublishedRows, SparkRows
from tclose.tables.table import Table
from tclose.values.arrays import Ints

MOST = 100_000
"""Rows of a block at most: it bounds the memory that an executor needs."""
COUNTS = 30_000_000
"""Counts of sensitive values in all blocks at most: they come to the driver, about 1 GB."""
CASE_SENSITIVE, LARGE_TYPES = "spark.sql.caseSensitive", "spark.sql.execution.arrow.useLargeVarTypes"
"""Settings of a session that matter to a release."""
COMPILED = "a machine that has no kernels yet compiles them first, once"
"""What a listener is told: the driver does not see what executors do."""
JUDGED = 250_000
"""Published rows that are judged together, on average."""


def anonymize_on_spark(table: Any, policy: Policy, settings: Settings, *, keep_order: bool) -> SparkRelease:
    """Return a release of a Spark DataFrame, made and judged on Spark; see `tclose.release.anonymize.anonymize`."""
    if settings.algorithm.name != DEFAULT:
        raise PolicyError(f"On Spark releases are made with {DEFAULT} alone. Got {settings.algorithm.name}.")
    if keep_order:
        raise PolicyError("The rows of a Spark DataFrame have no order to keep. Leave keep_order out.")
    if settings.options != settings.algorithm.defaults:
        raise PolicyError(
            "On Spark the time of refining cannot be limited, because a block that Spark makes again must be the same. "
            "Leave seconds out."
        )
    announce("Counting")
    opened = open_input(table, policy, settings.algorithm)
    _check_session(opened)
    ends = columns_with_ends(policy, opened.source.kinds) if policy.edges > 1 else []
    people = _PeopleOnSpark(opened.source, opened.unit)
    plan = plan_of(opened.source, policy, settings, opened.roles.kept, opened.unit, people, ends)
    _check_names(plan.schema().names, opened)
    _check_counts(plan)
    coded = opened.source.rows_on_spark(plan.read, plan.coding, plan.coding.counted_names, plan.rows)
    columns = [*plan.coding.quasi_names, *plan.coding.sensitive_names, *plan.coding.other_names, *plan.coding.raw_names]
    blocks, walk = _cut(coded, plan, DRIFT_OF_BLOCKS)
    if len(blocks) > 1:
        announce("Growing classes in blocks of")
        report(COMPILED)
        coded = coded.map_blocks(PlaceRows(walk, columns), len(blocks), _Grow(plan))
        blocks, walk = _cut(coded, plan, Fraction(1))
        columns.append(CLASS)
    announce("Refining classes in blocks of")
    report(COMPILED)
    place = PlaceRows(walk, columns)
    if merging_may_break(plan.policy):
        settled = _Settled(plan, coded.map_blocks(place, len(blocks), _Settle(plan), counted=()), len(blocks))
        announce("Merging classes that are published alike")
        merge_until_none_breaks(settled)
        made = settled.rows.release(PlaceByClass(), len(blocks), _Publish(plan), plan.judged_schema())
    else:
        made = coded.release(place, len(blocks), _Release(plan), plan.judged_schema())
    summaries = sorted((pickle.loads(note) for note in made.notes()), key=lambda summary: summary.block)
    if {summary.block: summary.rows for summary in summaries} != blocks:
        raise GateError("The release was stopped: the blocks that were released are not those that were cut. Nothing is written.")
    announce("Checking")
    return _judge_release(opened, policy, settings, plan, made, summaries)


def _check_session(opened: Opened) -> None:
    """Raise InputError for a setting of the session with which executors could not hand back what they make."""
    assert isinstance(opened.reader, SparkReader)
    if opened.reader.is_set(LARGE_TYPES):
        raise InputError(f"On Spark {LARGE_TYPES} must be false for a release. Got true: unset it.")


def _check_names(names: Sequence[str], opened: Opened) -> None:
    """Raise ColumnError for published columns that Spark would not write beside one another."""
    assert isinstance(opened.reader, SparkReader)
    known: dict[str, str] = {}
    for name in () if opened.reader.is_set(CASE_SENSITIVE) else names:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise ColumnError(
                f"Spark cannot write columns whose names differ in case only. Got {other!r} and {name!r}: rename one of them."
            )


def _check_counts(plan: Plan) -> None:
    """Raise PolicyError for a sensitive column of so many values that their counts in all blocks are too many for the driver."""
    blocks = 2 * plan.rows // MOST  # at most: a block is cut in halves
    for attribute in plan.attributes:
        values, name = len(attribute.values), attribute.column.name
        if has_limit(attribute.column, plan.policy) and min(values * blocks, plan.rows) > COUNTS:
            raise PolicyError(
                f"Sensitive column {name!r} has {values:,} values, and their counts in about {blocks:,} blocks are too many for "
                f"the driver of Spark. Give it bins, as in {name}: {{bins: 100}}, or {ON_ONE_MACHINE}."
            )


def _cut(rows: SparkRows, plan: Plan, drift: Fraction) -> tuple[dict[int, int], Walk]:
    """Return the rows of each block, and how rows come to them; ``drift`` is the share of t that a block may use up."""
    announce("Cutting")
    weights = [float(column.weight) for column in plan.policy.quasi]
    losses = loss_table([scale.widths() for scale in plan.scales], weights)
    walked = _Walked(rows, plan.coding)
    terms = Terms(plan.policy, plan.attributes, losses, plan.coding, MOST, drift, plan.least, plan.limits_persons)
    blocks = cut_into_blocks(walked, terms)
    return blocks, walked.walk


class _Walked:
    """The rows of a table on Spark as `cut_into_blocks` asks for them."""

    def __init__(self, rows: SparkRows, coding: RowCoding) -> None:
        """Take coded rows, all of which are one block."""
        self._rows, self._coding, self.walk = rows, coding, Walk(coding.bin_names)

    def histogram(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        """Return the rows of some blocks, counted by the codes of each of some columns."""
        return self._count(CountCodes(self.walk, blocks, columns))

    def histogram_along(self, columns: dict[int, str]) -> Histogram:
        """Return the rows of blocks, counted by stratum and by the codes of a column of each block."""
        return self._count(CountAlong(self.walk, columns))

    def persons(self, blocks: Sequence[int], columns: Sequence[str]) -> Histogram:
        """Return the persons of some blocks, counted by the codes of each of some columns."""
        owners = ListPersons(self.walk, blocks, columns, self._coding.other_names[-1])
        return Histogram(*self._rows.count_persons(owners, OWNERS))

    def cut(self, cuts: Cuts) -> None:
        """Cut blocks."""
        self.walk = self.walk.cut(cuts)

    def join(self, parents: dict[int, int]) -> None:
        """Give the rows of some blocks to others."""
        self.walk = self.walk.join(parents)

    def _count(self, count: CountCodes | CountAlong) -> Histogram:
        """Return what is counted where the rows are, added up."""
        return Histogram(*self._rows.counts(count, ENTRIES))


@dataclass(frozen=True, eq=False)
class _PeopleOnSpark:
    """The persons that a unit names, by their values, counted where the rows are."""

    source: Table
    unit: str | None

    def __call__(self, name: str, values: Coding, size: int) -> SparkPeople:
        """Return the persons by the codes of the values of a column, of which those below a size are looked at."""
        assert self.unit is not None
        return self.source.people_on_spark(name, self.unit, PersonCoding(values), size)


@dataclass(frozen=True, eq=False)
class _Grow:
    """What an executor does with a block in the first round: its rows are put into classes."""

    plan: Plan

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the rows of one block with their classes."""
        _compile_once()
        return grow_block(self.plan, rows)


@dataclass(frozen=True, eq=False)
class _Release:
    """What an executor does with a block in the second round: its classes are refined and published, and a summary is noted."""

    plan: Plan

    def __call__(self, rows: pa.Table) -> tuple[pa.Table, bytes]:
        """Return the published rows of one block, and a note for the owner."""
        _compile_once()
        table, summary = release_block(self.plan, rows)
        return table, pickle.dumps(summary)


@dataclass(frozen=True, eq=False)
class _Settle:
    """What an executor does with a block in the second round where it is not published at once: its classes are refined."""

    plan: Plan

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the rows of one block with their classes."""
        _compile_once()
        return settle_block(self.plan, rows)


@dataclass(frozen=True, eq=False)
class _Publish:
    """What an executor does with a block whose classes are settled: it is published, and a summary is noted."""

    plan: Plan

    def __call__(self, rows: pa.Table) -> tuple[pa.Table, bytes]:
        """Return the published rows of one block, and a note for the owner."""
        table, summary = publish_block(self.plan, rows)
        return table, pickle.dumps(summary)


@dataclass(frozen=True, eq=False)
class _Find:
    """What an executor does with rows whose classes are published alike: it finds classes that must be published otherwise."""

    plan: Plan

    def __call__(self, rows: pa.Table) -> bytes:
        """Return the numbers of the classes to merge, and how many classes there are."""
        _compile_once()
        return pickle.dumps(classes_to_merge(self.plan, rows))


@dataclass(frozen=True, eq=False)
class _Merge:
    """What an executor does with a block of which some classes are to be merged with others."""

    plan: Plan
    away: Ints

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the rows of one block with their classes."""
        _compile_once()
        return merge_block(self.plan, rows, self.away)


class _Settled:
    """Rows on Spark whose classes are settled, as `merge_until_none_breaks` asks for them."""

    def __init__(self, plan: Plan, rows: SparkRows, blocks: int) -> None:
        """Take the plan of a release, rows as `settle_block` makes them, and the number of their blocks."""
        self._plan, self.rows, self._blocks = plan, rows, blocks

    def find(self) -> list[tuple[Ints, int]]:
        """Return what is found in each part of the rows."""
        parts = -(-self._plan.rows // JUDGED)
        return [pickle.loads(note) for note in self.rows.notes(PlaceByKey(self._plan, parts), parts, _Find(self._plan))]

    def merge(self, away: Ints) -> None:
        """Merge some classes, in each block."""
        self.rows = self.rows.map_blocks(PlaceByClass(), self._blocks, _Merge(self._plan, away))


def _compile_once() -> None:
    """Have the kernels of growth on this machine; a process that comes while another compiles them waits for it."""
    from tclose.release.warmup import warm_up_once  # which makes releases itself

    warm_up_once(DEFAULT)


@dataclass(frozen=True, eq=False)
class Ends:
    """How the ends of published ranges are looked at, for which raw columns travel beside the published ones.

    Attributes
    ----------
    policy : Policy
        With the grids that ``snap: auto`` chose.
    raw : mapping
        By quasi-identifier the column with its values.
    unit : str or None
    """

    policy: Policy
    raw: Mapping[str, str]
    unit: str | None

    def of_few(self, rows: pa.Table) -> str | None:
        """Return the first column with ends of ranges that too few persons attain; None if there is none."""
        raw = {name: rows[beside].combine_chunks() for name, beside in self.raw.items()}
        return column_with_ends_of_few(self.policy, rows, raw, None if self.unit is None else rows[self.unit])


@dataclass(frozen=True, eq=False)
class Judge:
    """What an executor does with a part of the published rows: they are judged as a reader would, compared with a table.

    Attributes
    ----------
    reference : mapping
        Of each sensitive attribute the domain and the counts of the whole table.
    of_owner, of_reader : Policy
        By which they are judged, with the persons that the unit names and without.
    bins : mapping
        The bins in which published values are measured, too; see `Context`.
    ends : Ends, optional
        Where the policy asks how many persons attain the ends of ranges.
    """

    reference: Reference
    of_owner: Policy
    of_reader: Policy
    bins: Reference
    ends: Ends | None

    def __call__(self, rows: pa.Table) -> bytes:
        """Return the figures of the classes of one part, for their owner and for a reader, and a column with ends of few."""
        context = Context(self.reference, self.bins, warn=lambda _: None)
        owner = Figures.of(examine(rows, self.of_owner, context))
        same = self.of_owner.unit in (None, "row")
        reader = replace(owner, policy=self.of_reader) if same else self._by_reader(rows, context)
        return pickle.dumps((owner, reader, None if self.ends is None else self.ends.of_few(rows)))

    def _by_reader(self, rows: pa.Table, context: Context) -> Figures:
        """Return the figures of one part for a reader, who does not have the unit."""
        names = [name for name in rows.column_names if name != self.of_owner.unit]
        return Figures.of(examine(rows.select(names), self.of_reader, context))


def figures_of(made: PublishedRows, judge: Judge, by: Sequence[str], rows: int) -> tuple[Figures, Figures]:
    """Return what published rows attain, for their owner and for a reader, judged on Spark part by part.

    Raises
    ------
    GateError
        Too few persons attain an end of a range.

    Parameters
    ----------
    by
        The published columns of the quasi-identifiers.
    rows
        The number of rows.
    """
    parts = [pickle.loads(note) for note in made.judge(by, -(-rows // JUDGED), judge)]
    if judge.ends is not None:
        refuse_ends_of_few(min((name for *_, name in parts if name is not None), default=None), judge.ends.policy)
    return Figures.joined([owner for owner, *_ in parts]), Figures.joined([reader for _, reader, _ in parts])


def _judge_release(
    opened: Opened, policy: Policy, settings: Settings, plan: Plan, made: PublishedRows, summaries: Sequence[Summary]
) -> SparkRelease:
    """Return the release with its papers; raise GateError if it breaks the policy, or is not made of the input's values."""
    schema = plan.schema()
    reference = reference_of(opened.source, plan.policy)
    for name in reference:
        check_counts(reference, name, made.counts(name), 0)
    for name in schema.names if words_for_missing(policy) else ():
        check_missing_texts(name, made.texts(name), policy)
    of_owner, of_reader = policies_of_release(plan.policy, plan.attributes)
    grids = chosen_grids(plan.scales)
    ends = Ends(on_chosen_grids(plan.policy, grids), plan.raw_names, plan.unit)
    bins = bins_beside(opened.source, plan.policy, reference)
    judge = Judge(reference, of_owner, of_reader, bins, ends if policy.edges > 1 else None)
    charges = [Charges.joined(parts) for parts in zip(*(summary.charges for summary in summaries), strict=True)]
    quasi = _columns_of_quasi(plan, charges)
    audit, by_reader = figures_of(made, judge, list(quasi), plan.rows)
    for found in (audit, by_reader):
        check_figures(found, plan.rows)
    weights = [column.weight for column in policy.quasi]
    whole = Whole(plan.rows, 0, audit.classes, audit.squared, policy.k)
    loss = losses_of_charges(charges, whole, weights=weights, originals=plan.counts)
    course = {"engine": "spark", "blocks": len(summaries), "largest": max(summary.rows for summary in summaries)}
    private = PrivateFacts(
        settings,
        course,
        _commitment(plan, summaries).to_dict(),
        audit,
        0,
        loss.to_dict(),
        opened.readings,
        grids=plain_grids(policy, grids),
        edge_grids=chosen_edge_grids(plan.scales),
    )
    public = PublicFacts(
        loss=losses_seen_of_charges(charges, whole, weights=weights).to_dict(),
        columns=describe_columns(plan.policy, opened.roles, schema.names, quasi, plan.attributes),
        unique=made.count_unique(schema.names),
        order="sorted",
        counted="rows" if plan.unit is None else "persons",
        promised={},
    )
    return SparkRelease(
        audit,
        loss,
        certificate(by_reader, public),
        record(policy, private),
        opened.readings,
        charges_in_words(plan.scales, charges, plan.rows),
        made,
        schema.names,
        lambda read: figures_of(read, replace(judge, of_owner=of_reader, ends=None), list(quasi), plan.rows)[1],
        by_reader,
    )


def _columns_of_quasi(plan: Plan, charges: Sequence[Charges]) -> dict[str, Any]:
    """Return for each published column of a quasi-identifier its scale, and whether the value of some row is missing."""
    return {
        name: (scale, own.missing)
        for scale, own in zip(plan.scales, charges, strict=True)
        for name in plan.published_names(scale)
    }


def _commitment(plan: Plan, summaries: Sequence[Summary]) -> Commitment:
    """Return a commitment to the input: the values of its columns, and the rows of each block."""
    commitment = Commitment()
    names = [*(scale.name for scale in plan.scales), *(attribute.column.name for attribute in plan.attributes)]
    for name, coding in zip(names, [*plan.coding.quasi, *plan.coding.sensitive], strict=True):
        commitment.update(name.encode())
        for text in coding.cells.cast(pa.large_string()).to_pylist():
            commitment.update(b"-" if text is None else b"+" + text.encode())
    for summary in summaries:
        commitment.update(summary.digest)
    return commitment
