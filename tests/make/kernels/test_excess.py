"""How far a class is from keeping its limits: by hand, against the naive twin, and 0 exactly where the checks accept it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from tclose import Policy, Sensitive
from tclose.distances import Distance, Equal, Ordered
from tclose.judge.emd import exact_emd
from tclose.make.kernels.excess import excess
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.kernels.satisfies import failing, scratch_for, tally
from tclose.make.models.closeness import tightened
from tests import naive
from tests.support.attributes import COUNTS, DISTANCES, SETTINGS, SUPPRESSED, M, attribute, limits_asked, name_of, rows_of
from tests.support.examples import examples

NEAR = 1e-9


@njit
def of_rows(address: int, limits: Any, number: int, rows: Any, scratch: Any) -> Any:
    """Only kernels can call `excess`, through its address."""
    distinct = tally(limits.codes[number], rows, scratch.counts, scratch.touched)
    found = excess(address, limits, number, len(rows), distinct, scratch)
    for code in scratch.touched[:distinct]:
        scratch.counts[code] = 0
    return found


def limits_for(
    counts: Sequence[int], distance: Distance, tables: Sequence[Sequence[int]], alpha: Any = 1, **asked: Any
) -> Limits:
    """The limits of one column against one table or several; the class is all rows."""
    kind: Any = distance.name
    column = Sensitive("x", distance=kind, **SETTINGS.get(distance.name, {}), **asked)
    codes = np.array(rows_of([counts])[0])
    return limits_of([attribute(column, distance, codes, table) for table in tables], Policy(["q"], [column], alpha=alpha))


def measured(limits: Limits) -> float:
    """The excess of all rows, twice: the first time must leave no trace."""
    rows, scratch = np.arange(limits.codes.shape[1], dtype=np.int32), scratch_for(limits)
    first, second = (of_rows(excess.address(), limits, 0, rows, scratch) for _ in range(2))
    assert first == second
    return float(first)


def holds(limits: Limits) -> bool:
    rows = limits.codes.shape[1]
    return not failing(limits, np.arange(rows), np.array([0, rows]))[0]


# By hand


@pytest.mark.parametrize(
    ("asked", "ref"),
    [
        ({}, 0),
        ({"t": "1/10"}, 0.25 - 0.1),  # (3/4, 1/4) against (1/2, 1/2)
        ({"t": "1/4"}, 0),
        ({"beta": "1/4"}, 0.75 - 1.25 * 0.5),
        ({"beta": 1, "beta_kind": "enhanced"}, 0),  # ln 2 allows 0.8466
        ({"delta": "1/5"}, (0.75 - 0.5 * np.exp(0.2)) + (0.5 * np.exp(-0.2) - 0.25)),
        ({"delta": 1000}, 0),
        ({"alpha": "1/2"}, 0.25),
        ({"l": 3}, 1 / 3),
        ({"l": 2, "l_kind": "entropy"}, np.log(2) + 0.75 * np.log(0.75) + 0.25 * np.log(0.25)),
        ({"l": 2, "l_kind": "recursive", "c": 1}, (3 - 1) / 4),
        ({"l": 3, "l_kind": "recursive", "c": 1}, 3 / 4),
        ({"t": "1/10", "l": 3, "alpha": "1/2"}, 0.15 + 1 / 3 + 0.25),
    ],
)
def test_three_rows_of_four(asked: dict[str, Any], ref: float) -> None:
    assert measured(limits_for([3, 1], Equal(2), [[1, 1]], **asked)) == pytest.approx(ref, abs=1e-12)


def test_strict_delta_misses_the_mass_of_absent_values() -> None:
    asked: dict[str, Any] = {"distance": Equal(3), "tables": [[2, 1, 1]], "delta": 5}
    assert measured(limits_for([2, 0, 0], **asked)) == pytest.approx(0.5)
    assert measured(limits_for([2, 0, 0], **asked, delta_kind="lenient")) == 0


def test_every_table_counts() -> None:
    assert measured(limits_for([3, 1], Equal(2), [[1, 1], [1, 3]], t=0)) == pytest.approx(0.25 + 0.5)


def test_a_class_of_n_rows_is_a_region_itself() -> None:
    assert measured(limits_for([4, 0], Equal(2), [[1, 1]], t=0)._replace(n=4)) == 0
    assert measured(limits_for([4, 0], Equal(2), [[1, 1]], t=0)._replace(n=5)) == 0.5


def test_the_nearest_region_counts() -> None:
    limits = limits_for([3, 1], Equal(2), [[1, 1]], t=0)
    assert measured(limits._replace(references=np.array([[2, 1, 1, *limits.references[0, 3:]], [4, 3, 1]]))) == 0


# Against the naive twin and the checks


def relaxed(asked: dict[str, Any]) -> dict[str, Any]:
    """The same limits, each a millionth laxer."""
    little = Fraction(1, 10**6)
    factors = {"t": 1 + little, "beta": 1 + little, "delta": 1 + little, "alpha": 1 + little, "c": 1 + little, "l": 1 - little}
    lax = {key: value * factors[key] if key in factors and key != "l" else value for key, value in asked.items()}
    if asked.get("l_kind") == "entropy":
        lax["l"] = max(1, asked["l"] * factors["l"])
    return lax | ({"alpha": min(Fraction(1), lax["alpha"])} if "alpha" in lax else {})


@pytest.mark.parametrize("distance", DISTANCES, ids=name_of)
@settings(max_examples=examples(80), deadline=None)
@given(counts=COUNTS, suppressed=SUPPRESSED, asked=limits_asked())
def test_against_naive_and_the_checks(
    distance: Distance, counts: list[int], suppressed: list[int], asked: dict[str, Any]
) -> None:
    table = naive.total([counts, suppressed])
    limits = limits_for(counts, distance, [table], **asked)
    comp = measured(limits)
    assert comp == pytest.approx(naive.grow.excess(counts, table, partial(exact_emd, distance), **asked), abs=NEAR)
    if comp > NEAR:
        assert not holds(limits)
    else:  # what refuses it all the same is a limit that it is at
        assert holds(limits_for(counts, distance, [table], **relaxed(asked)))


# Tighter limits


@settings(max_examples=examples(40), deadline=None)
@given(counts=COUNTS, t=st.fractions(0, 1, max_denominator=40), share=st.fractions(0, 1, max_denominator=40))
def test_every_t_is_tightened(counts: list[int], t: Fraction, share: Fraction) -> None:
    made, ref = (limits_for(counts, Ordered(M), [counts, [1] * M], t=limit, beta=1) for limit in (t, t * share))
    comp = tightened(made, share)
    assert comp.attributes.tolist() == ref.attributes.tolist()
    assert made.attributes["t_above"].tolist() == [t.numerator] * 2  # the limits that were given are left as they are


def test_a_tightened_t_finer_than_64_bits_is_rounded_down() -> None:
    made = limits_for([1, 1], Equal(2), [[1, 1]], t=Fraction(1, 10**18 + 1))
    t = Fraction(1, 10**18 + 1) * Fraction(1, 97)
    above, below = (int(tightened(made, Fraction(1, 97)).attributes[0][side]) for side in ("t_above", "t_below"))
    assert 0 <= t - Fraction(above, below) < Fraction(1, 2**60)
