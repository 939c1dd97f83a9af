"""Page one of a report: the figures that a reader decides on, in words that name who is meant."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import tclose as tc
from tests.support.pages import Page


def release() -> tc.Release:
    """A release of 40 people in two classes by age; 20 have a flu, 15 of them young."""
    ill = ["flu"] * 15 + ["gout"] * 5 + ["flu"] * 5 + ["gout"] * 15
    columns = {"name": [f"P{row}" for row in range(40)], "note": ["x"] * 40, "age": [20] * 20 + [30] * 20, "ill": ill}
    columns |= {"pay": [row % 8 for row in range(40)]}
    policy = tc.Policy(["age"], {"ill": 0.5, "pay": 0.5}, k=5, identifiers=["name"], drop=["note"])
    return tc.anonymize(pa.table(columns), policy)


def page_one(html: str) -> str:
    """The text above the first section."""
    return Page(html).text.partition("1. Identity and versions")[0]


def test_the_largest_share_of_one_value_is_beside_t() -> None:
    text = page_one(release().to_html())
    assert "Largest share of one value: 75.0% in a class, 50.0% in the table" in text


def test_the_largest_share_of_a_column_in_bins_is_that_of_one_bin() -> None:
    table = pa.table({"age": [20] * 40, "pay": list(range(40))})
    text = page_one(tc.anonymize(table, tc.Policy(["age"], {"pay": {"t": 0.5, "bins": 2}}, k=5)).to_html())
    assert "Largest share of one bin: 50.0% in a class, 50.0% in the table" in text


def test_a_share_that_is_farther_from_the_table_than_t_is_explained_where_values_have_an_order() -> None:
    """All 20 people of one class have a pay in the middle; the 80 of the other have each of eight pays equally often."""
    why = "t does not bound these shares of pay: near values count as nearly the same there."
    pay = [4] * 20 + list(range(8)) * 10
    table = pa.table({"age": [20] * 20 + [30] * 80, "pay": pay})

    def text(small_cells: int = 5, **settings: Any) -> str:
        policy = tc.Policy(["age"], {"pay": settings}, k=20, small_cells=small_cells)
        return page_one(tc.anonymize(table, policy).to_html())

    near = text(t=0.3, distance="ordered")
    assert "Largest share of one value: 100% in a class, 30.0% in the table" in near
    assert why in near
    for other in (
        text(t=0.8, distance="ordered"),  # no farther than t
        text(t=0.8, distance="equal"),
        text(distance="ordered"),  # no t is asked
        text(t=0.3, distance="ordered", small_cells=200),
    ):
        assert "does not bound" not in other


def test_a_share_that_is_masked_below_is_masked_on_page_one() -> None:
    """Of 40 values none has 5 rows: no count of them is told."""
    table = pa.table({"age": [20] * 40, "ill": [f"ill {row}" for row in range(40)]})
    text = page_one(tc.anonymize(table, tc.Policy(["age"], {"ill": 0.5}, k=5)).to_html())
    assert "Largest share of one value: masked in a class, masked in the table" in text


def test_who_finds_a_unique_row_is_told() -> None:
    made = release()
    unique = made.certificate["unique_rows"]
    assert 5 <= unique <= 35
    text = page_one(made.to_html())
    assert (
        f"{unique} of 40 rows are unique when all published columns are taken together, the quasi-identifiers and both ill"
        in text
    )
    assert "Whoever knows all of that of such a person finds the row." in text
    nobody = tc.anonymize(pa.table({"age": [20] * 40, "ill": ["flu", "gout"] * 20}), tc.Policy(["age"], {"ill": 0.5}, k=5))
    text = page_one(nobody.to_html())
    assert (
        "No row is unique when all published columns are taken together, the quasi-identifiers and ill: that is the best" in text
    )
    assert "finds the row" not in text


def test_every_quasi_identifier_is_listed() -> None:
    names = [f"q{number}" for number in range(12)]
    table = pa.table({**{name: [20] * 10 for name in names}, "ill": ["flu", "gout"] * 5})
    text = page_one(tc.anonymize(table, tc.Policy(names, {"ill": 0.5}, k=5)).to_html())
    assert all(f"{name} : as it is" in text for name in names)


def test_a_report_names_no_command_that_fails_before_tclose_is_on_a_registry() -> None:
    html = release().to_html()
    assert "pip install" not in html
    assert "installed as its README says" in html


def test_only_the_internal_report_names_the_columns_that_are_not_published() -> None:
    made = release()
    assert "Not published: name (named as identifiers); note (dropped)." in Page(made.to_html(internal=True)).text
    assert "Not published" not in made.to_html()
    assert "note" not in Page(made.to_html()).text


def test_bins_are_listed_from_low_to_high_whatever_the_distance() -> None:
    """Most have the middle bin: by size it would be first."""
    pay = [5] * 10 + [50] * 20 + [500] * 10
    for distance in ("equal", "ordered"):
        policy = tc.Policy(["age"], {"pay": {"t": 0.5, "bins": [10, 100], "distance": distance}}, k=5)
        text = Page(tc.anonymize(pa.table({"age": [20] * 40, "pay": pay}), policy).to_html()).text
        assert "below 10 10 25.0% [10, 100) 20 50.0% 100 or more 10 25.0%" in text
