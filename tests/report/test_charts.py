"""Charts: what they show, that they stay small, and that no value breaks one."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tclose.report.charts.before_after import before_after
from tclose.report.charts.binning import Groups, edges_of_sizes, grid, whole_ticks
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.emd import emd_by_class
from tclose.report.charts.losses import loss_by_column
from tclose.report.svg import draw_inline
from tests.support.charts import HUGE, LARGE, all_charts

MOST_BYTES = 100_000
CHARTS = all_charts()


def title_of(spec: dict[str, Any]) -> str:
    return " ".join(spec["title"]["text"])


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_plain_and_small_and_says_what_it_shows(name: str) -> None:
    spec = CHARTS[name]
    json.dumps(spec)
    svg = draw_inline(spec)
    assert len(svg.encode()) < MOST_BYTES
    assert len(title_of(spec)) > 10
    assert len(spec["description"]) > 10
    assert re.search(r'viewBox="0 0 [345]\d\d ', svg)


def test_sizes_are_counted_once_each() -> None:
    for sizes in (LARGE, HUGE, np.array([3]), np.array([1, 1, 1000])):
        bars = class_sizes(sizes, k=5)["layer"][0]["data"]["values"]
        assert sum(bar["classes"] for bar in bars) == len(sizes)
        for bar in bars:
            assert bar["classes"] == ((sizes > bar["from"]) & (sizes < bar["to"])).sum()


def test_the_title_of_class_sizes_is_right() -> None:
    spec = class_sizes([2, 4, 9], k=4)
    assert title_of(spec) == "3 classes of 2 to 9 rows; half of them have at most 4"
    assert spec["title"]["subtitle"] == ["Asked: 4 rows or more (the line). 1 class has fewer."]
    assert "1 class of 2 rows" in spec["description"]


def test_classes_beyond_the_limit_are_told_apart_exactly() -> None:
    spec = emd_by_class("pay", [0.3, 0.30000001, 0.1], [5, 5, 5], limit=Fraction(3, 10), broken=[False, True, False])
    points = spec["layer"][0]["data"]["values"]
    assert [point["distance"] for point in points if point["class"] == "farther than t"] == [0.30000001]
    assert title_of(spec).startswith("pay: 1 of 3 classes is farther from the table than t = 0.3")


def test_a_point_for_many_classes_stands_at_the_farthest() -> None:
    x, y = np.array([1.0, 1.0, 9.0]), np.array([0.11, 0.1, 0.9])
    assert grid(x, y, 2, 2) == [(1.0, 0.11, 2), (9.0, 0.9, 1)]


def test_before_and_after_says_how_much_differs() -> None:
    assert (
        title_of(before_after("sex", ["f", "m"], [1, 1], [3, 1], in_order=False))
        == "sex before and after: 25% of the rows are at other values"
    )
    assert title_of(before_after("sex", ["f", "m"], [1, 2], [2, 4], in_order=False)).endswith("the distribution is the same")


def test_columns_are_in_the_order_of_their_losses_and_many_are_cut_with_a_count() -> None:
    spec = loss_by_column({f"c{number}": number / 20 for number in range(20)})
    assert [bar["column"] for bar in spec["data"]["values"]][:2] == ["c19", "c18"]
    assert len(spec["data"]["values"]) == 15
    assert spec["title"]["subtitle"] == ["5 columns with a smaller loss are not shown."]


def test_values_in_order_are_grouped_with_their_neighbours_others_by_their_weight() -> None:
    line = Groups(range(7), [1] * 7, most=3, in_order=True, width=100)
    assert line.labels == ["0 to 2", "3 to 5", "6"]
    assert line.sums([1, 1, 1, 2, 2, 2, 5]) == [3, 6, 5]
    names = Groups("abcdef", [1, 9, 1, 8, 1, 1], most=3, in_order=False, width=100)
    assert names.labels == ["b", "d", "4 others"]
    assert names.sums([1, 9, 1, 8, 1, 1]) == [9, 8, 4]


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 2), (3, 100), (7, 24), (2, 10**6), (10**6, 10**6 + 3)])
def test_edges_of_sizes_are_ascending_and_cover_all(least: int, most: int) -> None:
    edges = edges_of_sizes(np.array([least, most]))
    assert edges == sorted(set(edges))
    assert edges[0] <= least < edges[1]
    assert edges[-1] > most
    assert len(edges) <= 27
    assert all(least <= tick <= most for tick in whole_ticks(least, most))
