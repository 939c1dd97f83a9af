"""Draw the picture of docs/algorithms/sabre.md.

    pip install tclose[report,bench]; python bench/pictures_sabre.py

Adult is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

import tclose as tc
from saving import save
from scenarios import DATA
from tclose.make.sabre import size_classes
from tclose.report.look import RED, SKY
from tclose.values.exact import exact

T, K = 0.1, 5


def main() -> None:
    save(buckets(), "sabre")


def buckets() -> Any:
    """The hours per week of Adult, in the buckets that SABRE makes of them."""
    counts = pd.read_csv(DATA / "adult.csv")["hours-per-week"].value_counts()
    found, _ = size_classes(tc.find_fragmentation(counts, t=T).matrix, exact(T), K)
    shown = sorted((min(part.values[0]), max(part.values[0])) for part in found.fragments)  # noqa: PD011 - no frame
    bars = pd.DataFrame(
        [
            {"hours": hours, "people": people, "bucket": number % 2}
            for number, (low, high) in enumerate(shown)
            for hours, people in counts.items()
            if low <= hours <= high
        ]
    )
    shade = alt.Color("bucket:N", scale=alt.Scale(range=[SKY, RED]), legend=None)
    people = alt.Y("people:Q", scale=alt.Scale(type="symlog"), title="people", axis=alt.Axis(values=[0, 10, 100, 1000, 10000]))
    chart = alt.Chart(bars).mark_bar(width=5).encode(alt.X("hours:Q", title="hours per week"), people, shade)
    return chart.properties(
        width=620,
        height=220,
        title=f"{len(shown)} buckets of hours per week, t = {T}, k = {K}: a change of colour is a new bucket",
    )


if __name__ == "__main__":
    main()
