"""Hierarchy builders: by hand, against slow twins, and what every tree of them must be."""

from __future__ import annotations

import csv
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose import Hierarchy, HierarchyError, PolicyError, Quasi, Sensitive
from tclose.values.builders import BUILDERS, Builder, asks_for_builder, read_builder
from tests.naive import builders as naive
from tests.support.examples import examples

ICD = [["A00-A09", "A00-B99"], ["A15-A19", "A00-B99"], ["B20-B24", "A00-B99"], ["C76-C80", "C00-D48"], ["C7A", "C00-D48"]]


def ways(tree: Hierarchy) -> list[list[str]]:
    return [[tree.labels[node] for node in tree.path(tree.leaf(leaf))] for leaf in tree.leaves]


# --- by hand -----------------------------------------------------------------------------------------------------------


def test_intervals_by_hand() -> None:
    assert ways(Hierarchy.from_intervals([23, 47, None, 21], [5, 10])) == [
        ["*", "[20, 29]", "[20, 24]", "21"],
        ["*", "[20, 29]", "[20, 24]", "23"],
        ["*", "[40, 49]", "[45, 49]", "47"],
    ]
    assert ways(Hierarchy.from_intervals([2.5, -1], ["5/2"])) == [["*", "[-2.5, 0)", "-1"], ["*", "[2.5, 5)", "2.5"]]


def test_rounding_by_hand() -> None:
    assert ways(Hierarchy.from_rounding([14, 15, 24, 44, 45], [10, 100])) == [
        ["*", "[-55, 44]", "[5, 14]", "14"],
        ["*", "[-55, 44]", "[15, 24]", "15"],
        ["*", "[-55, 44]", "[15, 24]", "24"],
        ["*", "[-55, 44]", "[35, 44]", "44"],
        ["*", "[45, 144]", "[45, 54]", "45"],  # 45 is 50, and 50 is 100
    ]
    assert ways(Hierarchy.from_rounding([Decimal("0.25"), Decimal("0.3")], [0.5])) == [
        ["*", "[0.25, 0.75)", "0.25"],
        ["*", "[0.25, 0.75)", "0.3"],
    ]


def test_cuts_by_hand() -> None:
    assert ways(Hierarchy.from_cuts([17, 18, 64, 65], [[18, 40, 65], [65]])) == [
        ["*", "64 or less", "17 or less", "17"],
        ["*", "64 or less", "[18, 39]", "18"],
        ["*", "64 or less", "[40, 64]", "64"],
        ["*", "65 or more", "65"],
    ]
    assert ways(Hierarchy.from_cuts([17.5, 65], [18])) == [["*", "less than 18", "17.5"], ["*", "18 or more", "65"]]


def test_quantiles_by_hand() -> None:
    tree = Hierarchy.from_quantiles([21, 23, 34, 35, None, 47, 48, 61, 77], [4, 2])
    assert tree.builder is not None
    assert tree.builder.setting() == {"cuts": [[30, 40, 50], [40]]}
    assert Quasi("age", hierarchy=tree).hierarchy == tree.builder
    assert Quasi("age", hierarchy=tree) == Quasi("age", hierarchy={"cuts": [[30, 40, 50], [40]]})


def test_prefixes_with_levels_by_hand() -> None:
    assert ways(Hierarchy.from_prefixes(["47602", "479", "13053"], [3, 1])) == [
        ["*****", "1****", "130**", "13053"],
        ["*****", "4****", "476**", "47602"],
        ["*****", "4****", "479**", "479"],
    ]
    assert ways(Hierarchy.from_prefixes(["47", "4"], [5, 1])) == [["**", "4*", "4"], ["**", "4*", "47"]]


def test_dates_with_levels_by_hand() -> None:
    days = ["2024-12-29", "2024-12-30", date(2025, 1, 5)]
    assert ways(Hierarchy.from_dates(days, ["week"])) == [
        ["*", "2024-W52", "2024-12-29"],
        ["*", "2025-W01", "2024-12-30"],
        ["*", "2025-W01", "2025-01-05"],
    ]
    assert ways(Hierarchy.from_dates(days, ["day", "month", "year"]))[0] == ["*", "2024", "2024-12", "2024-12-29"]


def test_groups_by_hand() -> None:
    tree = Hierarchy.from_groups({"low": ["none", "primary"], "high": {"degree": ["bachelor", "master"]}})
    assert ways(tree)[-1] == ["*", "high", "degree", "master"]
    assert Quasi("education", hierarchy={"groups": {"low": ["none"]}}).hierarchy == Hierarchy([["*", "low", "none"]])


def test_ranges_by_hand() -> None:
    assert ways(Hierarchy.from_ranges(["C79.3", "C7A.1", "B20", "A04.7", "A04"], ICD)) == [
        ["*", "A00-B99", "A00-A09", "A04"],
        ["*", "A00-B99", "A00-A09", "A04.7"],
        ["*", "A00-B99", "B20-B24", "B20"],
        ["*", "C00-D48", "C76-C80", "C79.3"],
        ["*", "C00-D48", "C7A-C7A", "C7A.1"],  # the narrower range has the code
    ]


def test_ranges_of_numbers_are_compared_as_numbers() -> None:
    ranges = [["1-139", "infectious"], ["140-239", "tumours"], ["V01-V91", "other"]]
    assert ways(Hierarchy.from_ranges(["8", "099", "140.2", "V10"], ranges)) == [
        ["*", "infectious", "1-139", "099"],
        ["*", "infectious", "1-139", "8"],
        ["*", "tumours", "140-239", "140.2"],
        ["*", "other", "V01-V91", "V10"],
    ]
    with pytest.raises(HierarchyError, match=r"Got '14x' in row 1\."):
        Hierarchy.from_ranges(["14x"], ranges)


def test_a_file_of_ranges_has_no_header_and_any_depth(tmp_path: Path) -> None:
    file = tmp_path / "blocks.csv"
    file.write_text("A00-A09;Intestinal;Infectious;*\nC00\u2013C97;Tumours;*;\n\n", encoding="utf-8")
    tree = Hierarchy.from_ranges(["C50", "A01"], file)
    assert ways(tree) == [["*", "Infectious", "Intestinal", "A00-A09", "A01"], ["*", "Tumours", "C00-C97", "C50"]]
    rule = Quasi("icd", hierarchy={"ranges": str(file)}).hierarchy
    assert rule.file == file
    assert read_builder(rule.setting()) == rule


# --- properties --------------------------------------------------------------------------------------------------------

WIDTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
NUMBERS = st.lists(st.decimals(-50, 50, places=1) | st.integers(-50, 50), min_size=1, max_size=12)


@st.composite
def multiples(draw: st.DrawFn) -> list[Fraction]:
    found = [Fraction(draw(st.integers(1, 12)), draw(st.sampled_from([1, 1, 2, 3])))]
    for factor in draw(st.lists(st.integers(2, 5), max_size=2)):
        found.append(found[-1] * factor)
    return found


@st.composite
def nested_cuts(draw: st.DrawFn) -> list[list[Fraction]]:
    rows = [sorted(draw(st.sets(st.integers(-60, 60), min_size=1, max_size=8)))]
    while len(rows[-1]) > 1 and draw(st.booleans()):
        rows.append(sorted(draw(st.sets(st.sampled_from(rows[-1]), min_size=1, max_size=len(rows[-1]) - 1))))
    return [[Fraction(cut, 2) for cut in row] for row in rows]


CODES = st.lists(st.from_regex(r"[AB][0-9]{2}(\.[0-9])?", fullmatch=True), min_size=1, max_size=10)
DAYS = st.lists(st.integers(0, 1500).map(lambda days: date(2021, 12, 20) + timedelta(days=days)), min_size=1, max_size=10)
UNITS = st.sampled_from(
    [["week"], ["day", "week"], ["month"], ["month", "year"], ["quarter"], ["day", "month", "quarter", "year"]]
)
RANGES = [["A00-A19", "A"], ["A20-A99", "A"], ["A30-A39", "A"], ["B00-B99", "B"], ["A05.0-A05.4", "A"]]


@st.composite
def built(draw: st.DrawFn) -> tuple[Builder, list[Any]]:
    key = draw(st.sampled_from(sorted(BUILDERS)))
    settings_of_key: dict[str, st.SearchStrategy[Any]] = {
        "intervals": multiples(),
        "rounding": multiples(),
        "cuts": nested_cuts(),
        "prefixes": st.sets(st.integers(1, 5), min_size=1).map(lambda shown: sorted(shown, reverse=True)),
        "dates": UNITS,
        "ranges": st.just(RANGES),
    }
    values: dict[str, st.SearchStrategy[list[Any]]] = {"dates": DAYS, "prefixes": CODES, "ranges": CODES}
    return read_builder({key: draw(settings_of_key[key])}), draw(values.get(key, NUMBERS))


@given(built(), st.randoms(use_true_random=False))
def test_levels_partition_the_values_nest_and_find_every_value(case: tuple[Builder, list[Any]], random: Any) -> None:
    builder, values = case
    tree = Hierarchy.from_builder(builder, values)
    assert all(value in tree for value in values)
    below = naive.members(tree)
    assert below[0] == tree.leaves
    paths = builder.paths(sorted({str(value): value for value in values}.values(), key=str))
    assert {len(path) for path in paths} == {len(builder.levels()) + 2}
    for level in range(len(paths[0])):
        groups: dict[str, set[str]] = {}
        for path in paths:
            groups.setdefault(path[level], set()).add(path[-1])
        assert sum(map(len, groups.values())) == len(tree.leaves)  # each value is in one group
        assert level == 0 or all(len({path[level - 1] for path in paths if path[level] == label}) == 1 for label in groups)
    random.shuffle(values)
    assert Hierarchy.from_builder(builder, values) == tree
    assert builder == (
        read_builder(builder.setting()) if isinstance(builder.setting(), dict) else Quasi("q", hierarchy="dates").builder
    )
    assert Hierarchy.from_mapping(tree.to_mapping()) == tree


@given(built())
def test_an_export_is_read_back(tmp_path_factory: pytest.TempPathFactory, case: tuple[Builder, list[Any]]) -> None:
    tree = Hierarchy.from_builder(*case)
    file = tmp_path_factory.getbasetemp() / "export.csv"
    file.write_text(tree.to_csv(), encoding="utf-8")
    assert Hierarchy.from_csv(file) == tree
    assert len({line.count(";") for line in tree.to_csv().splitlines()}) == 1


@given(built())
def test_values_keep_their_order(case: tuple[Builder, list[Any]]) -> None:
    builder, values = case
    tree = Hierarchy.from_builder(builder, values)
    if builder.needs == "numbers":
        numbers = [Fraction(leaf) for leaf in tree.leaves]
        assert numbers == sorted(numbers)
        for node, leaves in naive.members(tree).items():  # a label names the numbers that are below it, and no others
            assert leaves == [leaf for leaf in tree.leaves if naive.label_covers(tree.labels[node], Fraction(leaf))]
    elif builder.key != "ranges":
        assert tree.leaves == sorted(tree.leaves)
    else:
        order = [row[0] for row in RANGES]
        places = [(order.index(way[-2]), way[-1]) for way in ways(tree)]
        assert {label: [place for place in places if order[place[0]] == label] for label in order} == {
            label: sorted(place for place in places if order[place[0]] == label) for label in order
        }


@given(multiples(), NUMBERS)
def test_intervals_and_rounding_agree_with_their_twins(widths: list[Fraction], values: list[Any]) -> None:
    for path in read_builder({"intervals": widths}).paths([Fraction(value) for value in values]):
        number = Fraction(path[-1])
        for width, label in zip(widths, path[-2:0:-1], strict=True):
            low, high = naive.interval_of_width(number, width)
            assert (Fraction(label[1:-1].split(", ")[0]), Fraction(label[1:-1].split(", ")[1])) == (low, high)
    paths = read_builder({"rounding": widths}).paths(values)
    for first in paths:
        for second in paths:
            for level in range(len(widths)):
                same = naive.rounds_to(Fraction(first[-1]), widths[: level + 1]) == naive.rounds_to(
                    Fraction(second[-1]), widths[: level + 1]
                )
                assert (first[-2 - level] == second[-2 - level]) == same


@given(nested_cuts(), NUMBERS)
def test_cuts_agree_with_their_twin(cuts: list[list[Fraction]], values: list[Any]) -> None:
    for path in read_builder({"cuts": cuts}).paths([*values, 0.5]):
        for row, label in zip(cuts, path[-2:0:-1], strict=True):
            low, high = naive.interval_between(Fraction(path[-1]), row)
            shown = [Fraction(part) for part in label.strip("[)").replace(" or more", "").replace("less than ", "").split(", ")]
            assert shown == [end for end in (low, high) if end is not None]


@given(DAYS, UNITS)
def test_dates_agree_with_their_twin(days: list[date], units: list[str]) -> None:
    for path in read_builder({"dates": units}).paths(days):
        day = date.fromisoformat(path[-1])
        assert path == ["*", *(naive.calendar_name(day, unit) for unit in reversed(units)), str(day)]


@given(CODES, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=5))
def test_ranges_agree_with_their_twin(codes: list[str], spans: list[tuple[int, int]]) -> None:
    ranges = [(f"A{low:02}", f"A{low + width:02}") for low, width in spans]
    rows = [[f"{low}-{high}"] for low, high in ranges]
    crossing = any(a[0] < b[0] <= a[1] < b[1] for a in ranges for b in ranges) or len(set(ranges)) < len(ranges)
    if crossing:
        with pytest.raises(HierarchyError, match="overlap"):
            read_builder({"ranges": rows})
        return
    builder = BUILDERS["ranges"].read(rows)
    for code in codes:
        found, ref = builder.range_of(code), naive.narrowest_range(code, ranges)
        assert (None if found is None else found[:2]) == ref


@settings(max_examples=examples(50))
@given(st.lists(st.integers(0, 40), min_size=2, max_size=60), st.sampled_from([[2], [4, 2], [8, 4, 2], [6, 3]]))
def test_quantiles_cut_where_about_equally_many_rows_are(values: list[int], groups: list[int]) -> None:
    if len(set(values)) < 2:
        with pytest.raises(HierarchyError, match="two different numbers"):
            Hierarchy.from_quantiles(values, groups)
        return
    tree = Hierarchy.from_quantiles(values, groups)
    assert tree.builder is not None
    for row, count in zip(tree.builder.setting()["cuts"], groups, strict=False):
        assert len(row) < count
    finest = tree.builder.setting()["cuts"][0]
    for part in range(1, groups[0]):  # a cut point is within a tenth of a group, or no number that occurs is nearer
        target = Fraction(len(values) * part, groups[0])
        nearest = min(abs(sum(value < cut for value in values) - target) for cut in finest)
        possible = min(abs(sum(value < other for value in values) - target) for other in sorted(set(values))[1:])
        assert nearest <= max(possible, Fraction(len(values), 10 * groups[0]))


def test_quantiles_of_many_values_are_round_numbers() -> None:
    tree = Hierarchy.from_quantiles([round(1000 + 1.37 * row**1.1, 2) for row in range(2000)], [4, 2])
    assert tree.builder is not None
    assert tree.builder.setting() == {"cuts": [[2400, 3800, 5400], [3800]]}


# --- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: Hierarchy.from_intervals([1, None, "many"], [5]),
            "a value must be a finite number. Got 'many' in row 3. Correct it, or leave the cell empty.",
        ),
        (
            lambda: Hierarchy.from_quantiles([1, float("inf")], [2]),
            "a value must be a finite number. Got 'inf' in row 2. Correct it, or leave the cell empty.",
        ),
        (
            lambda: Hierarchy.from_dates(["2024-01-31", datetime(2024, 3, 5)], ["month"]),
            "a value must be a date, as 2024-03-05. Got '2024-03-05 00:00:00' in row 2. Correct it, or leave the cell empty.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04", "Z99"], ICD),
            "a value must be in one of the ranges. Got 'Z99' in row 2. Add a range for it to the table.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A00-A09"], ICD),
            "a value must be a code, not a label of the table of ranges. Got 'A00-A09' in row 1. Add a range for it to the table.",
        ),
        (lambda: Hierarchy.from_intervals([], [5]), "a hierarchy must have at least one value. Got none."),
        (
            lambda: Hierarchy.from_rounding([1], [10, 15]),
            "rounding must be a list of at most 20 numbers above 0, each a multiple of the one before: [5, 10, 20]. Got [10, 15].",
        ),
        (
            lambda: Hierarchy.from_prefixes(["a"], [1, 2]),
            "prefixes must be a list of numbers of characters that stay, 1 or more, the most first: [4, 3]. Got [1, 2].",
        ),
        (
            lambda: Hierarchy.from_dates([], ["week", "month"]),
            "dates must be a list of units that lie inside one another, and a week may lie in two months and in two years: [week]. "
            "Got ['week', 'month'].",
        ),
        (
            lambda: Hierarchy.from_dates([], ["decade"]),
            "dates must be a list of units of the calendar, the finest first, of day, week, month, quarter, year: [month, year]. "
            "Got ['decade'].",
        ),
        (
            lambda: Hierarchy.from_cuts([1], [[1, 2], [3]]),
            "cuts must be a list of ascending numbers, or a list of them for each level, the finest first, of which each level keeps "
            "some of those before: [[18, 30, 45, 65], [30, 65]]. Got list.",
        ),
        (
            lambda: Hierarchy.from_quantiles([1, 2], [4, 3]),
            "quantiles must be a list of numbers of groups from 1,000 to 2, each a multiple of the next: [8, 4, 2].",
        ),
        (lambda: Hierarchy.from_groups({}), "groups must be a mapping from labels to lists of values. Got something else."),
        (
            lambda: Hierarchy.from_ranges(["A04"], [["from-to", "block"], ["A00-A09", "A"]]),
            "ranges: row 1 must begin with a range of codes, as A00-A09, both ends equally long. Got 'from-to'. "
            "A table of ranges has no header.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04"], [["A00-A09"], ["A05-A19"]]),
            "ranges: rows 1 and 2 have ranges that overlap, 'A00-A09' and 'A05-A19'. Correct one of them; a range may lie inside "
            "another.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04"], [["A00-A09", "other", "A"], ["B00-B09", "other", "B"]]),
            "ranges: row 2 has the label 'other', which stands below other labels in a row before. Give each place a label of its "
            "own.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04"], [["A09-A00"]]),
            "ranges: row 1 must have a range from a lower code to a higher one. Got 'A09-A00'.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04"], [["A00-A09", "", "A"]]),
            "ranges: row 1 has an empty cell between its labels. Fill it or leave it out.",
        ),
        (
            lambda: Hierarchy.from_ranges(["A04"], []),
            "ranges must be a list of a CSV file with a range of codes and its labels in each row, or such rows: "
            "[[A00-A09, Infectious]]. Got [].",
        ),
    ],
)  # fmt: skip
def test_what_a_builder_refuses_is_told_in_one_sentence(build: Any, sentence: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        build()
    assert str(caught.value) == sentence


def test_a_file_of_ranges_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "blocks.csv"
    with pytest.raises(HierarchyError, match=r"^Ranges file '.*blocks.csv' cannot be read. Check its path.$"):
        Hierarchy.from_ranges(["A04"], file)
    file.write_text("A00-A09;A\nA05-A19;A\n")
    with pytest.raises(HierarchyError, match=r"^Ranges file 'blocks.csv': rows 1 and 2 have ranges that overlap"):
        Hierarchy.from_ranges(["A04"], file)
    file.write_text("A00-A09;" + "A" * 200_000)
    before = csv.field_size_limit(100_000)  # reading a table raises it
    try:
        with pytest.raises(HierarchyError, match=r"^Ranges file 'blocks.csv' is no CSV. Check how it was written.$"):
            Hierarchy.from_ranges(["A04"], file)
    finally:
        csv.field_size_limit(before)
    file.write_text("")
    with pytest.raises(HierarchyError, match=r"^Ranges file 'blocks.csv': a table must have from 1 to 100,000 ranges. Got 0.$"):
        Hierarchy.from_ranges(["A04"], file)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"interval": [5]}, "'interval' is no way to build a hierarchy. Did you mean 'intervals'?"),
        ({"range": "icd.csv"}, "'range' is no way to build a hierarchy. Did you mean 'ranges'?"),
        ({"Dates": ["month"]}, "'Dates' is no way to build a hierarchy. Did you mean 'dates'?"),
        ({"intervals": 5, 10: None, 20: None}, "intervals must have its list in brackets. Write {intervals: [5, 10, 20]}."),
        ({"groups": [1, 2]}, "groups must be a mapping from labels to lists of values"),
        ({"group": [1, 2]}, "'group' is no way to build a hierarchy. Did you mean 'groups'?"),
        ({"quantiles": [4, 2]}, "quantiles of all rows would tell about rows that are suppressed."),
        ({"intervals": [0]}, "intervals must be a list of at most 20 numbers above 0"),
    ],
)
@pytest.mark.parametrize("role", [Quasi, Sensitive])
def test_a_misspelt_builder_is_no_tree(role: Any, setting: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        role("x", hierarchy=setting)
    assert sentence in str(caught.value)


def test_a_tree_whose_root_is_called_as_a_builder_can_be_written() -> None:
    for tree in (
        Hierarchy([["dates", "fig"], ["dates", "date"]]),
        Hierarchy([["groups", "a", "x"], ["groups", "b", "y"]]),
        Hierarchy([["groups", "x"]]),
        Hierarchy([["interval", "5"]]),
        Hierarchy([["quantile", "a", "5"]]),
    ):
        mapping = tree.to_mapping()
        assert not asks_for_builder(mapping)
        assert Hierarchy.from_mapping(mapping) == tree
        assert Quasi("x", hierarchy=mapping).hierarchy == tree


def test_a_hierarchy_and_sets_exclude_one_another() -> None:
    with pytest.raises(PolicyError, match=r"^recode: set of 'zip' goes without a hierarchy. Leave one of them out.$"):
        Quasi("zip", hierarchy="prefixes", recode="set")
