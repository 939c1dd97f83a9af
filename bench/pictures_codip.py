"""Draw the picture of docs/algorithms/codip.md.

    pip install tclose[report,bench]; python bench/pictures_codip.py

Adult is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import altair as alt
import pandas as pd
import pyarrow.csv

import tclose as tc
from saving import save
from scenarios import DATA
from tclose.report.look import ON_BRIGHT, RED

SENSITIVE = {"occupation": 0.2, "workclass": 0.2, "hours-per-week": 0.15, "capital-gain": 0.15}
POLICY = tc.Policy(["age", "education", "sex", "race"], SENSITIVE, k=5, other="drop")
ROWS = 3000


def main() -> None:
    save(associations(), "codip")


def associations() -> Any:
    """The association of each pair of sensitive columns of Adult, and a frame around the columns of each table."""
    people = pyarrow.csv.read_csv(DATA / "adult.csv").slice(0, ROWS)
    found = tc.anonymize(people, POLICY, algorithm="codip", options={"intersection": "accept"})
    names = [name for table in found.joined.tables for name in table]
    strength = {frozenset(pair.between): pair.strength for pair in found.joined.associations}
    cells = pd.DataFrame(
        [
            {"a": a, "b": b, "association": strength[frozenset((a, b))], "text": f"{strength[frozenset((a, b))]:.3f}"}
            for a, b in product(names, names)
            if a != b
        ]
    )
    across = alt.X(
        "a:N", sort=names, title=None, axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, labelPadding=6)
    )
    down = alt.Y("b:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=6))
    heat = (
        alt.Chart(cells)
        .mark_rect()
        .encode(across, down, alt.Color("association:Q", scale=alt.Scale(scheme="blues", domain=[0, 0.2]), legend=None))
    )
    numbers = alt.Chart(cells).mark_text(color=ON_BRIGHT).encode(across, down, alt.Text("text:N"))
    ends, begin = [], 0
    for table in found.joined.tables:
        ends.append({"x": 110 * begin, "x2": 110 * (begin + len(table)), "y": 55 * begin, "y2": 55 * (begin + len(table))})
        begin += len(table)
    frames = (
        alt.Chart(pd.DataFrame(ends))
        .mark_rect(filled=False, stroke=RED, strokeWidth=3)
        .encode(
            alt.X("x:Q", scale=alt.Scale(domain=[0, 110 * len(names)]), axis=None),
            alt.Y("y:Q", scale=alt.Scale(domain=[55 * len(names), 0]), axis=None),
            x2="x2:Q",
            y2="y2:Q",
        )
    )
    title = "Association of sensitive columns; a red frame is a table"
    grid = (heat + numbers).properties(width=110 * len(names), height=55 * len(names))
    return alt.layer(grid, frames).resolve_scale(x="independent", y="independent").properties(title=title)


if __name__ == "__main__":
    main()
