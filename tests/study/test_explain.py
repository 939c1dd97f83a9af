"""What an explanation says of a table, followed: moves against `tclose.transport`, suggestions against audits and releases."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study.explain.coarser import Coarser, coarser_columns
from tclose.study.explain.feasible import Change
from tclose.study.explain.loosen import IN_STEPS, Limit
from tclose.study.explain.made import Made
from tclose.study.explain.suppress import Suppression
from tclose.study.explain.trial import Figures, Rows
from tclose.values.exact import exact
from tests.support.examples import examples
from tests.support.inputs import contain
from tests.support.releases import Case, audited, cases

WARDS = {"*": {"inner": ["heart", "lung"], "bones": ["hip", "knee"]}}
RANGES = [["A00-A09", "Gut", "Infect"], ["A15-A19", "TB", "Infect"], ["J00-J06", "Upper", "Lung"]]
PEOPLE = pa.table(
    {
        "age": [21, 22, 23, 24, 25, 26, 41, 42, 43, 44, 45, 46],
        "ward": ["heart", "lung"] * 3 + ["hip", "knee"] * 3,
        "disease": ["flu", "flu", "flu", "flu", "gout", "flu", "gout", "gout", "gout", "flu", "gout", "gout"],
    }
)


def explained(table: Any, policy: tc.Policy, n: int = 5) -> tc.Explanation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        return tc.explain(table, policy, n)


def figures(table: pa.Table, policy: tc.Policy) -> Figures:
    return Figures.of(audited(table, policy))


# Classes -----------------------------------------------------------------------------------------------------------------------


def test_the_farthest_class_by_hand() -> None:
    people = pa.table({"zip": ["1"] * 4 + ["2"] * 4, "disease": ["cancer"] * 3 + ["flu"] * 5})
    found = tc.explain(people, tc.Policy(["zip"], {"disease": 0.25}, k=2))
    first, second = found.classes
    assert (first.people, first.rows, first.column, first.distance) == ("zip 1", 4, "disease", Fraction(3, 8))
    assert [(one.value, one.rows, one.of_class, one.of_table) for one in first.too_much] == [
        ("cancer", 3, Fraction(3, 4), Fraction(3, 8))
    ]
    assert [one.value for one in first.too_little] == ["flu"]
    assert [(move.source, move.target, move.mass) for move in first.moves] == [("cancer", "flu", Fraction(3, 8))]
    assert second.people == "zip 2"
    text = str(found)
    assert text.startswith("INTERNAL: ")
    assert "In this class 75% have disease cancer, in the table 37.5%".lower() in text.lower()
    assert "in all 0.3750, its distance" in text
    assert repr(found) == "<Explanation: 2 of 2 classes break a limit; 2 suggestions; INTERNAL>"


@settings(max_examples=examples(6))
@given(cases(containers=("pyarrow",)))
def test_moves_are_those_of_transport_and_add_up(case: Case) -> None:
    table = pa.table(case.columns)
    found = explained(table, case.policy, 2)
    audit = audited(table, case.policy)
    assert found.satisfied == audit.satisfied
    for one in found.classes:
        place = int(one.column[1:])
        values = audit.sensitive[one.column].verdicts["t"].values
        assert sum((move.cost for move in one.moves), Fraction(0)) == one.distance
        assert math.isclose(float(one.distance), values[one.number], abs_tol=1e-12)
        assert int(audit.sizes[one.number]) == one.rows
        assert {broken.model for broken in one.breaks} == {
            violation.model for violation in audit.violations if violation.number == one.number
        }
        if case.kinds[place] == "ordered":
            keys = list(zip(*(case.columns[column.name] for column in case.policy.quasi), strict=True))
            cells = case.columns[one.column]
            inside = tuple(audit.quasi[column.name][one.number].as_py() for column in case.policy.quasi)
            own = Counter(cell for key, cell in zip(keys, cells, strict=True) if key == inside)
            plan = tc.transport(own, Counter(cells))
            assert sorted((str(move.source), str(move.target), move.mass, move.distance) for move in plan) == sorted(
                (move.source, move.target, move.mass, move.distance) for move in one.moves
            )


# Suggestions -------------------------------------------------------------------------------------------------------------------


def follow(table: pa.Table, policy: tc.Policy, found: tc.Explanation) -> None:
    """Do what each suggestion says, by hand, and audit again."""
    for suggestion in found.suggestions:
        if isinstance(suggestion, Coarser):
            columns = {name: table[name].to_pylist() for name in table.column_names}
            for name, labels in suggestion.labels.items():
                columns[name] = [None if cell is None else labels.get(cell, printed(cell)) for cell in columns[name]]
            assert figures(pa.table(columns), policy) == suggestion.after
        elif isinstance(suggestion, Limit):
            assert figures(table, suggestion.policy) == suggestion.after
            broken = {(one.model, one.sensitive) for one in audited(table, suggestion.policy).violations}
            names = {violation.model for violation in audited(table, policy).violations}
            changed = [key for key in broken if is_limit(key, suggestion, policy)]
            assert not changed
            assert names
        elif isinstance(suggestion, Made):
            assert suggestion.after.satisfied
            assert suggestion.after.rows + suggestion.suppressed == table.num_rows
        else:
            left = without(table, suggestion.rows)
            assert figures(left, policy) == suggestion.after
            assert suggestion.after.satisfied
    for one in found.classes:
        if one.fewest is not None:
            assert figures(without(table, one.fewest.rows), policy) == one.fewest.after
            assert one.fewest.whole == (len(one.fewest.rows) == one.rows)


def printed(cell: Any) -> str:
    from tclose.values.printed import printed as text

    return text(cell)


def is_limit(key: tuple[str, str | None], suggestion: Limit, policy: tc.Policy) -> bool:
    """Whether a broken limit is the one that a suggestion has loosened."""
    models = {"k": "k", "t": "t", "c": "c_recursive", "alpha": "alpha", "delta": "delta"}
    column = next((one for one in policy.sensitive if one.name == suggestion.column), None)
    if suggestion.setting == "l" and column is not None:
        models["l"] = f"l_{column.l_kind}"
    if suggestion.setting == "beta" and column is not None:
        models["beta"] = "beta" if column.beta_kind == "basic" else "beta_enhanced"
    return (
        key[0] == models[suggestion.setting] and (suggestion.column is None or key[1] == suggestion.column) and key[0] != "alpha"
    )


def without(table: pa.Table, rows: list[int]) -> pa.Table:
    return table.filter(pa.array([row not in set(rows) for row in range(table.num_rows)]))


@settings(max_examples=4)
@given(cases(least=4, containers=("pyarrow",)))
def test_each_suggestion_does_what_it_says(case: Case) -> None:
    table = pa.table(case.columns)
    follow(table, case.policy, explained(table, case.policy, 2))


@settings(max_examples=2)
@given(cases(least=6, containers=("pyarrow",)))
def test_each_suggestion_for_a_release_does_what_it_says(case: Case) -> None:
    lenient = replace(case.policy, sensitive=[replace(one, t=1) for one in case.policy.sensitive], alpha=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        try:
            release = tc.anonymize(pa.table(case.columns), lenient, algorithm="mondrian")
        except (tc.InfeasibleError, tc.PolicyError):
            assume(False)
        table = release.table
    strict = replace(case.policy, unit=None, sensitive=[replace(one, t=Fraction(1, 20)) for one in case.policy.sensitive])
    follow(table, strict, explained(table, strict, 2))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=3, max_size=14))
@settings(max_examples=3)
def test_the_t_that_suffices_is_the_smallest(rows: list[tuple[int, int]]) -> None:
    table = pa.table({"q": [str(row[0]) for row in rows], "s": [row[1] for row in rows]})
    found = tc.explain(table, tc.Policy(["q"], {"s": 0}))
    for suggestion in found.suggestions:
        if isinstance(suggestion, Limit):
            assert suggestion.after.satisfied
            less = suggestion.value - Fraction(1, 10**9)
            assert not tc.audit(table, tc.Policy(["q"], {"s": less})).satisfied
    assert found.satisfied or any(isinstance(one, Limit) for one in found.suggestions)


# Coarser columns ---------------------------------------------------------------------------------------------------------------


def coarser(table: pa.Table, **column: Any) -> Coarser:
    (found,) = coarser_columns(Rows.of(table, tc.Policy([tc.Quasi("q", **column)], {"s": 0})))
    return found


@pytest.mark.parametrize(
    ("cells", "column", "how", "labels"),
    [
        ([21, 24, 43, 59], {}, "in intervals on a grid of 10", {21: "[20, 29]", 24: "[20, 29]", 43: "[40, 49]", 59: "[50, 59]"}),
        (["[21, 24]", "[25, 28]", "40 or more", "40 or more"], {}, "in intervals on a grid of 10",
         {"[21, 24]": "[20, 29]", "[25, 28]": "[20, 29]"}),
        (["2024-01-03", "2024-01-09", "2024-05-01", "2024-05-03"], {"type": "date"}, "in whole months", None),
        (["[2024-01-03, 2024-01-20]", "[2024-02-01, 2024-02-09]", "[2024-05-01, 2024-05-03]", "[2024-05-01, 2024-05-03]"], {},
         "in whole quarters", {"[2024-01-03, 2024-01-20]": "[2024-01-01, 2024-03-31]", "[2024-02-01, 2024-02-09]": "[2024-01-01, 2024-03-31]",
                               "[2024-05-01, 2024-05-03]": "[2024-04-01, 2024-06-30]"}),
        (["heart", "lung", "hip", "bones"], {"hierarchy": WARDS}, "at level 1 of its hierarchy",
         {"heart": "inner", "lung": "inner", "hip": "bones"}),
        (["inner", "bones", "inner", "bones"], {"hierarchy": WARDS}, "as one value, the top of its hierarchy",
         {"inner": "*", "bones": "*"}),
        (["47677", "47678", "4790*", "4790*"], {"hierarchy": "prefixes"}, "with 4 characters shown", {"47677": "4767*", "47678": "4767*"}),
        (["47601", "47602", "47677", "4790"], {}, "as one value", dict.fromkeys(["47601", "47602", "47677", "4790"], "*")),
        ([1.5, 2.25, 9.75, 30.0], {}, "in intervals on a grid of 2",
         {1.5: "[0, 2)", 2.25: "[2, 4)", 9.75: "[8, 10)", 30.0: "[30, 32)"}),
        (["[1.5, 2.5]", "[2.25, 2.75)", "less than 1", "[7, 8) or missing"], {}, "in intervals on a grid of 2",
         {"[1.5, 2.5]": "[0, 4)", "[2.25, 2.75)": "[2, 4)", "less than 1": "less than 2", "[7, 8) or missing": "[6, 8) or missing"}),
        (["Gut", "A01", "TB", "Lung"], {"hierarchy": {"ranges": RANGES}}, "one level up its ranges", {"A01": "A00-A09"}),
        (["Gut", "TB", "Gut", "Lung"], {"hierarchy": {"ranges": RANGES}}, "one level up its ranges", {"Gut": "Infect", "TB": "Infect"}),
        (["2024-03", "2024-Q1", "2024-05", "*"], {"hierarchy": "dates"}, "in whole quarters",
         {"2024-03": "[2024-01-01, 2024-03-31]", "2024-Q1": "[2024-01-01, 2024-03-31]", "2024-05": "[2024-04-01, 2024-06-30]"}),
        ([21, 22, 26, 41], {"hierarchy": {"intervals": [5, 10]}}, "at level 1 of its hierarchy",
         {21: "[20, 24]", 22: "[20, 24]", 26: "[25, 29]", 41: "[40, 44]"}),
        (["[20, 24]", "[25, 29]", "[40, 49]", "*"], {"hierarchy": {"intervals": [5, 10, 20]}}, "at level 2 of its hierarchy",
         {"[20, 24]": "[20, 29]", "[25, 29]": "[20, 29]"}),
        (["[0.5, 1)", "[1, 1.5)", "[0, 2)", "[0, 2)"], {"hierarchy": {"intervals": ["1/2", 2]}}, "at level 2 of its hierarchy",
         {"[0.5, 1)": "[0, 2)", "[1, 1.5)": "[0, 2)"}),
        (["[20, 39]", "[40, 59]", "*", "*"], {"hierarchy": {"intervals": [5, 20]}}, "as one value, the top of its hierarchy",
         {"[20, 39]": "*", "[40, 59]": "*"}),
        (["17 or less", "[18, 29]", "30 or more", "30 or more"], {"hierarchy": {"cuts": [[18, 30], [30]]}}, "at level 2 of its hierarchy",
         {"17 or less": "29 or less", "[18, 29]": "29 or less"}),
        (["4****", "5****", "4****", "5****"], {"hierarchy": {"prefixes": [3, 1]}}, "as one value, the top of its hierarchy",
         {"4****": "*****", "5****": "*****"}),
        (["a", "b", "{a, b}", "c"], {}, "as one value", dict.fromkeys(["a", "b", "{a, b}", "c"], "*")),
    ],
)  # fmt: skip
def test_a_column_coarser_by_one_level(cells: list[Any], column: dict[str, Any], how: str, labels: dict[Any, str] | None) -> None:
    found = coarser(pa.table({"q": cells, "s": [1, 2, 3, 4]}), **column)
    assert found.how == how
    if labels is not None:
        assert found.labels == {"q": labels}


def test_ranges_of_two_columns_are_about_twice_as_wide() -> None:
    table = pa.table({"q.min": [20, 21, 30, 40], "q.max": [24, 28, 39, 50], "s": [1, 2, 3, 4]})
    found = coarser(table, recode="bounds")
    assert found.how == "in intervals on a grid of 20"
    assert found.labels == {"q.min": {21: "20", 30: "20"}, "q.max": {24: "39", 28: "39", 50: "59"}}
    assert found.apply(table)["q.max"].to_pylist() == ["39", "39", "39", "59"]


# Infeasible policies -----------------------------------------------------------------------------------------------------------


def refused(table: pa.Table, policy: tc.Policy) -> str | None:
    """The sentence with which a release is refused because none can satisfy the policy; None if one is made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        try:
            tc.anonymize(table, policy, algorithm="mondrian")
        except tc.InfeasibleError as error:
            return str(error)
        except tc.PolicyError as error:
            if "must ask for something" not in str(error):
                raise
    return None


def changed(policy: tc.Policy, change: Change, value: Fraction) -> tc.Policy:
    given: Any = int(value) if change.setting in ("k", "n") else value
    if change.column is None:
        return replace(policy, **{change.setting: given})
    return replace(
        policy,
        sensitive=[
            replace(one, **{change.setting: given}) if one.name == change.column else one for one in policy.sensitive
        ],
    )  # fmt: skip


ASKED: list[dict[str, Any]] = [
    {"sensitive": {"d": {"t": 0.1, "l": 4}}, "k": 2},
    {"sensitive": {"d": {"t": 0.1, "l": 3, "l_kind": "entropy"}}, "k": 2},
    {"sensitive": {"d": 0.2}, "k": 20},
    {"sensitive": {"d": 0.2}, "k": 2, "alpha": 0.5},
    {"sensitive": {"d": 0.02}, "k": 2, "alpha": 0.5, "suppression": 0.4},
    {"sensitive": {"d": {"t": 0.5, "beta": 0.1}}, "k": 2, "alpha": 0.5, "suppression": 0.4},
    {"sensitive": {"d": {"l": 2, "l_kind": "recursive", "c": 1}}, "k": 2},
    {"sensitive": {"d": {"t": 0.1, "l": 4}, "e": {"l": 3}}, "k": 20},
    {"sensitive": {"d": 0.5}, "k": 5, "unit": "who"},
]


@pytest.mark.parametrize("asked", ASKED)
def test_each_change_makes_a_policy_feasible_and_a_hair_less_does_not(asked: dict[str, Any]) -> None:
    table = pa.table(
        {
            "zip": ["476"] * 5 + ["479"] * 5,
            "d": ["a"] * 7 + ["b", "b", "c"],
            "e": ["x", "y"] * 5,
            "who": ["p", "q", "r", "s", "t"] * 2,
        }
    )
    if asked.get("unit"):
        table = table.slice(0, 4)
    policy = tc.Policy(["zip"], other="drop", **asked)
    found = tc.explain(table, policy).infeasible
    assert found is not None
    assert found.reason == refused(table, policy)
    assert found.changes or found.together
    for change in found.changes:
        assert refused(table, changed(policy, change, change.value)) is None
        assert refused(table, changed(policy, change, change.refused)) is not None
        assert abs(change.value - change.refused) <= max(
            1 if change.setting in ("k", "l") else Fraction(1, 10), Fraction(1, 1000)
        )
    together = policy
    for change in found.together:
        together = changed(together, change, change.value)
    if found.together:
        assert refused(table, together) is None
        for change in found.together:
            assert refused(table, changed(together, change, change.refused)) is not None


@settings(max_examples=3)
@given(cases(least=3, most=12, containers=("pyarrow",)), st.sampled_from([0, 0.2, 0.5]))
def test_changes_are_those_that_releases_confirm(case: Case, suppression: float) -> None:
    policy = replace(case.policy, suppression=exact(suppression), edges=1)
    policy = replace(policy, quasi=[replace(column, snap=None) if column.snap == "auto" else column for column in policy.quasi])
    policy = replace(policy, unit="row") if policy.unit is None else policy
    table = pa.table(case.columns)
    found = explained(table, policy)
    if found.satisfied:
        return
    reason = refused(table, policy)
    assert (None if found.infeasible is None else found.infeasible.reason) == reason
    for change in [] if found.infeasible is None else found.infeasible.changes:
        assert refused(table, changed(policy, change, change.value)) is None
        assert refused(table, changed(policy, change, change.refused)) is not None


# What it says ------------------------------------------------------------------------------------------------------------------


def test_of_a_raw_table_it_says_what_k_does_and_lists_no_single_rows() -> None:
    found = tc.explain(PEOPLE, tc.Policy(["age", tc.Quasi("ward", hierarchy=WARDS)], {"disease": 0.3}, k=3))
    assert found.raw
    assert (found.alone, found.classes) == (12, [])
    assert "12 of 12 classes are one row each" in str(found)
    assert "k=3 asks for 3 rows or more in each class" in str(found)


def test_of_a_raw_table_the_first_advice_is_a_release_with_its_figures() -> None:
    """All 12 people are alone, so to suppress until k is satisfied would leave nobody; a release has all of them."""
    policy = tc.Policy(["age", tc.Quasi("ward", hierarchy=WARDS)], {"disease": 0.3}, k=3)
    found = tc.explain(PEOPLE, policy)
    made = found.suggestions[0]
    assert isinstance(made, Made)
    release = tc.anonymize(PEOPLE, policy, effort="fast")
    assert (made.after.classes, made.after.k, made.detail_lost) == (release.audit.classes, release.audit.k, release.loss["gcp"])
    lost = f"{100 * made.detail_lost:.0f}%"
    lines = str(found).splitlines()
    assert [line for line in lines if line.startswith(f"  tclose anonymize ({lost} of the detail lost)")]
    assert lines[-2] == (
        "Make a release, with the command tclose anonymize: a quick try of it satisfies every limit with all 12 rows, in "
        f"{release.audit.classes} classes; {lost} of the detail of the quasi-identifiers is lost."
    )
    assert found.to_dict()["suggestions"][0]["kind"] == "anonymize"


def test_what_helps_stands_first_and_what_does_not_in_one_line() -> None:
    """By age everybody is alone: another t does not help, and a coarser age helps more than a coarser ward."""
    policy = tc.Policy(["age", "ward"], {"disease": 0.3, "sex": 0.3}, k=3)
    found = tc.explain(PEOPLE.append_column("sex", [["f", "m"] * 6]), policy)
    headers, now, *changes = list(table_of_changes(str(found)))
    assert headers[-1] == "largest t"
    assert now[0] == "as it is"
    assert len({change[-1] for change in changes} - {now[-1]}) > 0
    broken = [int(change[3]) for change in changes]
    assert broken == sorted(broken)
    assert all(int(change[2]) < int(now[2]) for change in changes)
    useless = [one for one in found.suggestions if one.after.broken == found.now.broken]
    assert {type(one) for one in useless} == {Limit}
    assert f"None of these helps alone: {'; '.join(one.what for one in useless)}." in str(found).splitlines()
    assert len(changes) + len(useless) == len(found.suggestions)


def table_of_changes(text: str) -> Iterator[list[str]]:
    """The cells of the table of what would help, its headers first."""
    lines = text.partition("What would help, each tried:\n")[2].splitlines()
    for line in lines[: next(number for number, line in enumerate(lines) if not line.startswith("  "))]:
        yield re.split(r"  +", line.strip())


def test_a_limit_is_named_by_its_decimal_and_has_its_fraction() -> None:
    table = pa.table({"ward": ["north"] * 6 + ["south"] * 6, "ill": [*"aaabbb", *"bbbbba"]})
    (limit,) = [one for one in tc.explain(table, tc.Policy(["ward"], {"ill": 0.1}, k=3)).suggestions if isinstance(one, Limit)]
    assert (limit.what, limit.value) == ("t of ill: 0.1667 instead of 0.1", Fraction(1, 6))
    assert limit.to_dict()["value"] == "1/6"
    assert tc.audit(table, tc.Policy(["ward"], {"ill": 0.1667}, k=3)).satisfied


@pytest.mark.parametrize("why", ["many rows", "no k"])
def test_a_release_is_not_tried_where_it_would_take_long_or_cannot_be(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "many rows":
        monkeypatch.setattr("tclose.study.explain.made.MOST_ROWS", 11)
    found = tc.explain(PEOPLE, tc.Policy(["age", "ward"], {"disease": 0.3}, k=3 if why == "many rows" else None))
    assert found.raw
    assert not [one for one in found.suggestions if isinstance(one, Made)]
    assert "To make a release that satisfies the policy, use the command tclose anonymize." in str(found).splitlines()


def test_to_suppress_a_large_part_of_the_table_is_no_remedy() -> None:
    """Of two wards of 6 rows 8 rows would go; of 21 wards, of which one differs, 1 of 126."""
    two = pa.table({"ward": ["north"] * 6 + ["south"] * 6, "ill": [*"aaabbb", *"bbbbba"]})
    lines = str(tc.explain(two, tc.Policy(["ward"], {"ill": 0.1}, k=3))).splitlines()
    assert [
        line for line in lines if "8 rows suppressed in 2 classes (1 of them whole): no remedy, it is 66.7% of the table" in line
    ]
    assert lines[-1].startswith("Enough by itself: ")  # after the advice to make a release
    assert "suppressed" not in lines[-1]
    wards = [f"w{number:02}" for number in range(21) for _ in range(6)]
    many = pa.table({"ward": wards, "ill": [*"aabbbb" * 20, *"aaabbb"]})
    lines = str(tc.explain(many, tc.Policy(["ward"], {"ill": 0.1}, k=3))).splitlines()
    assert not [line for line in lines if "no remedy" in line]
    assert "1 row suppressed in 1 class" in lines[-2]
    assert lines[-1] == (
        "To make a release that satisfies the policy, use the command tclose anonymize; if this table is a release itself, on the "
        "raw table."
    )


def test_a_release_is_tried_wherever_somebody_is_alone() -> None:
    """One of 31 people has a ward alone: to suppress that row is enough, and a release is named after it."""
    wards = [*(f"w{number}" for number in range(5) for _ in range(6)), "alone"]
    table = pa.table({"ward": wards, "ill": [*"aabbbb" * 5, "b"]})
    found = tc.explain(table, tc.Policy(["ward"], {"ill": 0.5}, k=3))
    assert (found.raw, found.alone) == (False, 1)
    assert isinstance(found.suggestions[0], Made)
    lines = str(found).splitlines()
    assert "1 row suppressed in 1 class (1 of them whole)" in lines[-2]
    assert lines[-1].startswith("Make a release, with the command tclose anonymize: ")


def test_of_a_release_it_speaks_of_the_raw_table(tmp_path: Path) -> None:
    policy = tc.Policy(["age", tc.Quasi("ward", hierarchy=WARDS)], {"disease": 0.5}, k=3)
    path = tc.anonymize(PEOPLE, policy).write(tmp_path / "release.csv")[0]
    found = tc.explain(path, replace(policy, k=7))
    assert found.released
    assert (
        "This is a release. To make another one that satisfies the policy, use the command tclose anonymize on the raw table."
        in str(found).splitlines()
    )


def test_a_table_that_satisfies_its_policy_shows_the_nearest_classes_and_suggests_nothing() -> None:
    found = tc.explain(PEOPLE, tc.Policy([tc.Quasi("ward", hierarchy=WARDS)], {"disease": 0.6}, k=2), n=2)
    assert found.satisfied
    assert (len(found.classes), found.suggestions, found.infeasible) == (2, [], None)
    assert "The classes that are farthest from the table" in str(found)


def test_what_json_has_adds_up() -> None:
    found = tc.explain(PEOPLE, tc.Policy([tc.Quasi("ward", hierarchy=WARDS)], {"disease": 0.1}, k=2))
    facts = json.loads(found.to_json())
    assert facts["internal"] is True
    for one in facts["classes"]:
        assert sum(Fraction(move["cost_exact"]) for move in one["moves"]) == Fraction(one["distance_exact"])
    assert {suggestion["kind"] for suggestion in facts["suggestions"]} == {"coarser", "limit", "suppress"}


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "5"])
def test_n_is_a_whole_number_from_1_on(n: Any) -> None:
    with pytest.raises(tc.PolicyError, match="n must be a whole number from 1 on"):
        tc.explain(PEOPLE, tc.Policy(["ward"], {"disease": 0.1}), n)


def test_the_kind_of_a_table_does_not_matter(tmp_path: Path) -> None:
    policy = tc.Policy(["age", "ward"], {"disease": 0.3}, k=2)
    texts = {
        str(tc.explain(contain(kind, PEOPLE.to_pydict(), tmp_path), policy)) for kind in ("pyarrow", "csv", "parquet", "polars")
    }
    assert len(texts) == 1


# Adult -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.needs_data
def test_adult_hours_with_the_classes_of_mondrian(data: Path) -> None:
    import pyarrow.csv as pv

    table = pv.read_csv(data / "adult.csv").slice(0, 3000)
    quasi = ["age", tc.Quasi("sex"), tc.Quasi("marital-status", hierarchy=data / "hierarchies" / "marital-status.csv")]
    loose, strict = (tc.Policy(quasi, {"hours-per-week": t}, k=5, other="drop") for t in (0.2, 0.05))
    release = tc.anonymize(table, loose, algorithm="mondrian").table
    found = tc.explain(release, strict)
    hours = Counter(release["hours-per-week"].to_pylist())
    assert len(found.classes) == 5
    rows = release.to_pylist()
    for one in found.classes:
        inside = [
            row for row in rows if ", ".join(f"{name} {row[name]}" for name in ("age", "sex", "marital-status")) == one.people
        ]
        own = Counter(row["hours-per-week"] for row in inside)
        assert tc.emd(own, hours, exact=True) == one.distance
        plan = tc.transport(own, hours)
        assert sorted((str(move.source), str(move.target), move.mass) for move in plan) == sorted(
            (move.source, move.target, move.mass) for move in one.moves
        )
    follow(release, strict, found)
    assert any(isinstance(one, Suppression) for one in found.suggestions)


def test_limits_in_steps_are_models() -> None:
    from tclose.policy.models import MODELS

    assert set(IN_STEPS) <= MODELS.keys()
