"""Tables that stay in a database or on a cluster are measured as they would be at home."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

import tclose as tc
from tclose import jobs
from tclose.cli import app
from tclose.tables.postgres import is_address
from tclose.tables.remote import RemoteReader
from tclose.tables.table import open_table
from tests.support.examples import examples
from tests.support.servers import find_spark, load_into_postgres, postgres, spark
from tests.support.typed_tables import tables

MASTERS = ["local[2]", "local-cluster[2,1,1024]", "connect"]
"""Spark in one process, with executors of their own, and over Spark Connect."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as address:
        yield address


def some_visits() -> pa.Table:
    """Rows of all types that engines share, with missing cells, texts that differ in case only, and persons in several rows."""
    rng = np.random.default_rng(1)

    def some(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([values[index] for index in rng.integers(0, len(values), 120)], kind, from_pandas=False)

    return pa.table({
        "who": some([f"P{number}" for number in range(60)], pa.string()),
        "zip": some(["476", "Zoe", "zoe", "é", None], pa.string()),
        "age": some([20, 30, None], pa.int64()),
        "day": some([date(2024, 1, 1), date(2024, 1, 2)], pa.date32()),
        "size": some([0.5, 1.5, float("nan")], pa.float64()),
        "smokes": some([True, False], pa.bool_()),
        "nearly": some(["1", "2", "NA"], pa.string()),
        "pay": some([Decimal("1.50"), Decimal("2.25"), Decimal("-3.00")], pa.decimal128(9, 2)),
        "ill": some(["flu", "cold", "hiv", None], pa.string()),
        "seen": some([datetime(2024, 1, 1, 8), datetime(2024, 1, 2, 9, 30, 1)], pa.timestamp("us")),
        "sent": some([datetime(2024, 1, 1, 8, tzinfo=UTC), datetime(2024, 7, 2, 9, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    })  # fmt: skip


POLICY = tc.Policy(
    quasi=["zip", "age", "smokes", "nearly", "size"],
    sensitive=[
        tc.Sensitive("pay", t=0.3, distance="numeric"),
        tc.Sensitive("ill", t=0.4, l=2),
        tc.Sensitive("seen", t=0.5),
        tc.Sensitive("sent", t=0.5),
        tc.Sensitive("day", t=0.4),
    ],
    identifiers=["who"],
    unit="who",
    k=2,
)


def audited(table: Any) -> tuple[str, Any, list[str]]:
    """The JSON of an audit, its table of classes, and what it warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        audit = tc.audit(table, POLICY)
    sentences = [str(each.message) for each in told if issubclass(each.category, tc.ReadingWarning | tc.PrivacyRiskWarning)]
    return audit.to_json(), audit.class_table(), sorted(sentences)


@pytest.fixture(params=["file", "pandas", "postgres", *(pytest.param(master, marks=pytest.mark.spark) for master in MASTERS)])
def visits(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """The visits as each engine has them: DuckDB a file, pandas a frame, PostgreSQL a table, Spark a DataFrame."""
    table = some_visits()
    if request.param == "file":
        pq.write_table(table, tmp_path / "visits.parquet")
        yield tmp_path / "visits.parquet"
    elif request.param == "pandas":
        yield table.to_pandas(types_mapper=pd.ArrowDtype)
    elif request.param == "postgres":
        yield load_into_postgres(request.getfixturevalue("server"), table)
    else:
        find_spark()
        with spark(request.param, **{"spark.sql.session.timeZone": "America/New_York"}) as session:
            yield session.createDataFrame(table)
            assert session.conf.get("spark.sql.session.timeZone") == "America/New_York"
            assert not [view for view in session.catalog.listTables() if view.name.startswith("tclose")]


def test_every_engine_gives_the_same_audit(visits: Any) -> None:
    ref = audited(some_visits())
    assert "NA" in ref[2][0]  # the column that is nearly numbers is told by all
    assert audited(visits) == ref


@settings(max_examples=examples(8))
@given(table=tables())
def test_any_table_is_counted_in_postgres_as_at_home(server: str, table: pa.Table) -> None:
    kept = [name for name in table.column_names if "\x00" not in "".join(filter(None, map(str, table[name].to_pylist())))]
    table = table.select(kept)
    names = dict.fromkeys(kept, "value")
    comp = open_table(_reader(load_into_postgres(server, table)), names)
    ref = open_table(_reader(table), names)
    assert comp.kinds == ref.kinds
    for name in kept:
        assert comp.count_values(name) == ref.count_values(name)
        assert comp.most_rows(name) == ref.most_rows(name)
        assert comp.missing(name)[0] == ref.missing(name)[0]
    found, wanted = (source.cells(kept[:1], kept[1:]) for source in (comp, ref))
    assert found.sizes.tolist() == wanted.sizes.tolist()
    for name in kept:
        ((values, codes),), ((ref_values, ref_codes),) = comp.rows([name]), ref.rows([name])
        assert values.to_pylist() == ref_values.to_pylist()
        assert np.bincount(codes).tolist() == np.bincount(ref_codes).tolist()


def _reader(table: Any) -> Any:
    from tclose.tables.readers import open_reader

    return open_reader(table)


def test_text_is_compared_by_code_point_whatever_the_collation(server: str) -> None:
    address = load_into_postgres(server, pa.table({"zip": ["é", "e", "E", "E"], "pay": [1, 2, 1, 2]}))
    reader = _reader(address)
    # The server from PyPI has no collation that makes one of é and E, so what is asked is looked at too.
    assert 'AS text) COLLATE "C" AS c0' in reader._backend.compile(reader.select({"zip": "c0"})).replace("AS TEXT", "AS text")
    assert tc.audit(address, tc.Policy(quasi=["zip"], sensitive=["pay"])).class_table()["zip"].to_pylist() == ["E", "e", "é"]


def test_a_release_is_made_from_a_database(server: str, tmp_path: Path) -> None:
    table = some_visits()
    address = load_into_postgres(server, table)
    policy = tc.Policy(quasi=["age", "zip"], sensitive={"pay": 0.3}, identifiers=["who"], unit="who", k=2, other="drop")
    release = tc.anonymize(address, policy)
    assert release.table.to_pylist() == tc.anonymize(table, policy).table.to_pylist()
    written = release.write(tmp_path / "release.csv")
    assert tc.verify(written[0]).holds
    assert not any(b"postgresql" in path.read_bytes() for path in tmp_path.iterdir())


def test_all_questions_are_asked_of_one_snapshot(server: str) -> None:
    import psycopg

    address = load_into_postgres(server, pa.table({"zip": ["1", "2"], "pay": [1, 2]}))
    source = open_table(_reader(address), {"zip": "auto", "pay": "value"})
    assert source.count_values("zip") == (2, 2)
    with psycopg.connect(server) as connection:
        connection.execute(f"INSERT INTO {address.rpartition('::')[2]} VALUES ('3', 3)")
    assert source.count_values("zip") == (2, 2)
    assert source.cells(["zip"], ["pay"]).sizes.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("", "Name a table of the database, with --table or behind ::."),
        ("::nowhere", "The database has no table 'nowhere'."),
    ],
)
def test_a_table_that_is_not_there_is_named(server: str, end: str, sentence: str) -> None:
    with pytest.raises(tc.InputError, match=sentence):
        tc.audit(server + end, POLICY)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/clinic::visits",
        "postgresql://host/clinic?password=secret",
        "postgresql://host/clinic?sslpassword=secret",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(address: str) -> None:
    assert is_address(address)
    with pytest.raises(tc.InputError, match="PGPASSWORD") as told:
        tc.audit(address, POLICY)
    assert "secret" not in str(told.value)


def test_a_server_that_cannot_be_reached_is_told_without_its_address() -> None:
    with pytest.raises(tc.InputError, match="cannot be reached") as told:
        tc.audit("postgresql://somebody@127.0.0.1:1/clinic::visits", POLICY)
    assert "somebody" not in str(told.value)


def test_errors_name_no_row_where_rows_have_no_order(server: str) -> None:
    address = load_into_postgres(
        server, pa.table({"zip": ["1", "2"], "ill": ["flu", "hiv"], "pay": [1, None], "who": ["a", None]})
    )
    with pytest.raises(tc.HierarchyError) as told:
        tc.audit(address, tc.Policy(quasi=["zip"], sensitive=[tc.Sensitive("ill", hierarchy={"cold": ["flu"]})]))
    assert str(told.value) == "Value 'hiv' of 'ill' is not in its hierarchy. Add it there."
    with pytest.raises(tc.InputError, match=r"Got 1 missing\. Fill them"):
        tc.audit(address, tc.Policy(quasi=["zip"], sensitive={"pay": 0.1}))
    with pytest.raises(tc.InputError, match=r"Got 1 missing\.$"):
        tc.audit(address, tc.Policy(quasi=["zip"], sensitive={"ill": 0.1}, unit="who"))


@pytest.mark.parametrize(
    ("cells", "kind", "asked", "sentence"),
    [
        (["1", "2"], pa.string(), "integer", "type of 'a' must fit the column. Got 'integer', and it is text there."),
        ([1.0, 2.5], pa.float64(), "integer", "type of 'a' must fit all its cells. Got 'integer', and 1 cell that is none."),
        ([1.0, 2.5], pa.float64(), "text", "engines print float differently"),
        ([datetime(2024, 1, 1, 8), datetime(2024, 1, 1, 9)], pa.timestamp("us"), "date", "which makes 1 value of 2."),
    ],
)  # fmt: skip
def test_types_that_do_not_fit_are_refused(server: str, cells: list[Any], kind: Any, asked: Any, sentence: str) -> None:
    address = load_into_postgres(server, pa.table({"a": pa.array(cells, kind), "pay": [1, 2]}))
    with pytest.raises(tc.InputError, match=sentence):
        open_table(_reader(address), {"a": asked})


def test_types_that_fit_are_cast(server: str) -> None:
    table = pa.table({"a": pa.array([1.0, 2.0, None]), "b": pa.array([1, 2, 9]), "pay": [1, 2, 3]})
    policy = tc.Policy(
        quasi=[tc.Quasi("a", type="integer"), tc.Quasi("b", type="text")], sensitive=["pay"], input=tc.Input(missing=["9"])
    )
    found = tc.audit(load_into_postgres(server, table), policy)
    assert found.to_json() == tc.audit(table, policy).to_json()


def test_the_command_reads_a_table_of_a_server(server: str, tmp_path: Path) -> None:
    table = some_visits()
    name = load_into_postgres(server, table).rpartition("::")[2]
    options = ["--quasi", "zip", "--sensitive", "pay", "--json"]
    found = CliRunner().invoke(app, ["audit", server, "--table", name, *options])
    pq.write_table(table, tmp_path / "visits.parquet")
    ref = CliRunner().invoke(app, ["audit", str(tmp_path / "visits.parquet"), *options])
    assert (found.exit_code, found.stdout) == (ref.exit_code, ref.stdout)
    shown = CliRunner().invoke(app, ["audit", server, "--table", name, "--quasi", "zip", "--sensitive", "pay"])
    assert "postgresql" not in shown.output


class Broken(RemoteReader):
    """A table whose queries fail with a message that quotes a row."""

    title = "Table 'visits'"

    def __init__(self) -> None:
        self.names = ["zip"]
        self.stopped = 0

    def select(self, columns: Mapping[str, str]) -> Any:
        return ibis.table(dict.fromkeys(columns.values(), "string"), name="visits")

    def run(self, query: Any, size: int) -> Iterator[pa.RecordBatch]:
        raise RuntimeError("duplicate key: Ada Lovelace")
        yield

    def stop(self) -> None:
        self.stopped += 1


def test_a_query_that_fails_is_told_without_its_message() -> None:
    source = open_table(Broken(), {"zip": "auto"})
    with pytest.raises(tc.InputError) as told:
        source.count_values("zip")
    assert str(told.value) == (
        "Table 'visits' cannot be read: the query stopped with RuntimeError. Check that you may read it, and that the server is up."
    )


def test_ctrl_c_stops_the_query_and_a_cancelled_job_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Broken()
    source = open_table(broken, {"zip": "auto"})

    def interrupted(query: Any, size: int) -> Iterator[pa.RecordBatch]:
        raise KeyboardInterrupt
        yield

    with monkeypatch.context() as patch:
        patch.setattr(broken, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            source.count_values("zip")
    assert broken.stopped == 1
    job = jobs.Job()
    job.cancel()
    with job, pytest.raises(jobs.Cancelled):
        source.count_values("zip")
