"""(n,t)-closeness of published classes: each must be within t of a region around it that has at least n rows.

A region is a box of quasi-identifier values that cuts through no class: each class lies inside it or does not meet it (Li et al.
2010, section 3; docs/measures.md defines which regions are tried). Which classes a box meets depends on their published labels,
so an algorithm cannot know its regions before recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel
from tclose.make.kernels.limits import Limits, fill_reference
from tclose.make.kernels.running import run
from tclose.make.kernels.satisfies import satisfies, scratch_for
from tclose.make.kernels.scratch import Scratch
from tclose.make.models import closeness, only
from tclose.make.scales.boxes import Boxes, Nodes, Ranges
from tclose.values.arrays import Bools, Codes, Ints

if TYPE_CHECKING:
    from tclose.make.encode import EncodedTable


def far_from_regions(table: EncodedTable, limits: Limits, rows: Ints, starts: Ints) -> Bools:
    """Return which classes are farther than t from every region around them, for at least one sensitive attribute.

    Parameters
    ----------
    limits
        Those of the table's rows; t and n are looked at, nothing else.
    rows, starts
        Class i holds ``rows[starts[i]:starts[i+1]]``. No two classes may be published alike.
    """
    scales = table.scales_of(rows, starts)
    found = [scale.boxes(codes[rows], starts) for scale, codes in zip(scales, table.quasi, strict=True)]
    # If a reader may take a label for something else, the whole table is the only certain region.
    axes = [] if any(boxes is None for boxes in found) else [boxes for boxes in found if boxes is not None]
    far = np.zeros(len(starts) - 1, dtype=np.bool_)
    for alone in _each_closeness(limits):
        far |= not_close(alone, axes, limits.n, rows.astype(np.int32), starts)
    return far


def _each_closeness(limits: Limits) -> Iterator[Limits]:
    """Yield the limit on t of each attribute alone: two attributes may be close to two different regions."""
    alone = only(limits, closeness.FAMILY)._replace(k=1, n=0, persons=limits.persons[:0], pairs=limits.pairs[:0], marks=0)
    limited = closeness.limits_t(limits.attributes)
    for number, column in enumerate(limits.columns):
        for index in range(int(column["first"]), int(column["last"])):
            if limited[index]:
                columns = alone.columns[number : number + 1].copy()
                columns["first"], columns["last"] = index, index + 1
                yield alone._replace(columns=columns, codes=limits.codes[number : number + 1])


def not_close(limits: Limits, axes: Sequence[Boxes], n: int, rows: Codes, starts: Ints) -> Bools:
    """Return which classes are within t of no region, under limits on one attribute."""
    sizes = np.diff(starts)
    far = np.ones(len(sizes), dtype=np.bool_)
    reference, scratch = np.empty_like(limits.references), scratch_for(limits)
    for inside in regions(axes, sizes, n, far):
        members = np.repeat(starts[inside] - np.cumsum(sizes[inside]) + sizes[inside], sizes[inside])
        members += np.arange(len(members))
        run(_compare, limits, rows[members], rows, starts, inside, reference, scratch, far)
    return far


@kernel
def _compare(
    limits: Limits,
    region: Codes,
    rows: Codes,
    starts: Ints,
    inside: Ints,
    reference: Ints,
    scratch: Scratch,
    far: Bools,
    cancel: NDArray[np.uint8],
) -> None:
    """Clear ``far`` for each class inside a region that is within t of it; ``region`` has all rows of these classes."""
    fill_reference(limits, region, reference[0])
    for number in inside:
        if cancel[0]:
            return
        if far[number]:
            far[number] = not satisfies(limits, reference, rows[starts[number] : starts[number + 1]], scratch)


def regions(axes: Sequence[Boxes], sizes: Ints, n: int, wanted: Bools) -> Iterator[Ints]:
    """Yield the regions of at least n rows that are tried, each as the classes inside.

    They are the whole table, and the parts that arise when it is split recursively where no class lies on both sides: once along
    the axis whose largest part is smallest, and once more for each axis, with that axis first while it can be split.

    Parameters
    ----------
    axes
        What classes may stand for, one axis for each quasi-identifier.
    sizes : (classes,) int64
        The rows of each class.
    wanted : (classes,) bool
        The classes that still need a region. The caller clears it between regions; parts without such classes are skipped.
    """
    whole = np.arange(len(sizes))
    if sizes.sum() >= n:
        yield whole
    for first in range(-1, len(axes)):
        open_parts = _parts(axes, sizes, whole, first)
        while open_parts:
            part = open_parts.pop()
            if wanted[part].any() and sizes[part].sum() >= n:
                yield part
                open_parts += _parts(axes, sizes, part, first)


def _parts(axes: Sequence[Boxes], sizes: Ints, inside: Ints, first: int) -> list[Ints]:
    """Return the parts of a region along the axis ``first``; if there are none, along the axis whose largest part is smallest."""
    best: list[Ints] = []
    least = int(sizes[inside].sum())
    for number, boxes in sorted(enumerate(axes), key=lambda axis: axis[0] != first):
        parts = _children(boxes.paths[:, inside]) if isinstance(boxes, Nodes) else _halves(boxes, sizes, inside)
        largest = max((int(sizes[inside[part]].sum()) for part in parts), default=least)
        if largest < least:
            best, least = [inside[part] for part in parts], largest
            if number == first:
                break
    return best


def _halves(boxes: Ranges, sizes: Ints, inside: Ints) -> list[Ints]:
    """Return two parts of a line with no class on both sides, as even as possible; ties: the lower cut wins."""
    order = np.argsort(boxes.low[inside], kind="stable")
    low, high = boxes.low[inside][order], np.maximum.accumulate(boxes.high[inside][order])
    before = np.cumsum(sizes[inside][order])
    uneven = np.where(high[:-1] < low[1:], np.abs(2 * before[:-1] - before[-1]), before[-1])
    if not (uneven < before[-1]).any():
        return []
    cut = int(np.argmin(uneven)) + 1
    return [order[:cut], order[cut:]]


def _children(paths: Ints) -> list[Ints]:
    """Return the classes below each child of their lowest common node; an empty list where a class stands for that node."""
    for level in paths:
        if (level != level[0]).any():
            children = np.unique(level)
            return [] if children[0] < 0 else [np.flatnonzero(level == child) for child in children]
    return []
