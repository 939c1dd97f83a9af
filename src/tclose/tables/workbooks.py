"""Workbooks: a sheet of Excel or LibreOffice, whose first row with anything in it is the header.

A workbook has one kind of number, so numbers that are all whole are read as integers. A cell that is empty, or that shows an
error such as #N/A, is missing; a row without any value is none. A formula is the value that the program saved with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
        calamine = load("python_calamine")
        self.file, self.title = file, f"File {file.path.name!r}"
        with file.read_as(_KIND, calamine.CalamineError):
            try:
                book = calamine.CalamineWorkbook.from_path(str(file.path))
            except calamine.PasswordError:
                raise InputError(f"{self.title} is protected by a password. Save a copy without one.") from None
            kinds = ((sheet.name, sheet.typ) for sheet in book.sheets_metadata)
            sheets = [name for name, kind in kinds if kind == calamine.SheetTypeEnum.WorkSheet]
            sheets = sheets if location.part is not None else sheets[:1]
            self._sheet = book.get_sheet_by_name(choose_part(location, sheets, "sheet"))
        header = next(self._rows(), None)
        if header is None:
            raise InputError(f"{self.title} has an empty sheet, {self._sheet.name!r}. A header and rows are needed.")
        self._indices = [index for index, cell in enumerate(header) if cell is not None]
        self.names = [printed(header[index]) for index in self._indices]

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the sheet, each in the type that all of its cells have."""
        chosen = {name: index for name, index in zip(self.names, self._indices, strict=True) if name in names}
        columns: dict[str, list[Any]] = {name: [] for name in chosen}
        known = set(self._indices)
        for number, row in enumerate(islice(self._rows(), 1, None), start=1):
            if number % _ROWS == 0:
                check()
            if any(cell is not None and index not in known for index, cell in enumerate(row)):
                raise InputError(
                    f"{self.title} must have its header in the first row of the sheet. Got {len(known)} names there, and row "
                    f"{number:,} below it has a cell in a column without a name; remove any title above the header."
                )
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
