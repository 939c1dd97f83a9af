"""Keeping: compiled kernels on the disk, in one folder for each state of the source files.

Numba compiles a kernel anew when its own file has changed, but not when a file has changed whose kernels it calls. After an
upgrade such a kernel would still contain parts of the previous version. Here one digest of all files identifies all kernels.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from tclose.errors import OutputError
from tclose.make.kernels.ahead import wait_for
from tclose.tables.files import write_whole

ROOM = Path(__file__).parents[1]
SOURCES = sorted(ROOM.rglob("*.py"))
"""All files with kernels, or with constants that kernels use."""
VERSIONS = (numba.__version__, llvmlite.__version__)

_FunctionCache: Any = FunctionCache
_dumps: Any = dumps  # both without types

writing = threading.Lock()
"""Held while a file is written."""


def _digest(paths: list[Path]) -> str:
    """Return one number for the names and contents of some files."""
    found = hashlib.sha256()
    for path in paths:
        name = path.relative_to(ROOM).as_posix()
        found.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


DIGEST = _digest(SOURCES)


class Kept(_FunctionCache):  # type: ignore[misc]
    """The compiled forms of one kernel: one file each, below the folder that Numba would choose for this file.

    A file contains the types that it was compiled for, and is read and written as a whole. So two processes may compile the same
    kernel at once, for the same types or for others. With Numba's own index, one could get the file of the other.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Choose the folder. Raises a RuntimeError where there is none."""
        if not SOURCES:  # the program was packed without its source files
            raise RuntimeError("There are no source files to identify a kernel by.")
        super().__init__(function)
        self._folder = Path(_FunctionCache(_digest).cache_path) / f"kernels-{DIGEST}"
        self._cache_path = str(self._folder)
        self._kernel = f"{function.__module__.removeprefix('tclose.make.')}.{function.__qualname__}"
        self._name = f"{self._kernel}-{self._impl.filename_base.rpartition('-')[2]}"

    def flush(self) -> None:
        """Remove all kernels."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _load_overload(self, signature: Any, context: Any) -> Any:
        """Return the kernel compiled for these types, perhaps by a helper process; None if it is not on the disk."""
        key = self._key(signature, context.codegen())
        wait_for(self._kernel)
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        checksum, data = content[:32], content[32:]
        if hashlib.sha256(data).digest() != checksum:  # damaged
            return None
        found, reduced = pickle.loads(data)
        return self._impl.rebuild(context, reduced) if found == key else None

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a kernel to the disk, unless the disk is full."""
        if not self._impl.check_cachable(compiled):
            return
        key = self._key(signature, compiled.codegen)
        data = _dumps((key, self._impl.reduce(compiled)))
        with writing, suppress(OSError, OutputError):
            if not self._folder.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                _remove_older(self._folder)
            content = hashlib.sha256(data).digest() + data
            write_whole(self._path(key), lambda path: path.write_bytes(content), force=True)

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        """Return what a kernel was compiled for: types, processor and compiler."""
        return (*self._index_key(signature, codegen), VERSIONS)

    def _path(self, key: tuple[Any, ...]) -> Path:
        *types, _ = key  # without the compiler, so that a newer one overwrites the files of an older one
        return self._folder / f"{self._name}.{hashlib.sha256(repr(types).encode()).hexdigest()[:16]}.nbc"


def _remove_older(folder: Path) -> None:
    """Remove the kernels of other states of the source; a process that still runs such a state compiles them again if it must."""
    for other in folder.parent.glob("kernels-*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
