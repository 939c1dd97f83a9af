"""A release that is judged in parts attains what it attains as a whole."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.judge.audit import Context, examine
from tclose.judge.gate import bins_beside, reference_of
from tclose.judge.parts import Figures
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table

POLICY = tc.Policy(
    quasi=["zip", "age"],
    sensitive=[
        tc.Sensitive("pay", t="0.4", l=2),
        tc.Sensitive("ill", t="0.5", beta=3, delta=2, l=2, l_kind="entropy"),
    ],
    unit="who",
    k=2,
)


def people(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "who": [f"P{number}" for number in rng.integers(0, max(1, rows // 2), rows)],
            "zip": rng.choice(["476", "479"], rows),
            "age": rng.integers(2, 6, rows),
            "pay": rng.integers(1, 9, rows),
            "ill": rng.choice(["flu", "cold", "hiv"], rows),
        }
    )


TWICE = replace(POLICY, sensitive=[tc.Sensitive("pay", t="0.4", bins=3, publish="value"), POLICY.sensitive[1]])
"""The same, but pay is measured in bins, too."""


def judged(table: pa.Table, whole: pa.Table, policy: tc.Policy = POLICY) -> Figures:
    """The figures of some rows, compared with a table."""
    source = open_table(open_reader(whole), {"pay": "value", "ill": "value"})
    reference = reference_of(source, policy)
    context = Context(reference, bins_beside(source, policy, reference), warn=lambda _: None)
    return Figures.of(examine(table, policy, context))


def test_the_worst_of_two_parts_by_hand() -> None:
    """Two classes of two rows: one has both illnesses, the other one alone."""
    table = pa.table({"zip": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "a"]})
    policy = tc.Policy(quasi=["zip"], sensitive={"ill": 0.2}, k=2)
    source = open_table(open_reader(table), {"ill": "value"})
    context = Context(reference_of(source, policy))
    parts = [Figures.of(examine(table.slice(start, 2), policy, context)) for start in (0, 2)]
    found = Figures.joined(parts)
    assert (found.rows, found.classes, found.k, found.squared) == (4, 2, 2, 8)
    assert found.sensitive["ill"].t_exact == Fraction(1, 4)  # both are a quarter away from 3 : 1
    assert found.homogeneous == {"classes": 1, "rows": 2}
    assert not found.satisfied
    assert found.broken == {("k", None): 0, ("t", "ill"): 2}
    assert "4 rows in 2 classes, k=2; ill t=0.2500; not satisfied" in repr(found)


@settings(max_examples=12)
@given(rows=st.integers(8, 60), seed=st.integers(0, 1000), parts=st.integers(1, 4), policy=st.sampled_from([POLICY, TWICE]))
def test_parts_attain_what_the_whole_attains(rows: int, seed: int, parts: int, policy: tc.Policy) -> None:
    table = people(rows, seed)
    ref = judged(table, table, policy)
    part_of = np.array([(int(row["zip"]) + row["age"]) % parts for row in table.to_pylist()])
    some = [judged(table.filter(pa.array(part_of == part)), table, policy) for part in range(parts) if (part_of == part).any()]
    comp = Figures.joined([pickle.loads(pickle.dumps(figures)) for figures in some])
    assert comp == ref
    whole = tc.audit(table, policy)
    assert comp.satisfied == whole.satisfied
    said = json.loads(comp.to_json())
    of_whole = whole.to_dict()
    assert {key: said[key] for key in ("rows", "classes", "k", "k_persons", "homogeneous")} == {
        key: of_whole[key] for key in ("rows", "classes", "k", "k_persons", "homogeneous")
    }
    for name, figures in said["sensitive"].items():
        assert figures == {key: value for key, value in of_whole["sensitive"][name].items() if key != "worst_class"}


def test_figures_have_the_names_of_an_audit() -> None:
    table = people(40, 1)
    found, audit = judged(table, table).sensitive["ill"], tc.audit(table, POLICY).sensitive["ill"]
    assert (found.t, found.l_distinct, found.lift, found.share) == (audit.t, audit.l_distinct, audit.lift, audit.share)
    assert "equal" in repr(found)
    with pytest.raises(KeyError):
        found.worst("no such model")
