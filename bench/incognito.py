"""Incognito on Adult: the least information loss over the minimal nodes of the lattice, the nodes that were tested, and the time.

    python bench/incognito.py

Occupation (equal distance), t = 0.2, k = 5, the eight quasi-identifiers of the comparison with ARX, each with its hierarchy. Prints
Markdown for bench/RESULTS.md. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import time
from typing import Any

import pandas as pd

import tclose as tc
from scenarios import DATA, machine

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no row suppressed", {}),
    ("at most 1% suppressed", {"suppression": 0.01}),
    ("at most 5% suppressed", {"suppression": 0.05}),
)


def main() -> None:
    print(f"{machine()}\n")
    adult = pd.read_csv(DATA / "adult.csv")
    for algorithm in ("incognito", "growth"):
        tc.anonymize(DATA / "adult.csv", policy_of(), algorithm=algorithm, effort="fast")  # compiles
    print(
        "| case | LM | GCP | least LM of a minimal node | classes | suppressed | minimal nodes | tested, of 4,320 | of subsets | CPU s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, more in CASES:
        before = time.process_time()
        release = tc.anonymize(DATA / "adult.csv", policy_of(**more), algorithm="incognito")
        spent = time.process_time() - before
        course = release.record["course"]
        least = min(loss_metric(adult, levels) for levels in course["minimal"]) if not more else None
        print(
            f"| {name} | {release.loss['lm']:.4f} | {release.loss['gcp']:.4f} | {'' if least is None else f'{least:.4f}'} "
            f"| {release.audit.classes} | {release.suppressed} | {course['minimal_nodes'] if not more else ''} "
            f"| {course['nodes_tested']:,} | {course['nodes_tested_of_subsets']:,} | {spent:.2f} |",
            flush=True,
        )
    before = time.process_time()
    release = tc.anonymize(DATA / "adult.csv", policy_of())
    spent = time.process_time() - before
    print(
        f"| growth, no row suppressed | {release.loss['lm']:.4f} | {release.loss['gcp']:.4f} | | {release.audit.classes:,} | 0 | | | "
        f"| {spent:.2f} |"
    )


def policy_of(**more: Any) -> tc.Policy:
    quasi = [tc.Quasi(name, hierarchy=DATA / "hierarchies" / f"{name}.csv") for name in QUASI]
    return tc.Policy(quasi, [tc.Sensitive("occupation", t=0.2, distance="equal")], k=5, other="drop", **more)


def loss_metric(adult: pd.DataFrame, levels: list[int]) -> float:
    """The LM of a node, from the files of the hierarchies: (values below the label - 1) / (all values - 1), over values that occur."""
    total = 0.0
    for name, level in zip(QUASI, levels, strict=True):
        lines = (DATA / "hierarchies" / f"{name}.csv").read_text().splitlines()
        above = {line.split(";")[0]: line.split(";")[::-1] for line in lines}
        values = adult[name].astype(str)
        labels = values.map(lambda value, above=above, level=level: above[value][min(level, len(above[value]) - 1)])
        below = values.groupby(labels).nunique()
        total += float((labels.map(below) - 1).mean()) / (values.nunique() - 1)
    return total / len(QUASI)


if __name__ == "__main__":
    main()
