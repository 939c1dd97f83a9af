"""One class, decided exactly by the maker: against the judge, which shares no code with it, and by hand near equality."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Policy, Sensitive
from tclose.distances import Distance, Equal
from tclose.judge.attribute import measure
from tclose.make.logarithms import entropy_is_at_least_log, exp_sign
from tclose.make.models import FAR, UNEVEN
from tclose.make.one_class import too_far, too_uneven
from tclose.policy.models import MODELS
from tclose.values.exact import plain
from tclose.values.histograms import Histograms
from tests.support.attributes import COUNTS, DISTANCES, SETTINGS, SUPPRESSED, limits_asked, name_of
from tests.support.examples import examples

HAIRS = [Fraction(sign, 10**digits) for digits in (3, 12, 40) for sign in (1, -1)]
"""Distances from a limit that floats see, hardly see, and do not see."""


def decided(distance: Distance, counts: list[int], table: list[int], persons: list[int] | None = None, **asked: Any) -> str:
    """The first limit that a class breaks, as the maker says."""
    column, policy = _asked(distance, **asked)
    own, whole = np.array(counts), np.array(table)
    far = too_far(column, policy, distance, own, whole)
    return far or too_uneven(column, policy, own, None if persons is None else np.array(persons))


def judged(distance: Distance, counts: list[int], table: list[int], persons: list[int] | None = None, **asked: Any) -> str:
    """The first limit that a class breaks, as the judge says."""
    column, policy = _asked(distance, **asked)
    of_persons = None if persons is None else [Histograms.of([persons], table)]
    found = measure(column, policy, distance, [Histograms.of([counts], table)], of_persons)
    names = {"beta_enhanced": "beta", "share": "alpha", "l_distinct": "l", "l_entropy": "l", "c_recursive": "l"}
    for key, model in found.models.items():
        if model.limit is not None and found.verdicts[key].broken.any():
            name = names.get(key, key)
            return f"{name}={plain(getattr(policy if name == 'alpha' else column, name))}"
    return ""


def _asked(distance: Distance, *, n: int | None = None, alpha: Any = None, **limits: Any) -> tuple[Sensitive, Policy]:
    column = Sensitive("s", distance=distance.name, **SETTINGS.get(distance.name, {}), **limits)
    return column, Policy(quasi=["q"], sensitive=[column], k=1, n=n, alpha=alpha)


@pytest.mark.parametrize("distance", DISTANCES, ids=name_of)
@settings(max_examples=examples(60), deadline=None)
@given(
    counts=COUNTS,
    suppressed=SUPPRESSED,
    persons=st.one_of(st.none(), COUNTS),
    asked=limits_asked(),
    times=st.sampled_from([1, 7, 10**11]),
    n=st.sampled_from([None, 1]),
)
def test_the_maker_decides_as_the_judge_does(
    distance: Distance, counts: list[int], suppressed: list[int], persons: Any, asked: dict[str, Any], times: int, n: Any
) -> None:
    counts = [count * times for count in counts]
    table = [count + more * times for count, more in zip(counts, suppressed, strict=True)]
    n = n if "t" in asked else None
    assert decided(distance, counts, table, persons, n=n, **asked) == judged(distance, counts, table, persons, n=n, **asked)


def test_every_limit_on_values_is_decided() -> None:
    assert {*FAR, *UNEVEN} == {model.key for model in MODELS.values() if model.judged_on == "values" and model.settings}


def logarithm(ratio: Fraction) -> Fraction:
    """ln(ratio), to 60 digits."""
    with localcontext(prec=70):
        return Fraction((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln().quantize(Decimal(10) ** -60))


@pytest.mark.parametrize("hair", HAIRS)
@settings(max_examples=examples(15), deadline=None)
@given(counts=st.lists(st.integers(1, 9), min_size=4, max_size=4), suppressed=SUPPRESSED.filter(any))
def test_near_a_logarithm_digits_decide(hair: Fraction, counts: list[int], suppressed: list[int]) -> None:
    """delta a hair above and below what a class attains, and an l a hair beside its exp(entropy)."""
    table = [count + more for count, more in zip(counts, suppressed, strict=True)]
    ratios = [Fraction(c * sum(table), t * sum(counts)) for c, t in zip(counts, table, strict=True)]
    farthest = max(max(ratio, 1 / ratio) for ratio in ratios)
    if farthest > 1 and logarithm(farthest) + hair > 0:
        delta = logarithm(farthest) + hair
        assert decided(Equal(4), counts, table, delta=delta) == judged(Equal(4), counts, table, delta=delta)
        assert (decided(Equal(4), counts, table, delta=delta) == "") == (hair > 0)
    with localcontext(prec=70):
        shares = [Decimal(count) / sum(counts) for count in counts]
        attained = Fraction((-sum((share * share.ln() for share in shares), Decimal(0))).exp().quantize(Decimal(10) ** -60))
    l = max(attained + hair, Fraction(1))  # noqa: E741 - the name of the model
    entropy: dict[str, Any] = {"l": l, "l_kind": "entropy"}
    assert decided(Equal(4), counts, table, **entropy) == judged(Equal(4), counts, table, **entropy)


@pytest.mark.parametrize(
    ("counts", "l"),
    [
        ([7] * 7, 7),
        ([0, 3, 3, 3], 3),
        ([4, 1, 1, 1, 1], 4),  # 8^8 = 4^8 * 4^4
        ([12, 3, 3, 3, 3, 0], 4),
        ([10**12] * 10, 10),
    ],
)
def test_entropy_of_exactly_log_l(counts: list[int], l: int) -> None:  # noqa: E741
    hair = Fraction(1, 10**50)
    found = [entropy_is_at_least_log(np.array(counts), l + more) for more in (-hair, Fraction(0), hair)]
    assert found == [True, True, False]


def test_powers_of_e() -> None:
    assert [exp_sign(Fraction(0), Fraction(*ratio)) for ratio in ((1, 2), (1, 1), (2, 1))] == [1, 0, -1]
    for power in (Fraction(1), Fraction(-1, 3), Fraction(25, 2)):
        with localcontext(prec=80):
            near = Fraction((Decimal(power.numerator) / power.denominator).exp())
        assert [exp_sign(power, near * (1 + hair)) for hair in HAIRS] == [-1 if hair > 0 else 1 for hair in HAIRS]


def test_enhanced_beta_is_limited_by_the_logarithm_of_the_share() -> None:
    """Half of the class and a quarter of the table: p/q - 1 = 1, and -ln q = 1.386; a third and an eighth: 1.67 and 2.08."""
    enhanced: dict[str, Any] = {"beta": 9, "beta_kind": "enhanced"}
    assert decided(Equal(3), [2, 1, 1], [2, 3, 3], **enhanced) == ""
    assert decided(Equal(3), [4, 1, 1], [4, 6, 2], **enhanced) == ""
    assert decided(Equal(2), [9, 1], [9, 11], **enhanced) == "beta=9"  # 9/10 over 9/20 is 2: 1 > -ln 0.45 = 0.7985
