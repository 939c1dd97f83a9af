"""Tables that are planned to be released in blocks, as on a cluster, without one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import tclose as tc
from tclose.make.distributed.plan import Plan, plan_of
from tclose.make.registry import settings_of
from tclose.release.opened import open_input


def planned(table: pa.Table, policy: tc.Policy, seed: int = 0, effort: str = "fast", **options: Any) -> tuple[Plan, pa.Table]:
    """The plan of a release, and all rows of the table as it codes them."""
    settings = settings_of(None, seed, effort, options)
    opened = open_input(table, policy, settings.algorithm)
    plan = plan_of(opened.source, policy, settings, opened.roles.kept, opened.unit)
    columns = [opened.source.column(name).combine_chunks() for name in plan.read]
    batches = list(plan.coding([pa.record_batch(columns, names=plan.read)]))
    return plan, pa.Table.from_batches(batches)
