"""The earth mover's distance on a line: the mass that crosses each gap, times the gap's width."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances.shapes import Line
from tclose.values.histograms import Histograms


def numerators(distance: Line, classes: Histograms, dtype: type) -> NDArray[Any]:
    """Return ``n * s * scale * EMD`` of each class on a line, from the gaps between the values that occur in the class.

    Between touched values a and b the class has cumulated C rows, so gap i costs ``|n*C - s*T_i|`` times its width,
    T_i = cumulated table count. T ascends, hence the sign changes once, at the first x with ``T_x >= n*C/s``, and both
    parts are differences of ``W[j] = sum_{i<j} T_i (v_{i+1} - v_i)``.
    """
    n = classes.rows
    s: NDArray[Any] = classes.repeated(classes.sizes).astype(dtype)
    v: NDArray[Any] = distance.positions.astype(dtype)
    T = np.cumsum(classes.table)
    W: NDArray[Any] = np.concatenate([[0], np.cumsum(T[:-1].astype(dtype) * np.diff(v))]).astype(dtype)

    before = np.cumsum(classes.counts) - classes.counts
    C = classes.counts + before - classes.repeated(before[classes.starts[:-1]])
    nC = C.astype(dtype) * n
    a = classes.codes
    b = np.append(a[1:], distance.m - 1)
    b[classes.starts[1:] - 1] = distance.m - 1
    y = -(-nC // s)
    x = np.clip(np.searchsorted(T, y.astype(np.int64)), a, b)

    # sum_{a<=i<x} (n*C - s*T_i) * width_i  +  sum_{x<=i<b} (s*T_i - n*C) * width_i
    gaps = nC * (v[x] - v[a]) - s * (W[x] - W[a]) + s * (W[b] - W[x]) - nC * (v[b] - v[x])
    ahead = classes.sizes.astype(dtype) * W[a[classes.starts[:-1]]]
    result: NDArray[Any] = ahead + classes.sums(gaps)
    return result


def cost(distance: Line, surplus: NDArray[Any]) -> Any:
    """Return ``scale`` times the least work that levels a surplus P - Q on a line, in the arithmetic of the array."""
    return (np.abs(np.cumsum(surplus)[:-1]) * np.diff(distance.positions)).sum()
