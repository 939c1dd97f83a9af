"""The command line in processes of their own, on a table of random people."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tclose.make.kernels.compiling import HOW_OFTEN

POLICY = """\
k: 5
identifiers: [id]
quasi: {age: {top: 90}, zip: {hierarchy: prefixes}, day: {snap: month}}
sensitive: {salary: 0.2, disease: 0.2}
keep: [ward]
"""
COMPILING = f"compiling, {HOW_OFTEN}"
GUARD = 600.0
"""Seconds after which a process hangs; however busy the machine is, no test waits for so long."""


def write_people(path: Path, rows: int) -> None:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 95, rows)
    day = np.datetime64("2024-01-01") + rng.integers(0, 366, rows)
    salary = rng.integers(10, 60, rows) * 100 + age * 10
    disease = rng.choice(["flu", "cold", "ulcer", "asthma", "fracture"], rows)
    columns = (age, 47600 + rng.integers(0, 60, rows), day, salary, disease, rng.integers(0, 7, rows))
    lines = (f"P{number:06d},{','.join(map(str, row))}" for number, row in enumerate(zip(*columns, strict=True)))
    path.write_text("id,age,zip,day,salary,disease,ward\n" + "\n".join(lines) + "\n")


def start(*arguments: str | Path, **settings: Any) -> subprocess.Popen[str]:
    """A Python of its own, which hears Ctrl-C even where the tests themselves run in the background and do not."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **settings,
    )


def finish(process: subprocess.Popen[str], seconds: float = GUARD) -> subprocess.CompletedProcess[str]:
    out, complaint = process.communicate(timeout=seconds)
    return subprocess.CompletedProcess(process.args, process.returncode, out, complaint)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_says_interrupted(done: subprocess.CompletedProcess[str]) -> None:
    # Python may end itself by the signal where it came inside an exec(): a shell calls that 130 too.
    assert done.returncode in (130, -signal.SIGINT)
    # A kernel may be new to the machine.
    assert done.stderr.removeprefix(f"{COMPILING.capitalize()}.\n") == "Error: Interrupted.\n"
