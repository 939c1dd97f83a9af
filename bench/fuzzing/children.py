"""Children: each run in a process of its own, forked from a parent that has imported all and started nothing."""

from __future__ import annotations

import contextlib
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

GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Ending:
    """How a child ended: its exit code or, negative, its signal; CPU seconds, and peak memory in bytes."""

    code: int
    seconds: float
    memory: int


def import_everything() -> None:
    """Import what a run may need, so that children need not; no connection is opened and no thread started."""
    import scipy.optimize

    import tclose._anonymize
    import tclose._audit
    import tclose._verify
    import tclose.algorithms.fragmentation
    import tclose.algorithms.growth
    import tclose.algorithms.mondrian
    import tclose.cli.commands
    import tclose.cli.listing
    import tclose.cli.screen

    assert all((scipy.optimize, tclose))


def load_kernels() -> None:
    """Load the compiled kernels of all algorithms, so that children need not.

    What the warm-up hands to an algorithm is taken from a child: only children may open a connection.
    """
    from tclose.algorithms import ALGORITHMS

    with tempfile.TemporaryDirectory() as folder:
        handed = Path(folder) / "handed"
        for _, ending in run_all([("warm-up", partial(_catch, handed))], 1, 600):
            if ending.code:
                raise RuntimeError("the warm-up failed")
        table, policy, limits = pickle.loads(handed.read_bytes())
    for algorithm in ALGORITHMS.values():
        algorithm.run(table, policy, limits, 0, "fast", algorithm.defaults)


def _catch(handed: Path) -> int:
    """Write down what the first algorithm of a warm-up is given; in a child."""
    from tclose.algorithms import ALGORITHMS
    from tclose.warmup import warm_up

    def catch(*given: Any) -> None:
        handed.write_bytes(pickle.dumps(given[:3]))
        raise SystemExit(0)

    object.__setattr__(next(iter(ALGORITHMS.values())), "run", catch)
    warm_up()
    return 1


def run_all(
    works: Iterable[tuple[Any, Callable[[], int]]], jobs: int, seconds: float, memory: int = 6 * GIGABYTE
) -> Iterator[tuple[Any, Ending]]:
    """Run each work in a child of its own, a few at a time; yield its name and how it ended, as they end.

    Parameters
    ----------
    works
        Names, and functions that return an exit code.
    seconds
        A child that takes longer is killed.
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
            running[_fork(work, memory)] = name, time.monotonic()
        for pid, (name, begun) in list(running.items()):
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            took = time.monotonic() - begun
            if ended:
                del running[pid]
                yield name, Ending(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
            elif took > seconds:
                os.kill(pid, signal.SIGKILL)
        if running:
            time.sleep(0.004)


def _fork(work: Callable[[], int], memory: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
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
