"""Files are written whole or not at all: one, or several as one act; whatever fails, whenever it fails."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tclose.errors import OutputError
from tclose.tables.files import Together, check_target, write_whole

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, limits and signals of POSIX")


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(OutputError) as caught:
        act()
    return str(caught.value)


def found(folder: Path) -> dict[str, str]:
    """All files of a folder, hidden ones too."""
    return {path.name: path.read_text() for path in folder.iterdir()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def release(folder: Path, content: str = "new", *, force: bool = False) -> None:
    with Together(force=force) as files:
        data = files.stage(folder / "release.csv", text(content))
        for name in ("record.json", "certificate.json"):
            files.stage(folder / name, text(f"{content} of {data.stat().st_size}"), private=name == "record.json")
        files.commit()


NEW = {"release.csv": "new", "record.json": "new of 3", "certificate.json": "new of 3"}
OLD = {"release.csv": "old", "record.json": "old of 3", "certificate.json": "old of 3"}


# One file


def test_a_file_appears_and_replaces(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", text("first"), force=False)
    write_whole(tmp_path / "a.txt", text("second"), force=True)
    assert found(tmp_path) == {"a.txt": "second"}


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_a_writer_that_fails_leaves_what_was_before(tmp_path: Path, failure: type[BaseException]) -> None:
    def write(path: Path) -> None:
        path.write_text("half")
        raise failure

    write_whole(tmp_path / "a.txt", text("first"), force=False)
    with pytest.raises(failure):
        write_whole(tmp_path / "a.txt", write, force=True)
    assert found(tmp_path) == {"a.txt": "first"}


def test_the_longest_name_that_the_disk_takes(tmp_path: Path) -> None:
    write_whole(tmp_path / f"{'n' * 250}.txt", text("x"), force=False)
    assert refused(lambda: write_whole(tmp_path / f"{'n' * 300}.txt", text("x"), force=False)).endswith(
        "cannot be written: File name too long."
    )


@needs_posix
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_the_umask_is_honoured_and_nobody_reads_before_the_end(tmp_path: Path, umask: int, expected: int) -> None:
    seen = []
    before = os.umask(umask)
    try:
        with Together(force=False) as files:
            for name, private in (("open.csv", False), ("private.json", True)):
                files.stage(tmp_path / name, lambda path: seen.append(mode(path)), private=private)
            files.commit()
    finally:
        os.umask(before)
    assert seen == [0o600, 0o600]
    assert (mode(tmp_path / "open.csv"), mode(tmp_path / "private.json")) == (expected, 0o600)


# Several files


def test_all_files_appear(tmp_path: Path) -> None:
    release(tmp_path)
    assert found(tmp_path) == NEW


def test_what_is_staged_is_hidden_beside_its_place_and_has_its_suffix(tmp_path: Path) -> None:
    with Together(force=False) as files:
        staged = files.stage(tmp_path / "release.csv", text("x"))
        assert (staged.parent, staged.suffix, staged.name[0]) == (tmp_path, ".csv", ".")
        assert staged.name != files.stage(tmp_path / "other.csv", text("x")).name
        assert not (tmp_path / "release.csv").exists()
    assert found(tmp_path) == {}, "nothing was committed"


def test_the_data_is_put_in_place_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order, replace = [], Path.replace

    def noted(path: Path, target: Path) -> Path:
        order.append(target.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", noted)
    release(tmp_path)
    assert order == ["certificate.json", "record.json", "release.csv"]


REFUSED, INTERRUPTED = PermissionError(13, "Permission denied"), KeyboardInterrupt()


@pytest.mark.parametrize("before", [{}, OLD], ids=["nothing before", "older files before"])
@pytest.mark.parametrize("when", range(3))
@pytest.mark.parametrize(
    ("failure", "done"),
    [(REFUSED, False), (INTERRUPTED, False), (INTERRUPTED, True)],
    ids=["refused", "interrupted before", "interrupted after, before the next line runs"],
)
def test_a_commit_that_fails_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, str], when: int, failure: BaseException, done: bool
) -> None:
    calls, replace = iter(range(100)), Path.replace

    def failing(path: Path, target: Path) -> Path:
        fails = next(calls) == when
        if fails and not done:
            raise failure
        result = replace(path, target)
        if fails:
            raise failure
        return result

    if before:
        release(tmp_path, "old")
    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        release(tmp_path, force=True)
    monkeypatch.undo()
    complete = done and when == 2  # all were in place: too late to take back
    assert found(tmp_path) == (NEW if complete else before)


@pytest.mark.parametrize("failure", [None, REFUSED, INTERRUPTED])
def test_an_obsolete_file_is_removed_when_all_new_ones_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException | None
) -> None:
    release(tmp_path, "old")
    (tmp_path / "obsolete.csv").write_text("old")

    def sync(path: Path) -> None:
        if failure is not None and path.name == "release.csv":
            raise failure

    monkeypatch.setattr("tclose.tables.files._sync_folder", sync)
    with Together(force=True) as files:
        files.stage(tmp_path / "release.csv", text("new"))
        files.stage(tmp_path / "certificate.json", text("new"))
        files.remove(tmp_path / "obsolete.csv")
        files.remove(tmp_path / "gone.csv")  # somebody else has removed it
        assert (tmp_path / "obsolete.csv").exists()
        with nullcontext() if failure is None else pytest.raises((OutputError, KeyboardInterrupt)):
            files.commit()
    new = {"release.csv": "new", "certificate.json": "new"}
    assert found(tmp_path) == (OLD | new if failure is None else {**OLD, "obsolete.csv": "old"})


def test_older_files_come_back_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(tmp_path, "old")
    monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(OSError(95, "Operation not supported")))
    (tmp_path / "sub").mkdir()
    with pytest.raises(OutputError), Together(force=True) as files:  # noqa: PT012
        files.stage(tmp_path / "sub" / "data.csv", text("x"))
        files.stage(tmp_path / "release.csv", text("new"))
        shutil.rmtree(tmp_path / "sub")
        files.commit()
    assert found(tmp_path) == OLD


def test_what_cannot_be_taken_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def failing(path: Path, target: Path) -> Path:
        if target.name == "record.json":
            raise OSError(5, "Input/output error")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", failing)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    assert refused(lambda: release(tmp_path)) == (
        f"Not all files could be written, and '{tmp_path / 'certificate.json'}' could not be taken back. Remove it by hand."
    )


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"exists\. Give force=True to replace it\.$"), Together(force=False) as files:  # noqa: PT012
        files.stage(tmp_path / "release.csv", text("mine"))
        (tmp_path / "release.csv").write_text("another's")
        files.commit()
    assert found(tmp_path) == {"release.csv": "another's"}


def test_a_link_is_replaced_and_what_it_names_stays(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("real")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_whole(tmp_path / "link.csv", text("new"), force=True)
    assert found(tmp_path) == {"real.csv": "real", "link.csv": "new"}


# What is refused before long work


def test_good_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.csv").write_text("")
    check_target(tmp_path / "new.csv", force=False, inputs=[tmp_path / "old.csv"])
    check_target(tmp_path / "old.csv", force=True)
    monkeypatch.chdir(tmp_path)
    check_target(Path("new.csv"), force=False)


def test_bad_targets(tmp_path: Path) -> None:
    old = tmp_path / "old.csv"
    old.write_text("")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "hard.csv").hardlink_to(old)

    def sentence(path: Path, *, force: bool = False, inputs: tuple[Path, ...] = ()) -> str:
        return refused(lambda: check_target(path, force=force, inputs=inputs))

    assert sentence(tmp_path / "no" / "x.csv") == f"Folder '{tmp_path / 'no'}' does not exist. Make it first."
    assert sentence(old / "x.csv") == f"'{old}' is a file, not a folder. Name a folder."
    assert sentence(tmp_path, force=True) == f"'{tmp_path}' is a folder. Name a file in it."
    assert sentence(old) == f"File '{old}' exists. Give force=True to replace it."
    assert sentence(tmp_path / "dangling.csv").endswith("exists. Give force=True to replace it.")
    for same in (old, tmp_path / "hard.csv", tmp_path / "." / "old.csv"):
        assert sentence(same, force=True, inputs=(old,)) == (
            f"File '{same}' is read as an input, and would be overwritten. Choose another name."
        )


@needs_posix
def test_a_device_is_no_target() -> None:
    assert (
        refused(lambda: write_whole(Path("/dev/null"), text("x"), force=True))
        == "'/dev/null' is a device, not a file. Choose another name."
    )
    assert not Path("/dev/null").is_file()


# The disk


@pytest.fixture
def everyones() -> Iterator[Path]:
    """A folder that other users can look into; pytest's own they cannot."""
    folder = Path(tempfile.mkdtemp(prefix="tclose-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(code: str, *arguments: str | Path) -> str:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@needs_posix
def test_a_read_only_folder(everyones: Path) -> None:
    (everyones / "closed").mkdir(mode=0o555)
    code = """
import os, sys
from pathlib import Path
from tclose.tables.files import write_whole
from tclose.errors import OutputError
if os.geteuid() == 0:  # root may write everywhere
    os.setgid(65534); os.setuid(65534)
try:
    write_whole(Path(sys.argv[1]), lambda path: path.write_text("x"), force=False)
except OutputError as error:
    print(error)
"""
    closed = everyones / "closed"
    assert run(code, closed / "x.csv") == f"Folder '{closed}' is read-only. Choose another, or allow writing there."
    (everyones / "hidden").mkdir(mode=0o700)
    if os.geteuid() == 0:
        assert run(code, everyones / "hidden" / "x.csv").endswith("cannot be written: Permission denied.")


def test_a_folder_that_vanishes(tmp_path: Path) -> None:
    folder = tmp_path / "gone"

    def vanish(path: Path) -> None:
        shutil.rmtree(folder)
        path.write_text("x")

    folder.mkdir()
    assert refused(lambda: write_whole(folder / "x.csv", vanish, force=False)) == (
        f"File '{folder / 'x.csv'}' cannot be written: its folder is gone."
    )
    folder.mkdir()
    with pytest.raises(OutputError, match=r"does not exist\. Make it first\.$"), Together(force=False) as files:  # noqa: PT012
        files.stage(folder / "x.csv", text("x"))
        shutil.rmtree(folder)
        files.commit()
    assert found(tmp_path) == {}


FILLING = """
import sys
from pathlib import Path
from tclose.tables.files import Together
from tclose.errors import OutputError
def release(folder):
    try:
        with Together(force=False) as files:
            files.stage(folder / "small.csv", lambda path: path.write_text("x"))
            files.stage(folder / "large.csv", lambda path: path.write_text("x" * 1_000_000))
            files.commit()
    except OutputError as error:
        print(error, list(folder.iterdir()))
"""


@needs_posix
def test_a_limit_on_the_size_of_files(tmp_path: Path) -> None:
    code = (
        f"{FILLING}\nimport resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\nrelease(Path(sys.argv[1]))"
    )
    assert run(code, tmp_path) == f"File '{tmp_path / 'large.csv'}' cannot be written: File too large. []"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux mounts a small disk")
def test_a_full_disk(tmp_path: Path) -> None:
    # In a namespace of its own: the mount ends with the process.
    code = (
        "import subprocess, sys\n"
        "if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', sys.argv[1]], stderr=-3).returncode: sys.exit(7)\n"
        f"{FILLING}\nrelease(Path(sys.argv[1]))"
    )
    unshare = shutil.which("unshare") or pytest.skip("this system has no unshare")
    done = subprocess.run([unshare, "-m", sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    if done.returncode and not done.stdout:
        pytest.skip("this system does not let us mount")
    assert done.stdout.strip() == f"File '{tmp_path / 'large.csv'}' cannot be written: No space left on device. []"
