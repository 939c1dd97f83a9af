"""compare: what several algorithms attain, lose and give away on one table, at several t and k."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

from tclose.errors import PolicyError, got, one_of, raising_alone
from tclose.jobs import announce, report
from tclose.make.registry import EFFORTS, list_algorithms, settings_of
from tclose.policy import Policy, check_policy
from tclose.release.opened import Opened, open_input
from tclose.study.compare.cell import Cell, Result, Task, asked
from tclose.study.compare.comparison import Compared, Comparison
from tclose.study.compare.record import open_record
from tclose.study.compare.workers import run_all
from tclose.study.staging import held_back, share_of
from tclose.tables.readers import in_memory
from tclose.values.exact import exact

LIMITS = (0.05, 0.1, 0.15, 0.2, 0.3)
"""The t that are tried, unless others are given."""


@raising_alone
def compare(
    table: Any,
    policy: Policy,
    *,
    algorithms: str | Sequence[str] = "all",
    t: Sequence[Any] = LIMITS,
    k: Sequence[int] | None = None,
    seeds: Sequence[int] = (0,),
    effort: str = "balanced",
    holdout: Any = "1/10",
    seconds: float | None = None,
    processes: int | None = None,
    record: str | Path | None = None,
) -> Comparison:
    """Compare algorithms and thresholds on a table: what each release attains, loses and gives away.

    Each combination of algorithm, t, k and seed is a cell. A share of the persons is held back, a release is made of the rest,
    attacked (see `tclose.attack`) and measured (see `tclose.utility`), in a process of its own.

    Parameters
    ----------
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        Which files are read is in docs/tables.md.
    policy : Policy
        What is asked besides: quasi-identifiers, sensitive attributes, further limits.
    algorithms : "all" or sequence of str
        See `tclose.list_algorithms`. Those that make several tables are not compared.
    t : sequence of numbers
        Each is tried for all sensitive attributes that have a t.
    k : sequence of int, optional
        By default that of the policy.
    seeds : sequence of int
        Figures are means over seeds.
    effort : str
        How long algorithms may refine a release; see `tclose.anonymize`.
    holdout : number or text
        The share of the persons to hold back: above 0, below 1.
    seconds : float, optional
        The longest time that a cell may take. One that takes longer is ended, and shown as such.
    processes : int, optional
        How many cells run at the same time; by default as many as the machine has processors.
    record : path, optional
        A JSON file that has what is done after each cell. A comparison that was interrupted goes on where it was, if it is
        called again with the same file, table and policy. The table must be a file then.

    Returns
    -------
    Comparison
    """
    check_policy(policy)
    table = in_memory(table)  # each process gets the same rows
    task = Task(table, policy, share_of(holdout, "holdout", "persons"), one_of("effort", effort, EFFORTS))
    cells = cells_of(policy, algorithms, t, k, seeds)
    for cell in cells:
        asked(policy, cell)  # a t or a k that cannot be is told before anything is made
    if seconds is not None and not 0 < seconds < math.inf:
        raise PolicyError(f"seconds must be a number above 0. Got {got(seconds)}.")
    if record is not None and not isinstance(table, str | Path):
        raise PolicyError("A comparison with a record needs a table in a file: only that can be known again.")
    if processes is not None and processes < 1:
        raise PolicyError(f"processes must be a whole number from 1 on. Got {got(processes)}.")
    limits = [float(column.t) for column in policy.sensitive if column.t is not None]
    own = max(limits) if limits else None
    opened = open_input(table, policy, settings_of(cells[0].algorithm, 0, effort, None).algorithm)  # tells a wrong column once
    compared = _compared(opened, task)
    file = opened.reader.file
    with nullcontext() if record is None else open_record(Path(record), task, opened.reader, seconds, own, compared) as kept:
        done = {} if kept is None else {result.cell: result for result in kept.results}
        for result in _run(task, cells, done, processes or os.cpu_count() or 1, seconds):
            if file is not None:
                file.check_unchanged()  # else cells would be of two tables
            done[result.cell] = result
            if kept is not None:
                kept.add(result)
    return Comparison([done[cell] for cell in cells], own, compared)


def _compared(opened: Opened, task: Task) -> Compared:
    """Return what is compared: the table's size, its persons, and how many of them are held back."""
    some = opened.unit or task.policy.quasi[0].name
    valid, values = opened.source.count_values(some)
    rows = valid + opened.source.missing(some)[0]
    persons = rows if opened.unit is None else values
    columns = ([column.name for column in part] for part in (task.policy.quasi, task.policy.sensitive))
    return Compared(rows, persons, held_back(task.holdout, persons), *columns)


def _run(task: Task, cells: Sequence[Cell], done: Container[Cell], processes: int, seconds: float | None) -> Iterator[Result]:
    """Yield the results of all cells that are not done, in the order in which they end, and report how many are left."""
    left = [cell for cell in cells if cell not in done]
    announce("Comparing")
    begun = time.monotonic()
    for number, result in enumerate(run_all(task, left, processes, seconds), start=1):
        yield result
        rest = (time.monotonic() - begun) / number * (len(left) - number)
        report(f"{len(cells) - len(left) + number} of {len(cells)}, about {rest:.0f} s left")


def cells_of(
    policy: Policy, algorithms: str | Sequence[str], t: Sequence[Any], k: Sequence[int] | None, seeds: Sequence[int]
) -> list[Cell]:
    """Return all cells of a comparison; raise PolicyError for an algorithm or a number that cannot be."""
    names = [one.name for one in list_algorithms() if not one.several] if algorithms == "all" else algorithms
    names = list(dict.fromkeys([names] if isinstance(names, str) else names))
    for name, seed in product(names, seeds):
        if settings_of(name, seed, EFFORTS[0], None).algorithm.several:
            raise PolicyError(f"{name} makes several tables, and releases of one table are compared. Choose another algorithm.")
    limits: Sequence[float | None] = [None]
    if any(column.t is not None for column in policy.sensitive):
        limits = sorted({_limit(one) for one in t})
    sizes = sorted({policy.k} if k is None else set(k))
    if policy.k is None and k is None:
        raise PolicyError("compare makes releases, which need a k. Give k in the policy, or k=[5, 10].")
    found = [Cell(name, limit, size, seed) for limit, size, name, seed in product(limits, sizes, names, dict.fromkeys(seeds))]
    if not found:
        raise PolicyError("There is nothing to compare. Give at least one algorithm, one t, one k and one seed.")
    return found


def _limit(given: Any) -> float:
    """Return a t; raise PolicyError if it is no number."""
    try:
        return float(exact(given))
    except (ValueError, OverflowError):
        raise PolicyError(f"t must be numbers from 0 to 1. Got {got(given)}.") from None
