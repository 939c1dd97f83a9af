"""Sizing: the number of rows of each fragment that every class takes, before a single row is chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tclose.values.arrays import Ints

NEAR = 1e-9
"""Halves whose strains differ by less count as equal: how a machine rounds sums must not choose between them."""


def by_gcd(rows: Ints, k: int) -> Ints:
    """Return equal shares of every fragment for all classes, as published: the most classes of at least k rows that divide them.

    >>> by_gcd(np.array([250, 100, 350, 300]), k=5).sum(axis=1)[:3]
    array([20, 20, 20])
    """
    common = math.gcd(*rows.tolist())
    size = int(rows.sum())
    classes = max(divisor for divisor in _divisors(common) if size >= k * divisor or divisor == 1)
    return np.tile(rows // classes, (classes, 1))


def _divisors(number: int) -> set[int]:
    """Return all divisors of a whole number, to choose the number of classes."""
    small = [divisor for divisor in range(1, math.isqrt(number) + 1) if number % divisor == 0]
    return {*small, *(number // divisor for divisor in small)}


def by_halving(
    rows: Ints,
    k: int,
    orders: Sequence[Ints],
    strain: Callable[[Ints], NDArray[np.float64]],
    within: Callable[[Ints], NDArray[np.bool_]],
) -> Ints:
    """Return the rows of each fragment that classes take, from halving while both halves satisfy k and the limits.

    Odd rows go to either side in turn, in the order of fragments that leaves both sides nearest the table. The whole table is
    accepted as it is.

    Parameters
    ----------
    rows : (fragments,)
    k : int
    orders
        The orders of fragments to try.
    strain
        From the rows that classes take of each fragment to how far from the table each can be.
    within
        From the same to which of them satisfy the limits.

    Returns
    -------
    (classes, fragments) int64
        Classes of one half are adjacent.
    """
    level, paths = rows[None, :], np.zeros(1, dtype=np.int64)  # the halves taken so far, as bits
    done: list[Ints] = []
    done_at: list[Ints] = []
    depth = 0
    while len(level):
        kinds, kind = np.unique(level, axis=0, return_inverse=True)
        left = _left_half(kinds, orders[0])
        fine: NDArray[np.bool_] = kinds.sum(axis=1) // 2 >= k  # the sums of both sides differ by one at most
        left[fine] = _best_left_half(kinds[fine], orders, strain)
        right = kinds - left
        fine[fine] = within(left[fine]) & within(right[fine])
        split = fine[kind]
        done.append(level[~split])
        done_at.append(paths[~split] << (62 - depth))
        level = np.stack([left[kind[split]], right[kind[split]]], axis=1).reshape(-1, rows.size)
        paths = np.stack([2 * paths[split], 2 * paths[split] + 1], axis=1).ravel()
        depth += 1
    return np.concatenate(done)[np.argsort(np.concatenate(done_at), kind="stable")]


def _best_left_half(classes: Ints, orders: Sequence[Ints], strain: Callable[[Ints], NDArray[np.float64]]) -> Ints:
    """Return left halves of classes' rows of fragments, by the order whose worse half is nearest the table."""
    best = _left_half(classes, orders[0])
    if len(orders) == 1 or not len(classes):
        return best
    least = np.maximum(strain(best), strain(classes - best))
    for order in orders[1:]:
        half = _left_half(classes, order)
        differs = np.flatnonzero((half != best).any(axis=1))
        if len(differs):
            other = np.maximum(strain(half[differs]), strain((classes - half)[differs]))
            better = other < least[differs] - NEAR
            best[differs[better]], least[differs[better]] = half[differs[better]], other[better]
    return best


def _left_half(classes: Ints, order: Ints) -> Ints:
    """Return left halves of classes' rows of fragments: odd numbers are rounded up and down in turn."""
    odd = classes[:, order] % 2
    turn = np.cumsum(odd, axis=1) % 2
    half: Ints = classes // 2
    half[:, order] += odd * turn
    return half
