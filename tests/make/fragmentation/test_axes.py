"""The worst cases of many parts at once, against the definition for each part alone."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.make.fragmentation import axes
from tests import naive
from tests.support.examples import examples

TREE = (
    "*",
    [("a", [f"a{number}" for number in range(4)]), ("b", [("c", ["c0", "c1", "c2"]), "b0"]), ("d", ["d0", "d1"]), "e", "f"],
)
M = len(naive.leaves(TREE))
"""Twelve values of each."""
SQUARES = [number**2 for number in range(M)]
METRIC = [[Fraction(min(abs(i - j), M - abs(i - j)), M // 2) for j in range(M)] for i in range(M)]  # around a circle
AXES: dict[str, tuple[Distance, naive.Ground]] = {
    "ordered": (Ordered(M), naive.ground_ordered(M)),
    "numeric": (Numeric(SQUARES), naive.ground_numeric(SQUARES)),
    "equal": (Equal(M), naive.ground_equal(M)),
    "hierarchical": (Hierarchical(Hierarchy(naive.paths(TREE)), naive.leaves(TREE)), naive.ground_tree(TREE)),
    "matrix": (Matrix(METRIC), METRIC),
}


@st.composite
def cells(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Codes and rows of cells in some order, and at which of them parts end."""
    size = draw(st.integers(1, 40))
    codes = draw(st.lists(st.integers(0, M - 1), min_size=size, max_size=size))
    rows = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    ends = sorted(draw(st.sets(st.integers(1, size), min_size=1)))
    return np.array(codes), np.array(rows), np.array(ends)


def worst(codes: Any, rows: Any, ground: naive.Ground) -> Fraction:
    masses = [int(rows[codes == code].sum()) for code in range(M)]
    return naive.delta(masses, ground)


@pytest.mark.parametrize("block", [1, 30, 2**21])
@pytest.mark.parametrize("kind", AXES)
@settings(max_examples=examples(15), deadline=None)
@given(drawn=cells())
def test_the_worst_case_of_every_beginning_and_of_every_part(kind: str, block: int, drawn: Any) -> None:
    codes, rows, ends = drawn
    distance, ground = AXES[kind]
    axis = axes.axis_of(distance, int(rows.sum()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(axes, "BLOCK", block)
        beginnings = axis.worst(codes, rows, ends)
        starts = np.concatenate([[0], ends[:-1]])
        parts = axis.worst_of_parts(codes[: ends[-1]], rows[: ends[-1]], starts)
    assert [Fraction(int(x), axis.scale) for x in beginnings] == [worst(codes[:end], rows[:end], ground) for end in ends]
    assert [Fraction(int(x), axis.scale) for x in parts] == [
        worst(codes[start:end], rows[start:end], ground) for start, end in zip(starts, ends, strict=True)
    ]
    assert Fraction(
        axis.published(np.arange(M), np.bincount(codes, rows, M).astype(int)), axis.published_unit
    ) == naive.fragments.box_delta(np.bincount(codes, rows, M).astype(int).tolist(), list(range(M)), ground, "published")
