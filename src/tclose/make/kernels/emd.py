"""The earth mover's distance of a tallied class, by the shape of the ground distance, from the values that occur in the class
only.

A class of s rows is compared with a table, or a region, of n rows. With C rows of the class and T of the table at a value (or
up to it, or below a node), D = n * s * scale * EMD is an integer for every shape. Each function returns D twice: modulo 2^64,
which is exact if n * s * scale fits into 64 bits, and in floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.make.kernels.compiling import lean, once
from tclose.make.kernels.shapes import EQUAL, LINE, TREE
from tclose.make.kernels.small import sort
from tclose.values.arrays import Ints

FAR = np.int64(2**62)
"""The distance of a value that no path reaches."""


@once
def one(attribute: Any, n: int, size: int) -> float:
    """Return D, in floats, of a class at distance 1."""
    return np.float64(n) * np.float64(size) * np.float64(attribute.scale)


@lean
def work(attribute: Any, shapes: Ints, reference: Ints, size: int, scratch: Any, touched: Ints) -> Any:
    """Return D, modulo 2^64 and in floats. May sort the touched values.

    Parts of ``shapes`` and ``reference`` are handed over as the index where they start: a slice takes longer to compile than a
    loop.
    """
    m, shape, counts = attribute.size, attribute.shape, scratch.counts
    n = reference[attribute.reference]
    T = attribute.reference + 1
    cumulated = T + m
    if attribute.kind == LINE:
        sort_touched(counts, m, touched)
        whole, rough = on_a_line(shapes, shape, reference, cumulated, m, n, size, counts, touched)
    elif attribute.kind == EQUAL:
        whole, rough = of_a_set(reference, T, n, size, counts, touched)
    elif attribute.kind == TREE:
        whole, rough = in_a_tree(
            shapes, attribute, reference, cumulated, n, size, counts, scratch.further, scratch.spare, touched
        )
    else:
        whole, rough = of_a_metric(shapes, shape, reference, T, m, n, size, counts, scratch.spare)
    return whole, rough


@once
def sort_touched(counts: Ints, m: int, touched: Ints) -> None:
    """Sort the touched values; by a loop over all m values if that is shorter."""
    if m > 32 * len(touched):
        sort(touched)
        return
    index, code = 0, 0
    while index < len(touched):
        touched[index] = code  # overwritten if the value does not occur: a branch here would be mispredicted too often
        index += counts[code] > 0
        code += 1


@once
def on_a_line(shapes: Ints, v: int, reference: Ints, T: int, m: int, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Return D of the ordered and the numeric distance.

    Between two touched values a and b, up to which the class has C rows, D grows by sum_{a<=i<b} |n*C - s*T_i| (v_{i+1} - v_i).
    The sign changes once, at the first x with s*T_x >= n*C. Both parts are differences of W_j = sum_{i<j} T_i (v_{i+1} - v_i).
    In ``reference`` T comes first, then W; in ``shapes`` the positions v.
    """
    W = T + m
    a = touched[0]
    whole, rough = s * reference[W + a], np.float64(s) * np.float64(reference[W + a])
    C = 0
    for index in range(1, len(touched) + 1):
        b = touched[index] if index < len(touched) else m - 1
        C += counts[a]
        nC = n * C
        x, y = a, b  # binary search for the first x in [a, b) with s*T_x >= n*C, else b
        while x < y:
            middle = (x + y) // 2
            if s * reference[T + middle] >= nC:
                y = middle
            else:
                x = middle + 1
        way = 2 * shapes[v + x] - shapes[v + a] - shapes[v + b]  # the way from a to x, less that from x to b
        moved = 2 * reference[W + x] - reference[W + a] - reference[W + b]
        whole += nC * way - s * moved
        rough += np.float64(nC) * np.float64(way) - np.float64(s) * np.float64(moved)
        a = b
    return whole, rough


@once
def of_a_set(reference: Ints, T: int, n: int, s: int, counts: Ints, touched: Ints) -> Any:
    """Return D of the equal distance: EMD = 1 - sum over touched values of min(p, q)."""
    shared = 0
    for code in touched:
        here, there = n * counts[code], s * reference[T + code]
        shared += here if here < there else there
    return n * s - shared, np.float64(n * s - shared)


@once
def in_a_tree(
    shapes: Ints, attribute: Any, reference: Ints, T: int, n: int, s: int, counts: Ints, nodes: Ints, spare: Ints, touched: Ints
) -> Any:
    """Return D of the hierarchical distance: EMD = 1 - sum over touched nodes N but the root of w_N min(P_N, Q_N) / H.

    w_N = height(parent) - height(N). ``nodes`` counts the rows of the class below each node; it is all 0 before and afterwards.
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
    for index in range(seen):
        node = spare[index]
        here, there = n * nodes[node], s * reference[T + node]
        shared = here if here < there else there
        whole -= shapes[weights + node] * shared
        rough -= np.float64(shapes[weights + node]) * np.float64(shared)
        nodes[node] = 0
    return whole, rough


def flow_size(m: int) -> int:
    """Return how many integers `of_a_metric` works with over m values: six for each value, and the flow between any two."""
    return m * (m + 6)


@once
def of_a_metric(shapes: Ints, ground: int, reference: Ints, T: int, m: int, n: int, s: int, counts: Ints, spare: Ints) -> Any:
    """Return D under any metric: the cost of the cheapest flow that levels ``n * counts - s * T``.

    Successive shortest paths (Ahuja, Magnanti, Orlin 1993, section 9.7). The m x m metric times its scale starts at ``ground`` in
    ``shapes``. Mass that both sides share stays where it is, which is optimal for a metric. Potentials keep the reduced distances
    at 0 or above, so that Dijkstra's algorithm finds each path. ``spare`` has `flow_size` integers.
    """
    surplus, left, potential, distance, before, flow = 0, m, 2 * m, 3 * m, 4 * m, 6 * m
    for index in range(m * (m + 6)):
        spare[index] = 0
    for value in range(m):
        spare[surplus + value] = spare[left + value] = n * counts[value] - s * reference[T + value]
    whole, rough = np.int64(0), 0.0
    while True:
        target = _nearest_deficit(shapes, ground, m, spare)
        if target < 0:
            return whole, rough
        far = spare[distance + target]
        for value in range(m):  # values beyond the target keep their reduced distances at 0 or above
            spare[potential + value] += spare[distance + value] if spare[distance + value] < far else far
        amount, value = -spare[left + target], target
        while spare[before + value] >= 0:
            other = spare[before + value]
            if spare[surplus + value] > 0 and spare[flow + value * m + other] < amount:
                amount = spare[flow + value * m + other]  # reached backwards: flow from it to the value before is taken back
            value = other
        if spare[left + value] < amount:
            amount = spare[left + value]
        spare[left + value] -= amount
        spare[left + target] += amount
        value = target
        while spare[before + value] >= 0:
            other = spare[before + value]
            if spare[surplus + value] > 0:
                spare[flow + value * m + other] -= amount
                step = -shapes[ground + value * m + other]
            else:
                spare[flow + other * m + value] += amount
                step = shapes[ground + other * m + value]
            whole += amount * step
            rough += np.float64(amount) * np.float64(step)
            value = other


@once
def _nearest_deficit(shapes: Ints, ground: int, m: int, spare: Ints) -> int:
    """Return the value with a deficit that is nearest to any surplus, by Dijkstra's algorithm; -1 if there is none."""
    surplus, left, potential, distance, before, done, flow = 0, m, 2 * m, 3 * m, 4 * m, 5 * m, 6 * m
    for value in range(m):
        spare[distance + value] = 0 if spare[left + value] > 0 else FAR
        spare[before + value] = -1
        spare[done + value] = 0
    while True:
        here, least = -1, FAR
        for value in range(m):
            if spare[done + value] == 0 and spare[distance + value] < least:
                here, least = value, spare[distance + value]
        if here < 0 or spare[left + here] < 0:
            return here
        spare[done + here] = 1
        for there in range(m):
            if spare[surplus + here] > 0 and spare[surplus + there] < 0:
                step = shapes[ground + here * m + there]
            elif spare[surplus + here] < 0 and spare[surplus + there] > 0 and spare[flow + there * m + here] > 0:
                step = -shapes[ground + there * m + here]
            else:
                continue
            reached = least + step + spare[potential + here] - spare[potential + there]
            if reached < spare[distance + there]:
                spare[distance + there], spare[before + there] = reached, here
