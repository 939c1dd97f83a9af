"""Random small tables: the audit is that of a plain twin, and nothing that is not in the rows can change it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tclose as tc
import tclose.tables.counted
import tclose.tables.queried
from tests.support.examples import examples

SOME = settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
FEW = settings(SOME, max_examples=examples(12))

TREE = {"odd": {"small": ["1", "3"], "large": ["7"]}, "even": ["2", "4"]}
"""Unbalanced, H = 3."""
DISTANCES: dict[str, dict[str, Any]] = {
    "ordered": {},
    "numeric": {"distance": "numeric"},
    "equal": {"distance": "equal"},
    "hierarchical": {"hierarchy": TREE},
}

Row = tuple[Any, ...]


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[Row]]:
    """The number of quasi-identifiers, and rows: their values, then two sensitive ones."""
    width = draw(st.integers(1, 3))
    quasi = st.sampled_from([None, "a", "b", "B", "é"])
    sensitive = st.sampled_from([1, 2, 3, 4, 7])
    rows = draw(st.lists(st.tuples(*[quasi] * width, sensitive, sensitive), min_size=1, max_size=12))
    return width, rows


def names(width: int) -> tuple[list[str], list[str]]:
    return [f"q{place}" for place in range(width)], ["s", "r"]


def arrow(width: int, rows: Sequence[Row]) -> pa.Table:
    quasi, sensitive = names(width)
    columns = list(zip(*rows, strict=True))
    types = [pa.string()] * width + [pa.int64()] * 2
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=[*quasi, *sensitive])


def policy(width: int, kind: str = "ordered") -> tc.Policy:
    quasi, sensitive = names(width)
    return tc.Policy(quasi, dict.fromkeys(sensitive, DISTANCES[kind]))


# --- the twin ---------------------------------------------------------------------------------------------------------


def classes_of(width: int, rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each class, classes by their sorted values, missing last."""
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[:width]].append(row)
    return [groups[key] for key in sorted(groups, key=lambda key: [(value is None, (value or "").encode()) for value in key])]


def shares(counts: Mapping[Any, int]) -> dict[Any, Fraction]:
    return {value: Fraction(count, sum(counts.values())) for value, count in counts.items()}


def plain_emd(kind: str, p: Mapping[Any, Fraction], q: Mapping[Any, Fraction]) -> Fraction:
    values = sorted(q)
    surplus = {value: p.get(value, Fraction(0)) - q[value] for value in values}
    if len(values) == 1:
        return Fraction(0)
    if kind == "equal":
        return sum(map(abs, surplus.values()), Fraction(0)) / 2
    if kind == "hierarchical":
        return level(TREE, surplus)[1] / 3
    width = (lambda low, high: high - low) if kind == "numeric" else (lambda low, high: 1)
    gaps = [width(low, high) for low, high in pairwise(values)]
    crossing = (abs(sum((surplus[value] for value in values[: place + 1]), Fraction(0))) for place in range(len(gaps)))
    return sum((mass * gap for mass, gap in zip(crossing, gaps, strict=True)), Fraction(0)) / sum(gaps)


def level(tree: Any, surplus: Mapping[Any, Fraction]) -> tuple[Fraction, Fraction, int]:
    """What a node has too much, what levelling below it costs, and its height."""
    if isinstance(tree, str):
        return surplus.get(int(tree), Fraction(0)), Fraction(0), 0
    parts = [level(below, surplus) for below in (tree.values() if isinstance(tree, dict) else tree)]
    height = 1 + max(part[2] for part in parts)
    above = sum((extra for extra, *_ in parts if extra > 0), Fraction(0))
    below = sum((-extra for extra, *_ in parts if extra < 0), Fraction(0))
    return above - below, sum((cost for _, cost, _ in parts), Fraction(0)) + height * min(above, below), height


# --- properties -------------------------------------------------------------------------------------------------------


@SOME
@given(tables(), st.sampled_from(sorted(DISTANCES)))
def test_the_audit_is_that_of_a_plain_twin(table: tuple[int, list[Row]], kind: str) -> None:
    width, rows = table
    audit = tc.audit(arrow(width, rows), policy(width, kind))
    classes = classes_of(width, rows)
    assert (audit.rows, audit.classes, audit.k) == (len(rows), len(classes), min(map(len, classes)))
    shown = audit.class_table()
    assert list(zip(*(shown[name].to_pylist() for name in names(width)[0]), strict=True)) == [part[0][:width] for part in classes]
    one_value = [False] * len(classes)
    for place, name in enumerate(names(width)[1], width):
        whole = Counter(row[place] for row in rows)
        parts = [Counter(row[place] for row in part) for part in classes]
        q = shares(whole)
        distances = [plain_emd(kind, shares(part), q) for part in parts]
        found = audit.sensitive[name]
        assert found.distance == kind
        assert found.t_exact == max(distances)
        assert found.worst_class == distances.index(max(distances))
        assert found.l_distinct == min(map(len, parts))
        lift = max(share / q[value] for part in parts for value, share in shares(part).items())
        for attained, expected in (
            (found.lift, lift),
            (found.beta, lift - 1),
            (found.share, max(max(shares(part).values()) for part in parts)),
        ):
            assert 0 <= Fraction(str(attained)) - expected < Fraction(1, 10**12)  # rounded up, hardly
        tails = [(max(part.values()), sum(sorted(part.values())[:-1])) for part in parts]
        if all(tail for _, tail in tails):
            assert abs(Fraction(str(found.c_recursive)) - max(Fraction(*pair) for pair in tails)) < Fraction(1, 10**12)
        else:
            assert found.to_dict()["c_recursive"] is None
        homogeneous = [len(part) == 1 < len(whole) for part in parts]
        assert found.homogeneous_classes == sum(homogeneous)
        one_value = [before or now for before, now in zip(one_value, homogeneous, strict=True)]
    assert audit.homogeneous == {
        "classes": sum(one_value),
        "rows": sum(len(part) for part, one in zip(classes, one_value, strict=True) if one),
    }


@SOME
@given(tables(), st.sampled_from(sorted(DISTANCES)), st.fractions(0, 1, max_denominator=12))
def test_exactly_the_classes_beyond_the_limit_are_violations(table: tuple[int, list[Row]], kind: str, t: Fraction) -> None:
    width, rows = table
    asked = tc.Policy(names(width)[0], {"s": {**DISTANCES[kind], "t": t}})
    q = shares(Counter(row[width] for row in rows))
    distances = [plain_emd(kind, shares(Counter(row[width] for row in part)), q) for part in classes_of(width, rows)]
    audit = tc.audit(arrow(width, rows), asked)
    assert [found.number for found in audit.violations] == [number for number, distance in enumerate(distances) if distance > t]
    assert audit.satisfied == (max(distances) <= t)


@FEW
@given(tables(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_an_index_matters(table: tuple[int, list[Row]], random: Any) -> None:
    width, rows = table
    expected = tc.audit(arrow(width, rows), policy(width)).to_dict()
    shuffled = random.sample(rows, len(rows))
    assert tc.audit(arrow(width, shuffled), policy(width)).to_dict() == expected
    frame = arrow(width, shuffled).to_pandas().set_axis(random.choices(["x", "y", "z"], k=len(rows)))
    assert tc.audit(frame, policy(width)).to_dict() == expected
    assert tc.audit(frame.sort_index(kind="stable"), policy(width)).to_dict() == expected


@FEW
@given(tables(), st.integers(1, 5), st.sampled_from(sorted(DISTANCES)))
def test_how_many_cells_the_engine_hands_over_at_a_time_never_matters(
    table: tuple[int, list[Row]], chunk: int, kind: str
) -> None:
    width, rows = table
    asked = tc.Policy(
        names(width)[0], {name: {**DISTANCES[kind], "t": 0.2, "l": 2, "beta": 1, "delta": 1} for name in names(width)[1]}, k=2
    )
    whole = tc.audit(arrow(width, rows), asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tclose.tables.counted, "CHUNK", chunk)
        patch.setattr(tclose.tables.queried, "CELLS", chunk)
        parts = tc.audit(arrow(width, rows), asked)
    assert parts.to_dict() == whole.to_dict()
    assert parts.class_table().equals(whole.class_table())


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100, 1023, 2048, 5000])
def test_chunks_of_a_table_with_many_classes(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    rows = 6000
    frame = pd.DataFrame({"q": [number * number % 2999 for number in range(rows)], "s": [number % 7 for number in range(rows)]})
    frame["id"] = frame["q"] % 5
    asked = tc.Policy(["q"], {"s": {"t": 0.5, "l": 2}}, unit="id")
    whole = tc.audit(frame, asked)
    monkeypatch.setattr(tclose.tables.counted, "CHUNK", chunk)
    monkeypatch.setattr(tclose.tables.queried, "CELLS", chunk)
    assert tc.audit(frame, asked).to_dict() == whole.to_dict()


@FEW
@given(tables(), st.integers(2, 4), st.sampled_from(sorted(DISTANCES)))
def test_repeating_every_row_changes_no_t(table: tuple[int, list[Row]], times: int, kind: str) -> None:
    width, rows = table
    once, often = (tc.audit(arrow(width, rows * repeat), policy(width, kind)) for repeat in (1, times))
    assert often.k == times * once.k
    for name in names(width)[1]:
        assert once.sensitive[name].to_dict() == {
            **often.sensitive[name].to_dict(),
            "homogeneous": once.sensitive[name].to_dict()["homogeneous"],
        }


@FEW
@given(tables(), st.sampled_from(sorted(DISTANCES)))
def test_merging_all_classes_gives_t_0(table: tuple[int, list[Row]], kind: str) -> None:
    width, rows = table
    one_class = [(*["a"] * width, *row[width:]) for row in rows]
    audit = tc.audit(arrow(width, one_class), policy(width, kind))
    assert [(found.t, found.beta, found.lift) for found in audit.sensitive.values()] == [(0.0, 0.0, 1.0)] * 2
