"""The fence: a maker whose checks say yes too often is stopped by the gate, which shares no code with them.

Each limit is broken in turn, where it is handed to the compiled checks: they see a looser one. The table is in the order of its
sensitive values, so that whoever may split it too far does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.make import feasibility, suppression
from tclose.make.fragmentation.bounds import Promises
from tclose.make.kernels import limits
from tclose.make.kernels.limits import Limits
from tclose.make.models import diversity, lift, share, without
from tclose.make.models.base import Family
from tclose.policy.models import MODELS

TABLE = pa.table(
    {
        "q": range(24),
        "number": [value for value in (1, 2, 4, 8) for _ in range(6)],
        "word": [value for value in "abcd" for _ in range(6)],
        "who": [f"p{row // 3}" for row in range(24)],
    }
)
TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
CIRCLE = {"a": {"b": 0.5, "c": 1, "d": 0.5}, "b": {"c": 0.5, "d": 1}, "c": {"d": 0.5}, "d": {}}
CLOSENESS: dict[str, dict[str, Any]] = {
    "ordered": {"number": {"t": 0.2}},
    "numeric": {"number": {"t": 0.2, "distance": "numeric"}},
    "equal": {"word": {"t": 0.2}},
    "hierarchical": {"word": {"t": 0.2, "hierarchy": TREE}},
    "matrix": {"word": {"t": 0.2, "matrix": CIRCLE}},
}

Broken = Callable[[Limits], Limits]


def no(family: Family) -> Broken:
    """Limits without those of a family."""
    return lambda made: without(made, family)


def any_t(made: Limits) -> Limits:
    """Limits with t = 1: the check is made, and always passed."""
    attributes = made.attributes.copy()
    attributes["t_above"] = attributes["t_below"] = 1
    return made._replace(attributes=attributes)


def without_persons(made: Limits) -> Limits:
    return made._replace(persons=made.persons[:0], pairs=made.pairs[:0])


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], Broken, str]] = {
    "k": ({"word": {}}, {"k": 6}, lambda made: made._replace(k=1), "k"),
    **{f"t, {name}": (asked, {}, any_t, "t") for name, asked in CLOSENESS.items()},
    "n,t": (CLOSENESS["equal"], {"n": 12}, any_t, "n,t"),
    "alpha": ({"word": {}}, {"alpha": 0.5}, no(share.FAMILY), "alpha"),
    "l, distinct": ({"word": {"l": 3}}, {}, no(diversity.FAMILY), "l_distinct"),
    "l, entropy": ({"word": {"l": 2.5, "l_kind": "entropy"}}, {}, no(diversity.FAMILY), "l_entropy"),
    "l, recursive": ({"word": {"l": 2, "l_kind": "recursive", "c": 1}}, {}, no(diversity.FAMILY), "c_recursive"),
    "beta, basic": ({"word": {"beta": 0.5}}, {}, no(lift.FAMILY), "beta"),
    "beta, enhanced": ({"word": {"beta": 9, "beta_kind": "enhanced"}}, {}, no(lift.FAMILY), "beta_enhanced"),
    "delta, strict": ({"word": {"delta": 0.5}}, {}, no(lift.FAMILY), "delta"),
    "delta, lenient": ({"word": {"delta": 0.5, "delta_kind": "lenient"}}, {}, no(lift.FAMILY), "delta"),
    "persons": ({"word": {}}, {"k": 3, "unit": "who"}, without_persons, "k"),
}


def test_every_limit_is_broken_once() -> None:
    assert {model for *_, model in CASES.values()} == {model.name for model in MODELS.values() if model.settings}


def released(sensitive: dict[str, Any], algorithm: str = "mondrian", k: int = 2, table: Any = TABLE, **asked: Any) -> tc.Release:
    policy = tc.Policy(["q"], sensitive, k=k, other="drop", **asked)
    return tc.anonymize(table, policy, algorithm=algorithm, effort="fast")


@pytest.mark.parametrize("case", CASES)
def test_a_check_that_says_yes_too_often_is_caught(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sensitive, asked, broken, model = CASES[case]
    assert released(sensitive, **asked).audit.satisfied
    monkeypatch.setattr(limits, "Limits", lambda *fields: broken(Limits(*fields)))
    for algorithm in ("mondrian", "growth"):
        with pytest.raises(tc.GateError, match=f"it would break {model}( of|\\.)"):
            released(sensitive, algorithm, **asked)


def test_promises_that_are_too_good_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert released(CLOSENESS["ordered"], "fragmentation").audit.satisfied
    monkeypatch.setattr(limits, "Limits", lambda *fields: any_t(Limits(*fields)))
    monkeypatch.setattr(Promises, "within", lambda self, wanted, t: np.ones(len(wanted), dtype=bool))
    with pytest.raises(tc.GateError, match="it would break t of 'number'"):
        released(CLOSENESS["ordered"], "fragmentation")


OUTLIER = pa.table({"q": [0] * 5 + [50] + [100] * 6, "word": list("abcdef" * 2)})
SUPPRESSIONS: dict[str, dict[str, Any]] = {
    "compared with itself it would break k": {"sensitive": {"word": {}}, "k": 6, "suppression": 0.2, "table": OUTLIER},
    "compared with the input it would break t": {"sensitive": CLOSENESS["equal"], "suppression": 0.5},
}


@pytest.mark.parametrize("sentence", SUPPRESSIONS)
def test_suppression_that_does_not_check_is_caught(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert released(**SUPPRESSIONS[sentence]).audit.satisfied
    monkeypatch.setattr(suppression, "breaking", lambda table, labels, policy: np.zeros(labels.max() + 1, dtype=bool))
    with pytest.raises(tc.GateError, match=sentence):
        released(**SUPPRESSIONS[sentence])


def test_feasibility_that_says_yes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An algorithm that finds no class to satisfy the policy leaves all rows in one that breaks it."""
    with pytest.raises(tc.InfeasibleError):
        released({"word": {}}, alpha=0.2)
    monkeypatch.setattr(feasibility, "too_uneven", lambda *_: "")
    with pytest.raises(tc.GateError, match="it would break alpha of 'word'"):
        released({"word": {}}, alpha=0.2)
