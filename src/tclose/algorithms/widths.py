"""Widths: what a range of codes loses on each quasi-identifier, as plain arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.compiling import lean
from tclose.scales import Widths

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Losses(NamedTuple):
    """The `Widths` of all quasi-identifiers, one after the other, and their weights."""

    starts: Ints
    """(quasi + 1,): where the codes of each start in own, lows and highs."""
    own: Floats
    lows: Floats
    highs: Floats
    missing: NDArray[np.bool_]
    depths: Ints
    """Levels of each tree; 0 without."""
    ancestors_at: Ints
    ancestors: NDArray[np.int32]
    charges_at: Ints
    charges: Floats
    weights: Floats


def losses_of(widths: Sequence[Widths], weights: Sequence[float]) -> Losses:
    """Put the widths of all quasi-identifiers side by side."""

    def starts(lengths: list[int]) -> Ints:
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def joined(name: str, dtype: type) -> NDArray[np.generic]:
        return np.concatenate([np.ravel(getattr(width, name)) for width in widths]).astype(dtype)

    return Losses(
        starts([len(width.own) for width in widths]),
        joined("own", np.float64),  # type: ignore[arg-type]
        joined("lows", np.float64),  # type: ignore[arg-type]
        joined("highs", np.float64),  # type: ignore[arg-type]
        np.array([width.missing for width in widths]),
        np.array([len(width.ancestors) for width in widths]),
        starts([width.ancestors.size for width in widths]),
        joined("ancestors", np.int32),  # type: ignore[arg-type]
        starts([len(width.charges) for width in widths]),
        joined("charges", np.float64),  # type: ignore[arg-type]
        np.array(weights, dtype=np.float64),
    )


@lean
def loss(losses: Losses, quasi: int, a: int, b: int) -> float:
    """The weighted NCP of the codes a to b of one quasi-identifier; see `tclose.scales.Widths`."""
    start = losses.starts[quasi]
    size = losses.starts[quasi + 1] - start
    ncp: float = 1.0
    if a == b:
        ncp = losses.own[start + a]
    elif losses.missing[quasi] and b == size - 1:
        ncp = 1.0
    elif losses.depths[quasi] == 0:
        ncp = min(losses.highs[start + b] - losses.lows[start + a], 1.0)
    else:
        for depth in range(losses.depths[quasi] - 1, -1, -1):
            level = losses.ancestors_at[quasi] + depth * size
            node = losses.ancestors[level + a]
            if node >= 0 and node == losses.ancestors[level + b]:
                ncp = losses.charges[losses.charges_at[quasi] + node]
                break
    weighted: float = losses.weights[quasi] * ncp
    return weighted
