"""All algorithms on the same tables under the same gate: GCP, LM, classes and time.

    python bench/algorithms.py [sample] [scenario] [census]        default: all

`sample`: 2,000 rows of Adult, k = 5, hours-per-week with t = .15, and hours-per-week with capital-gain. `scenario`: the whole
scenario table of Adult. `census`: the census table. Prints Markdown for bench/RESULTS.md. CODIP publishes several tables, and is
not compared. Tables are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv

import tclose as tc
from scenarios import CASES, DATA, LIMITS, machine, policy_of

ROWS = 2000
NAMES = [algorithm.name for algorithm in tc.list_algorithms() if not algorithm.several]
Row = tuple[str, Any, tc.Policy]


def main() -> None:
    tables = {"sample": sample, "scenario": scenario, "census": census}
    print(machine())
    for name in sys.argv[1:] or tables:
        print(f"\n### {name}\n\n| table | algorithm | GCP | LM | classes | CPU s | GCP | LM |\n|---|---|---|---|---|---|---|---|")
        for title, table, policy in tables[name]():
            compare(title, table, policy)


def sample() -> Iterator[Row]:
    adult = pyarrow.csv.read_csv(DATA / "adult.csv").slice(0, ROWS)
    for sensitive in (("hours-per-week",), ("hours-per-week", "capital-gain")):
        yield " + ".join(sensitive), adult, policy_of(sensitive, 0.15)


def scenario() -> Iterator[Row]:
    for sensitive in CASES:
        for t in LIMITS:
            yield f"{' + '.join(sensitive)}, t = {t}", DATA / "adult.csv", policy_of(sensitive, t)


def census() -> Iterator[Row]:
    for sensitive in ("FEDTAX", "FICA"):
        for t in (0.25, 0.15, 0.05, 0.01):
            for k in (2, 10):
                policy = tc.Policy(["TAXINC", "POTHVAL"], {sensitive: t}, k=k, other="drop")
                yield f"{sensitive}, t = {t}, k = {k}", DATA / "census.csv", policy


def compare(title: str, table: pa.Table, policy: tc.Policy) -> None:
    """Print a line for each algorithm that can; a loss below that of growth is marked."""
    growth: Any = None
    for name in NAMES:
        begun = time.process_time()
        try:
            release = tc.anonymize(table, policy, algorithm=name)
        except tc.PolicyError as refusal:
            if "cannot make this release" not in str(refusal):
                raise
            continue
        spent = time.process_time() - begun
        growth = growth or release.loss
        lower = ["below growth" if release.loss[measure] < growth[measure] else "" for measure in ("gcp", "lm")]
        figures = f"{release.loss['gcp']:.4f} | {release.loss['lm']:.4f} | {release.audit.classes:,} | {spent:.1f}"
        print(f"| {title} | {name} | {figures} | {lower[0]} | {lower[1]} |", flush=True)


if __name__ == "__main__":
    main()
