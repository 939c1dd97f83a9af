"""Who is singled out by a set of columns, counted row by row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def singled_out(rows: Sequence[Sequence[Hashable]], persons: Sequence[Hashable]) -> int:
    """The number of rows whose values belong to one person only."""
    return sum(
        all(owner == own for other, owner in zip(rows, persons, strict=True) if other == row)
        for row, own in zip(rows, persons, strict=True)
    )
