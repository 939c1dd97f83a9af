"""The first release on a machine: from nothing compiled to the release of Adult written.

    python bench/cold.py [RUNS]          default: 3

Runs `tclose anonymize` on Adult, occupation, t = 0.2, k = 5, eight quasi-identifiers, with an empty folder for compiled kernels, and
once more with that folder: wall time, and CPU time with that of the helper processes. Then each kernel is compiled alone, one after
the other in one process, and the time is split: the compiler's typing and lowering, LLVM's optimising, LLVM's machine code. Prints
Markdown for bench/RESULTS.md.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from growth import ADULT, peers_policy
from scenarios import machine

PARTS = {"_optimize_functions": "optimising", "_optimize_final_module": "optimising", "_finalize_specific": "machine code"}


def main() -> None:
    if sys.argv[1:] == ["causes"]:
        causes()
        return
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(
        f"{machine()}\n\n| run | first release, wall s | CPU s | second release, wall s | CPU s | load before |\n|---|---|---|---|---|---|"
    )
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            load = os.getloadavg()[0]
            first, second = release(Path(folder)), release(Path(folder))
            figures = " | ".join(f"{seconds:.1f}" for seconds in (*first, *second))
            print(f"| {number + 1} | {figures} | {load:.1f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "causes"]
        subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": folder}, check=True)


def release(folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one release, in a process of its own."""
    policy = folder / "policy.yaml"
    peers_policy(["occupation"]).save(policy, force=True)
    command = [
        sys.executable,
        "-m",
        "tclose",
        "anonymize",
        str(ADULT),
        "-p",
        str(policy),
        "-o",
        str(folder / "release.csv"),
        "--force",
    ]
    wall, cpu = time.perf_counter(), children()
    subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": str(folder)}, capture_output=True, check=True)
    return time.perf_counter() - wall, children() - cpu


def children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def causes() -> None:
    """Compile the kernels of growth here, and say where the CPU time went."""
    started = time.process_time()
    from numba.core import codegen

    from tclose.make.kernels import compiling, rehearsing

    gc.disable()
    compiling.rehearsing = True
    spent: Counter[str] = Counter()
    library: Any = codegen
    for name, part in PARTS.items():
        owner = library.JITCodeLibrary if name in vars(library.JITCodeLibrary) else library.CPUCodeLibrary
        setattr(owner, name, timed(getattr(owner, name), part, spent))
    print(
        f"\nImports: {time.process_time() - started:.1f} CPU s.\n\n| kernel | CPU s | typing and lowering | optimising | machine code |\n|---|---|---|---|---|"
    )
    total: Counter[str] = Counter()
    for name in rehearsing.NEEDED["growth"]:
        spent.clear()
        begun = time.process_time()
        rehearsing.rehearse(name)
        line(name, time.process_time() - begun, spent)
        total.update({"": time.process_time() - begun, **spent})
    line("all", total.pop(""), total)


def line(name: str, seconds: float, spent: Counter[str]) -> None:
    rest = seconds - spent.total()
    print(f"| {name} | {seconds:.1f} | {rest:.1f} | {spent['optimising']:.1f} | {spent['machine code']:.1f} |", flush=True)


def timed(method: Callable[..., Any], part: str, spent: Counter[str]) -> Callable[..., Any]:
    """The same method, with its CPU seconds added to those of a part."""

    def call(*args: Any) -> Any:
        begun = time.process_time()
        try:
            return method(*args)
        finally:
            spent[part] += time.process_time() - begun  # type: ignore[assignment]

    return call


if __name__ == "__main__":
    main()
