"""The cheapest flow between few places: the earth mover's distance under a matrix, in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.compiling import inner, kernel

Ints = NDArray[np.int64]
FAR = np.int64(2**62)


@kernel
def cheapest(ground: Ints, surplus: Ints) -> Any:
    """The cost of levelling a surplus (sum 0) over m places: successive shortest paths (Ahuja, Magnanti, Orlin 1993, 9.7).

    ``ground`` is the m x m metric, flattened. Mass that both sides share stays where it is, which is optimal for a metric.
    Node potentials keep the reduced distances from falling below 0, so that Dijkstra's algorithm finds each path.

    Returns
    -------
    (int64, float64)
        The cost modulo 2^64, exact where it fits, and the cost in floats.
    """
    m = len(surplus)
    left = surplus.copy()
    flow = np.zeros((m, m), dtype=np.int64)  # from places with a surplus to places with a deficit
    potential = np.zeros(m, dtype=np.int64)
    distance = np.empty(m, dtype=np.int64)
    before = np.empty(m, dtype=np.int64)
    done = np.empty(m, dtype=np.bool_)
    whole, rough = np.int64(0), 0.0
    while True:
        target = _nearest_deficit(ground, surplus, left, flow, potential, distance, before, done)
        if target < 0:
            return whole, rough
        for place in range(m):  # places beyond the target keep their reduced distances at 0 or more
            potential[place] += min(distance[place], distance[target])
        amount, place = -left[target], target
        while before[place] >= 0:
            if surplus[place] > 0:  # reached backwards: flow from it to the place before is taken back
                amount = min(amount, flow[place, before[place]])
            place = before[place]
        amount = min(amount, left[place])
        left[place] -= amount
        left[target] += amount
        place = target
        while before[place] >= 0:
            other = before[place]
            if surplus[place] > 0:
                flow[place, other] -= amount
                step = -ground[place * m + other]
            else:
                flow[other, place] += amount
                step = ground[other * m + place]
            whole += amount * step
            rough += np.float64(amount) * np.float64(step)
            place = other


@inner
def _nearest_deficit(
    ground: Ints, surplus: Ints, left: Ints, flow: Ints, potential: Ints, distance: Ints, before: Ints, done: NDArray[np.bool_]
) -> int:
    """Dijkstra from all places that have something left to give; the nearest that still needs something, -1 if none does."""
    m = len(surplus)
    for place in range(m):
        distance[place] = 0 if left[place] > 0 else FAR
        before[place] = -1
        done[place] = False
    while True:
        here = -1
        for place in range(m):
            if not done[place] and distance[place] < FAR and (here < 0 or distance[place] < distance[here]):
                here = place
        if here < 0:
            return -1
        done[here] = True
        if left[here] < 0:
            return here
        for there in range(m):
            if surplus[here] > 0 and surplus[there] < 0:
                step = ground[here * m + there]
            elif surplus[here] < 0 and surplus[there] > 0 and flow[there, here] > 0:
                step = -ground[there * m + here]
            else:
                continue
            reached = distance[here] + step + potential[here] - potential[there]
            if reached < distance[there]:
                distance[there], before[there] = reached, here
