"""The joint test: all sensitive attributes as one, in lexicographic order; a measure of an audit, never its guarantee."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance
from typer.testing import CliRunner

import tclose as tc
import tclose.tables.counted
import tclose.values.arrays
from tclose.cli import app
from tclose.judge.emd import denominators, numerators
from tclose.judge.emd.joint import Lexicographic
from tclose.judge.gate import judge_against, reference_of
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.histograms import Histograms
from tests import naive
from tests.support.examples import examples

SOME = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])

Row = tuple[Any, ...]


def table(classes: Sequence[Sequence[Row]]) -> pa.Table:
    """Rows of sensitive values, by class; the attributes are called s0, s1, ..."""
    columns = list(zip(*(row for rows in classes for row in rows), strict=True))
    quasi = [number for number, rows in enumerate(classes) for _ in rows]
    return pa.table({"q": quasi, **{f"s{place}": list(column) for place, column in enumerate(columns)}})


def audited(classes: Sequence[Sequence[Row]], sensitive: Any = ("s0", "s1")) -> tc.Audit:
    return tc.audit(table(classes), tc.Policy(["q"], list(sensitive) if isinstance(sensitive, tuple) else sensitive))


def worst(classes: Sequence[Sequence[Row]], domains: Sequence[Sequence[Any]]) -> tuple[Fraction, int]:
    """What the twin finds: the largest distance, and the first class at it."""
    rows = [row for part in classes for row in part]
    found = [naive.joint(part, rows, domains) for part in classes]
    return max(found), found.index(max(found))


def by_scipy(classes: Sequence[Sequence[Row]], domains: Sequence[Sequence[Any]]) -> float:
    place = {values: number for number, values in enumerate(product(*domains))}
    rows = [place[row] for part in classes for row in part]
    if len(place) == 1:
        return 0.0
    return max(float(wasserstein_distance([place[row] for row in part], rows)) for part in classes) / (len(place) - 1)


# --- by hand ----------------------------------------------------------------------------------------------------------

INFECTED = [[(3, "no"), (4, "no"), (5, "no")], [(3, "yes"), (4, "yes"), (5, "yes")]]
"""Salaries are spread alike; in one class nobody is infected, in the other everyone."""


def test_one_class_at_every_second_place() -> None:
    # Six places. The class has 1/3 at places 0, 2 and 4, the table 1/6 at each: 1/6 crosses every second of five gaps.
    audit = audited(INFECTED)
    assert (audit.joint, audit.joint_exact) == (0.1, Fraction(1, 10))


def test_the_order_of_the_attributes_matters() -> None:
    # Swapped, the class has the first three places: 1/6, 2/6, 3/6, 2/6, 1/6 cross the gaps.
    assert audited(INFECTED, ("s1", "s0")).joint_exact == Fraction(3, 10)


def test_it_hides_an_attribute_that_comes_late() -> None:
    wide = [[(salary, answer) for salary in range(50)] for answer in ("no", "yes")]
    audit = audited(wide)
    assert {name: found.t_exact for name, found in audit.sensitive.items()} == {"s0": 0, "s1": Fraction(1, 2)}
    assert audit.joint_exact == Fraction(1, 198)


def test_it_sees_values_that_go_together_where_every_t_is_0() -> None:
    audit = audited([[(1, 1), (2, 2)], [(1, 2), (2, 1)]])
    assert [found.t_exact for found in audit.sensitive.values()] == [0, 0]
    assert audit.joint_exact == Fraction(1, 6)  # 1/4 crosses the first and the last of three gaps


def test_places_count_whether_their_tuples_occur_or_not() -> None:
    # (1, 1), (1, 2), (2, 1), (2, 2), of which the second and the third occur: one step of three apart.
    assert audited([[(1, 2)], [(2, 1)]]).joint_exact == Fraction(1, 6)


def test_paper_figure_1() -> None:
    # Bagai et al. 2023: M is the whole table, E one of its classes; here the rest is the other.
    # In twentieths 2, 0, 0, 0, 0, 3, 1, 3, 0, 0, 1 cross the eleven gaps.
    M = [[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]]
    E = [[3, 3, 0], [1, 0, 4], [0, 4, 0], [1, 1, 3]]
    places = list(product(range(4), range(3)))
    inside = [place for place in places for _ in range(E[place[0]][place[1]])]
    outside = [place for place in places for _ in range(M[place[0]][place[1]] - E[place[0]][place[1]])]
    classes, domains = [inside, outside], [range(4), range(3)]
    audit = audited(classes)
    assert [found.t_exact for found in audit.sensitive.values()] == [Fraction(1, 20), Fraction(1, 40)]
    assert audit.joint_exact == worst(classes, domains)[0] == Fraction(1, 22)
    assert audit.joint == pytest.approx(by_scipy(classes, domains))
    p, q = (naive.counts_of(rows, places) for rows in (inside, inside + outside))
    assert audit.joint == pytest.approx(naive.emd_lp(p, q, naive.ground_ordered(12)))


# --- against the twin -------------------------------------------------------------------------------------------------

TREE = {"odd": {"small": ["1", "3"], "large": ["7"]}, "even": ["2", "4"]}
KINDS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "ordered": ({}, [1, 2, 3, 4, 7]),
    "numeric": ({"distance": "numeric"}, [1, 2, 3, 4, 7]),
    "equal": ({"distance": "equal"}, [1, 2, 3, 4, 7, None]),
    "hierarchical": ({"hierarchy": TREE}, [1, 3, 7, 2, 4]),
    "in an order": ({"order": ["7", "4", "1", "2", "3"]}, [7, 4, 1, 2, 3]),
}
"""Settings of an attribute, and its values in the order of their codes."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[Row]]]:
    """The kind of each attribute, and the rows of each class."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=3))
    row = st.tuples(*(st.sampled_from(KINDS[kind][1]) for kind in kinds))
    return kinds, draw(st.lists(st.lists(row, min_size=1, max_size=6), min_size=1, max_size=4))


def domains_of(kinds: Sequence[str], classes: Sequence[Sequence[Row]]) -> list[list[Any]]:
    """The values that occur, in the order of their codes."""
    columns = list(zip(*(row for part in classes for row in part), strict=True))
    return [[value for value in KINDS[kind][1] if value in column] for kind, column in zip(kinds, columns, strict=True)]


def typed(classes: Sequence[Sequence[Row]]) -> pa.Table:
    """Numbers stay numbers in a column that is all missing."""
    found = table(classes)
    return found.cast(pa.schema([(name, pa.int64()) for name in found.column_names]))


@SOME
@given(tables(), st.integers(1, 5), st.sampled_from([0, 2, 100]))
def test_random_tables_against_naive_and_scipy(drawn: tuple[list[str], list[list[Row]]], chunk: int, few: int) -> None:
    kinds, classes = drawn
    policy = tc.Policy(["q"], {f"s{place}": KINDS[kind][0] for place, kind in enumerate(kinds)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tclose.tables.counted, "CHUNK", chunk)
        patch.setattr(tclose.values.arrays, "FEW", few)  # keys are sorted, or counted
        audit = tc.audit(typed(classes), policy)
    domains = domains_of(kinds, classes)
    ref, number = worst(classes, domains)
    assert audit.joint_verdict is not None
    assert (audit.joint_exact, audit.joint_verdict.worst_class) == (ref, number)
    assert audit.joint is not None
    assert 0 <= Fraction(str(audit.joint)) - ref < Fraction(1, 10**12)  # rounded up, hardly
    assert audit.joint == pytest.approx(by_scipy(classes, domains), abs=1e-12)
    assert (audit.satisfied, audit.judgements) == (True, [])


@SOME
@given(tables())
def test_it_is_near_the_ordered_distance_of_the_first(drawn: tuple[list[str], list[list[Row]]]) -> None:
    kinds, classes = drawn
    domains = domains_of(kinds, classes)
    spreads = [naive.counts_of([row[0] for row in part], domains[0]) for part in classes]
    first = max(naive.emd_ordered(spread, naive.total(spreads)) for spread in spreads)
    assert abs(worst(classes, domains)[0] - first) < Fraction(2, len(domains[0]))


@SOME
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=3).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.lists(
                st.lists(st.integers(0, 9), min_size=math.prod(sizes), max_size=math.prod(sizes)).filter(any),
                min_size=1,
                max_size=3,
            ),
        )
    ),
    st.sampled_from([1, 10**8, 3 * 10**9, 10**16]),
)
def test_large_counts_against_naive(drawn: tuple[list[int], list[list[int]]], times: int) -> None:
    # n * s * scale leaves 64 bits, then that of each attribute does too, then n * s.
    sizes, small = drawn
    classes = [[count * times + (count > 0) for count in counts] for counts in small]
    dense = naive.total(classes)
    occurring = [place for place, count in enumerate(dense) if count]
    every = list(product(*(range(size) for size in sizes)))
    parts = [np.array([every[place][digit] for place in occurring], dtype=np.int64) for digit in range(len(sizes))]
    comp = Lexicographic(parts, sizes)
    histograms = Histograms.of([[counts[place] for place in occurring] for counts in classes])
    ratios = zip(numerators(comp, histograms).tolist(), denominators(comp, histograms).tolist(), strict=True)
    found = [Fraction(*pair) for pair in ratios]
    assert found == [naive.emd_ordered(counts, dense) for counts in classes]


@pytest.mark.parametrize("attributes", [2, 4, 6])
def test_large_domains_are_exact(attributes: int) -> None:
    # 5,000^2 places are in 64 bits with n and s; 5,000^4 are no longer with them, and 5,000^6 not even alone.
    rows = 5000
    columns = [random.Random(seed).sample(range(rows), rows) for seed in range(attributes)]
    tuples = list(zip(*columns, strict=True))
    classes = [tuples[:7], tuples[7:2000], tuples[2000:]]
    audit = audited(classes, tuple(f"s{place}" for place in range(attributes)))
    place_of = {values: sum(value * rows ** (attributes - 1 - digit) for digit, value in enumerate(values)) for values in tuples}
    ordered = sorted(tuples)
    places = [place_of[values] for values in ordered]
    ref = []
    for part in classes:
        inside = set(part)
        emd = naive.emd_numeric([int(values in inside) for values in ordered], [1] * rows, places)
        ref.append(emd * (places[-1] - places[0]) / (rows**attributes - 1))
    assert audit.joint_verdict is not None
    assert (audit.joint_exact, audit.joint_verdict.worst_class) == (max(ref), ref.index(max(ref)))


# --- what the audit makes of it ---------------------------------------------------------------------------------------


def test_bins_are_the_values_where_they_are_judged() -> None:
    classes = [[(1, 5), (12, 6)], [(2, 6), (13, 5), (27, 5)]]
    binned = [[(value // 10, other) for value, other in part] for part in classes]
    bins = {"s0": {"bins": {"width": 10}}, "s1": {}}
    assert audited(classes, bins).joint_exact == audited(binned).joint_exact
    raw = {"s0": {"bins": {"width": 10}, "publish": "value"}, "s1": {}}
    assert audited(classes, raw).joint_exact == audited(classes).joint_exact != audited(binned).joint_exact


def test_attributes_of_one_value() -> None:
    assert audited([[(1, 1)], [(1, 1)]]).joint_exact == 0
    assert audited([[(1, 1)], [(1, 2)]]).joint_exact == Fraction(1, 2)
    assert audited([[(1, 1)], [(2, 1)]]).joint_exact == Fraction(1, 2)


def test_one_attribute_has_none() -> None:
    audit = audited(INFECTED, ("s1",))
    assert (audit.joint, audit.joint_exact, audit.joint_verdict, audit.to_dict()["joint"]) == (None, None, None, None)


def test_no_limit_applies_to_it() -> None:
    audit = audited([[(1, 1), (2, 2)], [(1, 2), (2, 1)]], {"s0": 0, "s1": 0})
    assert audit.satisfied
    assert audit.joint_exact == Fraction(1, 6)
    assert [judgement.model for judgement in audit.judgements] == ["t", "t"]


def test_json_says_it_rounded_up_and_exactly() -> None:
    audit = audited([[(1, 1), (2, 2)], [(1, 2), (2, 1)]])
    assert json.loads(audit.to_json())["joint"] == {"t": 0.16666666666666669, "t_exact": "1/6", "worst_class": 0}


def test_the_screen_has_a_line_of_it_and_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("q,s,r\n" + "".join(f"{number},{s},{r}\n" for number, part in enumerate(INFECTED) for s, r in part))
    both = CliRunner().invoke(app, ["audit", str(path), "--quasi", "q", "--sensitive", "s,r", "--all"])
    line, legend = [line for line in both.stdout.splitlines() if "joint" in line]
    assert line.split() == ["joint", "test", "0.1000", "0"]
    assert "never judged" in legend
    one = CliRunner().invoke(app, ["audit", str(path), "--quasi", "q", "--sensitive", "s", "--all"])
    assert (both.exit_code, one.exit_code, "joint" in one.stdout) == (0, 0, False)


def test_a_release_measures_it_and_its_certificate_does_not_have_it() -> None:
    people = table([[(number % 5, number % 3), (number % 4, number % 2)] for number in range(20)])
    policy = tc.Policy(["q"], {"s0": 0.5, "s1": 0.5}, k=4)
    release = tc.anonymize(people, policy)
    assert release.audit.joint_exact == tc.audit(release.table, policy).joint_exact
    assert release.audit.joint_exact is not None
    for paper in (release.certificate, release.record):
        assert "joint" not in json.dumps(paper)


def test_against_another_table_there_is_none() -> None:
    # What is known of the input is the spread of each attribute by itself.
    policy = tc.Policy(["q"], {"s0": 1, "s1": 1})
    people = table([[(1, 1), (2, 2)], [(1, 2), (2, 1)]])
    source = open_table(open_reader(people), {"q": "auto", "s0": "value", "s1": "value"})
    found = judge_against(reference_of(source, policy), people.slice(0, 3), policy)
    assert (found.joint, found.to_dict()["joint"]) == (None, None)
