"""A second batch: 1,000 rows of Adult are added to releases of the first 29,162, and the rest is held back.

    python bench/apply.py

The rows are parted at random (seed 0). The policy is that of the scenario table, k = 5. Prints Markdown for bench/RESULTS.md. Adult
and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import tclose as tc
from scenarios import DATA, machine, policy_of

BATCH = 1_000
CASES = (
    ("mondrian", "hours-per-week", 0.05),
    ("mondrian", "hours-per-week", 0.2),
    ("growth", "hours-per-week", 0.05),
    ("growth", "hours-per-week", 0.2),
    ("growth", "occupation", 0.2),
)


def main() -> None:
    table = pa.csv.read_csv(DATA / "adult.csv")
    order = np.random.default_rng(0).permutation(table.num_rows)
    old, new = table.take(pa.array(order[:-BATCH])), table.take(pa.array(order[-BATCH:]))
    print(machine(), end="\n\n")
    print(
        "| release | classes | added | in classes | no class stands for it | held back | t alone | t against all | t of the union | CPU s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for algorithm, sensitive, t in CASES:
        release = tc.anonymize(old, policy_of((sensitive,), t), algorithm=algorithm)
        with tempfile.TemporaryDirectory() as folder:
            record = release.write(Path(folder) / "release.csv")[2]
            start = time.process_time()
            found = tc.apply(record, new)
            seconds = time.process_time() - start
            assert found.audit.satisfied
            if found.added:
                assert tc.verify(found.write(Path(folder) / "next.csv")[0]).holds
        audits = [audit for audit in (found.alone, found.compared, found.audit) if audit is not None]
        attained = (
            [f"{audit.sensitive[sensitive].t:.4f}" for audit in audits]
            if found.added
            else ["", "", f"{found.audit.sensitive[sensitive].t:.4f}"]
        )
        classes = 0 if found.alone is None else found.alone.classes
        cells = [
            f"{algorithm}, {sensitive} t = {t}",
            f"{release.audit.classes:,}",
            found.added,
            classes,
            found.strange,
            found.held_back,
        ]
        print("| " + " | ".join(map(str, [*cells, *attained, f"{seconds:.1f}"])) + " |", flush=True)


if __name__ == "__main__":
    main()
