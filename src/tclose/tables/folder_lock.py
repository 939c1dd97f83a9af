"""A lock on a folder: one of several writers goes first, and the others wait.

The lock is a hidden file in the folder that a process has locked. The system opens the lock when the process ends, however it
ends: a killed process leaves a file that nobody has locked, and the next writer uses it and removes it. Some network drives have
no locks: writers to such a folder are not kept apart.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = ".tclose-lock"

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""In a folder that others may write to, a link of this name could lead to a file of ours."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside this block: the process is the only writer, after all earlier ones."""
    path = folder / NAME
    descriptor = _acquire_lock(path)
    try:
        yield
    finally:
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(descriptor)
            _remove_quietly(path)
        else:
            _remove_quietly(path)  # before the lock is opened: a waiting writer sees that this file is gone, and makes another
            os.close(descriptor)


def _acquire_lock(path: Path) -> int:
    """Return the descriptor of a folder's lock file, opened and locked."""
    while True:
        descriptor = _open_lock_file(path)
        try:
            _wait_and_lock(descriptor)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _open_lock_file(path: Path) -> int:
    """Return the descriptor of a folder's lock file; a file that does not exist is made, and each user may lock it."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            with suppress(FileNotFoundError):  # removed in between
                return os.open(path, os.O_RDWR | _NO_LINK)
        else:
            if sys.platform != "win32":
                os.fchmod(descriptor, 0o666)  # each user who may write in the folder may wait for it
            return descriptor


if sys.platform == "win32":
    import msvcrt

    def _wait_and_lock(descriptor: int) -> None:
        """Wait until no other process has locked a folder's lock file, and lock it."""
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != errno.EDEADLOCK:  # raised after ten seconds of waiting
                    raise

else:
    import fcntl

    def _wait_and_lock(descriptor: int) -> None:
        """Wait until no other process has locked a folder's lock file, and lock it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise


def _remove_quietly(path: Path) -> None:
    """Remove the lock file, and ignore errors of the disk."""
    with suppress(OSError):
        path.unlink()
