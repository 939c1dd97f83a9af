"""Sorting in place. NumPy's sort takes Numba a second to compile for each kind of array; this one hardly any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import lean


@lean
def sort(numbers: NDArray[np.int64]) -> None:
    """Heapsort, ascending."""
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
