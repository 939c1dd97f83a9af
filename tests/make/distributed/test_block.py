"""A block is released as a table of one machine is, and compared with the whole table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.make.distributed.block import grow_block, release_block
from tclose.make.distributed.cuts import cut_into_blocks
from tclose.make.losses import Charges
from tests.naive.cluster import Cluster
from tests.support.planned import planned, some_people, terms_of

POLICY = tc.Policy(
    quasi=["age", "sex"], sensitive=[tc.Sensitive("pay", t=0.2, l=2), tc.Sensitive("ill", t=0.2)], k=3, other="drop"
)


def seed_of_block(seed: int, block: int) -> int:
    return int(np.random.SeedSequence([seed, block]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")  # a kept class is the sex
@pytest.mark.parametrize(
    "policy",
    [
        POLICY,
        replace(POLICY, unit="who", k=2),
        replace(POLICY, sensitive=[tc.Sensitive("pay", t=0.2, bins=3, publish="value"), tc.Sensitive("ill", t=0.2)]),
        replace(POLICY, other=None, keep=["ill", "class"], sensitive=["pay"], drop=["who"]),
        replace(POLICY, quasi=[tc.Quasi("age", recode="bounds", snap=5), tc.Quasi("sex", hierarchy={"all": ["f", "m"]})]),
        replace(POLICY, quasi=[tc.Quasi("age", recode="centroid", top=50), "sex"]),
        replace(POLICY, quasi=[tc.Quasi("age", snap="auto"), "sex"]),
        replace(POLICY, quasi=[tc.Quasi("age", snap="auto"), "sex"], unit="who", k=2),
        replace(POLICY, edges=2),
        replace(POLICY, quasi=[tc.Quasi("age", recode="bounds"), "sex"], edges=3, unit="who", k=2),
        replace(POLICY, quasi=[tc.Quasi("age", snap=3), "sex"], edges=2, keep=["class"], other="drop"),
    ],
)
def test_a_table_in_one_block_is_released_as_on_one_machine(policy: tc.Policy) -> None:
    table = some_people(200, missing=True)
    table = table.append_column("class", table["sex"])  # a name that coded rows have, too
    plan, rows = planned(table, policy)
    published, summary = release_block(plan, Cluster(rows).of_block(0))
    ref = tc.anonymize(table, policy, seed=seed_of_block(0, 0), effort="fast")
    comp = published.select(ref.table.column_names)
    assert (
        comp.sort_by([(name, "ascending") for name in comp.column_names]).to_pylist()
        == ref.table.sort_by([(name, "ascending") for name in comp.column_names]).to_pylist()
    )
    assert comp.schema.types == ref.table.schema.types
    assert summary.rows == 200
    assert [sum(charges.ncp) / 200 for charges in summary.charges] == pytest.approx([*ref.loss.by_attribute["gcp"].values()])


def test_blocks_are_compared_with_the_whole_table_and_make_one_release() -> None:
    table = some_people(600)
    plan, rows = planned(table, POLICY)
    cluster = Cluster(rows)
    blocks = cut_into_blocks(cluster, terms_of(plan, 150))
    assert len(blocks) > 3
    again = Cluster(pa.concat_tables([grow_block(plan, cluster.of_block(block)) for block in blocks]))
    near = cut_into_blocks(again, terms_of(plan, 150, Fraction(1)))
    assert len(near) > 2
    of_class: dict[int, set[int]] = {}
    for number, block in zip(again.rows["class"].to_pylist(), again.blocks, strict=True):
        of_class.setdefault(number, set()).add(block)
    assert {len(found) for found in of_class.values()} == {1}  # cuts part no class
    made = [release_block(plan, again.of_block(block)) for block in near]
    released = pa.concat_tables([published for published, _ in made])
    assert tc.audit(released, POLICY).satisfied
    assert Counter(released["pay"].to_pylist()) == Counter(table["pay"].to_pylist())
    charges = [Charges.joined(parts) for parts in zip(*(summary.charges for _, summary in made), strict=True)]
    assert 0 < sum(charges[0].ncp) / 600 < 1
    assert charges[0].estimate.sum() == pytest.approx(600)


@pytest.mark.parametrize(
    "policy",
    [
        replace(POLICY, unit="who", k=2),
        replace(POLICY, quasi=[tc.Quasi("age", snap=3), "sex"], edges=2),  # ages with one code have different raw values
    ],
    ids=["persons", "raw values"],
)
def test_a_block_does_not_depend_on_the_order_of_its_rows(policy: tc.Policy) -> None:
    plan, rows = planned(some_people(200, missing=True), policy)
    block = Cluster(rows).of_block(0)
    mixed = block.take(np.random.default_rng(3).permutation(200))
    (one, of_one), (other, of_other) = release_block(plan, block), release_block(plan, mixed)
    assert one.equals(other)
    assert of_one.digest == of_other.digest
    grown, regrown = grow_block(plan, block), grow_block(plan, mixed)
    assert grown.equals(regrown)
    second = grown.append_column("block", pa.array([7] * 200, pa.int32()))
    assert release_block(plan, second)[0].equals(release_block(plan, second.take(np.random.default_rng(4).permutation(200)))[0])
    changed = block.set_column(0, "q0", pa.array(np.roll(block["q0"].to_numpy(), 1)))
    assert release_block(plan, changed)[1].digest != of_one.digest


def test_an_n_is_met_by_t_closeness_itself() -> None:
    plan, _ = planned(some_people(100), replace(POLICY, n=50))
    assert plan.policy.n is None


def test_an_impossible_policy_is_told_before_rows_are_cut() -> None:
    with pytest.raises(tc.InfeasibleError, match="no row is suppressed"):
        planned(some_people(100), replace(POLICY, sensitive=[tc.Sensitive("ill", l=4)], suppression="0.1"))
    with pytest.raises(tc.InfeasibleError, match="k=101"):
        planned(some_people(100), replace(POLICY, k=101))
    with pytest.raises(tc.InfeasibleError, match="The table has 100 rows: n=101 cannot be satisfied"):
        planned(some_people(100), replace(POLICY, n=101))
