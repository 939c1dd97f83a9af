"""(n,t)-closeness: what labels stand for, which regions there are, and that audit, gate and verify see the same ones."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.judge.boxes import Line, axis_of
from tclose.judge.regions import regions
from tclose.values.hierarchy import above
from tests.support.examples import examples

# --- what labels stand for --------------------------------------------------------------------------------------------


def meet(column: tc.Quasi, *classes: Any) -> list[tuple[int, int]]:
    """Which classes meet, by the labels of one quasi-identifier."""
    names = [column.name] if not isinstance(classes[0], dict) else list(classes[0])
    cells = [value if isinstance(value, dict) else {column.name: value} for value in classes]
    axis = axis_of(column, {name: [cell[name] for cell in cells] for name in names})
    pairs = [(a, b) for a in range(len(classes)) for b in range(a)]
    if isinstance(axis, Line):
        return [(b, a) for a, b in pairs if axis.low[a] <= axis.high[b] and axis.low[b] <= axis.high[a]]
    paths = [[branch for branch in path if branch >= 0] for path in axis.paths.tolist()]
    return [(b, a) for a, b in pairs if all(x == y for x, y in zip(paths[a], paths[b], strict=False))]


@pytest.mark.parametrize(
    ("first", "second", "met"),
    [
        ("[25, 34]", "[35, 44]", False),
        ("[25, 34]", "[34, 44]", True),
        ("[25, 34]", "30", True),
        ("[25, 35)", "35", False),
        ("[25, 35)", "34.999", True),
        ("90 or more", "[80, 89]", False),
        ("90 or more", "1e9", True),
        ("20 or less", "-3", True),
        ("less than 20", "20", False),
        ("any value", "1", True),
        ("any value", None, False),
        ("*", None, True),
        ("1/3", "[0.3, 0.4]", True),
        ("[25, 34] or missing", None, True),
        ("[25, 34]", None, False),
        ("'-5 or less", "-7", True),
        ("{cook, nurse}", "nurse", True),
        ("{cook, nurse}", "smith", False),
        ('{"a, b", c}', "c", True),
        ('"{a"', "{a, b}", False),
        ("{1, 9}", "5", True),  # numbers stand on a line
        ("[1, x]", "5", True),  # it cannot be read: it may stand for anything
        ("[1, 2", "cook", True),
        ("1", "01", False),  # a code, not a number
        ("2024-Q1", "2024-03-31", True),
        ("2024-Q1", "2024-04", False),
        ("2024-W01", "2024-01-07", True),
        ("2024-W01", "2024-01-08", False),
        ("2024", "2024-05-01", True),
        ("[2022, 2024-06-29]", "2024-06-30 or more", False),
        ("[2022, 2024-06-29]", "2022-01-01", True),
        ("2024-03-05 08:30:00", "2024-03-05", True),
        ("08:30:00", "[08:00:00, 09:00:00]", True),
        ("476**", "4761*", True),
        ("476**", "47602", True),
        ("476**", "479**", False),
        ("476**", "[1, 2]", True),  # no code, and no value: it may stand for anything
    ],
)
def test_labels_that_may_stand_for_the_same_value(first: str | None, second: str | None, met: bool) -> None:
    assert meet(tc.Quasi("q"), first, second) == [(0, 1)] * met


def test_labels_of_hierarchies() -> None:
    tree = {"*": {"x": {"other": ["a", "b"]}, "y": {"other": ["c"]}}}
    assert meet(tc.Quasi("q", hierarchy=tree), "other (x)", "a", "c", "x") == [(0, 1), (0, 3), (1, 3)]
    assert meet(tc.Quasi("q", hierarchy=tree), "a", None, "a or missing", "b") == [(0, 2), (1, 2), (2, 3)]
    assert meet(tc.Quasi("q", hierarchy={"*": {"x": ["", "a"], "y": ["b"]}}), None, "x", "y") == [(0, 1)]
    assert meet(tc.Quasi("q", hierarchy="dates"), "2024-Q1", "2024-03-05", "2024-04", "2023", "*") == [
        (0, 1), (0, 4), (1, 4), (2, 4), (3, 4),
    ]  # fmt: skip
    assert meet(tc.Quasi("q", hierarchy="prefixes"), "479", "479 *", "47***", "476**") == [(0, 1), (0, 2), (1, 2), (2, 3)]


def test_bounds_and_means() -> None:
    bounds = tc.Quasi("q", recode="bounds")
    cells = [
        {"q.min": low, "q.max": high, "q.missing": gone} for low, high, gone in [(1, 4, False), (5, 9, True), (None, None, True)]
    ]
    assert meet(bounds, *cells) == [(1, 2)]
    means = [{"q": 1.5, "q.missing": "false"}, {"q": 9.0, "q.missing": "false"}, {"q": None, "q.missing": "true"}]
    assert meet(tc.Quasi("q", recode="centroid"), *means) == [(0, 1)]  # a mean may stand for any value


# --- regions ----------------------------------------------------------------------------------------------------------


def found(quasi: list[tc.Quasi], classes: list[tuple[Any, ...]], n: int, sizes: list[int] | None = None) -> set[tuple[int, ...]]:
    axes = [axis_of(column, {column.name: [cells[place] for cells in classes]}) for place, column in enumerate(quasi)]
    rows = np.array([1] * len(classes) if sizes is None else sizes)
    return {tuple(sorted(region.tolist())) for region in regions(axes, rows, n, np.ones(len(classes), dtype=bool))}


def test_regions_by_hand() -> None:
    age = tc.Quasi("age")
    assert found([age], [("[10, 19]",), ("[20, 29]",), ("[30, 39]",), ("[40, 49]",)], 2) == {(0, 1, 2, 3), (0, 1), (2, 3)}
    assert found([age], [("[10, 19]",), ("[20, 29]",), ("[15, 39]",), ("[40, 49]",)], 1) == {(0, 1, 2, 3), (0, 1, 2), (3,)}
    zips = tc.Quasi("zip", hierarchy="prefixes")
    assert found([zips], [("47**",), ("4701",), ("471*",)], 1) == {(0, 1, 2)}
    assert found([zips], [("470*",), ("4701",), ("471*",)], 1) == {(0, 1, 2), (0, 1), (2,)}
    # Along ages first, and along zip codes first.
    both = [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
    assert found([age, tc.Quasi("q")], both, 2) == {(0, 1, 2, 3), (0, 1), (2, 3), (0, 2), (1, 3)}


def audited(columns: dict[str, list[Any]], quasi: dict[str, Any], n: int, t: float = 0.1) -> tc.Audit:
    return tc.audit(pa.table(columns), tc.Policy(quasi, {"s": {"t": t, "distance": "equal"}}, n=n))


def test_a_class_inside_the_box_of_another_is_seen_with_ranges_as_with_a_tree() -> None:
    columns = {"age": ["[20, 29]"] * 6 + ["[22, 24]"] * 6 + ["[40, 49]"] * 6, "s": list("xxxxxxyyyyyyxxxyyy")}
    assert [violation.number for violation in audited(columns, {"age": None}, 6).violations] == [0, 1]


TEXTS = st.text("01", min_size=1, max_size=3)
DAYS = st.integers(0, 500).map(lambda days: date(2023, 11, 1) + timedelta(days=days))


@pytest.mark.parametrize("built", ["prefixes", "dates"])
@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_a_tree_made_from_values_and_the_same_tree_written_out_give_the_same_regions(built: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(TEXTS if built == "prefixes" else DAYS, min_size=1, max_size=6))
    tree = tc.Hierarchy.from_prefixes(values) if built == "prefixes" else tc.Hierarchy.from_dates(values)
    suffix = st.sampled_from(["", "", "", " or missing"])
    labels = st.one_of(st.builds(str.__add__, st.sampled_from(tree.labels), suffix), st.sampled_from([*tree.leaves, None]))
    classes = data.draw(st.lists(st.tuples(labels, st.integers(0, 2)), min_size=1, max_size=12, unique=True))
    published = above(tree, [label for label, _ in classes if label])
    n = data.draw(st.integers(1, 8))
    ref, *comp = (found([tc.Quasi("q", hierarchy=way), tc.Quasi("o")], classes, n) for way in (tree, built, published))
    assert comp == [ref, ref]


def test_the_verdict_does_not_ask_who_wrote_the_tree() -> None:
    columns = {"zip": ["47**"] * 10 + ["4701"] * 5 + ["471*"] * 9, "s": list("xxxxxxyyyyxxxyyxxxxxyyyy")}
    tree = tc.Hierarchy.from_prefixes(["4700", "4701", "4710", "4711"])
    broken = [
        [violation.number for violation in audited(columns, {"zip": {"hierarchy": way}}, 6, 0.02).violations]
        for way in ("prefixes", tree)
    ]
    assert broken == [[2], [2]]  # 471* has nine rows, and rows of 47** may be among them


def test_dates_that_python_does_not_know_are_refused() -> None:
    far = pa.array([3_650_000, 3_650_001, 10, 10], pa.int32()).cast(pa.date32())
    with pytest.raises(tc.InputError, match="Column 'd' must have dates in the years 1 to 9999 where n is asked for"):
        tc.audit(pa.table({"d": far, "s": [1, 2, 3, 4]}), tc.Policy(["d"], {"s": 0.1}, n=2))


# --- papers ------------------------------------------------------------------------------------------------------------


def test_a_certificate_has_the_published_part_of_a_hierarchy(tmp_path: Path) -> None:
    tree = {"*": {"south": {"Rome": ["r1", "r2"], "Athens": ["a1"]}, "north": {"Oslo": ["o1", "o2"], "Kiel": ["k1"]}}}
    columns = {"town": ["r1"] * 3 + ["r2"] * 3 + ["o1"] * 3 + ["o2"] * 3, "s": list("xyxyxyxyxyxy")}
    policy = tc.Policy({"town": {"hierarchy": tree}}, {"s": 0.5}, k=6, n=6)
    release = tc.anonymize(pa.table(columns), policy, algorithm="mondrian")
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    said = json.loads(certificate.read_text())
    assert said["policy"]["quasi"]["town"]["hierarchy"] == {"*": {"south": ["Rome"], "north": ["Oslo"]}}
    assert "regions" not in said
    assert tc.verify(data, certificate).holds


def test_a_certificate_cannot_bring_its_own_regions(tmp_path: Path) -> None:
    """Each class has one value. Regions that jump over every other class would make them look alike."""
    ages = [f"[{10 * decade}, {10 * decade + 9}]" for decade in range(1, 9) for _ in range(5)]
    columns = {"age": ages, "s": ["HIV" if row // 5 % 2 else "flu" for row in range(40)]}
    honest = tc.anonymize(
        pa.table(columns), tc.Policy(["age"], {"s": {"t": 1, "distance": "equal"}}, k=5, n=20), algorithm="mondrian"
    )
    data, certificate, *_ = honest.write(tmp_path / "release.csv")
    assert honest.audit.classes == 8
    assert tc.verify(data, certificate).holds
    said = json.loads(certificate.read_text())
    said["policy"]["sensitive"]["s"]["t"] = 0.01
    said["regions"] = [[number % 2 for number in range(8)]]
    certificate.write_text(json.dumps(said))
    with pytest.raises(tc.InputError, match="says more than this version of tclose can check: 'regions'"):
        tc.verify(data, certificate)
    del said["regions"]
    said["policy"]["quasi"]["age"]["hierarchy"] = {"*": {"odd": sorted(set(ages))[::2], "even": sorted(set(ages))[1::2]}}
    certificate.write_text(json.dumps(said))
    assert not tc.verify(data, certificate).audit.satisfied


def test_a_tree_over_ranges_cannot_put_together_what_does_not_lie_together() -> None:
    ranges = [f"[{10 * tens}, {10 * tens + 9}]" for tens in range(1, 9)]
    columns = {"age": [label for label in ranges for _ in range(5)], "s": [d for d in ["flu", "HIV"] * 4 for _ in range(5)]}
    jumping = {"*": {"odd": ranges[::2], "even": ranges[1::2]}}
    assert not audited(columns, {"age": {"hierarchy": jumping}}, n=20).satisfied  # each class has one disease
    halves = {"*": {"young": ranges[:4], "old": ranges[4:]}}
    split = {**columns, "s": ["flu"] * 20 + ["HIV"] * 20}
    assert audited(split, {"age": {"hierarchy": halves}}, n=20).satisfied
