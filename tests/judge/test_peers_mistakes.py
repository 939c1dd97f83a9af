"""What other tools get wrong, right here. The numbers are theirs on the same tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc


def measured(table: Any, **settings: Any) -> Any:
    """What an audit says about the only sensitive attribute."""
    return tc.audit(table, tc.Policy(quasi=["q"], sensitive={"s": settings or None})).sensitive["s"]


# --- pyCANON 1.3.6 ----------------------------------------------------------------------------------------------------

HALVES = pd.DataFrame({"q": ["a", "b"] * 4, "s": ["flu", "cold"] * 4})
"""Two classes, each with a value of its own: t is 1/2."""


@pytest.mark.parametrize(
    "frame",
    [
        HALVES,
        HALVES.sample(frac=1, random_state=1),
        HALVES.sort_values("q"),
        HALVES.set_axis([f"row {row}" for row in range(8)]),
        HALVES.set_axis([7] * 8),
        HALVES.set_axis(range(100, 108)),
        pd.concat([HALVES.assign(q="c"), HALVES]).query("q != 'c'"),
    ],
    ids=["plain", "shuffled", "sorted", "text index", "one label", "other labels", "filtered"],
)
def test_the_index_is_no_position(frame: pd.DataFrame) -> None:
    # pyCANON takes index labels for positions: 0 for the shuffled frame.
    assert measured(frame).t_exact == Fraction(1, 2)


def test_rows_with_a_missing_quasi_identifier_are_kept() -> None:
    # pyCANON drops them, and finds k = 2 and t = 0.
    frame = pd.DataFrame({"q": ["a", "a", None], "s": ["flu", "flu", "cold"]})
    audit = tc.audit(frame, tc.Policy(quasi=["q"], sensitive=["s"]))
    assert (audit.rows, audit.classes, audit.k) == (3, 2, 1)
    assert audit.sensitive["s"].t_exact == Fraction(2, 3)


@pytest.mark.parametrize("values", [[5, 5, 5], ["flu", "flu", "flu"]])
def test_one_value_in_the_whole_table_gives_t_0(values: list[Any]) -> None:
    # pyCANON divides by m - 1 = 0.
    assert measured(pd.DataFrame({"q": [1, 1, 2], "s": values})).t_exact == 0


@pytest.mark.parametrize("values", range(2, 15))
def test_entropy_l_of_a_uniform_class_is_its_number_of_values(values: int) -> None:
    # pyCANON truncates exp(entropy), and 1.9999999999999998 becomes 1.
    table = pa.table({"q": ["a"] * 3 * values, "s": list(range(values)) * 3})
    limit: dict[str, Any] = {"s": {"l": values, "l_kind": "entropy"}}
    audit = tc.audit(table, tc.Policy(quasi=["q"], sensitive=limit))
    assert (audit.sensitive["s"].l_entropy, audit.satisfied) == (values, True)
    limit["s"]["l"] = Fraction(values) + Fraction(1, 10**12)
    assert not tc.audit(table, tc.Policy(quasi=["q"], sensitive=limit)).satisfied


@pytest.mark.parametrize(("l", "c"), [(1, Fraction(8, 10)), (2, Fraction(8, 2)), (3, Fraction(8, 1))])
def test_recursive_diversity_counts_from_the_largest(l: int, c: Fraction) -> None:  # noqa: E741
    # Counts 8, 1, 1. pyCANON sorts them the other way, and says 1 / 9 for l = 2.
    table = pa.table({"q": ["a"] * 10, "s": ["x", *["y"] * 8, "z"]})
    for limit, holds in ((c, False), (c + Fraction(1, 1000), True)):  # r_1 < c (r_l + ...), strictly
        audit = tc.audit(table, tc.Policy(quasi=["q"], sensitive={"s": {"l": l, "l_kind": "recursive", "c": limit}}))
        assert (audit.sensitive["s"].c_recursive, audit.satisfied) == (float(c), holds)


def test_recursive_diversity_of_too_few_values_is_unbounded() -> None:
    found = measured(pa.table({"q": ["a"] * 9, "s": ["x"] * 8 + ["y"]}), l=3, l_kind="recursive", c=1000)
    assert found.to_dict()["c_recursive"] is None
    assert found.to_dict()["c_recursive_unbounded"] is True


# --- ARX 3.9.2 --------------------------------------------------------------------------------------------------------


def test_hierarchical_distance_of_a_million_rows_does_not_wrap() -> None:
    """ARX computes n * s in 32 bits, and publishes classes beyond the limit.

    Four values under two nodes, H = 2, each in a quarter of the table. Class b, half of the table, holds 3/8 of a and of b,
    1/8 of c and of d: 1/4 moves across the root. Class a is the rest: the same the other way round.
    """
    quarter = 125_000
    shares = {"a": (1, 1, 3, 3), "b": (3, 3, 1, 1)}
    counts = {name: [share * quarter // 2 for share in row] for name, row in shares.items()}
    table = pa.table(
        {
            "q": pa.array(np.repeat(list(shares), 4 * quarter)),
            "s": pa.array(np.concatenate([np.repeat(["w", "x", "y", "z"], row) for row in counts.values()])),
        }
    )
    assert table.num_rows == 10**6
    tree = {"left": ["w", "x"], "right": ["y", "z"]}
    policy = tc.Policy(quasi=["q"], sensitive={"s": {"t": 0.2, "hierarchy": tree}})
    audit = tc.audit(table, policy)
    assert audit.sensitive["s"].t_exact == Fraction(1, 4)
    assert [(found.number, found.size, found.value) for found in audit.violations] == [(0, 500_000, 0.25), (1, 500_000, 0.25)]
    assert tc.audit(table, tc.Policy(quasi=["q"], sensitive={"s": {"t": 0.25, "hierarchy": tree}})).satisfied


def test_one_row_too_many_breaks_the_limit_of_a_million() -> None:
    """The limit is met exactly at 1/4; one row more on one side is found, at 10^6 rows and a difference of 2 * 10^-6."""
    values = np.repeat(["w", "x", "y", "z"], [187_501, 187_500, 62_500, 62_499]).tolist()
    values += np.repeat(["w", "x", "y", "z"], [62_499, 62_500, 187_500, 187_501]).tolist()
    table = pa.table({"q": pa.array(np.repeat(["a", "b"], 500_000)), "s": values})
    tree = {"left": ["w", "x"], "right": ["y", "z"]}
    found = tc.audit(table, tc.Policy(quasi=["q"], sensitive={"s": {"t": 0.25, "hierarchy": tree}}))
    # 1/4 + 2 * 10^-6 of the mass crosses the root: (187501 + 187500) / 500000 - 1/2, and nothing moves inside a node.
    assert found.sensitive["s"].t_exact == Fraction(375_001, 500_000) - Fraction(1, 2)
    assert len(found.violations) == 2
