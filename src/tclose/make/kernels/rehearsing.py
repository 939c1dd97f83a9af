"""Rehearsing: a helper process compiles kernels for a small table without content, and runs none of them.

Kernels are compiled for types of arguments, not for tables or policies. So each stage of an algorithm is called with a small
table. When the stage calls its kernel, the kernel is compiled and kept, and the stage ends.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from tclose.make.kernels import compiling, keeping
from tclose.make.kernels.limits import BLANK, Limits
from tclose.make.kernels.loss import LossTable, loss_table
from tclose.make.models import ATTRIBUTE, COLUMN
from tclose.make.scales import Widths
from tclose.values.arrays import Codes, Ints

ROWS = 8
IDLE = 60.0
"""Seconds after which an idle helper ends: the process that started it may be gone."""


class _Small(NamedTuple):
    """A small table with arrays of the right types."""

    quasi: Codes
    losses: LossTable
    limits: Limits
    rows: Codes
    starts: Ints
    """Where two parts of the rows start."""
    labels: Ints
    """Two classes."""


def small() -> _Small:
    """Return a small table without content."""
    zeros = np.zeros(2)
    width = Widths(zeros, zeros, zeros, False, np.empty((0, 2), dtype=np.int32), np.empty(0))
    limits = BLANK._replace(
        columns=np.ones(1, dtype=COLUMN),
        codes=np.zeros((1, ROWS), dtype=np.int32),
        pairs=np.empty((0, ROWS), dtype=np.int32),
        attributes=np.zeros(1, dtype=ATTRIBUTE),
        references=np.zeros((1, 2), dtype=np.int64),
    )
    quasi, losses = np.zeros((ROWS, 2), dtype=np.int32), loss_table([width, width], [1.0, 1.0])
    rows, starts = np.arange(ROWS, dtype=np.int32), np.array([0, ROWS // 2, ROWS], dtype=np.int64)
    return _Small(quasi, losses, limits, rows, starts, np.repeat(np.arange(2), ROWS // 2))


def _column_satisfies(_: _Small) -> None:
    from tclose.make.kernels.satisfies import column_satisfies

    column_satisfies.compile()


def _excess(_: _Small) -> None:
    from tclose.make.kernels.excess import excess

    excess.compile()


def _find_failing(table: _Small) -> None:
    from tclose.make.kernels.satisfies import failing

    failing(table.limits, table.rows, table.starts)


def _fill_losses(table: _Small) -> None:
    from tclose.make.kernels.loss import losses_of_ranges

    losses_of_ranges(table.losses, 0, table.rows[:1], table.rows[:1])


def _cumulate_counts(table: _Small) -> None:
    from tclose.make.kernels.limits import cumulate_counts

    cumulate_counts(table.limits.attributes, table.limits.shapes, table.limits.references[0])


def _grow_classes(table: _Small) -> None:
    from tclose.make.growth.grow import grow_classes

    grow_classes(table.quasi, table.losses, table.limits, table.rows, table.starts, 0)


def _refining(step: str) -> Callable[[_Small], None]:
    """Return the rehearsal of one step of refining."""

    def compile_step(table: _Small) -> None:
        from tclose.make.growth.move import move
        from tclose.make.growth.neighbourhood import given, measured, similar
        from tclose.make.growth.split import split
        from tclose.make.growth.swap import swap
        from tclose.make.kernels.classes import classes_of

        table_given = given(table.quasi, table.losses, table.limits)
        if step == "measure":
            measured(table_given, table.labels)
        classes = classes_of(table.labels, table.quasi.shape[1])
        two = similar(classes, 0, 2)
        if step == "move":
            move(table_given, classes, two, 0.0)
        elif step == "split":
            split(table_given, classes, two)
        else:
            swap(table_given, classes, two, 0.0)

    return compile_step


def _merge(table: _Small) -> None:
    from tclose.make.kernels.classes import classes_of
    from tclose.make.kernels.merge import _merge

    _merge(table.quasi, table.losses, classes_of(table.labels, table.quasi.shape[1]), 0, table.rows)


def _mondrian(table: _Small) -> None:
    from tclose.make import mondrian

    mondrian.cut_all(table.quasi, table.losses, table.limits)


def _compare(table: _Small) -> None:
    from tclose.make import regions

    regions.not_close(table.limits, [], ROWS, table.rows, table.starts)


def _halve(table: _Small) -> None:
    from tclose.make.fragmentation.blocks import blocks_of

    blocks_of(table.quasi, table.losses, table.rows, np.ones((1, ROWS), dtype=np.int64), ROWS)


def _fill_classes(table: _Small) -> None:
    from tclose.make.fragmentation.blocks import ClassBlocks
    from tclose.make.fragmentation.grow import grow

    blocks = ClassBlocks(table.rows, table.starts, table.starts)
    grow(table.quasi, table.losses, table.rows, np.ones((1, ROWS), dtype=np.int64), blocks)


def _find_failing_tallied(table: _Small) -> None:
    from tclose.make.incognito.histogram import Histogram, failing_classes
    from tclose.make.kernels.satisfies import scratch_for

    histogram = Histogram(table.quasi, table.starts, table.rows, np.ones(ROWS, dtype=np.int64))
    failing_classes(table.limits, scratch_for(table.limits), histogram)


def _exchange(table: _Small) -> None:
    from tclose.make.fragmentation.exchange import exchange

    exchange(table.quasi, table.losses, table.rows, table.labels)


def _microaggregation(step: str) -> Callable[[_Small], None]:
    """Return the rehearsal of one step of microaggregation."""

    def compile_step(table: _Small) -> None:
        from tclose.make.microaggregation import mdav, merge, swap, tfirst
        from tclose.make.microaggregation.space import make_space

        space = make_space(table.losses, table.quasi)
        if step == "mdav":
            mdav.mdav(space, 1)
        elif step == "merge":
            merge.merge_all(space, table.limits, table.labels, np.zeros(2, dtype=np.bool_))
        elif step == "swap":
            swap.make_and_swap(space, table.limits, table.limits)
        else:
            tfirst.take_from_buckets(space, table.labels, 1)

    return compile_step


def _take_nearest(table: _Small) -> None:
    from tclose.make.kernels.nearest import fill_nearest

    fill_nearest(table.quasi, table.losses, table.rows, np.ones((1, ROWS), dtype=np.int64), np.arange(ROWS))


KERNELS: dict[str, Callable[[_Small], None]] = {
    "kernels.limits.cumulate_counts": _cumulate_counts,
    "kernels.satisfies.column_satisfies": _column_satisfies,
    "growth.grow._grow_block": _grow_classes,
    "kernels.satisfies.find_failing": _find_failing,
    "kernels.loss.fill_losses": _fill_losses,
    "kernels.excess.excess": _excess,
    "growth.move._move_rows": _refining("move"),
    "growth.split._split_classes": _refining("split"),
    "growth.swap._swap_rows": _refining("swap"),
    "growth.neighbourhood._measure_all": _refining("measure"),
    "mondrian._cut_all": _mondrian,
    "regions._compare": _compare,
    "fragmentation.exchange.sweep": _exchange,
    "fragmentation.grow._fill_block": _fill_classes,
    "fragmentation.blocks._halve_all": _halve,
    "incognito.histogram.find_failing_tallied": _find_failing_tallied,
    "kernels.merge._merge": _merge,
    "microaggregation.merge._merge_all": _microaggregation("merge"),
    "microaggregation.mdav._mdav": _microaggregation("mdav"),
    "microaggregation.swap._swap": _microaggregation("swap"),
    "microaggregation.tfirst._take": _microaggregation("tfirst"),
    "kernels.nearest._take_nearest": _take_nearest,
}
"""How each kernel is compiled; kernels that take long, and those that are needed first, come first."""

_CHECKS = ("kernels.limits.cumulate_counts", "kernels.satisfies.column_satisfies", "kernels.satisfies.find_failing")
_FILLING = ("fragmentation.grow._fill_block", "fragmentation.blocks._halve_all")
_GROWTH = (*tuple(KERNELS)[:10], *_FILLING, "kernels.merge._merge")
_MERGING = ("kernels.excess.excess", "microaggregation.merge._merge_all")
_REGIONS = "regions._compare"
_AFTERWARDS = ("kernels.loss.fill_losses", _REGIONS)
NEEDED: dict[str, tuple[str, ...]] = {
    "growth": (*_GROWTH, _REGIONS),
    "codip": _GROWTH,
    "mondrian": (*_CHECKS, "mondrian._cut_all", *_AFTERWARDS),
    "fragmentation": (*_CHECKS, "fragmentation.exchange.sweep", *_FILLING, "kernels.merge._merge", *_AFTERWARDS),
    "incognito": (*_CHECKS, "incognito.histogram.find_failing_tallied", _REGIONS),
    "microaggregation-merge": (*_CHECKS, *_MERGING, "microaggregation.mdav._mdav", *_AFTERWARDS),
    "microaggregation-swap": (*_CHECKS, *_MERGING, "microaggregation.swap._swap", *_AFTERWARDS),
    "microaggregation-tfirst": (*_CHECKS, *_MERGING, "microaggregation.tfirst._take", *_AFTERWARDS),
    "sabre": (*_CHECKS, "kernels.nearest._take_nearest", "kernels.merge._merge", *_AFTERWARDS),
    "wang-clustering": (*_CHECKS, "kernels.nearest._take_nearest", "kernels.merge._merge", *_AFTERWARDS),
    "wang-pca": (*_CHECKS, "kernels.nearest._take_nearest", "kernels.merge._merge", *_AFTERWARDS),
}
"""The kernels that an algorithm calls: for any table first, then those that some policies need."""


def rehearse(name: str) -> None:
    """Compile a kernel, unless it is compiled already."""
    with suppress(compiling.RehearsedError):
        KERNELS[name](small())


def main() -> None:
    """Compile the kernels named on standard input, line by line, and print each name when it is done; end with the input."""
    gc.disable()  # saves a seventh of the time; this process is short
    compiling.rehearsing = True
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line.strip())
        with keeping.writing:  # so that no file is left half written
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    _say(json.dumps(compiling.FOLDER))
    with suppress(queue.Empty):
        while True:
            name = asked.get(timeout=IDLE)
            rehearse(name)
            _say(name)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
