"""Locks on a folder, where one of several writers goes first and the others wait, and on one file, where the others are refused.

The lock is a hidden file in the folder that a process has locked. The system opens the lock when the process ends, however it
ends: a killed process leaves a file that nobody has locked, and the next writer uses it and removes it. Some network drives have
no locks: writers to such a folder are not kept apart.
"""

from __future__ import annotations

import errno
import hashlib
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
    with _held(folder / NAME, wait=True):
        yield


@contextmanager
def only_writer(path: Path) -> Iterator[bool]:
    """Hold the lock of a file inside this block, and yield True; yield False, at once, if another writer holds it."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()  # a longer name might be too long for a file
    with _held(path.with_name(f"{NAME}-{digest[:16]}"), wait=False) as held:
        yield held


@contextmanager
def _held(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a lock file inside this block, and yield True; without waiting, yield False if another writer holds it."""
    descriptor = _acquire_lock(path, wait=wait)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        if sys.platform == "win32":  # an open file cannot be removed there
            os.close(descriptor)
            _remove_quietly(path)
        else:
            _remove_quietly(path)  # before the lock is opened: a waiting writer sees that this file is gone, and makes another
            os.close(descriptor)


def _acquire_lock(path: Path, *, wait: bool) -> int | None:
    """Return the descriptor of a lock file, opened and locked; without waiting, None if another writer holds it."""
    while True:
        descriptor = _open_lock_file(path)
        try:
            held = _lock(descriptor, wait=wait)
            with suppress(FileNotFoundError):
                if held and os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not held:
            return None


def _open_lock_file(path: Path) -> int:
    """Return the descriptor of a lock file; one that does not exist is made, and each user may lock it."""
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

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Lock a lock file, after all other processes or at once, and return whether it is locked."""
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if not wait and error.errno == errno.EACCES:
                    return False
                if not wait or error.errno != errno.EDEADLOCK:  # raised after ten seconds of waiting
                    raise
            else:
                return True

else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> bool:
        """Lock a lock file, after all other processes or at once, and return whether it is locked."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True


def _remove_quietly(path: Path) -> None:
    """Remove the lock file, and ignore errors of the disk."""
    with suppress(OSError):
        path.unlink()
