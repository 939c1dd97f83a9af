"""Tables that are planned to be released in blocks, as on a cluster, without one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import tclose as tc
from tclose.judge.edges import columns_with_ends
from tclose.make.distributed.coding import Coding
from tclose.make.distributed.cuts import Terms
from tclose.make.distributed.plan import DRIFT_OF_BLOCKS, Plan, plan_of
from tclose.make.kernels.loss import loss_table
from tclose.make.registry import settings_of
from tclose.make.scales.grids import People, people_of_rows
from tclose.release.opened import open_input


def planned(table: pa.Table, policy: tc.Policy, seed: int = 0, effort: str = "fast", **options: Any) -> tuple[Plan, pa.Table]:
    """The plan of a release, and all rows of the table as it codes them."""
    settings = settings_of(None, seed, effort, options)
    opened = open_input(table, policy, settings.algorithm)
    ends = columns_with_ends(policy, opened.source.kinds) if policy.edges > 1 else []

    def people_of(name: str, values: Coding, size: int) -> People:
        """Persons by the codes of their values."""
        assert opened.unit is not None
        (_, ranks), (_, persons) = opened.source.rows([name, opened.unit])
        return people_of_rows(size, values.codes[ranks], persons)

    plan = plan_of(opened.source, policy, settings, opened.roles.kept, opened.unit, people_of, ends)
    rows = pa.table([opened.source.column(name).combine_chunks() for name in plan.read], names=plan.read)
    numbers: dict[tuple[Any, ...], int] = {}
    hashes = [numbers.setdefault(tuple(row.values()), len(numbers)) for row in rows.to_pylist()]
    rows = rows.append_column("hash", [hashes]).append_column("count", [[1] * len(hashes)])
    return plan, pa.Table.from_batches(plan.coding(rows.to_batches()))


def equal_rows_once(rows: pa.Table) -> pa.Table:
    """Coded rows, of which one stands for all that are equal to it."""
    names = [name for name in rows.column_names if name != "count"]
    return rows.group_by(names).aggregate([("count", "sum")]).rename_columns([*names, "count"]).select(rows.column_names)


def terms_of(plan: Plan, most: int, drift: Fraction = DRIFT_OF_BLOCKS) -> Terms:
    """How the blocks of a plan are cut, of at most so many rows: in the first round, or with a drift of 1 in the second."""
    losses = loss_table([scale.widths() for scale in plan.scales], [float(column.weight) for column in plan.policy.quasi])
    return Terms(plan.policy, plan.attributes, losses, plan.coding, most, drift, plan.least, plan.limits_persons)


def some_people(rows: int, seed: int = 1, *, missing: bool = False) -> pa.Table:
    """People, two rows each, whose pay goes with their age; some ages may be missing."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    return pa.table(
        {
            "who": pa.array([f"P{row // 2}" for row in range(rows)]),
            "age": pa.array(age, mask=(rng.random(rows) < 0.1) if missing else None),
            "sex": rng.choice(["f", "m"], rows),
            "pay": age // 10 + rng.integers(0, 3, rows),
            "ill": rng.choice(["a", "b", "c"], rows),
        }
    )
