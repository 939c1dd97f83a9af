"""One block of a table on a cluster: its rows are put into classes by growth, with the kernels of one machine, and published."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.make.distributed.coding import BLOCK
from tclose.make.distributed.plan import Plan
from tclose.make.encode import Codes, EncodedTable, Kept
from tclose.make.growth.growth import growth
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.loss import loss_table
from tclose.make.losses import Charges
from tclose.make.problem import Problem
from tclose.make.recode import Recoded, recode
from tclose.tables.coded import narrow, sorted_order


@dataclass(frozen=True, eq=False)
class Summary:
    """What the owner of a release learns about one block.

    Attributes
    ----------
    block : int
    rows : int
    charges : list of Charges
        Of each quasi-identifier.
    start : str
        What refining started from.
    digest : bytes
        SHA-256 of the rows of the block, for the commitment to the input.
    """

    block: int
    rows: int
    charges: list[Charges]
    start: str
    digest: bytes


def release_block(plan: Plan, rows: pa.Table) -> tuple[pa.Table, Summary]:
    """Return the published rows of one block, with the unit as the last column where there is one, and its summary.

    All rows of a block satisfy the limits as one class, so that growth finds classes in it that do. They are compared with the
    whole table. The same rows give the same release in whatever order they arrive.
    """
    number = rows[BLOCK][0].as_py()
    table = encoded_block(plan, rows)
    seed = int(np.random.SeedSequence([plan.seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    partition = growth(problem_of(plan, table), seed, plan.effort, plan.options)
    recoded = recode(table, partition.labels, plan.names)
    charges = [Charges.of(published, recoded.sizes).summed() for published in recoded.published]
    summary = Summary(number, table.rows, charges, partition.course["start"], _digest(table))
    published = _published(plan.schema(), recoded)
    if table.persons is not None:
        published = published.append_column(
            plan.unit, _ranked(rows[plan.unit]).values.take(pa.array(table.persons[recoded.rows]))
        )
    return published, summary


def encoded_block(plan: Plan, rows: pa.Table) -> EncodedTable:
    """Return the rows of a block as `tclose.make.encode.encode` would, sorted; values are compared with those of the table."""

    def codes(name: str, size: int) -> Codes:
        """Return a column of codes, as narrow as they can be."""
        found: Codes = rows[name].to_numpy().astype(narrow(size))
        return found

    coding, attributes = plan.coding, plan.attributes
    quasi = [codes(name, scale.size) for name, scale in zip(coding.quasi_names, plan.scales, strict=True)]
    values = [codes(name, len(attribute.values)) for name, attribute in zip(coding.sensitive_names, attributes, strict=True)]
    sensitive = [replace(attribute, codes=own) for attribute, own in zip(attributes, values, strict=True)]
    kept = {name: _ranked(rows[name], kind) for name, kind in plan.kept.items()}
    persons = None if plan.unit is None else _ranked(rows[plan.unit]).codes
    keys = [(own, scale.size) for own, scale in zip(quasi, plan.scales, strict=True)]
    keys += [(own, len(attribute.values)) for own, attribute in zip(values, attributes, strict=True)]
    keys += [(column.codes, len(column.values)) for column in kept.values()]
    keys += [] if persons is None else [(persons, int(persons.max()) + 1)]
    table = EncodedTable(np.arange(rows.num_rows), plan.scales, quasi, plan.types, sensitive, persons, kept)
    return table.take(sorted_order(keys))


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


def _ranked(column: pa.ChunkedArray, kind: pa.DataType | None = None) -> Kept:
    """Return the values of a column that occur, ascending, missing last, and each row's index among them."""
    encoded = column.combine_chunks().cast(kind or column.type).dictionary_encode(null_encoding="encode")
    order = pc.sort_indices(encoded.dictionary)  # missing last
    ranks = np.empty(len(order), dtype=narrow(len(order)))
    ranks[order.to_numpy()] = np.arange(len(order))
    return Kept(encoded.dictionary.take(order), ranks[encoded.indices.to_numpy(zero_copy_only=False)])


def _published(schema: pa.Schema, recoded: Recoded) -> pa.Table:
    """Return the published columns of a block in the types of the whole release.

    A block without missing cells lacks the columns that mark them: there nothing is missing.
    """
    count = len(recoded.rows)
    columns = [
        recoded.columns[field.name].cast(field.type) if field.name in recoded.columns else pa.array(np.zeros(count, dtype=bool))
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


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
