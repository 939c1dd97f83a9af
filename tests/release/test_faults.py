"""What goes wrong while a release is made: kills, full disks, folders that go away, Ctrl-C. The release is whole, or not there.

All of it through the real command line, in processes of their own.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import pickle
import random
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.jobs import Job, announce
from tclose.make.kernels.running import run
from tclose.make.registry import ALGORITHMS
from tclose.release.verify import verify
from tests.support.processes import COMPILING, POLICY, assert_says_interrupted, finish, names, start, write_people

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="modes, limits and signals of POSIX"),
    pytest.mark.usefixtures("warm"),
]

ROWS = 30_000
PAPERS = ("release.csv.certificate.json", "release.csv.codebook.md", "release.csv.private.json")


@dataclass(frozen=True)
class Case:
    """A table, a policy, and what an undisturbed run makes of them."""

    table: Path
    policy: Path
    sha256: str

    def command(self, out: Path, *more: str) -> list[str]:
        """With mondrian unless something else is asked: it is sooner at what is tested here."""
        return ["anonymize", str(self.table), "-p", str(self.policy), "-o", str(out), "--algorithm", "mondrian", *more]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory, warm: None) -> Case:
    """Made once."""
    folder = tmp_path_factory.mktemp("case")
    write_people(folder / "table.csv", ROWS)
    (folder / "policy.yaml").write_text(POLICY)
    made = Case(folder / "table.csv", folder / "policy.yaml", "")
    done = finish(start("-m", "tclose", *made.command(folder / "release.csv")))
    assert (done.returncode, done.stderr) == (0, "")
    return replace(made, sha256=sha256(folder / "release.csv"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def assert_whole(folder: Path, expected: str) -> None:
    """The release is the one that an undisturbed run makes, and its papers are about it."""
    assert {"release.csv", *PAPERS} <= set(names(folder))
    assert sha256(folder / "release.csv") == expected
    assert verify(folder / "release.csv", folder / PAPERS[0]).holds


def assert_refused(done: subprocess.CompletedProcess[str], sentence: str, folder: Path) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {sentence}\n")
    assert names(folder) == []


# Kills -----------------------------------------------------------------------------------------------------------------------

KILLER = """
import json, os, pickle, shutil, sys
from hashlib import sha256
from pathlib import Path
import tclose.tables.files, tclose.release.release, tclose.tables.duckdb, tclose.release.anonymize

release, older, folder, kills = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
out = folder / "release.csv"


def attempt(last):
    \"""Write the release, and be killed before one of the operations on files, counted from 0.\"""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(older, folder)
    read, pipe = os.pipe()
    child = os.fork()  # nothing has started a thread yet
    if child == 0:
        seen = 0

        def hook(event, arguments):
            nonlocal seen
            if event.startswith(("open", "os.")) and str(folder) in str(arguments):
                if seen == last:
                    os._exit(9)  # nothing is tidied up
                seen += 1

        made = pickle.loads(release.read_bytes())
        sys.addaudithook(hook)
        made.write(out, force=True)
        os.write(pipe, str(seen).encode())
        os._exit(0)
    os.close(pipe)
    seen = os.read(read, 100)
    os.close(read)
    os.waitpid(child, 0)
    papers = [path for path in folder.glob("release.csv.*")]
    data = sha256(out.read_bytes()).hexdigest() if out.exists() else ""
    return seen.decode(), data, {path.name: data != "" and data in path.read_text() for path in papers}


operations, data, papers = attempt(-1)
moments = [int(operations) * moment // kills for moment in range(kills)]
print(json.dumps({"all": [data, papers], "killed": [attempt(moment)[1:] for moment in moments]}))
"""


@pytest.mark.parametrize("how", ["new", "force"])
def test_killed_at_any_moment_of_the_writing(case: Case, tmp_path: Path, how: str) -> None:
    """At moments that are counted in operations on files, from the first to the last."""
    policy, before = tc.Policy.load(case.policy), ""
    (tmp_path / "older").mkdir()
    write_people(tmp_path / "table.csv", 300)
    if how == "force":
        path = tc.anonymize(tmp_path / "table.csv", replace(policy, k=9)).write(tmp_path / "older" / "release.csv")[0]
        before = sha256(path)
    (tmp_path / "pickle").write_bytes(pickle.dumps(tc.anonymize(tmp_path / "table.csv", policy, algorithm="mondrian")))
    done = finish(start("-c", KILLER, tmp_path / "pickle", tmp_path / "older", tmp_path / "folder", "8"))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    data, papers = found["all"]
    assert (set(papers), set(papers.values())) == (set(PAPERS), {True})
    assert data != before
    for killed, papers in found["killed"]:
        assert killed in ("", before, data), "the data is what it was, or whole, or not there"
        assert killed == "" or (set(papers), set(papers.values())) == (set(PAPERS), {True}), "and its papers are about it"
    assert found["killed"][0][0] == before


@pytest.mark.long
@pytest.mark.parametrize("stage", ["Partitioning", "Reading back"])
def test_killed_at_each_stage_of_the_whole_run(case: Case, tmp_path: Path, stage: str) -> None:
    process = start("-c", AT_A_STAGE, "tell", "", *case.command(tmp_path / "release.csv"))
    wait_for(stage, process)
    process.kill()
    finish(process)
    if (tmp_path / "release.csv").exists():  # it was done before the kill came
        assert_whole(tmp_path, case.sha256)
    done = finish(start("-m", "tclose", *case.command(tmp_path / "release.csv", "--force")))  # what kills left is no hindrance
    assert (done.returncode, done.stderr) == (0, "")
    assert_whole(tmp_path, case.sha256)


# The disk --------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux mounts a small disk")
@pytest.mark.parametrize("room_for", ["nothing", "the data"])
def test_a_full_disk(case: Case, tmp_path: Path, room_for: str) -> None:
    # In a namespace of its own: the mount ends with the process. A second process in it looks at what is left.
    disk = tmp_path / "disk"
    disk.mkdir()
    size = 64 if room_for == "nothing" else (case.table.parent / "release.csv").stat().st_size // 1024 + 8
    code = (
        "import subprocess, sys, pathlib\n"
        f"if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size={size}k', 'none', sys.argv[1]], stderr=-3).returncode: sys.exit(7)\n"
        "done = subprocess.run([sys.executable, '-m', 'tclose', *sys.argv[2:]])\n"
        "print([path.name for path in pathlib.Path(sys.argv[1]).iterdir()])\n"
        "sys.exit(done.returncode)\n"
    )
    unshare = shutil.which("unshare") or pytest.skip("this system has no unshare")
    command = [unshare, "-m", sys.executable, "-c", code, str(disk), *case.command(disk / "release.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (1, 7) and not done.stdout:
        pytest.skip("this system does not let us mount")
    assert (done.returncode, done.stdout) == (2, "[]\n")
    assert done.stderr.startswith(f"Error: File '{disk / 'release.csv'}")
    assert done.stderr.endswith("cannot be written: No space left on device.\n")
    assert done.stderr.count("\n") == 1


def test_a_limit_on_the_size_of_files(case: Case, tmp_path: Path) -> None:
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10**5,) * 2); from tclose.cli import main; main()"
    done = finish(start("-c", code, *case.command(tmp_path / "release.csv")))
    assert_refused(done, f"File '{tmp_path / 'release.csv'}' cannot be written: File too large.", tmp_path)


AT_A_STAGE = """
import os, shutil, sys
from tclose.cli import main, screen

wanted, act, Job = sys.argv.pop(1), sys.argv.pop(1), screen.Job


def telling(hear):
    def heard(stage, figure):
        if wanted == "tell":
            os.write(1, f"{stage} {figure}".rstrip().encode() + b"\\n")
        elif wanted == stage:
            shutil.rmtree(act)
        hear(stage, figure)
    return Job(heard)


screen.Job = telling
main()
"""


@pytest.mark.parametrize("stage", ["Writing", "Reading back"])
def test_a_folder_that_vanishes(case: Case, tmp_path: Path, stage: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = finish(start("-c", AT_A_STAGE, stage, folder, *case.command(folder / "release.csv")))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(("Error: File", "Error: Folder", "Error: The release cannot be read back from its folder"))
    assert done.stderr.count("\n") == 1
    assert names(tmp_path) == []


@pytest.fixture
def everyones() -> Iterator[Path]:
    """A folder that other users can look into; pytest's own they cannot."""
    folder = Path(tempfile.mkdtemp(prefix="tclose-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_folder(everyones: Path) -> None:
    write_people(everyones / "table.csv", 50)
    (everyones / "policy.yaml").write_text(POLICY)
    closed = everyones / "closed"
    closed.mkdir(mode=0o555)
    code = """
import os, sys
from typer.testing import CliRunner
from tclose.cli import app, main
CliRunner().invoke(app, [*sys.argv[1:], "--out", "release.xlsx"])  # loads what another user may not be able to load
if os.geteuid() == 0:  # root may write everywhere
    os.setgid(65534); os.setuid(65534)
main()
"""
    command = Case(everyones / "table.csv", everyones / "policy.yaml", "").command(closed / "release.csv")
    done = finish(start("-c", code, *command))
    assert_refused(done, f"Folder '{closed}' is read-only. Choose another, or allow writing there.", closed)


def test_targets_that_are_refused_before_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, policy = tmp_path / "table.csv", tmp_path / "policy.yaml"
    write_people(table, 50)
    (tmp_path / "zip.csv").write_text("".join(f"{47600 + number};*\n" for number in range(60)))
    policy.write_text(POLICY.replace("prefixes", "zip.csv"))
    (tmp_path / "older.csv").write_text("older")
    (tmp_path / "half.csv.certificate.json").write_text("older")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("tclose.release.anonymize.anonymize", None)  # it must not be called
    read = "is read as an input, and would be overwritten. Choose another name."
    ends = ".csv, .parquet, .arrow or .feather"
    for out, more, sentence in (
        (tmp_path / "no" / "release.csv", "", f"Folder '{tmp_path / 'no'}' does not exist. Make it first."),
        (tmp_path / "older.csv", "", f"File '{tmp_path / 'older.csv'}' exists. Give --force to replace it. Nothing was written."),
        (
            tmp_path / "half.csv",
            "",
            f"File '{tmp_path / 'half.csv.certificate.json'}' exists. Give --force to replace it. Nothing was written.",
        ),
        (table, "--force", f"File '{table}' {read}"),
        (tmp_path / "zip.csv", "--force", f"File '{tmp_path / 'zip.csv'}' {read}"),
        (tmp_path / "x.xlsx", "", f"The file of a table must have a name that ends in {ends}. Got '.xlsx'."),
        (policy, "--force", f"The file of a table must have a name that ends in {ends}. Got '.yaml'."),
        (tmp_path / "release", "", f"The file of a table must have a name that ends in {ends}. Got 'release'."),
        (tmp_path, "--force", f"The file of a table must have a name that ends in {ends}. Got {tmp_path.name!r}."),
    ):
        found = CliRunner().invoke(app, Case(table, policy, "").command(out, *filter(None, [more])))
        assert (found.exit_code, found.stdout, found.stderr) == (2, "", f"Error: {sentence}\n")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# Compiling -------------------------------------------------------------------------------------------------------------------


KERNEL = """
import numba

@numba.njit(cache=True)
def part(x):
    return x + 1

@numba.njit(cache=True)
def kernel(x, cancel):
    return part(x)
"""


@pytest.mark.parametrize("threaded", [False, True])
def test_compiling_is_told_but_not_reading_from_the_disk(tmp_path: Path, threaded: bool) -> None:
    (tmp_path / "fresh.py").write_text(KERNEL)

    def heard(*arguments: float) -> list[list[str]]:
        """What each call of a kernel that was not loaded before makes known."""
        kernel = runpy.run_path(str(tmp_path / "fresh.py"))["kernel"]
        told: list[list[str]] = []
        with Job(lambda stage, figure: told[-1].append(f"{stage} {figure}")):
            for argument in arguments:
                told.append([])
                announce("Partitioning")
                found = run(kernel, argument) if threaded else kernel(argument, np.zeros(1, dtype=np.uint8))
                assert found == argument + 1
        return told

    compiled = ["Partitioning ", f"Partitioning {COMPILING}", "Partitioning "]
    assert heard(1, 2, 2.5, 3.5) == [compiled, ["Partitioning "], compiled, ["Partitioning "]]
    assert heard(1, 2.5) == [["Partitioning "], ["Partitioning "]]


# Ctrl-C ----------------------------------------------------------------------------------------------------------------------


def assert_interrupted(process: subprocess.Popen[str], folder: Path, what: str) -> None:
    """Send Ctrl-C; the process ends, says so, and leaves nothing. A release that was complete by then stays."""
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    done = finish(process)
    logging.info("%s: gone after %.2f s", what, time.monotonic() - sent)  # shown by --log-cli-level=INFO
    if (folder / "release.csv").exists():
        assert verify(folder / "release.csv", folder / PAPERS[0]).holds
        return
    assert names(folder) == []
    assert_says_interrupted(done)


@pytest.mark.parametrize("module", ["typer", "pyarrow", "duckdb", "numba"])
def test_ctrl_c_while_modules_are_loaded(case: Case, tmp_path: Path, module: str) -> None:
    code = (
        "import os, signal, sys\nclass Loading:\n    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Loading())\nfrom tclose.cli import main\nmain()"
    )
    assert_says_interrupted(finish(start("-c", code, *case.command(tmp_path / "release.csv"))))
    assert names(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("stage", ["Encoding", "Partitioning", "Recoding", "Checking", "Writing", "Reading back"])
def test_ctrl_c_at_each_stage(case: Case, tmp_path: Path, stage: str) -> None:
    process = start("-c", AT_A_STAGE, "tell", "", *case.command(tmp_path / "release.csv"))
    wait_for(stage, process)
    time.sleep(random.choice([0, random.uniform(0, 0.2)]))
    assert_interrupted(process, tmp_path, stage)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["Cutting", "Growing classes of", "Refining"])
def test_ctrl_c_at_each_stage_of_growth(case: Case, tmp_path: Path, stage: str) -> None:
    process = start("-c", AT_A_STAGE, "tell", "", *case.command(tmp_path / "release.csv", "--algorithm", "growth"))
    wait_for(stage, process)
    time.sleep(random.choice([0, random.uniform(0, 0.2)]))
    assert_interrupted(process, tmp_path, stage)


IN_EACH_ALGORITHM = """
import json, os, signal, sys, threading, time
from typer.testing import CliRunner
from tclose.cli import app, screen

commands, Job, found = json.loads(sys.argv[1]), screen.Job, {}


def interrupt():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def listening(hear):
    def heard(stage, figure):
        if stage == wanted and figure == "":
            threads.append(threading.Thread(target=interrupt))
            threads[-1].start()
        hear(stage, figure)
    return Job(heard)


screen.Job = listening
for name, (wanted, command) in commands.items():
    threads = []
    try:
        done = CliRunner().invoke(app, command)
        for thread in threads:
            thread.join()
        found[name] = [len(threads), done.exit_code, done.stderr]
    except KeyboardInterrupt:
        found[name] = "the release was there before the signal"
print(json.dumps(found))
"""

MAIN_STAGE = {
    "growth": "Refining",
    "mondrian": "Partitioning",
    "incognito": "Testing nodes:",
    "microaggregation-merge": "Merging classes of",
    "microaggregation-swap": "Making classes of",
    "microaggregation-tfirst": "Making classes of",
    "codip": "Table 2 of 2:",
}
"""The other algorithms choose rows."""


@pytest.fixture(scope="module")
def interrupted(case: Case, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The folder of all algorithms' releases, each interrupted in its main stage, and what was said: all in one process."""
    folder, policies = tmp_path_factory.mktemp("interrupted"), tmp_path_factory.mktemp("policies")
    quasi = {
        "age": {"hierarchy": {"intervals": [2, 4, 8, 16, 32]}},
        "zip": {"hierarchy": "prefixes"},
        "day": {"hierarchy": "dates"},
    }
    commands: dict[str, Any] = {}
    for name, algorithm in ALGORITHMS.items():
        sensitive = {"salary": 0.2, "disease": 0.2} if algorithm.several else {"salary": 0.2}
        policy = policies / f"{name}.yaml"
        tc.Policy(quasi, sensitive, identifiers=["id"], k=5, suppression=0.05, other="drop").save(policy)
        command = ["anonymize", case.table, "-p", policy, "-o", folder / f"{name}.csv", "--algorithm", name]
        commands[name] = (MAIN_STAGE.get(name, "Choosing rows of"), [str(part) for part in command])
    done = finish(start("-c", IN_EACH_ALGORITHM, json.dumps(commands)))
    assert (done.returncode, done.stderr) == (0, "")
    return folder, json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_ctrl_c_in_the_main_stage_of_each_algorithm(interrupted: tuple[Path, dict[str, Any]], name: str) -> None:
    folder, found = interrupted
    left = [path for path in folder.iterdir() if path.name.startswith(f"{name}.")]
    if isinstance(found[name], str):
        assert left
        return
    assert found[name] == [1, 130, "Error: Interrupted.\n"]
    assert left == []


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_end_while_kernels_are_compiled(case: Case, tmp_path: Path, how: signal.Signals) -> None:
    cache, folder = tmp_path / "cache", tmp_path / "out"
    folder.mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    process = start("-c", AT_A_STAGE, "tell", "", *case.command(folder / "release.csv"), env=environment)
    wait_for(f"Partitioning {COMPILING}", process)
    time.sleep(random.uniform(0, 1))
    process.send_signal(how)
    done = finish(process)
    while helpers(cache):  # they end by themselves
        time.sleep(0.05)
    assert not list(cache.rglob(".tclose-*"))  # no file was left half written
    if names(folder):  # all was compiled and done before the signal came
        assert verify(folder / "release.csv", folder / PAPERS[0]).holds
        return
    said = f"{COMPILING.capitalize()}.\n"
    ended = (130, f"{said}Error: Interrupted.\n") if how == signal.SIGINT else (-how, said)
    assert (done.returncode, done.stderr) == ended


def helpers(cache: Path) -> list[str]:
    """The processes, besides ours, that compile into a folder, zombies included; where the system lists them as files."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is not ours
            if f"NUMBA_CACHE_DIR={cache}".encode() in environment.read_bytes().split(b"\0"):
                found.append(environment.parent.name)
    return found


@pytest.mark.long
def test_ctrl_c_at_random_moments(case: Case, tmp_path: Path) -> None:
    for _ in range(4):
        process = start("-c", AT_A_STAGE, "tell", "", *case.command(tmp_path / "release.csv", "--force"))
        wait_for("Encoding", process)  # before that Python itself starts
        time.sleep(random.uniform(0, 1.5))
        assert_interrupted(process, tmp_path, "some moment")


DROPPED = """
import os, signal, sys, time
from tclose.cli import main, screen


class Half:
    def __del__(self):
        {what}


def listening(hear, Job=screen.Job):
    def heard(stage, figure):
        if stage == "Partitioning" and figure == "":
            Half()
            {then}
        hear(stage, figure)
    return Job(heard)


screen.Job = listening
main()
"""


def test_an_object_that_fails_as_it_is_deleted_is_not_told(case: Case, tmp_path: Path) -> None:
    code = DROPPED.format(what="raise AttributeError('a cell of the table')", then="pass")
    done = finish(start("-c", code, *case.command(tmp_path / "release.csv")))
    assert (done.returncode, done.stderr) == (0, "")
    assert_whole(tmp_path, case.sha256)


def test_ctrl_c_while_an_object_is_deleted_comes_again(case: Case, tmp_path: Path) -> None:
    code = DROPPED.format(what="os.kill(os.getpid(), signal.SIGINT)", then="for _ in range(6_000): time.sleep(0.01)")
    assert_says_interrupted(finish(start("-c", code, *case.command(tmp_path / "release.csv"))))
    assert names(tmp_path) == []


def wait_for(stage: str, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    while process.stdout.readline() not in (f"{stage}\n", ""):
        pass


# Policies that cannot be satisfied ---------------------------------------------------------------------------------------------------

CANNOT_HOLD: dict[str, tuple[dict[str, Any], str]] = {
    "k": ({"k": 301}, "The table has 300 rows: k=301 cannot be satisfied. Choose a smaller k."),
    "l": (
        {"k": 2, "sensitive": {"disease": {"l": 6}}},
        "Column 'disease' has 5 values: l=6 cannot be satisfied. Choose a smaller l.",
    ),
    "alpha": ({"k": 2, "alpha": 0.1}, "alpha=0.1 of 'disease' cannot be satisfied, whichever rows are suppressed."),
    "suppression": (
        {"k": 2, "alpha": 0.2, "suppression": 0.001},
        "alpha=0.2 of 'disease' cannot be satisfied unless 60 rows are suppressed: its commonest values are too common. "
        "suppression=0.001 allows 0. Loosen one of them.",
    ),
}


@pytest.mark.parametrize(("limits", "sentence"), CANNOT_HOLD.values(), ids=CANNOT_HOLD.keys())
def test_what_cannot_hold_is_refused_before_any_algorithm_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, Any], sentence: str
) -> None:
    write_people(tmp_path / "table.csv", 300)
    policy = tc.Policy(**{"quasi": ["age"], "sensitive": ["disease"], "other": "drop", **limits})
    policy.save(tmp_path / "policy.yaml")
    before = names(tmp_path)

    def never(*_: Any) -> Any:
        pytest.fail("an algorithm was run")

    for name in list(ALGORITHMS):
        monkeypatch.setitem(ALGORITHMS, name, replace(ALGORITHMS[name], run=never))
    command = Case(tmp_path / "table.csv", tmp_path / "policy.yaml", "").command(tmp_path / "release.csv")
    found = CliRunner().invoke(app, command)
    assert (found.exit_code, found.stdout, found.stderr) == (1, "", f"Error: {sentence}\n")
    assert names(tmp_path) == before

    stages: list[str] = []
    with pytest.raises(tc.InfeasibleError) as caught, Job(lambda stage, _: stages.append(stage)):
        tc.anonymize(tmp_path / "table.csv", policy)
    assert str(caught.value) == sentence
    assert not {"Recoding", "Checking", "Writing"} & set(stages)
