"""What a release keeps: queries, distributions, associations and models, on tables where the answer can be counted."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.study.scene import CONTROL
from tclose.study.utility.associations import associations
from tclose.study.utility.columns import compare_column
from tclose.study.utility.groups import cut, groups_of
from tclose.study.utility.queries import Query, answer, draw, estimate
from tests.support.examples import examples
from tests.support.scenes import scene_of

POLICY = tc.Policy(["age", "town"], {"ill": 1}, k=2)
TABLE = pa.table({"age": [20, 21, 23, 23, 40, 41], "town": list("aabbbb"), "ill": ["flu", "gout", "flu", "flu", "gout", "flu"]})
CLASSES = [0, 0, 1, 1, 1, -1]
"""[20, 21] with a; [23, 40] with b; and a row that is suppressed."""


def test_a_reader_distributes_a_class_evenly_over_what_it_covers() -> None:
    scene, _ = scene_of(TABLE, POLICY, CLASSES)
    (age, town), (ill,) = groups_of(scene, 50)
    assert age.labels == ["20", "21", "23", "40", "41"]
    assert age.shares.tolist() == [[1 / 2, 1 / 2, 0, 0, 0], [0, 0, 1 / 2, 1 / 2, 0]]
    assert (town.labels, town.shares.tolist()) == (["a", "b"], [[1, 0], [0, 1]])
    assert (ill.labels, ill.shares.tolist()) == (["flu", "gout"], [[1 / 2, 1 / 2], [2 / 3, 1 / 3]])


def test_a_query_by_hand() -> None:
    scene, _ = scene_of(TABLE, POLICY, CLASSES)
    quasi, sensitive = groups_of(scene, 50)
    query = Query({0: (1, 3)}, 0, (0, 1))  # the flu at 21 to 23
    assert answer(query, quasi, sensitive, scene.labels != CONTROL) == 2
    assert estimate(query, quasi, sensitive, scene.sizes) == pytest.approx(2 / 2 * 1 / 2 + 3 / 2 * 2 / 3)


def test_columns_before_and_after_by_hand() -> None:
    scene, _ = scene_of(TABLE, POLICY, CLASSES)
    (age, _), (ill,) = groups_of(scene, 50)
    found = compare_column(scene, age)
    assert found.before == pytest.approx([1 / 6, 1 / 6, 2 / 6, 1 / 6, 1 / 6])
    assert found.after == pytest.approx([1 / 5, 1 / 5, 3 / 10, 3 / 10, 0])
    assert found.moved == pytest.approx(1 / 30 + 1 / 30 + 4 / 30)
    assert compare_column(scene, ill).after == pytest.approx([3 / 5, 2 / 5])


def test_one_class_of_all_rows_keeps_no_association() -> None:
    table = pa.table({"age": [20, 21, 40, 41] * 5, "ill": ["flu", "flu", "gout", "gout"] * 5})
    for labels, after in (([0] * 20, 0.0), ([0, 0, 1, 1] * 5, 1.0)):
        scene, _ = scene_of(table, tc.Policy(["age"], {"ill": 1}, k=2), labels)
        quasi, sensitive = groups_of(scene, 10)
        (found,) = associations(scene, quasi, sensitive)
        assert found.columns == ("age", "ill")
        assert found.before == pytest.approx(1)
        assert found.after == pytest.approx(after)


def test_two_sensitive_columns_stay_in_their_rows() -> None:
    table = pa.table({"age": [20, 21, 40, 41] * 5, "ill": ["flu", "flu", "gout", "gout"] * 5, "pay": [1, 1, 2, 2] * 5})
    scene, _ = scene_of(table, tc.Policy(["age"], {"ill": 1, "pay": 1}, k=2), [0] * 20)
    found = {one.columns: one.after for one in associations(scene, *groups_of(scene, 10))}
    assert found[("ill", "pay")] == pytest.approx(1)  # though there is one class of all rows
    assert found[("age", "ill")] == pytest.approx(0)


def test_a_release_that_changes_nothing_answers_every_query() -> None:
    rng = np.random.default_rng(2)
    table = pa.table({"age": np.repeat(rng.integers(20, 60, 200), 2), "ill": ["flu", "gout"] * 200})
    policy = tc.Policy(["age"], {"ill": 1}, k=2)
    found = tc.utility(table, policy, release=tc.anonymize(table, policy))
    assert found.queries.median == 0
    assert found.association_kept is None or found.association_kept == pytest.approx(1)
    assert all(column.moved == pytest.approx(0) for column in found.columns)
    assert found.skipped == ["No model was tried: nobody was held back to try it on."]
    assert sum(band.queries for band in found.queries.bands) > 500


def people(rows: int = 600) -> tuple[pa.Table, tc.Policy]:
    """Whose illness goes with their age, and how they are to be published."""
    rng = np.random.default_rng(4)
    ages = rng.integers(20, 80, rows)
    ill = np.where(rng.random(rows) < 0.9, np.where(ages < 50, "flu", "gout"), "cold")
    return pa.table({"age": ages, "size": rng.integers(150, 200, rows), "ill": ill}), tc.Policy(
        ["age", "size"], {"ill": 0.6}, k=5
    )


def test_a_model_learns_from_the_release_what_it_learns_from_the_rows() -> None:
    table, policy = people()
    found = tc.utility(table, policy, algorithm="mondrian")
    (model,) = found.models
    assert model.target == "ill"
    assert model.constant < 0.7 < model.released <= model.raw + 0.05
    assert found.to_dict()["models"][0]["raw"] == model.raw
    assert "median error of queries" in repr(found)


def test_without_the_extra_everything_else_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    found = tc.utility(*people(), algorithm="mondrian")
    assert found.models == []
    assert found.skipped == ["No model was tried. This needs SciPy, which is not installed: pip install 'tclose[ml]'."]
    assert found.queries.median is not None


def test_the_order_of_the_rows_does_not_matter() -> None:
    table, policy = people(200)
    shuffled = table.take(np.random.default_rng(1).permutation(200))
    first, second = (tc.utility(one, policy, algorithm="mondrian").to_json() for one in (table, shuffled))
    assert first == second


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_estimates_add_up_and_answers_are_counted_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 12))
    rows = data.draw(st.lists(st.tuples(st.sampled_from([None, 20, 21, 25, 30]), st.sampled_from("abc"), st.sampled_from("xyz")),
                              min_size=count, max_size=count))  # fmt: skip
    drawn = data.draw(st.lists(st.sampled_from([CONTROL, -1, 0, 1]), min_size=count, max_size=count))
    used = sorted({label for label in drawn if label >= 0})
    if not used:
        return
    labels = [used.index(label) if label >= 0 else label for label in drawn]
    ages, towns, ill = zip(*rows, strict=True)
    table = pa.table({"age": pa.array(ages, pa.int64()), "town": towns, "ill": ill})
    policy = tc.Policy([tc.Quasi("age", type="integer"), tc.Quasi("town", type="category")], ["ill"], k=2)
    scene, _ = scene_of(table, policy, labels)
    quasi, sensitive = groups_of(scene, 3)
    among = scene.labels != CONTROL
    for query in draw(quasi, sensitive, among, 0)[:20]:
        expected = sum(_answers(query, quasi, sensitive, row) for row in range(count) if among[row])
        assert answer(query, quasi, sensitive, among) == expected
    everything = Query({0: (0, quasi[0].count), 1: (0, quasi[1].count)}, 0, (0, sensitive[0].count))
    assert estimate(everything, quasi, sensitive, scene.sizes) == pytest.approx(sum(label >= 0 for label in labels))


def _answers(query: Query, quasi: Any, sensitive: Any, row: int) -> bool:
    """Whether a row is in all ranges of a query."""
    inside = [start <= quasi[column].rows[row] < end for column, (start, end) in query.quasi.items()]
    start, end = query.values
    return all(inside) and start <= sensitive[query.sensitive].rows[row] < end


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 8))
def test_groups_are_neighbours_and_few(counts: list[int], most: int) -> None:
    found = cut(np.array(counts), most)
    assert found[0] == 0
    assert set(np.diff(found)) <= {0, 1}
    assert found[-1] < max(most, 1)
