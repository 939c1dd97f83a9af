"""(n,t)-closeness as the maker sees it: which classes need merging, found without the judge, and never more lenient than it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tclose as tc
from tests.support.examples import examples
from tests.support.releases import EXAMPLES, FEW
from tests.support.verdicts import encoded_table, verdicts

Columns = dict[str, list[Any]]

TREE = {"*": {"north": {"Oslo": ["o1", "o2"], "Kiel": ["k1"]}, "south": ["r1", "r2"]}}
RANGES = {"*": {"[0, 19]": {"[0, 9]": ["1", "3"], "[10, 19]": ["11", "12"]}, "[20, 29]": ["20", "25"]}}
JUMPING = {"[0, 99]": {"[0, 9]": ["1", "3"], "[20, 29]": ["20", "25"], "[10, 19]": ["11", "12"]}}
DAYS = [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 5, 1), date(2024, 5, 2)]
OLD = [date(980, 1, 1), date(990, 1, 1), date(1005, 1, 1), date(1006, 1, 1)]
MOMENTS = [datetime(2024, 5, 1, hour, minute) for hour in (0, 8, 23) for minute in (0, 30)]
BERLIN = ZoneInfo("Europe/Berlin")
SET_BACK = [datetime(2024, 10, 26, 23, 50, tzinfo=UTC) + timedelta(minutes=20 * step) for step in range(8)]
DECIMALS = [Decimal("-1.5"), Decimal("0.25"), Decimal("0.75"), Decimal("1.25"), Decimal("3.5")]

QUASI: dict[str, tuple[list[Any], list[dict[str, Any]]]] = {
    "integers": (
        [-3, -1, 0, 2, 5, 9, 40],
        [
            {},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"recode": "set"},
            {"type": "category"},
            {"snap": 5},
            {"snap": "1/3"},
            {"snap": 5, "recode": "bounds"},
            {"snap": 5, "top": 9, "bottom": -1},
            {"top": 5, "bottom": 0, "recode": "bounds"},
            {"top": 9, "bottom": -1},
            {"hierarchy": {"low": [-3, -1, 0], "high": {"some": [2, 5], "many": [9, 40]}}},
            {"hierarchy": {"intervals": [5, 10]}},
            {"hierarchy": {"intervals": ["3/2", 3]}},
            {"hierarchy": {"rounding": [4, 8]}},
            {"hierarchy": {"cuts": [[0, 2, 9], [2]]}},
        ],
    ),
    "decimals": (
        DECIMALS,
        [
            {},
            {"hierarchy": {"intervals": ["1/3", 1, 2]}},
            {"hierarchy": {"rounding": [0.5, 1]}},
            {"hierarchy": {"cuts": [[0.25, 1, 2], [1]]}},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"snap": 0.5},
            {"snap": 0.5, "recode": "bounds"},
            {"snap": "1/3", "recode": "bounds"},
            {"snap": "1/3"},
            {"top": 1.25},
            {"snap": 0.5, "top": 1.25, "bottom": 0.25, "recode": "bounds"},
            {"recode": "set"},
        ],
    ),
    "floats": ([-1e300, -2.5, 1e-9, 0.1, 1e22, 7.25], [{}, {"recode": "bounds"}, {"recode": "centroid"}, {"recode": "set"}, {"hierarchy": {"intervals": [1, 10]}}]),
    "dates": (
        DAYS,
        [
            {},
            *({"snap": snap} for snap in ("day", "week", "month", "quarter", "year")),
            {"snap": "month", "recode": "bounds"},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"recode": "set"},
            {"hierarchy": "dates"},
            {"hierarchy": {"dates": ["week"]}},
            {"hierarchy": {"dates": ["day", "month", "year"]}},
            {"top": date(2024, 2, 1), "snap": "year"},
            {"bottom": date(2024, 1, 15)},
        ],
    ),
    "old dates": (OLD, [{}, {"snap": "year"}, {"snap": "month"}, {"hierarchy": "dates"}, {"recode": "bounds"}]),
    "moments": (
        MOMENTS,
        [{}, {"snap": "day"}, {"recode": "bounds"}, {"recode": "centroid"}, {"recode": "set"}, {"top": datetime(2024, 5, 1, 9)}],
    ),
    "moments in a zone": (
        [moment.replace(tzinfo=timezone(timedelta(hours=5, minutes=30))) for moment in MOMENTS],
        [{}, {"recode": "bounds"}, {"snap": "day"}, {"recode": "centroid"}],
    ),
    "clocks set back": (
        [moment.astimezone(BERLIN) for moment in SET_BACK],
        [{}, {"recode": "bounds"}, {"snap": "day"}, {"recode": "centroid"}, {"type": "category"}],
    ),
    "times": ([time(8), time(8, 30, 0, 500), time(12), time(23, 59)], [{}, {"recode": "bounds"}, {"recode": "set"}]),
    "texts": (
        ["aa", "ab", "B", "é", "=1+1", "-y", "+1", "?", "10th", "20-29", "{a, b}", 'q"', "'s-Hertogenbosch", " x", "less than all"],
        [{}, {"recode": "set"}, {"type": "text"}, {"hierarchy": "prefixes"}],
    ),
    "texts that look like labels": (
        ["[1, 5]", "3", "5 or more", "any value", "4*", "x or missing cell", "less than 4", "'=x", "=x", "1e3", "1/2", "*", "", "[b"],
        [{}, {"recode": "set"}],
    ),
    "codes that look like labels": (["[1, 5]", "[15", "any value", "3 or more", "3 or missing", "'=x", "=x", "{", ""], [{"hierarchy": "prefixes"}]),
    "codes": (
        ["0470", "0471", "048", "479", "4791", "12", "1", "1.0", "2024-03", "2024"],
        [{"type": "text"}, {"type": "category"}, {"hierarchy": "prefixes"}, {"hierarchy": {"prefixes": [3, 2]}}],
    ),
    "diagnoses": (
        ["A04", "A04.7", "A15", "B20", "C7A.1", "C79"],
        [{"hierarchy": {"ranges": [["A00-A09", "A00-B99"], ["A15-B24", "A00-B99"], ["C76-C80", "C"], ["C7A", "C"]]}}],
    ),
    "texts of dates": (["2024-01-02", "2024-02-03", "2023", "2024", "08:30"], [{"type": "text"}, {"type": "category"}]),
    "short and long": (["4", "47", "479", "4791", "5", ""], [{"hierarchy": "prefixes"}, {"hierarchy": {"prefixes": [3, 1]}}, {}]),
    "towns": (["o1", "o2", "k1", "r1", "r2"], [{"hierarchy": TREE}, {"recode": "set"}]),
    "towns or missing": (
        ["o1", "o2", "k1", "r1", "r2"],
        [{"hierarchy": {"*": {"a": ["", "o1", "o2"], "b": ["k1", "r1"], "c or missing": ["r2"]}}}],
    ),
    "trees of ranges": (
        ["1", "3", "11", "12", "20", "25"],
        [{"hierarchy": RANGES}, {"hierarchy": JUMPING}, {"hierarchy": {"*": {"[0, x]": ["1", "3", "11"], "far": ["12", "20", "25"]}}}],
    ),
    "truths": ([True, False], [{}]),
}  # fmt: skip

SENSITIVE: list[tuple[list[Any], dict[str, Any]]] = [
    ([1, 2, 3, 4, 7], {"distance": "ordered"}),
    ([1, 2, 3, 4, 7], {"distance": "numeric"}),
    ([1, 2, 3, 4, 7], {"distance": "equal"}),
    (["o1", "o2", "k1", "r1", "r2"], {"hierarchy": TREE}),
]


@st.composite
def partitions(draw: st.DrawFn, kind: str) -> tuple[Columns, tc.Policy, NDArray[np.int64]]:
    rows = draw(st.integers(4, 30))
    columns: Columns = {}
    quasi = []
    for place in range(draw(st.sampled_from([1, 1, 2, 3]))):
        values, recodings = QUASI[kind if place == 0 else draw(st.sampled_from(sorted(QUASI)))]
        cell = st.sampled_from(values)
        cells = draw(
            st.lists(st.one_of(cell, cell, cell, st.none()) if draw(st.booleans()) else cell, min_size=rows, max_size=rows)
        )
        cells[0] = values[0]
        columns[f"q{place}"] = cells
        quasi.append(tc.Quasi(f"q{place}", **draw(st.sampled_from(recodings))))
    values, asked = draw(st.sampled_from(SENSITIVE))
    columns["s"] = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    t = draw(st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.4]))
    policy = tc.Policy(quasi, {"s": {"t": t, **asked}}, k=1, n=draw(st.integers(1, max(rows // 2, 1))))
    cuts = sorted(draw(st.lists(st.integers(1, rows - 1), max_size=rows // 2, unique=True)))
    labels = np.searchsorted(cuts, np.arange(rows), side="right")  # rows side by side, so that classes lie apart
    for row, label in draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, len(cuts))), max_size=3)):
        if np.count_nonzero(labels == labels[row]) > 1:
            labels[row] = label
    return columns, policy, labels.astype(np.int64)


@pytest.mark.parametrize("kind", sorted(QUASI))
@settings(FEW, max_examples=examples(EXAMPLES // 10))
@given(st.data())
def test_the_maker_finds_what_the_judge_finds(kind: str, data: st.DataObject) -> None:
    """Where it is not sure what a reader takes labels for, it may find more classes failing; never fewer."""
    columns, policy, labels = data.draw(partitions(kind))
    maker, judge, sure = verdicts(encoded_table(columns, policy), policy, labels)
    assert (maker >= judge).all()
    if sure:
        assert maker.tolist() == judge.tolist()


@pytest.mark.parametrize(
    ("values", "settings", "sure"),
    [
        (["cook", "10th", "20-29", "0470", "?", "'s-Hertogenbosch", "less than all"], {}, True),
        (["1", "9", "12.5"], {"type": "category"}, True),
        (DAYS, {"recode": "set"}, True),
        (["cook", "[1, 2]"], {}, False),
        (["cook", "5 or more"], {}, False),
        (["1e3", "1"], {"type": "category"}, False),
        (["2024-05-01", "2024"], {"type": "category"}, False),  # a year, or a number
        (["4791", "48"], {"hierarchy": "prefixes"}, True),
        (["4791", "[4"], {"hierarchy": "prefixes"}, False),
        (["1", "3", "11", "12", "20", "25"], {"hierarchy": RANGES}, True),
        ([1, 3, 11, 12, 20], {"hierarchy": {"intervals": ["3/2", 3]}}, True),
        ([moment.astimezone(BERLIN) for moment in SET_BACK], {}, False),
        ([moment.astimezone(BERLIN) for moment in SET_BACK], {"recode": "centroid"}, True),
        (OLD, {"snap": "year"}, False),
        (OLD, {}, True),
    ],
)
def test_which_labels_a_reader_cannot_take_otherwise(values: list[Any], settings: Any, sure: bool) -> None:
    columns = {"q": values, "s": list(range(len(values)))}
    policy = tc.Policy([tc.Quasi("q", **settings)], {"s": 0.1}, k=1, n=1)
    assert verdicts(encoded_table(columns, policy), policy, np.arange(len(values))).sure == sure


# --- the fence --------------------------------------------------------------------------------------------------------


def test_the_gate_stops_a_release_whose_maker_is_too_lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mondrian cuts between leaves; published labels of the hierarchy lie inside one another, and its regions are none."""
    columns = {"q": [0, 0, 0, 1, 2, 1, 1, 1, 4, 1, 5, 3], "s": [2, 2, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0]}
    tree = {"*": {"x": ["0", "1", "2"], "y": ["3", "4", "5"]}}
    policy = tc.Policy([tc.Quasi("q", hierarchy=tree)], {"s": {"t": 0.1, "distance": "equal"}}, k=2, n=4)
    assert tc.anonymize(pa.table(columns), policy, algorithm="mondrian").audit.satisfied
    monkeypatch.setattr("tclose.make.regions.not_close", lambda *given: np.zeros(len(given[-1]) - 1, dtype=bool))
    with pytest.raises(tc.GateError, match="compared with itself it would break n,t of 's'"):
        tc.anonymize(pa.table(columns), policy, algorithm="mondrian")


def test_a_code_or_missing_is_not_a_code_of_its_own() -> None:
    """A class of A04 lies in no region without the class of A04 and missing cells: somebody in there has A04, too."""
    values, (settings_of_diagnoses,) = QUASI["diagnoses"]
    columns: Columns = {"q": [values[0]] * 4 + [None] * 3, "s": [1] * 6 + [2]}
    policy = tc.Policy([tc.Quasi("q", **settings_of_diagnoses)], {"s": {"t": "0.05"}}, k=1, n=1)
    maker, judge, sure = verdicts(encoded_table(columns, policy), policy, np.array([0, 1, 1, 1, 1, 1, 1]))
    assert sure
    assert maker.tolist() == judge.tolist() == [True, False]
