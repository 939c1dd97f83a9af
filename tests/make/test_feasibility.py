"""Feasibility: what cannot be satisfied is refused before any work, and the number of rows that would have to go is the least."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.feasibility import level
from tests import naive
from tests.support.examples import examples

SOME = settings(max_examples=examples(60), deadline=None)
FEW = settings(max_examples=examples(20), deadline=None)


def table(counts: list[int], **more: list[Any]) -> pa.Table:
    """A row a person; value 0 so often, value 1 so often, ..."""
    values = [f"v{value}" for value, count in enumerate(counts) for _ in range(count)]
    return pa.table({"q": list(range(len(values))), "s": values, **more})


def release(counts: list[int], *, suppression: Any = 0, k: int = 1, alpha: Any = None, **asked: Any) -> tc.Release:
    return tc.anonymize(table(counts), tc.Policy(["q"], {"s": asked}, k=k, alpha=alpha, suppression=suppression))


def refusal(counts: list[int], **settings: Any) -> str:
    with pytest.raises(tc.InfeasibleError) as caught:
        release(counts, **settings)
    return str(caught.value)


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_k_above_the_rows() -> None:
    assert refusal([2, 2], k=5) == "The table has 4 rows: k=5 cannot be satisfied. Choose a smaller k."
    assert release([2, 2], k=4).audit.classes == 1


def test_k_above_the_rows_is_told_before_a_grid_is_looked_for() -> None:
    people = pa.table({"q": [1, 2, 3, 4, 5, 6], "s": [1, 2, 1, 2, 1, 2], "who": list("aabbcc")})
    for unit, k, said in ((None, 7, "6 rows: k=7"), ("who", 4, "3 persons: k=4")):
        with pytest.raises(tc.InfeasibleError, match=f"The table has {said} cannot be satisfied. Choose a smaller k."):
            tc.anonymize(people, tc.Policy([tc.Quasi("q", snap="auto")], ["s"], k=k, unit=unit, other="drop"))


def test_k_above_the_persons() -> None:
    people = pa.table({"q": [1, 2, 3, 4], "s": [1, 2, 1, 2], "who": list("aabb")})
    with pytest.raises(tc.InfeasibleError, match="has 2 persons: k=3 cannot be satisfied"):
        tc.anonymize(people, tc.Policy(["q"], ["s"], k=3, unit="who"))
    assert tc.anonymize(people, tc.Policy(["q"], ["s"], k=2, unit="who")).audit.k_persons == 2


@pytest.mark.parametrize("asked", [{"l": 4}, {"l": 3.5, "l_kind": "entropy"}, {"l": 4, "l_kind": "recursive", "c": 9}])
def test_l_above_the_values(asked: dict[str, Any]) -> None:
    message = refusal([5, 5, 5], suppression=1, **asked)
    assert message == f"Column 's' has 3 values: l={asked['l']} cannot be satisfied. Choose a smaller l."


def test_n_above_the_rows() -> None:
    small = table([2, 2])
    with pytest.raises(tc.InfeasibleError, match="has 4 rows: n=5 cannot be satisfied"):
        tc.anonymize(small, tc.Policy(["q"], {"s": 0.5}, k=1, n=5))
    assert tc.anonymize(small, tc.Policy(["q"], {"s": 0.5}, k=1, n=4)).audit.rows == 4


def test_a_value_that_is_too_common() -> None:
    """6 of 8: at most half may be one value, so 4 of them must go."""
    message = refusal([6, 2], alpha=0.5, suppression=0.25)
    assert message == (
        "alpha=0.5 of 's' cannot be satisfied unless 4 rows are suppressed: its commonest values are too common. "
        "suppression=0.25 allows 2. Loosen one of them."
    )
    made = release([6, 2], alpha=0.5, suppression=0.5)
    assert made.suppressed == 4
    assert sorted(made.table["s"].to_pylist()) == ["v0", "v0", "v1", "v1"]


def test_entropy_and_recursive_l() -> None:
    assert "unless 2 rows are suppressed" in refusal([3, 1], l=2, l_kind="entropy")
    assert release([3, 1], l=2, l_kind="entropy", suppression=0.5).suppressed == 2
    assert "unless 3 rows are suppressed" in refusal([5, 2], l=2, l_kind="recursive", c=1.5)  # 2 < 1.5 * 2
    assert release([5, 2], l=2, l_kind="recursive", c=1.5, suppression=0.5).suppressed == 3


def test_persons_are_judged_too() -> None:
    """Over rows the two values are even; over persons it is 3 to 1."""
    people = pa.table({"q": range(6), "s": list("aaabbb"), "who": list("xyzxxx")})
    policy = tc.Policy(["q"], {"s": {"l": 2, "l_kind": "entropy"}}, k=1, unit="who")
    with pytest.raises(tc.InfeasibleError, match="No way was found to satisfy l=2 of 's'"):
        tc.anonymize(people, policy)


# --- levelling --------------------------------------------------------------------------------------------------------


@SOME
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_levelling_takes_one_row_after_the_other_from_the_largest(counts: list[int], data: st.DataObject) -> None:
    assume(sum(counts) > 0)
    rows = data.draw(st.integers(0, sum(counts)))
    twin = list(counts)
    for _ in range(rows):
        largest = max(twin)
        twin[max(place for place, count in enumerate(twin) if count == largest)] -= 1
    assert sorted(level(counts, rows).tolist()) == sorted(twin)
    assert int(np.sum(level(counts, rows))) == sum(counts) - rows


# --- the least number -------------------------------------------------------------------------------------------------

Holds = Callable[[list[int]], bool]


@st.composite
def askings(draw: st.DrawFn) -> tuple[dict[str, Any], Holds]:
    """One limit, and whether a class with some counts keeps it."""
    kind = draw(st.sampled_from(["alpha", "entropy", "recursive"]))
    if kind == "alpha":
        alpha = draw(st.sampled_from([Fraction(place, 12) for place in range(3, 12)]))
        return {"alpha": alpha}, lambda counts: naive.share(counts) <= alpha
    l = draw(st.integers(2, 3))  # noqa: E741 - the name of the model
    if kind == "entropy":
        exact = draw(st.sampled_from([Fraction(l), Fraction(l) - Fraction(1, 4)]))
        return {"l": exact, "l_kind": kind}, lambda counts: naive.has_entropy_l([c for c in counts if c], exact)
    c = draw(st.sampled_from([Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(3)]))
    return {"l": l, "l_kind": kind, "c": c}, lambda counts: naive.recursive_c(counts, l) < c


@SOME
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), askings())
@example([5, 3, 2, 1], ({"alpha": Fraction(1, 3)}, lambda counts: naive.share(counts) <= Fraction(1, 3)))
@example([4, 5, 2, 1], ({"l": 3, "l_kind": "recursive", "c": 1}, lambda counts: naive.recursive_c(counts, 3) < 1))
def test_the_number_of_rows_is_the_least(counts: list[int], asked: tuple[dict[str, Any], Holds]) -> None:
    settings, holds = asked
    assume("l" not in settings or settings["l"] <= len(counts))
    fewest = naive.fewest_left_out(counts, holds)
    if fewest == 0:
        assert release(counts, **settings).suppressed == 0
    elif fewest is None:
        assert "whichever rows are suppressed" in refusal(counts, suppression=0.9, **settings)
    else:
        found = re.search(r"unless ([0-9]+) rows? (?:is|are) suppressed", refusal(counts, **settings))
        assert found is not None
        assert int(found[1]) == fewest
        made = release(counts, suppression=Fraction(fewest, sum(counts)), **settings)
        assert made.suppressed == fewest
        assert made.audit.satisfied


def test_a_limit_on_closeness_is_not_held_against_levelling() -> None:
    """12 of 100 rows suffice, and leave the rest within t; to level all 20 would not."""
    counts, t = [60, 40], 0.06
    made = release(counts, alpha=0.55, t=t, suppression=0.3)
    assert 12 <= made.suppressed <= 30
    assert made._details.against_input.sensitive["s"].t_exact <= Fraction(6, 100)


@FEW
@given(st.lists(st.integers(1, 4), min_size=2, max_size=3), askings(), st.sampled_from([Fraction(1, 5), Fraction(1, 3)]))
@example([1, 1, 3], ({"alpha": Fraction(1, 2)}, lambda counts: naive.share(counts) <= Fraction(1, 2)), Fraction(1, 5))
def test_with_a_limit_on_closeness_what_can_hold_is_found(
    counts: list[int], asked: tuple[dict[str, Any], Holds], t: Fraction
) -> None:
    """Rows may go until the rest holds its own limit and is within t of the input."""
    settings, holds = asked
    assume("l" not in settings or settings["l"] <= len(counts))
    fewest = naive.fewest_left_out(counts, lambda rest: holds(rest) and naive.emd_equal(rest, counts) <= t)
    if fewest is None:
        refusal(counts, suppression=0.9, t=t, **settings)
    else:
        made = release(counts, suppression=Fraction(fewest, sum(counts)), t=t, **settings)
        assert made.suppressed <= fewest
        assert made.audit.satisfied


@pytest.mark.parametrize(
    ("rows", "alpha", "enough"),
    [
        ([(0, 0), (1, 1), (2, 2), (1, 0), (2, 1), (2, 1)], Fraction(2, 5), 1),
        ([(2, 1), (2, 2), (0, 2), (2, 2)], Fraction(2, 3), 1),
        ([(1, 1), (2, 2), (1, 2), (1, 1), (1, 2)], Fraction(2, 3), 2),
    ],
)
def test_two_attributes_are_levelled_together(rows: list[tuple[int, int]], alpha: Fraction, enough: int) -> None:
    """Few rows, left out together, would do for both; one attribute after the other takes too many, or the wrong ones."""
    rests = [[row for place, row in enumerate(rows) if chosen >> place & 1] for chosen in range(1, 2 ** len(rows))]
    kept = [
        rest
        for rest in rests
        if all(naive.share([column.count(v) for v in set(column)]) <= alpha for column in zip(*rest, strict=True))
    ]
    assert len(rows) - max(map(len, kept)) == enough
    made = pa.table({"q": range(len(rows)), "s": [f"v{s}" for s, _ in rows], "r": [f"w{r}" for _, r in rows]})
    policy = tc.Policy(["q"], ["s", "r"], k=1, alpha=alpha, suppression=Fraction(1, 2))
    assert tc.anonymize(made, policy).suppressed >= enough
