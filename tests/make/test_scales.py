"""Scales: how classes are published, what that is charged, and that a reader can tell different classes apart."""

from __future__ import annotations

import csv
import doctest
import importlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tclose import Hierarchy
from tclose.errors import ColumnError, HierarchyError, PolicyError
from tclose.make.scales import IntervalTree, Line, Nominal, Published, Scale, Tree, Widths, unknown
from tclose.values.builders import Intervals
from tclose.values.hierarchy import node_names
from tests import naive

Classes = Sequence[Sequence[Any]]


def line(classes: Classes, table: Sequence[Any] = (), **settings: Any) -> tuple[Line, Published]:
    """The classes, and further values of the table, on a line."""
    cells = [*(value for values in classes for value in values), *table]
    values = sorted(set(naive.present(cells)))
    scale, codes = Line.of("age", values, missing=None in cells, **settings)
    return scale, publish(scale, classes, values, codes)


def nominal(classes: Classes) -> tuple[Nominal, Published]:
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Nominal.of("age", values, missing=None in cells)
    return scale, publish(scale, classes, values, codes)


def tree_scale(classes: Classes, hierarchy: Hierarchy) -> tuple[Tree, Published]:
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Tree.of("age", values, hierarchy, missing=None in cells)
    return scale, publish(scale, classes, values, codes)


def publish(scale: Scale, classes: Classes, values: Sequence[Any], codes: Any) -> Published:
    return scale.publish(*encoded(classes, values, codes))


def encoded(classes: Classes, values: Sequence[Any], codes: Any) -> tuple[Any, Any]:
    at = dict(zip([*values, None], codes.tolist(), strict=False))
    flat = [at[value] for row in classes for value in row]
    return np.array(flat, dtype=np.uint16), np.cumsum([0, *map(len, classes)])


def shown(published: Published, name: str = "age") -> list[Any]:
    """What is published of each class."""
    column = published.columns[name]
    return [column.values[index] for index in column.indices]


def from_widths(widths: Widths, first: int, last: int) -> float:
    """The NCP of a range of codes, as `Widths` defines it."""
    if first == last:
        return float(widths.own[first])
    if widths.missing and last == len(widths.own) - 1:
        return 1.0
    if len(widths.ancestors):
        shared = widths.ancestors[:, first][
            (widths.ancestors[:, first] == widths.ancestors[:, last]) & (widths.ancestors[:, first] >= 0)
        ]
        return float(widths.charges[shared[-1]])
    return min(1.0, float(widths.highs[last] - widths.lows[first]))


# Lines, by hand


def test_a_class_is_published_as_its_range() -> None:
    _, comp = line([[25, 34, 27], [27, 27], [45]])
    assert shown(comp) == ["[25, 34]", "27", "45"]
    assert comp.ncp.tolist() == [0.45, 0, 0]
    assert comp.lm.tolist() == comp.ncp.tolist()
    assert comp.height.tolist() == [1, 0, 0]
    assert comp.estimate.tolist() == [1, 3, 1, 1]  # the codes 25, 27, 34, 45; the first class covers three of them


def test_rows_are_sorted_by_number_and_not_by_text() -> None:
    _, comp = line([[100, 101], [9], [9, 101], [None], [9, None], [-5, 9]])
    assert comp.columns["age"].values == ["[-5, 9]", "9", "9 or missing", "[9, 101]", "[100, 101]", None]


def test_missing_cells_look_like_nothing_else() -> None:
    _, comp = line([[25, None, 34], [27, None], [None, None], [45]])
    assert shown(comp) == ["[25, 34] or missing", "27 or missing", None, "45"]
    assert comp.ncp.tolist() == [1, 1, 0, 0]
    assert comp.height.tolist() == [1, 1, 0, 0]
    assert comp.estimate.tolist() == [0.75, 1.75, 0.75, 1, 3.75]


def test_a_limit_stands_for_all_beyond_it() -> None:
    _, comp = line([[85, 91], [91, 95], [90], [15, 20], [15, 30], [15, 95], [50], [50, None, 95]], top=90, bottom=20)
    assert shown(comp) == [
        "85 or more", "90 or more", "90 or more", "20 or less", "30 or less", "any value", "50", "50 or more or missing",
    ]  # fmt: skip
    # The table reaches from 15 to 95: what is 90 or more may be anything up to 95.
    assert comp.ncp.tolist() == [10 / 80, 5 / 80, 5 / 80, 5 / 80, 15 / 80, 1, 0, 1]
    assert comp.height.tolist() == [1, 1, 1, 1, 1, 1, 0, 1]


def test_limits_that_nobody_reaches_change_nothing() -> None:
    scale, comp = line([[25, 34]], top=90, bottom=10)
    assert shown(comp) == ["[25, 34]"]
    assert scale.size == 2


def test_limits_beyond_the_whole_table_leave_one_value() -> None:
    assert shown(line([[25, 34]], top=10)[1]) == ["10 or more"]
    assert shown(line([[25, 34]], bottom=50)[1]) == ["50 or less"]
    assert line([[25, 34]], bottom=50)[1].ncp.tolist() == [1]


def test_whole_numbers_on_a_grid_end_at_the_last_of_a_cell() -> None:
    _, comp = line([[26, 27], [26, 33], [-3]], snap=5)
    assert shown(comp) == ["[25, 29]", "[25, 34]", "[-5, -1]"]
    assert comp.ncp.tolist() == [4 / 36, 9 / 36, 4 / 36]
    assert comp.height.tolist() == [1, 1, 1]


def test_decimals_on_a_grid_end_before_the_next_cell() -> None:
    values = [Decimal("-0.5"), Decimal("-0.25"), Decimal("1.75")]
    _, comp = line([values[:2], values[1:], [values[2]]], snap=0.5)
    assert shown(comp) == ["[-0.5, 0)", "[-0.5, 2)", "[1.5, 2)"]
    assert comp.ncp.tolist() == [0.5 / 2.25, 1, 0.5 / 2.25]


def test_the_grid_is_exact() -> None:
    # 0.3 / 0.1 is 2.9999999999999996 in floats, and 0.7 / 0.1 is 6.999999999999999.
    _, comp = line([[0.3], [0.7], [0.1, 0.7]], snap=0.1)
    assert shown(comp) == ["[0.3, 0.4)", "[0.7, 0.8)", "[0.1, 0.8)"]
    assert shown(line([[0.5], [0.2, 0.9]], snap="1/3")[1]) == ["[1/3, 2/3)", "[0, 1)"]


def test_a_grid_of_parts_of_whole_numbers_holds_the_whole_ones() -> None:
    assert shown(line([[25], [27], [28], [26, 28]], snap=2.5)[1]) == ["[25, 27]", "[25, 27]", "[28, 29]", "[25, 29]"]
    _, comp = line([[25], [26]], snap=1)
    assert shown(comp) == ["25", "26"]
    assert comp.height.tolist() == [0, 0]


def test_a_grid_ends_at_the_limits() -> None:
    _, comp = line([[18], [22], [21, 92], [90, 91], [95], [18, 27]], snap=5, top=92, bottom=20)
    assert shown(comp) == ["20 or less", "[21, 24]", "21 or more", "[90, 91]", "92 or more", "29 or less"]
    _, comp = line([[18.0], [22.0], [90.5], [95.0], [18.0, 22.5]], snap=5, top=92, bottom=20)
    assert shown(comp) == ["20 or less", "[20, 25)", "[90, 92)", "92 or more", "less than 25"]


@pytest.mark.parametrize(
    ("snap", "labels"),
    [
        (None, ["[2024-12-29, 2025-01-02]", "[2024-12-30, 2025-01-01]", "2024-12-29"]),
        ("day", ["[2024-12-29, 2025-01-02]", "[2024-12-30, 2025-01-01]", "2024-12-29"]),
        ("week", ["[2024-W52, 2025-W01]", "2025-W01", "2024-W52"]),  # Monday the 30th is in the first week of 2025
        ("month", ["[2024-12, 2025-01]", "[2024-12, 2025-01]", "2024-12"]),
        ("quarter", ["[2024-Q4, 2025-Q1]", "[2024-Q4, 2025-Q1]", "2024-Q4"]),
        ("year", ["[2024, 2025]", "[2024, 2025]", "2024"]),
    ],
)
def test_dates_are_on_the_calendar(snap: str | None, labels: list[str]) -> None:
    days = [date(2024, 12, 29), date(2024, 12, 30), date(2025, 1, 1), date(2025, 1, 2)]
    classes = [[days[0], days[3]], [days[1], days[2]], [days[0]]]
    assert shown(line(classes, snap=snap)[1]) == labels
    stamps = [[datetime(day.year, day.month, day.day, 8, 30) for day in days] for days in classes]
    if snap is not None:
        assert shown(line(stamps, snap=snap)[1]) == labels


def test_dates_are_charged_in_days() -> None:
    classes = [[date(2024, 2, 10)], [date(2024, 1, 1), date(2024, 2, 10)], [date(2024, 3, 1)]]
    _, comp = line(classes, snap="month")
    assert shown(comp) == ["2024-02", "[2024-01, 2024-02]", "2024-03"]
    assert comp.ncp.tolist() == [28 / 60, 59 / 60, 30 / 60]


def test_the_ends_of_the_calendar_have_cells_too() -> None:
    classes = [[date.min], [date.max]]
    for snap in ("day", "week", "month", "quarter", "year"):
        assert len(set(shown(line(classes, snap=snap)[1]))) == 2
    assert shown(line(classes, snap="year")[1]) == ["0001", "9999"]


def test_limits_of_dates_are_dates_or_their_text() -> None:
    classes = [[date(2024, 3, 5), date(2024, 3, 10)], [date(2024, 2, 1), date(2024, 3, 10)], [date(2024, 3, 20)]]
    for top in ("2024-03-15", date(2024, 3, 15)):
        assert shown(line(classes, top=top)[1]) == ["[2024-03-05, 2024-03-10]", "[2024-02-01, 2024-03-10]", "2024-03-15 or more"]
        assert shown(line(classes, top=top, snap="month")[1]) == [
            "[2024-03-01, 2024-03-14]", "[2024-02, 2024-03-14]", "2024-03-15 or more",
        ]  # fmt: skip


def test_timestamps_and_times_are_ranges_too() -> None:
    _, comp = line([[datetime(2024, 3, 5, 8), datetime(2024, 3, 5, 9, 30)], [datetime(2024, 3, 5, 11)]])
    assert shown(comp) == ["[2024-03-05 08:00:00, 2024-03-05 09:30:00]", "2024-03-05 11:00:00"]
    assert comp.ncp.tolist() == [0.5, 0]
    _, comp = line([[time(8), time(9, 30)], [time(11)]], top="10:00")
    assert shown(comp) == ["[08:00:00, 09:30:00]", "10:00:00 or more"]
    assert comp.ncp.tolist() == [0.5, 1 / 3]


def test_days_are_those_of_the_time_zone() -> None:
    zone = ZoneInfo("Europe/Berlin")
    late = datetime(2024, 3, 31, 23, 30, tzinfo=zone)  # the clocks went forward that morning
    _, comp = line([[late], [late - timedelta(days=60)]], snap="month", recode="bounds", top=datetime(2025, 1, 1))
    assert shown(comp, "age.min") == [datetime(2024, 3, 1, tzinfo=zone), datetime(2024, 1, 1, tzinfo=zone)]
    assert shown(comp, "age.max")[0] == datetime(2024, 3, 31, 23, 59, 59, tzinfo=zone)
    assert shown(comp, "age.max")[0].astimezone(UTC) == datetime(2024, 3, 31, 21, 59, 59, tzinfo=UTC)
    fixed = datetime(2024, 3, 31, 23, 30, tzinfo=timezone(timedelta(hours=5)))
    assert shown(line([[fixed]])[1]) == ["2024-03-31 23:30:00+05:00"]


def test_a_constant_attribute_costs_nothing() -> None:
    for settings in ({}, {"snap": 5}, {"top": 10}, {"recode": "centroid"}):
        scale, comp = line([[27, 27], [27]], **settings)
        assert comp.ncp.tolist() == [0, 0]
        assert comp.squares is not None
        assert comp.squares.tolist() == [0, 0]
        assert scale.widths().own.tolist() == [0]


@pytest.mark.parametrize("recode", ["range", "bounds", "centroid"])
def test_a_column_without_any_value_is_published_as_missing(recode: str) -> None:
    scale, codes = Line.of("age", [], missing=True, recode=recode, snap=5)
    comp = scale.publish(np.zeros(3, dtype=np.uint8), np.array([0, 1, 3]))
    assert all(shown(comp, name) in ([None, None], [True, True]) for name in comp.columns)
    assert codes.tolist() == [0]
    assert (comp.ncp.tolist(), comp.estimate.tolist()) == ([0, 0], [3])


# Bounds and centroids


def test_bounds_are_two_columns_of_the_column_s_own_type() -> None:
    _, comp = line([[25, 34], [27], [91]], recode="bounds", top=90)
    assert list(comp.columns) == ["age.min", "age.max"]
    assert (shown(comp, "age.min"), shown(comp, "age.max")) == ([25, 27, 90], [34, 27, 90])
    assert {column.type for column in comp.columns.values()} == {"value"}


def test_bounds_say_whether_cells_are_missing() -> None:
    _, comp = line([[25, None, 34], [27], [None]], recode="bounds", snap=5)
    assert shown(comp, "age.min") == [25, 25, None]
    assert shown(comp, "age.max") == [34, 29, None]
    assert shown(comp, "age.missing") == [True, False, True]
    assert comp.columns["age.missing"].type == "boolean"


def test_bounds_of_a_span_of_the_calendar_are_its_first_and_last_day() -> None:
    _, comp = line([[date(2024, 2, 10)], [date(2024, 3, 1)]], recode="bounds", snap="month")
    assert shown(comp, "age.min") == [date(2024, 2, 1), date(2024, 3, 1)]
    assert shown(comp, "age.max") == [date(2024, 2, 29), date(2024, 3, 31)]


@pytest.mark.parametrize(("micro", "last"), [(0, 0), (500_000, 999_000), (1, 999_999)])
def test_bounds_of_timestamps_are_no_finer_than_the_column(micro: int, last: int) -> None:
    _, comp = line([[datetime(2024, 2, 10, 8, 0, 0, micro)]], recode="bounds", snap="day")
    assert shown(comp, "age.max") == [datetime(2024, 2, 10, 23, 59, 59, last)]


@pytest.mark.parametrize(
    ("snap", "low", "high", "kind"),
    [
        (5, Decimal(5), Decimal(10), "float"),  # 10 has one digit more than any value of the column
        (2, Decimal(6), Decimal(8), "value"),
        ("0.25", Decimal("7.5"), Decimal("7.75"), "float"),  # finer than the column
    ],
)
def test_bounds_of_decimals_are_decimals_if_the_column_s_type_holds_them(snap: Any, low: Any, high: Any, kind: str) -> None:
    _, comp = line([[Decimal("7.5")]], recode="bounds", snap=snap)
    assert (shown(comp, "age.min"), shown(comp, "age.max")) == ([low], [high])
    assert comp.columns["age.max"].type == kind


def test_the_centroid_is_the_mean_of_what_is_coded() -> None:
    _, comp = line([[25, 26, 26], [91, 95, 80], [27, None], [None]], recode="centroid", top=90)
    assert shown(comp) == [25.666667, 86.666667, 27.0, None]
    assert comp.columns["age"].type == "float"
    assert shown(comp, "age.missing") == [False, False, True, True]
    assert shown(line([[21, 22]], recode="centroid", snap=5)[1]) == [22]  # the middle of [20, 24]
    assert shown(line([[21.0, 22.0]], recode="centroid", snap=5)[1]) == [22.5]
    assert shown(line([[-0.5, 0.25]], recode="centroid")[1]) == [-0.125]


def test_small_numbers_have_means_too() -> None:
    assert shown(line([[1e-9, 2e-9], [3e-9]], recode="centroid")[1]) == [1.5e-9, 3e-9]


def test_dates_have_a_mean_day_and_timestamps_a_mean_second() -> None:
    _, comp = line(
        [[date(2024, 2, 28), date(2024, 3, 1), date(2024, 3, 1)], [date(2024, 2, 28), date(2024, 3, 3)]], recode="centroid"
    )
    assert shown(comp) == [date(2024, 2, 29), date(2024, 3, 1)]
    assert comp.columns["age"].type == "value"
    stamps = [[datetime(2024, 2, 28, 8), datetime(2024, 2, 28, 8, 0, 2, 400_000)]]
    assert shown(line(stamps, recode="centroid")[1]) == [datetime(2024, 2, 28, 8, 0, 1)]


def test_squares_are_distances_to_what_is_published() -> None:
    _, comp = line([[0, 10, 20], [40]], recode="range")
    assert comp.squares is not None
    assert comp.squares.tolist() == [2 * 0.25**2, 0]
    _, comp = line([[0, 0, 6], [12, None]], recode="centroid")
    assert comp.squares is not None
    assert comp.squares.tolist() == pytest.approx([24 / 144, 1])  # the mean is 2: 4 + 4 + 16, in ranges of 12; and a missing cell
    _, comp = line([[0, 10], [20, 30]], recode="range", top=20, snap=20)
    assert comp.squares is not None
    assert comp.squares.tolist() == [0, 0]  # coded, both rows of a class are the same


def test_huge_numbers_are_exact() -> None:
    big = 10**30
    _, comp = line([[big, big + 2], [big + 8], [big + 3]], recode="centroid")
    assert comp.ncp.tolist() == [0.25, 0, 0]
    assert comp.squares is not None
    assert shown(comp)[0] == float(big + 1)
    assert shown(line([[-big, 2**63]], snap=1000)[1]) == [f"[{-big}, {(2**63 // 1000 + 1) * 1000 - 1}]"]
    assert shown(line([[1e-300, 1e300]])[1]) == [f"[1e-300, {int(1e300)}]"]
    almost = [2**62 - 1, 2**62 + 1]
    assert shown(line([almost * 3], recode="centroid")[1]) == [float(2**62)]


@pytest.mark.parametrize(
    ("values", "length"),
    [([1, 3], "2"), ([1e-300, 3e-300], "2e-300"), ([-1e300, 1e300], "2e+300"), ([-1.7e308, 1.7e308], "1.8e+308"), ([5e-324, 1e308], "1e+308")],
)  # fmt: skip
def test_ranges_of_numbers_of_any_size_are_told_in_words(values: list[Any], length: str) -> None:
    scale, _ = line([values])
    assert scale.width_in_words(1.0) == f"in ranges {length} wide on average"


@pytest.mark.parametrize(
    ("values", "settings", "sentence"),
    [
        ([25], {"snap": "month"}, "snap of 'age' must be a number above 0. Got 'month'."),
        ([25], {"snap": 0}, "snap of 'age' must be a number above 0. Got 0."),
        ([25], {"snap": True}, "snap of 'age' must be a number above 0. Got true."),
        ([25], {"top": "old"}, "top of 'age' must be a number. Got 'old'."),
        ([25], {"top": 90.5}, "top of 'age' must be a whole number, as its values are. Got 90.5."),
        ([25], {"top": 20, "bottom": 90}, "bottom of 'age' must be below its top. Got 90 and 20."),
        ([25], {"top": 20, "bottom": 20}, "bottom of 'age' must be below its top. Got 20 and 20."),
        ([25], {"recode": "level"}, "recode of 'age' must be 'range', 'bounds' or 'centroid' without a hierarchy. Got 'level'."),
        ([date(2024, 1, 1)], {"snap": 5}, "snap of 'age' must be 'day', 'week', 'month', 'quarter' or 'year'. Got 5."),
        ([date(2024, 1, 1)], {"top": 90}, "top of 'age' must be a date, as 2024-03-05. Got 90."),
        ([date(2024, 1, 1)], {"top": "soon"}, "top of 'age' must be a date, as 2024-03-05. Got 'soon'."),
        (
            [datetime(2024, 1, 1)],
            {"snap": "hour"},
            "snap of 'age' must be 'day', 'week', 'month', 'quarter' or 'year'. Got 'hour'.",
        ),
        ([datetime(2024, 1, 1)], {"bottom": 1}, "bottom of 'age' must be a timestamp, as 2024-03-05 08:30:00. Got 1."),
        (
            [datetime(2024, 1, 1)],
            {"top": "2024-01-01T00:00+01:00"},
            "top of 'age' must have no time zone, as its values have none. Got '2024-01-01T00:00+01:00'.",
        ),
        ([time(8)], {"snap": "day"}, "snap of 'age' must be left out: times of day have no grid. Got 'day'."),
        ([time(8)], {"top": "noon"}, "top of 'age' must be a time, as 08:30:00. Got 'noon'."),
        ([time(8)], {"recode": "centroid"}, "recode of 'age' must be 'range' or 'bounds' for times of day. Got 'centroid'."),
    ],
)
def test_settings_that_do_not_fit_get_one_sentence(values: list[Any], settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Line.of("age", values, **settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("values", [["a"], [True], [25, date(2024, 1, 1)], [date(2024, 1, 1), datetime(2024, 1, 2)]])
def test_what_has_no_difference_is_no_line(values: list[Any]) -> None:
    with pytest.raises(ColumnError, match=r"^Column 'age' must hold numbers, dates or times to be published as ranges\."):
        Line.of("age", values)


def test_infinite_numbers_have_no_range() -> None:
    with pytest.raises(ColumnError, match=r"^Column 'age' must hold finite numbers"):
        Line.of("age", [1.0, float("inf")])


# Lines, against the twin


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[list[Any]], dict[str, Any]]:
    """Classes of numbers of one type, some cells missing, and settings."""
    kind = draw(st.sampled_from(["whole", "decimal", "float"]))
    whole = st.integers(-40, 40)
    numbers: dict[str, st.SearchStrategy[Any]] = {
        "whole": whole,
        "decimal": whole.map(lambda number: Decimal(number) / 4),
        "float": whole.map(lambda number: number / 10),
    }
    cells = draw(st.sampled_from([numbers[kind], numbers[kind] | st.none()]))
    classes = draw(st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6))
    limit = st.none() | st.integers(-10, 10)
    bottom, top = draw(limit), draw(limit)
    if bottom is not None and top is not None and bottom >= top:
        bottom = top - 1
    snaps = [None, 1, 5, 7] if kind == "whole" else [None, 1, 5, Fraction(1, 2), Fraction(3, 10)]
    return classes, {"snap": draw(st.sampled_from(snaps)), "top": top, "bottom": bottom}


def as_fractions(values: Sequence[Any]) -> list[Any]:
    """Whole numbers as they are, others as the decimals that are printed."""
    return [value if value is None or isinstance(value, int) else Fraction(str(value)) for value in values]


@given(lines(), st.sampled_from(["range", "bounds", "centroid"]))
def test_charges_of_a_line_are_those_of_the_twin(case: tuple[list[list[Any]], dict[str, Any]], recode: str) -> None:
    classes, settings = case
    _, comp = line(classes, recode=recode, **settings)
    exact = [as_fractions(values) for values in classes]
    table = [value for values in exact for value in values]
    assert comp.ncp.tolist() == pytest.approx([float(naive.ncp_line(values, table, **settings)) for values in exact], rel=1e-14)
    assert comp.squares is not None
    for place, values in enumerate(exact):
        if not naive.present(values):
            assert comp.squares[place] == 0
            continue
        if recode == "centroid":
            centre = naive.centroid(values, **settings)
            assert shown(comp)[place] == float(centre)
        else:
            ends = [naive.ends(value, **settings) for value in naive.present(values)]
            centre = (Fraction(min(low for low, _ in ends)) + Fraction(max(high for _, high in ends))) / 2
        ref = naive.squares(values, table, centre, **settings)
        assert comp.squares[place] == pytest.approx(float(ref), rel=1e-12, abs=1e-14)


@given(lines())
def test_bounds_are_those_of_the_twin(case: tuple[list[list[Any]], dict[str, Any]]) -> None:
    classes, settings = case
    _, comp = line(classes, recode="bounds", **settings)
    for low, high, values in zip(shown(comp, "age.min"), shown(comp, "age.max"), map(as_fractions, classes), strict=True):
        ends = [naive.ends(value, **settings) for value in naive.present(values)]
        if not ends:
            assert (low, high) == (None, None)
            continue
        assert Fraction(str(low)) == min(start for start, _ in ends)
        assert Fraction(str(high)) == max(end for _, end in ends)


@given(lines())
def test_a_reader_finds_the_range_again_in_its_label(case: tuple[list[list[Any]], dict[str, Any]]) -> None:
    classes, settings = case
    _, comp = line(classes, **settings)
    for label, values in zip(shown(comp), map(as_fractions, classes), strict=True):
        inside = naive.present(values)
        if not inside:
            assert label is None
            continue
        assert label.endswith(" or missing") == (None in values)
        low, high = read_back(label.removesuffix(" or missing"))
        ends = [naive.ends(value, **settings) for value in inside]
        below = settings["bottom"] is not None and min(inside) <= settings["bottom"]
        above = settings["top"] is not None and max(inside) >= settings["top"]
        assert low == (None if below else min(start for start, _ in ends))
        assert high == (None if above else max(end for _, end in ends))


def read_back(label: str) -> tuple[Fraction | None, Fraction | None]:
    """The ends of a published range, None where it has none."""
    if label == "any value":
        return None, None
    if label.endswith(" or more"):
        return Fraction(label.removesuffix(" or more")), None
    if label.endswith(" or less"):
        return None, Fraction(label.removesuffix(" or less"))
    if label.startswith("less than "):
        return None, Fraction(label.removeprefix("less than "))
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return Fraction(low), Fraction(high)
    return Fraction(label), Fraction(label)


@given(lines(), st.sampled_from(["range", "bounds", "centroid"]))
def test_a_line_estimates_and_steers_as_it_charges(case: tuple[list[list[Any]], dict[str, Any]], recode: str) -> None:
    classes, settings = case
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Line.of("age", values, missing=None in cells, recode=recode, **settings)
    flat, starts = encoded(classes, values, codes)
    comp = scale.publish(flat, starts)
    parts = [part.tolist() for part in np.split(flat, starts[1:-1])]
    missing = scale.size - 1 if scale.missing else -1
    covers = [set(range(min(part), max({*part} - {missing}, default=missing) + 1)) | ({missing} & {*part}) for part in parts]
    ref = naive.estimate(parts, covers, scale.size)
    assert comp.estimate.tolist() == pytest.approx(list(map(float, ref)), rel=1e-12)
    widths = scale.widths()
    steered = [from_widths(widths, min(part), max(part)) for part in parts]
    assert steered == pytest.approx(comp.ncp.tolist(), rel=1e-12, abs=1e-15)


@given(st.lists(st.dates() | st.none(), min_size=1, max_size=8), st.sampled_from(["day", "week", "month", "quarter", "year"]))
def test_the_span_of_a_date_holds_it(days: list[date | None], snap: str) -> None:
    _, comp = line([days], recode="bounds", snap=snap)
    low, high = shown(comp, "age.min")[0], shown(comp, "age.max")[0]
    inside = naive.present(days)
    if not inside:
        return
    assert low <= min(inside)
    assert high >= max(inside)
    names = {"week": "%G-W%V", "month": "%Y-%m", "year": "%Y", "day": "%Y-%m-%d"}
    if snap in names:
        text = [day.strftime(names[snap]) for day in (low, high, min(inside), max(inside))]
        assert text[:2] == text[2:]


# Trees

ILLNESS = Hierarchy.from_mapping(
    {"lung": {"infection": ["flu", "cold"], "other": ["asthma"]}, "gut": {"other": ["ulcer", "colitis"]}}
)


def test_a_class_is_published_as_the_lowest_label_above_it() -> None:
    _, comp = tree_scale([["flu", "cold"], ["flu", "asthma"], ["ulcer"], ["ulcer", "colitis"], ["ulcer", "flu"]], ILLNESS)
    assert shown(comp) == ["infection", "lung", "ulcer", "other (gut)", "*"]
    assert comp.ncp.tolist() == [2 / 5, 3 / 5, 0, 2 / 5, 1]
    assert comp.lm.tolist() == [1 / 4, 2 / 4, 0, 1 / 4, 1]
    assert comp.height.tolist() == [1 / 3, 2 / 3, 0, 1 / 3, 1]
    assert comp.squares is None
    assert comp.columns["age"].values == ["*", "lung", "infection", "other (gut)", "ulcer"]


def test_only_values_of_the_table_are_charged() -> None:
    scale, comp = tree_scale([["flu", "asthma"], ["ulcer"]], ILLNESS)
    assert scale.size == 3
    assert comp.ncp.tolist() == [2 / 3, 0]
    assert comp.lm.tolist() == [1 / 2, 0]
    assert comp.height.tolist() == [2 / 3, 0]  # heights are those of the whole tree
    assert comp.estimate.tolist() == [1, 1, 1]


def test_codes_follow_the_tree_and_not_the_alphabet() -> None:
    _, codes = Tree.of("age", ["asthma", "cold", "flu"], ILLNESS)
    assert codes.tolist() == [2, 1, 0]


def test_the_deepest_of_a_chain_of_nodes_is_published() -> None:
    chain = Hierarchy([["*", "a", "b", "x"], ["*", "a", "b", "y"]])
    _, comp = tree_scale([["x", "y"], ["x"]], chain)
    assert shown(comp) == ["b", "x"]
    assert comp.height.tolist() == [1 / 3, 0]


def test_missing_cells_stand_beside_a_tree_without_a_place_for_them() -> None:
    scale, comp = tree_scale([["flu", None], ["flu", "cold", None], [None], ["flu"]], ILLNESS)
    assert scale.missing
    assert shown(comp) == ["flu or missing", "infection or missing", None, "flu"]
    assert comp.ncp.tolist() == comp.lm.tolist() == comp.height.tolist() == [1, 1, 0, 0]
    assert comp.estimate.tolist() == [3, 1, 3]


def test_missing_cells_are_a_leaf_if_the_tree_has_one() -> None:
    tree = Hierarchy([["*", "known", "a"], ["*", "known", "b"], ["*", ""]])
    scale, comp = tree_scale([["a", None], [None], ["a", "b"]], tree)
    assert not scale.missing
    assert shown(comp) == ["*", None, "known"]
    assert comp.ncp.tolist() == [1, 0, 2 / 3]


def test_a_single_value_in_all_costs_nothing() -> None:
    for tree in (Hierarchy([["a"]]), Hierarchy([["*", "x", "a"]])):
        scale, comp = tree_scale([["a", "a"], ["a"]], tree)
        assert shown(comp) == ["a", "a"]
        assert comp.ncp.tolist() == comp.lm.tolist() == comp.height.tolist() == [0, 0]
        assert scale.widths().own.tolist() == [0]


def test_a_column_of_missing_cells_only_has_a_tree_too() -> None:
    _, comp = tree_scale([[None], [None, None]], ILLNESS)
    assert shown(comp) == [None, None]
    assert comp.estimate.tolist() == [3]


def test_values_that_a_tree_does_not_know_are_given_back() -> None:
    assert unknown(["flu", 39, None, "gout"], ILLNESS) == [39, "gout"]
    with pytest.raises(HierarchyError):
        Tree.of("age", ["gout"], ILLNESS)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([["*", "x", "a"], ["*", "y", "x"]], ["*", "x (*)", "a", "y", "x"]),  # a label above, and a value
        ([["a", "b", "c"], ["a", "d", "a"]], ["a (all)", "b", "c", "d", "a"]),  # the root, and a value
        (  # the same two labels in two places
            [["*", "p", "x", "o", "a"], ["*", "q", "x", "o", "b"]],
            ["*", "p", "x (p)", "o (x, p)", "a", "q", "x (q)", "o (x, q)", "b"],
        ),
        ([["*", "x", "o", "a"], ["*", "y", "o", "b"], ["*", "o (x)"]], ["*", "x", "o (x, *)", "a", "y", "o (y)", "b", "o (x)"]),
        ([["*", "x", "x (*)"], ["*", "y", "x"]], ["*", "x (*) 2", "x (*)", "y", "x"]),
    ],
)
def test_names_of_nodes_are_unique(paths: list[list[str]], names: list[str]) -> None:
    assert node_names(Hierarchy(paths)) == names
    assert len(set(names)) == len(names)


def test_a_label_that_speaks_of_missing_cells_is_told_from_missing_cells() -> None:
    tree = Hierarchy([["*", "a"], ["*", "a or missing"]])
    _, comp = tree_scale([["a", None], ["a or missing"]], tree)
    assert shown(comp) == ["a or missing cell", "a or missing"]


SHAPES = st.recursive(st.none(), lambda below: st.lists(below, min_size=1, max_size=3), max_leaves=9)


def labelled(shape: Any, path: str = "") -> naive.Tree:
    """A tree of this shape: leaves called by the way to them, nodes by their place, so that many that are no siblings are alike."""
    if shape is None:
        return f"leaf{path}"
    return (f"node {path[-1:]}", [labelled(part, f"{path}.{place}") for place, part in enumerate(shape)])


@st.composite
def tree_cases(draw: st.DrawFn) -> tuple[naive.Tree, list[list[Any]]]:
    tree = labelled(draw(SHAPES))
    cells: st.SearchStrategy[Any] = st.sampled_from(naive.leaves(tree))
    cells = draw(st.sampled_from([cells, cells | st.none()]))
    return tree, draw(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=6))


@given(tree_cases())
def test_charges_of_a_tree_are_those_of_the_twin(case: tuple[naive.Tree, list[list[Any]]]) -> None:
    tree, classes = case
    table = [value for values in classes for value in values]
    scale, comp = tree_scale(classes, Hierarchy(naive.paths(tree)))
    assert comp.ncp.tolist() == [float(naive.ncp_tree(values, table, tree)) for values in classes]
    assert comp.lm.tolist() == [float(naive.lm_tree(values, table, tree)) for values in classes]
    heights = [
        0.0
        if not naive.present(values)
        else 1.0
        if None in values
        else naive.height(naive.lowest(tree, values)) / max(naive.height(tree), 1)
        for values in classes
    ]
    assert comp.height.tolist() == heights
    ordered = [leaf for leaf in naive.leaves(tree) if leaf in table] + [None] * (None in table)
    covers = [
        {ordered.index(leaf) for leaf in naive.leaves(naive.lowest(tree, naive.present(values))) if leaf in table}
        if naive.present(values)
        else set()
        for values in classes
    ]
    covers = [cover | ({len(ordered) - 1} if None in values else set()) for cover, values in zip(covers, classes, strict=True)]
    parts = [[ordered.index(value) for value in values] for values in classes]
    ref = naive.estimate(parts, covers, scale.size)
    assert comp.estimate.tolist() == pytest.approx(list(map(float, ref)), rel=1e-12)
    widths = scale.widths()
    assert [from_widths(widths, min(part), max(part)) for part in parts] == comp.ncp.tolist()


@given(tree_cases())
def test_a_reader_tells_the_nodes_of_a_tree_apart(case: tuple[naive.Tree, list[list[Any]]]) -> None:
    tree, classes = case
    _, comp = tree_scale(classes, Hierarchy(naive.paths(tree)))
    covered = [
        (frozenset(naive.leaves(naive.lowest(tree, naive.present(values)))) if naive.present(values) else None, None in values)
        for values in classes
    ]
    found = dict(zip(shown(comp), covered, strict=True))
    assert [found[label] for label in shown(comp)] == covered


# Sets


def test_a_class_is_published_as_the_set_of_its_values() -> None:
    scale, comp = nominal([["cook", "smith"], ["nurse", "nurse"], ["cook", "nurse", None], [None], ["nurse", None]])
    assert shown(comp) == ["{cook, smith}", "nurse", "{cook, nurse} or missing", None, "nurse or missing"]
    assert scale.size == 4
    assert comp.ncp.tolist() == [2 / 4, 0, 3 / 4, 0, 2 / 4]
    assert comp.lm.tolist() == [1 / 3, 0, 2 / 3, 0, 1 / 3]
    assert comp.height.tolist() == [1, 0, 1, 0, 1]
    assert comp.squares is None
    assert comp.estimate.tolist() == [2, 2 + 1 + 1, 1, 1 + 1 + 1]
    assert comp.columns["age"].values == ["{cook, nurse} or missing", "{cook, smith}", "nurse", "nurse or missing", None]


def test_members_that_could_be_taken_for_others_are_quoted() -> None:
    _, comp = nominal(
        [
            ["a, b", "c"],
            ["a", "b", "c"],
            ["a, b"],
            ['"a"'],
            ["{a, b}"],
            ["", "a"],
            [""],
            ["a or missing"],
            [" a", "b"],
            ['x"', "y"],
        ]
    )
    assert shown(comp) == [
        '{"a, b", c}', "{a, b, c}", "a, b", '"""a"""', '"{a, b}"', '{"", a}', '""', '"a or missing"', '{" a", b}', '{"x""", y}',
    ]  # fmt: skip


def test_values_of_any_type_are_printed() -> None:
    assert Nominal.of("x", [True, False])[0].publish(np.array([0, 1]), np.array([0, 2])).columns["x"].values == ["{true, false}"]
    scale, codes = Nominal.of("x", [39, "39", date(2024, 1, 1)])
    assert (scale.size, codes.tolist()) == (2, [0, 0, 1])  # what prints alike is one value


def test_one_value_in_all_is_no_loss() -> None:
    scale, comp = nominal([["a"], ["a", "a"]])
    assert comp.ncp.tolist() == comp.lm.tolist() == [0, 0]
    assert scale.widths().highs.tolist() == [1]


TEXTS = st.text(alphabet='ab ,{}"', max_size=4) | st.sampled_from(
    ["a or missing", "b or missing", "{a} or missing", '"a" or missing']
)


@given(st.lists(st.lists(TEXTS | st.none(), min_size=1, max_size=4), min_size=1, max_size=12))
def test_different_sets_have_different_labels(classes: list[list[Any]]) -> None:
    _, comp = nominal(classes)
    found = dict(zip(shown(comp), map(set, classes), strict=True))
    assert [found[label] for label in shown(comp)] == [set(values) for values in classes]
    assert [label is None for label in shown(comp)] == [set(values) == {None} for values in classes]
    assert "" not in found


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=4, unique=True), min_size=1, max_size=4))
def test_a_csv_reader_finds_the_members_again(classes: list[list[str]]) -> None:
    _, comp = nominal(classes)
    for label, values in zip(shown(comp), classes, strict=True):
        assert next(csv.reader([label[1:-1]], skipinitialspace=True)) == sorted(values)


@given(st.lists(st.lists(st.sampled_from("abcdefg") | st.none(), min_size=1, max_size=5), min_size=1, max_size=8))
def test_charges_of_sets_are_those_of_the_twin(classes: list[list[Any]]) -> None:
    table = [value for values in classes for value in values]
    scale, comp = nominal(classes)
    assert comp.ncp.tolist() == [float(naive.ncp_set(values, table)) for values in classes]
    assert comp.lm.tolist() == [float(naive.lm_set(values, table)) for values in classes]
    ordered = [*sorted(set(naive.present(table))), None]
    parts = [[ordered.index(value) for value in values] for values in classes]
    ref = naive.estimate(parts, [set(part) for part in parts], scale.size)
    assert comp.estimate.tolist() == pytest.approx(list(map(float, ref)), rel=1e-12)
    widths = scale.widths()
    for part, charge in zip(parts, comp.ncp.tolist(), strict=True):
        assert charge <= from_widths(widths, min(part), max(part)) + 1e-15
    order = [
        tuple(sorted(set(parts[comp.columns["age"].indices.tolist().index(place)])))
        for place in range(len(comp.columns["age"].values))
    ]
    assert order == sorted(order)


# All scales


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int64])
def test_codes_of_any_width_are_read(dtype: type) -> None:
    codes: Any = np.array([0, 2, 1, 3, 3], dtype=dtype)
    starts = np.array([0, 2, 3, 5])
    for scale in (
        Line.of("age", [25, 27, 34], missing=True)[0],
        Tree.of("age", ["flu", "cold", "asthma"], ILLNESS, missing=True)[0],
        Nominal.of("age", ["a", "b", "c"], missing=True)[0],
    ):
        comp = scale.publish(codes, starts)
        assert len(set(shown(comp))) == 3
        assert shown(comp)[2] is None
        assert comp.estimate.sum() == 5


def test_no_class_at_all_is_published_too() -> None:
    none, starts = np.array([], dtype=np.uint8), np.array([0])
    scales: list[Scale] = [Line.of("age", [25, 27], recode=recode)[0] for recode in ("range", "bounds", "centroid")]
    scales += [Tree.of("age", ["flu", "cold"], ILLNESS)[0], Nominal.of("age", ["a", "b"])[0]]
    for scale in scales:
        comp = scale.publish(none, starts)
        assert comp.ncp.tolist() == []
        assert comp.estimate.tolist() == [0, 0]


def test_the_codebook_names_settings_and_no_values() -> None:
    scale, _ = line([[25, 34, None]], snap=5, top=90, bottom=20)
    assert scale.describe("age", missing=True) == (
        "The range of 'age' among the rows of the class, or the value that they agree on, widened to a grid of 5; "
        "20 or less is one value; 90 or more is one value; 'or missing' says that some rows miss it."
    )
    assert line([[date(2024, 1, 1)]], snap="month", recode="bounds")[0].describe("age.min", missing=False) == (
        "The least 'age' among the rows of the class, widened to a grid of months."
    )
    rates = line([[Decimal("20.1"), Decimal("29.5")]], snap=Fraction("0.05"), bottom=Fraction("20.1"), top=Fraction("29.5"))[0]
    assert "grid of 0.05; 20.1 or less is one value; 29.5 or more is one value." in rates.describe("age", missing=False)
    for other in (tree_scale([["flu", None]], ILLNESS)[0], nominal([["flu", None]])[0]):
        assert "flu" not in other.describe("age", missing=True)
        assert "or missing" in other.describe("age", missing=True)


@pytest.mark.parametrize("module", ["everything", "intervals", "line", "nominal", "tree"])
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"tclose.make.scales.{module}"))
    assert result.attempted
    assert not result.failed


# What published classes may stand for


def check_covers(scale: Scale, flat: Any, starts: Any) -> None:
    """A class covers a code exactly if it is published as the same with that code added."""
    comp, covers = told(scale.publish(flat, starts)), scale.covers(flat, starts)
    parts = np.split(flat, starts[1:-1])
    for code in range(scale.size):
        more = np.concatenate([np.append(part, code) for part in parts])
        again = told(scale.publish(more, starts + np.arange(len(starts))))
        assert covers(code).tolist() == [one == other for one, other in zip(comp, again, strict=True)], code


def told(published: Published) -> list[dict[str, Any]]:
    """What is published of each class, in all columns; no column of missing cells says that none is missing."""
    columns = {"age.missing": [False] * len(published.ncp), **{name: shown(published, name) for name in published.columns}}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@st.composite
def moments(draw: st.DrawFn) -> tuple[list[list[Any]], dict[str, Any]]:
    """Classes of dates, timestamps or times of day, some cells missing, and settings."""
    days = st.integers(0, 400).map(lambda number: date(2023, 12, 25) + timedelta(days=number))
    hours = st.integers(0, 23).map(time)
    both = st.builds(datetime.combine, days, hours)
    zoned = both.map(lambda moment: moment.replace(tzinfo=timezone(timedelta(hours=1))))
    cells: Any = draw(st.sampled_from([days, hours, both, zoned]))
    clock = cells is hours
    some: st.SearchStrategy[Any] = draw(st.sampled_from([cells, cells | st.none()]))
    limit = st.none() | cells
    bottom, top = draw(limit), draw(limit)
    if bottom is not None and top is not None and bottom >= top:
        bottom = None
    snap = None if clock else draw(st.sampled_from([None, "day", "week", "month", "quarter", "year"]))
    classes = draw(st.lists(st.lists(some, min_size=1, max_size=5), min_size=1, max_size=6))
    return classes, {"snap": snap, "top": top, "bottom": bottom}


@given(lines() | moments(), st.sampled_from(["range", "bounds"]))
@example(([[18.0], [22.0], [31.0]], {"snap": 5, "top": 30, "bottom": 20}), "bounds")  # the limits are ends of cells too
def test_what_ranges_and_bounds_cover(case: tuple[list[list[Any]], dict[str, Any]], recode: str) -> None:
    classes, settings = case
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Line.of("age", values, missing=None in cells, recode=recode, **settings)
    check_covers(scale, *encoded(classes, values, codes))
    if recode == "range":
        check_covers(scale.at_level(0), *encoded(classes, values, codes))


@given(lines())
def test_a_mean_covers_what_its_range_covers(case: tuple[list[list[Any]], dict[str, Any]]) -> None:
    classes, settings = case
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    covers = []
    for recode in ("range", "centroid"):
        scale, codes = Line.of("age", values, missing=None in cells, recode=recode, **settings)
        found = scale.covers(*encoded(classes, values, codes))
        covers.append([found(code).tolist() for code in range(scale.size)])
    assert covers[0] == covers[1]


@given(tree_cases())
def test_what_labels_of_a_tree_cover(case: tuple[naive.Tree, list[list[Any]]]) -> None:
    tree, classes = case
    check_tree_covers(classes, Hierarchy(naive.paths(tree)))


@given(st.lists(st.lists(st.text("01", max_size=3) | st.none(), min_size=1, max_size=4), min_size=1, max_size=6))
def test_what_prefixes_cover(classes: list[list[Any]]) -> None:
    values = {value for part in classes for value in part if value is not None}
    check_tree_covers(classes, Hierarchy.from_prefixes(values) if values else Hierarchy([["*"]]))


def test_what_labels_of_a_tree_with_a_leaf_for_missing_cells_cover() -> None:
    tree = Hierarchy([["*", "known", "a"], ["*", "known", "b"], ["*", ""]])
    check_tree_covers([["a", None], [None], ["a", "b"], ["b"]], tree)


def check_tree_covers(classes: Classes, tree: Hierarchy) -> None:
    """What the labels of a tree cover, lowest above a class or at each level."""
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Tree.of("age", values, tree, missing=None in cells)
    flat, starts = encoded(classes, values, codes)
    for each in (scale, *(scale.at_level(level) for level in range(scale.levels))):
        check_covers(each, flat, starts)


@given(st.lists(st.lists(st.sampled_from("abcde") | st.none(), min_size=1, max_size=5), min_size=1, max_size=6))
def test_what_sets_cover(classes: list[list[Any]]) -> None:
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = Nominal.of("age", values, missing=None in cells)
    check_covers(scale, *encoded(classes, values, codes))
    check_covers(scale.at_level(0), *encoded(classes, values, codes))


@given(lines())
def test_what_intervals_cover(case: tuple[list[list[Any]], dict[str, Any]]) -> None:
    classes, _ = case
    cells = [value for values in classes for value in values]
    values = sorted(set(naive.present(cells)))
    scale, codes = IntervalTree.of_builder("age", values, Intervals.read([5, 10]), missing=None in cells)
    flat, starts = encoded(classes, values, codes)
    for each in (scale, *(scale.at_level(level) for level in range(scale.levels))):
        check_covers(each, flat, starts)
