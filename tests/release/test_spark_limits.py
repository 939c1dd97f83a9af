"""Settings of a policy on Spark that need more than histograms: persons in grids, ends of ranges, two measures, unions of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tclose as tc
from tclose.jobs import Job
from tclose.make.distributed.coding import Coding, PersonCoding
from tclose.make.scales.grids import people_of_rows
from tclose.release import distributed
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tests.support.planned import some_people
from tests.support.servers import find_spark, spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    find_spark()
    with spark("local[2]") as found:
        yield found


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "MOST", 700)
    monkeypatch.setattr(distributed, "JUDGED", 1000)


def test_persons_are_counted_on_spark_as_in_memory(session: Any) -> None:
    """A missing name is a person; a missing value is none."""
    rng = np.random.default_rng(2)
    values = pa.array(rng.integers(0, 40, 500) * 3, mask=rng.random(500) < 0.1)
    who = pa.array([f"P{number}" for number in rng.integers(0, 150, 500)], mask=rng.random(500) < 0.05)
    table = pa.table({"value": values, "who": who})
    source = open_table(open_reader(session.createDataFrame(table)), {"value": "auto"}, optional=["who"])
    cells, _ = source.cells([], ["value"]).domain("value")
    size = len(cells) - 1
    places = np.arange(size + 1, dtype=np.int32)
    comp = source.people_on_spark("value", "who", PersonCoding(Coding(cells, places, places)), size)
    codes = np.array([size if value is None else cells.index(value).as_py() for value in values.to_pylist()])
    ref = people_of_rows(size, codes, who.dictionary_encode("encode").indices.to_numpy())
    assert comp.total == ref.total
    assert comp.below.tolist() == ref.below.tolist()
    assert comp.above.tolist() == ref.above.tolist()
    for width in (1, 3, 7, 100):
        assert comp.in_cells(np.arange(size) // width).tolist() == ref.in_cells(np.arange(size) // width).tolist()
    for start, end in ((0, 1), (3, 20), (5, 5), (0, size)):
        assert comp.between(start, end) == ref.between(start, end)


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")  # a kept moment is that of a quasi-identifier
def test_grids_ends_and_two_measures_are_those_of_one_machine(session: Any, tmp_path: Path) -> None:
    table = some_people(2400, missing=True)
    days = [date(2020, 1, 1) + timedelta(days=int(day)) for day in np.random.default_rng(3).integers(0, 900, 2400)]
    table = table.append_column("day", pa.array(days)).append_column("seen", pa.array(days).cast(pa.timestamp("us", "UTC")))
    table = table.append_column("sent", table["seen"])
    policy = tc.Policy(
        quasi=[tc.Quasi("age", snap="auto"), "sex", "day", tc.Quasi("seen", recode="bounds")],
        sensitive=[tc.Sensitive("pay", t=0.2, l=2, bins=3, publish="value"), tc.Sensitive("ill", t=0.2)],
        keep=["sent"],
        unit="who",
        k=3,
        edges=2,
    )
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    release = tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    ref = tc.anonymize(table, policy, effort="fast")
    assert release.record["course"]["blocks"] > 3
    for paper in ("grids", "edge_grids"):
        assert release.record[paper] == ref.record[paper]
    assert set(release.record["edge_grids"]) == {"day", "seen"}
    assert release.certificate["columns"] == ref.certificate["columns"]
    assert release.certificate["policy"] == ref.certificate["policy"]
    audit = tc.audit(release.table.toArrow(), replace(policy, unit=None))
    pay, of_whole = release.audit.sensitive["pay"], audit.sensitive["pay"]
    assert (pay.t_exact, pay.t_raw, pay.judged) == (of_whole.t_exact, of_whole.t_raw, "values")
    paths = release.write(tmp_path / "release.parquet")
    assert tc.verify(paths[0]).holds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tclose.make.distributed.plan.moving_ends", lambda scale, *_: scale)
        with pytest.raises(tc.GateError, match=r"an end of a range of '.*' would be attained by fewer than 2 persons"):
            tc.anonymize(session.createDataFrame(table), policy, effort="fast")


def test_a_quasi_identifier_may_be_missing_everywhere(session: Any) -> None:
    """A grid has no values to be chosen from, and ends no numbers to move from."""
    table = some_people(300).set_column(1, "age", pa.nulls(300, pa.int64()))
    policy = tc.Policy(
        quasi=[tc.Quasi("age", snap="auto"), "sex"], sensitive={"ill": 0.3}, k=3, unit="who", other="drop", edges=2
    )
    release = tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    assert release.table.toArrow()["age"].null_count == 300
    assert release.certificate["loss"] == tc.anonymize(table, policy, effort="fast").certificate["loss"]


def test_a_sensitive_column_may_have_hundreds_of_values(session: Any) -> None:
    rng = np.random.default_rng(4)
    table = some_people(2400).append_column("salary", pa.array(rng.choice(900, 2400, replace=True) * 10))
    policy = tc.Policy(quasi=["age", "sex"], sensitive={"salary": 0.2}, k=3, other="drop", unit="row")
    release = tc.anonymize(session.createDataFrame(table), policy, effort="fast")
    assert release.record["course"]["blocks"] > 3
    assert tc.audit(release.table.toArrow(), policy).satisfied


def test_classes_of_several_blocks_that_are_published_alike_satisfy_the_limits(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lenient delta, and entropy over persons: some classes are merged, the same ones however the rows are spread."""
    monkeypatch.setattr(distributed, "MOST", 200)
    table = some_people(400)
    table = table.set_column(1, "age", pa.array(table["age"].to_numpy() // 10 * 10))
    sensitive = [tc.Sensitive("pay", delta="0.9", delta_kind="lenient"), tc.Sensitive("ill", l=2, l_kind="entropy")]
    policy = tc.Policy(quasi=["age", "sex"], sensitive=sensitive, k=2, unit="who")
    told: list[tuple[str, str]] = []
    with Job(lambda *words: told.append(words)):
        one = tc.anonymize(session.createDataFrame(table).coalesce(1), policy, effort="fast")
    assert one.record["course"]["blocks"] > 1
    assert any(words[0] == "Merging classes that are published alike" and " of " in words[1] for words in told)
    assert one.audit.satisfied
    assert tc.audit(one.table.toArrow(), replace(policy, unit=None)).satisfied
    frame = session.createDataFrame(table.take(np.random.default_rng(1).permutation(400))).repartition(5)
    many = tc.anonymize(frame, policy, effort="fast")
    assert many.table.toArrow().to_pylist() == one.table.toArrow().to_pylist()


@pytest.mark.filterwarnings("ignore::tclose.PrivacyRiskWarning")  # a kept moment is that of a quasi-identifier
def test_which_types_of_spark_can_take_a_role(session: Any, tmp_path: Path) -> None:
    """Times of day are those of a Parquet file; PySpark reads them where spark.sql.timeType.enabled allows it."""
    session.conf.set("spark.sql.timeType.enabled", "true")
    session.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    session.conf.set("spark.sql.preserveCharVarcharTypeInfo", "true")
    rows = 60
    times = pa.array([3_600_000_000 * (row % 7) + row % 3 for row in range(rows)], pa.time64("us"))
    pq.write_table(
        pa.table({"row": pa.array(range(rows), pa.int32()), "ill": ["flu", "gout"] * (rows // 2), "time": times}),
        tmp_path / "a.parquet",
    )
    at = "timestampadd(MINUTE, 7 * row, {}'2024-03-31 01:00:00')"
    fine = {
        "time": "time", "zoned": at.format("timestamp_ltz"), "local": at.format("timestamp_ntz"), "day": "date_add(date'2024-01-01', row)",
        "price": "cast(row / 8 as decimal(38, 18))", "whole": "cast(row as decimal(38, 0))", "char": "cast(row % 7 as char(5))",
        "varchar": "cast(row % 7 as varchar(5))", "nothing": "null", "collated": "cast(row % 7 as string) collate UNICODE_CI",
    }  # fmt: skip
    cannot = {
        "days": "interval '3' day", "months": "interval '3' month", "calendar": "make_interval(1, 2)", "variant": "parse_json('1')",
        "bytes": "x'00ff'", "several": "array(row)", "named": "named_struct('a', row)", "mapped": "map(row, row)",
    }  # fmt: skip
    frame = session.read.parquet(str(tmp_path / "a.parquet"))
    frame = frame.selectExpr("row", "ill", *(f"{cell} as `{name}`" for name, cell in (fine | cannot).items()))
    kinds = {type(field.dataType).__name__ for field in frame.schema.fields}
    assert kinds >= {"CharType", "VarcharType", "TimeType", "VariantType", "TimestampType", "TimestampNTZType"}
    quasi = [name for name in fine if name != "time"]
    policy = tc.Policy(quasi=quasi, sensitive={"ill": 0.3}, k=3, other="drop", keep=[tc.Keep("time", despite="a test")])
    texts = {name: frame[name].cast("string") for name in ("char", "varchar")}  # which PySpark itself does not bring home
    same = frame.withColumns(texts).select("ill", *fine).toArrow()
    assert tc.audit(frame, policy).to_dict() == tc.audit(same, policy).to_dict()
    release, ref = tc.anonymize(frame, policy, effort="fast"), tc.anonymize(same, policy, effort="fast")
    assert release.certificate["columns"] == ref.certificate["columns"]
    assert tc.verify(release.write(tmp_path / "release.parquet")[0]).holds
    for name in cannot:
        with pytest.raises(tc.ColumnError, match=rf"Column '{name}' holds .*, which cannot take a role. Use numbers, dates"):
            tc.audit(frame, replace(policy, quasi=[name]))
        assert tc.audit(frame, replace(policy, quasi=["day"], drop=[name])).rows == rows


@pytest.mark.parametrize("form", [None, "TIMESTAMP_MILLIS"])
def test_timestamps_are_released_as_on_one_machine(session: Any, tmp_path: Path, form: str | None) -> None:
    """Hours that a clock shows twice, years that INT96 cannot hold, microseconds: whatever the session writes by itself."""
    setting = "spark.sql.parquet.outputTimestampType"
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    if form is not None:
        session.conf.set(setting, form)
    hours = [datetime(2024, 10, 27, hour, 30, 0, 1) for hour in range(3)]  # 00:30 and 01:30 UTC are 02:30 in Berlin
    ends = [datetime(1500, 2, 28), datetime(9999, 12, 30)]
    zoned = pa.timestamp("us", "UTC")
    table = pa.table({
        "seen": pa.array([ends[row % 2] for row in range(60)], zoned), "sent": pa.array([hours[row % 3] for row in range(60)], zoned),
        "kept": pa.array([hours[row // 2 % 3] for row in range(60)], zoned),
    })  # fmt: skip
    policy = tc.Policy(quasi=[tc.Quasi("seen", recode="bounds")], sensitive={"sent": 0.3}, keep=["kept"], k=5, unit="row")
    release, ref = tc.anonymize(session.createDataFrame(table), policy), tc.anonymize(table, policy)
    path = release.write(tmp_path / "release.parquet")[0]
    assert session.conf.get(setting, None) == form
    session.conf.unset(setting)
    written = pq.read_table(path)
    assert written.schema.types == ref.table.schema.types
    for name in written.column_names:
        assert Counter(written[name].to_pylist()) == Counter(ref.table[name].to_pylist())
    assert tc.verify(path).holds


def test_a_release_is_written_to_the_disk_under_any_name(session: Any, tmp_path: Path) -> None:
    """Also where names without a scheme are those of HDFS; to Spark brackets are a pattern of names."""
    session.conf.set("fs.defaultFS", "hdfs://nowhere:9000")
    policy = tc.Policy(quasi=["age"], sensitive={"ill": 0.5}, k=5, other="drop", unit="who")
    folder = tmp_path / "[a] {b,c}*? 100%"
    folder.mkdir()
    try:
        path = tc.anonymize(session.createDataFrame(some_people(100)), policy).write(folder / "release.parquet")[0]
    finally:
        session.conf.unset("fs.defaultFS")
    assert tc.verify(path).holds


def test_names_may_differ_in_case_where_one_is_not_published(session: Any) -> None:
    table = some_people(60).append_column("AGE", pa.array(range(60)))
    policy = tc.Policy(quasi=["age"], sensitive={"ill": 0.5}, k=5, other="drop", unit="who")
    both = replace(policy, quasi=["age", "AGE"])
    for asked in (policy, both):
        assert tc.audit(session.createDataFrame(table), asked).to_json() == tc.audit(table, asked).to_json()
    assert tc.anonymize(session.createDataFrame(table), policy).table.columns == ["age", "ill"]
    with pytest.raises(tc.ColumnError, match="differ in case only"):
        tc.anonymize(session.createDataFrame(table), both)


def test_text_that_is_not_text_is_told(session: Any) -> None:
    frame = session.range(100).selectExpr("cast(if(id % 2 = 0, x'FF41', x'41') as string) as name", "id % 3 as ill")
    policy = tc.Policy(quasi=["name"], sensitive={"ill": 0.5}, k=5)
    for release in (tc.audit, tc.anonymize):
        with pytest.raises(tc.InputError, match="has text that is not UTF-8"):
            release(frame, policy)


def test_a_number_that_means_no_value_is_not_published(session: Any) -> None:
    """On a grid of 33 the bounds of -90 are -99 and -67; to its readers, -99 means that there is no value."""
    table = pa.table({"age": [-90, -80, 5, 6] * 10, "ill": ["flu", "gout", "gout", "flu"] * 10})
    policy = tc.Policy(
        quasi=[tc.Quasi("age", snap=33, recode="bounds")], sensitive={"ill": 0.5}, k=3, input=tc.Input(missing=["-99"])
    )
    with pytest.raises(tc.PolicyError, match=r"'-99', which the release would publish in 'age\.min'") as ref:
        tc.anonymize(table, policy)
    with pytest.raises(tc.PolicyError) as comp:
        tc.anonymize(session.createDataFrame(table), policy)
    assert str(comp.value) == str(ref.value)


@pytest.mark.parametrize("recode", ["range", "bounds", "set"])
def test_times_of_day_are_released_as_on_one_machine(recode: Any, session: Any, tmp_path: Path) -> None:
    session.conf.set("spark.sql.timeType.enabled", "true")
    times = pa.array([3_600_000_000 * (row % 7) + row % 3 for row in range(60)], pa.time64("us"))
    table = pa.table({"time": times, "ill": ["flu", "gout"] * 30})
    pq.write_table(table, tmp_path / "a.parquet")
    policy = tc.Policy(quasi=[tc.Quasi("time", recode=recode)], sensitive={"ill": 0.3}, k=3)
    release, ref = tc.anonymize(session.read.parquet(str(tmp_path / "a.parquet")), policy), tc.anonymize(table, policy)
    path = release.write(tmp_path / "release.parquet")[0]
    assert pq.read_table(path).schema.types == ref.table.schema.types
    assert tc.verify(path).holds
