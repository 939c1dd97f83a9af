"""At the desk: from a CSV to a verified release and its report, by the commands that a steward types.

    pip install tclose[report] statsmodels; python bench/desk.py

The policy is the one that `tclose init` proposes, as it stands. Each command is a process of its own; kernels are compiled before. Wall and CPU
time of each command, the words of its screen, and of the head of the policy, which has what to decide. Adult, its hierarchies and the census
table are looked for in TCLOSE_DATA, else in ../shared/data; the others are in the package statsmodels. Prints Markdown for bench/RESULTS.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import statsmodels.api as sm

from scenarios import DATA, machine

OF_PACKAGE = ("randhie", "anes96", "fair", "modechoice")
RELEASE, REPORT = "release.csv", "report.html"


def main() -> None:
    """Make the releases, and print what they took."""
    subprocess.run([sys.executable, "-m", "tclose", "warmup"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"{machine()}\n")
    print(
        "| table | rows | init: wall, CPU s | words | head of the policy | anonymize: wall, CPU s | words | verify: wall, CPU s | in all, s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in OF_PACKAGE:
            getattr(sm.datasets, name).load_pandas().data.to_csv(f"{name}.csv", index=False)
        tables: dict[str, list[str]] = {
            str(DATA / "adult.csv"): ["--hierarchies", str(DATA / "hierarchies")],
            str(DATA / "census.csv"): [],
            **{f"{name}.csv": [] for name in OF_PACKAGE},
        }
        for table, options in tables.items():
            steps = [
                run("init", table, *options, "-o", "policy.yaml", "--force"),
                run("anonymize", table, "-p", "policy.yaml", "-o", RELEASE, "--report", REPORT, "--force"),
                run("verify", RELEASE),
            ]
            head = Path("policy.yaml").read_text().partition("\n\n")[0]
            cells = [Path(table).stem, f"{len(Path(table).read_text().splitlines()) - 1:,}"]
            for number, (wall, cpu, words) in enumerate(steps):
                cells += [f"{wall:.1f}, {cpu:.1f}", *([str(words)] if number < 2 else [])]
                cells += [str(len(head.split()))] if not number else []
            print(f"| {' | '.join([*cells, f'{sum(wall for wall, *_ in steps):.1f}'])} |", flush=True)


def run(*arguments: str) -> tuple[float, float, int]:
    """Run a command, and return its wall and CPU time, and the number of words that it prints."""
    start, before = time.perf_counter(), os.times()
    shown = subprocess.run(
        [sys.executable, "-m", "tclose", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu, len(shown.stdout.split())


if __name__ == "__main__":
    main()
