"""Sets of files beside other writers and under kills: a reader finds the older set, the newer one, or no data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import tclose as tc
from tclose.tables.files import Together, sha256_of, write_whole
from tclose.tables.folder_lock import NAME, locked, only_writer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and signals of POSIX")

SETS = """
import json, os, sys
from pathlib import Path
from tclose.tables.files import Together

NAMES = ("release.csv", "release.csv.certificate.json", "release.csv.private.json", "release.csv.codebook.md")


def write(folder, content):
    with Together(force=True) as files:
        for name in NAMES:
            files.stage(folder / name, lambda path: path.write_text(content))
        files.commit()


def found(folder):
    return {name: (folder / name).read_text() for name in NAMES if (folder / name).exists()}
"""

DISTURBED = f"""{SETS}
from tclose.errors import OutputError

os.fsync = lambda descriptor: None  # no power is cut here
folder, before, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
states, operation = [], 0
while True:
    for path in folder.iterdir():
        path.unlink()
    if before:
        write(folder, before)
    child = os.fork()
    if child == 0:
        seen = 0

        def hook(event, arguments):
            global seen
            if event.startswith(("open", "os.", "shutil.")) and str(folder) in str(arguments):
                seen += 1
                if seen == operation + 1:
                    if how == "killed":
                        os._exit(9)  # nothing is tidied up
                    raise KeyboardInterrupt if how == "interrupted" else OSError(5, "Input/output error")

        sys.addaudithook(hook)
        try:
            write(folder, "new")
        except (OutputError, KeyboardInterrupt):
            pass
        os._exit(0 if seen <= operation else 9)
    _, status = os.waitpid(child, 0)
    states.append([found(folder), len(os.listdir(folder))])
    write(folder, "newest")  # what is left is no hindrance
    assert set(found(folder).values()) == {{"newest"}}
    assert not (folder / ".tclose-lock").exists()
    if status == 0:
        break
    operation += 1
print(json.dumps(states))
"""


def run(code: str, *arguments: str | Path) -> str:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize("before", ["old", ""])
@pytest.mark.parametrize("how", ["killed", "interrupted", "refused"])
def test_a_set_that_is_disturbed_at_every_operation_on_a_file(tmp_path: Path, before: str, how: str) -> None:
    """After a kill the data is there with papers about it, or it is not there. All else is taken back, or complete."""
    states = json.loads(run(DISTURBED, tmp_path, before, how))
    assert len(states) > 20
    for state, files in states:
        kinds = set(state.values())
        assert "release.csv" not in state or (len(state) == 4 and kinds in ({"old"}, {"new"}))
        if how != "killed":
            assert kinds in ({before} if before else set(), {"new"})
        if how == "interrupted":
            assert files - len(state) <= 1, "an interruption of the tidying itself may leave one"
    assert set(states[0][0].values()) == ({before} if before else set())
    assert set(states[-1][0].values()) == {"new"}


IN_STEP = f"""{SETS}
import fcntl

folder, replace, flock = Path(sys.argv[1]), Path.replace, fcntl.flock
(first_says, first_told), (second_says, second_told), (leave_says, leave_told) = os.pipe(), os.pipe(), os.pipe()
first = os.fork()
if first == 0:

    def halt(path, target):
        if target.name == "release.csv.certificate.json":  # some papers are in place, others and the data are not
            os.write(first_told, b"!")
            os.read(leave_says, 1)
        return replace(path, target)

    Path.replace = halt
    write(folder, "first")
    os._exit(0)
os.read(first_says, 1)
second = os.fork()
if second == 0:

    def told(*arguments):
        os.write(second_told, b"waits")
        return flock(*arguments)

    fcntl.flock = told
    write(folder, "second")
    os.write(second_told, b"is done")
    os._exit(0)
print(os.read(second_says, 100).decode())
os.write(leave_told, b"!")
assert os.waitpid(first, 0)[1] == os.waitpid(second, 0)[1] == 0
print(json.dumps(found(folder)), os.listdir(folder).sort() or len(os.listdir(folder)))
"""


def test_of_two_writers_the_second_waits_and_its_set_is_whole(tmp_path: Path) -> None:
    """The first is halted in the middle; the second comes, and must wait."""
    said, state = run(IN_STEP, tmp_path).splitlines()
    assert said == "waits"
    assert set(json.loads(state.rpartition(" ")[0]).values()) == {"second"}
    assert state.endswith(" 4"), "nothing else is left"


def test_the_lock_of_a_dead_process_is_no_lock(tmp_path: Path) -> None:
    code = "import os, sys\nfrom pathlib import Path\nfrom tclose.tables.folder_lock import locked\nwith locked(Path(sys.argv[1])):\n    os._exit(0)"
    run(code, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    with locked(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert list(tmp_path.iterdir()) == []


def test_whoever_waited_for_a_lock_that_is_gone_makes_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening the file and locking it, its owner may have removed it."""
    taken: list[int] = []

    def lock(descriptor: int, *, wait: bool) -> bool:
        if not taken:
            (tmp_path / NAME).unlink()
        taken.append(descriptor)
        return wait

    monkeypatch.setattr("tclose.tables.folder_lock._lock", lock)
    with locked(tmp_path):
        assert (tmp_path / NAME).stat().st_ino == os.fstat(taken[-1]).st_ino
    assert len(taken) == 2


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    """In a folder of many, somebody could lay a link to a file of ours there, and it would be open to all."""
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    secret.chmod(0o600)
    shared = tmp_path / "shared"
    shared.mkdir()
    for target in (secret, tmp_path / "absent"):
        (shared / NAME).symlink_to(target)
        with pytest.raises(tc.OutputError, match="cannot be written"):
            write_whole(shared / "a.txt", lambda path: path.write_text("x"), force=False)
        assert (shared / NAME).is_symlink()
        (shared / NAME).unlink()
    assert secret.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "absent").exists()
    os.link(secret, shared / NAME)
    with locked(shared):
        assert secret.stat().st_mode & 0o777 == 0o600


def test_a_disk_without_locks_is_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", lambda *_: (_ for _ in ()).throw(OSError(37, "No locks available")))
    with Together(force=False) as files:
        files.stage(tmp_path / "a.txt", lambda path: path.write_text("x"))
        files.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


# Who may replace what


def test_a_policy_replaces_a_file_only_if_that_is_asked(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("x;*\ny;*\n")
    policy = tc.Policy(["q"], [tc.Sensitive("s", hierarchy=tmp_path / "tree.csv")])
    policy.save(tmp_path / "policy.yaml")
    with pytest.raises(tc.OutputError, match=r"exists\. Give force=True to replace it\.$"):
        policy.save(tmp_path / "policy.yaml")
    policy.save(tmp_path / "policy.yaml", force=True)
    with pytest.raises(tc.OutputError, match="is read as an input"):
        policy.save(tmp_path / "tree.csv", force=True)
    assert (tmp_path / "tree.csv").read_text() == "x;*\ny;*\n"


def test_a_release_is_never_written_over_what_it_was_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    contents = {"table.csv": "q,s\n1,x\n1,y\n2,x\n2,y\n", "tree.csv": "x;*\ny;*\n"}
    for name, content in contents.items():
        Path(name).write_text(content)
    policy = tc.Policy(["q"], [tc.Sensitive("s", t=1, hierarchy="tree.csv")], k=2)
    release = tc.anonymize("table.csv", policy)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for name, content in contents.items():
        with pytest.raises(tc.OutputError, match="is read as an input"):
            release.write(tmp_path / name, force=True)
        assert (tmp_path / name).read_text() == content
    release.write("release.csv")
    with pytest.raises(FileExistsError, match=r"exists\. Give force=True to replace it\.$"):
        release.write("release.csv")
    assert len(release.write("release.csv", force=True)) == 4


def test_the_papers_tell_which_release_they_are_about(tmp_path: Path) -> None:
    table = pa.table({"q": [1, 1, 2, 2], "s": ["x", "y", "x", "y"]})
    data, *papers = tc.anonymize(table, tc.Policy(["q"], {"s": 1}, k=2)).write(tmp_path / "release.csv")
    assert all(sha256_of(data) in paper.read_text() for paper in papers)
    assert papers[2].read_text().endswith(f"\nsha256 of the release: {sha256_of(data)}\n")


def test_a_file_has_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    with only_writer(path) as first:
        assert first
        with only_writer(path) as second, only_writer(tmp_path / "other.json") as elsewhere:
            assert (second, elsewhere) == (False, True)
    with only_writer(path) as again:
        assert again
    assert list(tmp_path.iterdir()) == []
