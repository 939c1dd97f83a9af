"""Releases by fragmentation: what is promised before rows are chosen, and that nothing else is forgotten over it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.distances import Equal, Ordered
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.fragmentation import size_classes
from tclose.make.registry import find_algorithm
from tclose.release.verify import verify


def people(rows: int = 600) -> pa.Table:
    generator = np.random.default_rng(3)
    age = generator.integers(20, 80, rows)
    return pa.table(
        {
            "age": age,
            "zip": generator.choice(["476", "477", "479", "480"], rows),
            "pay": np.clip(generator.normal(age, 10, rows), 20, 90).astype(int) // 10,
            "ill": generator.choice(["flu", "asthma", "ulcer"], rows, p=[0.6, 0.3, 0.1]),
            "who": [f"P{row // 2}" for row in range(rows)],
        }
    )


def policy(**asked: Any) -> tc.Policy:
    settings: dict[str, Any] = {"sensitive": {"pay": 0.1, "ill": 0.2}, "k": 5, "drop": ["who"]}
    return tc.Policy(quasi=["age", "zip"], **{**settings, **asked})


def fragmented(table: pa.Table, asked: tc.Policy, **options: Any) -> tc.Release:
    return tc.anonymize(table, asked, algorithm="fragmentation", options=options)


def test_what_is_promised_stands_beside_what_is_attained() -> None:
    release = fragmented(people(), policy())
    promised = release.certificate["promised"]
    assert list(promised) == ["pay", "ill"]
    for name, limit in (("pay", 0.1), ("ill", 0.2)):
        assert 0 < promised[name]["t_attained"] <= promised[name]["t"] <= limit
        assert promised[name]["t_attained"] == release.audit.sensitive[name].t
    assert release.audit.classes > 20


def test_the_promise_is_in_the_papers_and_on_the_screen_and_is_verified(tmp_path: Path) -> None:
    out, asked = tmp_path / "release.csv", policy()
    asked.save(tmp_path / "policy.yaml")
    pc.write_csv(people(), tmp_path / "people.csv")
    command = ["anonymize", str(tmp_path / "people.csv"), "-p", str(tmp_path / "policy.yaml"), "-o", str(out)]
    done = CliRunner().invoke(app, [*command, "--algorithm", "fragmentation", "--option", "sizing=relaxed"])
    assert done.exit_code == 0, done.output
    assert done.output.count("promised before rows were chosen") == 2
    certificate = tmp_path / "release.csv.certificate.json"
    assert verify(out, certificate).holds
    paper = json.loads(certificate.read_text())
    for key, value in (("t", 0.0), ("t", 0.2), ("t", 1e9), ("t_attained", 0.01)):
        changed = json.loads(json.dumps(paper))
        changed["promised"]["pay"][key] = value
        certificate.write_text(json.dumps(changed))
        assert not verify(out, certificate).holds
    certificate.write_text(json.dumps(paper))
    assert verify(out, certificate).holds


def test_nothing_is_promised_where_rows_may_be_left_out() -> None:
    assert "promised" not in fragmented(people(), policy(suppression=0.02)).certificate
    assert "promised" not in tc.anonymize(people(), policy()).certificate


def test_limits_that_fragments_know_nothing_of_hold_too() -> None:
    asked = policy(
        sensitive={"pay": {"t": 0.2, "l": 3, "beta": 2}, "ill": {"t": 0.3, "l": 2, "delta": 2}},
        unit="who",
        identifiers=["who"],
        drop=[],
    )
    release = fragmented(people(), asked)
    assert release.audit.satisfied
    assert release.audit.k_persons is not None
    assert release.audit.k_persons >= 5
    assert release.audit.sensitive["pay"].l_distinct >= 3
    assert release.audit.classes > 5
    for promise in release.certificate["promised"].values():
        assert promise["t_attained"] <= promise["t"]


def test_as_published_one_row_more_leaves_one_class() -> None:
    table = people(600)
    even = pa.table({"age": list(range(40)), "pay": [1, 2, 3, 4] * 10})
    asked = tc.Policy(quasi=["age"], sensitive={"pay": 0}, k=4)
    assert fragmented(even, asked, sizing="gcd").audit.classes == 10
    odd = pa.table({"age": list(range(41)), "pay": [*([1, 2, 3, 4] * 10), 4]})
    assert fragmented(odd, asked, sizing="gcd").audit.classes == 1
    assert fragmented(table, policy(), sizing="gcd").audit.classes == 1
    assert fragmented(table, policy(), bound="published", sizing="gcd").audit.classes == 1


def test_a_table_without_t_is_put_into_classes_of_k_rows() -> None:
    release = fragmented(people(), policy(sensitive=["pay", "ill"], k=10))
    assert release.audit.k >= 10
    assert release.audit.classes > 20
    assert "promised" not in release.certificate


@pytest.mark.parametrize("strategy", ["psi", "sum"])
@pytest.mark.parametrize("bound", ["corrected", "published"])
def test_every_strategy_and_bound_keeps_the_policy(strategy: str, bound: str) -> None:
    release = fragmented(people(200), policy(), strategy=strategy, bound=bound)
    assert release.audit.satisfied
    assert release.record["options"] == {"sizing": "relaxed", "bound": bound, "strategy": strategy, "prefer": "loss"}


def test_fewer_fragments_or_more_classes() -> None:
    fewer, more = (fragmented(people(), policy(), prefer=prefer) for prefer in ("loss", "classes"))
    assert more.partition.max() >= fewer.partition.max()
    assert fewer.loss["gcp"] <= more.loss["gcp"]


def test_unknown_options_are_named() -> None:
    with pytest.raises(tc.PolicyError, match=r"sizing must be one of relaxed, gcd\. Got 'half'\.$"):
        fragmented(people(20), policy(), sizing="half")
    with pytest.raises(tc.PolicyError, match=r"sizing must be one of relaxed, gcd\. Got list\.$"):
        fragmented(people(20), policy(), sizing=["gcd"])
    with pytest.raises(
        tc.PolicyError, match=r"'sizes' is not an option of fragmentation\. Known are: sizing, bound, strategy, prefer\."
    ):
        fragmented(people(20), policy(), sizes="gcd")


@pytest.mark.parametrize("kinds", [(Ordered, Ordered), (Ordered, Equal), (Equal, Equal)])
def test_one_row_more_or_less_changes_the_number_of_classes_by_less_than_a_twentieth(kinds: Any) -> None:
    """The thesis's 50 classes that become 1."""
    table = people(3000)
    pay, ill = (np.unique(table[name].to_numpy(zero_copy_only=False), return_inverse=True)[1] for name in ("pay", "ill"))

    def classes(rows: Any) -> int:
        codes = [np.unique(column[rows], return_inverse=True)[1] for column in (pay, ill)]
        distances = [kind(int(column.max()) + 1) for kind, column in zip(kinds, codes, strict=True)]
        matrix, _ = Counts.of_codes(codes, distances, [range(distance.m) for distance in distances])
        options = {**find_algorithm("fragmentation").defaults, "prefer": "classes"}
        return len(size_classes(matrix, [Fraction(1, 10), Fraction(1, 5)], 5, options)[1])

    everyone = np.arange(3000)
    whole = classes(everyone)
    assert whole > 100
    for row in range(0, 3000, 600):
        assert abs(classes(np.delete(everyone, row)) - whole) < whole / 20
        assert abs(classes(np.append(everyone, row)) - whole) < whole / 20
