"""Samples of a problem: one row of each step, as a table of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tclose import Policy, Sensitive
from tclose.distances import Ordered
from tclose.make.encode import EncodedTable
from tclose.make.problem import Problem
from tests.support.attributes import attribute
from tests.support.microaggregated import KINDS

M = 4


def problem(rows: list[Any], *, counted: bool) -> Problem:
    """Rows of a number, a sensitive value and a person, who may count."""
    codes, values, persons = (np.array(column, dtype=np.uint16) for column in zip(*rows, strict=True))
    column = Sensitive("s", t="1/4", l=2)
    policy = Policy(["q"], [column], k=2, n=30, unit="who" if counted else None)
    own = attribute(column, Ordered(M), values)
    table = EncodedTable(np.arange(len(rows)), [KINDS["numbers"].scale], [codes], [], [own], persons if counted else None, {})
    return Problem.of(table, policy)


@given(st.lists(st.tuples(*[st.integers(0, M - 1)] * 3), min_size=1, max_size=40), st.integers(1, 6), st.booleans())
def test_a_sample_is_the_problem_of_a_table_with_its_rows(rows: list[Any], step: int, counted: bool) -> None:
    chosen = rows[step // 2 :: step]
    if chosen:
        comp, ref = problem(rows, counted=counted).every(step), problem(chosen, counted=counted)
        assert comp.quasi.tolist() == ref.quasi.tolist()
        assert comp.quasi.flags.c_contiguous
        assert (comp.policy, comp.scales) == (ref.policy, ref.scales)
        for one, other in zip(comp.sensitive, ref.sensitive, strict=True):
            assert (one.codes.tolist(), one.counts.tolist()) == (other.codes.tolist(), other.counts.tolist())
        for found, expected in zip(comp.limits, ref.limits, strict=True):
            np.testing.assert_array_equal(found, expected)
