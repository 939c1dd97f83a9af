"""Small cells: counts of few rows are masked in public reports, with enough others that no sum gives them back."""

from __future__ import annotations

from collections.abc import Sequence


def masked_cells(counts: Sequence[int], least: int) -> list[bool] | None:
    """Return which cells of a table with a known sum are masked, or None if the whole table must not be shown.

    If some cell is below ``least``, all cells below a threshold are masked: the first of 2, 4, 8 ... times ``least`` for which at
    least two cells are below it, with a sum so large that each of them may be anything from 1 to ``least`` as far as the sum
    tells. The thresholds do not depend on the counts, so that masked counts which change places, or move by one from 3 and 3 to
    2 and 4, are masked again and look the same: knowing the rule does not give a masked count back.

    Parameters
    ----------
    counts
        The rows of each cell, 1 or more. Their sum is known to the reader.

    Examples
    --------
    >>> masked_cells([40, 3, 18], 5)
    [False, True, True]
    >>> masked_cells([40, 30, 20], 5)
    [False, False, False]
    """
    if min(counts) >= least:
        return [False] * len(counts)
    threshold = 2 * least
    while not _hides([count for count in counts if count < threshold], least):
        if threshold > max(counts):
            return None
        threshold *= 2
    return [count < threshold for count in counts]


def _hides(chosen: Sequence[int], least: int) -> bool:
    """Whether each of the masked counts may be anything from 1 to ``least``, as far as their sum tells."""
    return len(chosen) > 1 and sum(chosen) - (len(chosen) - 1) >= least


def pooled(counts: Sequence[int], least: int, fewest: int | None = None) -> list[tuple[int, int]]:
    """Return ranges of neighbouring cells, (first, last + 1), each with at least ``least`` rows; none if the table has fewer.

    Parameters
    ----------
    fewest
        Rows of a range beside a cell that has ``least`` by itself, and of the last range, at least; default: ``least``.

    Examples
    --------
    >>> pooled([1, 2, 9, 7, 2], 5)
    [(0, 3), (3, 5)]
    >>> pooled([1, 2, 9, 7, 2], 5, 2)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    few = least if fewest is None else fewest
    ranges: list[tuple[int, int]] = []
    first, rows = 0, 0
    for cell, count in enumerate(counts):
        if count >= least and rows >= few:
            ranges.append((first, cell))
            first, rows = cell, 0
        rows += count
        if rows >= least:
            ranges.append((first, cell + 1))
            first, rows = cell + 1, 0
    if rows and ranges:
        if rows >= few:
            ranges.append((first, len(counts)))
        else:
            ranges[-1] = (ranges[-1][0], len(counts))
    return ranges
