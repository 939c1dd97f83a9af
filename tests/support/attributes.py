"""Sensitive attributes of four values: one distance of each kind with its naive twin, counts, and limits to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tclose import Hierarchy, Sensitive
from tclose.distances import Distance, Equal, Hierarchical, Matrix, Numeric, Ordered
from tclose.judge.models.base import Model
from tclose.make.encode import Attribute
from tests import naive

M = 4
TREE = {"*": {"x": ["a", "b"], "y": {"z": ["c"]}, "d": []}}
NAIVE_TREE = ("*", [("x", ["a", "b"]), ("y", [("z", ["c"])]), "d"])
MATRIX = [["0", "1/2", "1", "1"], ["1/2", "0", "1/2", "1"], ["1", "1/2", "0", "1/2"], ["1", "1", "1/2", "0"]]
DISTANCES: list[Distance] = [
    Ordered(M),
    Numeric([0, 1, 5, 7]),
    Equal(M),
    Hierarchical(Hierarchy.from_mapping(TREE), ["a", "b", "c", "d"]),
    Matrix(MATRIX),
]
SETTINGS: dict[str, dict[str, Any]] = {"hierarchical": {"hierarchy": TREE}, "matrix": {"matrix": {"a": {"b": 1}}}}
EMDS: dict[str, Callable[[Any, Any], Fraction]] = {
    "ordered": naive.emd_ordered,
    "numeric": lambda p, q: naive.emd_numeric(p, q, [0, 1, 5, 7]),
    "equal": naive.emd_equal,
    "hierarchical": lambda p, q: naive.emd_tree(p, q, NAIVE_TREE),
}
COUNTS = st.lists(st.integers(0, 9), min_size=M, max_size=M).filter(any)
SUPPRESSED = st.lists(st.integers(0, 5), min_size=M, max_size=M)


def attribute(column: Sensitive, distance: Distance, codes: Any, counts: Any = None) -> Attribute:
    """A sensitive column of rows with these codes; the table has these counts, or else the rows alone."""
    values = list("abcdefghij"[: distance.m])
    table = np.bincount(codes, minlength=distance.m) if counts is None else counts
    return Attribute(column, distance, values, pa.array(values), np.asarray(codes), np.asarray(table, dtype=np.int64))


def rows_of(classes: Sequence[Sequence[int]]) -> tuple[list[int], Any]:
    """The code of each row, class after class, and where classes start."""
    codes = [code for counts in classes for code, count in enumerate(counts) for _ in range(count)]
    return codes, np.cumsum([0, *map(sum, classes)])


def name_of(thing: object) -> str | None:
    return thing.name if isinstance(thing, Distance) else type(thing).__name__ if isinstance(thing, Model) else None


PARTS: list[dict[str, Any]] = [
    {"t": st.fractions(0, "1/2", max_denominator=20)},
    {"beta": st.fractions("1/10", 2, max_denominator=10), "beta_kind": st.sampled_from(["basic", "enhanced"])},
    {"delta": st.fractions("1/10", 2, max_denominator=10), "delta_kind": st.sampled_from(["strict", "lenient"])},
    {"alpha": st.fractions("1/4", 1, max_denominator=10)},
    {"l": st.integers(1, 4)},
    {"l": st.fractions(1, 4, max_denominator=10), "l_kind": st.just("entropy")},
    {"l": st.integers(1, 4), "l_kind": st.just("recursive"), "c": st.fractions("1/10", 4, max_denominator=10)},
]


@st.composite
def limits_asked(draw: st.DrawFn) -> dict[str, Any]:
    """One limit, or several."""
    parts = draw(st.lists(st.sampled_from(range(len(PARTS))), min_size=1, max_size=3, unique=True))
    asked: dict[str, Any] = {}
    for part in parts:
        if not set(asked) & set(PARTS[part]):
            asked |= {key: draw(value) for key, value in PARTS[part].items()}
    return asked
