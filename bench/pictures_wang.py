"""Draw the picture of docs/algorithms/wang.md.

    pip install tclose[report,bench]; python bench/pictures_wang.py

The census table is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import altair as alt
import pandas as pd

from saving import save
from scenarios import DATA
from tclose.distances import Ordered
from tclose.make.wang import groups_by_component, groups_by_distance
from tclose.report.look import GOLD, GREEN, GREY, PURPLE, RED, SKY

GROUPS = 6
COLORS = [SKY, RED, GREEN, PURPLE, GOLD, GREY]


def main() -> None:
    save(groups(), "wang")


def groups() -> Any:
    """Two sensitive columns of the census table by rank, every third row, and the groups of both algorithms."""
    people = pd.read_csv(DATA / "census.csv")[["FEDTAX", "FICA"]]
    ranks = people.rank(method="dense").astype(int) - 1
    attributes: list[Any] = [
        SimpleNamespace(codes=ranks[name].to_numpy(), distance=Ordered(int(ranks[name].max()) + 1)) for name in people
    ]
    panels = []
    for title, group in (("wang-clustering", groups_by_distance), ("wang-pca", groups_by_component)):
        shown = ranks.assign(group=group(attributes, GROUPS)).iloc[::3]
        points = alt.Chart(shown).mark_circle(size=14, opacity=0.8)
        across, down = (alt.X("FEDTAX:Q", title="federal tax, rank"), alt.Y("FICA:Q", title="retirement contribution, rank"))
        shade = alt.Color("group:N", scale=alt.Scale(range=COLORS), legend=None)
        panels.append(points.encode(across, down, shade).properties(width=300, height=260, title=title))
    return alt.hconcat(*panels)


if __name__ == "__main__":
    main()
