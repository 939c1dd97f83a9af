"""Files of SPSS, Stata and SAS, read by pyreadstat.

Where each value of a column has a label of its own, the labels are its values: a reader of a release should not need the code
list. They are in the order of their codes only where the file says that they have one ("ordinal", in SPSS): to take categories
for ordered would show a distance that is too small. Other columns are their values; numbers that the file calls nominal have no
order. What the file declares to be missing is missing, and so is an empty text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa

from tclose.errors import InputError
from tclose.extras import load
from tclose.jobs import check
from tclose.tables.cells import column_of
from tclose.tables.input_file import InputFile
from tclose.tables.reader import LoadingReader

READ = {
    ".sav": ("read_sav", "an SPSS file"),
    ".zsav": ("read_sav", "an SPSS file"),
    ".por": ("read_por", "a portable SPSS file"),
    ".dta": ("read_dta", "a Stata file"),
    ".sas7bdat": ("read_sas7bdat", "a SAS file"),
    ".xpt": ("read_xport", "a SAS transport file"),
}
"""By suffix the function of pyreadstat that reads a file, and what the file should be."""


class StatisticsReader(LoadingReader):
    """A file of SPSS, Stata or SAS."""

    def __init__(self, file: InputFile) -> None:
        """Read the names of the columns."""
        self.file = self._file = file
        self.title = f"File {file.path.name!r}"
        with self._reading() as read:
            names = read(metadataonly=True)[1].column_names
            if not all(isinstance(name, str) for name in names):
                raise ValueError("a column has no name")
        self.names = list(names)

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns, dates as such, labels instead of codes."""
        with self._reading() as read:
            cells, found = read(usecols=list(names))
            self.rows = max(map(len, cells.values()))
            labels, measures = found.variable_value_labels, found.variable_measure
            return pa.table({name: _column(cells[name], labels.get(name, {}), measures.get(name)) for name in names})

    @contextmanager
    def _reading(self) -> Iterator[Callable[..., tuple[dict[str, list[Any]], Any]]]:
        """Yield a function that returns columns of the file as lists, and what the file says of all columns."""
        check()
        function, kind = READ[self._file.path.suffix.lower()]
        read = getattr(load("pyreadstat"), function)
        with self._file.read_as(kind, Exception):  # it raises whatever its parts raise
            try:
                yield partial(read, str(self._file.path), output_format="dict")
            except UnicodeDecodeError:
                raise InputError(
                    f"{self.title} has a text that is not in the encoding that the file states. Save it in UTF-8."
                ) from None


def _column(cells: list[Any], labels: Mapping[Any, str], measure: str | None) -> pa.Array:
    """Return a column as its labels, where each value has one of its own, or as its values."""
    cells = [None if cell == "" else cell for cell in cells]
    values = sorted({cell for cell in cells if cell is not None}) if labels else []
    names = [labels.get(value, "").strip() for value in values]
    if values and all(names) and len(set(names)) == len(names):
        index = {value: code for code, value in enumerate(values)}
        codes = pa.array([None if cell is None else index[cell] for cell in cells], pa.int32())
        return pa.DictionaryArray.from_arrays(codes, pa.array(names), ordered=measure == "ordinal")
    column = column_of(cells, whole=True)
    return column.dictionary_encode() if measure == "nominal" and pa.types.is_primitive(column.type) else column
