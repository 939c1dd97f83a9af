"""Policies: every way to write one, to YAML and back, and the one sentence that each mistake gets."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose import Hierarchy, Keep, Policy, PolicyError, Quasi, Sensitive
from tclose.policy.models import SETTINGS
from tclose.values.bins import REQUIREMENT, Bins
from tclose.values.builders import Intervals
from tests.support.examples import examples

TREE = {"infection": ["flu", "cold"], "digestive": {"stomach": ["ulcer"], "colon": None}}
MATRIX = {"x": {"y": 0.5, "z": 1}, "y": {"z": "1/2"}}


def refused(**settings: Any) -> str:
    """The sentence that a policy with these settings gets."""
    with pytest.raises(tc.PolicyError) as error:
        Policy(**{"quasi": ["age"], "sensitive": ["salary"], **settings})
    return str(error.value)


# --- ways to write a policy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quasi",
    [
        ["age", "zip"],
        ("age", "zip"),
        [Quasi("age"), "zip"],
        [Quasi(name="age"), {"name": "zip"}],
        [{"age": None}, {"zip": {}}],
        {"age": None, "zip": None},
        {"age": {"type": "auto"}, "zip": {}},
    ],
)
@pytest.mark.parametrize(
    "sensitive",
    [
        {"salary": 0.2, "disease": None},
        {"salary": "1/5", "disease": {}},
        {"salary": {"t": 0.2}, "disease": {"distance": "auto"}},
        [Sensitive("salary", t=0.2), "disease"],
        [{"salary": 0.2}, {"name": "disease"}],
        [{"name": "salary", "t": Decimal("0.2")}, Sensitive(name="disease")],
    ],
)
def test_lists_mappings_objects_and_bare_numbers_are_one_policy(quasi: Any, sensitive: Any) -> None:
    assert Policy(quasi, sensitive) == Policy(
        quasi=["age", "zip"], sensitive=[Sensitive("salary", t=Fraction(1, 5)), Sensitive("disease")]
    )


def test_one_name_needs_no_list() -> None:
    assert Policy("age", "salary", identifiers="name", drop="note") == Policy(
        ["age"], ["salary"], identifiers=["name"], drop=["note"]
    )


def test_integers_name_columns() -> None:
    person: Any = 2
    assert Policy(quasi=[0], sensitive={1: 0.2}, identifiers=[2], unit=person) == Policy(
        ["0"], {"1": 0.2}, identifiers=["2"], unit="2"
    )


def test_empty_lists_are_the_defaults() -> None:
    assert Policy(["age"], ["salary"], identifiers=[], drop=[], keep=[]) == Policy(["age"], ["salary"])


@pytest.mark.parametrize(
    "keep",
    [
        ["note", Keep("ward", despite="it is public")],
        [{"name": "note"}, {"ward": "it is public"}],
        {"note": None, "ward": {"despite": "it is public"}},
        {"note": {}, "ward": "it is public"},
    ],
)
def test_kept_columns_and_their_reasons_are_one_policy(keep: Any) -> None:
    policy = Policy(["age"], ["salary"], keep=keep)
    assert [(column.name, column.despite) for column in policy.keep] == [("note", None), ("ward", "it is public")]


@pytest.mark.parametrize(
    ("setting", "bins"),
    [
        (5, Bins(count=5)),
        ({"count": 5}, Bins(count=5)),
        ([0, 10, "20.5", "64/3"], Bins(edges=(Fraction(0), Fraction(10), Fraction(41, 2), Fraction(64, 3)))),
        ((0, 10), Bins(edges=(Fraction(0), Fraction(10)))),
        ({"edges": [0]}, Bins(edges=(Fraction(0),))),
        ({"width": 0.5}, Bins(width=Fraction(1, 2))),
        (Bins(count=2), Bins(count=2)),
        (None, None),
    ],
    ids=str,
)
def test_every_form_of_bins(setting: Any, bins: Bins | None) -> None:
    column = Sensitive("salary", bins=setting)
    assert column.bins == bins
    assert bins is None or Bins.read(bins.setting()) == bins


@pytest.mark.parametrize(
    ("given", "end"),
    [
        (90, Fraction(90)),
        (-0.5, Fraction(-1, 2)),
        ("1/3", Fraction(1, 3)),
        ("2024-01-31", date(2024, 1, 31)),
        (date(2024, 1, 31), date(2024, 1, 31)),
        ("2024-01-31 08:30", datetime(2024, 1, 31, 8, 30)),
        ("08:30", time(8, 30)),
        (None, None),
    ],
    ids=str,
)
def test_where_top_and_bottom_coding_begin(given: Any, end: Any) -> None:
    assert Quasi("age", top=given).top == Quasi("age", bottom=given).bottom == end


def test_hierarchies_that_are_made_from_the_table() -> None:
    assert [Quasi("zip", hierarchy=word).hierarchy for word in ("prefixes", "dates")] == ["prefixes", "dates"]
    assert Quasi("zip", hierarchy="prefixes").tree is None
    assert Quasi("age", hierarchy={"intervals": [5, "10"]}).hierarchy == Intervals((Fraction(5), Fraction(10)))
    assert Quasi("age", hierarchy={"intervals": [5, 10]}).tree is None
    tree = Quasi("zip", hierarchy=TREE).tree
    assert tree is not None
    assert tree.leaves == ["flu", "cold", "ulcer", "colon"]


@pytest.mark.parametrize("widths", [[], [0], [-5], [5, 12], [10, 5], [5, 5], ["x"], [True], 5, "5"])
def test_intervals_of_which_none_is_a_multiple_are_refused(widths: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        Quasi("age", hierarchy={"intervals": widths})
    rule = "a list of at most 20 numbers above 0, each a multiple of the one before: [5, 10, 20]"
    assert str(caught.value) == f"Column 'age': intervals must be {rule}. Got {widths!r}."


def test_at_most_twenty_intervals() -> None:
    with pytest.raises(PolicyError, match=r"intervals must be a list of at most 20 numbers above 0, .* Got list\.$"):
        Quasi("age", hierarchy={"intervals": [2**number for number in range(21)]})


def test_intervals_need_numbers() -> None:
    with pytest.raises(PolicyError, match=r"^hierarchy: intervals of 'age' needs numbers. Got type: category.$"):
        Quasi("age", hierarchy={"intervals": [5]}, type="category")


def test_a_tree_whose_root_is_called_intervals_stays_a_tree() -> None:
    tree = Hierarchy([["intervals", "5"], ["intervals", "10"]])
    policy = Policy([Quasi("age", hierarchy=tree)], ["s"])
    assert Policy(**policy.to_dict(None)).quasi[0].hierarchy == tree
    assert Quasi("age", hierarchy={"intervals": {"low": [1, 2]}}).tree is not None


@pytest.mark.parametrize("number", [0.3, "0.3", "3/10", " 3/10 ", Decimal("0.3"), Fraction(3, 10), np.float64(0.3), "30e-2"])
def test_a_number_is_the_decimal_that_is_written(number: Any) -> None:
    assert Sensitive("salary", t=number).t == Fraction(3, 10)


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [-0.1, 1.5, float("nan"), float("inf"), "much", "1/0", True, [0.2]], ids=repr)
def test_t_must_be_between_0_and_1(t: Any) -> None:
    assert (
        refused(sensitive={"salary": {"t": t}})
        == f"t of 'salary' must be between 0 and 1. Got {'list' if isinstance(t, list) else repr(t)}."
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"distance": "orderd"},
            "distance of 'salary' must be one of 'auto', 'ordered', 'numeric', 'equal', 'hierarchical' or 'matrix'. Got 'orderd'.",
        ),
        ({"hierachy": "x.csv"}, "'hierachy' of 'salary' is not a setting of Sensitive. Did you mean 'hierarchy'?"),
        ({"t 0.2": None}, "'t 0.2' of 'salary' is not a setting of Sensitive. A colon is missing: write t: 0.2."),
        (
            {"t=0.2": None},
            "'t=0.2' of 'salary' is not a setting of Sensitive. A colon and a blank stand between a name and its value: write t: 0.2.",
        ),
        (
            {"t = 0.2": None},
            "'t = 0.2' of 'salary' is not a setting of Sensitive. A colon and a blank stand between a name and its value: write t: 0.2.",
        ),
        (
            {"type": "category"},
            "'type' of 'salary' is not a setting of Sensitive. It is a setting of quasi-identifiers: take it away here. "
            "For codes without an order write distance: equal.",
        ),
        ({"nothing": 1}, "'nothing' of 'salary' is not a setting of Sensitive."),
        (
            {"snap": 1},
            "'snap' of 'salary' is not a setting of Sensitive. It is a setting of quasi-identifiers: take it away here.",
        ),
        ({"l": 0}, "l of 'salary' must be 1 or more. Got 0."),
        ({"l": 1.5}, "l of 'salary' must be a whole number unless l_kind is entropy. Got 1.5."),
        ({"l": "5/3", "l_kind": "recursive", "c": 2}, "l of 'salary' must be a whole number unless l_kind is entropy. Got 5/3."),
        ({"l_kind": "entropy"}, "l_kind of 'salary' needs an l. Got none."),
        ({"l": 2, "c": 3}, "c of 'salary' goes with l_kind: recursive, and l_kind: recursive needs a c."),
        ({"l": 2, "l_kind": "recursive"}, "c of 'salary' goes with l_kind: recursive, and l_kind: recursive needs a c."),
        ({"l": 2, "l_kind": "recursive", "c": 0}, "c of 'salary' must be above 0. Got 0."),
        ({"beta": 0}, "beta of 'salary' must be above 0. Got 0."),
        ({"delta": -1}, "delta of 'salary' must be above 0. Got -1."),
        ({"distance": "hierarchical"}, "distance: hierarchical of 'salary' needs a hierarchy. Got none."),
        ({"distance": "matrix"}, "distance: matrix of 'salary' needs a matrix. Got none."),
        ({"distance": "equal", "order": ["x", "y"]}, "order of 'salary' goes with distance: ordered. Got distance: equal."),
        ({"hierarchy": TREE, "order": ["x", "y"]}, "order of 'salary' goes with distance: ordered. Got distance: hierarchical."),
        ({"order": ["x", "x"]}, "order of 'salary' must be a list of distinct values, from least to greatest. Got ['x', 'x']."),
        ({"order": "xy"}, "order of 'salary' must be a list of distinct values, from least to greatest. Got 'xy'."),
        ({"missing": "drop"}, "missing of 'salary' must be one of 'value'. Got 'drop'."),
        ({3: 4}, "The settings of 'salary' must have names. Got 3. Decimals have a point, not a comma."),
        ({"publish": "value"}, "publish of 'salary' goes with bins. Got none."),
        ({"bins": 4, "publish": "bins"}, "publish of 'salary' must be one of 'value'. Got 'bins'."),
        ({"bins": 4, "distance": "numeric"}, "bins of 'salary' go with the ordered and the equal distance. Got numeric."),
        ({"bins": 4, "hierarchy": TREE}, "bins of 'salary' go with the ordered and the equal distance. Got hierarchical."),
        ({"bins": 4, "matrix": MATRIX}, "bins of 'salary' go with the ordered and the equal distance. Got matrix."),
        ({"bins": 4, "order": ["x", "y"]}, "bins of 'salary' have an order of their own. Leave its order out."),
    ],
)
def test_a_mistake_in_a_sensitive_attribute(settings: Any, sentence: str) -> None:
    assert refused(sensitive={"salary": settings}) == sentence


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"k": 0}, "k must be a whole number, 1 or more. Got 0."),
        ({"k": 2.5}, "k must be a whole number, 1 or more. Got 2.5."),
        ({"k": True}, "k must be a whole number, 1 or more. Got True."),
        ({"k": "5"}, "k must be a whole number, 1 or more. Got '5'."),
        ({"n": 0, "sensitive": {"salary": 0.2}}, "n must be a whole number, 1 or more. Got 0."),
        ({"n": 1000}, "n asks for (n,t)-closeness and needs a t for a sensitive attribute. Got none."),
        ({"alpha": 1.1}, "alpha must be between 0 and 1. Got 1.1."),
        ({"alpha": float("nan")}, "alpha must be between 0 and 1. Got nan."),
        ({"quasi": []}, "quasi names no column. Name at least one column that others may know."),
        ({"quasi": None}, "quasi names no column. Name at least one column that others may know."),
        ({"sensitive": {}}, "sensitive names no column. Name at least one column that nobody should learn."),
        (
            {"quasi": ["age", "age"]},
            "A column must have one role. Got 'age' twice in quasi. Take its line, or its name, away in one of the two.",
        ),
        (
            {"quasi": ["age", "salary"]},
            "A column must have one role. Got 'salary' in quasi and in sensitive. Take its line, or its name, away in one of the two.",
        ),
        (
            {"identifiers": ["x"], "drop": ["x"]},
            "A column must have one role. Got 'x' in identifiers and in drop. Take its line, or its name, away in one of the two.",
        ),
        (
            {"quasi": ["age", "salary", "job"], "sensitive": ["salary", "job"], "drop": ["age"]},
            "A column must have one role. Got 'salary', 'job' in quasi and in sensitive, and 'age' in quasi and in drop. Take its line, or its name, away in one of the two.",
        ),
        ({"suppression": 20}, "suppression must be between 0 and 1. Got 20. 20% is written 0.2."),
        ({"alpha": "12.5 %"}, "alpha must be between 0 and 1. Got '12.5 %'. 12.5% is written 0.125."),
        ({"alpha": "120%"}, "alpha must be between 0 and 1. Got '120%'."),
        ({"alpha": 1000}, "alpha must be between 0 and 1. Got 1000."),
        ({"unit": "age"}, "unit must name a person, not a quasi column. Got 'age'."),
        ({"unit": "salary"}, "unit must name a person, not a sensitive column. Got 'salary'."),
        ({"drop": {"age": {"snap": 5}}}, "drop must be a list of names, as [age, zip], without settings. Got dict."),
        ({"identifer": ["x"]}, "'identifer' is not a setting of Policy. Did you mean 'identifiers'?"),
        ({"K": 5}, "'K' is not a setting of Policy. Did you mean 'k'?"),
        ({"quasi": {"age": 3}}, "The settings of 'age' must be a mapping. Got 3. Write {snap: 3}."),
        ({"quasi": {"age": "auto"}}, "The settings of 'age' must be a mapping. Got 'auto'. Write {snap: auto}."),
        ({"quasi": {"age": "category"}}, "The settings of 'age' must be a mapping. Got 'category'. Write {type: category}."),
        ({"quasi": {"age": "often"}}, "The settings of 'age' must be a mapping. Got 'often'."),
        (
            {"quasi": {"age": {"type": "int"}}},
            "type of 'age' must be one of 'auto', 'integer', 'decimal', 'date', 'text' or 'category'. Got 'int'.",
        ),
        (
            {"sensitive": [{"a": 1, "b": 2}]},
            "A column in a list must be a name, or settings with a 'name'. Got settings without.",
        ),
    ],
)
def test_a_mistake_in_a_policy(settings: Any, sentence: str) -> None:
    assert refused(**settings) == sentence


@pytest.mark.parametrize(
    "bins",
    [1, 0, -3, True, "5", 5.0, [], [1, 1], [2, 1], ["a"], [1, None], [float("inf")], {}, {"width": 0}, {"width": "x"}, 1001,
     {"count": 1}, {"count": 3, "width": 2}, {"size": 3}, {3: 4}, {"edges": 3}, "quartiles"],
    ids=repr,
)  # fmt: skip
def test_what_is_no_setting_of_bins(bins: Any) -> None:
    assert refused(sensitive={"salary": {"bins": bins}}) == f"bins of 'salary' must be {REQUIREMENT}. Got {bins!r}."


ENDS = "a number, a date as 2024-01-31, or a time as 08:30"
SNAPS = "auto, a number above 0, or for dates one of day, week, month, quarter, year"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"recode": "rnge"}, "recode of 'age' must be one of 'range', 'bounds', 'centroid', 'level' or 'set'. Got 'rnge'."),
        ({"recode": None}, "recode of 'age' must be one of 'range', 'bounds', 'centroid', 'level' or 'set'. Got None."),
        ({"recode": "level"}, "recode: level of 'age' needs a hierarchy. Got none."),
        ({"recode": "bounds", "hierarchy": TREE}, "recode: bounds of 'age' goes without a hierarchy. Leave one of them out."),
        ({"recode": "centroid", "hierarchy": "dates"}, "recode: centroid of 'age' goes without a hierarchy. Leave one of them out."),
        ({"snap": 0}, f"snap of 'age' must be {SNAPS}. Got 0."),
        ({"snap": -5}, f"snap of 'age' must be {SNAPS}. Got -5."),
        ({"snap": True}, f"snap of 'age' must be {SNAPS}. Got True."),
        ({"snap": "fortnight"}, f"snap of 'age' must be {SNAPS}. Got 'fortnight'."),
        ({"snap": [5]}, f"snap of 'age' must be {SNAPS}. Got list."),
        ({"snap": 5, "hierarchy": TREE}, "snap of 'age' goes with ranges, bounds and centroids. Got a hierarchy or a set."),
        ({"top": 5, "recode": "set"}, "top of 'age' goes with ranges, bounds and centroids. Got a hierarchy or a set."),
        ({"bottom": 5, "hierarchy": "dates"}, "bottom of 'age' goes with ranges, bounds and centroids. Got a hierarchy or a set."),
        ({"top": "ninety"}, f"top of 'age' must be {ENDS}. Got 'ninety'."),
        ({"top": True}, f"top of 'age' must be {ENDS}. Got True."),
        ({"bottom": float("nan")}, f"bottom of 'age' must be {ENDS}. Got nan."),
        ({"bottom": "2024-02-30"}, f"bottom of 'age' must be {ENDS}. Got '2024-02-30'."),
        ({"top": 18, "bottom": 90}, "bottom of 'age' must be below its top. Got 90 and 18."),
        ({"top": 18, "bottom": 18}, "bottom of 'age' must be below its top. Got 18 and 18."),
        ({"top": "1/3", "bottom": 0.5}, "bottom of 'age' must be below its top. Got 0.5 and 1/3."),
        ({"top": 18, "bottom": "2024-01-31"}, "bottom of 'age' must be below its top. Got 2024-01-31 and 18."),
        ({"top": "2024-01-31 08:30", "bottom": "2020-01-31"}, "bottom of 'age' must be below its top. Got 2020-01-31 and 2024-01-31 08:30:00."),
        ({"type": "integer", "top": "2024-01-31"}, "top of 'age' must be a number for type: integer. Got 2024-01-31."),
        ({"type": "date", "bottom": 18}, "bottom of 'age' must be a date for type: date. Got 18."),
        ({"type": "decimal", "snap": "month"}, "snap of 'age' must be a number for type: decimal. Got month."),
        ({"snap": "auto", "top": 90}, "snap: auto of 'age' makes its top and bottom itself. Leave top out, or give a grid."),
        ({"snap": "auto", "recode": "set"}, "snap of 'age' goes with ranges, bounds and centroids. Got a hierarchy or a set."),
        ({"type": "date", "snap": 5}, "snap of 'age' must be one of day, week, month, quarter, year for type: date. Got 5."),
        ({"type": "integer", "hierarchy": "dates"}, "hierarchy: dates of 'age' needs dates. Got type: integer."),
        ({"weight": -1}, "weight of 'age' must be 0 or more. Got -1."),
        ({"weight": None}, "weight of 'age' must be 0 or more. Got None."),
        ({"weight": "heavy"}, "weight of 'age' must be 0 or more. Got 'heavy'."),
        ({"hierarchy": "prefix"}, "Column 'age': Hierarchy file 'prefix' cannot be read. Check its path."),
        ({"t": 0.2}, "'t' of 'age' is not a setting of Quasi. It is a setting of sensitive columns: take it away here."),
        ({"snpa": 5}, "'snpa' of 'age' is not a setting of Quasi. Did you mean 'snap'?"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_quasi_identifier(settings: Any, sentence: str) -> None:
    assert refused(quasi={"age": settings}) == sentence


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"suppression": 1.5}, "suppression must be between 0 and 1. Got 1.5."),
        ({"suppression": -0.1}, "suppression must be between 0 and 1. Got -0.1."),
        ({"suppression": None}, "suppression must be between 0 and 1. Got None."),
        ({"other": "Drop"}, "other must be one of 'drop' or 'keep'. Got 'Drop'."),
        ({"formula_guard": "no"}, "formula_guard must be true or false. Got 'no'."),
        ({"formula_guard": None}, "formula_guard must be true or false. Got None."),
        ({"formula_guard": 0}, "formula_guard must be true or false. Got 0."),
        ({"keep": {"note": ""}}, "despite of 'note' must be a reason, in words. Got ''."),
        ({"keep": {"note": {"despite": " "}}}, "despite of 'note' must be a reason, in words. Got ' '."),
        ({"keep": {"note": 5}}, "despite of 'note' must be a reason, in words. Got 5."),
        ({"keep": {"note": {"despit": "x"}}}, "'despit' of 'note' is not a setting of Keep. Did you mean 'despite'?"),
        ({"keep": [Quasi("note")]}, "A list of Keep columns must hold nothing else. Got Quasi 'note'."),
        ({"keep": ["age"]}, "A column must have one role. Got 'age' in quasi and in keep. Take its line, or its name, away in one of the two."),
        ({"keep": ["note"], "drop": ["note"]}, "A column must have one role. Got 'note' in drop and in keep. Take its line, or its name, away in one of the two."),
        ({"keep": ["note", "note"]}, "A column must have one role. Got 'note' twice in keep. Take its line, or its name, away in one of the two."),
        ({"keep": ["id"], "unit": "id"}, "unit must name a person, not a keep column. Got 'id'."),
        ({"quasi": {"age": {"weight": 0}, "zip": {"weight": "0/7"}}}, "weight must be above 0 for some quasi-identifier. Got 0 for all."),
        ({"small_cells": 0}, "small_cells must be a whole number, 1 or more. Got 0."),
        ({"context": {"purpose": " "}}, "context must be a mapping from topics to texts; leave out what is not stated. Got dict."),
    ],
)  # fmt: skip
def test_a_mistake_in_what_a_release_needs(settings: Any, sentence: str) -> None:
    assert refused(**settings) == sentence


@pytest.mark.parametrize("name", [True, 1.5, None], ids=repr)
def test_a_name_that_is_none_is_called_a_name(name: Any) -> None:
    for roles in ({"quasi": [name]}, {"sensitive": [name]}):
        assert "name" in refused(**roles).split(" must be the name of a column")[0]


@pytest.mark.parametrize("columns", [{"age"}, [("age", 0.4)], [["age"]]], ids=repr)
def test_columns_are_a_list_of_names_or_a_mapping(columns: Any) -> None:
    sentence = "Columns must be a list of names, or a mapping from names to settings. Got "
    assert refused(quasi=columns, sensitive=["salary"]).startswith(sentence)


def test_a_sensitive_attribute_is_no_quasi_identifier() -> None:
    assert "'salary'" in refused(quasi=[Sensitive("salary")], sensitive=["disease"])
    assert "'age'" in refused(sensitive=[Quasi("age")], quasi=["zip"])


def test_a_name_that_is_given_twice() -> None:
    assert "got multiple values" not in refused(sensitive={"salary": {"name": "wage"}})


@pytest.mark.parametrize("missing", ["quasi", "sensitive"])
def test_a_role_that_is_missing(missing: str) -> None:
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["salary"]}
    del roles[missing]
    with pytest.raises(tc.PolicyError, match=f"^Policy needs '{missing}'. Name at least one column that "):
        Policy(**roles)


TOGETHER = {"Policy": {"quasi", "sensitive"}, "Quasi": {"name"}, "Keep": {"name"}, "Sensitive": {"name", "c", "publish"}}
"""Fields that are there in every case, or go with another."""


def limits(owner: Any, **others: Any) -> dict[str, Any]:
    """A value for each setting of a privacy model: 1 is within the bounds of all numbers, and a kind is the last that there is."""
    kinds = {name: get_args(hint) for name, hint in get_type_hints(owner).items()}
    read = [
        setting for setting in SETTINGS if setting.of == owner.__name__.lower() and setting.name not in TOGETHER[owner.__name__]
    ]
    return {setting.name: kinds[setting.name][-1] if setting.value_type is str else 1 for setting in read} | others


SUPPORTED: dict[str, dict[str, Any]] = {
    "Policy": {
        "unit": "id", "suppression": 0.1, "identifiers": ["id"], "drop": ["x"], "keep": [Keep("x", despite="why")],
        "other": "drop", "formula_guard": False, "input": tc.Input(decimal=","), "edges": 2, "small_cells": 3, "context": {"purpose": "why"}, **limits(Policy, k=5, n=10, alpha=0.5),
    },
    "Quasi": {
        "type": "text", "hierarchy": TREE, "recode": "set", "snap": 5, "top": 90, "bottom": 18, "weight": 2, "despite": "why",
    },
    "Keep": {"despite": "why"},
    "Sensitive": {
        "distance": "equal", "hierarchy": TREE, "matrix": MATRIX, "order": ["x", "y"], "missing": "value", "bins": Bins(count=4),
        **limits(Sensitive, t=0.2, l=2, l_kind="distinct"),
    },
}  # fmt: skip
KINDS: dict[str, Any] = {"Policy": Policy, "Quasi": Quasi, "Keep": Keep, "Sensitive": Sensitive}


def made(owner: str, settings: dict[str, Any]) -> Any:
    """A policy, or one of its columns, with these settings."""
    if owner == "Policy":
        return Policy(["age"], {"salary": 0.2}, **settings)
    return KINDS[owner]("col", **settings)


@pytest.mark.parametrize(("owner", "field"), [(owner, field) for owner, fields in SUPPORTED.items() for field in fields])
def test_fields_of_the_contract_that_work(owner: str, field: str) -> None:
    value = SUPPORTED[owner][field]
    kept = getattr(made(owner, {field: value}), field)
    assert kept == (Fraction(str(value)) if isinstance(kept, Fraction) else value) or field in ("hierarchy", "matrix")
    assert kept is not None


def test_every_field_of_the_contract_works() -> None:
    for owner, kind in KINDS.items():
        assert {*SUPPORTED[owner], *TOGETHER[owner]} == set(kind.__dataclass_fields__)


def test_an_unknown_topic_of_the_context_is_refused_with_the_known_ones() -> None:
    with pytest.raises(tc.PolicyError, match=r"^context must be .* the topics are purpose, recipient, .*reviewer\. Got "):
        Policy(["age"], ["salary"], context={"why": "because"})


def test_the_context_is_written_and_read_again(tmp_path: Path) -> None:
    context = {"reviewer": "The board: agreed.", "purpose": "Research\non costs"}
    policy = Policy(["age"], ["salary"], context=context, small_cells=10)
    policy.save(tmp_path / "policy.yaml")
    assert Policy.load(tmp_path / "policy.yaml") == policy
    assert list(policy.to_dict()["context"]) == ["purpose", "reviewer"]  # in the order of the report


# --- YAML -------------------------------------------------------------------------------------------------------------


def loaded(folder: Path, text: str | bytes) -> Policy:
    path = folder / "policy.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Policy.load(path)


def test_yaml_with_every_kind_of_setting(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("476;47*;*\n479;47*;*\n")
    (tmp_path / "matrix.csv").write_text(",x,y\nx,0,1\ny,1,0\n")
    policy = loaded(
        tmp_path,
        """
        k: 5
        unit: id
        identifiers: [id, name]
        quasi:
          age: {type: integer}
          zip: {hierarchy: zip.csv}
        sensitive:
          salary: 0.2
          wage: 4/15
          disease: {t: 0.3, hierarchy: {infection: [flu, cold], digestive: [ulcer]}}
          colour: {matrix: matrix.csv, l: 2}
          grade: {order: [low, high, null], missing: value}
          wages: {bins: [0, 10.5, 100/3], publish: value}
        """,
    )
    assert [column.t for column in policy.sensitive][:5] == [Fraction(1, 5), Fraction(4, 15), Fraction(3, 10), None, None]
    assert policy.quasi[1].hierarchy.leaves == ["476", "479"]
    assert [column.kind for column in policy.sensitive] == ["auto", "auto", "hierarchical", "matrix", "ordered", "auto"]
    assert policy.sensitive[4].order == ["low", "high", ""]
    policy.save(tmp_path / "again.yaml")
    assert Policy.load(tmp_path / "again.yaml") == policy


def test_yaml_of_a_release(tmp_path: Path) -> None:
    policy = loaded(
        tmp_path,
        """
        k: 5
        suppression: 0.02
        other: drop
        formula_guard: false
        keep: {ward: , note: the notes were written for the public}
        quasi:
          age: {top: 90, bottom: 18, recode: bounds, weight: 1/2}
          day: {snap: month, top: 2024-06-01, type: date}
          seen: {bottom: 2024-01-31 08:30:00}
          hour: {top: "22:30"}
          zip: {hierarchy: prefixes}
          born: {hierarchy: dates, recode: level}
          town: {recode: set}
        sensitive: {salary: {t: 0.2, bins: {width: 0.5}}}
        """,
    )
    assert (policy.suppression, policy.other, policy.formula_guard) == (Fraction(1, 50), "drop", False)
    assert [(column.name, column.despite) for column in policy.keep] == [
        ("ward", None),
        ("note", "the notes were written for the public"),
    ]
    age, day, seen, hour, code, born, town = policy.quasi
    assert (age.top, age.bottom, age.recode, age.weight) == (90, 18, "bounds", Fraction(1, 2))
    assert (day.snap, day.top) == ("month", date(2024, 6, 1))
    assert (seen.bottom, hour.top) == (datetime(2024, 1, 31, 8, 30), time(22, 30))
    assert (code.hierarchy, born.hierarchy, born.recode, town.recode) == ("prefixes", "dates", "level", "set")
    policy.save(tmp_path / "again.yaml")
    assert Policy.load(tmp_path / "again.yaml") == policy
    assert "small_cells" not in (tmp_path / "again.yaml").read_text()


def test_without_a_folder_hierarchies_and_matrices_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("476;47*;*\n479;47*;*\n")
    (tmp_path / "matrix.csv").write_text(",x,y\nx,0,1\ny,1,0\n")
    policy = loaded(
        tmp_path,
        "quasi: {zip: {hierarchy: zip.csv}, day: {hierarchy: dates}, town: {hierarchy: prefixes}}\n"
        "sensitive: {colour: {matrix: matrix.csv}, place: {hierarchy: zip.csv}}\n",
    )
    assert policy.to_dict(tmp_path)["quasi"]["zip"] == {"hierarchy": "zip.csv"}
    written = policy.to_dict(None)
    assert "zip.csv" not in str(written)
    assert "matrix.csv" not in str(written)
    assert {name: found["hierarchy"] for name, found in written["quasi"].items() if name != "zip"} == {
        "day": "dates",
        "town": "prefixes",
    }
    for column in ("zip.csv", "matrix.csv"):
        (tmp_path / column).unlink()
    assert Policy(**json.loads(json.dumps(written))) == policy


def test_paths_start_at_the_folder_of_the_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("policies", "trees", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "trees" / "zip.csv").write_text("476;*\n479;*\n")
    (tmp_path / "policies" / "p.yaml").write_text(
        "quasi:\n- zip: {hierarchy: ../trees/zip.csv}\n- name: town\nsensitive: [salary]\n"
    )
    monkeypatch.chdir(tmp_path / "elsewhere")
    policy = Policy.load("../policies/p.yaml")
    assert policy.quasi[0].hierarchy.leaves == ["476", "479"]
    policy.save(tmp_path / "saved.yaml")
    assert "trees/zip.csv" in (tmp_path / "saved.yaml").read_text()
    assert str(tmp_path) not in (tmp_path / "saved.yaml").read_text()
    assert Policy.load(tmp_path / "saved.yaml") == policy


@pytest.mark.parametrize("word", ["NO", "no", "on", "off", "y", "Yes"])
def test_words_stay_words(tmp_path: Path, word: str) -> None:
    policy = loaded(tmp_path, f"quasi: [{word}]\nsensitive: {{s: {{order: [{word}, other]}}}}\n")
    assert (policy.quasi[0].name, policy.sensitive[0].order) == (word, [word, "other"])


@pytest.mark.parametrize("name", ["hierarchy", "matrix", "name", "t", "quasi"])
def test_a_column_may_be_called_like_a_setting(tmp_path: Path, name: str) -> None:
    policy = loaded(tmp_path, f"quasi: {{q: }}\nsensitive: {{{name}: 1/3}}\n")
    assert [(column.name, column.t) for column in policy.sensitive] == [(name, Fraction(1, 3))]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Policy file 'policy.yaml' is empty. Let 'tclose init DATA -o policy.yaml' propose a policy."),
        ("# k: 5\n", "Policy file 'policy.yaml' is empty. Let 'tclose init DATA -o policy.yaml' propose a policy."),
        ("- quasi\n", "Policy file 'policy.yaml' must be a mapping with 'quasi' and 'sensitive'. Got something else."),
        ("quasi: [a]\nk: 5\nk: 6\n", "Policy file 'policy.yaml' names a key twice, the second time in line 3. Keep one."),
        ("quasi: [é]\n".encode("latin-1"), "Policy file 'policy.yaml' is not UTF-8. Save it as UTF-8."),
        ("quasi: [a\nsensitive: {", "Policy file 'policy.yaml' is not YAML at line 1. A bracket opens there, and does not close, or a comma is missing after it."),
        ("k: 5\nquasi:\n  age:\n  zip\n  town: {snap: 5}\nsensitive: [s]\n", "Policy file 'policy.yaml' is not YAML at line 4. A colon may be missing there."),
        ("quasi: [a]\nsensitive: [s]\ndrop:\n  - x\n# context:\n  purpose: y\n", "Policy file 'policy.yaml' is not YAML at line 6. purpose is a topic of context: take '# ' away before context:, too."),
        ("k 5\nquasi: [a]\n", "Policy file 'policy.yaml' is not YAML at line 1. A colon may be missing there."),
        ("# t\nk 5\n\n# a\n  # b\nquasi: [a]\n", "Policy file 'policy.yaml' is not YAML at line 2. A colon may be missing there."),
        ("k: 5\nquasi:\n  age\n\n  # b\n  town: {snap: 5}\n", "Policy file 'policy.yaml' is not YAML at line 3. A colon may be missing there."),
        ("k: 5\n\n# b\n  quasi: [a]\n", "Policy file 'policy.yaml' is not YAML at line 4. Mend it there, or in line 1."),
        ("k: 5\nquasi:\n  - a\n  b: {snap: 5}\n", "Policy file 'policy.yaml' is not YAML at line 4. Mend it there, or in the line above it."),
        ("quasi: [a]\nsensitive:\n  s: {t: 0.2}\n  - u: {t: 0.2}\n", "Policy file 'policy.yaml' is not YAML at line 4. It begins with a hyphen, as in a list, and the lines above it do not: take it away."),
        ("k: a: b\n", "Policy file 'policy.yaml' is not YAML at line 1. Mend it there: it may be indented too far, or have a colon too many."),
        ("k: 5\n  n: 5\n", "Policy file 'policy.yaml' is not YAML at line 2. Mend it there, or in the line above it: it may be indented too far, or have a colon too many."),
        ("quasi:\n\tage:\n", "Policy file 'policy.yaml' is not YAML at line 2. Mend it there; tabs cannot indent."),
        ("quasi: [a]\nk: 'x\n", "Policy file 'policy.yaml' is not YAML at line 2. A text in quotes begins there, and does not end."),
        ("k: 5\nquasi:\n  age: 3\n zip: 3\n", "Policy file 'policy.yaml' is not YAML at line 4. Mend it there, or in the line above it."),
        ("quasi: !!python/name:os.system [a]\nsensitive: [s]\n", "Policy file 'policy.yaml' is not YAML at line 1. Mend it there."),
        ("quasi: [a]\nsensitive: [s]\n5: 6\n", "The keys of a policy must be names. Got 5."),
        ("quasi: [a]\nsensitive: [s]\nidentifer: [x]\n", "'identifer' is not a setting of Policy. Did you mean 'identifiers'?"),
        ("quasi: [a]\nsensitve: [s]\n", "'sensitve' is not a setting of Policy. Did you mean 'sensitive'?"),
        ("sensitive: [s]\n", "Policy needs 'quasi'. Name at least one column that others may know."),
        ("quasi: [a]\n", "Policy needs 'sensitive'. Name at least one column that nobody should learn."),
        ("quasi:\nsensitive: [s]\n", "quasi names no column. Name at least one column that others may know."),
        ("quasi: [a]\nsensitive:\n  # s\n", "sensitive names no column. Name at least one column that nobody should learn."),
        ("quasi: [a]\nsensitive: {s: {t: 2}}\n", "t of 's' must be between 0 and 1. Got 2. 2% is written 0.02."),
        ("quasi: [a]\nsensitive:\n  s: {t: 0.2}\n  purpose: Research\n", "t of 'purpose' must be between 0 and 1. Got 'Research'. purpose is a topic of context, and stands among the sensitive columns: take '# ' away before context:, too."),
    ],
)  # fmt: skip
def test_a_bad_file_gets_one_sentence(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as error:
        loaded(tmp_path, text)
    assert str(error.value) == sentence


def test_no_file(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(tc.PolicyError) as error:
        Policy.load(path)
    assert str(error.value) == f"Policy file {str(path)!r} cannot be read. Check its path."


def test_a_hierarchy_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for text in (
        "quasi: {zip: {hierarchy: trees/none.csv}}\nsensitive: [s]\n",
        "quasi: [{name: zip, hierarchy: trees/none.csv}]\nsensitive: [s]\n",
        "quasi: {zip: {hierarchy: {ranges: trees/none.csv}}}\nsensitive: [s]\n",
        "quasi: [age]\nsensitive: {zip: {matrix: trees/none.csv}}\n",
    ):
        with pytest.raises(tc.HierarchyError) as error:
            loaded(tmp_path, text)
        assert str(error.value) == (
            f"Column 'zip': file {str(tmp_path / 'trees' / 'none.csv')!r} does not exist. The policy names it 'trees/none.csv', "
            "and a path in a policy starts at the folder of the policy's file."
        )


# --- any policy, to YAML and back -------------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6) | st.sampled_from(
    ["NO", "1", "null", "1.5", "~", "- a", "a: b", "#", "2020-01-01", "é\u2028"]
)
SHARES = st.fractions(0, 1, max_denominator=30)
POSITIVE = st.fractions(Fraction(1, 30), 50, max_denominator=30)
DISTANCES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"distance": "equal"},
        {"distance": "numeric"},
        {"hierarchy": TREE},
        {"matrix": MATRIX},
        {"bins": 4},
        {"bins": [0, "1/3", 2.5], "publish": "value"},
        {"bins": {"width": "1/3"}, "distance": "equal"},
        {"order": ["NO", "1", 2, None, "x: y"], "missing": "value"},
    ]
)
DIVERSITIES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.builds(lambda number: {"l": number}, st.integers(1, 9)),
    st.builds(lambda number: {"l": number, "l_kind": "entropy"}, POSITIVE.filter(lambda number: number >= 1)),
    st.builds(lambda number, c: {"l": number, "l_kind": "recursive", "c": c}, st.integers(1, 9), POSITIVE),
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    columns = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    split = draw(st.integers(1, len(columns) - 1))
    rest = draw(st.integers(split + 1, len(columns)))
    readings: list[dict[str, Any]] = [
        {}, {"type": "text"}, {"hierarchy": TREE}, {"hierarchy": TREE, "recode": "level"}, {"hierarchy": "prefixes"}, {"hierarchy": "dates"},
        {"hierarchy": {"intervals": ["1/3", 1, 5]}},
        {"recode": "set"}, {"recode": "bounds", "top": 90, "bottom": "1/3"}, {"recode": "centroid", "type": "decimal", "snap": 0.5},
        {"snap": "auto"}, {"snap": "auto", "type": "date"}, {"snap": "month", "top": date(2024, 1, 31)}, {"top": datetime(2024, 1, 31, 8, 30), "weight": "2/3"}, {"bottom": time(8, 30)},
    ]  # fmt: skip
    quasi = [Quasi(name, **draw(st.sampled_from(readings))) for name in columns[:split]]
    sensitive = []
    for name in columns[split:rest]:
        limits: dict[str, Any] = draw(st.fixed_dictionaries({}, optional={"t": SHARES, "beta": POSITIVE, "delta": POSITIVE}))
        sensitive.append(Sensitive(name, **limits, **draw(DISTANCES), **draw(DIVERSITIES)))
    more: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "k": st.integers(1, 99),
                "alpha": SHARES,
                "suppression": SHARES,
                "unit": st.just("row"),
                "other": st.sampled_from(["drop", "keep"]),
                "formula_guard": st.booleans(),
            },
        )
    )
    if columns[rest:]:
        more[draw(st.sampled_from(["identifiers", "drop"]))] = columns[rest + 1 :]
        more["keep"] = [Keep(columns[rest], despite=draw(st.none() | NAMES.filter(str.strip)))]
    return Policy(quasi, sensitive, **more)


@settings(max_examples=examples(60), deadline=None)
@given(policies())
def test_a_saved_policy_is_loaded_as_it_was(tmp_path_factory: pytest.TempPathFactory, policy: Policy) -> None:
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    policy.save(path)
    assert Policy.load(path) == policy
    assert Policy(**policy.to_dict()) == policy
    check(policy.to_dict(), Policy.json_schema())


# --- JSON Schema ------------------------------------------------------------------------------------------------------

TYPES: dict[str, Any] = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
KEYWORDS = {
    "maxProperties", "minLength",
    "additionalProperties", "anyOf", "const", "default", "description", "enum", "items", "minimum", "properties", "required", "title", "type",
    "$schema", "$id", "$defs", "$ref", "maximum", "exclusiveMinimum", "minItems", "uniqueItems", "examples",
}  # fmt: skip


def check(value: Any, schema: Any) -> None:
    """A small reading of draft 2020-12: enough for our own schema."""
    if schema is True:
        return
    if "anyOf" in schema:
        for option in schema["anyOf"]:
            try:
                check(value, option)
            except AssertionError:
                continue
            break
        else:
            raise AssertionError(f"{value!r} fits nothing of {schema['anyOf']}")
    kinds: Any = schema.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert any(isinstance(value, TYPES[kind]) and isinstance(value, bool) == (kind == "boolean") for kind in kinds)
    assert value in schema.get("enum", [value])
    assert value == schema.get("const", value)
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value)
        for key, item in value.items():
            check(item, schema.get("properties", {}).get(key, schema.get("additionalProperties", True)) or {"enum": []})
        assert len(value) <= schema.get("maxProperties", len(value))
    if isinstance(value, list):
        assert len(value) >= schema.get("minItems", 0)
        for item in value:
            check(item, schema.get("items", True))
    if isinstance(value, str):
        assert len(value) >= schema.get("minLength", 0)
    if isinstance(value, int | float) and "minimum" in schema:
        assert value >= schema["minimum"]


def test_the_schema_is_a_json_schema() -> None:
    schema = Policy.json_schema()
    assert json.loads(json.dumps(schema)) == schema

    def walk(part: Any) -> None:
        if isinstance(part, bool):
            return
        assert set(part) <= KEYWORDS, set(part) - KEYWORDS
        assert {part["type"]} <= set(TYPES) if isinstance(part.get("type"), str) else True
        for below in (*part.get("anyOf", ()), *part.get("properties", {}).values(), *part.get("$defs", {}).values()):
            walk(below)
        for key in ("items", "additionalProperties"):
            walk(part.get(key, True))
        assert set(part.get("required", ())) <= set(part.get("properties", {}))

    walk(schema)
    assert set(schema["properties"]) == set(Policy.__dataclass_fields__)
    for role, kind in (("quasi", Quasi), ("sensitive", Sensitive), ("keep", Keep)):
        by_name = schema["properties"][role]["anyOf"][-1]["additionalProperties"]["anyOf"][0]
        assert set(by_name["properties"]) == set(kind.__dataclass_fields__) - {"name"}
    assert schema["required"] == ["quasi", "sensitive"]


@pytest.mark.parametrize(
    "settings",
    [
        {"quasi": ["age"]},
        {"quasi": ["age"], "sensitive": ["s"], "k": 0},
        {"quasi": ["age"], "sensitive": ["s"], "kk": 5},
        {"quasi": {"age": {"typ": "text"}}, "sensitive": ["s"]},
        {"quasi": {"age": {"type": "int"}}, "sensitive": ["s"]},
        {"quasi": ["age"], "sensitive": {"s": {"distance": "orderd"}}},
        {"quasi": {"age": {"recode": "rnge"}}, "sensitive": ["s"]},
        {"quasi": {"age": {"snap": [5]}}, "sensitive": ["s"]},
        {"quasi": {"age": {"weight": None}}, "sensitive": ["s"]},
        {"quasi": {"age": {"hierarchy": 5}}, "sensitive": ["s"]},
        {"quasi": ["age"], "sensitive": {"s": {"bins": 1}}},
        {"quasi": ["age"], "sensitive": {"s": {"bins": []}}},
        {"quasi": ["age"], "sensitive": {"s": {"bins": {"size": 3}}}},
        {"quasi": ["age"], "sensitive": {"s": {"bins": {"count": 3, "width": 3}}}},
        {"quasi": ["age"], "sensitive": {"s": {"bins": 4, "publish": "bins"}}},
        {"quasi": ["age"], "sensitive": ["s"], "other": "Drop"},
        {"quasi": ["age"], "sensitive": ["s"], "suppression": None},
        {"quasi": ["age"], "sensitive": ["s"], "formula_guard": "no"},
        {"quasi": ["age"], "sensitive": ["s"], "keep": {"x": ""}},
        {"quasi": ["age"], "sensitive": ["s"], "keep": {"x": {"despit": "why"}}},
        {"quasi": ["age"], "sensitive": ["s"], "keep": {"x": 5}},
        {"quasi": ["age"], "sensitive": ["s"], "small_cells": 0},
        {"quasi": ["age"], "sensitive": ["s"], "context": {"why": "because"}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_policy_refuses(settings: dict[str, Any]) -> None:
    with pytest.raises(tc.PolicyError):
        Policy(**settings)
    with pytest.raises(AssertionError):
        check(settings, Policy.json_schema())


@pytest.mark.parametrize(
    "settings",
    [
        {"quasi": ["age", 0, {"name": "zip", "type": "text"}], "sensitive": {"s": 0.2, "r": "1/3", "d": None}, "k": 5},
        {"quasi": [{"zip": {"type": "text"}}], "sensitive": [{"s": 0.2}]},
        {"quasi": "age", "sensitive": "s", "identifiers": "name"},
        {"quasi": ["age"], "sensitive": {"s": {"order": ["x", None, 3], "missing": "value"}}},
        {"quasi": ["age"], "sensitive": ["s"], "identifiers": [0]},
        {"quasi": {"age": {"top": 90, "bottom": "1/3", "snap": 5, "recode": "bounds", "weight": "2/3"}}, "sensitive": ["s"]},
        {"quasi": {"age": {"snap": "auto"}, "day": {"snap": "auto", "type": "date"}}, "sensitive": ["s"]},
        {"quasi": {"day": {"top": "2024-01-31", "snap": "month"}, "zip": {"hierarchy": "prefixes"}}, "sensitive": ["s"]},
        {"quasi": {"zip": {"hierarchy": TREE, "recode": "level"}, "x": {"recode": "set"}}, "sensitive": ["s"]},
        {"quasi": {"age": {"hierarchy": {"intervals": [5, 10, "40"]}}}, "sensitive": ["s"]},
        {
            "quasi": {"age": {"hierarchy": {"rounding": [10]}}, "pay": {"hierarchy": {"cuts": [[1, 2.5], [1]]}}},
            "sensitive": ["s"],
        },
        {
            "quasi": {"zip": {"hierarchy": {"prefixes": 3}}, "day": {"hierarchy": {"dates": ["month", "year"]}}},
            "sensitive": ["s"],
        },
        {
            "quasi": {"level": {"hierarchy": {"groups": {"low": [1, 2], "high": [3]}}}},
            "sensitive": {"icd": {"hierarchy": {"ranges": [["A00-A09", "A"]]}}, "day": {"hierarchy": "dates"}},
        },
        {
            "quasi": ["age"],
            "sensitive": {"s": {"bins": 4}, "r": {"bins": [0, "1/3"], "publish": "value"}, "d": {"bins": {"width": 0.5}}},
        },
        {"quasi": ["age"], "sensitive": ["s"], "suppression": "1/50", "other": "keep", "formula_guard": False},
        {"quasi": ["age"], "sensitive": ["s"], "keep": "x"},
        {"quasi": ["age"], "sensitive": ["s"], "keep": ["x", {"y": "why"}, {"name": "z", "despite": "why"}]},
        {"quasi": ["age"], "sensitive": ["s"], "keep": {"x": None, "y": "why", "z": {"despite": "why"}}},
    ],
    ids=str,
)
def test_the_schema_accepts_what_the_policy_accepts(settings: dict[str, Any]) -> None:
    assert Policy(**settings).k in (None, 5)
    check(settings, Policy.json_schema())


def test_a_setting_of_the_whole_policy_in_a_column_is_told_where_it_belongs() -> None:
    with pytest.raises(
        tc.PolicyError, match=r"'alpha' of 'ill' is not a setting of Sensitive\. It is a setting of the whole policy"
    ):
        tc.Policy(["age"], {"ill": {"t": 0.2, "alpha": 0.5}})
