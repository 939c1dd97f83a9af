"""Charts of small, large and hostile data: what every test of charts goes through."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tclose.report.charts.attribute import attribute_in_class
from tclose.report.charts.before_after import before_after
from tclose.report.charts.class_sizes import class_sizes
from tclose.report.charts.emd import emd_by_class
from tclose.report.charts.losses import loss_by_column

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


def all_charts() -> dict[str, dict[str, Any]]:
    """Return charts by their names."""
    t = Fraction(1, 5)
    return {
        "sizes, small": class_sizes([5, 5, 6, 7, 9, 12], k=5),
        "sizes, one": class_sizes([3]),
        "sizes, below k": class_sizes([3, 4, 4], k=10, unit="person"),
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
        "losses, hostile": loss_by_column({str(value): 0.3 for value in HOSTILE}, overall=0.3),
    }  # fmt: skip
