"""A file that is read, or several as one table: regular files, which must not change from the first look to the last."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
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
    """A file, or a folder of files, as it was when it was opened.

    Attributes
    ----------
    path : Path
        What the user named.
    parts : tuple of Path
        Other files that are read with it: the files of a folder, the log of a database. Some may not be there.
    state : tuple
        Of the path and of each part: device, inode, size and times. Each write to a file changes the last of them, and nobody
        can set it back. None for a part that is not there.
    """

    path: Path
    parts: tuple[Path, ...]
    state: tuple[tuple[int, ...] | None, ...]

    @classmethod
    def open(cls, path: Path, parts: Sequence[Path] = ()) -> Self:
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
        return cls(path, tuple(parts), _states_of(path, parts))

    @classmethod
    def open_folder(cls, folder: Path, parts: Sequence[Path]) -> Self:
        """Return some files of a folder as one input, with their present state: a file that comes or goes changes it too."""
        return cls(folder, tuple(parts), _states_of(folder, parts))

    @property
    def size(self) -> int:
        """The number of bytes of the input file."""
        return 0 if self.state[0] is None else self.state[0][2]

    @property
    def files(self) -> list[Path]:
        """The files whose bytes are read: the path itself, unless it is a folder, and the parts that are there."""
        return [path for path in (self.path, *self.parts) if path.is_file()]

    def check_unchanged(self) -> None:
        """Raise InputError if the file has changed since it was opened: its parts would be of two tables."""
        if _states_of(self.path, self.parts) != self.state:
            what = "Folder" if self.path.is_dir() else "File"
            raise InputError(f"{what} {self.path.name!r} has changed while it was read. Run it again when nothing writes to it.")

    @contextmanager
    def read_as(self, kind: str, *errors: type[BaseException]) -> Iterator[None]:
        """Raise errors of the disk, of Arrow and of a library inside this block as InputError, in one sentence on the file.

        Parameters
        ----------
        kind
            What the file should be, for the sentence "is not ..., or is damaged".
        errors
            What the library that reads it raises besides.
        """
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
        except (pa.ArrowException, OSError, ValueError, *errors) as error:
            self.check_unchanged()
            number = getattr(error, "errno", None)  # the disk's own; Arrow raises OSError without a number for a damaged file
            if number:
                raise InputError(f"File {name!r} cannot be read: {os.strerror(number)}.") from None
            raise InputError(f"File {name!r} is not {kind}, or is damaged. Check how it was written.") from None


def _states_of(path: Path, parts: Sequence[Path]) -> tuple[tuple[int, ...] | None, ...]:
    """Return what changes with each write to a file or to its parts.

    Of the log of a database the last time is left out: SQLite sets the owner of a log that it reads, which changes it.
    """
    last = None if path.is_dir() else -1
    return (_state_of(path), *((_state_of(part) or ())[:last] or None for part in parts))


def _state_of(path: Path) -> tuple[int, ...] | None:
    """Return what changes with each write to a file: device, inode, size, and times; None if it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
