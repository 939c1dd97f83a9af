"""Columns of numbers that nearly tell one another: their rank correlation, and what a proposal says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

import tclose as tc
from tclose.study.propose.alike import rank_correlation
from tclose.study.propose.columns import columns_of
from tclose.study.propose.commented import dangers, in_words
from tclose.study.propose.inputs import read_as_needed

ROWS = 300


def correlation(a: Any, b: Any, rows: Any) -> float:
    first, second = columns_of(read_as_needed(pa.table({"a": a, "b": b})).source)
    return rank_correlation(first, second, rows)


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_correlation_is_spearmans(seed: int) -> None:
    random = np.random.default_rng(seed)
    one = random.integers(0, 20, 100)  # with ties
    other = one * (-1) ** seed + random.integers(0, 10, 100)
    comp = correlation(a=one, b=other, rows=np.arange(100))
    assert comp == pytest.approx(spearmanr(one, other).statistic)
    some = np.arange(0, 100, 3)
    assert correlation(a=one, b=other, rows=some) == pytest.approx(spearmanr(one[some], other[some]).statistic)


def test_rows_without_a_value_and_columns_without_difference_say_nothing() -> None:
    values = [*range(40)]
    holes = [None if value % 4 == 0 else value for value in values]
    assert correlation(a=values, b=holes, rows=np.arange(40)) == pytest.approx(1)
    assert correlation(a=values, b=[None] * 25 + values[25:], rows=np.arange(40)) == 0  # 15 rows
    assert correlation(a=values, b=[7] * 39 + [8], rows=np.arange(39)) == 0


def people(**more: Any) -> pa.Table:
    random = np.random.default_rng(1)
    gross = random.integers(1000, 9000, ROWS)
    table = {
        "age": random.integers(20, 70, ROWS),
        "gross": gross,
        "net": gross - random.integers(0, 300, ROWS),
        "paid": gross + random.integers(0, 300, ROWS),
        "illness": random.choice(["flu", "gout", "cold"], ROWS),
    }
    return pa.table({**table, **more})


def test_quasi_identifiers_that_go_together_are_one_question() -> None:
    found = tc.propose(people(), sensitive="illness")
    (said,) = [sentence for sentence in found.decisions if sentence.startswith("Are all of")]
    assert said.startswith(
        "Are all of gross, net and paid needed? Each nearly tells another one of them (rank correlations of 0.9"
    )
    assert "counts 3 times when classes are formed" in said
    assert "name the others in drop" in said
    assert said in " ".join(found.to_yaml().replace("\n#     ", " ").split("\n"))


def test_two_columns_are_both_and_what_they_tell_counts_twice() -> None:
    found = tc.propose(people().drop_columns(["paid"]), sensitive="illness")
    (said,) = [sentence for sentence in found.decisions if sentence.startswith("Are both gross and net needed? One nearly tells")]
    assert "What they tell counts twice when classes are formed" in said
    assert said.endswith("leave one in quasi, and name the other in drop.")


def test_a_quasi_identifier_that_tells_sensitive_columns_is_asked_about() -> None:
    found = tc.propose(people(), sensitive=["net", "paid"])
    asked = [sentence for sentence in found.decisions if sentence.startswith("Do others know")]
    assert len(asked) == 1
    assert asked[0].startswith(
        "Do others know gross? It nearly tells net and paid, which nobody should learn (rank correlation up to"
    )
    assert any(sentence.startswith("Are both net and paid needed? One nearly tells the other") for sentence in found.decisions)


def test_columns_that_do_not_go_together_are_not_told() -> None:
    found = tc.propose(people().drop_columns(["net", "paid"]), sensitive="illness")
    assert not any("nearly tells" in sentence for sentence in found.decisions)


def test_of_columns_that_nearly_tell_one_another_the_sets_are_listed_once() -> None:
    """Whoever knows gross knows net: sets that differ only in them are one danger."""
    found = tc.propose(people(), sensitive="illness")
    assert found.alike == (("gross", "net", "paid"),)
    said = dangers(found)
    (line,) = [sentence for sentence in said if sentence.startswith(("gross by itself", "net by itself", "paid by itself"))]
    assert line == f"{in_words(max(found.singled_out[:5], key=lambda one: one.rows))}."
    assert "Of gross, net and paid a line names one at most: they tell about the same." in said
    assert all(sum(name in sentence for name in ("gross", "net", "paid")) < 2 for sentence in said if "single" in sentence)


def test_twins_that_are_no_numbers_are_listed_once_too() -> None:
    random = np.random.default_rng(2)
    code = random.integers(0, 60, ROWS)
    found = tc.propose(people(code=code, word=[f"w{value}" for value in code]).drop_columns(["net", "paid"]), sensitive="illness")
    assert found.alike == (("code", "word"),)
    lines = [sentence for sentence in dangers(found, 50) if "single" in sentence]
    assert any("age and code together" in line for line in lines)
    assert not any("word" in line for line in lines)
