"""The cheapest flow between few places: the earth mover's distance under a matrix, in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import once

Ints = NDArray[np.int64]
FAR = np.int64(2**62)


def room_for(m: int) -> int:
    """How many numbers a flow between m places needs room for: six for each place, and the flow between any two."""
    return m * (m + 6)


@once
def cheapest(shapes: Ints, ground: int, reference: Ints, T: int, m: int, n: int, s: int, counts: Ints, room: Ints) -> Any:
    """n * s * scale * EMD of a class with these counts against a table with T: a flow that levels ``n * counts - s * T``.

    Successive shortest paths (Ahuja, Magnanti, Orlin 1993, section 9.7). In ``shapes``, from ``ground`` on, is the m x m metric
    times its scale; T starts at its place in ``reference``. Mass that both sides share stays where it is, which is optimal for a
    metric. Potentials keep the reduced distances from falling below 0, so that Dijkstra's algorithm finds each path.
    ``room`` is that of `room_for`.

    Returns
    -------
    (int64, float64)
        The cost modulo 2^64, exact where it fits, and the cost in floats.
    """
    surplus, left, potential, distance, before, flow = 0, m, 2 * m, 3 * m, 4 * m, 6 * m
    for place in range(m * (m + 6)):
        room[place] = 0
    for place in range(m):
        room[surplus + place] = room[left + place] = n * counts[place] - s * reference[T + place]
    whole, rough = np.int64(0), 0.0
    while True:
        target = _nearest_deficit(shapes, ground, m, room)
        if target < 0:
            return whole, rough
        far = room[distance + target]
        for place in range(m):  # those beyond the target keep their reduced distances at 0 or more
            room[potential + place] += room[distance + place] if room[distance + place] < far else far
        amount, place = -room[left + target], target
        while room[before + place] >= 0:
            other = room[before + place]
            if room[surplus + place] > 0 and room[flow + place * m + other] < amount:
                amount = room[flow + place * m + other]  # reached backwards: flow from it to the place before is taken back
            place = other
        if room[left + place] < amount:
            amount = room[left + place]
        room[left + place] -= amount
        room[left + target] += amount
        place = target
        while room[before + place] >= 0:
            other = room[before + place]
            if room[surplus + place] > 0:
                room[flow + place * m + other] -= amount
                step = -shapes[ground + place * m + other]
            else:
                room[flow + other * m + place] += amount
                step = shapes[ground + other * m + place]
            whole += amount * step
            rough += np.float64(amount) * np.float64(step)
            place = other


@once
def _nearest_deficit(shapes: Ints, ground: int, m: int, room: Ints) -> int:
    """Dijkstra from all places that have something left to give; the nearest that still needs something, -1 if none does."""
    surplus, left, potential, distance, before, done, flow = 0, m, 2 * m, 3 * m, 4 * m, 5 * m, 6 * m
    for place in range(m):
        room[distance + place] = 0 if room[left + place] > 0 else FAR
        room[before + place] = -1
        room[done + place] = 0
    while True:
        here, least = -1, FAR
        for place in range(m):
            if room[done + place] == 0 and room[distance + place] < least:
                here, least = place, room[distance + place]
        if here < 0 or room[left + here] < 0:
            return here
        room[done + here] = 1
        for there in range(m):
            if room[surplus + here] > 0 and room[surplus + there] < 0:
                step = shapes[ground + here * m + there]
            elif room[surplus + here] < 0 and room[surplus + there] > 0 and room[flow + there * m + here] > 0:
                step = -shapes[ground + there * m + here]
            else:
                continue
            reached = least + step + room[potential + here] - room[potential + there]
            if reached < room[distance + there]:
                room[distance + there], room[before + there] = reached, here
