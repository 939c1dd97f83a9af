"""The earth mover's distance in a set: all mass that must move goes the same way, 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Set
from tclose.values.histograms import Histograms


def numerators(distance: Set, classes: Histograms, dtype: type) -> NDArray[Any]:
    """Return ``n * s * EMD`` of each class in a set: n * s less the mass that the class and the table share."""
    if distance.scale == 0:
        return np.zeros(len(classes), dtype=dtype)
    n = classes.rows
    sizes: NDArray[Any] = classes.sizes.astype(dtype)
    shared = np.minimum(classes.repeated(sizes) * classes.table[classes.codes], classes.counts.astype(dtype) * n)
    result: NDArray[Any] = sizes * n - classes.sums(shared)
    return result


def cost(distance: Set, surplus: NDArray[Any]) -> Any:  # noqa: ARG001 - the same for all sets
    """Return the least work that levels a surplus P - Q in a set: the sum of what is above 0, which moves once."""
    return np.maximum(surplus, 0).sum()
