"""Scratch: memory that one thread's checks of classes work with, made once and used again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tclose.values.arrays import Bools, Codes, Ints


class Scratch(NamedTuple):
    """Memory for checks. Between two checks all counts and marks are 0."""

    counts: Ints
    """Number of rows at each value of the column that is checked."""
    touched: Ints
    """The values that occur, in any order."""
    further: Ints
    """Number of persons at each value, or of rows below each node of a tree."""
    spare: Ints
    """Working memory of one limit: counts to be sorted, touched nodes of a tree, or a flow."""
    marks: Bools
    """Marks for persons, or for pairs of person and value, that were seen."""
    nobody: Codes
    """An empty array of rows."""
    column_satisfies: int
    """The address of `tclose.make.kernels.satisfies.column_satisfies`."""


_NONE = np.empty(0, dtype=np.int64)
BLANK = Scratch(_NONE, _NONE, _NONE, _NONE, np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int32), 0)
"""Scratch without memory, from which the compiler learns the types."""
