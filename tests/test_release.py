"""Random small tables under random policies: every release holds its policy, for a reader and against the input."""

from __future__ import annotations

import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
from tclose.algorithms import ALGORITHMS, Partition
from tclose.algorithms.base import Above, Choice, Option
from tclose.certificate import codebook, to_json
from tclose.cli import app
from tclose.guard import unguarded
from tclose.source.readers import open_reader
from tclose.source.table import Table
from tclose.verify import verify
from tests import naive
from tests.conftest import contain

EXAMPLES = int(os.environ.get("TCLOSE_EXAMPLES", "30"))
SOME = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
FEW = settings(SOME, max_examples=max(EXAMPLES // 3, 1))
SUFFIXES = (".csv", ".parquet", ".arrow")

Columns = dict[str, list[Any]]

# --- tables and policies ----------------------------------------------------------------------------------------------

TREE = ("*", [("odd", [("small", ["1", "3"]), "7"]), ("even", ["2", "4"])])
"""Unbalanced, H = 3."""
HIERARCHY = {"odd": {"small": ["1", "3"], "7": None}, "even": ["2", "4"]}
MATRIX = {
    leaf: {other: str(distance) for other, distance in zip(naive.leaves(TREE), row, strict=True)}
    for leaf, row in zip(naive.leaves(TREE), naive.ground_tree(TREE), strict=True)
}
"""The same distances, spelt out."""

Emd = Callable[[list[int], list[int], list[Any]], Fraction]


def emd_of_tree(p: list[int], q: list[int], domain: list[Any]) -> Fraction:
    leaves = naive.leaves(TREE)
    places = {str(value): place for place, value in enumerate(domain)}
    full = [[counts[places[leaf]] if leaf in places else 0 for leaf in leaves] for counts in (p, q)]
    return naive.emd_tree(full[0], full[1], TREE) if len(domain) > 1 else Fraction(0)


def emd_of_numbers(p: list[int], q: list[int], domain: list[Any]) -> Fraction:
    numbers = [value.toordinal() if isinstance(value, date) else Fraction(value) for value in domain]
    return naive.emd_numeric(p, q, numbers)


@dataclass(frozen=True)
class Kind:
    """A kind of sensitive attribute: its settings, its values in their order, and its twin."""

    settings: dict[str, Any]
    values: list[Any]
    emd: Emd
    seen: Callable[[Any], Any] = lambda value: value
    """What is published of a value, in a form that has its order."""


def ordered(p: list[int], q: list[int], _: list[Any]) -> Fraction:
    return naive.emd_ordered(p, q)


def equal(p: list[int], q: list[int], _: list[Any]) -> Fraction:
    return naive.emd_equal(p, q)


NUMBERS: list[Any] = [1, 2, 3, 4, 7]
DAYS: list[Any] = [date(1999, 12, 31), date(2000, 1, 1), date(2020, 2, 29)]
TEXTS: list[Any] = ["=cmd()", "@x", "flu", "é"]
SENSITIVE = {
    "ordered": Kind({}, NUMBERS, ordered),
    "ordered, negative decimals": Kind({}, [Decimal("-2.5"), Decimal("-0.25"), Decimal("1.75")], ordered),
    "numeric": Kind({"distance": "numeric"}, [-7, *NUMBERS], emd_of_numbers),
    "equal": Kind({"distance": "equal"}, [*NUMBERS, None], equal),
    "texts": Kind({}, [*TEXTS, None], equal),
    "hierarchical": Kind({"hierarchy": HIERARCHY}, NUMBERS, emd_of_tree),
    "matrix": Kind({"matrix": MATRIX}, NUMBERS, emd_of_tree),
    "order": Kind({"order": ["+1", "low", "-x"]}, ["+1", "low", "-x"], ordered),
    "order with missing": Kind({"order": [None, "low", "high"], "missing": "value"}, [None, "low", "high"], ordered),
    "dates": Kind({}, DAYS, ordered),
    "numeric dates": Kind({"distance": "numeric"}, DAYS, emd_of_numbers),
    "width": Kind({"bins": {"width": 3}}, [-5, -4, *NUMBERS], ordered, lambda value: naive.bin_of(value, 3)),
    "edges": Kind({"bins": [-1, 3]}, [-4, -1, *NUMBERS], ordered, lambda value: naive.bin_between(value, [-1, 3])),
    "equal bins": Kind(
        {"bins": [3], "distance": "equal"},
        [*NUMBERS, None],
        equal,
        lambda value: None if value is None else naive.bin_between(value, [3]),
    ),
    "values under bins": Kind({"bins": {"width": 3}, "publish": "value"}, NUMBERS, ordered),
}

QUASI: dict[str, tuple[list[Any], list[dict[str, Any]]]] = {
    "integers": (
        [-3, -1, 0, 2, 5, 9, 40],
        [
            {},
            {"type": "integer", "recode": "bounds"},
            {"recode": "centroid"},
            {"recode": "set"},
            {"snap": 5},
            {"snap": 5, "top": 9, "bottom": -1},
            {"top": 5, "recode": "bounds"},
            {"hierarchy": {"low": [-3, -1, 0], "high": {"some": [2, 5], "many": [9, 40]}}},
            {"hierarchy": {"low": [-3, -1, 0], "high": {"some": [2, 5], "many": [9, 40]}}, "recode": "level"},
        ],
    ),
    "decimals": (
        [Decimal("-1.5"), Decimal("0.25"), Decimal("0.75"), Decimal("3.5")],
        [{}, {"recode": "bounds"}, {"recode": "centroid"}, {"snap": 0.5}, {"type": "decimal"}],
    ),
    "dates": (
        [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 5, 1)],
        [
            {},
            {"type": "date"},
            {"snap": "month"},
            {"snap": "week", "type": "date"},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"hierarchy": "dates"},
            {"top": date(2024, 2, 1)},
        ],
    ),
    "texts": (
        ["aa", "ab", "B", "é", "=1+1", "-y", "+1", "{a, b}", 'q"'],
        [{}, {"recode": "set"}, {"type": "text"}, {"hierarchy": "prefixes"}],
    ),
}


@dataclass(frozen=True, repr=False)
class Case:
    """A table, and what is asked of it."""

    columns: Columns
    policy: tc.Policy
    kinds: list[str]
    container: str
    algorithm: str = "mondrian"

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"Case({self.columns}, {self.policy.to_dict(None)}, {self.kinds}, {self.container!r}, {self.algorithm!r})"

    def seen(self, place: int) -> list[Any]:
        """A sensitive column as it is published, in a form that has its order."""
        return [SENSITIVE[self.kinds[place]].seen(value) for value in self.columns[f"s{place}"]]

    def domain(self, place: int) -> list[Any]:
        kind = SENSITIVE[self.kinds[place]]
        occur = {kind.seen(value) for value in self.columns[f"s{place}"]}
        order = list(dict.fromkeys(map(kind.seen, kind.values)))
        return [value for value in order if value in occur]

    def keeps(self, inside: Sequence[int], among: Sequence[int]) -> bool:
        """Whether some rows may be a class, compared with others; by the twins."""
        persons = [self.columns["who"][row] for row in inside] if self.policy.unit == "who" else None
        if len(set(inside if persons is None else persons)) < self.policy.k:
            return False
        for place, column in enumerate(self.policy.sensitive):
            values = self.seen(place)
            table = [values[row] for row in among]
            domain = [value for value in self.domain(place) if value in table]
            own = [values[row] for row in inside]
            if any(value not in domain for value in own):
                return False
            p, q = naive.counts_of(own, domain), naive.counts_of(table, domain)
            if column.t is not None and SENSITIVE[self.kinds[place]].emd(p, q, domain) > column.t:
                return False
            if self.policy.alpha is not None and naive.share(p) > self.policy.alpha:
                return False
            if column.l is not None and naive.broken_l(p, column.l, column.l_kind, column.c):
                return False
            if column.l is not None and persons is not None:
                of_persons = naive.persons_of(own, persons, domain)
                if naive.broken_l(of_persons, column.l, column.l_kind, column.c):
                    return False
            if column.beta is not None:
                attained = naive.basic_beta if column.beta_kind == "basic" else naive.enhanced_beta
                if attained(p, q) > column.beta:
                    return False
            if column.delta is not None:
                measured = naive.delta_strict if column.delta_kind == "strict" else naive.delta_lenient
                if measured(p, q) >= column.delta:
                    return False
        return True


@st.composite
def quasi_columns(draw: st.DrawFn, name: str, rows: int) -> tuple[tc.Quasi, list[Any]]:
    values, recodings = QUASI[draw(st.sampled_from(sorted(QUASI)))]
    some = draw(st.lists(st.sampled_from(values), min_size=1, max_size=len(values), unique=True))
    cell = st.sampled_from(some)
    cells = draw(st.lists(st.one_of(cell, cell, cell, st.none()), min_size=rows, max_size=rows))
    if not draw(st.booleans()):
        cells = [some[0] if value is None else value for value in cells]
    cells[0] = some[0] if cells[0] is None else cells[0]  # a column of nothing but missing cells has no type
    weight = draw(st.sampled_from([1, 1, 0.5, 3]))
    return tc.Quasi(name, weight=weight, **draw(st.sampled_from(recodings))), cells


LIMITS: dict[str, st.SearchStrategy[Any]] = {
    "t": st.sampled_from([0, 0.1, 0.25, "1/3", 0.5, 1]),
    "l": st.sampled_from(
        [
            {"l": 1},
            {"l": 2},
            {"l": 3},
            {"l": 2, "l_kind": "entropy"},
            {"l": 1.5, "l_kind": "entropy"},
            {"l": 2, "l_kind": "recursive", "c": 2},
            {"l": 2, "l_kind": "recursive", "c": "3/2"},
        ]
    ),
    "beta": st.sampled_from([{"beta": 1}, {"beta": 4}, {"beta": 2, "beta_kind": "enhanced"}]),
    "delta": st.sampled_from([{"delta": 0.9}, {"delta": 3}]),
}


@st.composite
def sensitive_columns(draw: st.DrawFn, name: str, rows: int) -> tuple[str, tc.Sensitive, list[Any]]:
    kind = draw(st.sampled_from(sorted(SENSITIVE)))
    cells = draw(st.lists(st.sampled_from(SENSITIVE[kind].values), min_size=rows, max_size=rows))
    if all(cell is None for cell in cells):
        cells[0] = next(value for value in SENSITIVE[kind].values if value is not None)
    asked: dict[str, Any] = {}
    if draw(st.sampled_from([True, True, False])):
        asked["t"] = draw(LIMITS["t"])
    for limit in ("l", "beta", "delta"):
        if draw(st.sampled_from([False, False, False, True])):
            asked |= draw(LIMITS[limit])
    return kind, tc.Sensitive(name, **SENSITIVE[kind].settings, **asked), cells


CONTAINERS = ("pyarrow", "pyarrow", "csv", "parquet", "arrow file", "pandas, text index", "polars")


@st.composite
def cases(draw: st.DrawFn, least: int = 1, most: int = 24, containers: Sequence[str] = CONTAINERS) -> Case:
    rows = draw(st.integers(least, most))
    quasi = [draw(quasi_columns(f"q{place}", rows)) for place in range(draw(st.integers(1, 3)))]
    sensitive = [draw(sensitive_columns(f"s{place}", rows)) for place in range(draw(st.sampled_from([1, 1, 2, 3])))]
    columns = {column.name: cells for column, cells in quasi} | {column.name: cells for _, column, cells in sensitive}
    roles: dict[str, Any] = {}
    if draw(st.booleans()):
        columns["kept"] = draw(st.lists(st.sampled_from(["u", "v", "=w", None]), min_size=rows, max_size=rows))
        columns["kept"][0] = "u"
        roles["keep"] = {"kept": "its values are few"}
    if draw(st.sampled_from([False, False, True])):
        columns["who"] = draw(st.lists(st.sampled_from(["Ada", "Bo", "Cy", "Di", "Ed"]), min_size=rows, max_size=rows))
        roles["unit"] = draw(st.sampled_from(["who", "row"]))
        roles["identifiers"] = ["who"]
    if draw(st.booleans()):
        columns["spare"] = [f"spare {row}" for row in range(rows)]
        roles |= draw(st.sampled_from([{"drop": ["spare"]}, {"other": "drop"}]))
    names = draw(st.permutations(sorted(columns)))
    policy = tc.Policy(
        [column for column, _ in quasi],
        [column for _, column, _ in sensitive],
        k=draw(st.sampled_from([1, 2, 2, 3, 5])),
        suppression=draw(st.sampled_from([0, 0, 0.1, 0.3])),
        alpha=draw(st.sampled_from([None, None, 0.5, 0.8])),
        **roles,
    )
    kinds = [kind for kind, _, _ in sensitive]
    algorithm = draw(st.sampled_from([algorithm.name for algorithm in tc.list_algorithms()]))
    return Case({name: columns[name] for name in names}, policy, kinds, draw(st.sampled_from(containers)), algorithm)


def released(case: Case, folder: Path, **options: Any) -> tc.Release | None:
    """The release, or None where it is refused because no release can hold the policy."""
    try:
        return tc.anonymize(contain(case.container, case.columns, folder), case.policy, algorithm=case.algorithm, **options)
    except tc.InfeasibleError:
        if case.policy.suppression == 0:
            everything = range(case.rows)
            assert not case.keeps(everything, everything)
        return None


def audited(table: Any, policy: tc.Policy) -> tc.Audit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)  # a release has no unit
        return tc.audit(table, policy)


def same_measures(found: tc.Audit, expected: tc.Audit) -> None:
    assert found.satisfied
    assert (found.rows, found.classes, found.k) == (expected.rows, expected.classes, expected.k)
    for name, attribute in expected.sensitive.items():
        assert (name, found.sensitive[name].t_exact) == (name, attribute.t_exact)
        assert found.sensitive[name].distance == attribute.distance


# --- the gate ---------------------------------------------------------------------------------------------------------


@SOME
@given(cases(), st.sampled_from(SUFFIXES))
def test_every_release_holds_its_policy_for_a_reader_and_against_the_input(case: Case, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        release = released(case, folder)
        if release is None:
            return
        same_measures(audited(release.table, case.policy), release.audit)
        path = release.write(folder / f"release{suffix}")[0]
        same_measures(audited(path, case.policy), release.audit)
        assert verify(path, path.with_name(path.name + ".certificate.json")).holds
    for name, promise in release.certificate.get("promised", {}).items():
        assert release.audit.sensitive[name].t_judged <= Fraction(str(promise["t"]))
        assert promise["t_attained"] <= promise["t"]
    labels = release.partition.tolist()
    assert len(labels) == case.rows
    suppressed = labels.count(-1)
    assert suppressed == release.suppressed <= case.policy.suppression * case.rows
    assert sorted(set(labels) - {-1}) == list(range(len(set(labels) - {-1})))
    published = [row for row, label in enumerate(labels) if label >= 0]
    assert release.audit.rows == release.table.num_rows == len(published)
    # Q does not move with suppression, and a reader compares with R.
    for label in set(labels) - {-1}:
        inside = [row for row in published if labels[row] == label]
        assert case.keeps(inside, range(case.rows))
        assert case.keeps(inside, published)
    same_rows(case, release, published)


def same_rows(case: Case, release: tc.Release, published: list[int]) -> None:
    """Sensitive and kept values, jointly, are those of the rows that are published; rows of one class are published as one."""
    together = [*(column.name for column in case.policy.sensitive), *(["kept"] if "kept" in case.columns else [])]
    assert set(release.table.column_names) >= set(together)
    assert not {"who", "spare"} & set(release.table.column_names)
    shown = {name: release.table[name].to_pylist() for name in release.table.column_names}
    for place, kind in enumerate(case.kinds):
        if "bins" in SENSITIVE[kind].settings and "publish" not in SENSITIVE[kind].settings:
            shown[f"s{place}"] = [interval(label) for label in shown[f"s{place}"]]
    columns = {name: case.seen(int(name[1:])) if name[0] == "s" else case.columns[name] for name in together}
    for place, kind in enumerate(case.kinds):
        if kind in ("hierarchical", "matrix"):  # a CSV's cells stay as printed where they are looked up
            for rows in (shown, columns):
                rows[f"s{place}"] = list(map(str, rows[f"s{place}"]))
    expected = Counter(tuple(columns[name][row] for name in together) for row in published)
    assert Counter(zip(*(shown[name] for name in together), strict=True)) == expected
    # Which classes the rows of the table show: each label of the partition is published as one, with its own rows.
    quasi = [name for name in shown if name not in together]
    by_class: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in range(len(published)):
        by_class[tuple(shown[name][row] for name in quasi)][tuple(shown[name][row] for name in together)] += 1
    assert len(by_class) == release.audit.classes <= len(set(release.partition.tolist()) - {-1})
    by_label: dict[int, Counter[Any]] = defaultdict(Counter)
    for row in published:
        by_label[int(release.partition[row])][tuple(columns[name][row] for name in together)] += 1
    if len(by_label) == len(by_class):
        assert Counter(map(together_once, by_label.values())) == Counter(map(together_once, by_class.values()))


def together_once(counts: Counter[Any]) -> frozenset[tuple[Any, int]]:
    return frozenset(counts.items())


def interval(label: str | None) -> Any:
    """The label of a bin as a pair."""
    if label is None:
        return None
    if label.startswith("below "):
        return -math.inf, Fraction(label.removeprefix("below "))
    if label.endswith(" or more"):
        return Fraction(label.removesuffix(" or more")), math.inf
    low, high = label.strip("[)").split(", ")
    return Fraction(low), Fraction(high)


@FEW
@given(cases(least=6, containers=["pyarrow"]), st.integers(1, 30), st.sampled_from(SUFFIXES))
def test_regions_of_n_rows(case: Case, n: int, suffix: str) -> None:
    """(n,t)-closeness: the release passes the gate, its file is confirmed, and each class is near a region by the twin."""
    assume(any(column.t is not None for column in case.policy.sensitive))
    policy = tc.Policy(**{**case.policy.to_dict(None), "n": n})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            release = tc.anonymize(pa.table(case.columns), policy, algorithm=case.algorithm)
        except tc.InfeasibleError:
            everything = range(case.rows)
            assert policy.suppression > 0 or n > case.rows or not case.keeps(everything, everything)
            return
        path = release.write(folder / f"release{suffix}")[0]
        assert verify(path, path.with_name(path.name + ".certificate.json")).holds
    labels = release.partition.tolist()
    published = [row for row, label in enumerate(labels) if label >= 0]
    assert len(published) >= n
    # The regions of the certificate number the classes by their sorted values.
    quasi = list(release.audit.quasi)
    shown = list(zip(*(release.table[name].cast(pa.string()).to_pylist() for name in quasi), strict=True))
    numbers = {values: number for number, values in enumerate(sorted(set(shown), key=by_text))}
    regions = [{number} for number in numbers.values()] + [set(numbers.values())]
    for groups in release.witnesses.numbered(release.table, release.policy):
        regions += [{number for number in numbers.values() if groups[number] == group} for group in set(groups.tolist()) - {-1}]
    for place, column in enumerate(policy.sensitive):
        if column.t is None:
            continue
        values = release.table[column.name].to_pylist()
        if "bins" in SENSITIVE[case.kinds[place]].settings and "publish" not in SENSITIVE[case.kinds[place]].settings:
            values = [interval(label) for label in values]
        domain = [value for value in case.domain(place) if value in values]
        classes = [
            naive.counts_of([value for value, at in zip(values, shown, strict=True) if at == key], domain) for key in numbers
        ]
        kind = SENSITIVE[case.kinds[place]]
        found = naive.nt(classes, lambda p, q, kind=kind, domain=domain: kind.emd(p, q, domain), n, regions)  # type: ignore[misc]
        assert max(found) <= column.t


@pytest.mark.parametrize("algorithm", ["growth", "fragmentation"])
def test_regions_of_classes_inside_others(algorithm: str, tmp_path: Path) -> None:
    table = pa.table({"q": ["a", "a", "b", "c"], "s": [1, 1, 1, 2]})
    quasi = tc.Quasi("q", hierarchy={"x": ["a", "b"], "y": ["c", "d"]})
    release = tc.anonymize(table, tc.Policy([quasi], {"s": 1}, k=2, n=2), algorithm=algorithm)
    assert set(release.table["q"].to_pylist()) == {"a", "*"}
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert verify(data, certificate).holds


@pytest.mark.parametrize("recode", ["bounds", "centroid"])
def test_regions_of_classes_that_are_published_as_numbers(recode: Any, tmp_path: Path) -> None:
    table = pa.table({"q": [20, 21, 22, 23, 40, 41, 42, 43] * 4, "s": [3, 5, 4, 6] * 8})
    release = tc.anonymize(table, tc.Policy([tc.Quasi("q", recode=recode)], {"s": 0.5}, k=2, n=4))
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert verify(data, certificate).holds


def test_regions_of_classes_whose_order_a_guard_changes(tmp_path: Path) -> None:
    """A guard sorts before digits: in a CSV the classes have other numbers."""
    sizes = {"0a": 8, "0b": 8, "0c": 8, "=d": 24}
    columns = {
        "q": [text for text, size in sizes.items() for _ in range(size)],
        "s": [value for text, size in sizes.items() for value in ([8, 9] if text == "=d" else [1, 2]) * (size // 2)],
    }
    release = tc.anonymize(pa.table(columns), tc.Policy(["q"], {"s": 0.1}, k=4, n=20))
    for suffix in SUFFIXES:
        data, certificate, *_ = release.write(tmp_path / f"release{suffix}")
        assert verify(data, certificate).holds


def by_text(values: tuple[Any, ...]) -> list[tuple[bool, bytes]]:
    return [(value is None, str(value or "").encode()) for value in values]


# --- order and cores --------------------------------------------------------------------------------------------------


def files(release: tc.Release, folder: Path, suffix: str) -> dict[str, bytes]:
    folder.mkdir()
    return {path.name: path.read_bytes() for path in release.write(folder / f"release{suffix}")}


def without_commitment(record: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record)
    for secret in ("hmac_sha256", "hmac_key"):
        assert found["input"].pop(secret)
    return found


@FEW
@given(cases(least=2), st.randoms(use_true_random=False), st.sampled_from(SUFFIXES))
def test_the_order_of_the_rows_leaves_no_trace(case: Case, lots: random.Random, suffix: str) -> None:
    order = lots.sample(range(case.rows), case.rows)
    columns = {name: [values[row] for row in order] for name, values in case.columns.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        release = released(case, folder)
        other = released(Case(columns, case.policy, case.kinds, case.container, case.algorithm), folder)
        if release is None or other is None:
            assert release is other
            return
        one, two = files(release, folder / "one", suffix), files(other, folder / "two", suffix)
        assert other.partition.tolist() == [release.partition[row] for row in order] or tied(case)
    record = f"release{suffix}.private.json"
    assert without_commitment(one.pop(record)) == without_commitment(two.pop(record))
    assert one == two


def tied(case: Case) -> bool:
    """Whether rows may be equal in all that is read and published: which of them is which is then the order's."""
    rows = list(zip(*(values for name, values in case.columns.items() if name != "spare"), strict=True))
    coarser = [column.bins for column in case.policy.sensitive]
    coarser += [part for column in case.policy.quasi for part in (column.snap, column.top, column.bottom)]
    return len(set(map(repr, rows))) < len(rows) or any(part is not None for part in coarser)


CORES = """
import hashlib, json, os, sys
cores, folder = int(sys.argv[1]), sys.argv[2]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
import numpy as np, pyarrow as pa
pa.set_cpu_count(cores)
import tclose as tc
rng = np.random.default_rng(7)
n = int(sys.argv[4])
age, zips, pay = rng.integers(18, 90, n), rng.integers(0, 500, n), rng.normal(50, 15, n).round(1)
table = pa.table({"age": age, "zip": np.char.add("z", zips.astype(str)), "pay": pay, "ill": rng.choice(list("abcde"), n)})
quasi = [tc.Quasi("age", recode="bounds"), tc.Quasi("zip", hierarchy="prefixes")]
policy = tc.Policy(quasi, {"pay": {"t": 0.2, "bins": 12}, "ill": {"t": 0.3, "l": 2}}, k=50, suppression=0.01)
release = tc.anonymize(table, policy, algorithm=sys.argv[3], effort="fast")
for suffix in (".csv", ".parquet"):
    for path in release.write(f"{folder}/{cores}{suffix}"):
        if "private" not in path.name:
            digest = hashlib.sha256(path.read_bytes().replace(f"{cores}{suffix}".encode(), b"")).hexdigest()
            print(path.name.removeprefix(str(cores)), digest)
print(hashlib.sha256(release.partition.tobytes()).hexdigest(), release.suppressed, release.audit.classes)
"""


@pytest.mark.parametrize(("algorithm", "rows"), [("growth", 30_000), ("mondrian", 200_000)])
def test_one_core_and_two_give_the_same_bytes(algorithm: str, rows: int, tmp_path: Path) -> None:
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores to compare")
    runs = []
    for cores in (1, 2):
        command = [sys.executable, "-W", "ignore", "-c", CORES, str(cores), str(tmp_path), algorithm, str(rows)]
        runs.append(subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout)
    assert len(runs[0].splitlines()) == 7
    assert runs[0] == runs[1]


# --- what must not be in the files ------------------------------------------------------------------------------------


def secretive_table() -> tuple[pd.DataFrame, tc.Policy, list[str]]:
    """A table with a row far from all others, which is left out; and all texts that must not be found."""
    rows = 60
    frame = pd.DataFrame(
        {
            "name": [f"Ident-{row:03d}-Secret" for row in range(rows)],
            "note": [f"Dropped-{row:03d}-Secret" for row in range(rows)],
            "age": [30 + row % 10 for row in range(rows - 1)] + [770001],
            "city": ["Aachen", "Bonn", "Celle"] * 19 + ["Aachen", "Bonn", "Outlier-City-Secret"],
            "ill": [*(["flu", "cold", "gout", "mumps"] * 15)[: rows - 1], "Outlier-Ill-Secret"],
            "pay": [1000 + row % 7 for row in range(rows - 1)] + [880002],
            "shift": [*(["day", "night"] * 30)[: rows - 1], "Outlier-Kept-Secret"],
        },
        index=pd.Index([f"Index-{row:03d}-Secret" for row in range(rows)], name="Index-Name-Secret"),
    )
    frame["city"] = frame["city"].astype("category")
    frame["shift"] = frame["shift"].astype("category")
    policy = tc.Policy(
        ["age", "city"],
        {"ill": {"t": 0.5, "distance": "equal"}, "pay": 0.5},
        k=5,
        suppression=0.05,
        identifiers=["name"],
        drop=["note"],
        keep=["shift"],
    )
    return frame, policy, ["Secret", "770001", "880002"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_nothing_of_what_is_hidden_is_in_the_files(suffix: str, tmp_path: Path) -> None:
    frame, policy, secrets = secretive_table()
    release = tc.anonymize(frame, policy, algorithm="mondrian")
    assert release.partition[-1] == -1
    data, certificate, record, book = release.write(tmp_path / f"release{suffix}")
    numbers = [number.to_bytes(8, "little") for number in (770001, 880002)]
    numbers += [number.to_bytes(4, "little") for number in (770001, 880002)]
    for path in (data, certificate, book):
        content = path.read_bytes()
        for secret in secrets:
            assert secret.encode() not in content
            assert secret.encode("utf-16-le") not in content
    assert not any(number in data.read_bytes() for number in numbers)
    assert "Secret" not in repr(release) + repr(release.certificate) + repr(release.audit.to_dict())
    everything = repr(release.table.to_pydict()) + str(release.table.schema) + repr(release.table.schema.metadata)
    if suffix == ".parquet":
        everything += in_parquet(data)
        pq.write_table(pq.read_table(data), tmp_path / "plain.parquet", compression="none", use_dictionary=False)
        plain = (tmp_path / "plain.parquet").read_bytes()
        assert not any(secret.encode() in plain for secret in secrets)
        assert not any(number in plain for number in numbers)
    elif suffix == ".arrow":
        with pa.ipc.open_file(data) as file:
            assert file.schema.metadata is None
            assert all(field.metadata is None and not pa.types.is_dictionary(field.type) for field in file.schema)
            everything += repr(file.read_all().to_pydict()) + str(file.schema)
    assert not any(secret in everything for secret in [*secrets, "pandas", "Index"])
    assert "Secret" not in record.read_text()


def in_parquet(path: Path) -> str:
    """All that a Parquet file says: values of all row groups, statistics, metadata, schemas."""
    file = pq.ParquetFile(path)
    assert file.metadata.metadata is None
    found = [str(file.schema), str(file.schema_arrow), repr(file.schema_arrow.metadata), repr(file.metadata.to_dict())]
    for group in range(file.metadata.num_row_groups):
        found.append(repr(file.read_row_group(group).to_pydict()))
        for place in range(file.metadata.num_columns):
            column = file.metadata.row_group(group).column(place)
            statistics = column.statistics
            found.append(repr(None if statistics is None else (statistics.min, statistics.max, statistics.to_dict())))
    return " ".join(found)


def test_a_value_of_a_row_that_is_left_out_stays_in_no_dictionary() -> None:
    frame, policy, secrets = secretive_table()
    coded = tc.anonymize(frame, policy, algorithm="mondrian").coded
    for column in coded.columns:
        for chunk in column.chunks:
            assert len(chunk.dictionary) == len(set(chunk.to_pylist()) - {None})
            assert not any(secret in repr(chunk.dictionary.to_pylist()) for secret in secrets)


# --- formulas ---------------------------------------------------------------------------------------------------------

WILD = ["=cmd()", "+1", "@x", "-x", "'=y", "plain"]


@pytest.mark.parametrize(
    "asked",
    [
        {"distance": "equal"},
        {"order": WILD},
        {"hierarchy": {"risky": WILD[:5], "safe": WILD[5:]}},
        {"matrix": {text: dict.fromkeys(WILD[place + 1 :], 1) for place, text in enumerate(WILD)}},
    ],
    ids=["equal", "order", "hierarchy", "matrix"],
)
def test_formulas_and_negative_numbers_come_back_as_they_went(asked: dict[str, Any], tmp_path: Path) -> None:
    rows = 48
    columns: Columns = {
        "wild": [WILD[row % 6] for row in range(rows)],
        "debt": [-(row % 5) - 1 for row in range(rows)],
        "loss": [Decimal(-(row % 4)) - Decimal("0.25") for row in range(rows)],
        "born": [date(1990, 1, 1 + row % 8) for row in range(rows)],
        "seen": [date(2024, 1 + row % 3, 1) for row in range(rows)],
        "wild kept": [WILD[row // 2 % 6] for row in range(rows)],
        "wild quasi": [WILD[row // 8 % 6] for row in range(rows)],
        "depth": [-(row // 12) for row in range(rows)],
    }
    path = contain("csv", columns, tmp_path)
    policy = tc.Policy(
        ["born", "wild quasi", "depth"],
        {"wild": {"t": 0.7, **asked}, "debt": 0.6, "loss": {"t": 0.6, "distance": "numeric"}, "seen": 0.6},
        k=3,
        keep=["wild kept"],
    )
    (tmp_path / "policy.yaml").write_text("")
    policy.save(tmp_path / "policy.yaml")
    out = tmp_path / "release.csv"
    run = CliRunner().invoke(app, ["anonymize", str(path), "-p", str(tmp_path / "policy.yaml"), "-o", str(out)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, ["audit", str(out), "-p", str(tmp_path / "policy.yaml")])
    assert run.exit_code == 0, run.output
    names = ["wild", "debt", "loss", "seen", "wild kept"]
    before, after = (Table(open_reader(file), dict.fromkeys(names, "auto")) for file in (path, out))
    assert after.kinds == before.kinds == {
        "wild": "text", "debt": "integer", "loss": "decimal", "seen": "date", "wild kept": "text",
    }  # fmt: skip
    with out.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    back = Counter(tuple(unguarded(line[name]) for name in names) for line in lines)
    assert back == Counter(zip(*([str(value) for value in columns[name]] for name in names), strict=True))
    assert not any(cell[:1] in "=+@" for line in lines for cell in line.values())
    same_measures(audited(out, policy), tc.anonymize(path, policy).audit)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_release_whose_bins_end_below_zero(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 1, 2, 2] * 3, "s": [-7, -2, -5, -9] * 3})
    policy = tc.Policy(["q"], {"s": {"t": 0.5, "bins": [-8, -5]}}, k=2)
    release = tc.anonymize(table, policy)
    assert set(release.table["s"].to_pylist()) == {"below -8", "[-8, -5)", "-5 or more"}
    path = release.write(tmp_path / f"release{suffix}")[0]
    same_measures(audited(path, policy), release.audit)


# --- the object -------------------------------------------------------------------------------------------------------


def small_table() -> pa.Table:
    return pa.table({"age": [39, 23, 31, 27, 64], "name": list("abcde"), "salary": [6, 3, 4, 5, 4]})


SMALL = tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, suppression=0.2)


def test_the_partition_is_in_the_order_of_the_input() -> None:
    release = tc.anonymize(small_table(), SMALL, algorithm="mondrian")
    ages = [39, 23, 31, 27, 64]
    assert release.partition.dtype == np.int64
    assert release.partition.tolist()[4] == -1
    for label in (0, 1):
        inside = [age for age, other in zip(ages, release.partition.tolist(), strict=True) if other == label]
        assert f"[{min(inside)}, {max(inside)}]" in release.table["age"].to_pylist()
    assert release.suppressed == 1
    assert repr(release).startswith("<Release: 4 rows in 2 classes, k=2; salary t=")
    assert "; 1 row left out" in repr(release)


def test_keeping_the_order_warns_and_is_certified(tmp_path: Path) -> None:
    with pytest.warns(tc.PrivacyRiskWarning, match="order of the input"):
        release = tc.anonymize(small_table(), SMALL, algorithm="mondrian", keep_order=True)
    assert release.table["salary"].to_pylist() == [6, 3, 4, 5]
    assert [release.table["age"][row].as_py() for row in (0, 2)] == ["[31, 39]"] * 2
    assert release.certificate["row_order"] == "input"
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert json.loads(certificate.read_text())["row_order"] == "input"
    assert verify(data, certificate).holds
    assert tc.anonymize(small_table(), SMALL).certificate["row_order"] == "sorted"


@FEW
@given(cases(containers=["pyarrow"]))
def test_kept_order_is_that_of_the_input(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.PrivacyRiskWarning)
        release = released(case, Path(name), keep_order=True)
    if release is None:
        return
    published = np.flatnonzero(release.partition >= 0).tolist()
    for place, kind in enumerate(case.kinds):
        shown = release.table[f"s{place}"].to_pylist()
        if "bins" in SENSITIVE[kind].settings and "publish" not in SENSITIVE[kind].settings:
            shown = [interval(label) for label in shown]
        assert shown == [case.seen(place)[row] for row in published]


@FEW
@given(cases(containers=["pyarrow"]))
def test_the_table_is_what_a_written_file_reads_back_to(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name:
        release = released(case, Path(name))
        if release is None:
            return
        parquet, arrow = (release.write(Path(name) / f"release{suffix}")[0] for suffix in (".parquet", ".arrow"))
        assert pq.read_table(parquet).equals(release.table)
        with pa.ipc.open_file(arrow) as file:
            assert file.read_all().equals(release.table)
    frame, polars = release.to_pandas(), release.to_polars()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(frame.index, pd.RangeIndex)
    assert polars.to_dict(as_series=False) == release.table.to_pydict()
    assert list(frame.columns) == release.table.column_names


def test_files_that_exist_are_kept_unless_forced(tmp_path: Path) -> None:
    release = tc.anonymize(small_table(), SMALL)
    release.write(tmp_path / "release.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 4
    with pytest.raises(tc.OutputError, match="exists"):
        release.write(tmp_path / "release.csv")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    release.write(tmp_path / "release.csv", force=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert (tmp_path / "release.csv.private.json").stat().st_mode & 0o777 == 0o600


# --- roles ------------------------------------------------------------------------------------------------------------


def refused(table: Any, policy: tc.Policy, kind: type[tc.TcloseError], **options: Any) -> str:
    with pytest.raises(kind) as caught:
        tc.anonymize(table, policy, **options)
    assert type(caught.value) is kind
    return str(caught.value)


def test_columns_without_a_role_are_refused_by_name() -> None:
    table = small_table().append_column("shoe size", [[4, 4, 4, 5, 5]]).append_column("diary", [list("vwxyz")])
    message = refused(table, SMALL, tc.ColumnError)
    assert "'shoe size', 'diary'" in message
    assert "'name'" not in message
    dropped = tc.anonymize(table, tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, other="drop"))
    assert dropped.table.column_names == ["age", "salary"]
    few = table.drop_columns("diary")
    kept = tc.anonymize(few, tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, other="keep"))
    assert kept.table.column_names == ["age", "salary", "shoe size"]
    assert Counter(kept.table["shoe size"].to_pylist()) == Counter([4, 4, 4, 5, 5])
    assert {column["name"]: column["role"] for column in kept.certificate["columns"]} == {
        "age": "quasi", "salary": "sensitive", "shoe size": "kept",
    }  # fmt: skip


def test_what_names_people_is_not_kept_unless_a_reason_is_given() -> None:
    rows = 20
    table = pa.table(
        {
            "age": list(range(rows)),
            "salary": [row % 4 for row in range(rows)],
            "code": [f"c{row // 2 * 2 if row > 2 else row}" for row in range(rows)],
            "text": ["she lives by the old mill", "he keeps four dogs at home"] * (rows // 2),
        }
    )
    base: dict[str, Any] = {"quasi": ["age"], "sensitive": {"salary": 0.9}, "k": 2}
    assert "nearly one for each" in refused(table, tc.Policy(**base, keep=["code"], drop=["text"]), tc.PolicyError)
    assert "free text" in refused(table, tc.Policy(**base, keep=["text"], drop=["code"]), tc.PolicyError)
    assert "'code'" in refused(table, tc.Policy(**base, other="keep"), tc.PolicyError)
    reasons = {"code": {"despite": "codes are drawn anew each day"}, "text": {"despite": "there are two of them"}}
    assert tc.anonymize(table, tc.Policy(**base, keep=reasons)).table.num_columns == 4


def test_an_identifier_that_repeats_needs_a_decision() -> None:
    table = pa.table({"name": list("aabbcc"), "age": [1, 2, 3, 4, 5, 6], "salary": [1, 2, 1, 2, 1, 2]})
    asked: dict[str, Any] = {"quasi": ["age"], "sensitive": {"salary": 0.5}, "k": 2, "identifiers": ["name"]}
    message = refused(table, tc.Policy(**asked), tc.PolicyError)
    assert "'name' has 3 values in 6 rows" in message
    by_row = tc.anonymize(table, tc.Policy(**asked, unit="row"))
    by_person = tc.anonymize(table, tc.Policy(**asked, unit="name"))
    assert by_row.audit.k_persons is None
    assert by_person.audit.k_persons == 2
    missing = table.set_column(0, "name", [[None, *"abbcc"]])
    assert "must name a person in every row" in refused(missing, tc.Policy(**asked, unit="name"), tc.InputError)


@FEW
@given(cases(least=4, containers=["pyarrow"]), st.data())
def test_persons_are_counted_not_their_rows(case: Case, data: st.DataObject) -> None:
    """k and l over persons, and l over rows too, by the twins; the papers say nothing of persons."""
    people = data.draw(st.lists(st.sampled_from(["Ada", "Bo", "Cy", "Di"]), min_size=case.rows, max_size=case.rows))
    asked = case.policy.to_dict(None) | {"unit": "who", "identifiers": ["who"], "k": data.draw(st.integers(1, 3))}
    first = next(iter(asked["sensitive"]))
    limits = data.draw(LIMITS["l"])
    kept = {key: value for key, value in (asked["sensitive"][first] or {}).items() if key not in ("l", "l_kind", "c")}
    asked["sensitive"][first] = kept | limits
    case = Case({**case.columns, "who": people}, tc.Policy(**asked), case.kinds, "pyarrow", case.algorithm)
    with tempfile.TemporaryDirectory() as name:
        release = released(case, Path(name))
    if release is None:
        return
    labels = release.partition.tolist()
    classes: dict[Any, set[str]] = defaultdict(set)
    for row, label in enumerate(labels):
        classes[label].add(people[row])
    classes.pop(-1, None)
    published = [row for row, label in enumerate(labels) if label >= 0]
    for label in classes:
        assert case.keeps([row for row in published if labels[row] == label], published)
    if release.audit.classes == len(classes):
        assert release.audit.k_persons == min(map(len, classes.values()))
    assert "k_persons" not in json.dumps(release.certificate)
    assert release.certificate["counted"] == "persons"


def test_bad_calls() -> None:
    no_k = tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"])
    assert "k must be set" in refused(small_table(), no_k, tc.PolicyError)
    with pytest.raises(tc.PolicyError, match=r"Policy\.load"):
        tc.anonymize(small_table(), {"quasi": ["age"]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "value", "sentence"),
    [
        ("algorithm", "mondrain", "algorithm must be one of growth, mondrian, fragmentation. Got 'mondrain'. Did you mean 'mondrian'?"),
        ("algorithm", 5, "algorithm must be one of growth, mondrian, fragmentation. Got 5."),
        ("algorithm", ["mondrian"], "algorithm must be one of growth, mondrian, fragmentation. Got list."),
        ("effort", "Best", "effort must be one of fast, balanced, best. Got 'Best'. Did you mean 'best'?"),
        ("effort", None, "effort must be one of fast, balanced, best. Got None."),
        ("effort", pa.table({"who": ["Ada"]}), "effort must be one of fast, balanced, best. Got Table."),
        ("seed", "x", "seed must be a whole number from 0 on. Got 'x'."),
        ("seed", True, "seed must be a whole number from 0 on. Got True."),
        ("seed", -1, "seed must be a whole number from 0 on. Got -1."),
        ("seed", np.int32(-1), "seed must be a whole number from 0 on. Got -1."),
        ("seed", 2.0, "seed must be a whole number from 0 on. Got 2.0."),
        ("options", {"colour": 1}, "'colour' is not an option of growth. Known are: seconds."),
        ("options", {1: 2}, "1 is not an option of growth. Known are: seconds."),
        ("options", [], "options must be a mapping from names to values. Got list."),
        ("options", "sizing=gcd", "options must be a mapping from names to values. Got 'sizing=gcd'."),
    ],
)  # fmt: skip
def test_bad_arguments(argument: str, value: Any, sentence: str) -> None:
    assert refused(small_table(), SMALL, tc.PolicyError, **{argument: value}) == sentence


def test_seed_and_effort_reach_the_algorithm_and_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[Any] = []

    def run(table: Any, policy: tc.Policy, limits: Any, seed: int, effort: str, options: Any) -> Partition:
        reached.append((seed, effort, options))
        return Partition(np.zeros(table.rows, dtype=np.int64))

    monkeypatch.setitem(ALGORITHMS, "growth", replace(ALGORITHMS["growth"], run=run))
    made = [tc.anonymize(small_table(), SMALL), tc.anonymize(small_table(), SMALL, seed=np.int16(3), effort="best")]  # type: ignore[arg-type]
    assert reached == [(0, "balanced", {"seconds": 60}), (3, "best", {"seconds": 60})]
    assert [(release.record["seed"], release.record["effort"]) for release in made] == [(0, "balanced"), (3, "best")]
    assert json.loads(to_json(made[1].record))["seed"] == 3


def test_options_are_read_and_their_defaults_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Option] = {"seconds": Above(0, default=60), "how": Choice(("well", "soon"))}
    monkeypatch.setitem(ALGORITHMS, "mondrian", replace(ALGORITHMS["mondrian"], options=options))

    def told(**wanted: Any) -> Any:
        return tc.anonymize(small_table(), SMALL, algorithm="mondrian", options=wanted).record["options"]

    assert told() == {"seconds": 60, "how": "well"}
    assert told(how="soon") == {"seconds": 60, "how": "soon"}
    for half in (0.5, "0.5", "1/2", np.float32(0.5), Fraction(1, 2)):
        assert told(seconds=half) == {"seconds": 0.5, "how": "well"}
    assert told(seconds=7, how="soon") == {"seconds": 7, "how": "soon"}
    for wrong in (0, -1, "soon", None, True, math.inf, "1e400", [1]):
        message = refused(small_table(), SMALL, tc.PolicyError, algorithm="mondrian", options={"seconds": wrong})
        assert message == f"seconds must be a number above 0. Got {'list' if wrong == [1] else repr(wrong)}."
    message = refused(small_table(), SMALL, tc.PolicyError, algorithm="mondrian", options={"how": "son"})
    assert message == "how must be one of well, soon. Got 'son'. Did you mean 'soon'?"
    shown = CliRunner().invoke(app, ["algorithms"]).stdout
    assert "  --option seconds=60, or another number above 0\n  --option how=well|soon\n" in shown


# --- kinds of columns -------------------------------------------------------------------------------------------------


def test_an_ordered_category_as_sensitive() -> None:
    sizes = pd.Categorical(["low", "mid", "high", "low"] * 3, categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"q": [1, 2, 3, 4] * 3, "s": sizes})
    policy = tc.Policy(["q"], {"s": 0.5}, k=3)
    message = refused(frame, policy, tc.PolicyError)
    assert message == (
        "Sensitive column 's' is an ordered category, and a release keeps no such order. Give its order in the policy, or "
        "distance: equal."
    )
    release = tc.anonymize(frame, tc.Policy(["q"], {"s": {"t": 0.5, "order": ["low", "mid", "high"]}}, k=3))
    assert release.audit.sensitive["s"].distance == "ordered"
    assert verify_in_memory(release)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_times_as_sensitive(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"q": [1, 2, 3, 4] * 3, "s": [datetime(2024, 1, day, 3) for day in (1, 2, 3, 5)] * 3})
    policy = tc.Policy(["q"], {"s": 0.5}, k=3)
    release = tc.anonymize(table, policy)
    if suffix == ".csv":  # where a time is text, which has no order
        with pytest.raises(tc.OutputError, match="Write Parquet or Arrow"):
            release.write(tmp_path / "release.csv")
        assert not list(tmp_path.iterdir())
        return
    path = release.write(tmp_path / f"release{suffix}")[0]
    assert audited(path, policy).satisfied


@pytest.mark.parametrize("values", [[7], ["x"], [None, None]], ids=["number", "text", "missing"])
def test_a_sensitive_column_of_one_value(values: list[Any]) -> None:
    table = pa.table(
        {"q": [1, 2, 3, 4], "s": pa.array(values * (4 // len(values)), pa.int64() if values[0] == 7 else pa.string())}
    )
    release = tc.anonymize(table, tc.Policy(["q"], {"s": 0.1}, k=2))
    assert release.audit.classes == 2
    assert release.audit.sensitive["s"].t == 0


@pytest.mark.parametrize(
    "quasi",
    [
        tc.Quasi("q", type="integer", hierarchy={"low": [11, 12], "high": [21, 22]}),
        tc.Quasi("q", type="integer", hierarchy="prefixes"),
        tc.Quasi("q", type="date", hierarchy="dates"),
        tc.Quasi("q", type="date", snap="week"),
        tc.Quasi("q", type="decimal", recode="set"),
    ],
    ids=["hierarchy", "prefixes", "dates", "weeks", "set"],
)
def test_a_release_is_audited_with_the_policy_that_asked_for_a_type(quasi: tc.Quasi, tmp_path: Path) -> None:
    days = [date(2024, 1, 1), date(2024, 2, 1), date(2025, 2, 1), date(2024, 12, 31)]
    values: list[Any] = days if quasi.type == "date" else [11, 12, 21, 22]
    table = pa.table({"q": values * 2, "s": [1, 2, 1, 2] * 2})
    policy = tc.Policy([quasi], {"s": 0.1}, k=4)
    release = tc.anonymize(table, policy)
    assert release.audit.classes == 2
    path = release.write(tmp_path / "release.csv")[0]
    same_measures(audited(path, policy), release.audit)
    same_measures(audited(release.table, policy), release.audit)


def test_texts_that_look_like_numbers_keep_their_distance(tmp_path: Path) -> None:
    """In a CSV they are numbers to a reader whose policy leaves the distance open: then they are nearer, never farther."""
    table = pa.table({"q": [1, 2, 3, 4] * 3, "s": ["1", "2", "3", "9"] * 3})
    policy = tc.Policy(["q"], {"s": 0.8}, k=3)
    release = tc.anonymize(table, policy)
    for suffix in SUFFIXES:
        data, certificate, *_ = release.write(tmp_path / f"release{suffix}")
        found = audited(data, policy)
        assert found.satisfied
        assert found.sensitive["s"].t_exact <= release.audit.sensitive["s"].t_exact
        assert verify(data, certificate).holds


def verify_in_memory(release: tc.Release) -> bool:
    with tempfile.TemporaryDirectory() as name:
        data, certificate, *_ = release.write(Path(name) / "release.parquet")
        return verify(data, certificate).holds


def test_papers_in_memory_are_those_that_are_written(tmp_path: Path) -> None:
    release = tc.anonymize(small_table(), SMALL)
    data, certificate, _, book = release.write(tmp_path / "release.csv")
    written = json.loads(certificate.read_text())
    assert written.pop("release")["file"] == data.name
    assert written == json.loads(to_json(release.certificate))
    assert book.read_text() == codebook("release.csv", release.certificate)


# --- classes that a reader cannot tell apart --------------------------------------------------------------------------

CROSSING = tc.Quasi("q", hierarchy={"a": [1, 2], "b": [3, 4], "c": [5, 6]})
"""Classes of 2 and 3, and of 4 and 5, are both published as ``*``."""


def test_merged_classes_may_break_entropy_over_persons() -> None:
    """Classes (1, 1) and (1, 1) share a person: together they are (1, 2)."""
    values, people = ["v1", "v2", "v1", "v2", "v1", "v1", "v2", "v2"], ["p1", "p2", "p1", "p3", "p4", "p5", "p2", "p3"]
    table = pa.table({"q": [2, 3, 4, 5, 6, 6, 6, 6], "s": values, "who": people})
    assert tc.anonymize(table, tc.Policy([CROSSING], {"s": {"l": 1.95, "l_kind": "entropy"}}, k=2, unit="who")).audit.satisfied


def test_merged_classes_may_break_lenient_disclosure() -> None:
    """What one class has not is skipped; together with another it has a little of it."""
    places = [2, 3] * 10 + [4, 4, 5, 5] + [6] * 24
    table = pa.table({"q": places, "s": ["y", "z"] * 10 + ["x", "v"] * 14})
    assert tc.anonymize(table, tc.Policy([CROSSING], {"s": {"delta": 1, "delta_kind": "lenient"}}, k=4)).audit.satisfied


def test_over_persons_the_one_class_of_all_rows_may_break_what_smaller_ones_hold() -> None:
    """Algorithms begin with that class, and say that they found nothing."""
    table = pa.table({"q": [1, 1, 2, 2], "s": ["v1", "v2", "v1", "v2"], "who": ["p1", "p2", "p1", "p3"]})
    policy = tc.Policy(["q"], {"s": {"l": 2, "l_kind": "entropy"}}, k=2, unit="who")
    assert tc.audit(table, policy).satisfied
    assert refused(table, policy, tc.InfeasibleError) == "l=2 of 's' was not found to hold: one class of all rows breaks it."


@pytest.mark.parametrize("odd", ["2.71828", "3"])
def test_the_form_of_what_is_published_tells_nothing_of_a_row_that_is_left_out(odd: str, tmp_path: Path) -> None:
    """As many digits, and the same type and distance, whatever the row that is left out had."""
    found = set()
    for last in ("2.5", odd):
        lines = [f"{row % 3},{(1.5, 2.5)[row % 2]}\n" for row in range(24)]
        (tmp_path / "input.csv").write_text("".join(["q,s\n", *lines, f"999,{last}\n"]))
        policy = tc.Policy(["q"], {"s": 0.6}, k=4, suppression=0.1)
        release = tc.anonymize(tmp_path / "input.csv", policy, algorithm="mondrian")
        assert release.partition[-1] == -1
        written = release.write(tmp_path / "release.csv", force=True)
        found.add((written[0].read_bytes(), written[1].read_bytes()))
    assert len(found) == 1


def test_columns_whose_names_begin_alike() -> None:
    """What is said of ``a.b`` is not what is said of ``a``, whose parts are called ``a.min`` and ``a.max``."""
    table = pa.table({"a": [1, 2, 3, 4] * 2, "a.b": ["x", "y"] * 4, "s": [1, 2] * 4})
    release = tc.anonymize(table, tc.Policy([tc.Quasi("a", recode="bounds"), "a.b"], {"s": 0.9}, k=2))
    said = {column["name"]: column["holds"] for column in release.certificate["columns"]}
    assert said["a.max"] == "The greatest 'a' among the rows of the class."
    assert said["a.b"] == "The values of 'a.b' among the rows of the class, as a set where they differ."
