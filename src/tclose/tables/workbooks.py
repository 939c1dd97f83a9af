"""Workbooks: a sheet of Excel or LibreOffice, whose first row with anything in it is the header.

A workbook has one kind of number, so numbers that are all whole are read as integers. A cell that is empty, or that shows an
error such as #N/A, is missing; a row without any value is none. A formula is the value that the program saved with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa

from tclose.errors import InputError
from tclose.extras import load
from tclose.jobs import check
from tclose.tables.cells import column_of
from tclose.tables.input_file import InputFile
from tclose.tables.locations import Location, choose_part
from tclose.tables.reader import LoadingReader
from tclose.values.printed import printed

_KIND = "a workbook"

_ROWS = 10_000
"""Rows between two looks at whether somebody has cancelled the job."""


class WorkbookReader(LoadingReader):
    """A sheet of a workbook; the first, unless the user names one."""

    def __init__(self, file: InputFile, location: Location) -> None:
        """Read a sheet, and its header."""
        self.file, self.title = file, f"File {file.path.name!r}"
        with _reading(file) as calamine:
            book = calamine.CalamineWorkbook.from_path(str(file.path))
            kinds = ((sheet.name, sheet.typ) for sheet in book.sheets_metadata)
            sheets = [name for name, kind in kinds if kind == calamine.SheetTypeEnum.WorkSheet]
            sheets = sheets if location.part is not None else sheets[:1]
            self._sheet = book.get_sheet_by_name(choose_part(location, sheets, "sheet"))
            header, *first = [*islice(self._rows(), 2)] or [[]]
        self._indices = [index for index, cell in enumerate(header) if cell is not None]
        if not self._indices:
            raise InputError(f"{self.title} has an empty sheet, {self._sheet.name!r}. A header and rows are needed.")
        self.names = [printed(header[index]) for index in self._indices]
        for row in first:  # before a column is looked for, which a title above the header would hide
            self._check_names(row, 1)

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the sheet, each in the type that all of its cells have."""
        chosen = {name: index for name, index in zip(self.names, self._indices, strict=True) if name in names}
        columns: dict[str, list[Any]] = {name: [] for name in chosen}
        for number, row in enumerate(islice(self._rows(), 1, None), start=1):
            if number % _ROWS == 0:
                check()
            self._check_names(row, number)
            for name, index in chosen.items():
                columns[name].append(row[index])
        self.rows = len(next(iter(columns.values())))
        return pa.table({name: column_of(cells, whole=True) for name, cells in columns.items()})

    def _rows(self) -> Iterator[list[Any]]:
        """Yield the rows of the sheet that have a value, an empty cell as None."""
        for row in self._sheet.iter_rows():
            cells = [None if cell == "" else cell for cell in row]
            if any(cell is not None for cell in cells):
                yield cells

    def _check_names(self, row: list[Any], number: int) -> None:
        """Raise InputError if a row, numbered from 1 below the header, has a cell in a column without a name."""
        if sum(cell is not None for cell in row) > sum(row[index] is not None for index in self._indices):
            raise InputError(
                f"{self.title} must have its header in the first row of the sheet. Row {number:,} below it has a cell in a "
                "column without a name; remove any title above the header."
            )


@contextmanager
def _reading(file: InputFile) -> Iterator[Any]:
    """Yield calamine; raise what it raises in this block as InputError, in one sentence on the file."""
    calamine = load("python_calamine")
    with file.read_as(_KIND, calamine.CalamineError):
        try:
            yield calamine
        except calamine.PasswordError:
            raise InputError(f"File {file.path.name!r} is protected by a password. Save a copy without one.") from None
        except BaseException as error:
            if (
                type(error).__name__ == "PanicException"
            ):  # how Rust ends where a file is not as it expects; Python has no name for it
                raise ValueError("calamine gave up") from None
            raise
