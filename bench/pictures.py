"""Draw the pictures of docs/research/fragmentation.md.

    pip install tclose[report,bench]; python bench/pictures.py [measure]

measure takes the times of searches anew, and writes times.json, from which the picture of times is drawn. Adult is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import tclose as tc
from saving import save
from scenarios import DATA, HERE, machine
from tclose.make.fragmentation.result import Fragmentation
from tclose.report.look import GREY, NAVY, ON_BRIGHT, ON_DEEP, RED, SKY

TIMES = HERE / "times.json"
VALUES = (8, 16, 32, 64, 128, 256, 512, 1024)
SHAPES: dict[str, Callable[[int], tuple[int, int]]] = {"m = n": lambda m: (m, m), "n = 16": lambda m: (m, 16)}
"""What is measured: matrices with m and n values, and which n goes with an m."""
FIGURE_1 = [[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]]


def main() -> None:
    if sys.argv[1:] == ["measure"]:
        measure_times()
        return
    save(figure_1(), "bounds")
    save(walk(), "walk")
    save(adult(), "adult")
    save(times(), "times")


def matrix(
    counts: NDArray[Any], found: Fragmentation, title: list[str], size: tuple[int, int], titles: tuple[str, str] | None = None
) -> Any:
    """The counts as a heat map, rows downwards as the paper has them, and the fragments as boxes over it.

    Small matrices have their numbers in the cells; large ones titles at their axes, and a legend.
    """
    rows, columns = counts.shape
    numbers = titles is None
    down_title, across_title = titles or (None, None)
    cells = pd.DataFrame(
        [
            {"x": x - 0.5, "x2": x + 0.5, "y": y - 0.5, "y2": y + 0.5, "cx": x, "cy": y, "rows": int(counts[y, x])}
            for y in range(rows)
            for x in range(columns)
        ]
    )
    boxes = pd.DataFrame([dict(zip(("y", "y2", "x", "x2"), box, strict=True)) for box in map(ends, found.fragments)])
    names = found.matrix.values  # noqa: PD011 - no frame
    across = alt.X("x:Q", title=across_title, scale=alt.Scale(domain=[-0.5, columns - 0.5], nice=False), axis=axis(names[1]))
    down = alt.Y(
        "y:Q", title=down_title, scale=alt.Scale(domain=[-0.5, rows - 0.5], nice=False, reverse=True), axis=axis(names[0])
    )
    shade = alt.Color(
        "rows:Q",
        scale=alt.Scale(scheme="blues", type="linear" if numbers else "symlog"),
        legend=None if numbers else alt.Legend(title="rows"),
    )
    heat = alt.Chart(cells).mark_rect().encode(x=across, x2="x2:Q", y=down, y2="y2:Q", color=shade)
    frame = alt.Chart(boxes).mark_rect(filled=False, stroke=RED, strokeWidth=2.5).encode(x="x:Q", x2="x2:Q", y="y:Q", y2="y2:Q")
    layers = [heat, frame]
    if numbers:
        dark = alt.condition("datum.rows > 50", alt.value(ON_DEEP), alt.value(ON_BRIGHT))
        layers.insert(1, alt.Chart(cells).mark_text(fontSize=13).encode(x="cx:Q", y="cy:Q", text="rows:Q", color=dark))
    return alt.layer(*layers).properties(width=size[0], height=size[1], title=title)


def ends(fragment: Any) -> list[float]:
    """First and last place on each attribute, half a cell out."""
    return [edge for side in fragment.sides for edge in (float(side[0]) - 0.5, float(side[-1]) + 0.5)]


def axis(names: Sequence[Any]) -> alt.Axis:
    """Ticks at the values, under their names."""
    labels = " : ".join(f"datum.value == {place} ? '{name}'" for place, name in enumerate(names)) + " : ''"
    return alt.Axis(
        values=list(range(len(names))), labelExpr=labels, grid=False, ticks=False, domain=False, labelAngle=0, labelPadding=6
    )


def said(found: Fragmentation) -> list[str]:
    number = len(found.fragments)
    bounds = " and ".join(f"{float(bound):.3f}" for bound in found.bounds)
    return [f"{number} {'fragment' if number == 1 else 'fragments'}", f"bounds {bounds}"]


def figure_1() -> Any:
    names = (["x1", "x2", "x3", "x4"], ["y1", "y2", "y3"])
    charts = []
    for bound in ("published", "corrected"):
        found = tc.find_fragmentation(FIGURE_1, t=0.3, bound=bound, values=names)
        number, bounds = said(found)
        charts.append(matrix(np.array(FIGURE_1), found, [f"{bound}: {number}", bounds], (210, 240)))
    return alt.hconcat(*charts, spacing=50)


def walk() -> Any:
    names = (["x1", "x2", "x3", "x4"], ["y1", "y2", "y3"])
    found = tc.find_fragmentation(FIGURE_1, t=0.2, values=names)
    steps = [matrix(np.array(FIGURE_1), step, said(step), (130, 150)) for step in found.walk()]
    return alt.hconcat(*steps, spacing=25)


def adult() -> Any:
    table = pd.read_csv(DATA / "adult.csv", usecols=["hours-per-week", "education-num"])
    table["hours"] = np.minimum(table["hours-per-week"] // 5, 19)
    counts = pd.crosstab(table["education-num"], table["hours"])
    charts = []
    for t in (0.3, 0.1):
        found = tc.find_fragmentation(
            counts.to_numpy(), t=t, values=(list(counts.index), [f"{5 * hours}" for hours in counts.columns])
        )
        number, bounds = said(found)
        charts.append(
            matrix(
                counts.to_numpy(), found, [f"t = {t}: {number}", bounds], (420, 330), ("education-num", "hours-per-week, from")
            )
        )
    return alt.hconcat(*charts, spacing=40)


def times() -> Any:
    """CPU seconds of a search over matrices of 30,000 rows, against the number of values, from times.json; beside it the paper's count of
    steps, through the smallest matrix's time."""
    points = json.loads(TIMES.read_text())["points"]
    panels = []
    for title, shape in SHAPES.items():
        found = [point for point in points if point["shape"] == title]
        least = next(point["seconds"] for point in found if point["what"].startswith("published"))
        steps = [(sum(shape(m)) * math.prod(shape(m)) ** 2, m) for m in VALUES]
        found += [
            {"m": m, "what": "(m+n) m²n², the paper's count, scaled", "seconds": least * count / steps[0][0]}
            for count, m in steps
        ]
        seconds = alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="CPU seconds", axis=alt.Axis(format=",~r", tickCount=8))
        across = alt.X(
            "m:Q", scale=alt.Scale(type="log", base=2), axis=alt.Axis(format="d"), title=f"m, values of an attribute; {title}"
        )
        legend = alt.Legend(orient="top", columns=2, symbolType="stroke", symbolSize=400)
        what = alt.Color("what:N", title=None, scale=alt.Scale(range=[GREY, NAVY, SKY, RED]), legend=legend)
        dash = alt.StrokeDash("what:N", title=None, legend=legend, scale=alt.Scale(range=[[6, 4], [1, 0], [1, 0], [1, 0]]))
        chart = (
            alt.Chart(pd.DataFrame(found))
            .mark_line(point=alt.OverlayMarkDef(strokeWidth=0, size=40))
            .encode(x=across, y=seconds, color=what, strokeDash=dash)
        )
        panels.append(chart.properties(width=340, height=320))
    return alt.hconcat(*panels, spacing=40)


def measure_times() -> None:
    about = machine()
    points = [
        {"shape": title, "m": m, "what": f"{bound} bound, t = {t}", "seconds": float(f"{spent(hill(*shape(m)), t, bound):.3g}")}
        for title, shape in SHAPES.items()
        for m in VALUES
        for bound, t, largest in (("corrected", 0.1, 1024), ("corrected", 0.01, 1024), ("published", 0.1, 32))
        if m <= largest
    ]
    TIMES.write_text(json.dumps({"measured": about, "points": points}, indent=1) + "\n")


def hill(rows: int, columns: int) -> NDArray[Any]:
    """30,000 rows drawn from a hill."""
    down, across = np.arange(rows)[:, None] / rows - 1 / 3, np.arange(columns)[None, :] / columns - 1 / 2
    heights = np.exp(-16 * (down**2 + across**2)).ravel()
    drawn: NDArray[Any] = np.random.default_rng(0).multinomial(30_000, heights / heights.sum()).reshape(rows, columns)
    return drawn


def spent(counts: NDArray[Any], t: float, bound: str) -> float:
    """The least CPU seconds of three searches."""
    runs = []
    for _ in range(3):
        before = time.process_time()
        tc.find_fragmentation(counts, t=t, bound=bound)
        runs.append(time.process_time() - before)
    return min(runs)


if __name__ == "__main__":
    main()
