"""Compiling ahead: kernels are compiled by other processes, on all cores, before they are called.

Numba compiles in one thread at a time, so that a first release would wait on one core. Here helper processes compile kernels and
keep them on the disk, while the table is read; whoever calls a kernel waits until it is there. Where that cannot be, because
no process can be started or nothing can be kept, each kernel is compiled when it is called.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tclose.jobs import COMPILING, report

HELPERS = 4
"""Processes at most: no more would be busy to the end."""
NAP = 0.02
"""Seconds between two looks at what is compiled: Ctrl-C reaches Python only between naps."""
PATIENCE = 1.0
"""Seconds that a helper gets to end."""


class _Ahead:
    """What is to be compiled, and by whom."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Wait for nothing, as a process must that was forked off."""
        self.lock = threading.Lock()
        self.queue: list[str] = []  # kernels that no helper has begun with
        self.pending: set[str] = set()  # kernels that are not there yet
        self.asked = self.compiled = 0
        self.driven = 0  # helpers at work
        self.processes: list[subprocess.Popen[str]] = []


_ahead = _Ahead()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ahead.forget)


def compile_ahead(names: Iterable[str]) -> None:
    """Begin to compile these kernels, as far as they are not on the disk; each is named as in ``growth.move._move_rows``."""
    from tclose.make.kernels.compiling import FOLDER
    from tclose.make.kernels.running import cores

    if FOLDER is None or not _may_start():
        return
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    with _ahead.lock:
        if not _ahead.pending:
            _ahead.asked = _ahead.compiled = 0
        missing = [name for name in names if name not in _ahead.pending and not any(Path(FOLDER).glob(f"{name}-*.{python}*"))]
        helpers = min(cores(), HELPERS, len(missing))
        if helpers < 2:  # one would be no faster than to compile what is called
            return
        _ahead.queue += missing
        _ahead.pending.update(missing)
        _ahead.asked += len(missing)
        helpers = max(0, helpers - _ahead.driven)
        _ahead.driven += helpers
    for _ in range(helpers):
        threading.Thread(target=_drive, args=(FOLDER,), daemon=True).start()


def wait_for(name: str | None = None) -> int:
    """Wait until a kernel is compiled, or will not be by a helper; without a name, for all. How many have been compiled."""
    told = -1
    while name in _ahead.pending if name else _ahead.pending:
        if told < 0:
            report(once_on_this_machine())
        if told != _ahead.compiled:
            told = _ahead.compiled
            report(f"{once_on_this_machine()}: {told} of {_ahead.asked} parts")
        time.sleep(NAP)
    if told >= 0:
        report("")
    return _ahead.compiled


def once_on_this_machine() -> str:
    """What is told to whoever waits."""
    from tclose.make.kernels.compiling import HOW_OFTEN

    return f"{COMPILING}, {HOW_OFTEN}"


def _may_start() -> bool:
    """Whether the program that runs is Python: a program that has Python inside would be started once more as it is."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and "python" in Path(sys.executable).name.lower()


def _drive(folder: str) -> None:
    """Let one helper compile kernel after kernel, until none is left or it fails."""
    name, driven = "", True
    with suppress(OSError, ValueError), _start() as process:  # it may not start, or end too soon
        _ahead.processes.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        fine = process.stdout.readline() == f"{json.dumps(folder)}\n"
        while name := _next(name, fine):
            process.stdin.write(f"{name}\n")
            process.stdin.flush()
            fine = process.stdout.readline() == f"{name}\n"
        driven = False
    if driven:
        _next(name, False)


def _next(done: str, fine: bool) -> str:
    """Note what a helper did, and give it the next kernel; none where it has failed, or none is left."""
    with _ahead.lock:
        if done:
            _ahead.compiled += fine
            _ahead.pending.discard(done)
        if fine and _ahead.queue:
            return _ahead.queue.pop(0)
        _ahead.driven -= 1
        if _ahead.driven == 0:  # nobody compiles what is left
            _ahead.queue.clear()
            _ahead.pending.clear()
        return ""


def _start() -> subprocess.Popen[str]:
    """Start a helper that finds the modules that this process finds. Ctrl-C is not for it: it ends when its input does."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "tclose.make.kernels.rehearsing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        encoding="utf-8",
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
    )


@atexit.register
def _end() -> None:
    """Let all helpers end with this process. They would of themselves, a moment later."""
    for process in list(_ahead.processes):
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
