"""One block of a table on a cluster: its rows are put into classes by growth, with the kernels of one machine, and published.

That takes two rounds. In the first, classes grow in a block and are refined. In the second, each block has whole classes of
several blocks of the first, which lie near each other, and they are refined further: rows leave classes at the border of a block
for classes beyond it, and what was merged for lack of neighbours is split again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.make.distributed.coding import CLASS, STRATUM, TIE, at_random
from tclose.make.distributed.plan import DRIFT_IN_BLOCKS, Plan
from tclose.make.encode import Codes, EncodedTable, Kept
from tclose.make.growth import growth
from tclose.make.growth.growth import partitions_to_refine, rounds_for
from tclose.make.growth.neighbourhood import given
from tclose.make.growth.refine import refine
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.loss import loss_table
from tclose.make.losses import Charges
from tclose.make.problem import Problem
from tclose.make.recode import Recoded, recode
from tclose.tables.coded import narrow, sorted_order
from tclose.tables.packed import BLOCK, COUNT
from tclose.values.arrays import Ints, grouped


@dataclass(frozen=True, eq=False)
class Summary:
    """What the owner of a release learns about one block.

    Attributes
    ----------
    block : int
    rows : int
    charges : list of Charges
        Of each quasi-identifier.
    digest : bytes
        SHA-256 of the rows of the block, for the commitment to the input.
    """

    block: int
    rows: int
    charges: list[Charges]
    digest: bytes


def grow_block(plan: Plan, rows: pa.Table) -> pa.Table:
    """Return the rows of one block with their classes, after the first round.

    All rows of a block satisfy the limits as one class, so that growth finds classes in it that do. They are compared with the
    whole table. Coarse codes, strata and numbers at random are then those of the class: the next cuts part no class. Any classes
    that satisfy the limits do so as one, so that no cut is wrong.
    """
    number, rows = rows[BLOCK][0].as_py(), each_row(rows)
    table, order = encoded_block(plan, rows)
    labels = _grown(plan, table, number, DRIFT_IN_BLOCKS, _half_of_rounds(plan))
    classes = (np.int64(number) << 32) + labels
    ties = at_random([labels, np.full(len(labels), number)], plan.seed)
    made = _middles(plan, table, labels) | {STRATUM: np.zeros(len(labels), dtype=np.uint8), TIE: ties}
    made |= {COUNT: np.ones(len(labels), dtype=np.int64), CLASS: classes}
    same = rows.drop_columns([BLOCK, *made.keys() & set(rows.column_names)]).take(order)
    for name, column in made.items():
        same = same.append_column(name, pa.array(column))
    return same


def release_block(plan: Plan, rows: pa.Table) -> tuple[pa.Table, Summary]:
    """Return the published rows of one block, after them the columns that are judged and not published, and its summary.

    The same rows give the same release in whatever order they arrive.
    """
    rows = each_row(rows)
    table, order = encoded_block(plan, rows)
    return _publish(plan, rows, table, order, second_round(plan, rows, table, order))


def publish_block(plan: Plan, rows: pa.Table) -> tuple[pa.Table, Summary]:
    """Return what `release_block` does, of rows whose classes are settled."""
    table, order = encoded_block(plan, rows)
    return _publish(plan, rows, table, order, np.unique(classes_of(rows, order), return_inverse=True)[1].astype(np.int64))


def second_round(plan: Plan, rows: pa.Table, table: EncodedTable, order: Ints) -> Ints:
    """Return the class of each row of a block, from 0.

    Rows that have classes are refined from them: the second round. Others are put into classes first: a table of one block.
    """
    if CLASS not in rows.column_names:
        return _grown(plan, table, rows[BLOCK][0].as_py(), growth.DRIFT, rounds_for(plan.effort, plan.rows))
    return _refined(plan, table, np.unique(classes_of(rows, order), return_inverse=True)[1].astype(np.int64))


def classes_of(rows: pa.Table, order: Ints) -> Ints:
    """Return the numbers of the classes of rows, in an order."""
    found: Ints = rows[CLASS].to_numpy()[order]
    return found


def _publish(plan: Plan, rows: pa.Table, table: EncodedTable, order: Ints, labels: Ints) -> tuple[pa.Table, Summary]:
    """Return the rows of a block as published, with what is judged beside them, and the summary of the block."""
    recoded = recode(table, labels, plan.names)
    charges = [Charges.of(published, recoded.sizes).summed() for published in recoded.published]
    published = published_rows(plan.schema(), recoded)
    beside = [*plan.coding.raw_names, *([] if plan.unit is None else [plan.coding.other_names[-1]])]
    for field, name in zip(list(plan.judged_schema())[len(published.columns) :], beside, strict=True):
        published = published.append_column(field, rows[name].take(order).take(recoded.rows).cast(field.type))
    return published, Summary(rows[BLOCK][0].as_py(), table.rows, charges, _digest(table))


def each_row(rows: pa.Table) -> pa.Table:
    """Return rows as often as they occur, without the number of equal ones."""
    return rows.drop_columns([COUNT]).take(pa.array(np.repeat(np.arange(rows.num_rows), rows[COUNT].to_numpy())))


def _grown(plan: Plan, table: EncodedTable, block: int, drift: Fraction, rounds: int) -> Ints:
    """Return the class of each row of a block after growing, and after some rounds of refining.

    ``drift`` is the share of t by which the sensitive values of a part in which classes grow may differ from those of the table.
    """
    problem = problem_of(plan, table)
    block_given = given(problem.quasi, problem.losses, problem.limits)
    seed = int(np.random.SeedSequence([plan.seed, block]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    starts = partitions_to_refine(problem, block_given, seed, plan.effort, drift)
    return refine(block_given, list(starts.values()), rounds).labels


def _refined(plan: Plan, table: EncodedTable, labels: Ints) -> Ints:
    """Return the class of each row of a block after its classes were refined for the second half of all rounds."""
    problem = problem_of(plan, table)
    block_given = given(problem.quasi, problem.losses, problem.limits)
    return refine(block_given, [labels], _half_of_rounds(plan)).labels


def _half_of_rounds(plan: Plan) -> int:
    """Return the rounds of refining in each of two rounds of blocks. No clock ends them: Spark may make a block again."""
    return -(-rounds_for(plan.effort, plan.rows) // 2)


def _middles(plan: Plan, table: EncodedTable, labels: Ints) -> dict[str, Ints]:
    """Return for each row the coarse code of the middle of its class, along each quasi-identifier."""
    members, starts = grouped(labels)
    found = {}
    for name, coding, codes in zip(plan.coding.bin_names, plan.coding.quasi, table.quasi, strict=True):
        own = codes[members].astype(np.int64)
        middle = (np.minimum.reduceat(own, starts[:-1]) + np.maximum.reduceat(own, starts[:-1])) // 2
        found[name] = coding.coarse[middle][labels]
    return found


def encoded_block(plan: Plan, rows: pa.Table) -> tuple[EncodedTable, Ints]:
    """Return the rows of a block as `tclose.make.encode.encode` would, sorted, and the order that sorts them."""

    def codes(name: str, size: int) -> Codes:
        """Return a column of codes, as narrow as they can be."""
        found: Codes = rows[name].to_numpy().astype(narrow(size))
        return found

    coding, attributes = plan.coding, plan.attributes
    quasi = [codes(name, scale.size) for name, scale in zip(coding.quasi_names, plan.scales, strict=True)]
    values = [codes(name, len(attribute.values)) for name, attribute in zip(coding.sensitive_names, attributes, strict=True)]
    sensitive = [replace(attribute, codes=own) for attribute, own in zip(attributes, values, strict=True)]
    pairs = zip(plan.kept.items(), coding.other_names, strict=False)
    kept = {name: ranked(rows[column], kind) for (name, kind), column in pairs}
    persons = None if plan.unit is None else ranked(rows[coding.other_names[-1]]).codes
    keys = [(own, scale.size) for own, scale in zip(quasi, plan.scales, strict=True)]
    keys += [(own, len(attribute.values)) for own, attribute in zip(values, attributes, strict=True)]
    keys += [(column.codes, len(column.values)) for column in kept.values()]
    keys += [] if persons is None else [(persons, int(persons.max()) + 1)]
    beside = [ranked(rows[name]) for name in plan.coding.raw_names]  # rows with one code may have different values
    keys += [(column.codes, len(column.values)) for column in beside]
    if CLASS in rows.column_names:
        classes = np.unique(rows[CLASS].to_numpy(), return_inverse=True)[1]
        keys.append((classes, int(classes.max()) + 1))
    order = sorted_order(keys)
    table = EncodedTable(np.arange(rows.num_rows), plan.scales, quasi, plan.types, sensitive, persons, kept)
    return table.take(order), order


def problem_of(plan: Plan, table: EncodedTable) -> Problem:
    """Return the rows of a block as a problem for growth: classes are compared with the whole table."""
    policy = plan.policy
    return Problem(
        policy,
        table.scales,
        np.ascontiguousarray(np.array(table.quasi, dtype=np.int32).T),
        loss_table([scale.widths() for scale in table.scales], [float(column.weight) for column in policy.quasi]),
        table.sensitive,
        limits_of(table.sensitive, policy, table.persons),
    )


def ranked(column: pa.ChunkedArray, kind: pa.DataType | None = None) -> Kept:
    """Return the values of a column that occur, ascending, missing last, and each row's index among them."""
    encoded = column.combine_chunks().cast(kind or column.type).dictionary_encode(null_encoding="encode")
    order = pc.sort_indices(encoded.dictionary)  # missing last
    ranks = np.empty(len(order), dtype=narrow(len(order)))
    ranks[order.to_numpy()] = np.arange(len(order))
    return Kept(encoded.dictionary.take(order), ranks[encoded.indices.to_numpy(zero_copy_only=False)])


def published_rows(schema: pa.Schema, recoded: Recoded) -> pa.Table:
    """Return the published columns of a block in the types of the whole release.

    A block without missing cells lacks the columns that mark them: there nothing is missing.
    """
    count = len(recoded.rows)
    columns = [
        _in_type(recoded.columns[field.name], field.type)
        if field.name in recoded.columns
        else pa.array(np.zeros(count, dtype=bool))
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _in_type(column: pa.DictionaryArray, kind: pa.DataType) -> pa.Array:
    """Return a published column in the type that it has in all blocks: decimals may be floats in others."""
    values = column.dictionary
    if pa.types.is_decimal(values.type) and pa.types.is_floating(kind):
        values = pa.array([float(value) for value in values.to_pylist()], kind)
    return pa.DictionaryArray.from_arrays(column.indices, values).cast(kind)


def _digest(table: EncodedTable) -> bytes:
    """Return SHA-256 of the sorted rows of a block: the codes of all columns, and the values that are published as they are."""
    found = hashlib.sha256()
    columns: Sequence[Codes] = [*table.quasi, *(attribute.codes for attribute in table.sensitive)]
    for codes in (*columns, *(kept.codes for kept in table.kept.values())):
        found.update(codes.astype("<u4").tobytes())
    for kept in table.kept.values():
        for value in kept.values.cast(pa.large_string()).to_pylist():
            text = b"-" if value is None else b"+" + value.encode()
            found.update(len(text).to_bytes(8, "little") + text)
    return found.digest()
