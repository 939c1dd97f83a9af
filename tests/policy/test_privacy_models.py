"""The metadata of privacy models: the same keys in policy, judge and make, and what follows from a policy."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import tclose as tc
from tclose.cli.screen import show_audit
from tclose.judge.models import ON_SIZES, ON_VALUES
from tclose.judge.models.base import Model, Verdict, judge_ratios
from tclose.make.kernels import limits
from tclose.make.kernels.limits import limits_of
from tclose.make.models import REGISTERED
from tclose.policy.models import ALPHA, MODELS, NAMED, REGION, SETTINGS, PrivacyModel, asked_of, merging_may_break
from tclose.release.certificate import describe_sensitive
from tclose.values.histograms import Histograms


def on(judged_on: str) -> set[str]:
    return {key for key, model in MODELS.items() if model.judged_on == judged_on}


def test_every_model_is_judged_and_no_other() -> None:
    assert set(ON_VALUES) == on("values")
    assert set(ON_SIZES) == on("sizes")
    assert on("regions") == {REGION}  # by `judge_regions`
    assert all(key == model.key for key, model in ON_VALUES.items())


def test_every_model_that_can_be_limited_has_its_check_among_the_kernels_and_no_other() -> None:
    assert {key for key, model in MODELS.items() if model.settings} == REGISTERED


def test_a_limit_without_a_kernel_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REGISTERED", REGISTERED - {"beta"})
    policy = tc.Policy(["age"], {"ill": {"beta": 1}}, k=2)
    with pytest.raises(TypeError, match="No kernel for the limit 'beta'"):
        limits_of([], policy)


class CommonestValue(Model):
    """A toy: the share of the most frequent value in a class."""

    key = "commonest"

    def judge(self, classes: Histograms) -> Verdict:
        return judge_ratios(classes, classes.largest(classes.counts), classes.sizes, self.limit)


def test_a_new_model_is_measured_judged_shown_and_certified_by_its_entry(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    toy = PrivacyModel(
        key="commonest",
        settings=(ALPHA,),
        label="commonest value of {}",
        sentence="commonest value of {column}: at most {asked}; attained {shortest}.",
        in_papers=("commonest={alpha}",),
    )
    monkeypatch.setitem(MODELS, toy.key, toy)
    monkeypatch.setitem(NAMED, toy.name, toy)
    monkeypatch.setitem(ON_VALUES, toy.key, CommonestValue)
    people = pa.table({"town": ["A"] * 4 + ["B"] * 4, "ill": ["flu", "flu", "flu", "cold", "flu", "cold", "flu", "cold"]})
    policy = tc.Policy(["town"], ["ill"], alpha=0.6)
    found = tc.audit(people, policy)
    facts = list(found.to_dict()["sensitive"]["ill"])
    shown = [key for key in facts if key in MODELS]
    assert shown == [key for key, model in MODELS.items() if model.always and model.judged_on == "values"]
    assert facts[-3:] == ["commonest", "homogeneous", "divergences"]
    assert found.sensitive["ill"].attained("commonest") == 0.75
    assert [(violation.model, violation.number) for violation in found.violations] == [("alpha", 0), ("commonest", 0)]
    assert found.class_table()["ill.commonest"].to_pylist() == [0.75, 0.5]
    show_audit(found, "people.csv")
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("commonest value of ill"))
    assert row.split()[4:] == ["0.7500", "0.6", "or", "less", "1", "class"]
    assert describe_sensitive(policy.sensitive[0], "equal", policy).endswith("limits alpha=0.6, commonest=0.6.")
    with pytest.raises(TypeError, match="No kernel for the limit 'commonest'"):
        limits_of([], policy)


def test_the_settings_of_models_are_fields_of_a_policy() -> None:
    # And no field that a model could read is forgotten: all the others say how a table is read, compared or published.
    of_policy, of_sensitive = ({item.name for item in fields(cls)} for cls in (tc.Policy, tc.Sensitive))
    elsewhere = {
        "quasi",
        "sensitive",
        "unit",
        "input",
        "suppression",
        "identifiers",
        "drop",
        "keep",
        "other",
        "small_cells",
        "context",
    }
    elsewhere |= {"formula_guard", "edges", "name", "distance", "hierarchy", "matrix", "order", "bins", "publish", "missing"}
    assert {setting.name for setting in SETTINGS if setting.of == "policy"} == of_policy - elsewhere
    assert {setting.name for setting in SETTINGS if setting.of == "sensitive"} == of_sensitive - elsewhere


def test_names_of_limits_are_distinct_and_every_limit_has_its_words() -> None:
    assert len(NAMED) == len(MODELS)
    for model in MODELS.values():
        assert model.label
        assert bool(model.sentence) == bool(model.settings)


ASKED: list[tuple[dict[str, Any], dict[str, Any], dict[str, str]]] = [
    ({}, {}, {}),
    ({"k": 3}, {}, {"k": "3"}),
    ({}, {"t": 0.2}, {"t": "1/5"}),
    ({"n": 5}, {"t": 0.2}, {"n,t": "1/5"}),
    ({"alpha": 0.5}, {}, {"share": "1/2"}),
    ({}, {"l": 2}, {"l_distinct": "2"}),
    ({}, {"l": 2.5, "l_kind": "entropy"}, {"l_entropy": "5/2"}),
    ({}, {"l": 3, "l_kind": "recursive", "c": 4}, {"c_recursive": "4"}),
    ({}, {"beta": 2}, {"beta": "2"}),
    ({}, {"beta": 2, "beta_kind": "enhanced"}, {"beta_enhanced": "2"}),
    ({}, {"delta": 1, "delta_kind": "lenient"}, {"delta": "1"}),
    ({"k": 2, "alpha": 1}, {"t": 0, "l": 1, "beta": 1}, {"k": "2", "t": "0", "l_distinct": "1", "beta": "1", "share": "1"}),
]


@pytest.mark.parametrize(("of_policy", "of_column", "expected"), ASKED)
def test_the_limits_of_a_policy(of_policy: dict[str, Any], of_column: dict[str, Any], expected: dict[str, str]) -> None:
    policy = tc.Policy(["age"], [tc.Sensitive("ill", **of_column)], **of_policy)
    found = {model.key: model.limit(policy, column) for model, column in asked_of(policy)}
    assert found == {key: Fraction(limit) for key, limit in expected.items()}


@pytest.mark.parametrize(
    ("of_policy", "of_column", "expected"),
    [
        ({"k": 2, "alpha": 0.5}, {"t": 0.1, "l": 2, "beta": 1, "delta": 1}, False),
        ({"n": 5}, {"t": 0.1}, True),
        ({}, {"delta": 1, "delta_kind": "lenient"}, True),
        ({}, {"delta_kind": "lenient"}, False),
        ({}, {"l": 2, "l_kind": "entropy"}, False),
        ({"unit": "row"}, {"l": 2, "l_kind": "entropy"}, False),
        ({"unit": "id"}, {"l": 2, "l_kind": "entropy"}, True),
        ({"unit": "id"}, {"l": 2, "l_kind": "recursive", "c": 2}, True),
        ({"unit": "id", "k": 2}, {"t": 0.1, "l": 2}, False),
    ],
)
def test_which_policies_merging_may_break(of_policy: dict[str, Any], of_column: dict[str, Any], expected: bool) -> None:
    policy = tc.Policy(["age"], [tc.Sensitive("ill", **of_column)], **of_policy)
    assert merging_may_break(policy) is expected


def test_a_limit_is_rounded_against_us() -> None:
    third = Fraction(1, 3)
    assert {key: model.rounded(third) for key, model in MODELS.items() if model.at_least} == dict.fromkeys(
        ("k", "l_distinct", "l_entropy"), "0.3333"
    )
    assert {model.rounded(third) for model in MODELS.values() if not model.at_least} == {"0.3334"}
