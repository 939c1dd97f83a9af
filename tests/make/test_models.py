"""The families of privacy models that the makers know: what limits are without one of them, or with one alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tclose import Policy, Sensitive
from tclose.distances import Ordered
from tclose.make.kernels.limits import Limits, limits_of
from tclose.make.models import AGAINST_TABLE, ON_CLASS, only, without
from tclose.make.models.base import Family
from tclose.policy.models import MODELS
from tests.support.attributes import attribute

FAMILIES: list[Family] = [*ON_CLASS, *AGAINST_TABLE]
ASKED: dict[str, Any] = {"alpha": "2/3", "t": "1/5", "l": 2, "l_kind": "recursive", "c": 3, "beta": 1, "delta": "1/2"}


def made(asked: dict[str, Any]) -> Limits:
    """The limits of one column that has these settings."""
    column = Sensitive("s", **{name: value for name, value in asked.items() if name != "alpha"})
    codes = np.array([0, 0, 1, 2, 3, 3])
    return limits_of([attribute(column, Ordered(4), codes, [2, 1, 1, 2])], Policy(["q"], [column], alpha=asked.get("alpha")))


def of(family: Family) -> set[str]:
    """The settings that the models of a family read."""
    return {setting.name for key in family.breaks for setting in MODELS[key].settings}


def asked_without(*families: Family) -> dict[str, Any]:
    return {name: value for name, value in ASKED.items() if not any(name in of(family) for family in families)}


def same(one: Limits, other: Limits) -> bool:
    return np.array_equal(one.columns, other.columns) and np.array_equal(one.attributes, other.attributes)


@pytest.mark.parametrize("family", FAMILIES)
def test_limits_without_a_family_are_those_of_a_policy_that_does_not_ask_for_it(family: Family) -> None:
    everything, nothing = made(ASKED), made({})
    assert same(without(everything, family), made(asked_without(family)))
    assert same(only(everything, family), made(asked_without(*(other for other in FAMILIES if other is not family))))
    assert same(without(everything, *FAMILIES), nothing)
    assert not same(everything, nothing)
    assert same(everything, made(ASKED))  # what is given stays as it is
