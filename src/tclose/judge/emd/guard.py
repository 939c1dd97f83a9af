"""Integers that cannot wrap around: each class is computed in 64 bits where they suffice, else in Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.values.exact import INT64_MAX
from tclose.values.histograms import Histograms

Numerators = Callable[[Any, Histograms, type], NDArray[Any]]
"""From a distance, classes and a dtype to ``n * s * scale * EMD`` of each class, in integers of that dtype."""


def without_wrapping(numerators: Numerators, distance: Any, classes: Histograms) -> NDArray[Any]:
    """Return ``n * s * scale * EMD`` of each class, in 64 bits where they suffice, else in Python's integers.

    A class with n * s * scale below 2^63 is computed in 64 bits: sums and products on the way may wrap, but the result
    lies in [0, n * s * scale], and arithmetic modulo 2^64 gives it exactly. Other classes are computed in Python's integers.
    """
    fits = classes.sizes <= INT64_MAX // max(classes.rows * distance.scale, 1)
    if fits.all():
        return numerators(distance, classes, np.int64)
    result = np.empty(len(classes), dtype=object)
    for chosen, dtype in ((np.flatnonzero(fits), np.int64), (np.flatnonzero(~fits), object)):
        if len(chosen):
            result[chosen] = numerators(distance, classes.take(chosen), dtype)
    return result
