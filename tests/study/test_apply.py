"""New rows in the classes of a release: who can join which class, what is added, and that both tables satisfy every limit."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tclose as tc
from tclose.study.apply.choosing import HELD_BACK, Newcomers, choose_classes
from tclose.study.apply.covering import covers
from tclose.values.hierarchy import printed
from tests import naive
from tests.support.releases import FEW, SUFFIXES, Case, cases, released

MAY = {"age": [21, 22, 23, 24] * 5 + [41, 42, 43, 44] * 5, "salary": [3, 4, 5, 6] * 10}
ASKED = tc.Policy(["age"], {"salary": 0.05}, k=4)


def made(folder: Path, policy: tc.Policy = ASKED, may: Any = None, name: str = "release.csv") -> Path:
    """The private record of a release."""
    return tc.anonymize(pa.table(MAY if may is None else may), policy).write(folder / name)[2]


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_four_join_and_two_do_not(tmp_path: Path) -> None:
    record = made(tmp_path)
    applied = tc.apply(record, pa.table({"age": [21, 22, 23, 24, 41, 70], "salary": [3, 4, 5, 6, 4, 5]}))
    assert (applied.rows, applied.added, applied.strange, applied.held_back, applied.refused) == (6, 4, 1, 1, 0)
    assert Counter(applied.table["age"].to_pylist()) == {"[21, 24]": 24, "[41, 44]": 20}
    assert applied.alone is not None
    assert (applied.alone.rows, applied.alone.k, applied.audit.rows) == (4, 4, 44)
    data, *_ = applied.write(tmp_path / "june.csv")
    assert tc.verify(data).holds
    assert "44 rows" in repr(applied)


def test_july_is_added_to_june(tmp_path: Path) -> None:
    rows = pa.table({"age": [21, 22, 23, 24], "salary": [3, 4, 5, 6]})
    june = tc.apply(made(tmp_path), rows).write(tmp_path / "june.csv")[2]
    july = tc.apply(june, rows).write(tmp_path / "july.parquet")
    assert tc.verify(july[0]).holds
    assert '"applied"' in july[2].read_text()
    assert '"applied"' not in july[1].read_text()


def test_rows_that_are_close_together_with_the_old_ones_but_not_alone_are_held_back(tmp_path: Path) -> None:
    """Four rows with 3 in one class, and four with 6 in the other. Alone they tell everybody's salary."""
    may = {"age": [21] * 100 + [41] * 100, "salary": [3, 4, 5, 6] * 50}
    record = made(tmp_path, tc.Policy(["age"], {"salary": 0.1}, k=4), may)
    applied = tc.apply(record, pa.table({"age": [21] * 4 + [41] * 4, "salary": [3] * 4 + [6] * 4}))
    assert applied.added == 0  # one class alone would be no distance from itself; it is compared with all rows, too
    mixed = tc.apply(record, pa.table({"age": [21] * 4 + [41] * 4, "salary": [3, 4, 5, 6] * 2}))
    assert mixed.added == 8


def test_a_class_without_new_rows_must_stay_close_too(tmp_path: Path) -> None:
    """The class of 41 is at the limit: 3/4 of its salaries are 6, and 9/16 of all. With fewer in all it would break it."""
    may = {"age": [21] * 12 + [41] * 4, "salary": [3] * 6 + [6] * 6 + [6, 6, 6, 3]}
    record = made(tmp_path, tc.Policy(["age"], {"salary": {"t": "3/16", "distance": "equal"}}, k=4), may)
    audit = tc.audit(record.with_name("release.csv"), ASKED)
    assert audit.classes == 2
    applied = tc.apply(record, pa.table({"age": [21] * 4, "salary": [3, 3, 6, 6]}))
    assert (applied.added, applied.held_back) == (0, 4)
    assert applied.audit.satisfied
    assert tc.apply(record, pa.table({"age": [21] * 5, "salary": [3, 3, 6, 6, 6]})).added == 5


def test_a_person_who_is_in_the_release_is_refused(tmp_path: Path) -> None:
    may = {**MAY, "name": [f"P{number}" for number in range(40)]}
    record = made(tmp_path, replace(ASKED, identifiers=["name"]), may)
    june = pa.table(
        {"age": [21, 22, 23, 24] * 2, "salary": [3, 4, 5, 6] * 2, "name": ["P3", *(f"N{number}" for number in range(7))]}
    )
    with pytest.raises(tc.PolicyError, match="Give the table that the release was made from"):
        tc.apply(record, june)
    applied = tc.apply(record, june, people=[pa.table({"name": may["name"]})])
    assert applied.refused == 1
    assert applied.added <= 7
    assert tc.apply(record, june, people=[pa.table({"name": ["somebody"]})]).refused == 0


def test_a_person_with_several_rows_counts_once(tmp_path: Path) -> None:
    may = {**MAY, "who": [f"P{number}" for number in range(40)]}
    record = made(tmp_path, replace(ASKED, unit="who"), may)
    people = [pa.table({"who": may["who"]})]
    one = {"age": [21, 22, 23, 24], "salary": [3, 4, 5, 6], "who": ["N"] * 4}
    assert tc.apply(record, pa.table(one), people=people).added == 0
    assert tc.apply(record, pa.table({**one, "who": ["A", "B", "C", "D"]}), people=people).added == 4


def test_bins_get_the_published_labels(tmp_path: Path) -> None:
    policy = tc.Policy(["age"], {"salary": {"t": 0.05, "bins": {"width": 2}}}, k=4)
    applied = tc.apply(made(tmp_path, policy), pa.table({"age": [21, 22, 23, 24, 21], "salary": [3, 4, 5, 6, 50]}))
    assert (applied.added, applied.strange) == (4, 1)
    assert set(applied.table["salary"].to_pylist()) == {"[2, 4)", "[4, 6)", "[6, 8)"}


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (replace(ASKED, edges=2), "edges=2"),
        (replace(ASKED, quasi=[tc.Quasi("age", recode="centroid")]), "means"),
    ],
)
def test_what_cannot_be_added_to(policy: tc.Policy, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(tc.PolicyError, match=sentence):
        tc.apply(made(tmp_path, policy), pa.table(MAY))


def test_papers_that_do_not_fit(tmp_path: Path) -> None:
    record = made(tmp_path)
    with pytest.raises(tc.InputError, match="no private record"):
        tc.apply(tmp_path / "release.csv", pa.table(MAY))
    (tmp_path / "other.csv.private.json").write_text('{"release": {}, "policy": {"k": "x"}}')
    with pytest.raises(tc.InputError, match="no policy"):
        tc.apply(tmp_path / "other.csv.private.json", pa.table(MAY))
    (tmp_path / "other.csv.private.json").write_text("[]")
    with pytest.raises(tc.InputError, match="damaged"):
        tc.apply(tmp_path / "other.csv.private.json", pa.table(MAY))
    (tmp_path / "release.csv").write_text("age,salary\n21,3\n")
    with pytest.raises(tc.InputError, match="not as certified"):
        tc.apply(record, pa.table(MAY))


def test_another_type_than_in_the_release(tmp_path: Path) -> None:
    record = made(tmp_path, name="release.parquet")
    with pytest.raises(tc.ColumnError, match="another type"):
        tc.apply(record, pa.table({"age": [21] * 4, "salary": list("abcd")}))


# --- covering, and choosing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "label", "inside", "outside"),
    [
        (tc.Quasi("q"), "[25, 34]", [25, 30, 34], [24, 35, None]),
        (tc.Quasi("q"), "[25, 35)", [25, 34.5], [35]),
        (tc.Quasi("q"), "90 or more", [90, 200], [89]),
        (tc.Quasi("q"), "[25, 34] or missing", [25, None], [24]),
        (tc.Quasi("q"), "{a, c}", ["a", "c"], ["b", "{a, c}", None]),
        (tc.Quasi("q"), "a", ["a"], ["b", "*", "[a, b]"]),
        (tc.Quasi("q", hierarchy="prefixes"), "476**", ["47602", "47677"], ["47905", "476**"]),
        (tc.Quasi("q", hierarchy={"x": ["a", "b"], "y": ["c"]}), "x", ["a", "b"], ["c", "z", None]),
        (tc.Quasi("q", hierarchy={"x": ["a", "b"], "y": ["c"]}), "*", ["a", "c"], ["z", None]),
    ],
)
def test_a_label_covers_what_it_stands_for(column: tc.Quasi, label: str, inside: list[Any], outside: list[Any]) -> None:
    other = "nothing else"  # a class beside it
    for values, expected in ((inside, True), (outside, False)):
        for value in values:
            found = covers(column, {"q": [label, other]}, [value])
            assert (value, bool(found[0, 0])) == (value, expected)


def test_choosing_takes_the_narrow_class_first() -> None:
    covered = np.array([[True] * 6, [True, True, True, False, False, False]])
    newcomers = Newcomers(covered, [np.zeros(6, dtype=np.int64)], [np.ones(1)], 3)
    nobody = lambda _: np.empty(0, dtype=np.int64)  # noqa: E731 - a judge who finds nothing
    assert choose_classes(newcomers, nobody, nobody).tolist() == [1, 1, 1, 0, 0, 0]
    assert choose_classes(replace(newcomers, k=4), nobody, nobody).tolist() == [0] * 6
    assert choose_classes(replace(newcomers, k=7), nobody, nobody).tolist() == [HELD_BACK] * 6


def test_choosing_takes_away_what_there_is_too_much_of() -> None:
    """Half of the old rows have each value; a judge accepts classes with as many of one as of the other."""
    codes = np.array([0, 0, 0, 0, 1, 1])
    newcomers = Newcomers(np.ones((1, 6), dtype=np.bool_), [codes], [np.array([0.5, 0.5])], 2)

    def uneven(classes: Any) -> Any:
        return np.array([0] if len(set(np.bincount(codes[classes == 0], minlength=2))) > 1 else [], dtype=np.int64)

    for judges in ((uneven, lambda _: np.empty(0, dtype=np.int64)), (lambda _: np.empty(0, dtype=np.int64), uneven)):
        chosen = choose_classes(newcomers, *judges)
        assert np.bincount(codes[chosen == 0]).tolist() == [2, 2]


# --- every kind of release, by brute force ----------------------------------------------------------------------------


@FEW
@given(cases(least=6, containers=("pyarrow",)), st.sampled_from(SUFFIXES), st.integers(1, 3))
def test_the_added_rows_and_the_union_satisfy_every_limit(case: Case, suffix: str, times: int) -> None:
    quasi = [replace(column, recode="range") if column.recode == "centroid" else column for column in case.policy.quasi]
    case = replace(case, policy=replace(case.policy, edges=1, quasi=quasi))
    newcomers = {name: values * times for name, values in case.columns.items()}
    if "who" in case.columns:
        newcomers["who"] = [f"new {name} {number % 7}" for number, name in enumerate(newcomers["who"])]
    if "spare" in case.columns:
        newcomers["spare"] = [f"spare {number}" for number in range(len(newcomers["spare"]))]
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        release = released(case, Path(name))
        assume(release is not None)
        assert release is not None
        try:
            record = release.write(Path(name) / f"release{suffix}")[2]
        except tc.OutputError:
            assume(False)  # a CSV cannot have it
        people = [pa.table({"who": case.columns["who"]})] if "who" in case.columns else None
        if case.policy.unit == "row":
            people = [pa.table({"who": ["nobody"]})]
        applied = tc.apply(record, pa.table(newcomers), people=people)
        path = applied.write(Path(name) / f"next{suffix}")[0]
        assert tc.verify(path).holds
        reader = tc.Policy(**applied._release.certificate["policy"])
        assert tc.audit(path, reader).satisfied
        rows = [row for row, label in enumerate(applied._release.partition.tolist()) if label >= 0]
        assert applied.added == len(rows)
        assert applied.table.num_rows == release.table.num_rows + len(rows)
        if not rows:
            return
        added = added_rows(release.table, applied.table)
        assert tc.audit(added, reader).satisfied
        classes = {tuple(plain(row[name]) for name in applied.audit.quasi): row for row in release.table.to_pylist()}
    for row in added.to_pylist():
        cells = classes[tuple(plain(row[name]) for name in applied.audit.quasi)]
        may_join = [
            one
            for one in rows
            if all(naive.regions.may_stand_for(column, cells, newcomers[column.name][one]) for column in case.policy.quasi)
        ]
        assert may_join


def plain(value: Any) -> str:
    """A cell as text: a file may have given its column another type."""
    return printed(value.normalize() + 0 if isinstance(value, Decimal) else value)


def added_rows(old: pa.Table, new: pa.Table) -> pa.Table:
    """What a reader sees who subtracts the old file from the new one."""
    left = Counter(tuple(map(plain, row.values())) for row in old.to_pylist())
    found = []
    for row in new.to_pylist():
        key = tuple(map(plain, row.values()))
        if left[key]:
            left[key] -= 1
        else:
            found.append(row)
    assert not +left
    return pa.Table.from_pylist(found, schema=new.schema)
