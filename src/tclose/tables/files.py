"""Writing files whole or not at all: one, or several as one act. No existing file is replaced unless the caller asks for it."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tclose.errors import OutputError, OutputExistsError, TcloseError
from tclose.tables.folder_lock import locked, only_writer


def write_whole(path: Path, write: Callable[[Path], object], *, force: bool, private: bool = False) -> None:
    """Write a file by a function that fills a temporary one, then rename it: a reader finds the new file whole, or the old one.

    Parameters
    ----------
    force
        Whether a file that exists may be replaced.
    private
        Whether only its owner may read it.
    """
    with Together(force=force) as files:
        files.stage(path, write, private=private)
        files.commit()


def check_target(path: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Raise OutputError, before long work, for a path that could not be written later.

    Parameters
    ----------
    force
        Whether a file that exists may be replaced.
    inputs
        Files that are read: none of them may be the target. Into a folder that is read nothing is written.
    """
    with _disk_errors_in_one_sentence(path):
        folder = path.absolute().parent
        if not folder.is_dir():
            raise OutputError(
                f"{str(path.parent)!r} is a file, not a folder. Name a folder."
                if folder.exists()
                else f"Folder {str(path.parent)!r} does not exist. Make it first."
            )
        if path.is_dir():
            raise OutputError(f"{str(path)!r} is a folder. Name a file in it.")
        if path.exists() and not path.is_file():  # a rename would put a file where a device was
            raise OutputError(f"{str(path)!r} is a device, not a file. Choose another name.")
        if any(_is_same(path, source) for source in inputs):
            raise OutputError(f"File {str(path)!r} is read as an input, and would be overwritten. Choose another name.")
        if any(source.is_dir() and _is_same(folder, source) for source in inputs):
            raise OutputError(f"Folder {str(path.parent)!r} is read as an input. Write to another folder.")
        if os.path.lexists(path) and not force:
            raise OutputExistsError(path)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"Folder {str(path.parent)!r} is read-only. Choose another, or allow writing there.")


@contextmanager
def one_writer(path: Path) -> Iterator[bool]:
    """Hold the lock of a file inside this block, and yield True; yield False, at once, if another process holds it.

    It is for a file that is written again and again: what two processes write in turns would be a mixture of both.
    """
    with ExitStack() as lock:
        with _disk_errors_in_one_sentence(path):
            held = lock.enter_context(only_writer(path))
        yield held


class Together:
    """Several files as one act: all of them appear, or none.

    Each file is staged: written whole to a temporary file beside its path, where it can be read, to be checked or to be described
    in the next file. ``commit`` renames all, **data last**: the file staged first, and each that is staged as data. So a reader
    who finds the data finds the papers about it. Without a commit, or when it fails, no new file is left, and the older files
    are there as before.

    Older data is removed before the first paper is replaced: a process that is killed in the middle leaves papers without data,
    never older data beside newer papers. If two processes commit to one folder, the second waits for the first.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Together(force=False) as files:
    ...     data = files.stage(folder / "release.csv", lambda path: path.write_text("a\\n1\\n"))
    ...     paper = files.stage(folder / "size.txt", lambda path: path.write_text(str(data.stat().st_size)), private=True)
    ...     files.commit()
    >>> sorted(path.name for path in folder.iterdir())
    ['release.csv', 'size.txt']
    """

    def __init__(self, *, force: bool) -> None:
        """Start with no files to write together.

        Parameters
        ----------
        force
            Whether files that exist may be replaced.
        """
        self._force = force
        self._staged: dict[Path, Path] = {}
        self._data: list[Path] = []
        self._older: dict[Path, Path] = {}
        self._obsolete: list[Path] = []

    def __enter__(self) -> Self:
        """Return the object that stages files; nothing is written yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove the staged files that were not committed, all of them even when that is interrupted."""
        with ExitStack() as removals:
            for beside in (*self._staged.values(), *self._older.values()):
                removals.callback(_remove_quietly, beside)

    def stage(self, path: Path, write: Callable[[Path], object], *, private: bool = False, data: bool = False) -> Path:
        """Write a temporary file beside a path, by the function ``write``, and return the temporary file's path.

        Parameters
        ----------
        path
            Where the file goes when all is committed.
        write
            Called with the path of the temporary file, which exists and is empty.
        private
            Whether only its owner may read the file.
        data
            Whether it is data; the first file always is.
        """
        check_target(path, force=self._force)
        if data or not self._data:
            self._data.append(path)
        beside = self._staged[path] = _temporary_path(path)  # noted before it exists, so that no interruption leaves it behind
        with _disk_errors_in_one_sentence(path):
            with beside.open("xb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o777  # what the umask and the folder give to a new file
            beside.chmod(0o600)
            write(beside)
            beside.chmod(0o600 if private else mode)
            _sync(beside)
        return beside

    def remove(self, path: Path) -> None:
        """Remove an older file that goes with none of the staged ones, when all of these are committed."""
        self._obsolete.append(path)

    def commit(self) -> None:
        """Rename all staged files to their paths, data last; take all back if one cannot be renamed."""
        with ExitStack() as locks:
            for folder, path in sorted({path.absolute().parent: path for path in self._staged}.items()):
                check_target(path, force=True)  # says so if the folder is gone
                with _disk_errors_in_one_sentence(path):
                    locks.enter_context(locked(folder))
            begun: list[Path] = []
            try:
                self._rename_all(begun)
            except BaseException as error:
                if isinstance(error, OSError) or any(beside.exists() for beside in self._staged.values()):
                    self._take_back(begun)  # an interruption after the last replacement comes too late
                raise

    def _rename_all(self, begun: list[Path]) -> None:
        """Rename each staged file to its path, and note in ``begun`` the paths that were touched."""
        for path in self._staged:
            check_target(path, force=self._force)
        papers = [path for path in self._staged if path not in self._data]
        for path in (*self._obsolete, *(self._data if len(self._staged) > 1 else ())):
            if os.path.lexists(path):
                begun.append(path)
                self._older[path] = _temporary_path(path)
                with _disk_errors_in_one_sentence(path):
                    path.rename(self._older[path])
                    _sync_folder(path)
        for path in (*reversed(papers), *reversed(self._data)):
            check_target(path, force=self._force)
            begun.append(path)
            with _disk_errors_in_one_sentence(path):
                if path not in self._older:
                    self._keep_older(path)
                self._staged[path].replace(path)
                _sync_folder(path)

    def _keep_older(self, path: Path) -> None:
        """Give the file that is about to be replaced a second name, so that it can come back if a write fails."""
        if os.path.lexists(path):
            older = self._older[path] = _temporary_path(path)
            try:
                os.link(path, older, follow_symlinks=False)
            except (OSError, NotImplementedError):  # a system without such links
                shutil.copy2(path, older, follow_symlinks=False)

    def _take_back(self, begun: list[Path]) -> None:
        """Undo the renames of the ``begun`` paths, the data's last; raise OutputError if one cannot be undone."""
        left = []
        for path in reversed(dict.fromkeys(begun)):
            older = self._older.get(path)
            replaced = path in self._staged and not self._staged[path].exists()
            try:
                if replaced and older is None:
                    path.unlink(missing_ok=True)
                elif older is not None and (replaced or not os.path.lexists(path)):
                    older.replace(path)
            except OSError:
                self._older.pop(path, None)  # it is all that is left
                if path.absolute().parent.is_dir():
                    left.append(repr(str(path)))
        if left:
            raise OutputError(
                f"Not all files could be written, and {', '.join(left)} could not be taken back. Remove it by hand."
            )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the bytes of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_folder(folder: Path) -> str:
    """Return one SHA-256 of all files of a folder: that of what ``sha256sum *`` prints in it, in hexadecimal."""
    lines = [f"{sha256_of(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


class NewFolder:
    """A folder that is written beside its place, and put there as a whole."""

    def __init__(self, target: Path) -> None:
        """Choose a hidden place beside the target."""
        self._target, self._older = target, _temporary_path(target)
        self.path = _temporary_path(target)

    def retire(self) -> None:
        """Take an older folder away: there is never older data beside newer papers."""
        if self._target.exists():
            self._target.rename(self._older)

    def commit(self) -> None:
        """Put the folder in its place."""
        self.path.rename(self._target)

    def remove(self) -> None:
        """Remove what is left: a folder that was not committed, and an older one; bring that back if there is no other."""
        if not self._target.exists() and self._older.exists():
            self._older.rename(self._target)
        for folder in (self.path, self._older):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_folder(target: Path) -> Iterator[NewFolder]:
    """Yield a folder that is to be put at ``target``; what is not committed is removed."""
    folder = NewFolder(target)
    try:
        yield folder
    finally:
        folder.remove()


def check_new_folder(target: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Raise OutputError, before long work, for a folder that could not be written later; as `check_target` does for a file."""
    if target.is_dir():
        if not force:
            raise OutputExistsError(target)
        if any(_is_same(target, source) for source in inputs):
            raise OutputError(f"Folder {str(target)!r} is read as an input, and would be overwritten. Choose another name.")
    elif target.exists():
        raise OutputError(f"{str(target)!r} is a file, and a folder of files would be written. Choose another name.")
    else:
        check_target(target, force=force, inputs=inputs)


def _temporary_path(path: Path) -> Path:
    """Return a hidden, unpredictable path in the folder of a path, with its suffix, which tells readers the kind of file."""
    return path.with_name(f".tclose-{secrets.token_hex(8)}{path.suffix}")


def _remove_quietly(path: Path) -> None:
    """Remove a temporary file if it exists, and ignore errors of the disk."""
    with suppress(OSError):  # it is gone with its folder
        path.unlink(missing_ok=True)


@contextmanager
def _disk_errors_in_one_sentence(path: Path) -> Iterator[None]:
    """Raise errors of the disk inside this block as OutputError, in one sentence that names the file."""
    try:
        yield
    except TcloseError:
        raise
    except OSError as error:
        reason = error.strerror or "the disk refused it"
        if error.errno == errno.ENOENT and not path.absolute().parent.is_dir():
            reason = "its folder is gone"
        raise OutputError(f"File {str(path)!r} cannot be written: {reason}.") from None


def _sync(path: Path) -> None:
    """Wait until a file's bytes are on the disk: its rename could survive a power cut that the bytes do not."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    """Wait until a rename is on the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths are names of one file, so that an input would be overwritten."""
    one_name = os.path.realpath(path) == os.path.realpath(other)  # Path.resolve raises where a link leads to itself
    return one_name or (path.exists() and other.exists() and path.samefile(other))
