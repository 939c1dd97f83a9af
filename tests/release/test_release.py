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
from dataclasses import replace
from datetime import date
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
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.release.scope import asks_for_something
from tclose.release.verify import verify
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.formula_guard import unguarded
from tests import naive
from tests.support.inputs import contain
from tests.support.releases import (
    FEW,
    SENSITIVE,
    SMALL,
    SOME,
    SUFFIXES,
    Case,
    Columns,
    audited,
    cases,
    files,
    released,
    same_measures,
    small_table,
    without_commitment,
)

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


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")  # of two values the kept one often tells the other
@FEW
@given(cases(least=6, containers=["pyarrow"]), st.integers(1, 30), st.sampled_from(SUFFIXES))
def test_regions_of_n_rows(case: Case, n: int, suffix: str) -> None:
    """(n,t)-closeness: audit, gate and verify agree, and each class is near one of all regions that there are, by the twin."""
    assume(any(column.t is not None for column in case.policy.sensitive))
    policy = tc.Policy(**{**case.policy.to_dict(None), "n": n})
    assume(asks_for_something(policy))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            release = tc.anonymize(pa.table(case.columns), policy, algorithm=case.algorithm)
        except tc.InfeasibleError:
            everything = range(case.rows)
            infeasible = n > case.rows or case.lacks_a_grid() or not case.keeps(everything, everything)
            assert policy.suppression > 0 or infeasible
            return
        path = release.write(folder / f"release{suffix}")[0]
        assert verify(path, path.with_name(path.name + ".certificate.json")).holds
    labels = release.partition.tolist()
    published = [row for row, label in enumerate(labels) if label >= 0]
    assert len(published) >= n
    # By the policy that made it, without the certificate.
    assert audited(release.table, replace(policy, quasi=[replace(column, type="auto") for column in policy.quasi])).satisfied
    quasi = list(release.audit.quasi)
    shown = list(zip(*(release.table[name].to_pylist() for name in quasi), strict=True))
    numbers = {values: number for number, values in enumerate(dict.fromkeys(shown))}
    # A grid that was chosen may have ends beyond which all values are one: as for a reader of the codebook.
    grids = release.record.get("grids", {})
    on_grids = [replace(column, **grids.get(column.name, {})) for column in policy.quasi]
    regions = naive.regions.regions(on_grids, case.columns, [dict(zip(quasi, values, strict=True)) for values in numbers])
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


# --- order and cores --------------------------------------------------------------------------------------------------


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


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "rows"), [("growth", 30_000), ("mondrian", 200_000)])
def test_one_core_and_two_give_the_same_bytes(algorithm: str, rows: int, tmp_path: Path) -> None:
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores to compare")
    runs = []
    for cores in (1, 2):
        command = [sys.executable, "-W", "ignore", "-c", CORES, str(cores), str(tmp_path), algorithm, str(rows)]
        runs.append(subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout)
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
    coded = tc.anonymize(frame, policy, algorithm="mondrian")._details.coded
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
    policy.save(tmp_path / "policy.yaml")
    out = tmp_path / "release.csv"
    run = CliRunner().invoke(app, ["anonymize", str(path), "-p", str(tmp_path / "policy.yaml"), "-o", str(out)])
    assert run.exit_code == 0, run.output
    run = CliRunner().invoke(app, ["audit", str(out), "-p", str(tmp_path / "policy.yaml")])
    assert run.exit_code == 0, run.output
    names = ["wild", "debt", "loss", "seen", "wild kept"]
    before, after = (open_table(open_reader(file), dict.fromkeys(names, "auto")) for file in (path, out))
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
    assert "; 1 row suppressed" in repr(release)


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


def told(kept: list[Any], **more: Any) -> list[str]:
    """The warnings about a kept column of a release of people of 100 ages."""
    ages = list(range(100))
    table = pa.table(
        {"age": ages, "zip": [f"{age * 7 % 10}" for age in ages], "salary": [age * 37 % 20 for age in ages], "kept": kept}
    )
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tc.anonymize(table, tc.Policy(["age", "zip"], {"salary": 0.5}, k=5, **more), algorithm="mondrian")
    assert all(issubclass(one.category, tc.PrivacyRiskWarning) and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


def test_a_kept_column_that_nearly_tells_a_quasi_identifier_warns() -> None:
    by_order = (
        "Column 'kept' is published as it is, and nearly tells the quasi-identifier 'age': with it, the ranges and groups of the "
        "classes hide little. Name 'kept' in drop, or in quasi."
    )
    for role in ({"keep": ["kept"]}, {"other": "keep"}, {"keep": {"kept": "a reason"}}):
        assert told([age // 5 for age in range(100)], **role) == [by_order]
    assert told([-(age // 5) for age in range(100)], other="keep") == [by_order]
    assert told([str(age // 5) for age in range(100)], other="keep") == [by_order]  # texts in the order of their numbers
    assert told([f"{age // 5} or so" for age in range(100)], other="keep") == []  # "10 or so" is before "2 or so"
    by_value = told([(age * 7 + 3) % 10 for age in range(100)], other="keep")  # each zip has one of its own
    assert by_value == [by_order.replace("'age'", "'zip'")]
    assert told([age * 31 % 7 for age in range(100)], other="keep") == []
    assert told([None] * 90 + list(range(10)), other="keep") == []  # too few to tell
    assert told([age // 5 for age in range(100)], other="drop") == []


def test_rows_of_a_large_table_are_compared_in_whatever_order(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []

    def noted(known: Any, other: Any) -> bool:
        chosen.append(sorted(zip(known.tolist(), other.tolist(), strict=True)))
        return True

    monkeypatch.setattr("tclose.make.encode.MOST_COMPARED", 30)
    monkeypatch.setattr("tclose.make.encode.nearly_tells", noted)
    ages = list(range(100))
    for rows in (ages, ages[::-1]):
        table = pa.table({"age": rows, "salary": [age % 20 for age in rows], "kept": [age // 3 for age in rows]})
        with pytest.warns(tc.PrivacyRiskWarning, match="'kept' is published"):
            tc.anonymize(table, tc.Policy(["age"], {"salary": 0.5}, k=5, keep=["kept"]), algorithm="mondrian")
    assert len(chosen[0]) == 30
    assert chosen[0] == chosen[1]


def test_a_kept_column_may_tell_several_quasi_identifiers() -> None:
    ages = list(range(100))
    table = pa.table(
        {
            "age": ages,
            "born": [2024 - age for age in ages],
            "salary": [age % 20 for age in ages],
            "kept": [age // 3 for age in ages],
        }
    )
    with pytest.warns(tc.PrivacyRiskWarning, match="nearly tells the quasi-identifiers 'age', 'born': with it"):
        tc.anonymize(table, tc.Policy(["age", "born"], {"salary": 0.5}, k=5, keep=["kept"]), algorithm="mondrian")


@FEW
@given(cases(containers=["pyarrow"]))
def test_kept_order_is_that_of_the_input(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name:
        release = released(case, Path(name), keep_order=True)
    if release is None:
        return
    published = np.flatnonzero(release.partition >= 0).tolist()
    for place, kind in enumerate(case.kinds):
        shown = release.table[f"s{place}"].to_pylist()
        if "bins" in SENSITIVE[kind].settings and "publish" not in SENSITIVE[kind].settings:
            shown = [interval(label) for label in shown]
        assert shown == [case.seen(place)[row] for row in published]


@pytest.mark.parametrize(("kind", "values"), [("date", [date(2023, 12, 31), date(2024, 1, 1)]), ("integer", [20, 31])])
def test_a_column_with_a_type_that_is_published_as_everything_is_audited_again(kind: Any, values: list[Any]) -> None:
    table = pa.table({"when": [*values[:1] * 17, values[1]], "pay": [1] * 18})
    policy = tc.Policy([tc.Quasi("when", type=kind)], {"pay": 0}, k=2)
    release = tc.anonymize(table, policy, algorithm="incognito")
    assert set(release.table["when"].to_pylist()) == {"*"}
    assert tc.audit(release.table, policy).satisfied


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
