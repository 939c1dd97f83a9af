"""The bytes of releases: hashes of data files and certificates, to show that a change of the code changes no release.

    python bench/bytes.py before.json                       make the hashes
    python bench/bytes.py after.json --against before.json  make them, and compare: exit code 1 where one differs
    python bench/bytes.py some.json --only clinic           the small table alone: no Adult

The scenario table's policies with every algorithm, growth with two efforts; and policies with suppression, persons, bins, dates, snapped
ranges and kept columns. Each release is written as CSV and as Parquet. Records have a fresh key, and are not compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import tclose as tc
from scenarios import CASES, DATA, LIMITS, machine, policy_of

WAYS = (("growth", "balanced"), ("growth", "fast"), ("mondrian", "balanced"), ("fragmentation", "balanced"))
ROWS = 3_000
Case = tuple[str, Any, tc.Policy]
"""What is released: a name, a table and a policy."""
DISEASES = {"lung": ["asthma", "flu"], "heart": ["stroke", "infarction", "failure"], "mind": ["panic"]}


def clinic() -> pa.Table:
    """A small table with columns of every kind, from arithmetic alone."""
    draws = [(row * 7919 + row * row * 31) % 10_007 for row in range(ROWS)]
    names = [name for group in DISEASES.values() for name in group]
    return pa.table(
        {
            "patient": [f"p{row * 2 // 3}" for row in range(ROWS)],
            "age": [18 + draw % 73 for draw in draws],
            "born": [date(1930, 1, 1) + timedelta(days=draw * 3) for draw in draws],
            "zip": [f"47{draw % 97:02d}" for draw in draws],
            "town": [None if draw % 53 == 0 else f"town {draw % 11}" for draw in draws],
            "ward": [f"ward {draw % 4}" for draw in draws],
            "cost": [draw % 613 * 10 + row % 7 for row, draw in enumerate(draws)],
            "score": [draw % 29 / 4 for draw in draws],
            "disease": [names[(draw // 13 + draw % 3) % len(names)] for draw in draws],
        }
    )


def of_adult() -> Iterator[Case]:
    """The scenario table."""
    for sensitive in CASES:
        for t in LIMITS:
            yield f"{'+'.join(sensitive)} t={t}", DATA / "adult.csv", policy_of(sensitive, t)


def of_clinic() -> Iterator[Case]:
    """Whatever else a policy may ask, of the small table."""
    disease = {"disease": {"t": 0.3, "hierarchy": DISEASES}}
    asked: dict[str, dict[str, Any]] = {
        "suppression": {"quasi": ["age", "town"], "sensitive": {"cost": 0.2, **disease}, "suppression": 0.05},
        "too common": {"quasi": ["age", "town"], "sensitive": {"disease": 0.3}, "alpha": 0.19, "suppression": 0.06},
        "unit": {
            "quasi": ["age", "town"],
            "sensitive": {"cost": {"t": 0.2, "l": 3}},
            "unit": "patient",
            "identifiers": ["patient"],
        },
        "bins": {"quasi": ["age", "town"], "sensitive": {"cost": {"t": 0.2, "bins": 12}}, "suppression": 0.03},
        "dates": {
            "quasi": {"born": {"hierarchy": "dates"}, "zip": {"hierarchy": "prefixes"}},
            "sensitive": {"cost": 0.2, **disease},
        },
        "snap": {
            "quasi": {"age": {"snap": 5, "top": 85}, "born": {"snap": "month"}},
            "sensitive": {"score": {"t": 0.2, "distance": "numeric"}},
        },
        "keep": {
            "quasi": {"age": {"recode": "bounds"}, "town": {}},
            "sensitive": {"disease": {"t": 0.25, "beta": 6}},
            "keep": ["ward"],
        },
        "limits": {
            "quasi": ["age", "zip"],
            "sensitive": {"disease": {"t": 0.4, "l": 2, "delta": 3, "distance": "equal"}},
            "alpha": 0.6,
        },
    }
    for name, settings in asked.items():
        yield name, clinic(), tc.Policy(k=4, other="drop", **settings)


TABLES = {"adult": of_adult, "clinic": of_clinic}


def hashes(tables: Sequence[str]) -> dict[str, str]:
    """The hash of each file, by the release it is of."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, table, policy in (case for each in tables for case in TABLES[each]()):
            for algorithm, effort in WAYS:
                release = tc.anonymize(table, policy, algorithm=algorithm, effort=effort)
                for kind in ("csv", "parquet"):
                    data, certificate, *_ = release.write(Path(folder) / f"release.{kind}", force=True)
                    for path in (data, certificate):
                        found[f"{name}, {algorithm} {effort}: {path.name}"] = hashlib.sha256(path.read_bytes()).hexdigest()
                print(f"{name}, {algorithm} {effort}: gcp={release.loss['gcp']:.4f}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("to", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--only", choices=TABLES)
    given = parser.parse_args()
    about = machine()
    found = hashes([given.only] if given.only else list(TABLES))
    given.to.write_text(json.dumps({"machine": about, "hashes": found}, indent=1) + "\n")
    if given.against is None:
        print(f"{len(found)} files hashed.")
        return 0
    before = json.loads(given.against.read_text())["hashes"]
    compared = found.keys() if given.only else before.keys() | found.keys()
    differ = [name for name in compared if before.get(name) != found.get(name)]
    print("\n".join(sorted(differ)))
    print(f"{len(differ)} of {len(compared)} files differ.")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
