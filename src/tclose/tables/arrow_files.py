"""Arrow files: the chosen columns read into memory, and all of their bytes checked.

They are not mapped into memory: a file that is cut short while it is mapped ends the whole program. What was read is checked in
full before it is used: an index or a length that points elsewhere would end the program, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tclose.errors import InputError
from tclose.tables.input_file import MOST_ROWS, InputFile

_MARK = b"ARROW1"
"""The first bytes of a file; a stream has none."""


@dataclass(frozen=True)
class Ipc:
    """An Arrow file, of which the schema is read."""

    file: InputFile
    names: list[str]

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the Arrow file as a table in memory, all of their bytes checked."""
        wanted, batches, rows = set(names), [], 0
        with _arrow_reader(self.file, [index for index, name in enumerate(self.names) if name in wanted]) as reader:
            for batch in _iterate_batches(reader):
                rows += batch.num_rows
                if rows > MOST_ROWS:
                    raise InputError(f"File {self.file.path.name!r} has more than {MOST_ROWS:,} rows. Split it.")
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)


def open_ipc(file: InputFile) -> Ipc:
    """Return an Arrow file whose column names are known; its rows are read later."""
    with _arrow_reader(file, None) as reader:
        return Ipc(file, list(reader.schema.names))


def _iterate_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    """Return the record batches of an Arrow reader, of a file or of a stream, one after the other."""
    if isinstance(reader, pa.RecordBatchReader):
        return iter(reader)
    return (reader.get_batch(index) for index in range(reader.num_record_batches))


@contextmanager
def _arrow_reader(file: InputFile, fields: list[int] | None) -> Iterator[Any]:
    """Yield an Arrow reader of some columns of a file, which has either of Arrow's two formats."""
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    with file.read_as("an Arrow file"), pa.OSFile(str(file.path)) as source:
        if source.read(len(_MARK)) == _MARK:
            yield pa.ipc.open_file(source, options=options)
        else:
            source.seek(0)
            yield pa.ipc.open_stream(source, options=options)
