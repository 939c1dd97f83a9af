"""Charts of small, large and hostile data: what every test of charts goes through."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tclose.judge.transport import emd, transport
from tclose.report.charts.attribute import attribute_in_class
from tclose.report.charts.before_after import before_after
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.emd import emd_by_class
from tclose.report.charts.fragmentation import Box, fragmentation_boxes
from tclose.report.charts.frontier import Outcome, frontier
from tclose.report.charts.hierarchy import hierarchy_tree
from tclose.report.charts.losses import loss_by_column
from tclose.report.charts.transport import transport_plan
from tclose.values.hierarchy import Hierarchy

RNG = np.random.default_rng(7)
HOSTILE = [
    "<script>alert(1)</script>", "\"'&]]>", "a\x00b\x1b[2J", "\u202egpj.exe", "שלום עולם", "مرحبا بالعالم", "漢字" * 50, "W" * 300,
    *("x" * 10_000 + str(number) + "x" * 10_000 for number in range(6)), "\ud800", "", None, "Z̸" * 9, "👩‍🔬" * 40,
]  # fmt: skip
"""Values that a table may hold and no picture should suffer from."""
NAME = "<b>" + "salary\x00\u202e" * 2000
"""Of a column."""
LARGE = (5 * np.exp(RNG.gamma(2.0, 0.8, 200))).astype(np.int64)
"""Sizes of 200 classes, from a few rows to some thousands."""
HUGE = (3 * np.exp(RNG.gamma(2.0, 1.0, 60_000))).astype(np.int64)
"""Sizes of classes of a table of some millions of rows."""
ALONE = np.ones(200, dtype=np.int64)
"""Sizes of 200 classes of one row."""


def counts_of(values: int) -> list[int]:
    counts: list[int] = RNG.integers(0, 50, values).tolist()
    return counts


def plan_of(name: str, values: Any, of_class: list[int], table: list[int], *, in_order: bool) -> dict[str, Any]:
    """Return the chart of an optimal plan over values in an order."""
    codes = list(range(len(values)))
    moves = [(move.source, move.target, float(move.mass)) for move in transport(of_class, table, values=codes)]
    return transport_plan(name, values, of_class, table, moves, emd=emd(of_class, table, exact=True), in_order=in_order)


def boxes_of(columns: int, rows: int, width: int) -> list[Box]:
    """Return boxes that cover a grid of codes; the codes of every third one have a gap."""
    spans = [range(first, min(first + width, columns)) for first in range(0, columns, width)]
    return [
        Box((span, [row, row + rows // 2]) if number % 3 else (span[::2], [row, row + rows // 2]), 10 * number + row)
        for number, span in enumerate(spans)
        for row in range(rows // 2)
    ]


def outcomes_of(names: list[str]) -> list[Outcome]:
    """Return a release of each algorithm at five limits."""
    found = [
        (name, 0.1 + 0.05 * (number % 12) - 0.4 * t + 0.05 * RNG.random(), t * (0.8 + 0.2 * RNG.random()), f"t={t}")
        for number, name in enumerate(names)
        for t in (0.05, 0.1, 0.15, 0.2, 0.3)
    ]
    return [
        Outcome(name, loss, risk, any(a <= loss and b <= risk and (a, b) != (loss, risk) for _, a, b, _ in found), detail)
        for name, loss, risk, detail in found
    ]


DISEASES = Hierarchy.from_mapping(
    {
        "respiratory": {"infection": ["flu", "bronchitis"], "vascular": ["embolism"]},
        "digestive": {"stomach": ["ulcer", "gastritis"]},
    }
)
CODES = Hierarchy.from_prefixes(f"{code:05}" for code in RNG.integers(0, 99_999, 3000).tolist())
BROAD = Hierarchy([("root", f"{'x' * 9000}{group}", f"{'y' * 9000}{group}{leaf}") for group in range(60) for leaf in range(4)])
DEEP = Hierarchy([[f"{'<b>' * 99}{level}" for level in range(60)]])
ALGORITHMS = [
    "growth", "mondrian", "incognito", "microaggregation-merge", "microaggregation-swap", "microaggregation-tfirst", "sabre",
    "fragmentation", "wang-clustering", "wang-pca", "codip",
]  # fmt: skip


@cache
def all_charts() -> dict[str, dict[str, Any]]:
    """Return charts by their names."""
    t = Fraction(1, 5)
    return {
        "sizes, small": class_sizes([5, 5, 6, 7, 9, 12], k=5),
        "sizes, one": class_sizes([3]),
        "sizes, below k": class_sizes([3, 4, 4], k=10, unit="person"),
        "sizes, far below k": class_sizes([1, 2, 2, 5], k=10**6),
        "sizes, large": class_sizes(LARGE, k=20),
        "sizes, huge": class_sizes(HUGE, k=5),
        "sizes, alone": class_sizes(ALONE, k=2),
        "emd, small": emd_by_class("salary", [0.1, 0.15, 0.18, 0.02], [5, 6, 9, 5], limit=t),
        "emd, one": emd_by_class("salary", [0.0], [9]),
        "emd, large": emd_by_class("salary", RNG.beta(2, 8, 200), LARGE, limit=t),
        "emd, huge": emd_by_class("salary", RNG.beta(2, 8, 60_000), HUGE, limit=Fraction(1, 3)),
        "emd, alone": emd_by_class(NAME, RNG.beta(4, 2, 200), ALONE, limit=Fraction(0)),
        "attribute, small": attribute_in_class("disease", ["flu", "cold", "gastric ulcer", None], [10, 20, 5, 1], [2, 0, 3, 0], class_name="class 3", in_order=False),
        "attribute, large": attribute_in_class("salary", range(10**6, 10**6 + 900), counts_of(900), counts_of(900), class_name="class 17", in_order=True),
        "attribute, hostile": attribute_in_class(NAME, HOSTILE, counts_of(len(HOSTILE)), counts_of(len(HOSTILE)), class_name="class 3", in_order=False),
        "attribute, hostile in order": attribute_in_class(NAME, HOSTILE, counts_of(len(HOSTILE)), counts_of(len(HOSTILE)), class_name="class 3", in_order=True),
        "before and after": before_after("age", range(17, 91), counts_of(74), counts_of(74), in_order=True),
        "before and after, same": before_after("sex", ["f", "m"], [1, 2], [2, 4], in_order=False),
        "losses, small": loss_by_column({"age": 0.12, "zip": 0.5, "sex": 0.0}, overall=0.2),
        "losses, one": loss_by_column({"age": 1.0}),
        "transport, small": plan_of("salary", ["3K", "4K", "5K", "6K", "7K", "8K", "9K", "10K", "11K"], [1, 1, 1, 0, 0, 0, 0, 0, 0], [1] * 9, in_order=True),
        "transport, nothing": plan_of("salary", [3, 4], [1, 2], [2, 4], in_order=True),
        "transport, large": plan_of("salary", range(10**6, 10**6 + 300), counts_of(300), counts_of(300), in_order=True),
        "transport, hostile": plan_of(NAME, HOSTILE, counts_of(len(HOSTILE)), counts_of(len(HOSTILE)), in_order=False),
        "hierarchy, small": hierarchy_tree(DISEASES.labels, DISEASES.parents),
        "hierarchy, of rows": hierarchy_tree(DISEASES.labels, DISEASES.parents, rows={"flu": 10**9, "ulcer": 3}),
        "hierarchy, large": hierarchy_tree(CODES.labels, CODES.parents),
        "hierarchy, broad": hierarchy_tree(BROAD.labels, BROAD.parents),
        "hierarchy, deep": hierarchy_tree(DEEP.labels, DEEP.parents),
        "hierarchy, one": hierarchy_tree(["<script>"], [-1]),
        "fragments, small": fragmentation_boxes(["salary", "disease"], [range(9), HOSTILE[:6]], boxes_of(9, 6, 3)),
        "fragments, one attribute": fragmentation_boxes(["salary"], [range(9)], [Box((range(4),), 120), Box((range(4, 9),), 80)]),
        "fragments, large": fragmentation_boxes([NAME, NAME], [range(10**6, 10**6 + 90), HOSTILE * 4], boxes_of(90, 76, 5)),
        "fragments, three attributes": fragmentation_boxes(["a", "b", "c"], [range(4), range(2), range(2)], [Box((range(4), [0, 1], [code]), 9) for code in (0, 1)]),
        "frontier, small": frontier(outcomes_of(["growth", "mondrian"]), loss="information loss (GCP)", risk="attained t"),
        "frontier, one": frontier([Outcome("growth", 0.2, 0.1, False)], loss="information loss (GCP)", risk="attained t"),
        "frontier, large": frontier(outcomes_of(ALGORITHMS), loss="information loss (GCP)", risk="attained t"),
        "frontier, hostile": frontier(outcomes_of([str(value) for value in HOSTILE]), loss="information loss (GCP)", risk="attack excess", internal=True),
        "losses, hostile": loss_by_column({str(value): 0.3 for value in HOSTILE}, overall=0.3),
    }  # fmt: skip
