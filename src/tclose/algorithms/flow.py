"""The cheapest flow between few places: the earth mover's distance under a matrix, in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.algorithms.compiling import lean

Ints = NDArray[np.int64]
FAR = np.int64(2**62)


def room_for(places: int) -> int:
    """How many numbers a flow between so many places needs room for."""
    return places * (places + 6)


@lean
def cheapest(ground: Ints, T: Ints, n: int, s: int, counts: Ints, room: Ints) -> Any:
    """n * s * scale * EMD of a class with these counts against a table with T: a flow that levels ``n * counts - s * T``.

    Successive shortest paths (Ahuja, Magnanti, Orlin 1993, section 9.7). ``ground`` is the m x m metric times its scale,
    flattened. Mass that both sides share stays where it is, which is optimal for a metric. Potentials keep the reduced
    distances from falling below 0, so that Dijkstra's algorithm finds each path. ``room`` is that of `room_for`.

    Returns
    -------
    (int64, float64)
        The cost modulo 2^64, exact where it fits, and the cost in floats.
    """
    m = len(T)
    for place in range(m * (m + 6)):
        room[place] = 0
    flow = room[: m * m]  # from places with a surplus to places with a deficit
    surplus, left = room[m * m : m * (m + 1)], room[m * (m + 1) : m * (m + 2)]
    potential, distance = room[m * (m + 2) : m * (m + 3)], room[m * (m + 3) : m * (m + 4)]
    before, done = room[m * (m + 4) : m * (m + 5)], room[m * (m + 5) : m * (m + 6)]
    for place in range(m):
        surplus[place] = left[place] = n * counts[place] - s * T[place]
    whole, rough = np.int64(0), 0.0
    while True:
        target = _nearest_deficit(ground, surplus, left, flow, potential, distance, before, done)
        if target < 0:
            return whole, rough
        for place in range(m):  # those beyond the target keep their reduced distances at 0 or more
            potential[place] += min(distance[place], distance[target])
        amount, place = -left[target], target
        while before[place] >= 0:
            if surplus[place] > 0:  # reached backwards: flow from it to the place before is taken back
                amount = min(amount, flow[place * m + before[place]])
            place = before[place]
        amount = min(amount, left[place])
        left[place] -= amount
        left[target] += amount
        place = target
        while before[place] >= 0:
            other = before[place]
            if surplus[place] > 0:
                flow[place * m + other] -= amount
                step = -ground[place * m + other]
            else:
                flow[other * m + place] += amount
                step = ground[other * m + place]
            whole += amount * step
            rough += np.float64(amount) * np.float64(step)
            place = other


@lean
def _nearest_deficit(
    ground: Ints, surplus: Ints, left: Ints, flow: Ints, potential: Ints, distance: Ints, before: Ints, done: Ints
) -> int:
    """Dijkstra from all places that have something left to give; the nearest that still needs something, -1 if none does."""
    m = len(surplus)
    for place in range(m):
        distance[place] = 0 if left[place] > 0 else FAR
        before[place] = -1
        done[place] = 0
    while True:
        here = -1
        for place in range(m):
            if not done[place] and distance[place] < FAR and (here < 0 or distance[place] < distance[here]):
                here = place
        if here < 0 or left[here] < 0:
            return here
        done[here] = 1
        for there in range(m):
            if surplus[here] > 0 and surplus[there] < 0:
                step = ground[here * m + there]
            elif surplus[here] < 0 and surplus[there] > 0 and flow[there * m + here] > 0:
                step = -ground[there * m + here]
            else:
                continue
            reached = distance[here] + step + potential[here] - potential[there]
            if reached < distance[there]:
                distance[there], before[there] = reached, here
