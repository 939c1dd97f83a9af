"""Compiling ahead: by helper processes that end with whoever started them; and without them where there can be none."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tclose.make
from tclose import jobs
from tclose.jobs import Cancelled, Job, report
from tclose.make.kernels import ahead, compiling, rehearsing, running
from tclose.make.registry import ALGORITHMS

ROOM = Path(tclose.make.__file__).parent
HELPER = [sys.executable, "-P", "-m", "tclose.make.kernels.rehearsing"]


def decorated(*names: str) -> set[str]:
    """The functions of the room that have one of these decorators: ``growth.move._move_rows``."""
    found = set()
    for path in ROOM.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                how = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
                module = ".".join(path.relative_to(ROOM).with_suffix("").parts)
                found |= {f"{module}.{node.name}"} if how & set(names) else set()
    return found


def test_every_kernel_is_rehearsed() -> None:
    assert set(rehearsing.KERNELS) == decorated("kernel", "apart")
    assert rehearsing.NEEDED.keys() == ALGORITHMS.keys()
    assert {name for names in rehearsing.NEEDED.values() for name in names} == rehearsing.KERNELS.keys()


def test_kernels_are_rehearsed_for_the_types_that_releases_have(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsed: dict[str, tuple[Any, ...]] = {}

    def note(kernel: Any, *args: Any) -> None:
        rehearsed[kernel.py_func.__name__] = (kernel, tuple(map(compiling._typeof, args)))
        raise compiling.RehearsedError

    monkeypatch.setattr(compiling, "rehearsing", True)
    monkeypatch.setattr(compiling, "rehearse", note)
    for name in rehearsing.KERNELS:
        rehearsing.rehearse(name)
    direct = {"column_satisfies", "excess", "cumulate_counts", "fill_losses", "_merge"}  # compiled for declared types, or run
    assert rehearsed.keys() == {name.rpartition(".")[2] for name in rehearsing.KERNELS} - direct
    for kernel, arguments in rehearsed.values():
        assert arguments in kernel.overloads


COMPILE_TWO = """
from tclose.make.kernels import ahead, compiling, merge, rehearsing, running
running.cores = lambda: 2
ahead.compile_ahead(["kernels.loss.fill_losses", "kernels.merge._merge"])
rehearsing.rehearse("kernels.merge._merge")  # a call: it waits for the helper
assert (sum(merge._merge.stats.cache_hits.values()), sum(merge._merge.stats.cache_misses.values())) == (1, 0)
assert compiling.teller.compiled == 0
assert ahead.wait_for() == 2
"""


def test_a_call_waits_for_the_helper_and_loads_what_it_compiled(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILE_TWO], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Nothing asked for, no helper left, two cores, and helpers that run a program of the test's."""
    while ahead._ahead.driven:
        time.sleep(ahead.NAP)
    monkeypatch.setattr(running, "cores", lambda: 2)

    def program(code: str) -> None:
        command = [sys.executable, "-c", code]
        monkeypatch.setattr(
            ahead, "_start", lambda: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        )

    yield program
    ahead.wait_for()


ECHO = f"import sys\nprint({json.dumps(compiling.FOLDER)!r}, flush=True)\nfor line in sys.stdin: print(line, end='', flush=True)"


def test_who_waits_is_told_how_many_of_how_many(fresh: Callable[[str], None]) -> None:
    told: list[str] = []
    fresh(ECHO)
    with Job(lambda _, figure: told.append(figure)):
        ahead.compile_ahead(["new.one", "new.two", "new.three"])
        assert ahead.wait_for() == 3
    once = ahead.once_on_this_machine()
    assert not told or (told[0], told[-1]) == (once, "")
    assert set(told[1:-1]) <= {f"{once}: {number} of 3 parts" for number in range(4)}


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print('null', flush=True)\ninput()",
        f"{ECHO.partition('for')[0]}input()",
        "print('\"elsewhere\"', flush=True)\ninput()",
    ],
)
def test_nobody_waits_for_a_helper_that_failed(fresh: Callable[[str], None], code: str) -> None:
    """It ends at once; is not sure where to keep kernels; ends while it compiles; keeps them elsewhere."""
    fresh(code)
    ahead.compile_ahead(["new.one", "new.two", "new.three"])
    assert ahead.wait_for() == 0


HANGS = "import time\nwhile True: time.sleep(3600)"


@pytest.mark.parametrize("code", [HANGS, f"{ECHO.partition('for')[0]}input()\n{HANGS}"], ids=["at once", "at a kernel"])
def test_a_helper_that_hangs_is_given_up(fresh: Callable[[str], None], code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(code)
    monkeypatch.setattr(ahead, "SILENCE", 0.1)
    ahead.compile_ahead(["new.one", "new.two", "new.three"])
    assert ahead.wait_for("new.one") == 0
    assert ahead.wait_for() == 0
    while ahead._ahead.driven:  # the processes are ended, too
        time.sleep(ahead.NAP)


def test_a_helper_that_is_given_up_while_it_starts_is_ended(
    fresh: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh(HANGS)
    start = ahead._start

    def start_too_late() -> subprocess.Popen[str]:
        process = start()
        ahead._give_up()
        return process

    monkeypatch.setattr(ahead, "_start", start_too_late)
    ahead.compile_ahead(["new.one", "new.two"])
    while ahead._ahead.driven:  # for ever, if it were not ended
        time.sleep(ahead.NAP)


def test_a_cancelled_job_does_not_wait_for_a_helper(fresh: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(HANGS)
    ahead.compile_ahead(["new.one", "new.two"])
    with Job(lambda _, figure: job.cancel() if figure else None) as job, pytest.raises(Cancelled):
        ahead.wait_for()
    monkeypatch.setattr(ahead, "SILENCE", 0.0)
    assert ahead.wait_for() == 0


def test_where_no_process_can_be_started_nobody_waits(fresh: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BlockingIOError

    monkeypatch.setattr(ahead, "_start", refuse)
    ahead.compile_ahead(["new.one", "new.two"])
    assert ahead.wait_for() == 0


@pytest.mark.parametrize("case", ["one core", "no folder", "a program with Python inside", "all is compiled"])
def test_no_helper_is_started_where_it_would_be_of_no_use(
    warm: None, fresh: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(ahead, "_start", lambda: pytest.fail("A helper was started."))
    names = ["new.one", "new.two"]
    if case == "one core":
        monkeypatch.setattr(running, "cores", lambda: 1)
    elif case == "no folder":
        monkeypatch.setattr(compiling, "FOLDER", None)
    elif case == "a program with Python inside":
        monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    else:
        names = list(rehearsing.KERNELS)
    ahead.compile_ahead(names)
    assert not ahead._ahead.pending


def test_a_helper_ends_when_its_input_does() -> None:
    """So it does when whoever started it is killed."""
    with subprocess.Popen(HELPER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == compiling.FOLDER
        process.stdin.close()
        assert process.wait() == 0


# Notebooks -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["a script", "a prompt", "a notebook"])
def test_whoever_waits_at_a_prompt_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], where: str
) -> None:
    monkeypatch.setattr(jobs, "_told", set())
    notebook: Any = types.ModuleType("IPython")
    notebook.get_ipython = lambda: object() if where == "a notebook" else None
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    if where == "a prompt":
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with Job(lambda *_: None):
        report("compiling, once on this machine")
    for figure in ("loss 0.2", "compiling, once on this machine", "compiling, once on this machine: 1 of 9 parts", ""):
        report(figure)
    assert capfd.readouterr() == ("", "" if where == "a script" else "tclose is compiling, once on this machine.\n")


def test_without_its_compiler_one_sentence_says_what_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tclose", "warmup"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    sentence = "NUMBA_DISABLE_JIT is set, and what makes releases must be compiled. Unset it."
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {sentence}\n")
