"""Information loss: the weighted NCP of a range of codes, and of the box around a class, as plain arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import kernel, lean, once
from tclose.make.scales import Widths
from tclose.values.arrays import Codes, Floats, Ints

BELOW: Any = np.int32(-1)
ABOVE: Any = np.int32(2**31 - 1)
"""Below and above every code, in the type of codes: for another type a part would be compiled once more."""

FEW = 256
"""The losses of all ranges are computed ahead for quasi-identifiers of at most this many codes: 0.5 MB, which the cache holds."""

COLUMN = np.dtype(
    [
        ("start", np.int64),  # where its codes start in `LossTable.codes`
        ("size", np.int64),  # how many codes it has
        ("missing", np.int64),  # 1 if the last code stands for missing cells
        ("depth", np.int64),  # levels of its tree; 0 without a tree
        ("ancestors", np.int64),  # where its part of `LossTable.ancestors` starts
        ("charges", np.int64),  # where its part of `LossTable.charges` starts
        ("ranges", np.int64),  # where its part of `LossTable.ranges` starts; -1 if it has too many codes
        ("weight", np.float64),
    ]
)
"""One quasi-identifier."""

CODE = np.dtype([("own", np.float64), ("low", np.float64), ("high", np.float64)])
"""One code of one quasi-identifier, with the fields of `tclose.make.scales.Widths`."""

RANGE = np.dtype([("low", np.int32), ("high", np.int32), ("loss", np.float64)])
"""The least and the largest code of some rows on one quasi-identifier, and the loss of that range."""

Box = NDArray[Any]
"""(quasi,) of `RANGE`: the box around the rows of a class; low is -1 for an empty class."""


class LossTable(NamedTuple):
    """The `Widths` of all quasi-identifiers, one after the other, and their weights."""

    columns: NDArray[Any]
    """(quasi,) of `COLUMN`."""
    codes: NDArray[Any]
    """(codes of all quasi-identifiers,) of `CODE`."""
    ancestors: Codes
    charges: Floats
    ranges: Floats
    """The losses of all ranges of codes [a, b], at ``a * size + b``, of quasi-identifiers of few codes."""


def loss_table(widths: Sequence[Widths], weights: Sequence[float]) -> LossTable:
    """Return the widths of all quasi-identifiers as one table."""

    def starts(name: str) -> Ints:
        return np.cumsum([0, *(getattr(width, name).size for width in widths[:-1])])

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([np.ravel(getattr(width, name)) for width in widths])

    columns = np.zeros(len(widths), dtype=COLUMN)
    columns["start"], columns["ancestors"], columns["charges"] = starts("own"), starts("ancestors"), starts("charges")
    columns["size"] = [len(width.own) for width in widths]
    columns["missing"] = [width.missing for width in widths]
    columns["depth"] = [len(width.ancestors) for width in widths]
    columns["weight"] = weights
    ranges = [
        _ranges(width, weight) if len(width.own) <= FEW else np.empty(0) for width, weight in zip(widths, weights, strict=True)
    ]
    columns["ranges"] = np.cumsum([0, *map(len, ranges[:-1])])
    columns["ranges"][columns["size"] > FEW] = -1
    codes = np.zeros(columns["size"].sum(), dtype=CODE)
    codes["own"], codes["low"], codes["high"] = joined("own"), joined("lows"), joined("highs")
    ancestors, charges = joined("ancestors").astype(np.int32), joined("charges").astype(np.float64)
    return LossTable(columns, codes, ancestors, charges, np.concatenate(ranges))


def _ranges(width: Widths, weight: float) -> Floats:
    """Return the losses of all ranges [a, b] of the codes of one quasi-identifier, row by row; void where a > b."""
    found = np.ones((len(width.own), len(width.own)))
    if len(width.ancestors):
        for nodes in width.ancestors:  # from the root down: the lowest common node is the last
            common = (nodes[:, None] == nodes) & (nodes >= 0)
            found[common] = np.broadcast_to(width.charges[nodes], common.shape)[common]
    else:
        np.minimum(width.highs - width.lows[:, None], 1.0, out=found)
    if width.missing:
        found[:, -1] = 1.0
    np.fill_diagonal(found, width.own)
    return weight * found.ravel()


def losses_of_ranges(losses: LossTable, quasi: int | Ints, low: NDArray[Any], high: NDArray[Any]) -> Floats:
    """Return the loss of each range of codes; ``quasi`` is the quasi-identifier of all ranges, or of each."""
    found = np.empty(len(low))
    columns = np.full(len(low), quasi, dtype=np.int64)
    fill_losses(losses, columns, low.astype(np.int32), high.astype(np.int32), found)
    return found


@kernel
def fill_losses(losses: LossTable, quasi: Ints, low: Codes, high: Codes, found: Floats) -> None:
    """Fill in the loss of each range of codes."""
    for index in range(len(found)):
        found[index] = loss(losses, quasi[index], low[index], high[index])


@lean
def loss(losses: LossTable, quasi: int, a: int, b: int) -> float:
    """Return the weighted NCP of the codes a to b of one quasi-identifier; see `tclose.make.scales.Widths`."""
    column = losses.columns[quasi]
    if column.ranges >= 0:
        known: float = losses.ranges[column.ranges + a * column.size + b]
        return known
    ncp: float = 1.0
    if a == b:
        ncp = losses.codes[column.start + a].own
    elif column.missing and b == column.size - 1:
        ncp = 1.0
    elif column.depth == 0:
        width = losses.codes[column.start + b].high - losses.codes[column.start + a].low
        ncp = width if width < 1.0 else 1.0
    else:
        level = column.ancestors + column.depth * column.size
        while level > column.ancestors:
            level -= column.size
            node = losses.ancestors[level + a]
            if node >= 0 and node == losses.ancestors[level + b]:
                ncp = losses.charges[column.charges + node]
                break
    weighted: float = column.weight * ncp
    return weighted


def box_for(columns: int) -> Box:
    """Return memory for a box over this many quasi-identifiers."""
    return np.empty(columns, dtype=RANGE)


@lean
def clear_box(box: Box) -> None:
    """Reset to the box of an empty class."""
    for column in range(len(box)):
        box[column].low = -1


@once
def loss_with(codes: Codes, losses: LossTable, box: Box, enough: float) -> float:
    """Return the loss of the box with a row of these codes; stops early and returns a lower bound that is at least ``enough``."""
    total = 0.0
    for column in range(len(codes)):
        code, own = codes[column], box[column]
        if own.low <= code <= own.high:
            total += own.loss
        else:
            total += loss(losses, column, min(own.low, code), max(own.high, code))
        if total >= enough:
            break
    return total


@lean
def widen(codes: Codes, losses: LossTable, box: Box) -> None:
    """Widen the box to include a row of these codes."""
    for column in range(len(codes)):
        code, own = codes[column], box[column]
        if own.low < 0:
            own.low = own.high = code
        own.low, own.high = min(own.low, code), max(own.high, code)
        own.loss = loss(losses, column, own.low, own.high)


@lean
def box_loss(box: Box) -> float:
    """Return the loss of each row in the box."""
    total = 0.0
    for column in range(len(box)):
        total += box[column].loss
    return total
