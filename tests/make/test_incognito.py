"""t-Incognito: an example by hand, and every lattice against brute force over all of its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose import jobs
from tclose.make.incognito import lattice
from tests import naive
from tests.naive import incognito as twin
from tests.support.releases import SOME

# Li et al. 2007, table 3: each row is a person's zip code, age and salary in thousands.
PEOPLE = [(47677, 29, 3), (47602, 22, 4), (47678, 27, 5), (47905, 43, 6), (47909, 52, 11), (47906, 47, 8), (47605, 30, 7), (47673, 36, 9), (47607, 32, 10)]  # fmt: skip


def hospital(**more: Any) -> tc.Release:
    table = pa.table(
        {"zip": [str(row[0]) for row in PEOPLE], "age": [row[1] for row in PEOPLE], "pay": [row[2] for row in PEOPLE]}
    )
    quasi = {"zip": {"hierarchy": "prefixes"}, "age": {"hierarchy": {"intervals": [10, 20]}}}
    return tc.anonymize(table, tc.Policy(quasi, {"pay": "1/6"}, k=3, **more), algorithm="incognito")


def test_the_patients_of_li_et_al_by_hand() -> None:
    """Whole zip codes, and decades (four people from 40 on are two and one), are too few for k = 3: one node is left.

    The salaries {3, 5, 9} of 4767* are 1/6 from the table, which is the limit; {4, 7, 10} are 1/12 and {6, 8, 11} are 1/6.
    """
    release = hospital()
    labels = Counter(zip(release.table["zip"].to_pylist(), release.table["age"].to_pylist(), strict=True))
    assert labels == {("4767*", "[20, 39]"): 3, ("4760*", "[20, 39]"): 3, ("4790*", "[40, 59]"): 3}
    assert release.audit.sensitive["pay"].t_exact == Fraction(1, 6)
    course = release.record["course"]
    assert (course["levels"], course["levels_in_all"], course["nodes"]) == ({"zip": 4, "age": 1}, {"zip": 6, "age": 4}, 24)
    assert course["minimal"] == [[4, 1]]
    holds = {column["name"]: column["holds"] for column in release.certificate["columns"]}
    assert holds["age"] == "The interval of 'age', of width 20, that has the value."


def test_nodes_that_need_no_test_are_not_tested() -> None:
    """Of zip codes, 5 fails and 4 passes; of ages, 3 and 2 fail and 1 passes; of both, the one candidate passes."""
    course = hospital().record["course"]
    assert (course["nodes_tested_of_subsets"], course["nodes_tested"]) == (2 + 3, 1)
    assert hospital(suppression=0.2).record["course"]["nodes_tested"] == 24


@pytest.mark.parametrize("asked", [{}, {"suppression": 0.2}, {"n": 3}])
def test_one_class_is_published_where_kernels_cannot_tell_that_it_satisfies_the_limits(asked: dict[str, Any]) -> None:
    """The common denominator of these numbers has more than 64 bits: kernels round, and accept nothing that is near a limit."""
    table = pa.table({"age": list(range(20)), "pay": [number * 0.1 for number in range(20)]})
    policy = tc.Policy(["age"], {"pay": {"t": 0, "distance": "numeric"}}, k=3, **asked)
    release = tc.anonymize(table, policy, algorithm="incognito")
    assert release.table["age"].to_pylist() == ["*"] * 20
    assert release.audit.sensitive["pay"].t_exact == 0


# --- against brute force --------------------------------------------------------------------------------------------------

TREE = {"*": {"a": {"b": ["1", "2"], "3": None}, "4": None, "c": ["5"]}}
"""Unbalanced: 3 and 4 are nearer to the root than 1 and 2."""
ABOVE = {"1": ["*", "a", "b", "1"], "2": ["*", "a", "b", "2"], "3": ["*", "a", "3"], "4": ["*", "4"], "5": ["*", "c", "5"]}
Kind = tuple[list[Any], dict[str, Any], Any]
KINDS: list[Kind] = [
    (["1", "2", "3", "4", "5"], {"hierarchy": TREE}, lambda value: ABOVE[value]),
    (["x", "y", "z"], {}, lambda value: ["*", value]),
    ([1, 4, 5, 11], {}, lambda value: ["*", str(value)]),
    (
        [-1, 1, 3, 4, 9],
        {"hierarchy": {"intervals": [3, 6]}},
        lambda value: ["*", f"[{value // 6 * 6}, {value // 6 * 6 + 5}]", f"[{value // 3 * 3}, {value // 3 * 3 + 2}]", str(value)],
    ),
    (["47", "48", "57"], {"hierarchy": "prefixes"}, lambda value: ["**", value[:1] + "*", value]),
]


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], list[tc.Quasi], list[twin.Paths]]:
    rows = draw(st.integers(2, 14))
    columns: dict[str, list[Any]] = {}
    quasi = []
    paths: list[twin.Paths] = []
    for number in range(draw(st.integers(1, 3))):
        values, asked, path_of = draw(st.sampled_from(KINDS))
        cells = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
        if draw(st.sampled_from([False, False, True])):
            cells = [cells[0], *(None if gone else cell for cell, gone in zip(cells[1:], draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), strict=False))]  # fmt: skip
        columns[f"q{number}"] = cells
        quasi.append(tc.Quasi(f"q{number}", weight=draw(st.sampled_from([1, 1, 2])), **asked))
        of_values = {cell: path_of(cell) for cell in cells if cell is not None}
        if None in cells:
            root = next(iter(of_values.values()))[0]
            rooted = f"{root} or missing" if "hierarchy" in asked else root
            of_values = {cell: [rooted, *path[1:]] for cell, path in of_values.items()} | {None: [rooted, None]}
        paths.append(of_values)
    columns["s"] = draw(st.lists(st.sampled_from(["u", "v", "w"]), min_size=rows, max_size=rows))
    columns["who"] = draw(st.lists(st.sampled_from(["Ada", "Bo", "Cy", "Di"]), min_size=rows, max_size=rows))
    return columns, quasi, paths


class Limits:
    """What is asked of a class, judged by twins."""

    def __init__(self, columns: dict[str, list[Any]], policy: tc.Policy) -> None:
        self.columns, self.policy = columns, policy

    def __call__(self, inside: Sequence[int], among: Sequence[int]) -> bool:
        column = self.policy.sensitive[0]
        persons = [self.columns["who"][row] if self.policy.unit == "who" else row for row in inside]
        own, table = ([self.columns["s"][row] for row in rows] for rows in (inside, among))
        domain = sorted(set(table))
        if len(set(persons)) < self.policy.k or not set(own) <= set(domain):
            return False
        p, q = naive.counts_of(own, domain), naive.counts_of(table, domain)
        if column.l is not None and len(set(own)) < column.l:
            return False
        if column.delta is not None and naive.delta_lenient(p, q) >= column.delta:
            return False
        return bool(naive.emd_equal(p, q) <= column.t)


LIMITS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"t": st.sampled_from([0, "1/6", 0.25, "1/3", 0.5, 1])}, optional={"l": st.just(2)}
)
SOUND = st.fixed_dictionaries({"k": st.sampled_from([2, 2, 3, 4])}, optional={"unit": st.just("who"), "n": st.just(2)})


def made(columns: dict[str, list[Any]], policy: tc.Policy) -> tc.Release | None:
    try:
        return tc.anonymize(pa.table(columns), policy, algorithm="incognito")
    except tc.InfeasibleError:
        return None


def chosen_labels(release: tc.Release, columns: dict[str, list[Any]], paths: Sequence[twin.Paths]) -> None:
    """The published labels are those of the chosen levels, for the rows that are published."""
    levels = list(release.record["course"]["levels"].values())
    kept = [row for row, label in enumerate(release.partition.tolist()) if label >= 0]
    ref = Counter(tuple(twin.label(path[columns[f"q{number}"][row]], level) for number, (path, level) in enumerate(zip(paths, levels, strict=True))) for row in kept)  # fmt: skip
    assert Counter(zip(*(release.table[f"q{number}"].to_pylist() for number in range(len(paths))), strict=True)) == ref


@settings(SOME)
@given(tables(), LIMITS, SOUND)
def test_the_minimal_nodes_are_those_of_brute_force(table: Any, limits: dict[str, Any], asked: dict[str, Any]) -> None:
    columns, quasi, paths = table
    asked = {"identifiers": ["who"], **({} if "unit" in asked else {"unit": "row"}), **asked}
    policy = tc.Policy(quasi, {"s": {"distance": "equal", **limits}}, **asked)
    release, judged = made(columns, policy), Limits(columns, policy)
    everyone = list(range(len(columns["s"])))
    rows = list(zip(*(columns[column.name] for column in quasi), strict=True))
    nodes = twin.passing(rows, paths, range(len(paths)), lambda inside: judged(inside, everyone))
    if release is None:
        assert not nodes
        return
    course = release.record["course"]
    assert set(map(tuple, course["minimal"])) == twin.minimal(nodes)
    assert course["nodes"] == np.prod(twin.level_counts(paths))
    losses = [twin.gcp(rows, paths, node, [column.weight for column in quasi], everyone) for node in nodes]
    assert release.loss["gcp"] == pytest.approx(float(min(losses)), abs=1e-12)
    chosen_labels(release, columns, paths)


@settings(SOME)
@given(tables(), LIMITS, st.sampled_from([0, 0.1, 0.3]), st.booleans(), st.booleans())
def test_every_node_is_tested_where_nothing_can_be_pruned(
    table: Any, limits: dict[str, Any], share: float, lenient: bool, persons: bool
) -> None:
    columns, quasi, paths = table
    limits = {**limits, **({"delta": 0.7, "delta_kind": "lenient"} if lenient else {})}
    asked: dict[str, Any] = {"k": 2, "suppression": share, "identifiers": ["who"], "unit": "who" if persons else "row"}
    policy = tc.Policy(quasi, {"s": {"distance": "equal", **limits}}, **asked)
    release, judged = made(columns, policy), Limits(columns, policy)
    everyone = list(range(len(columns["s"])))
    allowed = int(policy.suppression * len(everyone))
    if release is None:
        assert not judged(everyone, everyone)
        return
    rows = list(zip(*(columns[column.name] for column in quasi), strict=True))
    losses = []
    for node in product(*map(range, twin.level_counts(paths))):
        classes = twin.classes(rows, paths, node, range(len(paths)))
        if allowed:
            classes = twin.left_after_suppression(classes, judged, everyone)
        elif not all(judged(members, everyone) for members in classes):
            continue
        left = [row for members in classes for row in members]
        if left and len(everyone) - len(left) <= allowed:
            losses.append(twin.gcp(rows, paths, node, [column.weight for column in quasi], left))
    assert release.loss["gcp"] == pytest.approx(float(min(losses)), abs=1e-12)
    if allowed or lenient:
        assert release.record["course"]["nodes_tested"] == release.record["course"]["nodes"]
    chosen_labels(release, columns, paths)


@settings(SOME)
@given(tables(), LIMITS, st.sampled_from([2, 3]))
def test_what_is_above_a_passing_node_and_its_parts_pass_too(table: Any, limits: dict[str, Any], k: int) -> None:
    """The generalisation property and the subset property, which the search rests on (Li et al. 2007, properties 1 and 2)."""
    columns, quasi, paths = table
    judged = Limits(columns, tc.Policy(quasi, {"s": {"distance": "equal", **limits}}, k=k, unit="row"))
    everyone = list(range(len(columns["s"])))
    rows = list(zip(*(columns[column.name] for column in quasi), strict=True))
    all_columns = tuple(range(len(paths)))
    nodes = twin.passing(rows, paths, all_columns, lambda inside: judged(inside, everyone))
    for node in nodes:
        assert all(above in nodes for above in product(*map(range, twin.level_counts(paths))) if twin.is_above(above, node))
    for left in all_columns if len(paths) > 1 else ():
        others = [column for column in all_columns if column != left]
        parts = twin.passing(rows, paths, others, lambda inside: judged(inside, everyone))
        assert {tuple(node[column] for column in others) for node in nodes} <= parts


# --- what it refuses, and how it ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("recode", ["bounds", "centroid"])
def test_bounds_and_means_have_no_levels(recode: Any) -> None:
    policy = tc.Policy([tc.Quasi("age", recode=recode)], ["s"], k=2)
    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize(Path("no.csv"), policy, algorithm="incognito")
    reason = f"It publishes quasi-identifiers at levels, and recode: {recode} of 'age' has none."
    assert str(caught.value) == f"incognito cannot make this release. {reason} Choose growth, which can."


def test_a_lattice_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MOST_NODES", 7)
    table = pa.table({"a": [1, 1, 2], "b": [1, 1, 2], "s": list("xyx")})
    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize(table, tc.Policy(["a", "b"], ["s"], k=2), algorithm="incognito")
    reason = "The levels of the quasi-identifiers can be combined in 8 ways. It tries at most 7."
    assert str(caught.value) == f"incognito cannot make this release. {reason} Choose growth, which can."


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"a": rng.integers(0, 4, 200), "b": rng.integers(0, 30, 200), "s": rng.integers(0, 5, 200)})
    policy = tc.Policy({"a": None, "b": {"hierarchy": {"intervals": [5, 10]}}}, {"s": 0.2}, k=5, suppression=0.05)
    written = []
    for number, rows in enumerate((table, table.take(rng.permutation(200)))):
        data, *_ = tc.anonymize(rows, policy, algorithm="incognito").write(tmp_path / f"{number}.csv")
        written.append(data.read_bytes())
    assert written[0] == written[1]


def test_it_reports_nodes_and_stops_when_its_job_is_cancelled() -> None:
    table = pa.table(
        {f"q{number}": [row * (number + 3) % 5 for row in range(40)] for number in range(6)} | {"s": ["x", "y"] * 20}
    )
    policy = tc.Policy([f"q{number}" for number in range(6)], {"s": 0.1}, k=2)
    heard = []

    def listen(stage: str, figure: str) -> None:
        if stage == "Testing nodes:" and figure and not figure.startswith(jobs.COMPILING):
            heard.append(figure)
            job.cancel()

    job = jobs.Job(listen)
    with job, pytest.raises(jobs.Cancelled):
        tc.anonymize(table, policy, algorithm="incognito")
    assert heard == ["1; 1 of 6 quasi-identifiers, whose lattice has 64"]
