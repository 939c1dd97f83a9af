"""The audit against one group-by of the same columns, and against pyCANON: CPU seconds and peak memory.

    python bench/audit.py [ROWS ...]          default: 30000 300000 3000000 10000000

Tables are Adult with its quasi-identifiers blurred, made by the public data's ``tools/bigtable``, which is looked for beside
TCLOSE_DATA, else in ../shared. Every measurement is a process of its own, warmed up on the smallest table. pyCANON gets an
environment of its own (bench/.venv-pycanon), for it wants other versions. Prints Markdown for bench/RESULTS.md.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import venv
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SENSITIVE = ["hours-per-week", "occupation"]
CASES = {
    "five coarse quasi-identifiers": ["age-decade", "education", "sex", "race", "marital-status"],
    "eight raw quasi-identifiers": [
        *("age", "education", "sex", "race", "marital-status", "native-country", "workclass", "salary-class"),
    ],
}
LARGEST_FOR_PYCANON = 3_000_000
REPEATS = 3
"""The least of so many times is taken, of the group-by and of the audit alike; pyCANON runs once, for it takes long."""

_MEASURE = """
import json, sys, time
path, warm, repeats, quasi, sensitive = *sys.argv[1:3], *map(json.loads, sys.argv[3:])
{prepare}
run(warm)
times = []
for _ in range(repeats):
    cpu, wall = time.process_time(), time.perf_counter()
    result = run(path)
    times.append((time.process_time() - cpu, time.perf_counter() - wall))
cpu, wall = map(min, zip(*times))
# Not getrusage: its peak starts at that of the process we were started from.
peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps(dict(cpu=cpu, wall=wall, peak=peak, result=result)))
"""
_GROUP_BY = """
import duckdb
columns = ", ".join('"' + name + '"' for name in quasi + sensitive)
def run(path):
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    found = connection.sql(f"SELECT {columns}, count(*) FROM read_parquet('{path}') GROUP BY ALL").to_arrow_table()
    return found.num_rows
"""
_AUDIT = """
import tclose as tc
policy = tc.Policy(quasi=quasi, sensitive=dict.fromkeys(sensitive, 0.2), k=5)
def run(path):
    audit = tc.audit(path, policy)
    return dict(classes=audit.classes, t=float(audit.sensitive[sensitive[0]].t))
"""
# pyCANON's time is taken without reading the file and without a warm-up: it compiles nothing, and takes long enough.
_PYCANON = """
import pandas as pd
from pycanon import anonymity
frame = pd.read_parquet(path, columns=quasi + sensitive)
first = True
def run(path):
    global first
    if first:
        first = False
        return None
    return dict(t=float(anonymity.t_closeness(frame, quasi, sensitive)))
"""


def main() -> None:
    rows = [int(argument) for argument in sys.argv[1:]] or [30_000, 300_000, 3_000_000, 10_000_000]
    print(f"Machine: {machine()}. Date: {date.today()}. Commit: {commit()}.\n")
    with tempfile.TemporaryDirectory() as folder:
        tables = {count: make_table(count, Path(folder)) for count in sorted({30_000, *rows})}
        for title, quasi in CASES.items():
            print(f"Whole audit, two sensitive attributes, {title} ({', '.join(quasi)}):\n")
            print(
                "| rows | classes | cells | group-by CPU s | audit CPU s | CPU ratio | group-by s | audit s | ratio | audit peak MB |"
            )
            print("|---|---|---|---|---|---|---|---|---|---|")
            for count in rows:
                group = measure(sys.executable, _GROUP_BY, tables, count, quasi, SENSITIVE)
                audit = measure(sys.executable, _AUDIT, tables, count, quasi, SENSITIVE)
                print(
                    f"| {count:,} | {audit['result']['classes']:,} | {group['result']:,} | {group['cpu']:.3f} | {audit['cpu']:.3f} | "
                    f"{audit['cpu'] / group['cpu']:.2f} | {group['wall']:.3f} | {audit['wall']:.3f} | {audit['wall'] / group['wall']:.2f} | "
                    f"{audit['peak']:.0f} |",
                    flush=True,
                )
            print()
        against_pycanon([count for count in rows if count <= LARGEST_FOR_PYCANON], tables)


def against_pycanon(rows: list[int], tables: dict[int, Path]) -> None:
    """t-closeness of one attribute: tclose reads the file and judges all models in that time, pyCANON has the frame in memory."""
    quasi = CASES["five coarse quasi-identifiers"]
    python = pycanon_python()
    print("t-closeness of one sensitive attribute, five coarse quasi-identifiers, in process after warm-up:\n")
    print("| rows | attribute | pyCANON CPU s | tclose CPU s | pyCANON / tclose | t by pyCANON | t by tclose |")
    print("|---|---|---|---|---|---|---|")
    for count in rows:
        for sensitive in SENSITIVE:
            theirs = measure(python, _PYCANON, tables, count, quasi, [sensitive], repeats=1)
            ours = measure(sys.executable, _AUDIT, tables, count, quasi, [sensitive])
            print(
                f"| {count:,} | {sensitive} | {theirs['cpu']:.2f} | {ours['cpu']:.3f} | {theirs['cpu'] / ours['cpu']:.0f} | "
                f"{theirs['result']['t']:.4f} | {ours['result']['t']:.4f} |",
                flush=True,
            )


def measure(
    python: str, prepare: str, tables: dict[int, Path], rows: int, quasi: list[str], sensitive: list[str], repeats: int = REPEATS
) -> dict[str, Any]:
    code = _MEASURE.replace("{prepare}", prepare)
    arguments = [str(tables[rows]), str(tables[30_000]), *map(json.dumps, (repeats, quasi, sensitive))]
    done = subprocess.run([python, "-c", code, *arguments], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def make_table(rows: int, folder: Path) -> Path:
    import duckdb

    shared = Path(os.environ.get("TCLOSE_DATA", HERE.parent.parent / "shared" / "data")).parent
    raw, table = folder / f"raw{rows}.parquet", folder / f"blur{rows}.parquet"
    subprocess.run([sys.executable, str(shared / "tools" / "bigtable"), "blur", str(rows), str(raw)], check=True)
    duckdb.execute("SET enable_progress_bar = false")
    duckdb.sql(f"COPY (SELECT *, age // 10 * 10 AS \"age-decade\" FROM '{raw}') TO '{table}' (FORMAT parquet)")
    raw.unlink()
    return table


def pycanon_python() -> str:
    folder = HERE / ".venv-pycanon"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "pycanon==1.3.6", "pyarrow"], check=True)
    return str(python)


def machine() -> str:
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
