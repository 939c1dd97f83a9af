"""tc.propose: who is singled out, which roles are proposed, and that every proposal can be used as it is."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow.csv import write_csv
from ruamel.yaml import YAML

import tclose as tc
from tclose.columns.persons import FEWEST_COLUMNS, NEARLY_SAME
from tclose.policy.fields import CONTEXT
from tclose.policy.proposed import is_unconfirmed
from tclose.release.detail import DetailLost
from tclose.release.hospital import hospital
from tclose.study.propose import costs, singling
from tclose.study.propose.columns import ALONE, columns_of
from tclose.study.propose.commented import (
    cost_table,
    costs_in_short,
    dangers,
    flow,
    in_words,
    loss_in_short,
    loss_of_hierarchies,
    scalar,
    uncounted,
    what_costs_mean,
    why_in_short,
    worst_dangers,
)
from tclose.study.propose.costs import Cost
from tclose.study.propose.hierarchies import _other_ways
from tclose.study.propose.inputs import read_as_needed
from tclose.study.propose.limited import hardly_limited
from tclose.study.propose.offered import Offered
from tclose.study.propose.persons import SEVERAL_ROWS, share_like_the_row_before
from tclose.study.propose.roles import assign_roles
from tclose.study.propose.sensitive import BINS_OF_REST, Commonest
from tclose.study.propose.singling import SingledOut
from tclose.study.propose.words import suggests_sensitive, tells_nothing
from tclose.values.bins import Bins
from tests.naive.singling import singled_out
from tests.support.examples import examples
from tests.support.people import YEARS
from tests.support.releases import FEW


def table_of(rows: list[list[str]]) -> pa.Table:
    header, *cells = rows
    return pa.table({name: [row[index] for row in cells] for index, name in enumerate(header)})


def written(folder: Path, rows: list[list[str]], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    path = folder / "people.csv"
    path.write_text("\n".join(delimiter.join(row) for row in rows) + "\n", encoding=encoding)
    return path


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    table = table_of(hospital(600)).drop_columns(["admitted", "icd10"])
    return table.set_column(2, "age", table["age"].cast(pa.int64())).set_column(7, "cost", table["cost"].cast(pa.int64()))


@pytest.fixture(scope="module")
def proposed(visits: pa.Table) -> tc.Proposal:
    return tc.propose(visits)


# --- who is singled out ---------------------------------------------------------------------------------------------------


def test_three_people_by_hand() -> None:
    age, sex = np.array([30, 30, 41]), np.array([0, 1, 1])
    assert singling.count_singled_out([(age, 42)]) == 1
    assert singling.count_singled_out([(age, 42), (sex, 2)]) == 3
    assert singling.count_singled_out([(age, 42)], persons=np.array([7, 7, 8])) == 3


@given(st.data())
@settings(max_examples=examples(100))
def test_counts_are_those_of_the_twin(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 30))
    columns = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=rows, max_size=rows), min_size=1, max_size=4))
    size = data.draw(st.sampled_from([4, 100, 2**40]))  # in a table of all keys, sorted, and renumbered
    persons = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 5), min_size=rows, max_size=rows)))
    found = singling.count_singled_out(
        [(np.array(column), size) for column in columns], None if persons is None else np.array(persons)
    )
    assert found == singled_out(list(zip(*columns, strict=True)), list(range(rows)) if persons is None else persons)


def test_every_column_and_every_set_of_two_or_three_is_counted(visits: pa.Table, proposed: tc.Proposal) -> None:
    names = ["age", "sex", "zip", "profession", "marital", "cost", "diagnosis"]
    expected = {one for size in (1, 2, 3) for one in combinations(names, size)}
    assert {one.columns for one in proposed.singled_out} == expected
    persons = visits["patient"].to_pylist()
    for one in proposed.singled_out:
        rows = list(zip(*(visits[name].to_pylist() for name in one.columns), strict=True))
        owners: dict[Any, set[str]] = {}
        for row, person in zip(rows, persons, strict=True):
            owners.setdefault(row, set()).add(person)
        assert (one.rows, one.of, one.estimate) == (sum(len(owners[row]) == 1 for row in rows), 600, False)
    shares = [one.share for one in proposed.singled_out if len(one.columns) == 3]
    assert shares == sorted(shares, reverse=True)


def test_a_list_of_sets_that_is_cut_says_so(proposed: tc.Proposal) -> None:
    some = {size: [one for one in proposed.singled_out if len(one.columns) == size and one.rows] for size in (1, 2, 3)}
    by_themselves = {one.columns[0] for one in some[1] if one.share >= ALONE}
    sets = {size: [one for one in some[size] if by_themselves.isdisjoint(one.columns)] for size in (2, 3)}
    said = dangers(proposed, 1)
    listed = [sentence for sentence in said if "together single out" in sentence]
    assert (len(listed), [f"{in_words(sets[size][0])}." in listed for size in (2, 3)]) == (4, [True, True])
    (cut,) = [sentence for sentence in said if sentence.startswith("These are the worst: ")]
    counted = {size: sum(len(one.columns) == size for one in proposed.singled_out) for size in (1, 2, 3)}
    assert (counted, len(some[1]), sum(len(found) for found in sets.values()) > 4) == ({1: 7, 2: 21, 3: 35}, 2, True)
    assert cut == (
        f"These are the worst: in all, 2 of the 7 columns single out somebody, {len(some[2])} of the 21 sets of two and "
        f"{len(some[3])} of the 35 sets of three. For one column, see its comment."
    )
    everything = dangers(proposed, 1_000)
    assert {f"{in_words(one)}." for one in sets[2]} - set(everything) <= {
        f"{in_words(one)}." for one in sets[2] if {"cost", "diagnosis"} & set(one.columns)
    }
    text = " ".join(proposed.to_yaml().replace("\n#     ", " ").split())
    assert all(sentence in text for sentence in dangers(proposed))


def test_the_screen_has_the_worst_set_of_each_size(proposed: tc.Proposal) -> None:
    said, everything = worst_dangers(proposed), dangers(proposed, 1_000)
    assert all(sentence in everything for sentence in said[:-1])
    found = [sentence for sentence in said[:-1] if " single" in sentence]
    for size, sentence in enumerate(found, 1):  # of columns that others may know, where there is such a set
        own = [one for one in proposed.singled_out if len(one.columns) == size and f"{in_words(one)}." in everything]
        known = [one for one in own if not {"cost", "diagnosis"} & set(one.columns)] or own
        assert sentence == f"{in_words(max(known, key=lambda one: one.rows))}."
    (cut,) = [sentence for sentence in dangers(proposed, 1) if sentence.startswith("These are the worst: ")]
    assert said[-1] == cut.replace("For one column, see its comment.", "The file has more.")
    nobody = [one._replace(rows=0) for one in proposed.singled_out]
    assert worst_dangers(replace(proposed, singled_out=nobody)) == dangers(replace(proposed, singled_out=nobody))
    one = [proposed.singled_out[0]._replace(rows=7)]
    assert len(worst_dangers(replace(proposed, singled_out=one))) == 2  # nothing more in the file
    counted = [SingledOut(columns, rows, 600, estimate=False) for columns, rows in ((("a",), 9), (("b",), 0), (("a", "b"), 90))]
    many = [
        *counted,
        *(SingledOut((f"c{number}",), 0, 600, estimate=False) for number in range(19)),
        SingledOut(("b", "c1"), 9, 600, estimate=False),
    ]
    assert worst_dangers(replace(proposed, singled_out=many))[-1] == (
        "These are the worst: in all, 1 of the 21 columns singles out somebody and 2 of the 2 sets of two. Sets were counted of the "
        "20 columns that single out most. The file has more."
    )


def test_what_a_screen_says_of_costs_and_columns(proposed: tc.Proposal) -> None:
    assert costs_in_short(proposed) == (
        "Tried on all rows. GCP is the information loss (without zip); below a sensitive column: the largest share of one value in "
        "a class."
    )
    refused = [Cost(t, None, None, "No release.", {}) for t in (0.1, 0.2, 0.3)]
    assert costs_in_short(replace(proposed, rows=700, costs=refused)) == (
        "Tried on a sample of 600 rows. GCP is the information loss (without zip)."
    )
    assert why_in_short(proposed, "quasi", "age").endswith(" different. In ranges.")
    assert why_in_short(replace(proposed, instead={"age": {}}), "quasi", "age").endswith(" different. By its file.")
    assert why_in_short(proposed, "sensitive", "cost").endswith(" different. bins: 10.")
    assert why_in_short(proposed, "identifiers", "name").endswith("By its name it identifies persons.")


def test_counts_of_a_sample_are_marked_and_do_not_depend_on_the_order(monkeypatch: pytest.MonkeyPatch, visits: pa.Table) -> None:
    monkeypatch.setattr(singling, "MOST_ROWS", {1: None, 2: 300, 3: 100})
    monkeypatch.setattr(costs, "LIMITS", (0.3,))
    shuffled = visits.take(np.random.default_rng(1).permutation(len(visits)))
    for table in (visits, visits.drop_columns(["patient", "name"])):
        other = shuffled.select(table.column_names)
        found = tc.propose(table)
        assert found.singled_out == tc.propose(other).singled_out
        assert {(len(one.columns), one.estimate) for one in found.singled_out} == {(1, False), (2, True), (3, True)}
        assert all(one.of <= {1: 600, 2: 300, 3: 100}[len(one.columns)] for one in found.singled_out)
        assert "an estimate" in found.to_yaml()


# --- roles ----------------------------------------------------------------------------------------------------------------


def test_the_hospital(proposed: tc.Proposal) -> None:
    policy = proposed.policy
    assert (policy.unit, policy.identifiers, policy.k) == ("patient", ["patient", "name"], 5)
    assert [(column.name, column.snap, column.hierarchy) for column in policy.quasi] == [
        ("age", "auto", None),
        ("sex", None, None),
        ("zip", None, "prefixes"),
        ("profession", None, None),
        ("marital", None, None),
    ]
    assert [(column.name, float(column.t), column.l) for column in policy.sensitive] == [("cost", 0.2, 2), ("diagnosis", 0.2, 2)]
    assert [cost.t for cost in proposed.costs] == [0.1, 0.2, 0.3]
    assert all(cost.gcp is not None and 0 < cost.gcp < 1 and cost.refusal is None for cost in proposed.costs)


def test_the_file_of_the_hospital_is_for_a_steward_and_quotes_nobody(proposed: tc.Proposal, visits: pa.Table) -> None:
    text = proposed.to_yaml()
    together = next(one for one in proposed.singled_out if one.columns == ("age", "zip", "profession"))
    assert f"age, zip and profession together single out {100 * together.share:.1f}% of the rows" in text
    for sentence in ("GUESSED: check it first", "CHOOSE one for each column", "keep it internal"):
        assert sentence in " ".join(text.split("\n# "))
    lines = [line[1:].split() for line in text.splitlines()]
    head = lines.index(["t", "GCP", "classes", "cost", "diagnosis"])
    assert [row[:2] for row in lines[head + 1 : head + 6 : 4]] == [["one", "class"], ["raw", "table"]]
    assert [row[0] for row in lines[head + 2 : head + 5]] == ["0.1", "0.2", "0.3"]
    assert max(map(len, text.splitlines())) <= 120
    for name in ("patient", "name", "zip", "profession", "diagnosis"):
        assert not [cell for cell in set(visits[name].to_pylist()) if cell in text], name


def test_the_costs_have_a_yardstick(proposed: tc.Proposal, visits: pa.Table) -> None:
    """With one class of everybody a share is that of the table; in a class it is no smaller."""
    header, whole, *rows, raw = cost_table(proposed.costs)
    for place, name in ((3, "cost"), (4, "diagnosis")):
        counts = pc.value_counts(visits[name]).field("counts").to_pylist()
        if name == "diagnosis":  # costs are in bins
            assert whole[place] == f"{100 * max(counts) / len(visits):.1f}%"
        shares = [float(row[place].rstrip("%")) for row in rows]
        assert all(share >= float(whole[place].rstrip("%")) for share in shares)
    assert (header[:3], whole[:3], raw[:2]) == (["t", "GCP", "classes"], ["one class", "1.000", "1"], ["raw table", "0.000"])


def test_the_cost_of_the_proposed_t_is_that_of_the_release(proposed: tc.Proposal, visits: pa.Table) -> None:
    """All 600 rows were tried: init, the screen of anonymize, the certificate and the report have one figure."""
    release = tc.anonymize(visits, proposed.policy)
    assert proposed.costs[1].gcp == release.certificate["loss"]["gcp"] == DetailLost.of(release).overall
    assert DetailLost.of(release).against_input == ("zip",)  # by prefixes, of which no reader can compute the loss
    told = "GCP leaves out zip: no reader of a release can compute how much is lost there."
    assert uncounted(proposed) == told
    assert f"# {told}" in proposed.to_yaml().splitlines()
    assert uncounted(tc.propose(visits.drop_columns(["zip"]))) == ""


def test_the_file_says_what_moving_a_column_and_more_t_mean(proposed: tc.Proposal, monkeypatch: pytest.MonkeyPatch) -> None:
    head = " ".join(proposed.to_yaml().replace("\n#     ", " ").split())
    assert "When you move a column there, replace what stands after its name by {t: 0.2, l: 2}, or by what a question" in head
    assert "\n# A larger t need not mean more classes.\n" in proposed.to_yaml()
    sample = "\n# A larger t need not mean more classes, and the whole table has more classes than the sample.\n"
    assert sample in replace(proposed, rows=700).to_yaml()


def test_intervals_are_no_finer_than_the_grid() -> None:
    """Steps of 2, because few have 14 or more of 20: intervals of 1 would name them."""
    amounts = [number / 4 for number in range(40) for _ in range(1 + number % 4)] + [19.75] * 5
    column = columns_of(read_as_needed(pa.table({"amount": amounts})).source)[0]
    for step, said in (
        (None, "Or hierarchy: {intervals: [1, 2, 4]}."),
        (Fraction(1), "Or hierarchy: {intervals: [1, 2, 4]}."),
        (Fraction(2), "Or hierarchy: {intervals: [2, 4]}."),
        (Fraction(5), ""),
    ):
        assert _other_ways(column, step) == ([said] if said else [])


def test_refused_costs_have_no_shares() -> None:
    refused = [Cost(t, None, None, "No release.", {}) for t in (0.1, 0.2, 0.3)]
    assert cost_table(refused)[2] == ["0.1", "refused", ""]
    assert what_costs_mean(refused) == [what_costs_mean(refused)[0]]


def test_bins_that_become_fewer_are_told() -> None:
    """70% have no debt: of four bins of equally many rows, two would begin within them."""
    text = " ".join(tc.propose(skewed(140, list(range(1, 61)))).to_yaml().replace("\n  # ", " ").split())
    assert "And bins: 4, of which it has one for itself" in text
    assert "On this table they are 3 bins, because rows with the same value share a bin; bins: 3 would make 2." in text
    assert "So it is right that anonymize tells of 3 bins, not 4." in text
    found = tc.propose(skewed(156, list(range(1, 45))))  # 78%: two bins, as many as bins: 2 makes
    assert found.policy.to_dict()["sensitive"]["debt"] == {"t": 0.2, "l": 2, "distance": "equal", "bins": 2}
    assert "And bins: 2, of which it has one for itself" in " ".join(found.reasons["debt"])
    assert "anonymize tells" not in found.to_yaml()
    text = " ".join(tc.propose(skewed(0, [7 * number for number in range(200)])).to_yaml().split())
    assert "bins: 10" in text
    assert "On this table they are" not in text


def test_columns_that_are_refused_or_useless_have_a_role_and_a_reason() -> None:
    rows = 120
    people = pa.table(
        {
            "nothing": pa.nulls(rows, pa.string()),
            "country": ["CH"] * rows,
            "serial": [10_000 + 7 * number for number in range(rows)],
            "amount": [number**3 for number in range(rows)],
            "e-mail": [f"a{number // 2}@b.org" for number in range(rows)],
            "note": [f"came by bus on day {number % 40} and was well" for number in range(rows)],
            "code": [f"x{number % 70}" for number in range(rows)],
            "weight": [float("inf") if number == 4 else number / 7 for number in range(rows)],
            "list": [[number] for number in range(rows)],
            "seen": [date(2020, 1, 1) + timedelta(days=number) for number in range(rows)],
            "ill": ["flu", "gout", None] * 40,
        }
    )
    found = tc.propose(people)
    policy = found.policy
    assert policy.identifiers == ["serial"]
    assert [column.name for column in policy.keep] == ["country"]
    assert policy.drop == ["nothing", "e-mail", "note", "code", "weight", "list"]
    assert [(column.name, column.snap) for column in policy.quasi] == [("amount", "auto"), ("seen", "auto")]
    assert [(column.name, column.missing) for column in policy.sensitive] == [("ill", "value")]
    assert "make it an identifier" in " ".join(found.reasons["amount"])
    assert "set it as unit" in " ".join(found.reasons["e-mail"])
    assert set(found.reasons) == set(people.column_names)
    tc.anonymize(people, policy)


def test_without_a_hint_the_last_column_is_guessed_and_the_file_says_so() -> None:
    found = tc.propose(pa.table({"a": [1, 2, 1, 2, 1, 2], "b": ["x", "y", "y", "x", "x", "y"]}))
    assert [column.name for column in found.policy.sensitive] == ["b"]
    assert "the last one is often" in found.to_yaml()
    heading = " ".join(found.to_yaml().replace("\n#", " ").split())
    assert "Which columns are sensitive? No name suggests one: b, the last column, only stands in for it. Ask of each" in heading


def test_columns_that_tell_the_same_are_named() -> None:
    found = tc.propose(table_of(hospital(300)).select(["age", "zip", "diagnosis", "icd10"]))
    assert "It tells the same as diagnosis: publish one of them." in found.reasons["icd10"]
    assert "It tells the same as icd10: publish one of them." in found.reasons["diagnosis"]
    assert not [name for name in ("age", "zip") if "the same as" in " ".join(found.reasons[name])]
    assert [sentence for sentence in found.decisions if "tell the same" in sentence] == [
        "Are both diagnosis and icd10 needed? They tell the same. Each of them needs limits, which cost detail: one may do."
    ]
    table = table_of(hospital(300)).select(["age", "diagnosis", "icd10"])
    assert (
        "Is icd10 to be published? It tells the same as diagnosis, which nobody should learn: name it in drop, or give it limits "
        "of its own in sensitive." in tc.propose(table, sensitive="diagnosis").decisions
    )
    assert any(
        sentence.startswith("Are both diagnosis and icd10 needed? They tell the same. What they tell counts twice")
        for sentence in tc.propose(table, sensitive="age").decisions
    )


def test_words_that_may_mean_no_value_are_named() -> None:
    found = tc.propose(pa.table({"age": [1, 2] * 4, "work": ["?", "?", "x", "y"] * 2, "ill": ["none", "flu"] * 4}))
    assert "4 rows have '?': if that means no value, name it in input: {missing: [...]}." in found.to_yaml().replace(
        "\n  # ", " "
    )


def test_names_that_are_guessed() -> None:
    strong = ["diagnosis", "ICD10", "FEDTAX", "income", "salary-class", "religious", "naffairs", "hlthg", "disea", "vote"]
    assert {name: suggests_sensitive(name) for name in strong} == dict.fromkeys(strong, 2)
    none = ["age", "zip", "sex", "city", "height", "date of birth", "weight", "price"]
    assert {name: suggests_sensitive(name) for name in none} == dict.fromkeys(none, 0)


def test_abbreviations_are_whole_words() -> None:
    strong = ["dx", "BMI_2", "hinc", "num_claims", "smoker", "polIdeology"]
    assert {name: suggests_sensitive(name) for name in strong} == dict.fromkeys(strong, 2)
    weak = ["hosp", "los", "doctor_visits", "jobSatisfaction"]  # others may know these, too
    assert {name: suggests_sensitive(name) for name in weak} == dict.fromkeys(weak, 1)
    none = ["loss", "province", "inclination", "saloon", "payload"]
    assert {name: suggests_sensitive(name) for name in none} == dict.fromkeys(none, 0)


def test_names_that_tell_nothing() -> None:
    nothing = ["mdvis", "lpi", "V0012", "q7_b", "TVnews", "selfLR", "PID", "capacity", "agio"]
    assert [name for name in nothing if not tells_nothing(name)] == []
    telling = ["age", "Age2", "yrs_married", "educ", "hours-per-week", "nativeCountry", "zip", "diagnosis", "hlthg", "score"]
    assert [name for name in telling if tells_nothing(name)] == []


def test_what_a_column_holds_is_asked_if_its_name_tells_nothing() -> None:
    """Only where sensitive columns are guessed: who named them has looked."""
    table = pa.table({
        "age": [20 + row % 9 for row in range(60)], "mdvis": [row % 7 for row in range(60)], "lnc": [row % 3 / 2 for row in range(60)],
        "illness": ["flu", "gout"] * 30,
    })  # fmt: skip
    found = tc.propose(table)
    (asked,) = [sentence for sentence in found.decisions if "no word that tclose knows" in sentence]
    assert asked.startswith(
        "What do mdvis and lnc hold? Their names have no word that tclose knows, so they stand in quasi until"
    )
    decide = "Its name tells nothing: DECIDE its role, see above."
    assert [name for name, said in found.reasons.items() if decide in said] == ["mdvis", "lnc"]
    assert not any("no word" in sentence for sentence in tc.propose(table, sensitive="illness").decisions)
    one = tc.propose(table.drop_columns(["lnc"]))
    assert one.decisions[0].startswith(
        "What does mdvis hold? Its name has no word that tclose knows, so it stands in quasi until"
    )
    assert tc.propose(table.drop_columns(["lnc", "mdvis"])).decisions == ()


@pytest.mark.parametrize("form", [pa.float64(), pa.decimal128(21, 1), pa.int64()])
def test_whole_numbers_are_known_however_they_are_written(form: pa.DataType) -> None:
    """Programs write 7.0 for 7, above all where cells of a column are missing: persons and rows are still known by them."""
    rows = range(120)
    table = pa.table({
        "person": pa.array([7 + row // 2 for row in rows]).cast(form), "number": pa.array([10_000 + 90 * row for row in rows]).cast(form),
        "age": [30 + row // 2 % 20 for row in rows], "sex": ["fm"[row // 2 % 2] for row in rows], "ill": ["flu", "gout", "cold"] * 40,
    })  # fmt: skip
    found = tc.propose(table)
    assert (found.policy.unit, found.policy.identifiers) == ("person", ["person", "number"])
    assert found.reasons["person"][0].startswith(
        "Whole numbers, " if form == pa.int64() else "Whole numbers written as decimals, "
    )
    tc.anonymize(table, found.policy)


def test_a_column_without_a_name_is_no_twin_of_another() -> None:
    tc.propose(pa.table({"name": [None, None, None, 0.5], "": [0, 1, 2, 3]}))


@pytest.mark.parametrize("columns", [{"a": [1, 2, 3]}, {"a": [1, 1], "b": [2, 2]}, {"id": list(range(9)), "x": [0, 1, 2] * 3}])
def test_a_table_without_two_columns_for_a_policy_is_refused(columns: dict[str, list[int]]) -> None:
    with pytest.raises(tc.InputError, match="needs a quasi-identifier, which others may know, and a sensitive column"):
        tc.propose(pa.table(columns))


# --- sensitive numbers ----------------------------------------------------------------------------------------------------


def skewed(zeros: int, others: list[int]) -> pa.Table:
    """A table of ages and debts: some have none, the others one each."""
    debts = [0] * zeros + others
    return pa.table({"age": [20 + 7 * number % 40 for number in range(len(debts))], "debt": debts})


def commonest(values: list[Any]) -> Commonest:
    return Commonest.of(columns_of(read_as_needed(pa.table({"debt": values})).source)[0])


def test_how_near_a_class_with_all_or_none_of_a_value_can_be_by_hand() -> None:
    # 6 of 10 have 0, the others 1, 2, 3 and 4. Nobody: 6/10 move one of 4 steps. Everybody: 1 + 2 + 3 + 4 steps of 4, of 10 rows.
    found = commonest([0] * 6 + [1, 2, 3, 4])
    assert (found.share, found.values, found.missing) == (Fraction(6, 10), 5, False)
    assert (found.nobody, found.everybody) == (Fraction(6, 40), Fraction(10, 40))
    assert found.passing == ["a class in which nobody has it may have a distance of 0.150"]
    missing = commonest([1, 2, 3] + [None] * 7)
    assert (missing.missing, missing.nobody, missing.everybody) == (True, Fraction(7, 30), Fraction(6, 30))
    assert missing.passing == ["a class in which everybody has it has a distance of 0.200"]  # t is not exceeded
    assert commonest([0] * 4 + [1, 2, 3, 4, 5, 6]).passing == []  # less than half
    assert commonest([0] * 9 + [1]).passing == []  # two values are as far apart as can be in any case


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30))
def test_the_nearest_class_without_the_commonest_value_is_as_near_as_said(values: list[int]) -> None:
    found = [value for value in sorted(set(values)) for _ in range(values.count(value))]
    if len(set(found)) < 2:
        return
    own, domain = commonest(found), sorted(set(found))
    counts = [found.count(value) for value in domain]
    common = counts.index(max(counts))
    moved = list(counts)
    moved[common + 1 if common + 1 < len(domain) else common - 1] += moved[common]
    moved[common] = 0
    everybody = [int(index == common) for index in range(len(domain))]
    assert tc.emd(moved, counts, exact=True) == own.nobody
    assert tc.emd(everybody, counts, exact=True) == own.everybody


@pytest.mark.parametrize(
    ("people", "settings", "bounds"),
    [
        (skewed(140, list(range(1, 61))), {"distance": "equal", "bins": 4}, "from 50.0% to 90.0%"),  # 70%, many other values
        (skewed(180, list(range(1, 21))), {"distance": "equal"}, "from 70.0% to less than 100%"),  # 90%
        (skewed(150, [1] * 30 + [2] * 10 + [3] * 10), {"distance": "equal"}, "from 55.0% to 95.0%"),  # few other values
    ],
)
def test_the_share_of_a_value_that_most_have_is_bounded_in_each_class(
    people: pa.Table, settings: dict[str, Any], bounds: str
) -> None:
    found = tc.propose(people)
    assert found.policy.to_dict()["sensitive"]["debt"] == {"t": 0.2, "l": 2, **settings}
    text = " ".join(found.to_yaml().replace("\n  # ", " ").split())
    assert f"its share is {bounds} in each class" in text
    share = 100 * people["debt"].to_pylist().count(0) / len(people)
    assert f"{share:.1f}% of the rows have the same value. The values have an order" in text
    assert f"4. Is debt limited as you want it? {share:.1f}% of the rows have the same value." in text
    release = tc.anonymize(people, found.policy)
    debts, classes = np.array(people["debt"].to_pylist()), np.array(release.partition)
    for number in set(classes.tolist()):
        assert abs((debts[classes == number] == 0).mean() - share / 100) <= 0.2 + 1e-12


@given(st.integers(0, 30), st.integers(0, 30), st.data())
def test_among_four_bins_a_value_that_half_of_the_rows_have_has_its_own(below: int, above: int, data: st.DataObject) -> None:
    counts = [1] * below + [data.draw(st.integers(max(1, below + above), 3 * (below + above) + 1))] + [1] * above
    labels = Bins(count=BINS_OF_REST).labels([Fraction(number) for number in range(len(counts))], counts)
    assert labels.count(labels[below]) == 1


def test_dates_that_most_rows_share_get_a_warning_and_no_bins() -> None:
    days = [date(2020, 1, 1)] * 120 + [date(2020, 1, 2) + timedelta(days=number) for number in range(80)]
    found = tc.propose(pa.table({"age": [20 + number % 9 for number in range(200)], "diagnosed": days}))
    assert found.policy.to_dict()["sensitive"] == {"diagnosed": {"t": 0.2, "l": 2}}
    assert "60.0% of the rows have the same value." in " ".join(found.reasons["diagnosed"])
    assert "distance: equal would prevent that" in found.reasons["diagnosed"][-1]


def test_numbers_that_nearly_each_row_has_for_itself_are_published_in_bins() -> None:
    salaries = [1000 + 7 * number for number in range(60)]
    found = tc.propose(pa.table({"age": [20 + number % 9 for number in range(60)], "salary": salaries}))
    assert found.policy.to_dict()["sensitive"] == {"salary": {"t": 0.2, "l": 2, "bins": 10}}
    assert "100.0% of the rows have a number that fewer than 5 rows have" in " ".join(found.reasons["salary"])
    few = tc.propose(pa.table({"age": [20 + number % 9 for number in range(20)], "salary": salaries[:20]}))
    assert few.policy.to_dict()["sensitive"] == {"salary": {"t": 0.2, "l": 2, "bins": 4}}  # about k rows in each


def test_numbers_that_fewer_than_k_rows_share_are_published_in_bins_if_most_rows_have_one() -> None:
    """Of 200 rows 96, or 100, have a number that four rows have; the others have one of two that many have."""
    for some, bins in ((24, None), (25, 8)):
        salaries = [1000 + 7 * number for number in range(some) for _ in range(4)]
        salaries = [*salaries[: 4 * some], *([5000, 6000] * 100)[: 200 - 4 * some]]
        found = tc.propose(pa.table({"age": [20 + number % 9 for number in range(200)], "salary": salaries}))
        settings = found.policy.to_dict()["sensitive"]["salary"]
        assert ("bins" in settings) == (bins is not None)
    assert "50.0% of the rows have a number that fewer than 5 rows have" in " ".join(found.reasons["salary"])


# --- columns that t hardly limits -----------------------------------------------------------------------------------------


def tried(share: float, in_table: float, name: str = "score") -> list[Cost]:
    return [Cost(t, 0.5, 9, None, {name: (share, in_table)}) for t in (0.1, 0.2, 0.3)]


@pytest.mark.parametrize(
    ("share", "in_table", "asked"),
    [
        (0.85, 0.118, True),
        (2 / 3, 0.26, True),
        (0.6, 0.1, False),  # three of five rows, the smallest class
        (0.85, 0.45, False),  # twice t above the table, and no more
        (0.0, 0.0, False),  # no release was made
    ],
)
def test_what_t_hardly_limits_is_asked_about(share: float, in_table: float, asked: bool) -> None:
    people = pa.table({"age": [20 + row % 9 for row in range(240)], "score": [row % 24 for row in range(240)]})
    columns = columns_of(read_as_needed(people).source)
    assigned = assign_roles(columns, None, 5, ["score"])
    found = list(hardly_limited(assigned, tried(share, in_table)))
    assert [name for name, _ in found] == ["score"] * asked
    assert not list(hardly_limited(assigned, tried(share, in_table, "age")))
    assert not list(hardly_limited([replace(one, decide="Asked.") for one in assigned], tried(share, in_table)))  # not twice
    if share == 0.85 and asked:
        assert found[0][1] == (
            "Is score limited as you want it? In the trial at t = 0.2 one value has up to 85.0% of a class, and 11.8% of all rows. "
            "The values have an order, in which a change to values close by counts little. distance: equal allows at most 31.8%, "
            "and costs more detail: write {t: 0.2, l: 2, distance: equal} after its name. bins: 10 beside it costs less: then "
            "ranges of numbers are limited so."
        )


def test_what_to_write_without_a_hierarchy_and_with_bins(folder: Path) -> None:
    (folder / "diagnosis.csv").write_text("flu;lung;*\nasthma;lung;*\ngout;joint;*\n")
    people = people_of().append_column("cost", [[7 * number for number in range(120)]])
    columns = columns_of(read_as_needed(people).source)
    assigned = assign_roles(columns, None, 5, ["diagnosis", "cost"], Offered.of(folder))
    shares = {"diagnosis": (0.9, 0.3), "cost": (0.9, 0.1)}
    (tree, bins) = (question for _, question in hardly_limited(assigned, [Cost(0.2, 0.5, 9, None, shares)]))
    assert "In its hierarchy a change to values close by counts little. Without its hierarchy all are equally far apart" in tree
    assert "at most 50.0%, and costs more detail: write {t: 0.2, l: 2} after its name." in tree
    assert "one range has up to 90.0% of a class" in bins
    assert bins.endswith("write {t: 0.2, l: 2, bins: 10, distance: equal} after its name.")


def test_a_column_that_t_hardly_limits_is_asked_about_once_in_the_file() -> None:
    """A class in which most have the greatest of many scores is near to the table: the next scores are near."""
    random = np.random.default_rng(0)
    ages = random.integers(0, 12, 2000)
    scores = np.where(random.random(2000) < 0.9, ages + 8, random.integers(0, 40, 2000))
    found = tc.propose(pa.table({"age": 20 + 3 * ages, "score": scores}), sensitive="score")
    share, in_table = found.costs[1].shares["score"]
    assert share > 2 / 3 > in_table + 0.4
    (asked,) = found.decisions
    assert asked.startswith(f"Is score limited as you want it? In the trial at t = 0.2 one value has up to {100 * share:.1f}%")
    assert "\n#   4. Is score limited as you want it?" in found.to_yaml()
    assert "Is it limited as you want it? DECIDE, see above." in found.reasons["score"]
    mended = replace(found.policy, sensitive=[replace(found.policy.sensitive[0], distance="equal")])
    people = pa.table({"age": 20 + 3 * ages, "score": scores})
    assert tc.anonymize(people, mended).audit.sensitive["score"].share <= in_table + 0.2


def test_amounts_are_for_their_owner_to_decide() -> None:
    rows = 400
    found = tc.propose(
        pa.table(
            {
                "age": [18 + number * 7 % 80 for number in range(rows)],
                "plz": [8000 + number % 350 for number in range(rows)],  # codes that few share, and no amounts
                "rent": [500 + number * number for number in range(rows)],
                "ill": ["flu", "gout", "asthma", "flu"] * (rows // 4),
            }
        )
    )
    assert [(column.name, column.snap) for column in found.policy.quasi] == [("age", "auto"), ("plz", None), ("rent", "auto")]
    assert [name for name, reasons in found.reasons.items() if "DECIDE" in " ".join(reasons)] == ["rent"]
    assert len(found.decisions) == 1
    assert "\n#   4. Which role does rent have? Few rows share a number there" in found.to_yaml()
    assert found.decisions[0].count("rent") == 1  # it is no example of a role: it may be the weight of a survey
    settings = YAML(typ="safe", pure=True).load(found.decisions[0].partition("write ")[2].partition(" after")[0])
    tc.Policy(quasi=["age"], sensitive={"rent": settings})


def test_how_a_class_is_published_is_said_once_for_all_columns() -> None:
    ages = [20 + number % 60 for number in range(600)]
    people = pa.table({"age": ages, "hours": ages[::-1], "sex": ["f", "m"] * 300, "town": ["a", "b", "c"] * 200, "ill": ages})
    found = tc.propose(people, sensitive="ill")
    assert found.reasons["age"][1] == "In ranges, with steps of 1."
    assert found.reasons["hours"][1] == "In ranges, with steps of 1."
    assert found.reasons["sex"][1] == "In sets."
    text = " ".join(found.to_yaml().replace("\n# ", " ").split())
    for sentence in (
        "In ranges: a class is published as a range of whole steps; each step has 5 persons or more, or nobody.",
        "In sets: a class is published as the set of its values.",
    ):
        assert text.count(sentence) == 1
    assert "labels of the file" not in text  # no column has one


# --- what the owner brings ------------------------------------------------------------------------------------------------


def people_of(rows: int = 120) -> pa.Table:
    return pa.table(
        {
            "id": [f"P{number:04}" for number in range(rows)],
            "age": [20 + number * 7 % 41 for number in range(rows)],
            "job": [["nurse", "cook", "smith", "clerk"][number % 4] for number in range(rows)],
            "diagnosis": [["flu", "gout", "asthma"][number % 3] for number in range(rows)],
            "country": ["CH"] * rows,
        }
    )


def test_named_columns_are_sensitive_and_no_guess() -> None:
    found = tc.propose(people_of(), sensitive=["job", "job", "age"])
    assert [column.name for column in found.policy.sensitive] == ["age", "job"]  # in the order of the table, each once
    assert [column.name for column in found.policy.quasi] == ["diagnosis"]
    assert not found.guessed
    assert repr(found) == "<Proposal: 120 rows; quasi diagnosis; sensitive age, job>"
    text = found.to_yaml()
    assert "1. Which columns are sensitive? You named age and job: is that all?" in text
    assert "guess" not in text.lower()
    tc.anonymize(people_of(), found.policy)
    assert tc.propose(people_of(), sensitive="job").policy.sensitive[0].name == "job"
    assert tc.propose(people_of(), sensitive=[]).guessed


def test_a_named_column_is_taken_even_if_it_looks_like_an_identifier_or_a_unit() -> None:
    found = tc.propose(people_of(), sensitive="id")
    assert [column.name for column in found.policy.sensitive] == ["id"]
    assert "by which it can be recognised" in found.reasons["id"][-1]
    patients = pa.table({"patient": [number // 2 for number in range(60)], "age": [number // 2 % 9 for number in range(60)]})
    assert tc.propose(patients, sensitive="patient").policy.unit is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("jop", "Column 'jop' is not in the table. Did you mean 'job'?"),
        ("country", "Column 'country' is the same in every row: there is nothing to learn. Name another one."),
        ("list", "Column 'list'"),
    ],
)
def test_a_named_column_that_cannot_be_limited_is_refused(name: str, sentence: str) -> None:
    people = people_of().append_column("list", [[[number] for number in range(120)]])
    with pytest.raises(tc.InputError) as error:
        tc.propose(people, sensitive=["diagnosis", name])
    assert str(error.value).startswith(sentence)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Hierarchies: that of job fits, age lacks two, sex has no groups, diagnosis lacks one, and no column is called town."""
    found = tmp_path / "my trees"
    found.mkdir()
    (found / "job.csv").write_text("nurse;care;*\ncook;craft;*\nsmith;craft;*\nclerk;office;*\n")
    (found / "age.csv").write_text("".join(f"{age};{age // 10}0s;*\n" for age in range(22, 61)))
    (found / "sex.csv").write_text("f;*\nm;*\n")
    (found / "diagnosis.csv").write_text("flu;lung;*\nasthma;lung;*\n")
    (found / "town.csv").write_text("Bern;CH;*\n")
    (found / "notes.txt").write_text("not a hierarchy")
    return found


def test_hierarchies_that_fit_are_proposed_and_others_are_named_with_the_reason(folder: Path, tmp_path: Path) -> None:
    people = people_of().append_column("sex", [["f", "m"] * 60])
    found = tc.propose(people, sensitive="diagnosis", hierarchies=folder)
    settings = found.policy.to_dict(tmp_path)
    assert settings["quasi"] == {"age": {"snap": "auto"}, "job": {"hierarchy": "my trees/job.csv"}, "sex": None}
    assert settings["sensitive"] == {"diagnosis": {"t": 0.2, "l": 2}}
    reasons = {name: " ".join(sentences) for name, sentences in found.reasons.items()}
    assert "job.csv has all of its values, with 1 level of groups." in reasons["job"]
    assert "With a file: a class is published by the labels of the file's groups." in found.ways
    command = f"tclose hierarchy DATA age --file '{folder / 'age.csv'}'"  # quoted for the shell: it has a blank
    assert "age.csv does not fit: it lacks 2 of 41 values." in reasons["age"]
    assert "diagnosis.csv does not fit: it lacks 1 of 3 values." in reasons["diagnosis"]
    lines = found.to_yaml().splitlines()
    at = lines.index("#   5. age.csv does not fit: it lacks 2 of 41 values. This names them:")
    assert lines[at + 1] == f"#       {command}"
    lines = replace(found, data="raw data.csv").to_yaml().splitlines()
    assert lines[at + 1].startswith("#       tclose hierarchy 'raw data.csv' age --file")
    assert "sex.csv is not used: it has no groups" in reasons["sex"]
    assert found.decisions == ("Which column is town.csv for? No column in quasi or sensitive has its name.",)
    text = found.to_yaml(str(tmp_path / "policy.yaml"))
    assert "gout" not in text  # the value that is lacking


def test_what_the_hierarchies_cost_is_measured_and_told_if_it_is_more(folder: Path) -> None:
    found = tc.propose(people_of(), sensitive="diagnosis", hierarchies=folder)
    own, other = found.costs[1], found.without_hierarchies
    assert other is not None
    assert own.gcp is not None
    (age, job) = found.policy.quasi
    assert (age.snap, job.tree is None) == ("auto", False)
    release = tc.anonymize(people_of(), replace(found.policy, quasi=[age, tc.Quasi("job")]))
    assert other.gcp == release.certificate["loss"]["gcp"]
    more, less = (replace(found, without_hierarchies=other._replace(gcp=own.gcp + step)) for step in (0.1, -0.1))
    assert loss_of_hierarchies(more) == loss_in_short(more) == ""
    told = f"Without the files of hierarchies GCP would be {own.gcp - 0.1:.3f} at t = 0.2, not {own.gcp:.3f}."
    assert loss_of_hierarchies(less).startswith(told)
    assert loss_in_short(less) == f"{told.removesuffix('.')}: the file says what to write for that."
    assert loss_of_hierarchies(less).endswith("matters more to you than its labels, write nothing after the name of job.")
    both = replace(less, instead={"age": {"snap": "auto"}, "job": {}, "town": {}})
    end = "than its labels, write {snap: auto} in the place of the hierarchy of age, and nothing after the names of job and town."
    assert loss_of_hierarchies(both).endswith(end)
    assert told in " ".join(less.to_yaml().replace("\n# ", " ").split())
    assert tc.propose(people_of(), sensitive="diagnosis").without_hierarchies is None
    with (folder / "age.csv").open("a") as file:
        file.write("20;20s;*\n21;20s;*\n")
    fitting = tc.propose(people_of(), sensitive="diagnosis", hierarchies=folder)
    assert fitting.instead == {"age": {"snap": "auto"}, "job": {}}
    assert fitting.reasons["age"][-1] == (
        "Or snap: auto: ranges on a grid chosen from the values, which usually lose less than a hierarchy."
    )


def test_the_paths_of_hierarchies_start_at_the_folder_of_the_policy(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    found = tc.propose(people_of(), hierarchies="my trees")
    found.save("deep/policy.yaml")
    assert 'job: {hierarchy: "../my trees/job.csv"}' in Path("deep/policy.yaml").read_text()
    assert tc.Policy.load("deep/policy.yaml") == found.policy
    assert 'job: {hierarchy: "my trees/job.csv"}' in found.to_yaml()
    tc.anonymize(people_of(), tc.Policy.load("deep/policy.yaml"))
    with pytest.raises(tc.OutputError, match="is read as an input"):
        found.save("my trees/job.csv", force=True)
    absolute = replace(found, policy=tc.Policy.load(tmp_path / "deep" / "policy.yaml"))
    assert 'job: {hierarchy: "../my trees/job.csv"}' in absolute.to_yaml(str(tmp_path / "deep" / "other.yaml"))
    monkeypatch.chdir(tmp_path / "deep")
    given = tc.propose(people_of(), hierarchies=folder)  # an absolute path, and not below the folder of the policy
    assert f'job: {{hierarchy: "{folder / "job.csv"}"}}' in given.to_yaml()


def test_the_hierarchy_of_a_sensitive_column(folder: Path) -> None:
    (folder / "diagnosis.csv").write_text("flu;lung;*\nasthma;lung;*\ngout;joint;*\n")
    found = tc.propose(people_of(), sensitive=["age", "diagnosis"], hierarchies=folder)
    assert found.policy.sensitive[1].hierarchy.height == 2
    assert found.policy.sensitive[0].hierarchy is None
    assert "age.csv is not used: its whole numbers have an order" in " ".join(found.reasons["age"])
    release = tc.anonymize(people_of(), found.policy)
    assert release.audit.sensitive["diagnosis"].distance == "hierarchical"
    ill = pa.array([None, "flu", "gout"] * 40)
    missing = people_of().set_column(3, "diagnosis", ill)
    found = tc.propose(missing, sensitive="diagnosis", hierarchies=folder)
    assert found.policy.sensitive[0].hierarchy is None
    assert "it has no place for missing cells" in " ".join(found.reasons["diagnosis"])
    with (folder / "diagnosis.csv").open("a") as file:
        file.write(";unknown;*\n")
    found = tc.propose(missing, sensitive="diagnosis", hierarchies=folder)
    assert found.policy.sensitive[0].hierarchy is not None
    tc.anonymize(missing, found.policy)


def test_a_hierarchy_publishes_a_column_that_would_be_dropped(folder: Path) -> None:
    codes = [f"x{number % 70}" for number in range(120)]
    people = people_of().append_column("code", [codes])
    assert tc.propose(people).policy.drop == ["code"]
    (folder / "code.csv").write_text("".join(f"{code};{code[:2]};*\n" for code in sorted(set(codes)) if len(code) > 2))
    assert "code.csv does not fit: it lacks 10 of 70 values" in " ".join(tc.propose(people, hierarchies=folder).reasons["code"])
    (folder / "code.csv").write_text("".join(f"{code};_{code[:2]};*\n" for code in sorted(set(codes))))
    found = tc.propose(people, hierarchies=folder)
    assert "code" in [column.name for column in found.policy.quasi]
    tc.anonymize(people, found.policy)


def test_files_that_are_no_hierarchies_are_named_and_quote_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "job.csv").write_text("nurse;care;*\nnurse;craft;*\n")
    found = tc.propose(people_of(), hierarchies=folder)
    reason = found.reasons["job"][-1]
    assert reason == "job.csv is no hierarchy."
    assert ("job", "This says why:") in [(one.column, one.before) for one in found.misfits]
    assert "nurse" not in found.to_yaml()
    (tmp_path / "empty").mkdir()
    for path, sentence in (("none", "cannot be read. Check its path."), ("empty", "has no CSV files. A hierarchy is named")):
        with pytest.raises(tc.InputError, match=f"The folder of hierarchies .*{path}' {sentence}"):
            tc.propose(people_of(), hierarchies=tmp_path / path)


# --- how the file is written ----------------------------------------------------------------------------------------------


def test_what_the_file_needs_is_in_input(tmp_path: Path) -> None:
    rows = [["Größe", "geboren", "kosten", "dauer"]]
    for number in range(60):
        cost = "NA" if number == 7 else f"{number * 3},5"
        rows.append([str(150 + number % 40), f"{number % 28 + 1:02}.{number % 12 + 1:02}.1970", cost, str(number % 9)])
    path = written(tmp_path, rows, ";", "latin-1")
    found = tc.propose(path)
    assert found.policy.input == tc.Input(encoding="cp1252", decimal=",", dates="DD.MM.YYYY", missing=["NA"])
    assert "` reads" not in found.to_yaml()  # what the settings would do, where they stand already
    assert all("would be read as text" in reason for reason in found.input_reasons[1:])
    assert [(column.name, column.missing) for column in found.policy.sensitive] == [("kosten", "value")]
    assert "is a guess: look whether accents" in found.to_yaml()
    found.save(tmp_path / "policy.yaml")
    policy = tc.Policy.load(tmp_path / "policy.yaml")
    assert policy == found.policy
    release = tc.anonymize(path, policy)
    assert {name: reading.kind for name, reading in release.readings.items()} == {
        "Größe": "integer",
        "geboren": "date",
        "kosten": "decimal",
        "dauer": "integer",
    }


def test_thousands_beside_a_decimal_comma_stay_for_the_owner_to_decide(tmp_path: Path) -> None:
    rows = [["size", "cost", "debt"]] + [[str(number % 7), f"{number},5", f"{number + 1}.000"] for number in range(40)]
    found = tc.propose(written(tmp_path, rows, ";"))
    assert found.policy.input is None


def test_the_skeleton_of_the_context_has_every_topic_and_loads_when_it_is_filled_in(tmp_path: Path) -> None:
    text = tc.propose(people_of()).to_yaml()
    before, skeleton = text.split("# context:\n")
    assert [line.split(":")[0] for line in skeleton.splitlines()] == [f"#   {topic}" for topic in CONTEXT]
    bare = "\n".join(line.removeprefix("# ") for line in ["# context:", *skeleton.splitlines()])
    (tmp_path / "bare.yaml").write_text(before + bare)
    with pytest.raises(tc.PolicyError, match="leave out what is not stated"):  # no placeholder reaches a report
        tc.Policy.load(tmp_path / "bare.yaml")
    filled = bare.replace('""', "stated")
    (tmp_path / "policy.yaml").write_text(before + filled)
    assert list(tc.Policy.load(tmp_path / "policy.yaml").context) == list(CONTEXT)


def test_a_file_that_keeps_or_drops_nothing_has_a_list_to_fill_in(tmp_path: Path) -> None:
    found = tc.propose(people_of())
    text = found.to_yaml()
    assert text.count("\n# drop: []\n") == 1
    assert not found.policy.drop
    edited = "\n".join(line for line in text.splitlines() if not line.startswith("  job:")).replace("# drop: []", "drop: [job]")
    (tmp_path / "policy.yaml").write_text(edited)
    assert tc.Policy.load(tmp_path / "policy.yaml").drop == ["job"]
    nothing = tc.propose(people_of().drop_columns(["country"])).to_yaml()
    assert nothing.count("\n# keep: []\n") == 1
    edited = "\n".join(line for line in nothing.splitlines() if not line.startswith("  job:")).replace(
        "# keep: []", "keep: [job]"
    )
    (tmp_path / "policy.yaml").write_text(edited)
    assert [column.name for column in tc.Policy.load(tmp_path / "policy.yaml").keep] == ["job"]
    assert "# identifiers" not in text  # there is one
    unnamed = tc.propose(people_of().drop_columns(["id"])).to_yaml()
    assert unnamed.count("\n# identifiers: []\n") == 1
    edited = "\n".join(line for line in unnamed.splitlines() if not line.startswith("  job:")).replace(
        "# identifiers: []", "identifiers: [job]"
    )
    (tmp_path / "policy.yaml").write_text(edited)
    assert tc.Policy.load(tmp_path / "policy.yaml").identifiers == ["job"]
    codes = [f"x{number % 70}" for number in range(120)]
    dropping = tc.propose(people_of().append_column("code", [codes])).to_yaml()
    assert "\ndrop:\n" in dropping
    assert "# drop" not in dropping
    assert "\n# Published as they are, with their exact values. What others may know must be in quasi.\nkeep:\n" in text
    assert "\n# keep:" not in text


def test_the_command_names_the_table_and_the_policy_as_they_were_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raw data").mkdir()
    write_csv(people_of(), tmp_path / "raw data" / "people.csv")
    monkeypatch.chdir(tmp_path)
    found = tc.propose("raw data/people.csv")
    found.save("my policy.yaml")
    lines = Path("my policy.yaml").read_text().splitlines()
    assert "# Then: tclose anonymize 'raw data/people.csv' -p 'my policy.yaml' -o release.csv --report report.html" in lines
    assert str(tmp_path) not in "\n".join(lines)
    assert (
        "# Then: tclose anonymize DATA -p policy.yaml -o release.csv --report report.html"
        in tc.propose(people_of()).to_yaml().splitlines()
    )


# --- every proposal loads and runs ----------------------------------------------------------------------------------------

CELLS = {
    "numbers": st.integers(-3, 40),
    "amounts": st.decimals(-9, 9, places=2),
    "floats": st.floats(width=32, allow_nan=True),
    "words": st.sampled_from(["x", "y", "=cmd()", "", "*", "a b", "NA", "12"]),
    "texts": st.text("abc '#:é\x85,", max_size=6),
    "zips": st.sampled_from(["04760", "04761", "13053", "13054"]),
    "dates": st.dates(date(1900, 1, 1), date(2030, 1, 1)),
    "truths": st.booleans(),
    "sentences": st.just("a text of more words than five"),
}
NAMES = st.one_of(
    st.sampled_from(["id", "name", "age", "zip", "patient", "income", "row", "null", "no: 1", "12", "", "disease", "- x", "a#b"]),
    st.text(min_size=1, max_size=8),
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 40))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    columns = {}
    for name in names:
        cell = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        some = draw(st.lists(st.one_of(st.none(), cell) if draw(st.booleans()) else cell, min_size=1, max_size=12))
        columns[name] = draw(st.lists(st.sampled_from(some), min_size=rows, max_size=rows))
        if draw(st.integers(0, 4)) == 0:
            columns[name] = list(range(rows))
    return pa.table(columns)


@FEW
@given(tables(), st.booleans())
def test_what_is_proposed_loads_and_runs_or_is_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, people: pa.Table, as_file: bool
) -> None:
    folder, refused = tmp_path_factory.mktemp("proposal"), ""
    table: Any = people
    if as_file:
        table = folder / "people.csv"
        write_csv(people, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "LIMITS", ())
        try:
            found = tc.propose(table)
        except tc.InputError as error:
            refused = str(error)
    if refused:
        assert "A policy needs a quasi-identifier" in refused or refused.startswith(
            (f"Column {people.column_names[0]!r}", "File ")
        )
        return
    path = folder / "policy.yaml"
    found.save(path)
    policy = tc.Policy.load(path)
    assert policy == found.policy
    assert is_unconfirmed(path)
    # The first sentence says what a column has; of a column that cannot be read, why not.
    assert all(len(said) > 1 or name in policy.drop for name, said in found.reasons.items())
    named = [column.name for part in (policy.quasi, policy.sensitive, policy.keep) for column in part]
    assert sorted([*named, *policy.identifiers, *policy.drop]) == sorted(people.column_names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.ReadingWarning)
        try:
            tc.anonymize(table, policy)
        except tc.GateError:
            raise
        except tc.TcloseError as error:
            refused = str(error)
        else:
            return
    if "Choose a smaller k" not in refused:  # fewer than five rows: k must be decided
        assert any(repr(name) in refused for name in people.column_names), refused


VALUES = st.recursive(
    st.one_of(st.text(max_size=9), st.integers(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)


@given(VALUES)
def test_a_value_in_one_line_is_read_back(value: Any) -> None:
    text = flow(value)
    assert "\n" not in text
    assert YAML(typ="safe", pure=True).load(io.StringIO(f"a: {text}")) == {"a": value}


@given(st.text(max_size=20))
def test_a_name_is_read_back(name: str) -> None:
    assert YAML(typ="safe", pure=True).load(io.StringIO(f"{scalar(name)}:")) == {name: None}


def test_few_whole_numbers_may_be_codes_however_they_are_written() -> None:
    rows = range(60)
    table = pa.table({
        "job": [1.0 + row % 6 for row in rows], "ratio": [0.5 * (row // 10) for row in rows], "ill": [f"{row % 3}x" for row in rows],
    })  # fmt: skip
    found = tc.propose(table, sensitive=["ill"])
    assert found.reasons["job"] == ("Whole numbers written as decimals, 6 different.", "Few numbers.")
    assert found.reasons["ratio"] == ("Numbers, 6 different.", "Few numbers, in ranges from one of them to another.")
    text = " ".join(found.to_yaml().replace("\n# ", " ").split())
    assert text.count("Few numbers: a class is published as one of them, or as a range from one to another.") == 1
    assert text.count("write {type: category} after the column's name: then it is published as the set of its values.") == 1
    assert set(tc.anonymize(table, found.policy).table["job"].to_pylist()) == {"[1, 3]", "[4, 6]"}
    codes = replace(found.policy, quasi=[tc.Quasi("job", type="category"), tc.Quasi("ratio")])
    assert all(value.startswith("{") for value in tc.anonymize(table, codes).table["job"].to_pylist())


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 5), min_size=10, max_size=30))
def test_rows_that_are_nearly_the_row_before_are_counted_as_by_the_twin(rows: list[tuple[int, ...]]) -> None:
    columns = columns_of(read_as_needed(pa.table(dict(zip("abcde", map(list, zip(*rows, strict=True)), strict=True)))).source)
    told = [column for column in columns if not column.constant]
    names = ["abcde".index(column.name) for column in told]
    ref = sum(sum(own[name] != before[name] for name in names) <= 1 for before, own in pairwise(rows)) / len(rows)
    comp = share_like_the_row_before(columns)
    assert comp in ((ref, 0.0) if ref >= NEARLY_SAME and len(names) >= FEWEST_COLUMNS else (0.0,))


def test_several_rows_of_persons_whom_no_column_names_are_asked_about() -> None:
    """Of 40 persons, three years each: 80 of 120 rows differ from the row before in age alone; in another order nearly none do."""
    years = pa.table(dict(zip(("age", "sex", "job", "ill"), map(list, zip(*YEARS, strict=True)), strict=True)))
    (asked,) = [sentence for sentence in tc.propose(years).decisions if "several rows" in sentence]
    assert asked.startswith(
        "Do persons have several rows? 66.7% of the rows agree with the row before in all columns but one at most"
    )
    assert "add one to the table, from its source: numbering runs of similar rows is a guess." in asked
    mixed = years.take(np.random.default_rng(1).permutation(120))
    named = years.append_column("person", [[f"p{row // 3}" for row in range(120)]])
    for table in (mixed, named, years.drop_columns(["job"])):
        assert not any(sentence.startswith(SEVERAL_ROWS) for sentence in tc.propose(table, sensitive="ill").decisions)


def test_a_grid_with_one_number_in_each_cell_is_not_proposed() -> None:
    """Numbers of many digits that repeat: steps of 0.0000001 would publish 1.4426950 as [1.4426950, 1.4426951)."""
    odd = [round(number * 0.1442695, 7) for number in range(12)]
    table = pa.table({"share": odd * 10, "other": [number / 100 for number in range(120)], "ill": ["a", "b", "c"] * 40})
    found = tc.propose(table, sensitive="ill")
    assert found.reasons["share"][1] == "In ranges from one of its numbers to another; each number has 5 persons or more."
    assert found.policy.to_dict()["quasi"] == {"share": None, "other": {"snap": "auto"}}
    assert "0.0000001" not in found.to_yaml()
    assert min(table["share"].value_counts().field("counts").to_pylist()) >= found.policy.k
    tc.anonymize(table, found.policy)


def test_values_of_persons_are_asked_about_if_nearly_every_person_has_one() -> None:
    """Of 41 persons, three rows each but one: all have one income, 37 of 40 one illness, and 35 of 40 one debt."""
    rows = range(121)
    table = pa.table({
        "patient": [f"p{row // 3}" for row in rows], "age": [20 + row % 7 for row in rows], "year": [2020 + row % 3 for row in rows],
        "income": [row // 3 % 6 for row in rows], "illness": [row // 3 % 4 + (row % 40 == 0 and row < 120) for row in rows],
        "debt": [row // 3 % 4 + (row % 24 == 0 and row < 120) for row in rows],
    })  # fmt: skip
    told = (
        "k, l and t are about one row of a person: who knows several of their rows can combine the classes, and may be left with "
        "one {}. No limit is about that. If it matters, publish one row a person: docs/visits.md says how."
    )
    for sensitive, said, left in (
        (["income"], "income is the same in all rows of each of the 40 persons who have several.", "income"),
        (["income", "debt"], "income is the same in all rows of each of the 40 persons who have several.", "income"),
        (["illness"], "illness is the same in all rows of 92.5% of the 40 persons who have several.", "illness"),
        (
            ["income", "illness"],
            "income and illness are the same in all rows of at least 92.5% of the 40 persons who have several.",
            "value of each",
        ),
    ):
        found = tc.propose(table, sensitive=sensitive)
        assert found.policy.unit == "patient"
        assert found.decisions[0] == f"Do others know several rows of a person? {said} {told.format(left)}"
    asked = "Do others know several rows of a person?"
    assert asked not in tc.propose(table, sensitive="debt").to_yaml()
    assert asked not in tc.propose(table.drop_columns(["patient"]), sensitive="income").to_yaml()
    assert asked not in tc.propose(table.slice(0, 27), sensitive="income").to_yaml()  # nine persons


def test_the_open_ends_of_a_grid_are_told_as_the_release_has_them() -> None:
    """Few have a debt, an age of 29.5 or more or of less than 20.1, or were seen before 2021-01-02; four have no age."""
    ages = [12.5, 10.5, 11.5, *(20 + row % 20 / 2 for row in range(390)), 52.0, 59.5, 67.0, *[None] * 4]
    days = [*[date(2020, 3, 1)] * 3, *(date(2021, 1, 1) + timedelta(days=row % 10) for row in range(397))]
    debts = [*range(300, 312), *[0] * 388]
    table = pa.table({"age": ages, "seen": days, "debt": debts, "ill": ["a", "b"] * 200})
    found = tc.propose(table, sensitive="ill")
    holds = {one["name"]: one["holds"] for one in tc.anonymize(table, found.policy).certificate["columns"]}
    for name, ends in (("age", ("up to 20.1", "from 29.5 on")), ("seen", ("up to 2021-01-01",)), ("debt", ("from 300 on",))):
        said = [sentence for sentence in found.reasons[name] if "become one value" in sentence]
        published = re.findall(r"; (\S+) or (less|more) is one value", holds[name])
        for sentence, end, (limit, side) in zip(said, ends, published, strict=True):
            edge: Any = date.fromisoformat(limit) if name == "seen" else float(Fraction(limit))
            values = table[name].drop_null().to_pylist()
            beyond = sum(value <= edge if side == "less" else value >= edge for value in values)
            assert str(edge).removesuffix(".0") in end
            assert sentence == f"Values {end} become one value ({beyond / 4:.1f}% of the rows)."
    assert why_in_short(found, "quasi", "debt").endswith(" different. In ranges.")
    even = tc.propose(pa.table({"age": [20 + row % 40 for row in range(400)], "ill": ["a", "b"] * 200}), sensitive="ill")
    assert "become one value" not in even.to_yaml()


def test_a_quasi_identifier_with_the_name_of_a_sensitive_column_is_asked_about() -> None:
    diseases = {f"disease{number}": ["yes", "no", "no", "no"] * 10 for number in range(4)}
    found = tc.propose(pa.table({"age": [20 + number % 9 for number in range(40)], **diseases}))
    assert [column.name for column in found.policy.sensitive] == ["disease0", "disease1", "disease2"]
    (said,) = [sentence for sentence in found.decisions if "sensitive, too?" in sentence]
    assert said.startswith("Is disease3 sensitive, too? Its name suggests it. Move what nobody should learn to sensitive")
    found = tc.propose(pa.table({"age": [20 + number % 9 for number in range(40)], **diseases}), sensitive="disease0")
    assert any(sentence.startswith("Are disease1, disease2 and disease3 sensitive, too?") for sentence in found.decisions)


def test_what_to_write_after_a_column_that_becomes_sensitive_is_what_would_be_proposed_for_it(tmp_path: Path) -> None:
    debts = [0] * 180 + list(range(1, 21))
    (tmp_path / "disease.csv").write_text("flu,lungs,any\nasthma,lungs,any\ngout,joints,any\n")
    columns = {
        "age": [20 + 7 * number % 40 for number in range(200)],
        "job": ["clerk", "nurse", "cook", "smith"] * 50,
        "debt": debts,
        "salary": [number * 37 % 10 for number in range(200)],
        "disease": ["flu", "asthma", "gout", "flu"] * 50,
    }
    found = tc.propose(pa.table(columns), sensitive="job", hierarchies=tmp_path)
    (said,) = [sentence for sentence in found.decisions if "sensitive, too?" in sentence]
    assert said.partition("and write ")[2] == (
        "after its name {t: 0.2, l: 2, distance: equal} for debt (distance: equal because most rows have one value there), or "
        "{t: 0.2, l: 2} for salary, or {t: 0.2, l: 2} beside its hierarchy for disease."
    )
    for name in ("debt", "salary", "disease"):
        own = tc.propose(pa.table(columns), sensitive=name, hierarchies=tmp_path).policy.to_dict()["sensitive"][name]
        own.pop("hierarchy", None)
        text = said.partition("after its name ")[2].partition(f" for {name}")[0].rpartition("{")[2].partition("}")[0]
        assert YAML(typ="safe", pure=True).load("{" + text + "}") == own


def test_whole_numbers_with_a_point_are_published_as_they_are_written_and_that_is_said(tmp_path: Path) -> None:
    people = [["wave", "ill"], *([f"{row % 130}", "flu" if row % 3 else "gout"] for row in range(400))]
    said = "Whole numbers written as decimals are published as they are written, with the point and what stands after it."
    for point in ("", ".0"):
        data = written(tmp_path, [people[0], *([f"{wave}{point}", ill] for wave, ill in people[1:])])
        found = tc.propose(data, sensitive="ill")
        text = " ".join(found.to_yaml().replace("\n# ", " ").split())
        assert text.count(said) == sum(way.startswith(said) for way in found.ways) == bool(point)
        ranges = {value for value in tc.anonymize(data, found.policy).table["wave"].to_pylist() if value.startswith("[")}
        assert ranges
        assert all((".0" in value) == bool(point) for value in ranges)


def test_a_reason_stands_at_the_settings_that_it_explains() -> None:
    rows = 400
    table = pa.table({
        "age": [18 + row * 7 % 80 for row in range(rows)], "rent": [500 + row * row for row in range(rows)],
        "interest": [row % 110 if row < 330 else row // 5 if row < 350 else 7 * row for row in range(rows)],
        "fine": [0 if row < 220 else 7 * row for row in range(rows)], "ill": ["flu", "gout"] * (rows // 2),
    })  # fmt: skip
    (asked,) = [sentence for sentence in tc.propose(table, sensitive="ill").decisions if sentence.startswith("Which role")]
    assert asked.startswith("Which role do rent, interest and fine have?")
    assert (
        "write after its name {t: 0.2, l: 2, bins: 10} for rent and interest (bins because few rows share a number there), or "
        "{t: 0.2, l: 2, bins: 4, distance: equal} for fine (bins and distance: equal because most rows have one value there)."
        in asked
    )


def test_numbers_by_which_a_tenth_of_the_rows_are_found_are_published_in_bins() -> None:
    """Of 1,000 rows some have one of 40 numbers that many have; the others have one for themselves, or two have each."""
    for others, each, bins in ((110, 1, True), (109, 1, False), (120, 2, False)):  # 150, 149 and 160 different numbers
        rest = [7 * number for number in range(100, 100 + others) for _ in range(each)]
        profits = [*(row % 40 for row in range(1_000 - len(rest))), *rest]
        found = tc.propose(pa.table({"age": [20 + row % 9 for row in range(1_000)], "profit": profits}), sensitive="profit")
        assert ("bins" in found.policy.to_dict()["sensitive"]["profit"]) == bins
        assert ("11.0% of the rows have a number that fewer than 5 rows have" in " ".join(found.reasons["profit"])) == bins


def test_dummies_of_one_variable_have_one_role() -> None:
    rows = range(120)
    health = {f"hlth{letter}": [int(row % 5 == number) for row in rows] for number, letter in enumerate("gfp")}
    table = {
        "age": [20 + row % 9 for row in rows],
        "cost": [row * 7 % 11 for row in rows],
        **health,
        "drug": [row % 3 for row in rows],
    }
    found = tc.propose(pa.table(table))
    assert [column.name for column in found.policy.sensitive] == ["cost", "hlthg", "hlthf", "hlthp"]
    (asked,) = [sentence for sentence in found.decisions if "sensitive, too?" in sentence]
    assert asked.startswith("Is drug sensitive, too?")


@pytest.mark.parametrize("other", ["both", "two", "missing", "name"])
def test_columns_that_are_no_dummies_of_one_variable_are_three_at_most(other: str) -> None:
    rows = range(120)
    health: dict[str, Any] = {f"hlth{letter}": [int(row % 5 == number) for row in rows] for number, letter in enumerate("gfp")}
    changed: dict[str, Any] = {"both": [int(row % 5 in (1, 2)) for row in rows], "two": [2 * (row % 5 == 2) for row in rows]}
    changed |= {"missing": [None if row % 7 == 0 else int(row % 5 == 2) for row in rows], "name": health["hlthp"]}
    health["healthy" if other == "name" else "hlthp"] = changed[other]
    health = {name: health[name] for name in health if other != "name" or name != "hlthp"}
    table = {"age": [20 + row % 9 for row in rows], "cost": [row * 7 % 11 for row in rows], **health}
    assert [column.name for column in tc.propose(pa.table(table)).policy.sensitive] == ["cost", "hlthg", "hlthf"]
