"""The three algorithms of Soria-Comas et al. 2015: by hand, against their naive twins, and what t-first promises."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tclose.jobs import Cancelled, Job
from tclose.make.kernels.satisfies import failing
from tclose.make.microaggregation import merge as module
from tclose.make.microaggregation.merge import merge
from tclose.make.microaggregation.promise import bucket_sizes, cluster_size
from tclose.make.microaggregation.space import space_of
from tclose.make.microaggregation.swap import swap
from tclose.make.microaggregation.tfirst import size_for, take_from_buckets, tfirst
from tclose.values.arrays import grouped
from tests import naive
from tests.support.examples import examples
from tests.support.microaggregated import Drawn, labels_of, problem_of, problems

THREE = ("microaggregation-merge", "microaggregation-swap", "microaggregation-tfirst")


def numbers(codes: list[int], values: list[int], k: int, **asked: Any) -> Drawn:
    return problem_of(["numbers"], [(code,) for code in codes], [values], [{"distance": "ordered", **asked}], k=k)


def labels(algorithm: Any, drawn: Drawn) -> list[int]:
    found: list[int] = algorithm(drawn.problem, 0, "", {}).labels.tolist()
    return found


# By hand


def test_the_worst_class_joins_the_nearest() -> None:
    # Classes of two: at 0 with the values 0 and 0, and at 8 with 3 and 3, 1/2 from the table; at 3 and at 5 with 0 and 3, as the table.
    # The first joins the one at 3, the second the one at 5; then both are 1/4 from the table.
    codes, values = [0, 0, 3, 3, 5, 5, 8, 8], [0, 0, 0, 3, 0, 3, 3, 3]
    assert labels(merge, numbers(codes, values, k=2, t="1/2")) == [0, 0, 2, 2, 3, 3, 1, 1]
    assert labels(merge, numbers(codes, values, k=2, t="1/4")) == [0, 0, 0, 0, 1, 1, 1, 1]
    assert labels(merge, numbers(codes, values, k=2, t="1/5")) == [0] * 8


def test_merging_reports_how_many_classes_break_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "VISITS", 1)  # one merge, then a report
    heard: list[tuple[str, str]] = []
    with Job(lambda *what: heard.append(what)):
        found = labels(merge, numbers([0, 0, 3, 3, 5, 5, 8, 8], [0, 0, 0, 3, 0, 3, 3, 3], k=2, t="1/4"))
    assert found == [0, 0, 0, 0, 1, 1, 1, 1]
    figures = [figure for stage, figure in heard if stage == "Merging classes of" and figure]
    said = [figure for figure in figures if "compiling" not in figure]
    assert said == ["1 class breaks a limit", "0 classes break a limit", "0 classes break a limit"]


def test_a_member_is_swapped_for_the_nearest_row_that_brings_the_class_nearer_to_the_table() -> None:
    # The first class is made around 8, whose two nearest, 8 and 7, have the value 3. So has 3; but 2 has 0, and replaces the first.
    # The second is made around 0: of 0 and 1, both with the value 0, the first is replaced by 3. The last two rows are left.
    codes, values = [0, 1, 2, 3, 7, 8], [0, 0, 0, 3, 3, 3]
    assert labels(swap, numbers(codes, values, k=2, t="1/2")) == [1, 1, 2, 2, 0, 0]
    assert labels(swap, numbers(codes, values, k=2, t="1/4")) == [2, 1, 0, 1, 0, 2]


def test_t_first_takes_a_row_of_each_bucket() -> None:
    # Six rows in three buckets: the values 0 0 | 1 2 | 3 3.
    drawn = numbers([0, 1, 2, 6, 7, 8], [0, 1, 3, 0, 2, 3], k=3, t="1/5")
    assert size_for(drawn.problem) == 3
    assert labels(tfirst, drawn) == [0, 0, 0, 1, 1, 1]


# The twins


@settings(max_examples=examples(60), deadline=None)
@given(problems())
def test_merging_is_its_naive_twin(drawn: Drawn) -> None:
    first = naive.microaggregation.mdav(drawn.table, drawn.k)
    assert labels(merge, drawn) == labels_of(naive.microaggregation.merged(drawn.table, first, drawn.holds, drawn.excess))


@settings(max_examples=examples(60), deadline=None)
@given(problems())
def test_swapping_is_its_naive_twin(drawn: Drawn) -> None:
    first = naive.microaggregation.swapped(drawn.table, drawn.k, drawn.holds, drawn.steering)
    assert labels(swap, drawn) == labels_of(naive.microaggregation.merged(drawn.table, first, drawn.holds, drawn.excess))


@settings(max_examples=examples(60), deadline=None)
@given(problems(attributes=1, distances=("ordered",)))
def test_t_first_is_its_naive_twin(drawn: Drawn) -> None:
    if drawn.k > drawn.problem.rows:  # is refused before any algorithm runs
        return
    size = naive.microaggregation.cluster_size(drawn.problem.rows, drawn.k, drawn.asked[0].get("t", Fraction(1)))
    first = naive.microaggregation.from_buckets(drawn.table, drawn.values[0], size)
    assert size_for(drawn.problem) == size
    assert take_from_buckets(space_of(drawn.problem), np.array(drawn.values[0]), size).tolist() == labels_of(first)
    assert labels(tfirst, drawn) == labels_of(naive.microaggregation.merged(drawn.table, first, drawn.holds, drawn.excess))


# What t-first promises


def test_published_cluster_sizes() -> None:
    of_census = [cluster_size(1080, 2, Fraction(hundredths, 100)) for hundredths in (1, 5, 9, 13, 17, 21, 25)]
    of_adult = [cluster_size(30162, 2, Fraction(hundredths, 100)) for hundredths in (1, 5, 9, 13, 15, 17, 20, 25)]
    assert of_census == [49, 10, 6, 4, 3, 3, 2]
    assert of_adult == [50, 10, 6, 4, 4, 3, 3, 2]


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 500), st.data(), st.fractions(0, 1, max_denominator=1000))
def test_fewer_rows_are_left_over_than_there_are_classes(rows: int, data: st.DataObject, t: Fraction) -> None:
    k = data.draw(st.integers(1, rows))
    size = cluster_size(rows, k, t)
    assert size == naive.microaggregation.cluster_size(rows, k, t)
    assert k <= size <= rows
    assert rows % size < rows // size
    sizes = bucket_sizes(rows, size).tolist()
    assert (len(sizes), sum(sizes)) == (size, rows)
    assert sizes == sizes[::-1] or (size % 2 == 0 and rows % size % 2 == 1)


def worst_unrepaired(codes: list[int], values: list[int], t: str) -> Fraction:
    """The largest distance of a class of t-first before classes are merged. The release, after that, is within t."""
    domain = sorted(set(values))
    drawn = numbers(codes, [0] * len(codes), k=2)
    found = take_from_buckets(space_of(drawn.problem), np.array(values), cluster_size(len(codes), 2, Fraction(t)))
    classes = [[values[row] for row in np.flatnonzero(found == number)] for number in range(found.max() + 1)]
    whole = naive.shares(naive.counts_of(values, domain))
    worst = max(naive.emd_ordered(naive.shares(naive.counts_of(members, domain)), whole) for members in classes)
    table, policy = pa.table({"q": codes, "s": values}), tc.Policy(["q"], {"s": t}, k=2)
    release = tc.anonymize(table, policy, algorithm="microaggregation-tfirst")
    assert release.audit.sensitive["s"].t_exact <= Fraction(t)
    return worst


def test_with_rows_left_over_the_promise_is_broken_and_merging_repairs_it() -> None:
    # Five different values, k' = 2: one class gets 1, 2 and 4, which is 1/4 from the table.
    assert worst_unrepaired([0, 0, 2, 3, 7], [1, 3, 5, 4, 2], "1/5") == Fraction(1, 4)


def test_with_equal_values_the_promise_is_broken_and_merging_repairs_it() -> None:
    # Eight rows, k' = 2 divides them: one class gets 3 and 3, which is 3/8 from the table.
    assert worst_unrepaired([1, 2, 2, 4, 5, 7, 8, 8], [1, 3, 4, 1, 1, 3, 4, 4], "1/4") == Fraction(3, 8)


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 5), st.integers(2, 5), st.data())
def test_without_either_the_promise_is_kept(classes: int, size: int, data: st.DataObject) -> None:
    rows = classes * size
    values = data.draw(st.permutations(range(rows)))
    codes = data.draw(st.lists(st.integers(0, 8), min_size=rows, max_size=rows))
    drawn = numbers(codes, [0] * rows, k=1)
    found = take_from_buckets(space_of(drawn.problem), np.array(values), size)
    whole = [Fraction(1, rows)] * rows
    for number in range(classes):
        members = [values[row] for row in np.flatnonzero(found == number)]
        away = naive.emd_ordered(naive.shares(naive.counts_of(members, range(rows))), whole)
        assert away <= Fraction(rows - size, 2 * (rows - 1) * size) if rows > 1 else away == 0


# What they refuse, and what they do with limits that merging may break


def refusal(policy: tc.Policy, table: Any = Path("no.csv")) -> str:
    with pytest.raises(tc.PolicyError) as caught:
        tc.anonymize(table, policy, algorithm="microaggregation-tfirst")
    return str(caught.value)


def test_t_first_refuses_several_attributes_and_other_distances() -> None:
    begin = "microaggregation-tfirst cannot make this release."
    several = tc.Policy(["q"], {"s": 0.2, "u": 0.2}, k=2)
    assert refusal(several) == f"{begin} It takes one sensitive attribute. The policy has 2. Choose growth, which can."
    numeric = tc.Policy(["q"], {"s": {"t": 0.2, "distance": "numeric"}}, k=2)
    sentence = "It takes a sensitive attribute with the ordered distance. 's' has the {} one. Choose growth, which can."
    assert refusal(numeric) == f"{begin} {sentence.format('numeric')}"
    table = pa.table({"q": [1, 2, 3, 4], "s": ["a", "b", "a", "b"]})
    assert refusal(tc.Policy(["q"], {"s": 0.2}, k=2), table) == f"{begin} {sentence.format('equal')}"


@pytest.mark.parametrize("algorithm", THREE)
def test_limits_that_merging_may_break_are_satisfied(algorithm: str) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"q": rng.integers(0, 50, 60), "s": rng.integers(0, 4, 60), "who": rng.integers(0, 30, 60)})
    asked = {"s": {"t": 0.3, "delta": 1, "delta_kind": "lenient", "l": 2, "l_kind": "entropy"}}
    release = tc.anonymize(table, tc.Policy(["q"], asked, k=3, unit="who"), algorithm=algorithm)
    assert release.audit.classes > 1


@pytest.mark.parametrize("algorithm", THREE)
def test_a_mean_is_published_as_in_the_papers(algorithm: str) -> None:
    table = pa.table({"age": [20, 30, 60, 80], "pay": [1, 2, 1, 2]})
    policy = tc.Policy([tc.Quasi("age", recode="centroid")], {"pay": 0.5}, k=2)
    release = tc.anonymize(table, policy, algorithm=algorithm)
    assert release.table["age"].to_pylist() == [25, 25, 70, 70]
    assert release.loss["sse"] == 2 * (5 / 60) ** 2 + 2 * (10 / 60) ** 2


@settings(max_examples=examples(40), deadline=None)
@given(problems(attributes=1, distances=("ordered",)))
def test_all_classes_satisfy_every_limit_if_one_class_of_all_rows_does(drawn: Drawn) -> None:
    limits, rows = drawn.problem.limits, drawn.problem.rows
    if failing(limits, np.arange(rows), np.array([0, rows]))[0]:
        return
    for algorithm in (merge, swap, tfirst):
        found = algorithm(drawn.problem, 0, "", {}).labels
        assert not failing(limits, *grouped(found)).any()


@pytest.mark.parametrize("algorithm", [merge, swap, tfirst])
def test_a_cancelled_job_ends(algorithm: Any) -> None:
    drawn = numbers([0, 1, 6, 6, 7, 8], [0, 1, 2, 0, 1, 2], k=2, t="1/4")
    job = Job()
    job.cancel()
    with job, pytest.raises(Cancelled):
        algorithm(drawn.problem, 0, "", {})
