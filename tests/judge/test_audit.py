"""Audits that can be checked by hand: what is measured, what is judged, and what is said when a table does not fit."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc

SALARIES = pa.table(
    {"zip": ["476", "476", "476", "4790", "4790", "4790", "4760", "4760", "4760"], "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]}
)
"""Li et al. 2007, with t = 3/8, 1/6 and 17/72."""


def audited(columns: Any, sensitive: Any = ("s",), **settings: Any) -> tc.Audit:
    quasi = settings.pop("quasi", ["q"])
    return tc.audit(
        pa.table(columns), tc.Policy(quasi, list(sensitive) if isinstance(sensitive, tuple) else sensitive, **settings)
    )


def spread(**classes: str) -> dict[str, list[str]]:
    """A table of classes: ``spread(a="xxy")`` has three rows, of which two hold x."""
    return {
        "q": [name for name, cells in classes.items() for _ in cells],
        "s": [cell for cells in classes.values() for cell in cells],
    }


# --- the whole of a small audit ---------------------------------------------------------------------------------------


def test_salaries() -> None:
    audit = tc.audit(SALARIES, tc.Policy(quasi=["zip"], sensitive={"salary": 0.25}, k=3))
    assert (audit.rows, audit.classes, audit.k, audit.satisfied) == (9, 3, 3, False)
    assert audit.sensitive["salary"].t_exact == Fraction(3, 8)
    assert [(found.number, found.value, found.limit) for found in audit.violations] == [(0, 0.375, Fraction(1, 4))]
    assert repr(audit) == "<Audit: 9 rows in 3 classes, k=3; salary t=0.3750; not satisfied>"


def test_class_table() -> None:
    table = tc.audit(SALARIES, tc.Policy(quasi=["zip"], sensitive={"salary": "1/5"}, k=4)).class_table().to_pydict()
    assert table["class"] == [0, 1, 2]
    assert table["zip"] == ["476", "4760", "4790"]
    assert table["rows"] == [3, 3, 3]
    assert table["salary.t"] == [3 / 8, 17 / 72, 1 / 6]
    assert table["breaks"] == ["k; t of salary", "k; t of salary", "k"]


def test_every_key_of_the_json() -> None:
    found = json.loads(audited(spread(a="xx", b="xy"), {"s": 0.2}, k=3).to_json())
    contract = {"rows", "classes", "k", "k_persons", "satisfied", "homogeneous", "sensitive", "joint", "violations", "readings"}
    assert set(found) == contract
    assert [found[key] for key in ("rows", "classes", "k", "k_persons", "satisfied")] == [4, 2, 2, None, False]
    assert found["homogeneous"] == {"classes": 1, "rows": 2}
    column = found["sensitive"]["s"]
    assert {key: column[key] for key in ("distance", "t", "t_exact", "limit", "worst_class", "l_distinct", "l_entropy")} == {
        "distance": "equal",
        "t": 0.25,
        "t_exact": "1/4",
        "limit": 0.2,
        "worst_class": 0,
        "l_distinct": 1,
        "l_entropy": 1.0,
    }
    assert (column["beta"], column["lift"], column["share"]) == (1.0, 2.0, 1.0)
    assert (column["delta"], column["delta_unbounded"]) == (None, True)  # y is absent from class a
    assert (column["c_recursive"], column["c_recursive_unbounded"]) == (None, True)
    assert [[one[key] for key in ("model", "sensitive", "class", "size", "value", "limit")] for one in found["violations"]] == [
        ["k", None, 0, 2, 2, 3],
        ["k", None, 1, 2, 2, 3],
        ["t", "s", 0, 2, 0.25, 0.2],
        ["t", "s", 1, 2, 0.25, 0.2],
    ]


def test_json_says_what_is_unbounded_and_never_infinity() -> None:
    audit = audited(spread(a="xx", b="xy"), {"s": {"delta": 5, "l": 2, "l_kind": "recursive", "c": 5}})
    text = audit.to_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert [
        (one["model"], one["value"], one["value_unbounded"]) for one in json.loads(text)["violations"] if "value_unbounded" in one
    ] == [
        ("delta", None, True),
        ("c_recursive", None, True),
    ]
    assert json.loads(text) == audit.to_dict()


def test_classes_are_numbered_by_their_sorted_values_missing_last() -> None:
    columns = {"a": [None, 2, 10, 2, 2], "b": ["x", "y", "x", None, "x"], "s": [1, 2, 3, 4, 5]}
    table = audited(columns, quasi=["a", "b"]).class_table().to_pydict()
    assert list(zip(table["a"], table["b"], strict=True)) == [(2, "x"), (2, "y"), (2, None), (10, "x"), (None, "x")]


def test_satisfied_when_nothing_is_limited() -> None:
    audit = audited(spread(a="x", b="y"))
    assert (audit.satisfied, audit.violations, audit.sensitive["s"].t_exact, audit.sensitive["s"].limit) == (
        True,
        [],
        Fraction(1, 2),
        None,
    )


def test_a_class_at_the_limit_passes() -> None:
    # In binary 0.3 is below 3/10; what the user sees is 3/10.
    columns = spread(a="x" * 8 + "y" * 2, b="x" * 2 + "y" * 8)
    assert audited(columns, {"s": 0.3}).sensitive["s"].t_exact == Fraction(3, 10)
    assert audited(columns, {"s": 0.3}).satisfied
    assert not audited(columns, {"s": "0.29999999999999999"}).satisfied


def test_shown_decimals_are_rounded_up() -> None:
    found = audited(spread(a="xxy", b="xyy", c="xyz")).sensitive["s"]
    assert Fraction(str(found.t)) >= found.t_exact
    assert Fraction(str(found.lift)) >= Fraction(3, 1)


@pytest.mark.parametrize(
    ("classes", "homogeneous"),
    [({"a": "xx", "b": "xy"}, (1, 2)), ({"a": "xx", "b": "xxx"}, (0, 0)), ({"a": "x", "b": "yy", "c": "xy"}, (2, 3))],
)
def test_homogeneous_classes_and_rows(classes: dict[str, str], homogeneous: tuple[int, int]) -> None:
    audit = audited(spread(**classes))
    assert audit.homogeneous == {"classes": homogeneous[0], "rows": homogeneous[1]}
    assert (audit.sensitive["s"].homogeneous_classes, audit.sensitive["s"].homogeneous_rows) == homogeneous


def test_homogeneous_in_any_sensitive_attribute() -> None:
    columns = {"q": ["a", "a", "b", "b", "c", "c"], "s": list("xxxyxy"), "r": [1, 2, 3, 3, 1, 2]}
    assert audited(columns, ("s", "r")).homogeneous == {"classes": 2, "rows": 4}


# --- persons ----------------------------------------------------------------------------------------------------------

VISITS = {"q": list("aaaabb"), "id": ["p1", "p1", "p1", "p2", "p3", "p3"], "s": list("xxxyxy")}
"""Class a: three visits of one person and one of another. Class b: one person, twice."""


def test_k_and_l_count_persons() -> None:
    rows, persons = (audited(VISITS, unit=unit, k=2) for unit in ("row", "id"))
    assert (rows.k, rows.k_persons, rows.satisfied) == (2, None, True)
    assert (persons.k, persons.k_persons, persons.satisfied) == (2, 1, False)
    assert [(found.model, found.number, found.size, found.value) for found in persons.violations] == [("k", 1, 2, 1)]
    assert persons.class_table()["persons"].to_pylist() == [2, 1]
    assert (rows.sensitive["s"].c_recursive, persons.sensitive["s"].c_recursive) == (3, 1)
    assert (rows.sensitive["s"].l_entropy < 2, persons.sensitive["s"].l_entropy) == (True, 2)
    assert rows.sensitive["s"].t_exact == persons.sensitive["s"].t_exact


def test_an_identifier_that_repeats_warns_and_k_is_given_in_persons_too() -> None:
    with pytest.warns(tc.PrivacyRiskWarning, match="^Identifiers repeat: 'id' has 3 values in 6 rows.*unit: row"):
        audit = audited(VISITS, identifiers=["id"], k=2)
    assert (audit.k, audit.k_persons, audit.satisfied) == (2, 1, True)  # judged in rows
    with warnings.catch_warnings():
        warnings.simplefilter("error", tc.PrivacyRiskWarning)
        assert audited(VISITS, identifiers=["id"], unit="row").k_persons is None


def test_an_identifier_without_repeats_does_not_warn() -> None:
    columns = {**VISITS, "id": ["p1", "p2", "p3", "p4", "p5", None]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", tc.PrivacyRiskWarning)
        assert audited(columns, identifiers=["id"]).k_persons is None


def test_an_identifier_that_a_release_has_no_more_is_not_asked_for() -> None:
    assert audited(spread(a="xy"), identifiers=["name"], drop=["note"]).k == 2


def test_a_unit_that_is_no_column_warns_that_rows_are_counted() -> None:
    with pytest.warns(tc.PrivacyRiskWarning, match="^The unit 'id' is not a column of the table"):
        assert audited(spread(a="xy"), unit="id").k_persons is None


def test_a_unit_that_is_missing_in_a_row_is_refused() -> None:
    columns = {**VISITS, "id": ["p1", "p1", None, "p2", None, "p3"]}
    with pytest.raises(
        tc.InputError, match=r"^The unit 'id' must name a person in every row. Got 2 missing, the first in row 3.$"
    ):
        audited(columns, unit="id")


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "limits", "broken"),
    [
        pytest.param({"a": "xxy", "b": "xyz"}, {"l": 3}, ["l_distinct"], id="distinct l"),
        pytest.param({"a": "xxy", "b": "xyz"}, {"l": 2}, [], id="distinct l holds"),
        pytest.param({"a": "xxxxyyyy", "b": "xy"}, {"l": 2, "l_kind": "entropy"}, [], id="entropy l of uniform classes"),
        pytest.param({"a": "xxxy", "b": "xy"}, {"l": 2, "l_kind": "entropy"}, ["l_entropy"], id="entropy l"),
        pytest.param({"a": "xxxy", "b": "xy"}, {"l": 1.7, "l_kind": "entropy"}, [], id="entropy l of a fraction"),
        pytest.param({"a": "xxxy"}, {"l": 2, "l_kind": "recursive", "c": 3}, ["c_recursive"], id="recursive l is strict"),
        pytest.param({"a": "xxxy"}, {"l": 2, "l_kind": "recursive", "c": "3.01"}, [], id="recursive l holds"),
        pytest.param({"a": "xxy", "b": "xyy"}, {"beta": "1/3"}, [], id="beta at its limit"),
        pytest.param({"a": "xxy", "b": "xyy"}, {"beta": "0.33"}, ["beta", "beta"], id="beta"),
        pytest.param({"a": "xxxxx", "b": "xxxxy"}, {"beta": 10}, [], id="basic beta"),
        pytest.param(
            {"a": "xxxxx", "b": "xxxxy"}, {"beta": 10, "beta_kind": "enhanced"}, ["beta_enhanced"], id="enhanced: 1/9 > -ln 0.9"
        ),
        pytest.param({"a": "xxy", "b": "xyy"}, {"delta": 0.41}, [], id="delta: ln 3/2 = 0.405..."),
        pytest.param({"a": "xxy", "b": "xyy"}, {"delta": 0.4}, ["delta", "delta"], id="delta"),
        pytest.param({"a": "xx", "b": "xy"}, {"delta": 100}, ["delta"], id="strict delta of an absent value"),
        pytest.param({"a": "xx", "b": "xy"}, {"delta": 1, "delta_kind": "lenient"}, [], id="lenient delta"),
    ],
)
def test_limits(classes: dict[str, str], limits: dict[str, Any], broken: list[str]) -> None:
    audit = audited(spread(**classes), {"s": limits})
    assert [found.model for found in audit.violations] == broken
    assert audit.satisfied == (not broken)


def test_an_entropy_limit_of_many_digits_is_judged_in_no_time() -> None:
    """In a process of its own: whoever factors the limit's numerator does not come back."""
    program = (
        "import pyarrow as pa, tclose as tc\n"
        "table = pa.table({'q': ['a', 'a'], 's': ['x', 'y']})\n"
        "limit = {'s': {'l': '2.000000000000000000000000000001', 'l_kind': 'entropy'}}\n"
        "assert not tc.audit(table, tc.Policy(['q'], limit)).satisfied"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("alpha", "broken"), [("2/3", []), (0.66, [0, 1]), (1, [])])
def test_alpha_limits_the_share_of_a_value(alpha: Any, broken: list[int]) -> None:
    audit = audited(spread(a="xxy", b="xyy", c="xy"), alpha=alpha)
    assert [(found.model, found.number) for found in audit.violations] == [("alpha", number) for number in broken]
    assert Fraction(str(audit.sensitive["s"].share)) >= Fraction(2, 3)


def test_delta_is_a_natural_logarithm() -> None:
    assert audited(spread(a="xxy", b="xyy")).sensitive["s"].delta == pytest.approx(math.log(3 / 2), rel=1e-12)


CANCER = [("47677", 300, 300), ("47905", 200, 1800), ("47602", 200, 200)]
"""Li et al. 2010: not 0.1-close, but (1000, 0.1)-close, for the first and the third class are the region 476**."""
ZIP = {"476**": ["47677", "47602"], "479**": ["47905"]}


def cancer(**settings: Any) -> tc.Audit:
    columns = {
        "q": [name for name, cancer, flu in CANCER for _ in range(cancer + flu)],
        "s": [disease for _, cancer, flu in CANCER for disease in ["cancer"] * cancer + ["flu"] * flu],
    }
    return audited(columns, {"s": 0.1}, **settings)


def test_the_distances_of_the_nt_example() -> None:
    audit = cancer()
    assert audit.class_table()["s.t"].to_pylist() == [4 / 15, 4 / 15, 2 / 15]
    assert (audit.sensitive["s"].t_exact, audit.satisfied, len(audit.violations)) == (Fraction(4, 15), False, 3)


@pytest.mark.parametrize(
    ("n", "hierarchy", "broken"),
    [
        pytest.param(1000, ZIP, [], id="476** holds 1000 rows"),
        pytest.param(1001, ZIP, [0, 1], id="476** is too small"),
        pytest.param(1000, None, [], id="a range of numbers is a region"),
        pytest.param(1001, None, [0, 1], id="it is too small"),
        pytest.param(400, None, [], id="each class is a region"),
        pytest.param(3000, ZIP, [0, 1, 2], id="n = rows is t-closeness"),
        pytest.param(3001, ZIP, [0, 1, 2], id="no region is large enough"),
    ],
)
def test_nt_closeness(n: int, hierarchy: Any, broken: list[int]) -> None:
    audit = cancer(n=n, quasi={"q": {"hierarchy": hierarchy}})
    assert [(found.model, found.number) for found in audit.violations] == [("n,t", number) for number in broken]
    assert (audit.satisfied, audit.sensitive["s"].t_exact) == (not broken, Fraction(4, 15))


def test_a_region_holds_every_class_inside_it() -> None:
    """In a tree with leaves at two depths the node above "shallow" is the root, so its region is the whole table.

    "shallow" and "other" together are no region: u and v stand below the same node.
    """
    tree = {"deep": {"deeper": ["u", "v"]}, "shallow": None, "other": None}
    columns = {"q": ["u"] * 4 + ["v"] * 4 + ["shallow"] * 2 + ["other"] * 2, "s": list("aaaaaaaabbbb")}
    audit = audited(columns, {"s": 0.1}, n=4, quasi={"q": {"hierarchy": tree}})
    shown = audit.class_table().to_pydict()
    assert dict(zip(shown["q"], shown["s.n,t"], strict=True))["shallow"] == pytest.approx(2 / 3)


# --- distances --------------------------------------------------------------------------------------------------------


def test_an_order_ranks_text() -> None:
    columns = {"q": ["a", "a", "b", "b"], "s": ["high", "low", "mid", "low"]}
    found = audited(columns, {"s": {"order": ["low", "mid", "high"]}}).sensitive["s"]
    assert (found.distance, found.t_exact) == ("ordered", Fraction(1, 8))


def test_an_order_ranks_only_values_that_occur() -> None:
    columns = {"q": ["a", "a", "b", "b"], "s": ["high", "low", "mid", "low"]}
    assert audited(columns, {"s": {"order": ["least", "low", "some", "mid", "high"]}}).sensitive["s"].t_exact == Fraction(1, 8)


def test_an_order_finds_numbers_dates_and_booleans_by_their_text(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("q,s\na,3\na,1\nb,2\nb,1\n")
    policy = tc.Policy(quasi=["q"], sensitive={"s": {"order": [3, 1, 2]}})
    assert tc.audit(path, policy).sensitive["s"].t_exact == Fraction(1, 4)
    assert tc.audit(pa.table({"q": ["a", "a", "b", "b"], "s": [3, 1, 2, 1]}), policy).sensitive["s"].t_exact == Fraction(1, 4)
    assert tc.audit(pa.table({"q": ["a", "a", "b", "b"], "s": [3.0, 1.0, 2.0, 1.0]}), policy).sensitive["s"].t_exact == Fraction(
        1, 4
    )


def test_numeric_distance_weighs_the_gaps() -> None:
    columns = {"q": ["a", "a", "b"], "s": [1, 2, 5]}
    numeric, ordered = (audited(columns, {"s": {"distance": kind}}).sensitive["s"] for kind in ("numeric", "ordered"))
    assert (numeric.t_exact, ordered.t_exact) == (Fraction(7, 12), Fraction(1, 2))


def test_a_matrix_as_mapping_and_as_file(tmp_path: Path) -> None:
    # {x} against {x, y, z}/3: 1/3 * 1/2 + 1/3 * 1 = 1/2; {z} the same; {y} 1/3.
    path = tmp_path / "matrix.csv"
    path.write_text(",x,y,z\nx,0,1/2,1\ny,0.5,0,0.5\nz,1,0.5,0\n")
    for matrix in ({"x": {"y": 0.5, "z": 1}, "y": {"z": "1/2"}}, path, str(path)):
        audit = audited(spread(a="x", b="y", c="z"), {"s": {"matrix": matrix}})
        assert audit.sensitive["s"].distance == "matrix"
        assert audit.class_table()["s.t"].to_pylist() == [0.5, 1 / 3, 0.5]


DISEASES = {"infection": ["flu", "cold"], "digestive": ["ulcer"]}


def test_hierarchical_distance() -> None:
    # {flu} against {flu, cold, ulcer}/3: a third meets at height 1 of 2, a third at the root.
    columns = {"q": ["a", "b", "c"], "s": ["flu", "cold", "ulcer"]}
    audit = audited(columns, {"s": {"hierarchy": DISEASES}})
    assert audit.sensitive["s"].distance == "hierarchical"
    assert audit.class_table()["s.t"].to_pylist() == [0.5, 0.5, pytest.approx(2 / 3)]
    assert audit.sensitive["s"].t_exact == Fraction(2, 3)


def test_a_missing_value_is_a_value_of_the_equal_distance() -> None:
    assert audited({"q": ["a", "b"], "s": ["x", None]}).sensitive["s"].t_exact == Fraction(1, 2)


def test_a_missing_value_with_a_place_in_the_order() -> None:
    columns = {"q": ["a", "b", "b"], "s": ["low", None, "high"]}
    found = audited(columns, {"s": {"order": [None, "low", "high"], "missing": "value"}}).sensitive["s"]
    assert found.t_exact == Fraction(1, 3)  # {low} in the middle: a third to each side, one of two steps


def test_a_missing_value_with_a_place_in_the_hierarchy() -> None:
    columns = {"q": ["a", "b"], "s": ["flu", None]}
    found = audited(columns, {"s": {"hierarchy": {"known": ["flu"], "unknown": [None]}, "missing": "value"}}).sensitive["s"]
    assert found.t_exact == Fraction(1, 2)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "settings", "sentence"),
    [
        pytest.param(["flu", "rash", "ulcer", "burn", "rash"], {"hierarchy": DISEASES}, "2 values of 's' are not in its hierarchy: 'burn', 'rash'. One of them is in row 2. Add them there.", id="unknown"),
        pytest.param(["flu", "ulcer", "rash"], {"hierarchy": DISEASES}, "Value 'rash' of 's', first in row 3, is not in its hierarchy. Add it there.", id="one unknown"),
        pytest.param(["flu", "digestive"], {"hierarchy": DISEASES}, "Value 'digestive' of 's', first in row 2, stands above other values in its hierarchy.", id="inner node"),
        pytest.param(["low", "hgih"], {"order": ["low", "high"]}, "Value 'hgih' of 's', first in row 2, is not in its order.", id="order"),
        pytest.param(["x", "z"], {"matrix": {"x": {"y": 1}}}, "Value 'z' of 's', first in row 2, is not in its matrix.", id="matrix"),
        pytest.param([1, None, None], {}, "Got 2 missing, the first in row 2.", id="missing"),
        pytest.param(["low", None], {"order": ["low", None]}, "Got 1 missing, the first in row 2.", id="missing not said to be a value"),
        pytest.param(["low", None], {"order": ["low"], "missing": "value"}, "missing: value of 's' needs a place for missing cells", id="missing without a place"),
        pytest.param([1, None], {"missing": "value", "order": [1]}, "missing: value of 's' needs a place for missing cells", id="missing without a place in the order"),
        pytest.param(["x", "y"], {"distance": "ordered"}, "distance: ordered of 's' needs an order: the column holds text.", id="ordered text"),
        pytest.param(["x", "y"], {"distance": "numeric"}, "distance: numeric of 's' needs numbers or dates. The column holds text.", id="numeric text"),
        pytest.param([1.0, float("inf")], {"distance": "numeric"}, "'s'", id="numeric infinity names the column"),
    ],
)  # fmt: skip
def test_a_sensitive_column_that_does_not_fit(cells: list[Any], settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tc.TcloseError) as error:
        audited({"q": ["a"] * len(cells), "s": cells}, {"s": settings})
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        'q,s\na,1\n"secret"x,2\n',
        'q,s\na,1\n"secret,2\n',
        "q,s\na,1\nsecret,2,3\n",
        "q,s\na,1\nsecret\n",
    ],
    ids=["after a quote", "open quote", "too long", "too short"],
)
def test_errors_quote_neither_the_engine_nor_a_row(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(tc.InputError, match=r"^File 'table\.csv' ") as error:
        tc.audit(path, tc.Policy(quasi=["q"], sensitive=["s"]))
    for word in ("secret", "duckdb", "CSV Error", "Invalid Input", "LINE", "auto_detect", "\n"):
        assert word not in str(error.value)
    assert error.value.__suppress_context__


# --- a public table ---------------------------------------------------------------------------------------------------


@pytest.mark.needs_data
def test_adult_from_file_and_frame_and_by_pandas_alone(data: Path) -> None:
    quasi, sensitive = ["sex", "race", "marital-status"], "occupation"
    path = data / "adult.csv"
    delimiter = ";" if ";" in path.read_text(encoding="utf-8").partition("\n")[0] else ","
    frame = pd.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False)
    policy = tc.Policy(quasi=quasi, sensitive=[sensitive])
    audit = tc.audit(path, policy)
    assert audit.to_dict() == tc.audit(frame, policy).to_dict()
    counts = frame.groupby(quasi).size()
    assert (audit.rows, audit.classes, audit.k) == (30_162, len(counts), counts.min())
    table = frame[sensitive].value_counts()
    worst = max(
        sum(
            max(Fraction(int(part.get(value, 0)), int(part.sum())) - Fraction(int(count), len(frame)), Fraction(0))
            for value, count in table.items()
        )
        for part in (group[sensitive].value_counts() for _, group in frame.groupby(quasi))
    )
    assert audit.sensitive[sensitive].t_exact == worst


def test_the_engine_is_told_to_draw_no_progress() -> None:
    # Without a script DuckDB takes a session for interactive, and draws progress over our output.
    code = (
        "import pyarrow as pa, tclose as tc\nfrom tclose.tables.readers import open_reader\nfrom tclose.tables.table import open_table\n"
        "table = open_table(open_reader(pa.table({'q': [1], 's': [1]})), {'q': 'auto', 's': 'value'})\n"
        "print(table._engine._backend.con.sql(\"SELECT current_setting('enable_progress_bar')\").fetchall())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[(False,)]\n"
