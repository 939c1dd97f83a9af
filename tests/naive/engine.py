"""An engine in plain Python, cell by cell: the slow, obvious twin of `tclose.tables.duckdb`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

import pyarrow as pa

from tclose.policy import Input
from tclose.tables.engine import Batches, Opened
from tclose.tables.forms import COMMA, SAMPLE
from tclose.tables.input_file import InputFile
from tclose.tables.moments import MOMENT
from tclose.tables.nearly import FORMS, WORDS
from tclose.tables.types import DECIMAL, PUBLISHED
from tclose.tables.written import Nearly, Written

KINDS: dict[str, Callable[[Any], bool]] = {
    "integer": pa.types.is_integer,
    "decimal": pa.types.is_decimal,
    "float": pa.types.is_floating,
    "date": pa.types.is_date,
    "timestamp": pa.types.is_timestamp,
    "time": pa.types.is_time,
    "boolean": pa.types.is_boolean,
    "text": pa.types.is_string,
}

FEW = 3
"""Rows in a batch: so that most tables have several batches."""


class NaiveReader:
    """Columns of an Arrow table in plain types, opened in the naive engine; they are taken as they are."""

    title = "The table"
    file: InputFile | None = None

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.names = list(table.column_names)
        self.rows: int | None = table.num_rows

    def open(self, kinds: Mapping[str, str], given: Input) -> Opened:
        assert given == Input()
        assert set(kinds.values()) <= {"auto", "value", "text"}
        engine = NaiveEngine({name: _as_asked(self._table[name], kind) for name, kind in kinds.items()})
        texts = {name: kind for name, kind in kinds.items() if pa.types.is_string(self._table[name].type) and kind != "text"}
        return Opened(engine, Written(guessed=texts))


def _as_asked(column: pa.ChunkedArray, kind: str) -> tuple[Any, list[Any]]:
    """The type of a column and its cells; NaN is missing, and -0.0 is 0.0."""
    column = column.cast(pa.string()) if kind == "text" else column
    cells = [None if cell != cell else 0.0 if cell == 0 and isinstance(cell, float) else cell for cell in column.to_pylist()]
    return column.type, cells


class NaiveEngine:
    """Columns as lists."""

    def __init__(self, columns: Mapping[str, tuple[Any, list[Any]]]) -> None:
        self._types = {name: kind for name, (kind, _) in columns.items()}
        self._cells = {name: cells for name, (_, cells) in columns.items()}
        self.kinds: Mapping[str, str] = {
            name: next(word for word, is_one in KINDS.items() if is_one(kind)) for name, kind in self._types.items()
        }

    def _tuples(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        return list(zip(*(self._cells[name] for name in names), strict=True))

    def _batches(self, rows: list[tuple[Any, ...]], types: Sequence[Any]) -> Batches:
        for start in range(0, len(rows), FEW):
            columns = zip(*rows[start : start + FEW], strict=True)
            arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
            yield pa.record_batch(arrays, names=[f"column {index}" for index in range(len(arrays))])

    def counts(self, names: Sequence[str], unit: str | None = None) -> Batches:
        rows = self._tuples(names)
        if unit is not None:
            rows = [row for row, _ in dict.fromkeys(zip(rows, self._cells[unit], strict=True))]
        found = [(*row, count) for row, count in Counter(rows).items()]
        return self._batches(found, [*(self._types[name] for name in names), pa.int64()])

    def rows(self, names: Sequence[str]) -> Batches:
        return self._batches(self._tuples(names), [self._types[name] for name in names])

    def column(self, name: str) -> pa.ChunkedArray:
        return pa.chunked_array([pa.array(self._cells[name], self._types[name])])

    def distinct(self, name: str) -> tuple[int, int]:
        present = [cell for cell in self._cells[name] if cell is not None]
        return len(present), len(set(present))

    def most(self, name: str) -> int:
        return max(Counter(cell for cell in self._cells[name] if cell is not None).values(), default=0)

    def missing(self, name: str) -> tuple[int, int]:
        rows = [row for row, cell in enumerate(self._cells[name], 1) if cell is None]
        return len(rows), min(rows, default=0)

    def first(self, name: str, values: pa.Array) -> tuple[int, int]:
        wanted = values.to_pylist()
        row, cell = next((row, cell) for row, cell in enumerate(self._cells[name], 1) if cell in wanted)
        return wanted.index(cell), row

    def nearly(self, name: str) -> Nearly | None:
        return nearly(self._cells[name])


# What text nearly is ---------------------------------------------------------------------------------------------------------

ISO = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def nearly(cells: list[Any]) -> Nearly | None:
    """What the cells of a column of text nearly all are, one cell after the other."""
    sample = [cell for cell in cells[:SAMPLE] if cell is not None]
    present = {row: cell for row, cell in enumerate(cells, 1) if cell is not None}
    likely = [what for what in (*SHAPES, *FORMS) if sample and 2 * sum(_looks(what, cell) for cell in sample) >= len(sample)]
    if not likely:
        return None
    fitting = {what: sum(_is(what, cell) for cell in present.values()) for what in likely}
    what = max(likely, key=fitting.__getitem__)
    odd = {row: cell for row, cell in present.items() if not _is(what, cell)}
    known = [cell for cell in odd.values() if cell in WORDS]
    if odd:
        meant = any(re.search("^[+0][0-9]+$", cell) or re.search(PUBLISHED, cell) for cell in odd.values())
        if meant or 2 * len(odd) > len(present) or (len(known) < len(odd) and 10 * len(odd) > len(present)):
            return None
    words = sorted(set(known)) if odd and len(known) == len(odd) else []
    others = tuple(form for form in likely if form in FORMS and form != what and fitting[form] == fitting[what])
    shapes = {_shape(cell) for cell in present.values() if _is("moment", cell)} if what == "moment" else set()
    return Nearly(what, others if what in FORMS else (), len(present), len(odd), min(odd, default=0), words, len(shapes))


SHAPES = {"number": DECIMAL, "comma": COMMA, "date": ISO, "moment": MOMENT}


def _looks(what: str, cell: str) -> bool:
    return FORMS[what].fits(cell) if what in FORMS else re.fullmatch(SHAPES[what], cell) is not None


def _is(what: str, cell: str) -> bool:
    """Whether a cell looks like that, and is a day of the calendar if it is to be one."""
    if not _looks(what, cell):
        return False
    if what in ("number", "comma") or what in FORMS:
        return True
    try:
        return bool(date.fromisoformat(cell[:10]))
    except ValueError:
        return False


def _shape(cell: str) -> str:
    main, zone = re.fullmatch(MOMENT, cell).groups()  # type: ignore[union-attr]
    return re.sub("[0-9]", "0", main) + (zone or "")
