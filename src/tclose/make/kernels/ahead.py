"""Compiling ahead: kernels are compiled by other processes, on all cores, before they are called.

Numba compiles in one thread at a time, so a first release would wait on one core. Here helper processes compile kernels and keep
them on the disk, while the table is read; a call of a kernel waits until it is there. Each kernel is compiled when it is called
where no process can be started, nothing can be kept, or the helpers fail or hang.
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

from tclose.jobs import COMPILING, check, report

HELPERS = 4
"""Processes at most: no more would be busy to the end."""
NAP = 0.02
"""Seconds between two looks at what is compiled: Ctrl-C reaches Python only between naps."""
PATIENCE = 1.0
"""Seconds that a helper gets to end."""
SILENCE = 600.0
"""Seconds after which helpers of which none has said anything are given up: many times as long as the slowest kernel takes."""


class _Ahead:
    """What is to be compiled, by whom, and when a helper last said something."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start with nothing to wait for, as a forked process must: the helpers are its parent's."""
        self.lock = threading.Lock()
        self.queue: list[str] = []  # kernels that no helper has begun with
        self.pending: set[str] = set()  # kernels that are not compiled yet
        self.asked = self.compiled = 0
        self.driven = 0  # helpers at work
        self.given_up = 0  # how often helpers were given up
        self.heard = time.monotonic()
        self.processes: list[subprocess.Popen[str]] = []


_ahead = _Ahead()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ahead.forget)


def compile_ahead(names: Iterable[str]) -> None:
    """Begin to compile those of these kernels that are not on the disk; each is named as in ``growth.move._move_rows``."""
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
        _ahead.heard = time.monotonic()
        helpers = max(0, helpers - _ahead.driven)
        _ahead.driven += helpers
    for _ in range(helpers):
        threading.Thread(target=_drive, args=(FOLDER, _ahead.given_up), daemon=True).start()


def wait_for(name: str | None = None) -> int:
    """Wait until a kernel is compiled, or no helper will compile it; without a name, wait for all kernels.

    Returns
    -------
    int
        How many kernels the helpers have compiled.
    """
    told = -1
    while name in _ahead.pending if name else _ahead.pending:
        if told < 0:
            report(once_on_this_machine())
        if told != _ahead.compiled:
            told = _ahead.compiled
            report(f"{once_on_this_machine()}: {told} of {_ahead.asked} parts")
        check()
        if time.monotonic() - _ahead.heard > SILENCE:
            _give_up()
        time.sleep(NAP)
    if told >= 0:
        report("")
    return _ahead.compiled


def once_on_this_machine() -> str:
    """Return what a listener is told while a call waits."""
    from tclose.make.kernels.compiling import HOW_OFTEN

    return f"{COMPILING}, {HOW_OFTEN}"


def _may_start() -> bool:
    """Whether the program that runs is Python: a program that has Python inside would be started once more as it is."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and "python" in Path(sys.executable).name.lower()


def _drive(folder: str, given_up: int) -> None:
    """Let one helper compile kernel after kernel, until none is left or the helper fails or is given up."""
    name, driven = "", True
    with suppress(OSError, ValueError), _start() as process:  # it may not start, or end too soon
        _ahead.processes.append(process)
        if _ahead.given_up > given_up:  # while it started, when nobody could end it
            process.kill()
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
    """Note what a helper did, and return its next kernel; "" if the helper has failed, or no kernel is left."""
    with _ahead.lock:
        _ahead.heard = time.monotonic()
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


def _give_up() -> None:
    """End helpers that hang; the kernels that are left are compiled when they are called."""
    with _ahead.lock:
        _ahead.given_up += 1
        _ahead.queue.clear()
        _ahead.pending.clear()
    for process in list(_ahead.processes):
        with suppress(OSError):
            process.kill()


def _start() -> subprocess.Popen[str]:
    """Start a helper that finds the modules that this process finds. Ctrl-C does not reach it: it ends when its input does."""
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
    """End all helpers with this process. They would end by themselves, a moment later."""
    for process in list(_ahead.processes):
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
