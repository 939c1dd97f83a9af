"""How long MDAV takes: CPU seconds, warm, on one core.

    python bench/mdav.py

k = 5; the five numeric columns of Adult as quasi-identifiers, 30,000 rows; 100,000 rows made of Adult, each column of a row taken from one of two
random rows; and 100,000 rows of five columns of random floats. Adult is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from scenarios import DATA, machine
from tclose.make.kernels.loss import loss_table
from tclose.make.microaggregation.mdav import mdav
from tclose.make.microaggregation.space import Space, make_space
from tclose.make.scales import Line

COLUMNS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
K = 5


def main() -> None:
    print(f"{machine()}\n")
    print("| table | rows | k | classes | CPU s |\n|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    adult = pd.read_csv(DATA / "adult.csv", usecols=COLUMNS)[COLUMNS].to_numpy()[:30_000]
    mixed = np.take_along_axis(adult[rng.integers(0, len(adult), (100_000, 2))], rng.integers(0, 2, (100_000, 1, 5)), axis=1)[
        :, 0
    ]
    mdav(space_of(adult[:100]), K)  # compiles
    for name, table in (("Adult, 5 numeric columns", adult), ("mixed Adult", mixed), ("random floats", rng.random((100_000, 5)))):
        space = space_of(table)
        begun = time.process_time()
        labels = mdav(space, K)
        print(f"| {name} | {len(table):,} | {K} | {labels.max() + 1:,} | {time.process_time() - begun:.2f} |", flush=True)


def space_of(table: Any) -> Space:
    """The space of rows, sorted as in a release."""
    table = table[np.lexsort(table.T[::-1])]
    widths, codes = [], []
    for place, column in enumerate(table.T):
        values, ranks = np.unique(column, return_inverse=True)
        widths.append(Line.of(f"q{place}", values.tolist())[0].widths())
        codes.append(ranks)
    return make_space(loss_table(widths, [1.0] * len(widths)), np.array(codes, dtype=np.int32).T)


if __name__ == "__main__":
    main()
