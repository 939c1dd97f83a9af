"""`snap: auto`: the finest round grid with at least k persons in each cell, by hand and by a twin that tries everything."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make.encode import EncodedTable, encode
from tclose.make.scales import Line
from tclose.make.scales.grids import choose_grid
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.exact import exact
from tests import naive
from tests.support.examples import examples
from tests.support.releases import FEW, Case, able, cases, released

SOME = settings(max_examples=examples(60), deadline=None)


def encoded(values: list[Any], k: int, persons: list[Any] | None = None, **asked: Any) -> EncodedTable:
    table = pa.table({"q": values, "s": [1] * len(values)} | ({} if persons is None else {"who": persons}))
    unit = None if persons is None else "who"
    policy = tc.Policy([tc.Quasi("q", snap="auto", **asked)], ["s"], k=k, unit=unit)
    reader = open_reader(table)
    return encode(open_table(reader, dict.fromkeys(reader.names, "auto")), policy, unit, [], lambda _: None)


def grid(values: list[Any], k: int, persons: list[Any] | None = None) -> tuple[Any, Any, Any]:
    """The snap, the bottom and the top that were chosen."""
    scale = encoded(values, k, persons).scales[0]
    assert isinstance(scale, Line)
    return scale.settings["snap"], scale.settings["bottom"], scale.settings["top"]


def spread(counts: dict[Any, int]) -> list[Any]:
    return [value for value, count in counts.items() for _ in range(count)]


# --- by hand ----------------------------------------------------------------------------------------------------------

AGES = spread(dict.fromkeys(range(20, 80), 4))


@pytest.mark.parametrize(
    ("values", "k", "expected"),
    [
        (AGES, 4, (1, None, None)),
        (AGES, 5, (2, None, None)),
        (AGES, 20, (5, None, None)),
        (AGES, 21, (10, None, None)),
        (AGES, 41, (20, None, None)),
        ([*AGES, 97], 4, (1, None, 79)),  # one person more than 79 is not enough for an open end
        ([*AGES, 93, 95, 97, 97], 4, (1, None, 93)),  # four are: nobody else is merged
        ([3, *AGES, 97], 4, (1, 20, 79)),
        (spread({18: 9, 19: 9, 27: 9}), 3, (1, None, None)),  # a cell without anybody is no cell
        (spread({18: 9, 19: 2, 20: 9}), 3, (2, None, None)),  # 19 is not at an end
        (spread({-7: 3, 5: 3}), 3, (1, None, None)),
        (spread({-7: 2, -5: 3, 5: 3}), 3, (1, -5, None)),
        ([*AGES, None, None], 4, (1, None, None)),  # a missing cell is in no cell of the grid
    ],
)
def test_ages(values: list[Any], k: int, expected: tuple[Any, Any, Any]) -> None:
    assert grid(values, k) == expected


def test_salaries_with_a_long_tail() -> None:
    """100 in each thousand up to 40, and 50 above, each alone: within a twentieth of all, they are one value."""
    usual = [1000 * thousand + 7 * row for thousand in range(10, 40) for row in range(100)]
    rich = [41_003 + 997 * row for row in range(50)]
    assert grid(usual + rich, 5) == (50, None, 41_000)
    assert grid(usual + rich, 101) == (2000, None, 38_000)  # 50 are not 101


def test_decimals_that_lie_on_an_edge() -> None:
    """Of decimals, "20 or less" includes 20, which begins the next cell; what is left of that cell must be k persons, too."""
    ends = {Decimal("19.5"): 1, Decimal("20.0"): 3, Decimal("20.1"): 2, Decimal("20.2"): 3, Decimal("20.3"): 3}
    assert grid(spread(ends), 3) == (exact("0.1"), Decimal("20.1"), None)
    rest = {Decimal("19.5"): 3, Decimal("20.0"): 1, Decimal("20.4"): 2, Decimal("30.0"): 9}
    assert grid(spread(rest), 4) == (exact("0.5"), Decimal("20.5"), None)


def test_dates_are_on_the_calendar() -> None:
    days = [date(2024, 1, 1) + timedelta(days=day) for day in range(366)]
    assert grid(days, 1) == ("day", None, None)
    assert grid(days, 2) == ("week", None, None)  # 2024-12-30 and 31 are the first week of 2025
    assert grid(days, 3) == ("week", None, date(2024, 12, 23))
    assert grid(days, 29) == ("month", None, None)
    assert grid(days, 30) == ("quarter", None, None)
    assert grid(days, 366) == ("year", None, None)
    assert grid([datetime(day.year, day.month, day.day, 23, 59, 59) for day in days], 3)[::2] == ("week", datetime(2024, 12, 23))
    early = [datetime(2023, 12, 31, 8), *(datetime(2024, 1, 1, 8) + timedelta(days=day) for day in range(40))] * 2
    assert grid(early, 3) == ("week", datetime(2024, 1, 7, 23, 59, 59), None)


def test_persons_are_counted_not_rows() -> None:
    """Ada and Di have two rows each: of persons, no year has two, and two years at either end have."""
    ages, persons = [20, 20, 21, 22, 23, 23], ["Ada", "Ada", "Bo", "Cy", "Di", "Di"]
    assert grid(ages, 1, persons) == (1, None, None)
    assert grid(ages, 2, persons) == (1, 21, 22)
    assert grid(ages, 2) == (2, None, None)


def test_a_column_without_values_has_no_grid() -> None:
    table = pa.table({"q": pa.array([None, None], pa.int64()), "s": [1, 2]})
    release = tc.anonymize(table, tc.Policy([tc.Quasi("q", snap="auto")], ["s"], k=2))
    assert release.table["q"].to_pylist() == [None, None]
    assert "grids" not in release.record


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        (
            [1, 2, None, None, None],
            tc.InfeasibleError,
            "snap: auto of 'q' found no grid with at least k=3 rows in each cell. Give",
        ),
        ([date(year, 1, 1) for year in (2001, 2002, 2002, 2003, 2004)], tc.InfeasibleError, "snap: auto of 'q' found no grid"),
        ([time(8)] * 5, tc.PolicyError, "snap of 'q' must be left out: times of day have no grid. Got 'auto'."),
        (list("abcde"), tc.PolicyError, "snap of 'q' needs numbers or dates. The column holds text."),
    ],
)
def test_where_no_grid_will_do_one_sentence_says_so(values: list[Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        encoded(values, 3)
    assert str(caught.value).startswith(says)


# --- against the twin -------------------------------------------------------------------------------------------------

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "few integers": st.integers(-3, 12),
    "integers": st.one_of(st.integers(18, 40), st.integers(-200, 5000)),
    "decimals": st.integers(-15, 60).map(lambda tenths: Decimal(tenths) / 10),
    "large": st.sampled_from([-(10**19), 0, 3, 10**19, 10**19 + 1]),
    "floats": st.sampled_from([-250.5, 0.0, 0.1, 0.15, 0.2, 0.3000004]),
    "dates": st.integers(0, 500).map(lambda day: date(2023, 11, 1) + timedelta(days=day)),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Any], list[int]]:
    rows = draw(st.integers(1, 40))
    value = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    values = draw(st.lists(st.one_of(value, value, value, st.none()), min_size=rows, max_size=rows))
    values[0] = draw(value)
    return values, draw(st.lists(st.integers(0, draw(st.sampled_from([3, 10, 60]))), min_size=rows, max_size=rows))


@SOME
@given(columns(), st.integers(1, 6), st.booleans(), st.randoms(use_true_random=False))
def test_the_grid_is_that_of_the_twin_in_any_order(column: Any, k: int, of_rows: bool, lots: random.Random) -> None:
    values, persons = column
    if of_rows:
        persons = list(range(len(values)))
    distinct = sorted({value for value in values if value is not None})
    ranks = np.array([len(distinct) if value is None else distinct.index(value) for value in values])
    order = lots.sample(range(len(values)), len(values))
    owners = np.array(persons)[order]
    expected = naive.grids.chosen(values, persons, k)
    if expected is None:
        with pytest.raises(tc.InfeasibleError, match="found no grid"):
            choose_grid("q", distinct, ranks[order], None if of_rows else owners, k)
        return
    found = choose_grid("q", distinct, ranks[order], None if of_rows else owners, k)
    assert found is not None
    chosen = found.settings("q", distinct)
    assert (chosen["snap"], chosen["bottom"], chosen["top"]) == expected
    _, codes = Line.of("q", distinct, missing=True, grid=found)
    for code in range(int(codes[-1])):
        assert len(set(owners[codes[ranks[order]] == code])) >= k


# --- a release --------------------------------------------------------------------------------------------------------


def test_a_release_is_on_the_grid_and_says_which(tmp_path: Path) -> None:
    ages = [*AGES, 93, 95, 97, 97]
    table = pa.table({"age": ages, "ill": ["flu", "cold", "gout", "flu"] * 61})
    policy = tc.Policy([tc.Quasi("age", snap="auto")], {"ill": 0.5}, k=5)
    release = tc.anonymize(table, policy)
    assert release.record["policy"]["quasi"] == {"age": {"snap": "auto"}}
    assert release.record["grids"] == {"age": {"snap": 2, "top": 78}}
    told = "widened to a grid of 2; 78 or more is one value."
    assert next(column for column in release.certificate["columns"] if column["name"] == "age")["holds"].endswith(told)
    by_hand = tc.anonymize(table, tc.Policy([tc.Quasi("age", snap=2, top=78)], {"ill": 0.5}, k=5))
    assert release.table.equals(by_hand.table)
    assert release.certificate == by_hand.certificate
    data, *_ = release.write(tmp_path / "release.csv")
    assert tc.verify(data).holds
    assert tc.audit(data, policy).satisfied


def with_outliers(outliers: list[Any]) -> tuple[pa.Table, tc.Policy]:
    """240 ages, and three people with a rare illness at the outliers: they are suppressed, because a class of theirs is wide."""
    ages = pa.array([Decimal(age) for age in [*AGES, *outliers]], pa.decimal128(6, 2))
    table = pa.table({"age": ages, "ill": [*["flu", "cold"] * 120, "rare", "rare", "rare"]})
    return table, tc.Policy([tc.Quasi("age", snap="auto")], {"ill": {"t": 0.05, "distance": "equal"}}, k=3, suppression="1/81")


@pytest.mark.parametrize("outliers", [["95", "95", "96"], ["95.01", "95.5", "96.25"], ["-300.25", "-300.25", "-300"]])
def test_suppressed_rows_do_not_decide_the_grid(outliers: list[str]) -> None:
    """With all rows the grids have an open end, and cells of 0.01 where an outlier has decimals."""
    release = tc.anonymize(*with_outliers(outliers), algorithm="mondrian")
    assert np.flatnonzero(release.partition < 0).tolist() == [240, 241, 242]
    assert release.record["grids"] == {"age": {"snap": 1}}
    holds = next(column for column in release.certificate["columns"] if column["name"] == "age")["holds"]
    assert holds.endswith("widened to a grid of whole numbers.")
    published = set(release.table["age"].to_pylist())
    assert not any("more" in label or "less" in label or "." in label for label in published)


def test_the_loss_is_that_of_the_published_grid() -> None:
    release = tc.anonymize(*with_outliers(["95", "95", "96"]), algorithm="mondrian")
    shown = [label.strip("[]").split(", ") for label in release.table["age"].to_pylist()]
    widths = [int(ends[-1]) - int(ends[0]) + 1 for ends in shown]  # decimals: [20, 21] is charged as [20, 22)
    assert release.loss["gcp"] == pytest.approx((sum(widths) / (96 - 20) + 3) / 243, abs=1e-12)


def test_no_row_was_suppressed_is_not_told() -> None:
    """Where rows may be suppressed, values have the simplest type whether any were or not."""
    table, policy = with_outliers(["20", "20", "20"])
    release = tc.anonymize(table, policy, algorithm="mondrian")
    assert release.suppressed == 0
    assert not any(label.endswith(")") for label in release.table["age"].to_pylist())


def test_no_grid_for_the_published_rows() -> None:
    """Gout has 3 rows of 6, more than alpha allows, all of them below zero. One is suppressed, and two are too few for a cell."""
    table = pa.table({"age": [-1, -1, -1, 1, 1, 1], "ill": ["gout", "gout", "gout", "flu", "cold", "flu"]})
    policy = tc.Policy([tc.Quasi("age", snap="auto")], {"ill": 1}, k=3, alpha=0.45, suppression="1/6")
    with pytest.raises(tc.InfeasibleError, match="Without the rows that are suppressed, snap: auto of 'age' found no grid"):
        tc.anonymize(table, policy, algorithm="mondrian")


@FEW
@given(cases(least=4, containers=("pyarrow",)))
def test_each_cell_has_k_persons_of_the_published_rows(case: Case) -> None:
    """The grid is the one that the twin chooses from the published rows alone."""
    quasi = [
        replace(column, snap="auto", top=None, bottom=None) if on_a_line(case, column) else column for column in case.policy.quasi
    ]
    asked = [column.name for column in quasi if column.snap == "auto"]
    assume(asked)
    case = replace(case, policy=replace(case.policy, quasi=quasi, suppression=case.policy.suppression or 0.3))
    assume(case.algorithm in able(case.policy))
    with tempfile.TemporaryDirectory() as name:
        release = released(case, Path(name))
    if release is None:
        return
    rows = [row for row, label in enumerate(release.partition.tolist()) if label >= 0]
    persons = [case.columns["who"][row] if case.policy.unit == "who" else row for row in rows]
    for name in asked:
        values = [case.columns[name][row] for row in rows]
        expected: dict[str, Any] = {}
        if any(value is not None for value in values):
            grid = naive.grids.chosen(values, persons, case.policy.k or 1)
            assert grid is not None
            expected = dict(zip(("snap", "bottom", "top"), grid, strict=True))
        found = release.record.get("grids", {}).get(name, {})
        for setting, value in expected.items():
            given = found.get(setting)
            assert (exact(given) if isinstance(given, int | float) else given) == (
                str(value) if isinstance(value, date) else value
            )


def on_a_line(case: Case, column: tc.Quasi) -> bool:
    """Whether a quasi-identifier has numbers or dates, published as ranges or their bounds."""
    numbers = not any(isinstance(value, str) for value in case.columns[column.name])
    return numbers and column.hierarchy is None and column.recode in ("range", "bounds")
