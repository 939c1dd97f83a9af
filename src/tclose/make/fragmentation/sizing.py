"""Sizing: how many rows of each fragment every class takes, before a single row is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NEAR = 1e-9
"""Halves whose strains differ by less are alike: how a machine rounds sums must not choose between them."""


def by_gcd(rows: Ints, k: int) -> Ints:
    """The same share of every fragment for all classes, as published: as many classes as divide all of them, of k rows at least.

    >>> by_gcd(np.array([250, 100, 350, 300]), k=5).sum(axis=1)[:3]
    array([20, 20, 20])
    """
    common = math.gcd(*rows.tolist())
    size = int(rows.sum())
    classes = max(divisor for divisor in _divisors(common) if size >= k * divisor or divisor == 1)
    return np.tile(rows // classes, (classes, 1))


def _divisors(number: int) -> set[int]:
    small = [divisor for divisor in range(1, math.isqrt(number) + 1) if number % divisor == 0]
    return {*small, *(number // divisor for divisor in small)}


def by_halving(
    rows: Ints,
    k: int,
    orders: Sequence[Ints],
    strain: Callable[[Ints], NDArray[np.float64]],
    within: Callable[[Ints], NDArray[np.bool_]],
) -> Ints:
    """Halve all fragments, again and again, while both halves have k rows and are within the limits (Cao et al. 2011, section 5).

    Odd rows go to either side in turn: in the order of fragments that leaves both sides nearest the table. The whole table is
    accepted as it is.

    Parameters
    ----------
    rows : (fragments,)
    k : int
    orders
        The orders of fragments to try.
    strain
        How far from the table several classes can be, given by the rows that they take of each fragment.
    within
        Which of them are within the limits.

    Returns
    -------
    (classes, fragments) int64
        Classes of one half stand side by side.
    """
    level, places = rows[None, :], np.zeros(1, dtype=np.int64)
    done: list[Ints] = []
    done_at: list[Ints] = []
    depth = 0
    while len(level):
        kinds, kind = np.unique(level, axis=0, return_inverse=True)
        left = _half(kinds, orders[0])
        fine: NDArray[np.bool_] = kinds.sum(axis=1) // 2 >= k  # the sums of both sides differ by one at most
        left[fine] = _best_half(kinds[fine], orders, strain)
        right = kinds - left
        fine[fine] = within(left[fine]) & within(right[fine])
        split = fine[kind]
        done.append(level[~split])
        done_at.append(places[~split] << (62 - depth))
        level = np.stack([left[kind[split]], right[kind[split]]], axis=1).reshape(-1, rows.size)
        places = np.stack([2 * places[split], 2 * places[split] + 1], axis=1).ravel()
        depth += 1
    return np.concatenate(done)[np.argsort(np.concatenate(done_at), kind="stable")]


def _best_half(classes: Ints, orders: Sequence[Ints], strain: Callable[[Ints], NDArray[np.float64]]) -> Ints:
    """The left halves by the order in which the worse side is nearest the table; of those that are alike the first."""
    best = _half(classes, orders[0])
    if len(orders) == 1 or not len(classes):
        return best
    least = np.maximum(strain(best), strain(classes - best))
    for order in orders[1:]:
        half = _half(classes, order)
        differs = np.flatnonzero((half != best).any(axis=1))
        if len(differs):
            other = np.maximum(strain(half[differs]), strain((classes - half)[differs]))
            better = other < least[differs] - NEAR
            best[differs[better]], least[differs[better]] = half[differs[better]], other[better]
    return best


def _half(classes: Ints, order: Ints) -> Ints:
    """The left halves: of the odd numbers the first, the third... are rounded up, the others down."""
    odd = classes[:, order] % 2
    turn = np.cumsum(odd, axis=1) % 2
    half: Ints = classes // 2
    half[:, order] += odd * turn
    return half
