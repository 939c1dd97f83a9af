"""Losses: small enough to work out by hand, then against the twin, row by row."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tclose import Hierarchy
from tclose.make.losses import Charges, Losses, losses
from tclose.make.scales import Line, Nominal, Published, Scale, Tree
from tclose.make.scales.grids import Grid
from tclose.make.scales.widened import widen
from tclose.values.arrays import grouped
from tests import naive

TREE = Hierarchy.from_mapping({"lung": ["flu", "cold"], "gut": ["ulcer"]})
ROWS = np.array([2, 1])


def release(suppressed: Sequence[tuple[int, str]] = (), **settings: Any) -> Losses:
    """Ages 20 and 30 with flu and cold in one class, 40 with ulcer in another, and rows that are left out."""
    rows = [(20, "flu"), (30, "cold"), (40, "ulcer"), *suppressed]
    ages, codes = Line.of("age", sorted({age for age, _ in rows}))
    illnesses, _ = Tree.of("illness", ["flu", "cold", "ulcer"], TREE)
    published = [
        ages.publish(np.array([0, 1, 2]), np.array([0, 2, 3])),
        illnesses.publish(np.array([0, 1, 2]), np.array([0, 2, 3])),
    ]
    originals = [
        np.bincount([codes[(age - 20) // 10] for age, _ in rows]),
        np.bincount([["flu", "cold", "ulcer"].index(ill) for _, ill in rows]),
    ]
    given = {
        "weights": [1, 1],
        "rows": ROWS,
        "sizes": ROWS,
        "originals": originals,
        "suppressed": len(suppressed),
        "k": 1,
        **settings,
    }
    return losses(published, **given)


def test_losses_of_three_rows() -> None:
    comp = release()
    assert comp.by_attribute["gcp"] == {"age": 1 / 3, "illness": pytest.approx(4 / 9)}  # two rows lose 1/2 and 2/3
    assert comp["gcp"] == pytest.approx(7 / 18)
    assert comp.by_attribute["lm"] == {"age": 1 / 3, "illness": 1 / 3}
    assert comp["lm"] == pytest.approx(1 / 3)
    assert comp["dm"] == 5
    assert comp["c_avg"] == 1.5
    assert comp["sse"] == comp.by_attribute["sse"]["age"] == 2 / 16
    assert comp.by_attribute["precision"] == {"age": pytest.approx(1 / 3), "illness": pytest.approx(2 / 3)}
    assert comp["precision"] == pytest.approx(1 / 2)
    assert comp["kl"] == 0  # each class covers what it holds, once


def test_a_suppressed_row_loses_everything() -> None:
    comp = release(suppressed=[(40, "flu")])
    assert comp.by_attribute["gcp"] == {"age": 0.5, "illness": pytest.approx((4 / 3 + 1) / 4)}
    assert comp["dm"] == 5 + 4
    assert comp["c_avg"] == 2
    assert comp["sse"] == 2 / 16 + 1
    assert comp.by_attribute["precision"]["age"] == pytest.approx(1 / 4)
    ages = naive.kullback_leibler([1, 1, 2], [Fraction(4, 3)] * 3)
    illnesses = naive.kullback_leibler([2, 1, 1], [Fraction(4, 3)] * 3)
    assert comp.by_attribute["kl"] == {"age": pytest.approx(ages), "illness": pytest.approx(illnesses)}
    assert comp["kl"] == pytest.approx(ages + illnesses)


def test_weights_count_in_gcp_and_lm() -> None:
    assert release(weights=[Fraction(3), Fraction(1)])["gcp"] == pytest.approx((3 * 1 / 3 + 4 / 9) / 4)
    assert release(weights=[1, 0])["gcp"] == pytest.approx(1 / 3)
    assert release(weights=[0.5, 0.5])["gcp"] == pytest.approx(7 / 18)
    with pytest.raises(ValueError, match="weight"):
        release(weights=[0, 0])


def test_classes_are_those_that_a_reader_sees() -> None:
    comp = release(sizes=np.array([3]))
    assert comp["dm"] == 9
    assert comp["c_avg"] == 3


def test_what_is_not_known_is_not_given() -> None:
    assert "c_avg" not in release(k=None)
    jobs = Nominal.of("job", ["a", "b"])[0].publish(np.array([0, 1]), np.array([0, 2]))
    comp = losses([jobs], weights=[1], rows=np.array([2]), sizes=np.array([2]), originals=[np.array([1, 1])])
    assert list(comp) == ["gcp", "lm", "dm", "precision", "kl"]
    assert comp.by_attribute["sse"] == {}


def test_losses_are_a_mapping_that_prints_in_one_line() -> None:
    comp = release()
    assert list(comp) == ["gcp", "lm", "dm", "c_avg", "sse", "precision", "kl"]
    assert len(comp) == 7
    assert repr(comp) == "<Losses: gcp 0.3889, lm 0.3333, dm 5, c_avg 1.5, sse 0.125, precision 0.5, kl 0>"
    plain = json.loads(json.dumps(comp.to_dict()))
    assert plain["gcp"] == comp["gcp"]
    assert plain["by_attribute"]["gcp"]["age"] == comp.by_attribute["gcp"]["age"]


def test_discernibility_is_exact() -> None:
    size = 3_100_000_007
    one = Line.of("age", [1])[0].publish(np.array([0]), np.array([0, 1]))
    comp = losses([one], weights=[1], rows=np.array([size]), sizes=np.array([size]), originals=[np.array([size])])
    assert comp["dm"] == size * size


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[list[tuple[int, str]]], list[tuple[int, str]], list[int]]:
    """Classes of rows, suppressed rows, and weights."""
    row = st.tuples(st.integers(0, 9), st.sampled_from("abcd"))
    weights = draw(st.lists(st.integers(0, 3), min_size=2, max_size=2).filter(any))
    return draw(st.lists(st.lists(row, min_size=1, max_size=5), min_size=1, max_size=5)), draw(st.lists(row, max_size=3)), weights


@given(releases())
def test_losses_are_those_of_the_twin(case: tuple[list[list[tuple[int, str]]], list[tuple[int, str]], list[int]]) -> None:
    classes, suppressed, weights = case
    rows = [row for part in classes for row in part] + suppressed
    sizes = np.array(list(map(len, classes)))
    published: list[Published] = []
    originals, ncp, kl = [], [], []
    for place, charge in ((0, lambda values, table: naive.ncp_line(values, table, None, None, None)), (1, naive.ncp_set)):
        table: list[Any] = [row[place] for row in rows]
        values = sorted(set(table))
        scale, _ = Line.of("age", values) if place == 0 else Nominal.of("job", values)
        parts = [[values.index(row[place]) for row in part] for part in classes]
        published.append(scale.publish(np.concatenate(parts), np.cumsum([0, *sizes])))
        originals.append(np.array([table.count(value) for value in values]))
        ncp.append([charge([row[place] for row in part], table) for part in classes for _ in part])
        covers = [set(range(min(part), max(part) + 1)) if place == 0 else set(part) for part in parts]
        guess = [mass + Fraction(len(suppressed), len(values)) for mass in naive.estimate(parts, covers, len(values))]
        kl.append(naive.kullback_leibler([table.count(value) for value in values], guess))
    comp = losses(published, weights=weights, rows=sizes, sizes=sizes, originals=originals, suppressed=len(suppressed), k=2)
    assert comp["gcp"] == pytest.approx(float(naive.gcp(ncp, weights, len(suppressed))))
    assert comp["dm"] == sum(len(part) ** 2 for part in classes) + len(suppressed) * len(rows)
    assert comp["c_avg"] == len(rows) / (2 * len(classes))
    assert list(comp.by_attribute["kl"].values()) == pytest.approx(kl, abs=1e-11)
    assert 0 <= comp["precision"] <= 1
    assert all(math.isfinite(value) for value in comp.values())


PARTED: dict[str, Scale] = {
    "set": Nominal.of("q", ["3", "4", "8", "15", "16", "23"], missing=True)[0],
    **{recode: Line.of("q", [3, 4, 8, 15, 16, 23], missing=True, recode=recode)[0] for recode in ("range", "bounds")},
}
for _name, _grid in {
    "moved": Grid(Fraction(5), None, None),
    "open": Grid(Fraction(5), 0, 3),
    "open, one cell": Grid(Fraction(20), 0, 0),
}.items():
    PARTED[_name] = Line.of("q", [3, 4, 8, 15, 16, 23], missing=True)[0].with_edges(2, _grid)
PARTED["open, with a top"] = Line.of("q", [3, 4, 8, 15, 16, 23], missing=True, top=22)[0].with_edges(2, Grid(Fraction(5), 0, 2))


@given(
    codes=st.lists(st.integers(0, 6), min_size=4, max_size=40),
    classes=st.integers(1, 6),
    parts=st.integers(1, 3),
    scale=st.sampled_from(sorted(PARTED)),
)
def test_charges_of_parts_are_those_of_the_whole(codes: list[int], classes: int, parts: int, scale: str) -> None:
    """A part may cover less than the whole, of which a reader sees shares; code 6 is a missing cell.

    Where an end is open, a reader takes it to reach as far as the outermost number that is published of the whole.
    """
    made = PARTED[scale]
    labels = np.arange(len(codes)) % classes

    def charges(rows: Any) -> Charges:
        """What is charged for some rows."""
        members, starts = grouped(np.unique(labels[rows], return_inverse=True)[1])
        own = np.array(codes)[rows][members]
        return Charges.of(widen(made, own, starts, None).publish(own, starts), np.diff(starts)).summed()

    whole = charges(np.arange(len(codes)))
    found = [charges(np.flatnonzero(labels % parts == part)) for part in range(parts) if (labels % parts == part).any()]
    joined = Charges.joined(found)
    assert whole.seen is not None
    assert joined.seen is not None
    for ref, comp in ((whole.seen, joined.seen), (whole.ncp, joined.ncp), (whole.lm, joined.lm)):
        assert sum(comp) == pytest.approx(sum(ref))
    assert (joined.reach, joined.mixed, joined.missing) == (whole.reach, whole.mixed, whole.missing)


def test_a_part_may_cover_more_units_than_a_float_can_count() -> None:
    """The units of a line are those of its least differences: 5e-324 beside 1e308."""
    made = Line.of("q", [-1e308, 5e-324, 1e-323, 1e308])[0]

    def charges(codes: list[int]) -> Charges:
        """What is charged for some codes as one class."""
        return Charges.of(made.publish(np.array(codes), np.array([0, len(codes)])), np.array([len(codes)])).summed()

    joined = Charges.joined([charges([1, 1, 2]), charges([0, 0, 3])])
    assert joined.seen == [pytest.approx(0), 3]
