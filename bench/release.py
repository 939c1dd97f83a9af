"""The stages of a release against DuckDB reading the same Parquet file and writing it as CSV: seconds, CPU seconds, peak memory.

    python bench/release.py [ROWS ...]          default: 30000 300000 3000000

Tables are Adult with its quasi-identifiers blurred, made by the public data's ``tools/bigtable``, which is looked for beside
TCLOSE_DATA, else in ../shared. Every measurement is a process of its own, warmed up on the smallest table. Prints Markdown for
bench/RESULTS.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scenarios import machine

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("TCLOSE_DATA", HERE.parents[1] / "shared" / "data")).parent
REPEATS = 3
STAGES = ("Encoding", "Partitioning", "Recoding", "Checking", "Writing", "Reading back")
COUNTED = tuple(stage for stage in STAGES if stage != "Partitioning")
"""What the bar is about: encode + recode + gate + write. Reading back is the gate's second look, at the file itself."""

_MEASURE = """
import json, sys, time
path, warm, out, repeats, hierarchies = *sys.argv[1:4], int(sys.argv[4]), sys.argv[5]
{prepare}
run(warm)
best = None
for _ in range(repeats):
    found = run(path)
    if best is None or sum(cpu for _, cpu in found.values()) < sum(cpu for _, cpu in best.values()):
        best = found
# Not getrusage: its peak starts at that of the process we were started from.
peak = next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps(dict(stages=best, peak=peak, note=note)))
"""
_COPY = """
import duckdb
note = ""
def run(path):
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    cpu, wall = time.process_time(), time.perf_counter()
    connection.execute(f"COPY (SELECT * FROM read_parquet('{path}')) TO '{out}' (HEADER)")
    return {"copy": (time.perf_counter() - wall, time.process_time() - cpu)}
"""
_RELEASE = """
import tclose as tc
from tclose.jobs import Job
trees = ("education", "marital-status", "race", "sex", "native-country", "workclass", "salary-class")
policy = tc.Policy(
    quasi=["age", *(tc.Quasi(name, hierarchy=f"{hierarchies}/{name}.csv") for name in trees)],
    sensitive={"hours-per-week": 0.2, "occupation": 0.4},
    k=5, keep=["education-num", "relationship", "capital-gain", "capital-loss"], drop=["fnlwgt"],
)
note = ""
def run(path):
    global note
    marks = []
    def hear(stage, figure=""):
        if not figure:
            marks.append((stage, time.perf_counter(), time.process_time()))
    with Job(hear):
        release = tc.anonymize(path, policy)
        release.write(out, force=True)
        hear("end")
    note = f"{release.audit.classes:,} classes, GCP {release.loss['gcp']:.4f}"
    return {a[0]: (b[1] - a[1], b[2] - a[2]) for a, b in zip(marks, marks[1:])}
"""


def measured(prepare: str, path: Path, warm: Path, out: Path) -> dict[str, Any]:
    program = _MEASURE.replace("{prepare}", prepare)
    arguments = [str(path), str(warm), str(out), str(REPEATS), str(SHARED / "data" / "hierarchies")]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def table(rows: int, kind: str = "blur") -> Path:
    """A table of this kind and size, made once and kept in TCLOSE_BENCH_TABLES, else in the folder for temporary files."""
    folder = Path(os.environ.get("TCLOSE_BENCH_TABLES", tempfile.gettempdir())) / "tclose-bench"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}_{rows}.parquet"
    if not path.exists():
        subprocess.run([sys.executable, str(SHARED / "tools" / "bigtable"), kind, str(rows), str(path)], check=True)
    return path


def main() -> None:
    sizes = [int(argument) for argument in sys.argv[1:]] or [30_000, 300_000, 3_000_000]
    print(f"{machine()}\n")
    print(
        f"| rows | {' | '.join(stage.lower() for stage in STAGES)} | bar's stages | DuckDB copy | ratio | CPU ratio | peak MB | release |"
    )
    print("|---|" + "---|" * (len(STAGES) + 6))
    warm = table(min(sizes))
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path, out = table(rows), Path(folder) / "out.csv"
            copy, release = measured(_COPY, path, warm, out), measured(_RELEASE, path, warm, out)
            wall, spent = (sum(release["stages"][stage][place] for stage in COUNTED) for place in (0, 1))
            base_wall, base_spent = copy["stages"]["copy"]
            each = " | ".join(f"{release['stages'][stage][0]:.3f} ({release['stages'][stage][1]:.3f})" for stage in STAGES)
            print(
                f"| {rows:,} | {each} | {wall:.3f} ({spent:.3f}) | {base_wall:.3f} ({base_spent:.3f}) | {wall / base_wall:.2f} | "
                f"{spent / base_spent:.2f} | {release['peak']:.0f} | {release['note']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
