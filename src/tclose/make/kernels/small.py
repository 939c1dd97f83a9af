"""Small compiled helpers: a sort in place, and the exact comparison of fractions in 64 bits."""

from __future__ import annotations

import numpy as np

from tclose.make.kernels.compiling import lean
from tclose.values.arrays import Ints


@lean
def sort(numbers: Ints) -> None:
    """Sort in place, ascending, by heapsort. NumPy's sort takes a second to compile for each type of array."""
    size = len(numbers)
    for start in range(size // 2 - 1, -1, -1):
        _sift_down(numbers, start, size)
    for end in range(size - 1, 0, -1):
        numbers[0], numbers[end] = numbers[end], numbers[0]
        _sift_down(numbers, np.int64(0), end)


@lean
def _sift_down(heap: Ints, start: int | np.int64, end: int) -> None:
    """Move the number at ``start`` down the heap until no child is larger."""
    number, index = heap[start], start
    while 2 * index + 1 < end:
        child = 2 * index + 1
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[child] <= number:
            break
        heap[index] = heap[child]
        index = child
    heap[index] = number


@lean
def at_most(a: int, b: int, c: int, d: int) -> bool:
    """Return whether a/b <= c/d, for integers a, c >= 0 and b, d > 0.

    The products a*d and c*b may not fit into 64 bits. So the integer parts are compared first, then the reciprocals of the
    remainders: Euclid's algorithm on both sides at once.
    """
    while True:
        left, right = a // b, c // d
        if left != right:
            return left < right
        a, c = a - left * b, c - right * d
        if a == 0:
            return True
        if c == 0:
            return False
        a, b, c, d = d, c, b, a  # a/b <= c/d exactly if d/c <= b/a
