"""Writing files whole or not at all: one, or several as one act."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tclose.errors import OutputError, TcloseError


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside the path, then put it in place: a reader finds all of it, or what was before."""
    with Together(force=True) as files:
        files.stage(path, write)
        files.commit()


def check_target(path: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before long work, what cannot be written later.

    Parameters
    ----------
    force
        Whether a file that exists may be replaced.
    inputs
        Files that are read: none of them may be the target.
    """
    with _told(path):
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
        if os.path.lexists(path) and not force:
            raise OutputError(f"File {str(path)!r} exists. Give --force to replace it.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"Folder {str(path.parent)!r} is read-only. Choose another, or allow writing there.")


class Together:
    """Several files as one act: all of them appear, or none.

    Each file is staged: written whole to a temporary file beside its place, and read from there by whoever wants to check it or
    to write of it in the next. ``commit`` puts all in place, **the one staged first last**: so stage the data first, then the
    papers about it, and whoever finds the data finds its papers. Without a commit, or when it fails, nothing is left and what
    was there before is there again.

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
        """Begin.

        Parameters
        ----------
        force
            Whether files that exist may be replaced.
        """
        self._force = force
        self._staged: dict[Path, Path] = {}
        self._older: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        """Nothing is written yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove what was staged and not put in place."""
        for beside in (*self._staged.values(), *self._older.values()):
            with suppress(OSError):  # a folder that is gone took them along
                beside.unlink(missing_ok=True)

    def stage(self, path: Path, write: Callable[[Path], object], *, private: bool = False) -> Path:
        """Let ``write`` fill a temporary file with the suffix of the path; give back where it is.

        Parameters
        ----------
        path
            Where the file goes when all is committed.
        write
            Called with the temporary file, which is there and empty.
        private
            Whether only its owner may read the file.
        """
        check_target(path, force=self._force)
        beside = self._staged[path] = _beside(path)  # noted before it is there, so that no interruption leaves it behind
        with _told(path):
            with beside.open("xb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o777  # what the umask and the folder give to a new file
            beside.chmod(0o600)
            write(beside)
            beside.chmod(0o600 if private else mode)
            _sync(beside)
        return beside

    def commit(self) -> None:
        """Put all files in place, the one staged first last."""
        begun: list[Path] = []
        try:
            for path, beside in reversed(self._staged.items()):
                check_target(path, force=self._force)
                begun.append(path)
                with _told(path):
                    self._keep_older(path)
                    beside.replace(path)
                    _sync_folder(path)
        except BaseException as error:
            if isinstance(error, OSError) or any(beside.exists() for beside in self._staged.values()):
                self._take_back(begun)  # an interruption after the last replacement comes too late
            raise

    def _keep_older(self, path: Path) -> None:
        """A second name for the file that is about to be replaced; the first is never absent."""
        if os.path.lexists(path):
            older = self._older[path] = _beside(path)
            try:
                os.link(path, older, follow_symlinks=False)
            except (OSError, NotImplementedError):  # a system without such links
                shutil.copy2(path, older, follow_symlinks=False)

    def _take_back(self, begun: list[Path]) -> None:
        """Undo replacements; which of them happened is asked of the disk, for an interruption may come anywhere."""
        left = []
        for path in reversed(begun):
            try:
                if self._staged[path].exists():
                    continue
                if path in self._older:
                    self._older[path].replace(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError:
                if path.absolute().parent.is_dir():
                    left.append(repr(str(path)))
        if left:
            raise OutputError(
                f"Not all files could be written, and {', '.join(left)} could not be taken back. Remove it by hand."
            )


class FileTooLargeError(OSError):
    """A file has more bytes than its kind may have."""


def read_at_most(path: Path, most: int) -> bytes:
    """Return the bytes of a file that has at most ``most`` of them: a name may lead to a device that never ends."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileTooLargeError(errno.EFBIG, os.strerror(errno.EFBIG))
    return content


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _beside(path: Path) -> Path:
    """A name in the same folder, hidden and not to be guessed, with the same suffix: readers go by it."""
    return path.with_name(f".tclose-{secrets.token_hex(8)}{path.suffix}")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """A refusal of the disk as one sentence."""
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
    """Wait until a file is on the disk: a rename before that could survive a power cut that its content does not."""
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
    """Whether two paths are one file, by whatever names."""
    return path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other))
