"""Everything: all values of a quasi-identifier as one, the topmost level of full-domain generalisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.base import Column, Published, Scale, Widths
from tclose.make.scales.boxes import Ranges
from tclose.values.arrays import Bools, Ints


class Everything(Scale):
    """Every class is published as ``*``, whatever its values are; missing cells are among them.

    NCP and LM are 1, or 0 if the table has one value only. With numbers, each row counts 1 in the sum of squares: nothing is
    published of its number, as of a missing cell.

    Examples
    --------
    >>> from tclose.make.scales.nominal import Nominal
    >>> scale = Everything(Nominal.of("job", ["cook", "nurse"])[0])
    >>> published = scale.publish(np.array([0, 1, 1]), np.array([0, 1, 3]))
    >>> published.columns["job"].values, published.columns["job"].indices.tolist(), published.ncp.tolist()
    (['*'], [0, 0], [1.0, 1.0])
    """

    def __init__(self, scale: Scale, label: str = "*", *, numbers: bool = False) -> None:
        """Publish the values of a scale as one label; ``numbers``: there is a sum of squares."""
        self.name, self.size, self.missing = scale.name, scale.size, scale.missing
        self._label, self._numbers = label, numbers
        self._loss = float(scale.size > 1)

    def widths(self) -> Widths:
        """Return the NCP of all ranges of codes: 1."""
        full, none = np.full(self.size, self._loss), np.zeros((0, self.size), dtype=np.int32)
        return Widths(full, np.zeros(self.size), full.copy(), missing=False, ancestors=none, charges=np.zeros(0))

    def width_in_words(self, share: float) -> str:  # noqa: ARG002 - it is the same for all classes
        """Return in words that nothing is published."""
        return f"as {self._label}, which stands for any value"

    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Publish all classes as one label."""
        rows = np.diff(starts)
        loss = np.full(len(rows), self._loss)
        columns = {self.name: Column([self._label], np.zeros(len(rows), dtype=np.int64))}
        squares = loss * rows if self._numbers else None
        missing = self.missing and bool((codes == self.size - 1).any())
        estimate = np.full(self.size, int(rows.sum()) / self.size)
        ones = np.ones(len(rows))
        return Published(self.name, columns, loss, loss.copy(), ones, squares, ones.copy(), missing, estimate)

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Ranges:  # noqa: ARG002 - all classes stand for the same
        """Return the same range for all classes."""
        nowhere = np.zeros(len(starts) - 1, dtype=np.int64)
        return Ranges(nowhere, nowhere)

    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:  # noqa: ARG002 - whatever they are
        """Return a function from a code to which classes may stand for it: all."""
        return lambda _: np.ones(len(starts) - 1, dtype=np.bool_)

    def describe(self, published: str, *, missing: bool) -> str:  # noqa: ARG002 - what is missing is hidden too
        """Return a sentence for the codebook on what the published column contains."""
        return f"{self._label!r} in every row: nothing is published of {self.name!r}, nor which rows miss it."
