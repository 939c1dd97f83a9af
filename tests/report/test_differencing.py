"""From the public report, the certificate and the release together, nothing about suppressed rows can be computed."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import LinearConstraint, milp

import tclose as tc
from tclose.report.facts import Facts
from tclose.report.papers import papers_beside
from tclose.report.report import _render_report, public_report
from tests.support.pages import Page

VALUES = ("cold", "cough", "flu")
PUBLISHED = [(20 + number // 4, VALUES[number % 3]) for number in range(24)]
"""Rows that every release of this file publishes."""
FAR = (90, 99)
"""Ages so far from the others that these rows are suppressed."""
MOST = 2
"""Rows that may be suppressed."""
SUPPRESSED = [(), *(tuple((age, value) for value in values) for age, count in ((FAR[0], 1), (FAR[1], MOST)) for values in combinations_with_replacement(VALUES, count))]  # fmt: skip


def release_with(suppressed: tuple[tuple[int, str], ...]) -> tc.Release:
    """A release of the published rows, made from a table that has some rows more."""
    ages, values = zip(*PUBLISHED, *suppressed, strict=True)
    policy = tc.Policy(["age"], {"ill": 0.6}, k=4, suppression="1/12", small_cells=3)
    release = tc.anonymize(pa.table({"age": ages, "ill": values}), policy, algorithm="mondrian")
    assert release.suppressed == len(suppressed)
    return release


@pytest.fixture(scope="module")
def releases() -> dict[Any, tc.Release]:
    return {suppressed: release_with(suppressed) for suppressed in SUPPRESSED}


def test_whatever_is_suppressed_all_public_papers_are_the_same_bytes(releases: dict[Any, tc.Release], tmp_path: Path) -> None:
    """Exact enumeration: a reader who sees the papers cannot tell any of these sets of suppressed rows from another."""
    seen = set()
    for number, suppressed in enumerate(((), *SUPPRESSED[3::3])):
        folder = tmp_path / str(number)
        folder.mkdir()
        data, certificate, _, codebook = releases[suppressed].write(folder / "release.csv")
        page = releases[suppressed].to_html(folder / "report.html")
        seen.add((data.read_bytes(), certificate.read_bytes(), codebook.read_bytes(), page))
    assert len(seen) == 1
    alike = {
        (release.table.to_pydict().__repr__(), json.dumps(release.certificate), release.codebook) for release in releases.values()
    }
    assert len(alike) == 1


def test_what_the_enumeration_would_find_if_a_figure_against_the_input_were_published(releases: dict[Any, tc.Release]) -> None:
    """The control: the record, which is internal, tells the number of suppressed rows by its t alone."""
    told = {release.record["attained_against_input"]["ill"]["t_exact"]: release.suppressed for release in releases.values()}
    assert sorted(told.values()) == [0, 1, 2]


def test_no_figure_of_the_record_is_in_the_page(releases: dict[Any, tc.Release]) -> None:
    release = releases[SUPPRESSED[-1]]
    text = Page(release.to_html()).text
    assert "Whether rows were suppressed, and how many, is deliberately not published, and no public report says it" in text
    for figure in (release._details.against_input.rows, release.record["input"]["rows"], *FAR, "5/26", "0.1924"):
        assert str(figure) not in text.replace(f"{release.audit.rows:,}", "").split(), figure


def test_a_solver_finds_every_number_of_suppressed_rows_possible(releases: dict[Any, tc.Release]) -> None:
    """Published counts as linear equations in the rows at each value, published (r) and suppressed (s): r is known, s is free."""
    release = releases[SUPPRESSED[-1]]
    text = Page(release.to_html()).text
    equations, right = [], []
    for number, value in enumerate(VALUES):  # as the report lists them
        row = np.zeros(6)
        row[number] = 1
        equations.append(row)
        right.append(int(text.split(f" {value} ")[1].split()[0]))
    equations.append(np.array([1, 1, 1, 0, 0, 0]))
    right.append(release.certificate["rows"])
    assert limits_of_suppressed(equations, right) == [(0, MOST)] * 3
    # The control: with the rows of the input at each value, each number of suppressed rows is known.
    of_input = [np.eye(6)[number] + np.eye(6)[3 + number] for number in range(3)]
    whole = [sum(value == one for _, value in (*PUBLISHED, *SUPPRESSED[-1])) for one in VALUES]
    assert limits_of_suppressed([*equations, *of_input], [*right, *whole]) == [(0, 0), (0, 0), (2, 2)]


def limits_of_suppressed(equations: list[Any], right: list[int]) -> list[tuple[int, int]]:
    """The least and the largest number of suppressed rows at each value that fit the equations."""
    known = LinearConstraint(np.array(equations), right, right)
    few = LinearConstraint(np.array([[0, 0, 0, 1, 1, 1]]), 0, MOST)
    found = []
    for number in range(3):
        ends = [
            milp(sign * np.eye(6)[3 + number], constraints=[known, few], integrality=np.ones(6)).x[3 + number] for sign in (1, -1)
        ]
        found.append((round(ends[0]), round(ends[1])))
    return found


DAY = dt.date(2024, 1, 1)
FAR_ROWS = [(), ((90, 0),), ((91, 0),), ((95, 10), (96, 20))]
"""Ages and costs of rows besides the others. In the table of dates they are so many days after the first of 2030."""
ODD_ROWS = [(), ((90, 1000),), ((95, 1000),)]
"""The same, with a cost that nobody else has."""
SUPPRESSING: dict[str, dict[str, Any]] = {
    "growth": {"far": ODD_ROWS, "together": 6, "k": 2, "cost": {"t": 0.05, "distance": "equal"}},
    **{
        name: {"far": FAR_ROWS, "together": 4, "k": 4, "cost": {"t": 0.6}}
        for name in ("mondrian", "fragmentation", "incognito", "sabre", "microaggregation-tfirst")
    },
}
"""Algorithms that suppress some of these rows, so many of the other rows that are alike, and what is asked."""


def table_of_ages(far: Any, together: int) -> tuple[pa.Table, list[Any]]:
    ages, costs = zip(*((20 + number // together, 10 * (number % 3)) for number in range(24)), *far, strict=True)
    return pa.table({"age": ages, "cost": costs}), ["age"]


def table_of_dates(far: Any, together: int) -> tuple[pa.Table, list[Any]]:
    near = [
        (DAY + dt.timedelta(number // together), "north" if number < 12 else "south", 10 * (number % 3)) for number in range(24)
    ]
    beyond = [(dt.date(2030, 1, 1) + dt.timedelta(age), "east", cost) for age, cost in far]
    days, regions, costs = zip(*near, *beyond, strict=True)
    return pa.table({"day": days, "region": regions, "cost": costs}), ["day", tc.Quasi("region", type="category")]


@pytest.mark.parametrize("table", [table_of_ages, table_of_dates], ids=["ages", "dates"])
@pytest.mark.parametrize("algorithm", SUPPRESSING)
def test_whatever_the_algorithm_papers_tell_nothing_that_the_published_table_does_not(algorithm: str, table: Any) -> None:
    """Tables that differ in suppressed rows alone: where what is published is the same, all public papers are the same bytes."""
    given = SUPPRESSING[algorithm]
    found: dict[str, list[tc.Release]] = {}
    for far in given["far"]:
        people, quasi = table(far, given["together"])
        policy = tc.Policy(quasi, {"cost": given["cost"]}, k=given["k"], suppression="1/12", small_cells=3)
        release = tc.anonymize(people, policy, algorithm=algorithm)
        found.setdefault(repr(release.table.to_pydict()), []).append(release)
    for releases in found.values():
        assert len({(json.dumps(release.certificate), release.codebook) for release in releases}) == 1
    most = max(found.values(), key=len)
    assert len(most) > 1
    assert most[-1].suppressed > 0
    assert len({json.dumps(release.record) for release in most}) == len(most)  # the control: records differ
    assert most[0].to_html() == most[-1].to_html()


def test_a_public_report_is_what_any_reader_of_the_release_can_write(releases: dict[Any, tc.Release], tmp_path: Path) -> None:
    """With the record, and from the release and its certificate alone: the record adds its context and ``small_cells`` only."""
    for name in ("publisher", "reader"):
        (tmp_path / name).mkdir()
    data, certificate, *_ = releases[SUPPRESSED[-1]].write(tmp_path / "publisher" / "release.csv")
    for path in (data, certificate):
        shutil.copy(path, tmp_path / "reader")
    known, read = (papers_beside(tmp_path / name / "release.csv") for name in ("publisher", "reader"))
    assert known.small_cells == 3
    assert (known.context, read.context) == ({}, {})
    assert read.policy is None
    written, again = (_render_report(Facts(papers, least=3), None) for papers in (known, read))
    assert written == again == public_report(known)
