"""Charts: what they show, that they stay small, and that no value breaks one."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tclose.report.charts.before_after import before_after
from tclose.report.charts.binning import Groups, edges_of_sizes, grid, whole_ticks
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.emd import emd_by_class
from tclose.report.charts.fragmentation import Box, fragmentation_boxes
from tclose.report.charts.frontier import Outcome, frontier
from tclose.report.charts.hierarchy import hierarchy_tree
from tclose.report.charts.losses import loss_by_column
from tclose.report.charts.transport import transport_plan
from tclose.report.look import RED
from tclose.report.svg import draw_inline
from tests.support.charts import CODES, DISEASES, HUGE, LARGE, all_charts, plan_of

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


def test_no_bar_has_classes_on_both_sides_of_k() -> None:
    for k in (2, 5, 20, 21, 97, 900):
        bars = class_sizes(LARGE, k=k)["layer"][0]["data"]["values"]
        assert not any(bar["from"] < k - 0.5 < bar["to"] for bar in bars)
        assert sum(bar["classes"] for bar in bars if bar["below"]) == (k > LARGE).sum()


def test_bars_of_class_sizes_are_as_wide_and_begin_at_the_smallest_class() -> None:
    """On a plain scale all bars are alike. They begin at k only where classes are smaller: none has classes on both sides of k."""
    for least, most, k in ((5, 80, 5), (7, 200, 5), (6, 240, 5), (12, 100, 30), (5, 31, 5), (3, 90, 5)):
        spec = class_sizes(np.arange(least, most), k=k)
        bars = spec["layer"][0]["data"]["values"]
        assert spec["layer"][0]["encoding"]["x"]["scale"]["type"] == "linear"
        assert len({bar["to"] - bar["from"] for bar in bars}) == 1
        start = least if least >= k else k
        assert all((bar["from"] - (start - 0.5)) % (bar["to"] - bar["from"]) == 0 for bar in bars)
        assert bars[0]["from"] == start - 0.5 or least < k


@pytest.mark.parametrize(("least", "most"), [(14, 288), (5, 300), (40, 5_000), (900, 1000), (7, 10**6)])
def test_on_a_logarithmic_axis_bars_begin_at_the_smallest_class_and_grow_with_the_sizes(least: int, most: int) -> None:
    """The axis reaches down to k: from 14 to 288 rows no bar is at 5, and none is wider than others for the eye."""
    spec = class_sizes(np.arange(least, most + 1), k=5)
    bars = spec["layer"][0]["data"]["values"]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["type"] == "log"
    assert bars[0]["from"] == least - 0.5
    assert bars[-1]["from"] < most < bars[-1]["to"]
    assert f" to {most:,} rows." in spec["description"]
    assert f" of {least:,} to {most:,} rows" in title_of(spec)
    widths = [bar["to"] - bar["from"] for bar in bars]
    assert widths == sorted(widths)
    assert max(map(math.log, (bar["to"] / bar["from"] for bar in bars))) < 0.7


def test_k_that_counts_something_else_is_not_said_of_what_is_shown() -> None:
    spec = class_sizes([7, 9], k=5, asked="person")
    said = "Asked: 5 persons or more (the line). Here rows are counted: there are at least as many as persons."
    assert said in " ".join(spec["title"]["subtitle"])


def test_axes_of_shares_end_at_100_percent() -> None:
    for first in ([1, 0], [9, 1], [60, 40]):
        (axis,) = {
            json.dumps(layer["encoding"]["x"]["axis"])
            for layer in before_after("sex", ["f", "m"], first, [1, 3], in_order=False)["layer"]
        }
        assert max(json.loads(axis)["values"]) <= 1
        assert json.loads(axis)["domain"] is False
    axis = loss_by_column({"age": 1.0})["layer"][0]["encoding"]["x"]["axis"]
    assert (max(axis["values"]), axis["domain"]) == (1, False)


def test_the_title_of_class_sizes_is_right() -> None:
    spec = class_sizes([2, 4, 9], k=4)
    assert title_of(spec) == "3 classes of 2 to 9 rows; median 4"
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
        == "sex before and after: 25.0% of the rows are at other values"
    )
    assert title_of(before_after("sex", ["f", "m"], [1, 2], [2, 4], in_order=False)).endswith("the distribution is the same")


def test_columns_are_in_the_order_of_their_losses_and_many_are_cut_with_a_count() -> None:
    spec = loss_by_column({f"c{number}": number / 20 for number in range(20)})
    assert [bar["column"] for bar in spec["data"]["values"]][:2] == ["c19", "c18"]
    assert len(spec["data"]["values"]) == 15
    assert spec["title"]["subtitle"] == ["5 columns with a smaller loss are not shown."]
    assert title_of(spec) == "c19 lost the most detail: 95.0%"


def test_weights_of_columns_are_told_only_where_they_differ() -> None:
    alike, weighted = (loss_by_column({"a": 0.5}, overall=0.5, weighted=weighted) for weighted in (False, True))
    assert alike["title"]["subtitle"] == ["All quasi-identifiers together: 50.0%."]
    assert weighted["title"]["subtitle"] == ["All quasi-identifiers together, by their weights: 50.0%."]


def test_a_plan_shows_the_moves_of_the_first_paper() -> None:
    spec = plan_of("salary", range(3, 12), [1, 1, 1, 0, 0, 0, 0, 0, 0], [1] * 9, in_order=True)
    bars, lines = (spec["layer"][number]["data"]["values"] for number in (0, 1))
    assert sum(line["mass"] for line in lines) == pytest.approx(6 / 9)
    assert {line["from"] for line in lines} == {"3", "4", "5"}
    assert [bar["value"] for bar in bars if bar["moves"] and bar["from"] < 0.5] == ["3", "4", "5"]
    assert title_of(spec) == "salary: 66.7% of the class has to move until it is distributed as the table; EMD 0.3750"


def test_moves_between_values_that_share_a_line_are_counted() -> None:
    spec = plan_of("salary", range(24), [1] * 23 + [3], [1] * 22 + [2, 2], in_order=True)
    assert len(spec["layer"]) == 5  # no moves between groups
    assert "3.8% moves between values that share a line" in spec["description"]


def test_a_hierarchy_counts_values_or_rows() -> None:
    tree = hierarchy_tree(DISEASES.labels, DISEASES.parents)
    assert title_of(tree) == "A hierarchy of 5 values on 4 levels"
    assert "respiratory: 3 values" in tree["description"]
    assert "Labels on each level, from the top down: 1, 2, 3 and 5." in tree["description"]
    assert (
        "infection: 7 rows" in hierarchy_tree(DISEASES.labels, DISEASES.parents, rows={"flu": 4, "bronchitis": 3})["description"]
    )
    assert "levels below are not shown" in hierarchy_tree(CODES.labels, CODES.parents)["description"]


def test_a_box_with_a_gap_is_drawn_in_parts() -> None:
    spec = fragmentation_boxes(["a", "b"], ["wxyz", "pq"], [Box(([0, 1, 3], [0, 1]), 5), Box(([2], [0, 1]), 2)])
    drawn = [(one["x"], one["x2"], one["rows"]) for one in spec["layer"][0]["data"]["values"]]
    assert drawn == [(-0.5, 1.5, 5), (2.5, 3.5, 5), (1.5, 2.5, 2)]


def test_the_frontier_names_what_is_not_dominated() -> None:
    spec = frontier(
        [Outcome("a", 0.1, 0.3, False, "t=0.3"), Outcome("b", 0.2, 0.2, False), Outcome("c", 0.3, 0.4, True)],
        loss="GCP",
        risk="t",
    )
    assert title_of(spec) == "2 of 3 releases are beaten by no other: a and b"
    assert "a (t=0.3): GCP 0.1, t 0.3; b: GCP 0.2, t 0.2" in spec["description"]
    hollow, filled = (spec["layer"][number]["data"]["values"] for number in (1, 2))
    assert [[point["name"] for point in points] for points in (hollow, filled)] == [["c"], ["a", "b"]]


def test_twelve_algorithms_have_colours_and_shapes_of_their_own_and_points_short_labels() -> None:
    outcomes = [Outcome(f"a{number}", 0.1 * number, 1 - 0.05 * number, number > 0, "t=0.1", "0.1") for number in range(12)]
    spec = frontier(outcomes, loss="GCP", risk="t", labelled="t")
    for channel in ("fill", "shape"):
        assert len(set(spec["layer"][1]["encoding"][channel]["scale"]["range"])) == 12, channel
    assert "the t that was asked" in spec["description"]
    texts = [text["text"] for layer in spec["layer"] for text in layer["data"]["values"] if "text" in text]
    assert texts
    assert set(texts) == {"0.1"}


def test_small_losses_have_more_room_where_most_are_small() -> None:
    def scale(losses: list[float]) -> str:
        outcomes = [Outcome("a", loss, 0.1, number > 0) for number, loss in enumerate(losses)]
        kind: str = frontier(outcomes, loss="GCP", risk="t")["layer"][0]["encoding"]["x"]["scale"]["type"]
        return kind

    assert scale([0.01, 0.02, 0.03, 0.04, 0.1, 0.3, 0.5, 0.8]) == "sqrt"
    assert scale([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) == "linear"
    assert scale([-0.1, 0.0, 0.0, 0.01, 0.02, 0.03, 0.5, 0.8]) == "linear"


@pytest.mark.parametrize("scale", [1, 100, 1e4])
def test_the_axis_of_losses_has_plain_numbers(scale: float) -> None:
    losses = [scale * loss for loss in (0.01, 0.02, 0.03, 0.04, 0.1, 0.3, 0.5, 0.85)]
    drawn = draw_inline(frontier([Outcome("a", loss, 0.1, number > 0) for number, loss in enumerate(losses)], loss="%", risk="t"))
    labels = set(re.findall(r">([^<>]+)</text>", drawn))
    assert {f"{share * scale / 10:,g}".replace(",", "") for share in (1, 2, 4, 6, 8)} <= labels
    assert not any(re.fullmatch(r"[0-9.]+e[+-]?[0-9]+", label) for label in labels)


def test_a_class_within_t_that_breaks_another_limit_is_not_shown_as_one_that_satisfies_all() -> None:
    spec = emd_by_class("pay", [0.1, 0.1, 0.3], [1, 9, 9], limit=Fraction(1, 5), otherwise=[True, False, True])
    points = {point["rows"]: point["class"] for point in spec["layer"][0]["data"]["values"] if point["distance"] < 0.2}
    assert points == {1: "breaks another limit", 9: "satisfies all limits"}
    assert "1 class within t, but beyond another limit" in spec["description"]
    colours = spec["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(colours["domain"], colours["range"], strict=True))["breaks another limit"] == RED


def test_red_bars_of_a_plan_are_as_long_as_the_moves_are_heavy() -> None:
    spec = transport_plan("pay", "abc", [1, 1, 0], [0, 1, 1], [(0, 1, 0.5), (1, 2, 0.5)], emd=0.5, in_order=True)
    bars, lines = (spec["layer"][number]["data"]["values"] for number in (0, 1))
    for side in (-1, 1):
        moving = [abs(bar["to"] - bar["from"]) for bar in bars if bar["moves"] and side * (bar["from"] - 0.5) > 0]
        assert sum(moving) / 0.4 == pytest.approx(sum(line["mass"] for line in lines))  # half of the rows is 0.2 wide
    assert [bar["value"] for bar in bars if bar["moves"] and bar["from"] < 0.5] == ["a", "b"]  # b gives as much as it takes


def test_values_in_order_are_grouped_with_their_neighbours_others_by_their_weight() -> None:
    line = Groups(range(7), [1] * 7, most=3, in_order=True, width=100)
    assert line.labels == ["0 to 2", "3 to 5", "6"]
    assert line.sums([1, 1, 1, 2, 2, 2, 5]) == [3, 6, 5]
    names = Groups("abcdef", [1, 9, 1, 8, 1, 1], most=3, in_order=False, width=100)
    assert names.labels == ["b", "d", "4 others"]
    assert names.sums([1, 9, 1, 8, 1, 1]) == [9, 8, 4]


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 2), (3, 100), (7, 24), (2, 10**6), (10**6, 10**6 + 3)])
def test_edges_of_sizes_are_ascending_and_cover_all(least: int, most: int) -> None:
    for k in (0, 2, 5, most + 1):
        for logarithmic in (False, True):
            edges = edges_of_sizes(np.array([least, most]), k, logarithmic=logarithmic)
            assert edges == sorted(set(edges))
            assert edges[0] <= least < edges[1]
            assert edges[0] == least or k > least
            assert edges[-1] > most
            assert len(edges) <= 27
    assert all(least <= tick <= most for tick in whole_ticks(least, most))
