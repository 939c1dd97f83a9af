"""A file that is read: it must be a regular file, and must not change from the first look at it to the last."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyarrow as pa

from tclose.errors import InputError

MOST_ROWS = 10_000_000_000
"""Most rows of a table, more than there are people: a file that claims more would occupy an engine for hours."""

MOST_COLUMNS = 100_000
"""Most columns of a table: to compare this many names takes some seconds."""


@dataclass(frozen=True)
class InputFile:
    """A file as it was when it was opened.

    Attributes
    ----------
    path : Path
    state : tuple of int
        Device, inode, size and times. Each write to a file changes the last of them, and nobody can set it back.
    """

    path: Path
    state: tuple[int, ...]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return a file with its present state; raise InputError for a folder, a pipe or a device."""
        try:
            str(path).encode()  # the engine wants names in UTF-8
            found = path.stat()
        except UnicodeEncodeError:
            raise InputError(f"File {str(path)!r} has a name that is not UTF-8. Rename it.") from None
        except (FileNotFoundError, NotADirectoryError, ValueError):  # a ValueError for a name with a NUL
            raise InputError(f"File {str(path)!r} does not exist. Check its path.") from None
        except OSError as error:
            raise InputError(f"File {str(path)!r} cannot be read: {error.strerror or 'the disk refused it'}.") from None
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"{str(path)!r} is a folder. Name a file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{str(path)!r} is a pipe or a device, which can be read only once. Save the table to a file first.")
        return cls(path, _state_of(found))

    @property
    def size(self) -> int:
        """The number of bytes of the input file."""
        return self.state[2]

    def check_unchanged(self) -> None:
        """Raise InputError if the file has changed since it was opened: its parts would be of two tables."""
        try:
            same = _state_of(self.path.stat()) == self.state
        except OSError:
            same = False
        if not same:
            raise InputError(f"File {self.path.name!r} has changed while it was read. Run it again when nothing writes to it.")

    @contextmanager
    def read_as(self, kind: str) -> Iterator[None]:
        """Raise errors of the disk and of Arrow inside this block as InputError, in one sentence on the file."""
        name = self.path.name
        try:
            yield
            self.check_unchanged()
        except InputError:
            raise
        except UnicodeDecodeError:
            raise InputError(f"File {name!r} has a column whose name is not UTF-8. Write it again with another name.") from None
        except MemoryError:
            raise InputError(f"File {name!r} does not fit into memory, or is damaged.") from None
        except (pa.ArrowException, OSError, ValueError) as error:
            self.check_unchanged()
            number = getattr(error, "errno", None)  # the disk's own; Arrow raises OSError without a number for a damaged file
            if number:
                raise InputError(f"File {name!r} cannot be read: {os.strerror(number)}.") from None
            raise InputError(f"File {name!r} is not {kind}, or is damaged. Check how it was written.") from None


def _state_of(found: os.stat_result) -> tuple[int, ...]:
    """Return what changes with each write to a file: device, inode, size, and times."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
