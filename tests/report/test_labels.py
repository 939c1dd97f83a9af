"""Labels of charts: short, visible, and told apart, whatever a table holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose.report.labels import label_of, labels_of, listed, percent, quoted, shorten, width_of, wrap
from tclose.report.svg import Style, _widths_of

HOSTILE = [
    "<script>alert(1)</script>",
    "a\x00b\x1b[2J",
    "\u202egpj.exe",
    "x" * 10_000,
    "W" * 300,
    "שלום עולם" * 40,
    "漢字" * 99,
    "",
    "a\nb\tc",
]


@given(st.lists(st.text(), unique=True), st.floats(60, 300))
def test_different_values_have_different_short_visible_labels(values: list[str], width: float) -> None:
    labels = labels_of(values, width)
    distinct = len({label_of(value) for value in values})
    assert len(set(labels)) >= distinct
    assert all(label.isprintable() and label for label in labels)
    assert all(width_of(label) <= width for label in labels)


def test_hostile_values_are_escaped_and_cut_in_the_middle() -> None:
    assert label_of("a\x00\u202eb") == r"a\x00\u202eb"
    assert label_of(None) == "missing"
    assert label_of("") == "(empty)"
    assert shorten("x" * 10_000, 100) == "xxxxxx…xxxxxx"
    assert labels_of(["same" * 99, "same" * 98], 90) == ["sam…ame (1)", "sam…ame (2)"]
    assert quoted("a\nb") == r"a\nb"


def test_estimated_widths_are_on_the_safe_side() -> None:
    texts = [
        shorten(label_of(text), 400)
        for text in [*HOSTILE, "Die Würde des Menschen", "2,147,483,647", "Married-civ-spouse", "HS-grad %"]
    ]
    assert [
        text
        for text, width in zip(texts, _widths_of([Style(text, 12, "normal", "normal") for text in texts]), strict=True)
        if width > width_of(text)
    ] == []


@given(st.text(), st.floats(40, 300))
def test_no_line_is_wider_than_asked(text: str, width: float) -> None:
    lines = wrap(text, width)
    assert all(width_of(line) <= width for line in lines)


def test_words_are_broken_between_lines() -> None:
    assert wrap("all of one line", 500) == ["all of one line"]
    assert wrap("a " + "b" * 2000, 100) == ["a", "bbbbbb…bbbbbb"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (1e-9, "<0.1%"), (0.001, "0.1%"), (0.5, "50.0%"), (0.995, "99.5%"), (0.9999, ">99.9%"), (1, "100%")],
)
def test_percentages_never_round_to_none_or_all(share: float, text: str) -> None:
    assert percent(share) == text


def test_lists_of_names_are_cut_with_a_count() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([str(number) for number in range(9)], 2) == "0, 1 and 7 more"
    assert listed(["a", "b", "c"], 2) == "a, b and c"  # one more is named: it takes no more room
