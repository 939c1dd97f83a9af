"""The fuzz campaign: random releases, damaged files and forged certificates, each judged by code that shares nothing with tclose.

    python bench/fuzz.py all --seed 0 --releases 3000 --files 5000 --forgeries 500 [--jobs 2]
    python bench/fuzz.py releases --case 1234           one case alone; also files, forgeries

Prints a table for bench/RESULTS.md and writes bench/fuzz.json, or what --json names. What a damaged file or a forgery was made of is kept in
bench/fuzz-failures where something is wrong. Needs Linux, compiled kernels (``tclose warmup``) and scipy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzing.children import warm_parent
from fuzzing.files import run_files
from fuzzing.forgeries import run_forgeries
from fuzzing.releases import run_releases
from scenarios import machine

HERE = Path(__file__).resolve().parent
FAILURES = HERE / "fuzz-failures"
PARTS = ("releases", "files", "forgeries")
COUNTED = ("cases", "invalid", "exit 3", "signals", "above 2 GB", "above 20 s", "partial files", "accepted forgeries", "other")
OTHER = ("control characters", "traceback", "secret", "no sentence", "fuzz")
"""What else is wrong with what a run on damaged files said."""


def main() -> int:
    """Run the campaign; the exit code says whether nothing was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("all", *PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--releases", type=int, default=3000)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--forgeries", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case", type=int, help="one case alone")
    parser.add_argument("--json", type=Path, default=HERE / "fuzz.json", help="where the figures go")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    given = parser.parse_args()
    machine()  # the commit is that of the beginning
    warm_parent()
    FAILURES.mkdir(exist_ok=True)
    found: dict[str, Counter[str]] = {}
    failures: list[dict[str, Any]] = []
    endings: Counter[str] = Counter()
    begun = time.monotonic()
    for part in PARTS if given.part == "all" else (given.part,):
        count = getattr(given, part)
        numbers = range(given.first, given.first + count) if given.case is None else range(given.case, given.case + 1)
        table = found[part] = Counter()
        for number, ending, wrong, told in _run(part, given.seed, numbers, given.jobs):
            table["cases"] += 1
            endings[f"{part}: {ending}"] += 1
            for column in wrong:
                table[column] += 1
            if wrong:
                failures.append({"part": part, "seed": given.seed, "case": number, "wrong": wrong, "told": told})
                print(f"{part} {number}: {', '.join(wrong)}: {told}", flush=True)
            if sys.stdout.isatty() or table["cases"] % 250 == 0:
                print(
                    f"{part}: {table['cases']} of {len(numbers)}, {len(failures)} failures",
                    end="\r" if sys.stdout.isatty() else "\n",
                    flush=True,
                )
    seconds = time.monotonic() - begun
    _report(found, endings, seconds, given)
    if given.case is None:
        report = {
            "machine": machine(),
            "seed": given.seed,
            "seconds": round(seconds),
            "found": found,
            "endings": endings,
            "failures": failures,
        }
        given.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if failures else 0


def _run(part: str, seed: int, numbers: range, jobs: int) -> Iterator[tuple[int, str, list[str], str]]:
    """Yield, for each case, its number, how it ended, in which columns of the table it is wrong, and why."""
    if part == "releases":
        for outcome in run_releases(seed, numbers, jobs):
            yield outcome.number, outcome.ending, ["invalid"] if outcome.ending == "invalid" else [], "; ".join(outcome.reasons)
    elif part == "files":
        names = {
            "signal": "signals",
            "memory": "above 2 GB",
            "seconds": "above 20 s",
            "partial files": "partial files",
            **dict.fromkeys(OTHER, "other"),
        }
        for run in run_files(seed, numbers, jobs, FAILURES):
            wrong = sorted({names.get(fault, "exit 3") for fault in run.faults})
            yield (
                run.number,
                f"exit {run.ending.code}",
                wrong,
                f"{run.what}; {run.arguments[:1]}; {', '.join(run.faults)}; {run.said[-300:]!r}",
            )
    else:
        for forgery in run_forgeries(seed, numbers, jobs, FAILURES):
            wrong = (
                ["accepted forgeries"]
                if forgery.accepted
                else ["signals" if forgery.ending.code < 0 else "exit 3"]
                if forgery.faulty
                else []
            )
            yield forgery.number, f"exit {forgery.ending.code}", wrong, f"{forgery.how}; untrue: {', '.join(forgery.untrue)}"


def _report(found: dict[str, Counter[str]], endings: Counter[str], seconds: float, given: argparse.Namespace) -> None:
    print(f"\n{machine()} Seed {given.seed}, {given.jobs} at a time, {seconds / 60:.1f} minutes.\n")
    print("| part | " + " | ".join(COUNTED) + " |")
    print("|---" * (len(COUNTED) + 1) + "|")
    for part, table in found.items():
        print(f"| {part} | " + " | ".join(f"{table[column]:,}" for column in COUNTED) + " |")
    print("\nEndings: " + "; ".join(f"{ending} {count:,}" for ending, count in sorted(endings.items())) + ".")


if __name__ == "__main__":
    sys.exit(main())
