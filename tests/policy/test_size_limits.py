"""Limits on what comes from a policy and its files: each is one sentence, long before time or memory runs out."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tclose import Hierarchy, Policy, PolicyError, anonymize, audit
from tclose.distances.labelled import LabelledMatrix
from tclose.errors import HierarchyError, got
from tclose.policy.yaml import MOST_PARTS
from tclose.values.bins import MOST_BINS
from tclose.values.hierarchy import MOST_LEVELS

LAUGHS = "a0: &a0 [x, y]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
"""Some lines that stand for 2 * 10^11 words."""


def refused_yaml(folder: Path, text: str) -> str:
    file = folder / "policy.yaml"
    file.write_text(text)
    with pytest.raises(PolicyError) as error:
        Policy.load(file)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("quasi: " + "[" * 3000 + "]" * 3000, "must not be nested as deeply as it is"),
        ("k: " + "9" * 6000 + "\nquasi: [q]\nsensitive: [s]\n", "has a number or a date that cannot be read"),
        ("k: 0x" + "f" * 6000 + "\nquasi: [q]\nsensitive: [s]\n", "Got a number of more than 60 digits."),
        ("k: 2024-13-45\nquasi: [q]\nsensitive: [s]\n", "has a number or a date that cannot be read"),
        (LAUGHS + "quasi: [q]\nsensitive: {s: {order: *a11}}\n", f"at most {MOST_PARTS:,} names and values"),
        (LAUGHS + "quasi: [q]\nsensitive: {s: {hierarchy: {r: *a11}}}\n", f"at most {MOST_PARTS:,} names and values"),
        ("quasi: [q]\nsensitive: {s: {hierarchy: &h {a: *h}}}\n", f"at most {MOST_PARTS:,} names and values"),
        ("quasi: [q]\nsensitive: {s: {order: [[a, b], c]}}\n", "order of 's' must be a list of distinct values"),
        ("quasi: [q]\nsensitive: {s: {hierarchy: {r: [[a, b]]}}}\n", "a list of values must not hold a list"),
        ("{[[1]]}", "has a key that is no name"),
        ("#" * 10_000_001, "must have at most 10,000,000 bytes"),
    ],
    ids=[
        "deep",
        "digits",
        "hexadecimal",
        "date",
        "laughs",
        "laughs in a tree",
        "itself",
        "order",
        "list in a list",
        "key",
        "bytes",
    ],
)
def test_what_is_too_much_for_a_policy(tmp_path: Path, text: str, sentence: str) -> None:
    assert sentence in refused_yaml(tmp_path, text)


def test_a_part_that_is_named_and_repeated_stays_allowed(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("quasi: [q]\nsensitive:\n  a: &limits {t: 0.5, l: 2}\n  b: *limits\n")
    assert [column.l for column in Policy.load(file).sensitive] == [2, 2]


def test_a_name_that_is_given_twice_to_parts_is_told_by_nobody(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("quasi: &part [q]\nidentifiers: &part [name]\nsensitive: [s]\n")
    assert Policy.load(file).identifiers == ["name"]  # no warning, which would quote the file


def test_a_hierarchy_has_a_limit_of_levels(tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    file.write_text(";".join(f"l{level}" for level in range(MOST_LEVELS + 2)) + "\n")
    with pytest.raises(HierarchyError, match=f"at most {MOST_LEVELS} levels. Got {MOST_LEVELS + 1}"):
        Hierarchy.from_csv(file)
    file.write_text(";".join(f"l{level}" for level in range(MOST_LEVELS + 1)) + "\n")
    assert Hierarchy.from_csv(file).height == MOST_LEVELS


def test_a_hierarchy_has_a_limit_of_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tclose.values.hierarchy.MOST_NODES", 4)
    assert len(Hierarchy.from_mapping({"*": ["a", "b", "c"]}).labels) == 4
    with pytest.raises(HierarchyError, match="at most 4 labels"):
        Hierarchy.from_mapping({"*": ["a", "b", "c", "d"]})


def test_prefixes_of_a_long_cell_are_refused_before_they_are_made() -> None:
    with pytest.raises(
        HierarchyError, match=r"at most 100 characters, a level for each\. Got '9+'\.\.\. \(10,000 characters\) in row 2\."
    ):
        Hierarchy.from_prefixes(["47601", "9" * 10_000])


def test_files_of_hierarchies_and_matrices_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file.csv"
    file.write_text("a;*\n" * 10)
    for kind, module in ((Hierarchy, "tclose.values.label_files"), (LabelledMatrix, LabelledMatrix.__module__)):
        monkeypatch.setattr(f"{module}.MOST_BYTES", 39)
        with pytest.raises(HierarchyError, match=r"at most 39 bytes\. Got more\."):
            kind.from_csv(file)


def test_a_number_of_a_policy_has_a_limit_of_digits() -> None:
    assert Policy(quasi=["q"], sensitive={"s": "1e-300"}).sensitive[0].t.denominator == 10**300
    with pytest.raises(PolicyError, match="at most 300 digits"):
        Policy(quasi=["q"], sensitive={"s": "1e-301"})


def test_a_matrix_has_a_limit_of_digits_so_that_every_certificate_can_be_verified() -> None:
    primes = [number for number in range(10**6, 10**6 + 400) if all(number % divisor for divisor in range(2, 1001))]
    labels = [f"v{number}" for number in range(6)]
    pairs = zip(combinations(labels, 2), primes, strict=False)
    matrix: dict[str, dict[str, str]] = {label: {} for label in labels}
    for (first, second), prime in pairs:
        matrix[first][second] = f"{prime // 2}/{prime}"
    with pytest.raises(PolicyError, match="A matrix must have distances with a common denominator of at most 60 digits"):
        Policy(quasi=["q"], sensitive={"s": {"t": 0.5, "matrix": matrix}})


def test_a_matrix_is_refused_before_it_is_filled() -> None:
    with pytest.raises(PolicyError, match="A matrix distance is for at most 100 values"):
        Policy(quasi=["q"], sensitive={"s": {"matrix": {str(number): {} for number in range(100_000)}}})


def test_bins_have_a_limit() -> None:
    Policy(quasi=["q"], sensitive={"s": {"bins": MOST_BINS}})
    with pytest.raises(PolicyError, match="a count of bins"):
        Policy(quasi=["q"], sensitive={"s": {"bins": 1_000_000_000}})
    with pytest.raises(PolicyError, match="a list of as many ascending edges at most"):
        Policy(quasi=["q"], sensitive={"s": {"bins": list(range(MOST_BINS + 1))}})


@pytest.mark.parametrize(
    ("given", "shown"),
    [("x" * 1000, f"'{'x' * 60}'... (1,000 characters)"), (10**5000, "a number of more than 60 digits"), ({"Ada": 3}, "dict")],
    ids=["text", "number", "mapping"],
)
def test_a_sentence_stays_short_whatever_was_given(given: Any, shown: str) -> None:
    assert got(given) == shown


def test_bounds_of_decimals_at_0(tmp_path: Path) -> None:
    weights = [Decimal(row) / 2 for row in range(8)]
    table = pa.table({"weight": weights, "disease": ["a", "b"] * 4})
    policy = Policy(quasi={"weight": {"recode": "bounds"}}, sensitive={"disease": 0.5}, k=2)
    release = anonymize(table, policy)
    assert min(release.table["weight.min"].to_pylist()) == 0
    file = tmp_path / "release.csv"
    release.write(file)
    assert re.match(r"weight.min,weight.max,disease\n0.0,", file.read_text())
    assert audit(file, policy).satisfied
