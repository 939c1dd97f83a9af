"""Random small tables under random policies, and their releases."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.make import kept
from tclose.release.scope import asks_for_something
from tests import naive
from tests.support.examples import examples
from tests.support.inputs import contain

EXAMPLES = 30
SOME = settings(
    max_examples=examples(EXAMPLES),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
FEW = settings(SOME, max_examples=examples(EXAMPLES // 3))
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
            {"snap": "auto"},
            {"snap": "auto", "recode": "bounds"},
            {"top": 5, "recode": "bounds"},
            {"hierarchy": {"low": [-3, -1, 0], "high": {"some": [2, 5], "many": [9, 40]}}},
            {"hierarchy": {"low": [-3, -1, 0], "high": {"some": [2, 5], "many": [9, 40]}}, "recode": "level"},
            {"hierarchy": {"intervals": [5, 10]}},
        ],
    ),
    "decimals": (
        [Decimal("-1.5"), Decimal("0.25"), Decimal("0.75"), Decimal("3.5")],
        [
            {},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"snap": 0.5},
            {"snap": "auto"},
            {"type": "decimal"},
            {"hierarchy": {"intervals": ["1/2", 2]}},
        ],
    ),
    "dates": (
        [date(2023, 12, 31), date(2024, 1, 1), date(2024, 2, 29), date(2024, 5, 1)],
        [
            {},
            {"type": "date"},
            {"snap": "month"},
            {"snap": "auto", "type": "date"},
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

    def lacks_a_grid(self) -> bool:
        """Whether no grid will do for some column that asks for one; by the twin."""
        persons = self.columns["who"] if self.policy.unit == "who" else range(self.rows)
        asking = [self.columns[column.name] for column in self.policy.quasi if column.snap == "auto"]
        return any(naive.grids.chosen(cells, persons, self.policy.k) is None for cells in asking)

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
    most = min(len(values), kept.FEW - 1)  # as many texts as that, nearly one for each row, are refused
    some = draw(st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True))
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


def able(policy: tc.Policy, equal: Sequence[bool] = ()) -> list[str]:
    """The algorithms that make one table under a policy; ``equal`` says of which sensitive columns the distance is the equal one."""
    says = zip(policy.sensitive, equal or [False] * len(policy.sensitive), strict=True)
    known = replace(policy, sensitive=[replace(column, distance="equal") if is_equal else column for column, is_equal in says])
    return [item.name for item in tc.list_algorithms() if not item.several and not item.refuses(known, None)]


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
        edges=draw(st.sampled_from([1, 1, 2, 3])),
        **roles,
    )
    policy = policy if asks_for_something(policy) else replace(policy, k=2)
    kinds = [kind for kind, _, _ in sensitive]
    algorithm = draw(st.sampled_from(able(policy, equal=[SENSITIVE[kind].emd is equal for kind in kinds])))
    return Case({name: columns[name] for name in names}, policy, kinds, draw(st.sampled_from(containers)), algorithm)


def released(case: Case, folder: Path, **options: Any) -> tc.Release | None:
    """The release, or None where it is refused because no release can hold the policy."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tc.PrivacyRiskWarning)  # of two values the kept one often tells the other
            return tc.anonymize(contain(case.container, case.columns, folder), case.policy, algorithm=case.algorithm, **options)
    except tc.InfeasibleError as error:
        if "Without the rows that are suppressed" in str(error):
            assert case.policy.suppression > 0
        elif "snap: auto" in str(error):
            assert case.lacks_a_grid()
        elif case.policy.suppression == 0:
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


def small_table() -> pa.Table:
    return pa.table({"age": [39, 23, 31, 27, 64], "name": list("abcde"), "salary": [6, 3, 4, 5, 4]})


SMALL = tc.Policy(["age"], {"salary": 0.5}, identifiers=["name"], k=2, suppression=0.2)


def files(release: tc.Release, folder: Path, suffix: str) -> dict[str, bytes]:
    folder.mkdir()
    return {path.name: path.read_bytes() for path in release.write(folder / f"release{suffix}")}


def without_commitment(record: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record)
    for secret in ("hmac_sha256", "hmac_key"):
        assert found["input"].pop(secret)
    return found
