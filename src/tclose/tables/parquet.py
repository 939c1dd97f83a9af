"""Parquet files: what their footer says, checked before an engine believes it.

A footer says how many rows and values there are, where they are in the file, and what they mean. It also has statistics (least,
greatest, missing); neither this file nor the engine uses them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from tclose.errors import InputError
from tclose.tables.input_file import MOST_ROWS, InputFile

PARQUET = (".parquet", ".pq")
"""Suffixes of a Parquet file."""

_LOGS = ("_delta_log", ".hoodie")
"""What a folder has that is kept by another program, whose log says which of its files are part of the table."""

_KIND = "a Parquet file"

_TAIL = 8
"""Bytes after the footer: its length, and a mark."""


@dataclass(frozen=True)
class Parquet:
    """A Parquet file, of which the footer is read."""

    file: InputFile
    schema: Any
    metadata: Any

    @property
    def rows(self) -> int:
        """The number of rows of the file, as its footer says."""
        return int(self.metadata.num_rows)

    def check_like(self, other: Self) -> None:
        """Raise InputError if the file has other columns than another one of its folder, or columns of other types."""
        here, there = self.file.path.name, other.file.path.name
        if self.schema.names != other.schema.names:
            raise InputError(
                f"File {here!r} has other columns than {there!r}, in the same folder. Write all files with the same."
            )
        for name, own, first in zip(self.schema.names, self.schema.types, other.schema.types, strict=True):
            if own != first:
                raise InputError(
                    f"Column {name!r} is {own} in file {here!r} and {first} in {there!r}, of the same folder. Write one type."
                )

    def check(self, names: Collection[str]) -> None:
        """Raise InputError for a footer that contradicts itself about some columns: readers would differ on what is there."""
        with self.file.read_as(_KIND):
            groups = [self.metadata.row_group(index) for index in range(self.metadata.num_row_groups)]
            if self.rows > MOST_ROWS:
                raise InputError(f"File {self.file.path.name!r} has more than {MOST_ROWS:,} rows. Split it.")
            sound = sum(group.num_rows for group in groups) == self.rows and all(group.num_rows >= 0 for group in groups)
            leaves = self._footer_indices(names)
            sound = sound and all(
                self._is_sound(group.column(leaf), group.num_rows) for group in groups if group.num_rows for leaf in leaves
            )
        if not sound:
            raise InputError(f"File {self.file.path.name!r} contradicts itself in its footer. Write it again.")

    def _footer_indices(self, names: Collection[str]) -> list[int]:
        """Return the indices of some columns, which are not nested, in the footer."""
        wanted, schema = set(names), self.metadata.schema
        return [index for index in range(len(schema)) if schema.column(index).path in wanted]

    def _is_sound(self, chunk: Any, rows: int) -> bool:
        """Whether a column chunk has a cell for each row, lies in this file, and has its dictionary before its values."""
        starts = [offset for offset in (chunk.dictionary_page_offset, chunk.data_page_offset) if offset is not None]
        end = self.file.size - self.metadata.serialized_size - _TAIL
        return (
            chunk.num_values == rows
            and not chunk.file_path
            and starts == sorted(starts)
            and starts[0] >= 4
            and chunk.total_compressed_size >= 0
            and starts[0] + chunk.total_compressed_size <= end
        )

    def read(self, names: Collection[str]) -> pa.Table:
        """Return some columns of the Parquet file as a table in memory, read by Arrow, all of their bytes checked."""
        with self.file.read_as(_KIND):
            table = pq.ParquetFile(self.file.path).read(columns=list(names))
            table.validate(full=True)
            return table

    def has_dictionaries(self, name: str) -> bool:
        """Whether all values of a column of text are in dictionaries, which preserve the order of categories."""
        leaf = self._footer_indices([name])[0]
        chunks = (self.metadata.row_group(group).column(leaf) for group in range(self.metadata.num_row_groups))
        return all(chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY" for chunk in chunks)

    def noted(self, name: str) -> dict[str, Any]:
        """Return what pandas noted about a column when it wrote the file; an empty mapping if there is nothing to read."""
        try:
            found = [column for column in self.schema.pandas_metadata["columns"] if column["name"] == name]
        except (TypeError, KeyError, ValueError, RecursionError):
            return {}
        return next((note for note in found if isinstance(note, dict)), {})


def open_parquet(file: InputFile) -> Parquet:
    """Return a Parquet file whose schema and footer are known; its rows are read later."""
    with file.read_as(_KIND):
        footer = pq.ParquetFile(file.path)
        schema = footer.schema_arrow
        list(schema.names)  # decoded here
        return Parquet(file, schema, footer.metadata)


def files_in(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, sorted by name; raise InputError if they may not be the whole table, or more than it.

    Files whose name begins with a dot or an underscore are left out, as other programs do: they are notes about the others.
    """
    found = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "_"))]
    if any((folder / log).exists() for log in _LOGS):
        raise InputError(
            f"Folder {str(folder)!r} has a log that says which of its files count. Export the table as Parquet first."
        )
    if any(path.is_dir() for path in found):
        raise InputError(f"Folder {str(folder)!r} has folders in it, which are not read. Put all Parquet files into one folder.")
    parts = [path for path in found if path.suffix.lower() in PARQUET]
    if not parts:
        raise InputError(f"{str(folder)!r} is a folder without Parquet files. Name a file, or a folder of them.")
    return parts
