"""t-closeness of one tallied class: the earth mover's distance from the touched values only, compared exactly.

With C rows of the class and T of the table at (or up to, or below) a place, s and n rows in all, D = n * s * scale * EMD is
an integer in each form. Kernels give it twice: modulo 2^64, exact where n * s * scale fits, and in floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.algorithms.compare import at_most
from tclose.algorithms.compiling import lean, once
from tclose.algorithms.flow import cheapest
from tclose.algorithms.limits import EQUAL, LINE, NEAR, TREE, Ints
from tclose.algorithms.sorting import sort


@once
def close(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, distinct: int) -> bool:
    """Whether a tallied class of ``size`` rows is within t of a table or region. May sort the touched values."""
    whole, rough = _work(attribute, shapes, reference, size, scratch, distinct)
    n = reference[attribute.reference]
    if size <= attribute.largest_exact:
        return at_most(whole, n * size * attribute.scale, attribute.t_above, attribute.t_below)
    near: bool = rough / _unit(attribute, n, size) <= attribute.t_above / attribute.t_below - NEAR
    return near


@once
def distance(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, distinct: int) -> float:
    """The earth mover's distance of a tallied class from a table or region, in floats. May sort the touched values."""
    _, rough = _work(attribute, shapes, reference, size, scratch, distinct)
    found: float = rough / _unit(attribute, reference[attribute.reference], size)
    return found


@lean
def _unit(attribute: Any, n: int, size: int) -> float:
    """D of a class at distance 1, in floats."""
    return np.float64(n) * np.float64(size) * np.float64(attribute.scale)


@once
def _work(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, distinct: int) -> Any:
    """D, modulo 2^64 and in floats, by the kind of the distance."""
    m, start = attribute.size, attribute.reference
    n = reference[start]
    table, more = reference[start + 1 : start + 1 + m], reference[start + 1 + m :]
    shape = shapes[attribute.shape :]
    touched = scratch.touched[:distinct]
    if attribute.kind == LINE:
        sort_touched(scratch.counts[:m], touched)
        return on_a_line(shape[:m], more[:m], more[m:], n, size, scratch.counts, touched)
    if attribute.kind == EQUAL:
        return of_equals(table, n, size, scratch.counts, touched)
    if attribute.kind == TREE:
        return in_a_tree(shape, attribute, more, n, size, scratch, touched)
    return cheapest(shape[: m * m], table, n, size, scratch.counts, scratch.spare)


@lean
def sort_touched(counts: Ints, touched: Ints) -> None:
    """Sort the touched values; by a walk over the domain where that is shorter."""
    if len(counts) > 32 * len(touched):
        sort(touched)
        return
    place = 0
    for code in range(len(counts)):
        if place == len(touched):
            break
        touched[place] = code  # one that does not occur is overwritten; a branch here would be guessed wrong too often
        place += counts[code] > 0


@lean
def on_a_line(v: Ints, T: Ints, W: Ints, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Ordered and numeric. Between touched values a and b the class has cumulated C rows, and D grows by

    sum_{a<=i<b} |n*C - s*T_i| (v_{i+1} - v_i), whose sign changes once, at the first x with s*T_x >= n*C; both parts are
    differences of W_j = sum_{i<j} T_i (v_{i+1} - v_i).
    """
    first = touched[0]
    whole, rough = s * W[first], np.float64(s) * np.float64(W[first])
    C = 0
    for place in range(len(touched)):
        a = touched[place]
        b = touched[place + 1] if place + 1 < len(touched) else len(v) - 1
        C += counts[a]
        nC = n * C
        x, y = a, b  # the first x in [a, b) with s*T_x >= n*C, else b
        while x < y:
            middle = (x + y) // 2
            if s * T[middle] >= nC:
                y = middle
            else:
                x = middle + 1
        up, down = v[x] - v[a], v[b] - v[x]
        work_up, work_down = W[x] - W[a], W[b] - W[x]
        whole += nC * (up - down) - s * (work_up - work_down)
        rough += np.float64(nC) * np.float64(up - down) - np.float64(s) * np.float64(work_up - work_down)
    return whole, rough


@lean
def of_equals(T: Ints, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Equal: EMD = 1 - sum over touched values of min(p, q)."""
    shared = 0
    for code in touched:
        shared += min(s * T[code], n * counts[code])
    return n * s - shared, np.float64(n * s - shared)


@lean
def in_a_tree(shape: Ints, attribute: Any, T: Ints, n: int, s: int, scratch: Any, touched: Ints) -> Any:
    """Hierarchical: EMD = 1 - sum over touched nodes N but the root of w_N min(P_N, Q_N) / H.

    w_N = height(parent) - height(N).
    """
    m, nodes = attribute.size, attribute.nodes
    parents, weights = shape[m : m + nodes], shape[m + nodes : m + 2 * nodes]
    seen = 0
    for code in touched:
        node = shape[code]
        while node > 0:
            if scratch.further[node] == 0:
                scratch.spare[seen] = node
                seen += 1
            scratch.further[node] += scratch.counts[code]
            node = parents[node]
    whole, rough = n * s * attribute.scale, np.float64(n) * np.float64(s) * np.float64(attribute.scale)
    for node in scratch.spare[:seen]:
        shared = min(s * T[node], n * scratch.further[node])
        whole -= weights[node] * shared
        rough -= np.float64(weights[node]) * np.float64(shared)
        scratch.further[node] = 0
    return whole, rough
