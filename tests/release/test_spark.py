"""Releases on Spark: made by the executors, the same for any number of them, judged there, and written with their papers."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.release import distributed
from tclose.release.published import policies_of_release
from tests.support.planned import some_people
from tests.support.servers import find_spark, spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

POLICY = tc.Policy(
    quasi=[tc.Quasi("age", snap=5), "sex"],
    sensitive=[tc.Sensitive("pay", t=0.2, l=2), tc.Sensitive("ill", t=0.2)],
    unit="who",
    k=3,
)
ROWS = 2400


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    find_spark()
    with spark("local[2]") as found:
        yield found


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "MOST", 700)
    monkeypatch.setattr(distributed, "JUDGED", 1000)


def rows_of(release: Any) -> Any:
    """The published rows, in their order."""
    return release.table.toArrow().to_pylist()


def test_a_release_is_the_same_for_any_number_of_partitions(session: Any, tmp_path: Path) -> None:
    table = some_people(ROWS, missing=True)
    one = tc.anonymize(session.createDataFrame(table).coalesce(1), POLICY, effort="fast")
    assert one.audit.satisfied
    assert one.record["course"]["blocks"] > 3
    assert one.record["course"]["largest"] <= 700
    frame = session.createDataFrame(table.take(np.random.default_rng(1).permutation(ROWS)))
    session.conf.set("spark.sql.shuffle.partitions", "5")
    many = tc.anonymize(frame.repartition(7).union(frame.limit(0)), POLICY, effort="fast")
    assert rows_of(many) == rows_of(one)
    assert many.certificate == one.certificate
    other = tc.anonymize(frame, POLICY, effort="fast", seed=1)
    assert rows_of(other) != rows_of(one)

    paths = one.write(tmp_path / "one.parquet")
    assert pq.read_table(paths[0]).to_pylist() == rows_of(one)
    found = tc.verify(paths[0])
    assert found.holds, str(found)
    assert found.audit.k == one.certificate["attained"]["k"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    digest = json.loads(paths[1].read_bytes())["release"]["sha256"]
    with pytest.raises(tc.OutputError, match="exists"):
        many.write(tmp_path / "one.parquet")
    one.write(tmp_path / "one.parquet", force=True)
    assert json.loads(paths[1].read_bytes())["release"]["sha256"] == digest
    other.write(tmp_path / "one.parquet", force=True)
    assert tc.verify(paths[0]).holds
    part = next((tmp_path / "one.parquet").iterdir())
    pq.write_table(pq.read_table(part).slice(1), part)  # a row is gone
    assert not tc.verify(paths[0]).holds


def test_what_is_published_is_what_one_machine_publishes(session: Any) -> None:
    """Values of all types that Spark and Parquet share: as quasi-identifiers, as sensitive values, and as they are."""
    rng = np.random.default_rng(4)
    rows = 900

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[index] for index in rng.integers(0, len(values), rows)], kind)

    table = pa.table({
        "byte": some([*range(-4, 9)], pa.int8()), "short": some([*range(300, 330)], pa.int16()), "Long": some([2**53 + 1, 2**60, 7, None], pa.int64()),
        "single": some([0.5, 1.25, -3.0], pa.float32()), "double": some([0.1, 2.5e-7, 1e6, None], pa.float64()),
        "price": some([Decimal("1.50"), Decimal("20.25"), Decimal("3.00")], pa.decimal128(9, 2)),
        "day": some([date(2024, 1, 1), date(2024, 2, 29), date(2025, 3, 1)], pa.date32()),
        "seen": some([datetime(2024, 1, 1, 8), datetime(2024, 1, 2, 9, 30, 1)], pa.timestamp("us")),
        "sent": some([datetime(2024, 1, 1, 8), datetime(2024, 7, 2, 9)], pa.timestamp("us", "UTC")),
        "ok": some([True, False], pa.bool_()), "zip": some(["476", "479", "Zoe", "zoe", "é", None], pa.string()),
        "pay": some([1, 2, 3, 4], pa.int32()), "ill": some(["flu", "cold", None], pa.string()), "kept": some([1.5, 2.5, None], pa.float64()),
    })  # fmt: skip
    policy = tc.Policy(
        quasi=[
            tc.Quasi("byte", recode="bounds"), tc.Quasi("short", recode="centroid"), "Long", tc.Quasi("single", snap="0.5"), "double",
            tc.Quasi("price", top=3), "day", "seen", "sent", "ok", tc.Quasi("zip", hierarchy={"4": ["476", "479"], "Z": ["Zoe", "zoe", "é"]}),
        ],
        sensitive=[tc.Sensitive("pay", t=0.3, bins=2), tc.Sensitive("ill", t=0.3)],
        keep=["kept"],
        k=5,
    )  # fmt: skip
    release = tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    ref = tc.anonymize(table, policy, effort="fast")
    comp = release.table.toArrow()
    assert comp.column_names == ref.table.column_names
    assert [str(kind) for kind in comp.schema.types] == [str(kind) for kind in ref.table.schema.types]
    for name in ("pay", "ill", "kept"):
        assert Counter(comp[name].to_pylist()) == Counter(ref.table[name].to_pylist())
    assert tc.audit(comp, replace(policy, keep=[])).satisfied
    assert release.certificate["columns"] == ref.certificate["columns"]
    assert release.certificate["policy"] == ref.certificate["policy"]
    assert set(release.certificate["loss"]) == set(ref.certificate["loss"])
    assert set(release.record) == set(ref.record)


def without_the_first_row(table: pa.Table, note: bytes) -> tuple[pa.Table, bytes]:
    return table.slice(1), note


def with_pay_in_order(table: pa.Table, note: bytes) -> tuple[pa.Table, bytes]:
    """The lowest pay goes to the first classes: as often as before, and far from the table."""
    pay = table["pay"].combine_chunks()
    return table.set_column(table.column_names.index("pay"), "pay", pay.take(pc.sort_indices(pay))), note


def with_a_row_more_in_the_note(table: pa.Table, note: bytes) -> tuple[pa.Table, bytes]:
    summary = pickle.loads(note)
    return table, pickle.dumps(replace(summary, rows=summary.rows + 1))


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (without_the_first_row, "its values of 'pay' are not those of the input"),
        (with_pay_in_order, "compared with its table it would break t of 'pay'"),
        (with_a_row_more_in_the_note, "are not those that were cut"),
    ],
)
def test_what_executors_make_goes_through_the_gate(
    session: Any, monkeypatch: pytest.MonkeyPatch, change: Any, broken: str
) -> None:
    monkeypatch.setattr(distributed, "_Release", changing(distributed._Release, change))
    with pytest.raises(tc.GateError, match=broken):
        tc.anonymize(session.createDataFrame(some_people(ROWS)), POLICY, effort="fast")


def changing(release: Any, change: Any) -> Any:
    """What an executor makes of a block, changed; by value, because executors do not have these tests."""
    by_value = FunctionType(change.__code__, {"pc": pc, "pickle": pickle, "replace": replace})

    def of_plan(plan: Any) -> Any:
        make = release(plan)
        return lambda rows: by_value(*make(rows))

    return of_plan


def test_what_a_reader_sees_goes_through_the_gate(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader, who has no unit, counts rows: here a k of rows that no class has."""

    def policies(policy: tc.Policy, attributes: Any) -> tuple[tc.Policy, tc.Policy]:
        of_owner, of_reader = policies_of_release(policy, attributes)
        return of_owner, replace(of_reader, k=ROWS)

    monkeypatch.setattr(distributed, "policies_of_release", policies)
    with pytest.raises(tc.GateError, match="it would break k"):
        tc.anonymize(session.createDataFrame(some_people(ROWS)), POLICY, effort="fast")


def test_a_block_that_spark_makes_again_is_the_same(session: Any) -> None:
    """Also with the effort that has a clock on one machine: what was judged must be what is written."""
    release: Any = tc.anonymize(session.createDataFrame(some_people(600)), POLICY, effort="best")
    before = rows_of(release)
    release._made._frame.unpersist(blocking=True)
    assert rows_of(release) == before


def test_what_an_executor_refuses_is_told_in_its_words(session: Any) -> None:
    days = [date(2024, 1, 1 + row % 20) for row in range(59)] + [date(9999, 12, 31)]
    table = some_people(60).append_column("day", pa.array(days))
    policy = tc.Policy(quasi=["day"], sensitive={"ill": 0.9}, k=5, edges=3, unit="row", other="drop")
    with pytest.raises(tc.InfeasibleError, match="no date comes after the last one of the calendar") as ref:
        tc.anonymize(table, policy, effort="fast")
    with pytest.raises(tc.InfeasibleError, match="no date comes after") as comp:
        tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    assert str(comp.value) == str(ref.value)


def test_a_failure_on_executors_is_told_without_its_message(session: Any) -> None:
    from pyspark.sql import functions

    broken = session.createDataFrame(some_people(50)).withColumn(
        "pay", functions.expr("if(pay > 0, raise_error('Ada Lovelace'), pay)")
    )
    sentence = r"^The table cannot be read, or the work on it failed: Spark stopped with \w+\. Spark's logs have the reason; they may quote rows\.$"
    for work in (tc.audit, tc.anonymize):
        with pytest.raises(tc.InputError, match=sentence):
            work(broken, POLICY)


def test_what_spark_cannot_do_is_said(session: Any) -> None:
    frame = session.createDataFrame(some_people(50))
    with pytest.raises(tc.PolicyError, match="growth alone"):
        tc.anonymize(frame, POLICY, algorithm="mondrian")
    with pytest.raises(tc.PolicyError, match="no order to keep"):
        tc.anonymize(frame, POLICY, keep_order=True)
    with pytest.raises(tc.PolicyError, match=r"time of refining cannot be limited.*Leave seconds out"):
        tc.anonymize(frame, POLICY, effort="best", options={"seconds": 5})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "MOST", 10)
        patch.setattr(distributed, "COUNTS", 40)
        with pytest.raises(tc.PolicyError, match=r"'pay' has \d values.*pay: \{bins: 100\}"):
            tc.anonymize(frame, POLICY, effort="fast")
    session.conf.set(distributed.LARGE_TYPES, "true")
    try:
        with pytest.raises(tc.InputError, match="useLargeVarTypes must be false"):
            tc.anonymize(frame, POLICY, effort="fast")
    finally:
        session.conf.unset(distributed.LARGE_TYPES)
    with pytest.raises(tc.OutputError, match=r"\.parquet"):
        tc.anonymize(frame, POLICY, effort="fast").write("release.csv")


def test_no_rows_come_to_the_driver_unasked(session: Any) -> None:
    frame = session.createDataFrame(some_people(50))
    for study in (tc.attack, tc.compare, tc.explain, lambda table, _: tc.propose(table)):
        with pytest.raises(tc.InputError, match=r"^The rows of a Spark DataFrame stay on the cluster, .* df\.toArrow\(\)"):
            study(frame, POLICY)
