"""``edges``: each end of a published range is attained by nobody in its class, or by at least so many persons."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
import tclose.release.anonymize as walk
from tclose.cli import app
from tclose.make.edges import with_edges
from tclose.make.encode import encode
from tclose.make.scales import Line
from tclose.make.scales.grids import Grid
from tclose.make.scales.widened import widen
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.arrays import grouped
from tests import naive
from tests.support.releases import FEW, SOME, Case, cases, released

# --- by hand ----------------------------------------------------------------------------------------------------------


def labels(classes: list[list[Any]], edges: int = 2, grid: Grid | None = None, **settings: Any) -> list[str | None]:
    """What is published of classes, each given by the values of its rows."""
    values = sorted({value for inside in classes for value in inside if value is not None})
    missing = any(value is None for inside in classes for value in inside)
    line, codes = Line.of("q", values, missing=missing, **settings)
    line = line.with_edges(edges, grid)
    flat = np.array([codes[len(values) if value is None else values.index(value)] for inside in classes for value in inside])
    starts = np.append(0, np.cumsum([len(inside) for inside in classes]))
    column = widen(line, flat, starts, None).publish(flat, starts).columns["q"]
    return [column.values[index] for index in column.indices]


FIVES, TENS = Grid(Fraction(5), None, None), Grid(Fraction(10), None, None)


@pytest.mark.parametrize(
    ("classes", "settings", "expected"),
    [
        ([[23, 29, 29]], {"grid": FIVES}, ["[20, 29]"]),  # one of 23, two of 29
        ([[20, 20, 29, 30]], {"grid": FIVES}, ["[20, 34]"]),
        ([[20, 29, 29]], {"grid": FIVES}, ["[15, 29]"]),  # 20 is attained: strictly outward
        ([[23, 24]], {"grid": FIVES}, ["[20, 29]"]),  # 24 ends its cell
        ([[27, 27]], {"grid": FIVES}, ["27"]),
        ([[27, 27]], {"grid": FIVES, "edges": 3}, ["[25, 29]"]),
        ([[27]], {"grid": Grid(Fraction(1), None, None)}, ["[26, 28]"]),
        ([[0, 3, 3]], {"grid": FIVES}, ["[-5, 3]"]),
        ([[27, 27, None]], {"grid": FIVES}, ["27 or missing"]),
        ([[26, 27, 27, None], [None]], {"grid": FIVES}, ["[25, 27] or missing", None]),
        ([[21, 23, 23], [20, 20, 23, 23]], {"grid": FIVES}, ["[20, 23]", "[20, 23]"]),  # one label, wherever ends come from
        ([[23, 29, 29]], {"snap": 5}, ["[15, 29]"]),  # by one cell
        ([[23, 24, 29, 29]], {"snap": 5}, ["[20, 29]"]),  # two in the cell
        ([[12, 12, 23]], {"snap": 5}, ["[10, 29]"]),
        ([[12, 12, 23]], {"snap": 5, "top": 27}, ["[10, 26]"]),
        ([[12, 12, 23]], {"snap": 5, "top": 25}, ["10 or more"]),  # beyond it, it is the open end, though nobody is there
        ([[12, 12, 40]], {"snap": 5, "top": 25}, ["10 or more"]),  # an open end stays
        ([[40]], {"snap": 5, "top": 25}, ["25 or more"]),
        ([[7, 40]], {"snap": 5, "top": 25, "bottom": 10}, ["any value"]),
        ([[12, 23]], {"snap": 5, "top": 25, "bottom": 10}, ["any value"]),
        ([[22, 23]], {"grid": FIVES, "top": 24}, ["20 or more"]),
        ([[21, 21, 22]], {"grid": FIVES, "top": 24}, ["[21, 23]"]),  # cut off at the limit
        ([[70, 70, 93]], {"grid": Grid(Fraction(5), None, 16)}, ["70 or more"]),  # from 80 on the grid is open
        ([[86, 93]], {"grid": Grid(Fraction(5), None, 16)}, ["80 or more"]),
        ([[78, 78, 79]], {"grid": Grid(Fraction(5), None, 16)}, ["78 or more"]),
        ([[3, 7]], {"grid": Grid(Fraction(5), 2, 16)}, ["14 or less"]),
        ([[3, 86]], {"grid": Grid(Fraction(5), 2, 16)}, ["any value"]),
        ([[Decimal("2.5"), Decimal("7.5"), Decimal("7.5")]], {"grid": TENS}, ["[0, 7.5]"]),
        ([[Decimal(10), Decimal("12.5")]], {"grid": TENS}, ["[0, 20)"]),
        ([[Decimal(10), Decimal(20)]], {"grid": TENS}, ["[0, 30)"]),
        ([[0.5, 0.5, 2.25]], {"grid": Grid(Fraction(1, 2), None, None)}, ["[0.5, 2.5)"]),
        ([[Decimal("2.5"), Decimal("7.5")]], {"snap": 5}, ["[-5, 15)"]),
        ([[date(2024, 3, 5), date(2024, 3, 31)]], {"grid": Grid("month", None, None)}, ["[2024-03-01, 2024-04-30]"]),
        ([[date(2024, 3, 5)] * 2 + [date(2024, 5, 1)]], {"snap": "month"}, ["[2024-03, 2024-06]"]),
        ([[date(2024, 3, 5)]], {"snap": "year"}, ["[2023, 2025]"]),
        ([[datetime(2024, 3, 5, 8), datetime(2024, 3, 5, 9)]], {"grid": Grid("day", None, None)},
         ["[2024-03-05 00:00:00, 2024-03-05 23:59:59]"]),
        ([[datetime(2024, 3, 5), datetime(2024, 3, 5, 9)]], {"grid": Grid("day", None, None)},
         ["[2024-03-04 00:00:00, 2024-03-05 23:59:59]"]),
    ],
)  # fmt: skip
def test_an_end_that_few_attain_moves_outward(classes: list[list[Any]], settings: dict[str, Any], expected: list[Any]) -> None:
    assert labels(classes, **settings) == expected


AGES = [21, 22, 23, 23, 31, 31, 38, 39]


def test_a_release_counted_by_hand(tmp_path: Path) -> None:
    """Of 23 and of 31 there are two each, of 21 and 39 one. Cells of one year have 4 persons only up to 23 and from 31 on."""
    table = pa.table({"age": AGES, "ill": ["flu", "gout"] * 4})
    policy = tc.Policy(["age"], {"ill": 0.5}, k=4, edges=2)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    assert release.table["age"].to_pylist() == ["23 or less"] * 4 + ["31 or more"] * 4
    assert release.record["edge_grids"] == {"age": {"snap": 1, "top": 31, "bottom": 23}}
    assert release.record["policy"]["edges"] == 2
    # Charged to the ends of the table: 2 of 18 years, and 8 of 18.
    assert release.loss["gcp"] == pytest.approx((2 + 8) / 2 / 18)
    before = tc.anonymize(table, replace(policy, edges=1), algorithm="mondrian")
    assert before.table["age"].to_pylist() == ["[21, 23]"] * 4 + ["[31, 39]"] * 4
    assert before.loss["gcp"] == release.loss["gcp"]
    holds = next(column["holds"] for column in release.certificate["columns"] if column["name"] == "age")
    assert holds == (
        "The range of 'age' among the rows of the class, or the value that they agree on; an end that fewer than 2 persons of the "
        "class attain is moved outward, to a grid of whole numbers whose outermost cells are open."
    )
    data, *_ = release.write(tmp_path / "release.csv")
    verified = tc.verify(data)
    assert verified.holds
    promise = "each end of a published range is attained by nobody in its class, or by at least 2 persons"
    assert promise in verified.unchecked
    assert release.certificate["policy"]["edges"] == 2
    assert tc.verify(data, policy=replace(policy, edges=3)).differences == ["edges is 3, certified is 2"]


def test_the_screen_says_what_was_asked(tmp_path: Path) -> None:
    people = pa.table({"age": AGES, "ill": ["flu", "gout"] * 4})
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "policy.yaml").write_text("k: 4\nedges: 2\nquasi: [age]\nsensitive: {ill: 0.5}\n")
    arguments = ["anonymize", "people.parquet", "-p", "policy.yaml", "-o", "release.csv"]
    shown = CliRunner().invoke(app, [str(tmp_path / part) if "." in part else part for part in arguments])
    assert shown.exit_code == 0
    said = "Each end of a published range is attained by nobody in its class, or by at least 2 persons (edges: checked with the raw table)."
    assert said in " ".join(shown.stdout.split())


def test_bounds_are_never_open_and_count_their_width() -> None:
    ages = [*AGES, 38, 38, 22, 21]  # two cells of 20 years have 6 each
    table = pa.table({"age": ages, "ill": ["flu", "gout"] * 6})
    policy = tc.Policy([tc.Quasi("age", recode="bounds")], {"ill": 0.5}, k=6, edges=3)
    release = tc.anonymize(table, policy, algorithm="mondrian")
    assert release.record["edge_grids"] == {"age": {"snap": 10}}
    found = {(row["age.min"], row["age.max"]) for row in release.table.to_pylist()}
    assert found == {(20, 29), (30, 39 + 10)}  # 39 ends its cell
    assert release.loss["gcp"] == pytest.approx((9 / 18 + 1) / 2)


def test_unsigned_bounds_may_go_below_0() -> None:
    table = pa.table({"q": pa.array([0, 1, 1, 1], pa.uint64()), "s": [1, 2, 1, 2]})
    release = tc.anonymize(table, tc.Policy([tc.Quasi("q", recode="bounds")], {"s": 0.5}, k=4, edges=2))
    assert release.table["q.min"].to_pylist() == [-2] * 4
    assert release.table["q.max"].to_pylist() == [1] * 4


def test_persons_are_counted_not_rows() -> None:
    ages, who = [20, 20, 25, 30, 30, 30], ["Ada", "Ada", "Bo", "Cy", "Cy", "Di"]
    table = pa.table({"age": ages, "ill": ["flu", "gout"] * 3, "who": who})
    asked = tc.Policy([tc.Quasi("age", snap=10)], {"ill": 0.5}, k=2, edges=2, unit="who", identifiers=["who"])
    assert set(tc.anonymize(table, replace(asked, k=4)).table["age"].to_pylist()) == {"[20, 39]"}
    one = pa.table({"age": [20, 20, 31, 31], "ill": ["flu", "gout"] * 2, "who": ["Ada", "Ada", "Bo", "Cy"]})
    assert set(tc.anonymize(one, replace(asked, k=3)).table["age"].to_pylist()) == {"[10, 39]"}


@pytest.mark.parametrize(
    ("values", "column", "error", "says"),
    [
        ([time(8), time(9)] * 2, {}, tc.PolicyError, "edges=2 moves ends of ranges to a grid, and times of day have none."),
        ([date(9999, 12, 31), date(2024, 1, 1)] * 2, {}, None, ""),  # two at each end
        (
            [date(9999, 12, 31), *[date(2024, 1, 1)] * 3],
            {},
            tc.InfeasibleError,
            "edges=2 cannot be satisfied for 'q': no date comes after the last one of the calendar, which a range ends at. Give",
        ),
        ([date(9999, 12, 31), *[date(2024, 1, 1)] * 3], {"top": date(9999, 12, 31)}, None, ""),
    ],
)
def test_where_no_end_can_be_moved(values: list[Any], column: dict[str, Any], error: Any, says: str) -> None:
    policy = tc.Policy([tc.Quasi("q", **column)], ["s"], k=4, edges=2)
    table = pa.table({"q": values, "s": [1, 2, 3, 4]})
    if error is None:
        assert tc.anonymize(table, policy).audit.satisfied
        return
    with pytest.raises(error) as caught:
        tc.anonymize(table, policy)
    assert str(caught.value).startswith(says)


def test_columns_without_ranges_are_as_they_were() -> None:
    table = pa.table({"a": [1, 2, 3, 4], "b": list("wxyz"), "c": [11, 12, 21, 22], "s": [1, 2, 1, 2]})
    quasi = [tc.Quasi("a", recode="centroid"), "b", tc.Quasi("c", hierarchy={"low": [11, 12], "high": [21, 22]})]
    policy = tc.Policy(quasi, {"s": 0.5}, k=2)
    plain, asked = (tc.anonymize(table, replace(policy, edges=edges)) for edges in (1, 3))
    assert plain.table.equals(asked.table)
    assert "edge_grids" not in asked.record


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None, True, "2"])
def test_what_edges_may_be(wrong: Any) -> None:
    with pytest.raises(tc.PolicyError, match=r"^edges must be a whole number, 1 or more. Got "):
        tc.Policy(["q"], ["s"], edges=wrong)


# --- the gate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [{}, {"snap": 5}, {"recode": "bounds"}, {"recode": "bounds", "snap": 5}])
def test_the_gate_stops_a_release_whose_ends_were_not_moved(column: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"age": AGES, "ill": ["flu", "gout"] * 4})
    policy = tc.Policy([tc.Quasi("age", **column)], {"ill": 0.5}, k=4, edges=3)
    assert tc.anonymize(table, policy).audit.satisfied
    monkeypatch.setattr(walk, "with_edges", lambda table, _: table)
    with pytest.raises(tc.GateError, match=r"an end of a range of 'age' would be attained by fewer than 3 persons of its class"):
        tc.anonymize(table, policy)


def test_a_certificate_that_claims_it_wrongly_is_not_found_out(tmp_path: Path) -> None:
    """Nobody can see it in a release: it is the publisher's word, and is shown as that."""
    table = pa.table({"age": AGES, "ill": ["flu", "gout"] * 4})
    data, certificate, *_ = tc.anonymize(table, tc.Policy(["age"], {"ill": 0.5}, k=4)).write(tmp_path / "release.csv")
    said = json.loads(certificate.read_text())
    said["policy"]["edges"] = 2
    certificate.write_text(json.dumps(said))
    found = tc.verify(data)
    assert "each end of a published range is attained by nobody in its class, or by at least 2 persons" in found.unchecked
    assert not any("end" in finding.what for finding in found.findings)
    for wrong in (0, "2", 1.5, None):
        said["policy"]["edges"] = wrong
        certificate.write_text(json.dumps(said))
        with pytest.raises(tc.InputError):
            tc.verify(data)


# --- every algorithm, by brute force ----------------------------------------------------------------------------------


@FEW
@given(cases(containers=("pyarrow",)), st.integers(2, 3))
def test_each_end_is_attained_by_nobody_or_by_enough(case: Case, edges: int) -> None:
    case = replace(case, policy=replace(case.policy, edges=edges))
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        release = released(case, Path(name), keep_order=True)
    if release is None:
        return
    rows = [row for row, label in enumerate(release.partition.tolist()) if label >= 0]
    quasi = [entry["name"] for entry in release.certificate["columns"] if entry["role"] == "quasi"]
    shown = [tuple(release.table[name][place].as_py() for name in quasi) for place in range(len(rows))]
    for column in case.policy.quasi:
        if column.hierarchy is not None or column.recode not in ("range", "bounds") or isinstance(present(case, column)[0], str):
            continue
        chosen = release.record.get("grids", {}).get(column.name, {})
        limits = {str(chosen.get(end, getattr(column, end))) for end in ("top", "bottom")}
        for published in set(shown):
            inside = [row for row, own in zip(rows, shown, strict=True) if own == published]
            ends = read_ends(dict(zip(quasi, published, strict=True)), column)
            for end in ends:
                if end is None or str(end) in limits:
                    continue
                there = [row for row in inside if attains(case.columns[column.name][row], end, ends, column, chosen.get("snap"))]
                count = len({case.columns["who"][row] if case.policy.unit == "who" else row for row in there})
                assert count == 0 or count >= edges, (column, published, end)


def present(case: Case, column: tc.Quasi) -> list[Any]:
    return [value for value in case.columns[column.name] if value is not None]


class Before(str):
    """The end of a range that ends just before it."""

    __slots__ = ()


def read_ends(published: dict[str, Any], column: tc.Quasi) -> list[str | None]:
    """The texts of the two ends; None for an open end, or none."""
    if column.recode == "bounds":
        return [None if (value := published[f"{column.name}.{end}"]) is None else str(value) for end in ("min", "max")]
    text = (published[column.name] or "any value").removesuffix(" or missing")
    if text in ("any value", "*"):
        return [None, None]
    for form, low, high in ((r"\[(.*), (.*)\]", 1, 2), (r"(.*) or more", 1, 0), (r"(.*) or less", 0, 1)):
        if found := re.fullmatch(form, text):
            return [found[low] if low else None, found[high] if high else None]
    if found := re.fullmatch(r"\[(.*), (.*)\)", text):
        return [found[1], Before(found[2])]
    if found := re.fullmatch(r"less than (.*)", text):
        return [None, Before(found[1])]
    return [text, text]


def attains(value: Any, end: str, ends: list[str | None], column: tc.Quasi, chosen: Any) -> bool:
    """Whether a raw value is the end of a range; on a grid, whether it lies in the cell at the end."""
    if value is None:
        return False
    snap = column.snap if chosen is None else chosen
    if snap is None:
        same = str(value) == end if isinstance(value, date) else Fraction(str(value)) == Fraction(end)
        return same and not isinstance(end, Before)
    if isinstance(value, date):
        name = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}.get(snap)
        cell = value.strftime(name) if name else f"{value.year}-Q{(value.month + 2) // 3}"
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", end):  # bounds, or cut off at a limit
            return bool(naive.grids.cell(value, snap) == naive.grids.cell(date.fromisoformat(end), snap))
        return cell == end
    width, edge = Fraction(str(snap)), Fraction(end)
    dense = not isinstance(value, int)
    before = isinstance(end, Before) or (column.recode == "bounds" and dense and end is ends[1])
    place = -(-edge // width) - 1 if before else edge // width
    return Fraction(str(value)) // width == place


# --- against the twin -------------------------------------------------------------------------------------------------

NUMBERS: dict[str, st.SearchStrategy[Any]] = {
    "integers": st.integers(-6, 40),
    "decimals": st.integers(-15, 60).map(lambda tenths: Decimal(tenths) / 10),
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"snap": 5},
    {"snap": 5, "top": 12, "bottom": 1},
    {"top": 12},
    {"bottom": 3},
    {"snap": 2, "top": 20},
]


@SOME
@given(st.data())
def test_ranges_are_those_of_the_twin(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(NUMBERS)))
    rows = data.draw(st.integers(1, 30))
    values = data.draw(st.lists(st.one_of(*[NUMBERS[kind]] * 4, st.none()), min_size=rows, max_size=rows))
    values[0] = data.draw(NUMBERS[kind])
    who = data.draw(st.lists(st.integers(0, 6), min_size=rows, max_size=rows)) if data.draw(st.booleans()) else list(range(rows))
    classes = np.unique(data.draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows)), return_inverse=True)[1]
    settings, edges = data.draw(st.sampled_from(SETTINGS)), data.draw(st.integers(2, 3))
    policy = tc.Policy([tc.Quasi("q", **settings)], ["s"], k=2, edges=edges, unit="who")
    reader = open_reader(pa.table({"q": values, "who": [f"P{person}" for person in who], "s": [1] * rows}))
    table = encode(open_table(reader, dict.fromkeys(reader.names, "auto")), policy, "who", [], lambda _: None)
    members, starts = grouped(classes[table.order])
    scale = with_edges(table, policy).scales_of(members, starts)[0]
    column = scale.publish(table.quasi[0][members].astype(np.int64), starts).columns["q"]
    limits = {end: Fraction(settings[end]) if end in settings else None for end in ("bottom", "top")}
    grid = None if "snap" in settings else grid_of_twin(values, who, limits)
    for label in range(len(starts) - 1):
        inside = np.flatnonzero(classes == label).tolist()
        cells, persons = [values[row] for row in inside], [who[row] for row in inside]
        text = column.values[column.indices[label]]
        if all(cell is None for cell in cells):
            assert text is None
            continue
        low, high, included = naive.widened.published(
            cells, persons, edges, snap=settings.get("snap"), grid=grid, whole=kind == "integers", **limits
        )
        expected = naive.widened.label(low, high, included=included, alone=low == high)
        assert text == expected + (" or missing" if None in cells else "")


def grid_of_twin(values: list[Any], who: list[int], limits: dict[str, Any]) -> Any:
    """The grid of the values that lie within the limits: that of `snap: auto`, else the coarsest."""
    top, bottom = limits["top"], limits["bottom"]
    inside = [
        value if value is not None and (top is None or value < top) and (bottom is None or value > bottom) else None
        for value in values
    ]
    numbers = [value for value in inside if value is not None]
    if not numbers:
        return None
    found = naive.grids.chosen(inside, who, 2)
    if found is None:
        *_, width = naive.grids.round_widths(numbers)
        return width, None, None
    return found


def test_timestamps_where_clocks_are_set_back_at_midnight() -> None:
    """On 2018-02-18 in Sao Paulo the hour from 23:00 came twice: a day ends before its last moments."""
    zone = pa.timestamp("us", "America/Sao_Paulo")
    first = datetime.fromisoformat("2018-02-18T01:30:00+00:00")
    moments = [first + timedelta(minutes=30 * step) for step in range(8)]
    table = pa.table({"q": pa.array(moments, zone), "s": [1, 2] * 4})
    release = tc.anonymize(table, tc.Policy(["q"], {"s": 0.5}, k=4, edges=2), algorithm="mondrian")
    assert release.audit.satisfied
