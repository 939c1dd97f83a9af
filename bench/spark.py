"""Releases on Spark and on one machine, in one run.

    python bench/spark.py [ROWS [KINDS [MASTERS]]]      default: 1000000 mix,blur local[1],local[2],one

The tables are those of bench/growth.py, occupation t = 0.2, k = 5. Each release is made in a process of its own, after a small one that compiles and starts
workers; ``one`` is the engine of one machine. Wall time by stage, CPU time and peak memory of the driver and of the largest worker of Python, and loss.
Prints Markdown for bench/RESULTS.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import tclose as tc
from growth import peers_policy
from release import table
from scenarios import machine
from tclose.jobs import Job
from tclose.tables.spark import session

WARM = 20_000


def main() -> None:
    rows, kinds, masters = (*sys.argv[1:], *("1000000", "mix,blur", "local[1],local[2],one")[len(sys.argv) - 1 :])
    print(f"{machine()}\n")
    print("| table | rows | engine | wall s | CPU s | peak MB of a worker | LM | classes | blocks | stages, s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in kinds.split(","):
        for master in masters.split(","):
            command = [sys.executable, __file__, "alone", kind, rows, master]
            found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1])
            stages = ", ".join(f"{stage} {seconds:.0f}" for stage, seconds in found["stages"].items())
            figures = [found["wall"], found["cpu"], found["peak"]]
            cells = [kind, f"{int(rows):,}", master, *(f"{figure:.0f}" for figure in figures), f"{found['lm']:.4f}"]
            cells += [f"{found['classes']:,}", str(found["blocks"]), stages]
            print(f"| {' | '.join(cells)} |", flush=True)


def alone(kind: str, rows: int, master: str) -> dict[str, Any]:
    """One release, in this process, and what it took."""
    if master == "one":
        return measured(table(rows, kind), table(WARM, kind))
    with session(master) as spark:
        return measured(spark.read.parquet(str(table(rows, kind))), spark.read.parquet(str(table(WARM, kind))))


def measured(source: Any, warm: Any) -> dict[str, Any]:
    """One release after a small one, and what it took, stage by stage."""
    policy = peers_policy(("occupation",))
    tc.anonymize(warm, policy)
    begun: list[tuple[str, float]] = []

    def hear(stage: str, figure: str) -> None:
        if not figure:
            begun.append((stage, time.monotonic()))

    before = cpu_of_tree()
    start = time.monotonic()
    with Job(hear):
        release: Any = tc.anonymize(source, policy)
    end = time.monotonic()
    stages: dict[str, float] = {}
    for (stage, at), (_, until) in pairwise([*begun, ("", end)]):
        stages[stage] = stages.get(stage, 0) + until - at
    course = release.record["course"]
    return {
        "wall": end - start, "cpu": cpu_of_tree() - before, "peak": largest_worker(), "lm": release.loss["lm"], "classes": release.audit.classes,
        "blocks": course.get("blocks", 1), "stages": stages,
    }  # fmt: skip


def processes() -> list[int]:
    """This process and those below it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def cpu_of_tree() -> float:
    """CPU seconds of this process and those below it, so far; of processes that have ended, those that were waited for."""
    ticks = 0
    for process in processes():
        ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def largest_worker() -> float:
    """The most memory that any process of Python below this one, or this one, ever had, in MB."""
    peaks = [0.0]
    for process in processes():
        if "python" in Path(f"/proc/{process}/cmdline").read_text().partition("\0")[0]:
            status = Path(f"/proc/{process}/status").read_text().splitlines()
            peaks.append(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
    return max(peaks)


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        print(json.dumps(alone(sys.argv[2], int(sys.argv[3]), sys.argv[4])))
    else:
        main()
