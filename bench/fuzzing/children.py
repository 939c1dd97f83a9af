"""Children: each run in a process of its own, forked from a parent that has imported all and started nothing."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

PATIENCE = 20
"""How many times its CPU time a child may take: a busy machine gives it a part of a core."""
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Ending:
    """How a child ended: its exit code or, negative, its signal; CPU seconds, and peak memory in bytes."""

    code: int
    seconds: float
    memory: int


def warm_parent() -> None:
    """Import what runs need and load compiled kernels, so that children need not.

    A child makes releases, verifies one, and tells which modules it had then, and what an algorithm was given. Only children
    open a connection: a parent that has one must not fork.
    """
    from tclose.make.registry import ALGORITHMS

    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder)
        for _, ending in run_all([("warm-up", partial(_tell, told))], 1, 900):
            if ending.code:
                raise RuntimeError("the warm-up failed")
        for name in (told / "modules").read_text(encoding="utf-8").split("\n"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        problem = pickle.loads((told / "given").read_bytes())
    for algorithm in ALGORITHMS.values():
        algorithm.run(problem, 0, "fast", algorithm.defaults)


def _tell(folder: Path) -> int:
    """Make and verify releases; write down the modules, and what an algorithm is given. In a child."""
    import tclose as tc
    from fuzzing import files, forgeries
    from fuzzing.cases import draw_case
    from fuzzing.releases import judge_case
    from tclose.make.registry import ALGORITHMS
    from tclose.release.warmup import warm_up

    growth = ALGORITHMS["growth"]
    run = growth.run

    def catch(*given: Any) -> Any:
        (folder / "given").write_bytes(pickle.dumps(given[0]))
        return run(*given)

    object.__setattr__(growth, "run", catch)
    warm_up()
    object.__setattr__(growth, "run", run)
    for number in range(4):
        (folder / str(number)).mkdir()
        judge_case(draw_case(0, number), folder / str(number))
    assert all((tc, files, forgeries))
    with contextlib.suppress(SystemExit):
        command(["audit", str(folder / "none.csv"), "--quasi", "a", "--sensitive", "b"], folder, folder / "out", folder / "err")
    names = [name for name in sys.modules if name != "__main__"]
    (folder / "modules").write_text("\n".join(names), encoding="utf-8")
    return 0


def run_all(
    works: Iterable[tuple[Any, Callable[[], int]]], jobs: int, seconds: float, memory: int = 24 * GIGABYTE
) -> Iterator[tuple[Any, Ending]]:
    """Run each work in a child of its own, a few at a time; yield its name and how it ended, as they end.

    Parameters
    ----------
    works
        Names, and functions that return an exit code.
    seconds
        CPU time: a child that takes more is killed. So is one that waits, without working, `PATIENCE` times as long.
    memory
        The address space that a child may have; room enough for what it maps, so that what it uses can be seen.
    """
    waiting = iter(works)
    running: dict[int, tuple[Any, float]] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            try:
                name, work = next(waiting)
            except StopIteration:
                more = False
                break
            running[_fork(work, memory, seconds)] = name, time.monotonic()
        for pid, (name, begun) in list(running.items()):
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            took = time.monotonic() - begun
            if ended:
                del running[pid]
                yield name, Ending(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
            elif took > PATIENCE * seconds:
                os.kill(pid, signal.SIGKILL)
        if running:
            time.sleep(0.004)


def _fork(work: Callable[[], int], memory: int, seconds: float) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds)))
        code = work()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
    except BaseException:  # noqa: BLE001 - whatever it is, the child must end here and not in its parent's code
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def command(arguments: list[str], folder: Path, out: Path, err: Path) -> int:
    """Run the command line of tclose in this process, as in a folder, its output in files; for a child."""
    os.chdir(folder)
    for stream, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, stream)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = ["tclose", *arguments]
    from tclose.cli import main

    main()
    return 0
