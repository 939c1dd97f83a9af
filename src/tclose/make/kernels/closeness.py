"""t-closeness of one tallied class: the earth mover's distance from the touched values only, compared exactly.

With C rows of the class and T of the table at (or up to, or below) a place, s and n rows in all, D = n * s * scale * EMD is
an integer in each form. Kernels give it twice: modulo 2^64, exact where n * s * scale fits, and in floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.flow import cheapest
from tclose.make.kernels.limits import EQUAL, LINE, NEAR, TREE, Ints
from tclose.make.kernels.small import at_most, sort


@once
def close(attribute: Any, shapes: Ints, references: Ints, size: int, scratch: Any, touched: Ints) -> bool:
    """Whether a tallied class of ``size`` rows is within t of a table or region, the last tried first. May sort the touched."""
    near, region = False, len(references)
    while region > 0 and not near:
        region -= 1
        whole, rough = _work(attribute, shapes, references[region], size, scratch, touched)
        n = references[region, attribute.reference]
        if size <= attribute.largest_exact:
            near = at_most(whole, n * size * attribute.scale, attribute.t_above, attribute.t_below)
        else:
            near = rough / _unit(attribute, n, size) <= attribute.t_above / attribute.t_below - NEAR
    return near


@once
def distance(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, touched: Ints) -> float:
    """The earth mover's distance of a tallied class from a table or region, in floats. May sort the touched values."""
    _, rough = _work(attribute, shapes, reference, size, scratch, touched)
    found: float = rough / _unit(attribute, reference[attribute.reference], size)
    return found


@once
def _unit(attribute: Any, n: int, size: int) -> float:
    """D of a class at distance 1, in floats."""
    return np.float64(n) * np.float64(size) * np.float64(attribute.scale)


@lean
def _work(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, touched: Ints) -> Any:
    """D, modulo 2^64 and in floats, by the kind of the distance.

    Parts of shapes and references are handed over as the place where they start: a slice takes longer to compile than a loop.
    """
    m, shape, counts = attribute.size, attribute.shape, scratch.counts
    n = reference[attribute.reference]
    T = attribute.reference + 1
    more = T + m
    if attribute.kind == LINE:
        sort_touched(counts, m, touched)
        whole, rough = on_a_line(shapes, shape, reference, more, m, n, size, counts, touched)
    elif attribute.kind == EQUAL:
        whole, rough = of_equals(reference, T, n, size, counts, touched)
    elif attribute.kind == TREE:
        whole, rough = in_a_tree(shapes, attribute, reference, more, n, size, counts, scratch.further, scratch.spare, touched)
    else:
        whole, rough = cheapest(shapes, shape, reference, T, m, n, size, counts, scratch.spare)
    return whole, rough


@once
def sort_touched(counts: Ints, m: int, touched: Ints) -> None:
    """Sort the touched values; by a walk over the domain where that is shorter."""
    if m > 32 * len(touched):
        sort(touched)
        return
    place, code = 0, 0
    while place < len(touched):
        touched[place] = code  # one that does not occur is overwritten; a branch here would be guessed wrong too often
        place += counts[code] > 0
        code += 1


@once
def on_a_line(shapes: Ints, v: int, reference: Ints, T: int, m: int, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Ordered and numeric. Between touched values a and b the class has cumulated C rows, and D grows by

    sum_{a<=i<b} |n*C - s*T_i| (v_{i+1} - v_i), whose sign changes once, at the first x with s*T_x >= n*C; both parts are
    differences of W_j = sum_{i<j} T_i (v_{i+1} - v_i). Reference has first T, then W.
    """
    W = T + m
    a = touched[0]
    whole, rough = s * reference[W + a], np.float64(s) * np.float64(reference[W + a])
    C = 0
    for place in range(1, len(touched) + 1):
        b = touched[place] if place < len(touched) else m - 1
        C += counts[a]
        nC = n * C
        x, y = a, b  # the first x in [a, b) with s*T_x >= n*C, else b
        while x < y:
            middle = (x + y) // 2
            if s * reference[T + middle] >= nC:
                y = middle
            else:
                x = middle + 1
        way = 2 * shapes[v + x] - shapes[v + a] - shapes[v + b]  # from a to x, less that from x to b
        work = 2 * reference[W + x] - reference[W + a] - reference[W + b]
        whole += nC * way - s * work
        rough += np.float64(nC) * np.float64(way) - np.float64(s) * np.float64(work)
        a = b
    return whole, rough


@once
def of_equals(reference: Ints, T: int, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Equal: EMD = 1 - sum over touched values of min(p, q)."""
    shared = 0
    for code in touched:
        here, there = n * counts[code], s * reference[T + code]
        shared += here if here < there else there
    return n * s - shared, np.float64(n * s - shared)


@once
def in_a_tree(
    shapes: Ints, attribute: Any, reference: Ints, T: int, n: int, s: int, counts: Ints, nodes: Ints, spare: Ints, touched: Ints
) -> Any:
    """Hierarchical: EMD = 1 - sum over touched nodes N but the root of w_N min(P_N, Q_N) / H.

    w_N = height(parent) - height(N). ``nodes``, all 0 before and after, gets the rows below each node.
    """
    leaves = attribute.shape
    parents = leaves + attribute.size
    weights = parents + attribute.nodes
    seen = 0
    for code in touched:
        node = shapes[leaves + code]
        while node > 0:
            if nodes[node] == 0:
                spare[seen] = node
                seen += 1
            nodes[node] += counts[code]
            node = shapes[parents + node]
    whole, rough = n * s * attribute.scale, np.float64(n) * np.float64(s) * np.float64(attribute.scale)
    for place in range(seen):
        node = spare[place]
        here, there = n * nodes[node], s * reference[T + node]
        shared = here if here < there else there
        whole -= shapes[weights + node] * shared
        rough -= np.float64(shapes[weights + node]) * np.float64(shared)
        nodes[node] = 0
    return whole, rough
