"""The audit of a folder of Parquet files that is larger than memory, within a bound: seconds, CPU seconds and peak memory.

    python bench/outofcore.py [ROWS]          default: 100000000

The rows are those of a release of Adult: eight quasi-identifiers, blurred and coarse; hours-per-week and occupation are those of
another person in nine of ten rows, so that classes are close to the table and have many combinations. They are made a file of
1,000,000 at a time, by a seed that is the number of the file, and deleted in the end. Adult is looked for in TCLOSE_DATA, else in
../shared/data. Every audit is a process of its own. Prints Markdown for bench/RESULTS.md.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from scenarios import machine

DATA = Path(os.environ.get("TCLOSE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FILE = 1_000_000
"""Rows of a file."""
QUASI = ["age", "education", "sex", "race", "marital-status", "native-country", "workclass", "salary-class"]
SENSITIVE = ["hours-per-week", "occupation"]
BYTES = 10
"""Bytes of the disk that a row takes, about."""

_AUDIT = """
import hashlib, json, sys, time
import tclose as tc
folder, memory, quasi, sensitive = sys.argv[1], *map(json.loads, sys.argv[2:])
cpu, wall = time.process_time(), time.perf_counter()
found = {}
try:
    audit = tc.audit(folder, tc.Policy(quasi=quasi, sensitive=dict.fromkeys(sensitive, 0.2), k=5), memory=memory)
    found = dict(rows=audit.rows, classes=audit.classes, k=audit.k, t=[audit.sensitive[name].t for name in sensitive])
except tc.InputError as error:
    found = dict(refused=str(error))
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
# Not getrusage: its peak starts at that of the process we were started from.
peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
if "refused" not in found:
    found["digest"] = hashlib.sha256(audit.to_json().encode()).hexdigest()[:12]
print(json.dumps(dict(cpu=cpu, wall=wall, peak=peak, **found)))
"""


def main() -> None:
    rows = int(sys.argv[1]) if sys.argv[1:] else 100_000_000
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 10 * BYTES * rows:
            raise SystemExit(f"{folder} has too little room for {rows:,} rows and what is spilled.")
        print(f"{machine()}\n", flush=True)
        whole, tenth = Path(folder) / "whole", Path(folder) / "tenth"
        make(whole, rows // FILE)
        tenth.mkdir()
        for path in sorted(whole.iterdir())[: max(1, rows // FILE // 10)]:
            (tenth / path.name).hardlink_to(path)
        print("| rows | quasi-identifiers | memory | classes | wall s | CPU s | peak MB | digest of the JSON, or what is said |")
        print("|---|---|---|---|---|---|---|---|")
        show(tenth, None, QUASI)
        show(tenth, "1GB", QUASI)
        show(whole, None, QUASI)
        show(whole, "1GB", QUASI)
        show(whole, "1GB", [*QUASI, "fnlwgt"])


def make(folder: Path, files: int) -> None:
    """Write the table, file by file."""
    adult = pd.read_csv(DATA / "adult.csv")
    folder.mkdir()
    for number in range(files):
        pq.write_table(one_file(adult, number), folder / f"{number:04}.parquet")


def one_file(adult: pd.DataFrame, number: int) -> pa.Table:
    """Return the rows of one file."""
    rng = np.random.default_rng(number)
    person, other, third = rng.integers(0, len(adult), (3, FILE))
    other = np.where(rng.random(FILE) < 0.9, other, person)
    columns: dict[str, Any] = {}
    for name in QUASI:
        blurred = {"workclass": 0.1, "native-country": 0.05}.get(name, 0)
        owner = np.where(rng.random(FILE) < blurred, third, person)
        if name == "age":
            age = np.clip(adult[name].to_numpy()[owner] + rng.integers(-3, 4, FILE), 17, 90) // 5 * 5
            columns[name] = pa.array([f"{low} to {low + 4}" for low in range(0, 95, 5)]).take(pa.array(age // 5))
        else:
            codes, values = pd.factorize(adult[name])
            columns[name] = pa.array(values).take(pa.array(codes[owner]))
    for name in SENSITIVE:
        columns[name] = pa.array(adult[name].to_numpy()[other])
    columns["fnlwgt"] = pa.array(rng.integers(0, 10**6, FILE))
    return pa.table(columns)


def show(folder: Path, memory: str | None, quasi: list[str]) -> None:
    """Audit a folder in a process of its own, and print a row of the table."""
    arguments = [str(folder), *map(json.dumps, (memory, quasi, SENSITIVE))]
    done = subprocess.run([sys.executable, "-c", _AUDIT, *arguments], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    rows = sum(pq.read_metadata(path).num_rows for path in folder.iterdir())
    print(
        f"| {rows:,} | {len(quasi)} | {memory or 'unbounded'} | {found.get('classes', '')} | {found['wall']:.1f} | {found['cpu']:.1f} | "
        f"{found['peak']:.0f} | {found.get('digest') or found['refused']} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
