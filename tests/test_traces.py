"""Errors tell nothing of a table: neither what they say nor the chain of exceptions that they come with."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tclose as tc

SECRET = "SECRETNAME"

TABLES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame({"name": [SECRET, "b"], "age": [5, 6]}),
    "a column": lambda: pd.Series([SECRET, "b"], name="name"),
    "polars": lambda: pl.DataFrame({"name": [SECRET, "b"], "age": [5, 6]}),
    "a polars column": lambda: pl.Series("name", [SECRET, "b"]),
    "pyarrow": lambda: pa.table({"name": [SECRET, "b"], "age": [5, 6]}),
    "an array": lambda: pd.DataFrame({"name": [SECRET, "b"], "age": [5, 6]}).to_numpy(),
    "a dict of columns": lambda: {"name": [SECRET, "b"], "age": [5, 6]},
    "rows": lambda: [[SECRET, 5], ["b", 6]],
}

GOOD = tc.Policy(quasi=["age"], sensitive=["name"], k=1)
TABLE = pa.table({"name": ["a", "b"], "age": [5, 6]})


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and all that can be reached from it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def assert_tells_nothing(error: BaseException) -> None:
    for each in chain(error):
        assert SECRET not in f"{each} {each!r} {each.args} {vars(each)}"
    logged = logging.Formatter().formatException((type(error), error, None))
    assert SECRET not in "".join(traceback.format_exception(type(error), error, None)) + logged


def calls(table: Any) -> dict[str, Callable[[], object]]:
    """A table where something else belongs."""
    settings: dict[str, Callable[[], object]] = {}
    for kind, more in (
        ("Policy", {"quasi": ["age"], "sensitive": ["name"]}),
        ("Quasi", {"name": "age"}),
        ("Sensitive", {"name": "name"}),
        ("Keep", {"name": "x"}),
    ):
        made = getattr(tc, kind)
        for field in made.__dataclass_fields__:
            settings[f"{kind}.{field}"] = lambda made=made, more=more, field=field: made(**{**more, field: table})
        settings[f"{kind}, first"] = lambda made=made: made(table)
    return settings | {
        "audit, policy": lambda: tc.audit(TABLE, table),
        "audit, swapped": lambda: tc.audit(GOOD, table),
        "anonymize, policy": lambda: tc.anonymize(TABLE, table),
        **{
            f"anonymize, {name}": lambda name=name: tc.anonymize(TABLE, GOOD, **{name: table})
            for name in ("algorithm", "seed", "effort", "options")
        },
        "anonymize, an option": lambda: tc.anonymize(TABLE, GOOD, options={"seconds": table}),
        **{
            f"emd, {name}": lambda name=name: tc.emd(**{"p": [1, 2], "q": [2, 1], name: table})
            for name in ("p", "q", "distance", "values")
        },
        "transport": lambda: tc.transport(table, table),
        **{
            f"find_fragmentation, {name}": lambda name=name: tc.find_fragmentation(
                **{"counts": [[1, 2], [3, 4]], "t": (0.5, 0.5), name: table}
            )
            for name in ("counts", "t", "bound", "distances", "strategy", "values")
        },
        "load": lambda: tc.Policy.load(table),
    }


def refusal(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return error
    return None


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_in_the_wrong_place_is_not_quoted(kind: str) -> None:
    for what, call in calls(TABLES[kind]()).items():
        error = refusal(call)
        if error is not None:
            assert isinstance(error, tc.TcloseError | TypeError), what
            assert_tells_nothing(error)


DAMAGED = {
    "too many fields": f"name,age\nb,1\n{SECRET},2,3,4\n".encode(),
    "too few fields": f"name,age\nb,1\n{SECRET}\n".encode(),
    "an open quote": f'name,age\nb,1\n"{SECRET},2\nc,3\n'.encode(),
    "text after a quote": f'name,age\nb,1\n"{SECRET}"x,2\nc,3\n'.encode(),
    "mixed line ends": f"name,age\r\nb,1\n{SECRET},2\r{SECRET},3\r\n".encode(),
    "not UTF-8": f"name,age\nb,1\n{SECRET}\xe4,2\n".encode("latin-1"),
    "cut inside a letter": f"name,age\nb,1\n{SECRET}".encode() + b"\xc3",
    "NUL": f"name,age\nb,1\n{SECRET}\0,2\n".encode(),
    "a title": f"{SECRET}\nname,age\nb,1\n".encode(),
    "another type": f"name,age\nb,1\nc,{SECRET}\n".encode(),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize(
    "act", [tc.audit, tc.anonymize, lambda path, _: tc.Policy.load(path)], ids=["audit", "anonymize", "load"]
)
def test_a_damaged_file_is_not_quoted(tmp_path: Path, damage: str, act: Callable[[Path, tc.Policy], object]) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(DAMAGED[damage])
    error = refusal(lambda: act(path, tc.Policy(quasi=[tc.Quasi("age", type="integer")], sensitive=["name"], k=1)))
    if error is not None:
        assert isinstance(error, tc.TcloseError)
        assert_tells_nothing(error)
        assert (error.__context__, error.__cause__) == (None, None)


def test_an_error_keeps_the_exception_that_its_caller_handles(tmp_path: Path) -> None:
    """That one is the caller's own."""
    with pytest.raises(tc.InputError) as caught:  # noqa: PT012
        try:
            _ = {}["mine"]
        except KeyError:
            tc.audit(tmp_path / "no.csv", GOOD)
    assert [type(each) for each in chain(caught.value)] == [tc.InputError, KeyError]


def test_a_warning_points_to_its_caller() -> None:
    table = pa.table({"name": ["a", "b"], "age": [5, 5], "id": [1, 1]})
    policy = tc.Policy(quasi=["age"], sensitive=["name"], identifiers=["id"])
    with pytest.warns(tc.PrivacyRiskWarning) as audited:
        tc.audit(table, policy)
    with pytest.warns(tc.PrivacyRiskWarning) as released:
        tc.anonymize(TABLE, GOOD, keep_order=True)
    assert {warning.filename for warning in (*audited, *released)} == {__file__}
