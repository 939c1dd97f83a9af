"""Classes that break a limit are merged: against the naive twin, and by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Policy, Quasi, Sensitive
from tclose.distances import Ordered
from tclose.make.kernels.limits import limits_of
from tclose.make.kernels.loss import loss_table
from tclose.make.kernels.merge import merge_failing
from tests import naive
from tests.support.attributes import attribute
from tests.support.examples import examples
from tests.support.widths import line

VALUES = 3


def merged(labels: list[int], codes: list[tuple[int, ...]], salaries: list[int], **limits: Any) -> list[int]:
    """What `merge_failing` makes of classes of rows with these quasi-identifiers and salaries; a code has nine places."""
    column = Sensitive("salary", **{key: value for key, value in limits.items() if key != "k"})
    policy = Policy([Quasi(f"q{place}") for place in range(len(codes[0]))], [column], k=limits.get("k"))
    losses = loss_table([line(9) for _ in codes[0]], [1.0] * len(codes[0]))
    given_limits = limits_of([attribute(column, Ordered(VALUES), salaries)], policy)
    found: list[int] = merge_failing(np.array(labels), np.array(codes, dtype=np.int32), losses, given_limits).tolist()
    return found


def test_classes_that_hold_stay_as_they_are() -> None:
    assert merged([0, 0, 1, 1], [(0,), (1,), (5,), (6,)], [0, 1, 0, 2], k=2) == [0, 0, 1, 1]


def test_a_class_that_is_too_small_goes_to_the_one_that_costs_least() -> None:
    assert merged([0, 0, 1, 2, 2], [(0,), (1,), (4,), (8,), (8,)], [0, 1, 2, 0, 1], k=2) == [0, 0, 0, 1, 1]


def test_two_that_fail_alone_may_hold_together() -> None:
    assert merged([0, 1, 2, 2], [(0,), (1,), (7,), (8,)], [0, 1, 0, 2], l=2, k=1) == [0, 0, 1, 1]


def test_one_class_of_all_rows_is_the_end() -> None:
    assert merged([0, 1, 2], [(0,), (4,), (8,)], [0, 1, 2], k=4) == [0, 0, 0]


@settings(max_examples=examples(150), deadline=None)
@given(
    data=st.data(),
    rows=st.integers(1, 12),
    quasi=st.integers(1, 2),
    k=st.integers(1, 4),
    t=st.sampled_from([0, Fraction(1, 4), 1]),
)
def test_merging_is_its_naive_twin(data: st.DataObject, rows: int, quasi: int, k: int, t: Fraction) -> None:
    codes = [data.draw(st.tuples(*[st.integers(0, 8)] * quasi)) for _ in range(rows)]
    salaries = data.draw(st.lists(st.integers(0, VALUES - 1), min_size=rows, max_size=rows))
    labels = [number % data.draw(st.integers(1, rows), label="classes") for number in range(rows)]
    labels = np.unique(labels, return_inverse=True)[1].tolist()
    table = naive.counts_of(salaries, range(VALUES))

    def holds(members: list[int]) -> bool:
        spread = naive.counts_of([salaries[row] for row in members], range(VALUES))
        return len(members) >= k and naive.emd_ordered(naive.shares(spread), naive.shares(table)) <= t

    def lost(members: list[int]) -> float:
        spans = ([codes[row][q] for row in members] for q in range(quasi))
        return float(sum((max(span) - min(span)) / 8 for span in spans))

    classes = [[row for row in range(rows) if labels[row] == number] for number in range(max(labels) + 1)]
    expected = naive.merge_failing(classes, holds, lost)
    found = merged(labels, codes, salaries, k=k, t=t)
    assert sorted(sorted(row for row in range(rows) if found[row] == number) for number in set(found)) == sorted(expected)
    assert sorted(set(found)) == list(range(len(expected)))
