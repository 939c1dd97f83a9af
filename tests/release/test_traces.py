"""Errors tell nothing of a table: neither what they say nor the chain of exceptions that they come with."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from functools import partial
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

GOOD = tc.Policy(quasi=["age"], sensitive=["name"], k=2)
TABLE = pa.table({"name": ["a", "b"], "age": [5, 6]})
COUNTS = {"counts": [[1, 2], [3, 4]], "t": (0.5, 0.5)}


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
    columns: dict[str, Any] = {"quasi": ["age"], "sensitive": ["name"]}
    makers: list[tuple[Any, dict[str, Any]]] = [
        (tc.Policy, columns),
        (tc.Quasi, {"name": "age"}),
        (tc.Sensitive, {"name": "name"}),
        (tc.Keep, {"name": "x"}),
    ]
    found: dict[str, Callable[[], object]] = {
        f"{maker.__name__}.{field}": partial(maker, **{**more, field: table})
        for maker, more in makers
        for field in maker.__dataclass_fields__
    }
    found |= {f"{maker.__name__}, first": partial(maker, table) for maker, _ in makers}
    for function, good, wrong in (
        (tc.audit, {"table": TABLE}, ["policy"]),
        (tc.anonymize, {"table": TABLE, "policy": GOOD}, ["policy", "algorithm", "seed", "effort", "options"]),
        (tc.emd, {"p": [1, 2], "q": [2, 1]}, ["p", "q", "distance", "values"]),
        (tc.transport, {"p": [1, 2], "q": [2, 1]}, ["p", "q", "distance", "values"]),
        (tc.find_fragmentation, COUNTS, ["counts", "t", "bound", "distances", "strategy", "values"]),
    ):
        found |= {f"{function}, {name}": partial(function, **{**good, name: table}) for name in wrong}
    found["an option"] = partial(tc.anonymize, TABLE, GOOD, options={"seconds": table})
    found["audit, swapped"] = partial(tc.audit, GOOD, table)
    found["load"] = partial(tc.Policy.load, table)
    return found


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
    error = refusal(lambda: act(path, tc.Policy(quasi=[tc.Quasi("age", type="integer")], sensitive=["name"], k=2)))
    if error is not None:
        assert isinstance(error, tc.TcloseError)
        assert_tells_nothing(error)
        assert (error.__context__, error.__cause__) == (None, None)


def test_an_error_keeps_the_exception_that_its_caller_handles(tmp_path: Path) -> None:
    """That one is the caller's own."""
    with pytest.raises(tc.InputError) as caught:  # noqa: PT012
        try:
            _ = dict[str, str]()["mine"]
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
