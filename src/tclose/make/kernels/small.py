"""Small compiled helpers: a sort in place, and the exact comparison of fractions in 64 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean


@lean
def sort(numbers: NDArray[np.int64]) -> None:
    """Heapsort, ascending. NumPy's sort takes Numba a second to compile for each kind of array; this one hardly any."""
    size = len(numbers)
    for start in range(size // 2 - 1, -1, -1):
        _sift(numbers, start, size)
    for end in range(size - 1, 0, -1):
        numbers[0], numbers[end] = numbers[end], numbers[0]
        _sift(numbers, np.int64(0), end)


@lean
def _sift(heap: NDArray[np.int64], start: int | np.int64, end: int) -> None:
    """Let the number at ``start`` sink until none below it is larger."""
    number, place = heap[start], start
    while 2 * place + 1 < end:
        child = 2 * place + 1
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[child] <= number:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = number


@lean
def at_most(a: int, b: int, c: int, d: int) -> bool:
    """Whether a/b <= c/d, for integers that are not negative, b and d above 0.

    The products a*d and c*b may not fit into 64 bits, so whole parts are compared first, then the remainders upside down:
    Euclid's algorithm on both sides at once.
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
        a, b, c, d = d, c, b, a  # a/b <= c/d exactly where d/c <= b/a
