"""Fragmentation on Adult: fragments and classes, what was promised and what is attained, what is lost, and how long it takes.

    python bench/fragmentation.py

k = 5. Prints Markdown for bench/RESULTS.md. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import tclose as tc
from release import table
from scenarios import DATA, TREES, machine, policy_of
from tclose.distances import Ordered
from tclose.make.fragmentation.counts import Counts
from tclose.make.fragmentation.depth import DEPTHS
from tclose.make.fragmentation.fragmentation import size_classes
from tclose.make.registry import find_algorithm
from tclose.values.exact import exact

K = 5
ROWS = (30_000, 100_000, 300_000, 1_000_000)


def main() -> None:
    print(f"{machine()}\n")
    adult = pd.read_csv(DATA / "adult.csv")
    adult["hours"] = np.minimum(adult["hours-per-week"] // 5, 19)
    tc.anonymize(adult[:1000], policy_for(("hours",), (0.3,)), algorithm="fragmentation")  # compiles
    occupation = tc.Hierarchy.from_csv(DATA / "hierarchies" / "occupation.csv")
    compare_bounds(adult)
    print("\n| sensitive | t | classes sized | classes | rows in a class | promised | attained | GCP | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for t in (0.3, 0.2, 0.1):
        release(adult, ("hours", "education-num"), (t, t))
    release(adult, ("hours-per-week", "age", "capital-gain"), (0.3, 0.2, 0.1))
    for t in (0.3, 0.2, 0.1):
        release(adult, ("hours-per-week", "occupation"), (t, t), {"occupation": occupation})
    one_row_more(adult)
    grow()


def policy_for(sensitive: tuple[str, ...], t: tuple[float, ...], trees: dict[str, tc.Hierarchy] | None = None) -> tc.Policy:
    """The quasi-identifiers of the scenario table, those that are sensitive here apart."""
    quasi: list[Any] = [name for name in ("age", "education-num") if name not in sensitive]
    quasi += [tc.Quasi(name, hierarchy=DATA / "hierarchies" / f"{name}.csv") for name in TREES]
    limits = [tc.Sensitive(name, t=limit, hierarchy=(trees or {}).get(name)) for name, limit in zip(sensitive, t, strict=True)]
    return tc.Policy(quasi=quasi, sensitive=limits, k=K, other="drop")


def compare_bounds(adult: pd.DataFrame) -> None:
    """Fragments and classes of hours x education-num for both bounds and both sizings, at depth t."""
    print("min(hours // 5, 19) x education-num:\n")
    print(
        "| t | bound | fragments to depth t | bounds | classes, gcd | relaxed | relaxed, most at any depth | CPU s of the search |"
    )
    print("|---|---|---|---|---|---|---|---|")
    counts = pd.crosstab(adult["hours"], adult["education-num"]).to_numpy()
    for t in (0.3, 0.2, 0.1):
        for bound in ("published", "corrected"):
            before = time.process_time()
            found = tc.find_fragmentation(counts, t=t, bound=bound)
            spent = time.process_time() - before
            sizes = [len(found.class_sizes(K, sizing)) for sizing in ("gcd", "relaxed")]
            bounds = ", ".join(f"{float(value):.4f}" for value in found.bounds)
            deeper = (
                [tc.find_fragmentation(counts, t=depth * exact(t), bound=bound) for depth in DEPTHS]
                if bound == "corrected"
                else []
            )
            most = max([sizes[1], *(len(replace(deep, t=found.t).class_sizes(K)) for deep in deeper)])
            print(
                f"| {t} | {bound} | {len(found.fragments)} | {bounds} | {sizes[0]} | {sizes[1]:,} | {most:,} | {spent:.3f} |",
                flush=True,
            )


def release(
    adult: pd.DataFrame,
    sensitive: tuple[str, ...],
    t: tuple[float, ...],
    trees: dict[str, tc.Hierarchy] | None = None,
) -> None:
    """One line of the table of releases."""
    before = time.process_time()
    made = tc.anonymize(adult, policy_for(sensitive, t, trees), algorithm="fragmentation", options={"prefer": "classes"})
    spent = time.process_time() - before
    promised, attained = beside(made)
    sizes = made.audit.sizes
    print(
        f"| {' x '.join(sensitive)} | {', '.join(map(str, t))} | {made.partition.max() + 1:,} | {made.audit.classes:,} | {sizes.min()} to {sizes.max()} | "
        f"{promised} | {attained} | {made.loss['gcp']:.4f} | {spent:.2f} |",
        flush=True,
    )


def beside(made: tc.Release) -> tuple[str, str]:
    """What was promised, and what is attained."""
    promised = made.certificate["promised"]
    return tuple(", ".join(f"{promised[name][key]:.4f}" for name in promised) for key in ("t", "t_attained"))  # type: ignore[return-value]


def one_row_more(adult: pd.DataFrame) -> None:
    """How the number of classes changes with one row more or less."""
    print("\nOne row more or less, classes sized (30 rows drawn, seed 0):\n")
    print("| sensitive | t | classes | least | most | change at most |")
    print("|---|---|---|---|---|---|")
    drawn = np.random.default_rng(0).choice(len(adult), 30, replace=False)
    for names, t in (
        (("hours", "education-num"), 0.2),
        (("hours", "education-num"), 0.1),
        (("hours-per-week", "capital-gain"), 0.1),
    ):
        whole = classes(adult, names, t)
        tables = [adult.drop(index=row) for row in drawn] + [pd.concat([adult, adult.iloc[[row]]]) for row in drawn]
        found = [classes(table, names, t) for table in tables]
        change = max(abs(number - whole) for number in found) / whole
        print(f"| {' x '.join(names)} | {t} | {whole:,} | {min(found):,} | {max(found):,} | {100 * change:.2f}% |", flush=True)


def classes(table: pd.DataFrame, names: tuple[str, ...], t: float) -> int:
    """How many classes are sized."""
    codes = [np.unique(table[name], return_inverse=True) for name in names]
    distances = [Ordered(len(values)) for values, _ in codes]
    matrix, _ = Counts.of_codes([ranks for _, ranks in codes], distances, [list(values) for values, _ in codes])
    options = {**find_algorithm("fragmentation").defaults, "prefer": "classes"}
    return len(size_classes(matrix, [exact(t)] * len(names), K, options)[1])


def grow() -> None:
    """Time and loss against rows."""
    print("\nhours-per-week + capital-gain, t = 0.1, Adult with its quasi-identifiers blurred:\n")
    print("| rows | classes | GCP | CPU s | CPU s of t-Mondrian |")
    print("|---|---|---|---|---|")
    policy = policy_of(("hours-per-week", "capital-gain"), 0.1)
    for rows in ROWS:
        path = table(rows)
        before = time.process_time()
        made = tc.anonymize(path, policy, algorithm="fragmentation")
        middle = time.process_time()
        tc.anonymize(path, policy, algorithm="mondrian")
        spent = middle - before, time.process_time() - middle
        print(f"| {rows:,} | {made.audit.classes:,} | {made.loss['gcp']:.4f} | {spent[0]:.1f} | {spent[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
