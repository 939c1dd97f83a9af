"""Draw the pictures of docs/research/growth.md.

    pip install tclose[report,bench]; python bench/growth.py many; python bench/growth_pictures.py [many growing refining blocks | measure]

measure refines, which takes long, and writes refining.json, from which the picture of refining is drawn. Adult is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import altair as alt
import numpy as np
import pandas as pd

import tclose as tc
from growth import ABLATED, ADULT, MANY
from saving import save
from scenarios import HERE, machine, policy_of
from tclose.make.growth import growth
from tclose.make.growth.blocks import cut
from tclose.make.growth.neighbourhood import measured
from tclose.make.growth.refine import refine
from tclose.make.kernels.classes import total_loss
from tclose.report.look import GOLD, GREEN, GREY, INDIGO, NAVY, PALE, RED, SKY, TEXT

REFINING = HERE / "refining.json"
EFFORTS = ("balanced", "best")
AGE, EDUCATION = "age", "education-num"
TITLES = {AGE: "age (years)", EDUCATION: "education-num (1 = preschool, 16 = doctorate)"}


def main() -> None:
    names = sys.argv[1:] or list(CHARTS)
    if names == ["measure"]:
        measure_refining()
        return
    if not set(names) <= CHARTS.keys():
        raise SystemExit(__doc__)
    for name in names:
        save(CHARTS[name](), name)


# Loss against the number of sensitive attributes.


def many() -> Any:
    """From the numbers of ``bench/growth.py many``."""
    points = json.loads(MANY.read_text())["points"]
    found = pd.DataFrame(
        {
            "place": f"{point['attributes']}|{'+ ' if point['attributes'] > 1 else ''}{point['last']}",
            "limit": f"t = {point['t']}",
            "GCP": np.mean(point["gcp"]),
            "least": min(point["gcp"]),
            "most": max(point["gcp"]),
        }
        for point in points
    )
    names = alt.Axis(labelExpr="split(datum.label, '|')", labelAngle=0, grid=False)
    across = alt.X("place:N", sort=None, title="sensitive attributes, one more each", axis=names)
    up = alt.Y("GCP:Q", scale=alt.Scale(domainMin=0), title="information loss (GCP: 0 none, 1 all)", axis=alt.Axis(tickCount=6))
    limit = alt.Color(
        "limit:N", title=None, sort="descending", scale=alt.Scale(range=[SKY, NAVY]), legend=alt.Legend(orient="top")
    )
    lines = alt.Chart(found).mark_line(point=alt.OverlayMarkDef(size=60), strokeWidth=2.5).encode(x=across, y=up, color=limit)
    seeds = alt.Chart(found).mark_rule(strokeWidth=2).encode(x=across, y="least:Q", y2="most:Q", color=limit)
    return alt.layer(seeds, lines).properties(width=660, height=300)


# One class grows.


class Step(NamedTuple):
    """A class with so many rows: its rows, and its excess."""

    rows: list[int]
    excess: float


T, K, ROWS = 0.1, 5, 400
SHOWN = (1, 4, 8, 16)
"""The boxes to draw, in rows of the class, before the last."""
PADS = {AGE: 0.16, EDUCATION: 0.06}
"""How much further out each box is drawn than the one before, so that edges do not hide one another."""


def growing() -> Any:
    """The boxes of one class as it grows, and below them its excess."""
    table = pd.read_csv(ADULT, usecols=[AGE, EDUCATION, "occupation"]).sample(ROWS, random_state=1).reset_index(drop=True)
    steps = grown(table, first=central(table))
    last = len(steps)
    sizes = [size for size in SHOWN if size < last] + [last]
    names = [f"{size} {'row' if size == 1 else 'rows'}" for size in sizes]
    colour = alt.Color(
        "box:N",
        title="its box with",
        sort=names,
        scale=alt.Scale(domain=names, range=[GOLD, GREEN, SKY, INDIGO, RED]),
    )
    return alt.vconcat(boxes(table, steps, sizes, names, colour), falling(steps, sizes, names, colour), spacing=30)


def central(table: pd.DataFrame) -> int:
    """The row nearest to the middle of the table."""
    middle = [table[name].median() for name in (AGE, EDUCATION)]
    return int(((table[AGE] - middle[0]).abs() / 73 + (table[EDUCATION] - middle[1]).abs() / 15).idxmin())


def grown(table: pd.DataFrame, first: int) -> list[Step]:
    """A class, row by row: of the rows that make its excess lower, or keep it at 0, the one with which its box is smallest.

    Where no row makes it lower, of those that raise it least.
    """
    values = table["occupation"].tolist()
    whole = Counter(values)
    places = (table[[AGE, EDUCATION]] / np.ptp(table[[AGE, EDUCATION]], axis=0)).to_numpy()

    def excess(rows: list[int], more: str) -> float:
        return max(0.0, tc.emd(Counter([*(values[row] for row in rows), more]), whole, "equal") - T)

    def loss(rows: list[int]) -> float:
        return float(np.ptp(places[rows], axis=0).sum())

    steps = [Step([first], excess([], values[first]))]
    while len(steps) < K or steps[-1].excess > 0:
        rows, now = steps[-1]
        left = [row for row in range(len(values)) if row not in rows]
        then = {value: excess(rows, value) for value in {values[row] for row in left}}
        may = [row for row in left if then[values[row]] < now or then[values[row]] == 0]
        may = may or [row for row in left if then[values[row]] == min(then.values())]
        best = min(may, key=lambda row: loss([*rows, row]))
        steps.append(Step([*rows, best], then[values[best]]))
    return steps


def boxes(table: pd.DataFrame, steps: list[Step], sizes: list[int], names: list[str], colour: Any) -> Any:
    """The rows as dots, those of the class filled, and the class's boxes."""
    shaken = table[[AGE, EDUCATION]] + np.random.default_rng(0).uniform(-0.33, 0.33, (len(table), 2))
    taken = steps[-1].rows
    found = pd.DataFrame(
        {
            "box": box,
            **{name: table[name].iloc[rows].min() - 0.5 - place * pad for name, pad in PADS.items()},
            **{f"{name} to": table[name].iloc[rows].max() + 0.5 + place * pad for name, pad in PADS.items()},
        }
        for place, (size, box) in enumerate(zip(sizes, names, strict=True))
        for rows in [steps[size - 1].rows]
    )
    across = alt.X(f"{AGE}:Q", title=TITLES[AGE], scale=alt.Scale(domain=[26, 56], nice=False), axis=alt.Axis(grid=False))
    up = alt.Y(
        f"{EDUCATION}:Q", title=TITLES[EDUCATION], scale=alt.Scale(domain=[6, 14.5], nice=False), axis=alt.Axis(grid=False)
    )
    faint = (
        alt.Chart(shaken.drop(index=taken))
        .mark_circle(size=30, color=PALE, opacity=0.8, clip=True, aria=False)
        .encode(x=across, y=up)
    )
    full = alt.Chart(shaken.loc[taken]).mark_circle(size=40, color=TEXT, opacity=1, aria=False).encode(x=across, y=up)
    frame = alt.Chart(found).mark_rect(filled=False, strokeWidth=2.5)
    frames = frame.encode(x=across, x2=f"{AGE} to:Q", y=up, y2=f"{EDUCATION} to:Q", color=colour)
    title = [
        f"One class in a table of {len(table)} rows, part of which is shown",
        "full dots: the rows that it takes, pale dots: the others",
    ]
    return alt.layer(faint, frames, full).properties(width=560, height=300, title=title)


def falling(steps: list[Step], sizes: list[int], names: list[str], colour: Any) -> Any:
    """The excess against the number of rows."""
    course = pd.DataFrame({"rows": range(1, len(steps) + 1), "excess": [step.excess for step in steps]})
    marked = course.iloc[[size - 1 for size in sizes]].assign(box=names)
    across = alt.X("rows:Q", title="rows in the class", axis=alt.Axis(grid=False, tickMinStep=1))
    up = alt.Y("excess:Q", title="excess over t", axis=alt.Axis(tickCount=4))
    fall = alt.Chart(course).mark_line(color=GREY, strokeWidth=2, point={"color": GREY}).encode(x=across, y=up)
    dots = alt.Chart(marked).mark_circle(size=110, opacity=1).encode(x=across, y=up, color=colour)
    title = f"How far its occupations are from the table's, above t = {T}"
    return alt.layer(fall, dots).properties(width=560, height=150, title=title)


# Refining.


def refining() -> Any:
    """The loss after each round, for both efforts, as a share of that before refining; from refining.json."""
    points = json.loads(REFINING.read_text())["points"]
    panels = []
    for effort in EFFORTS:
        found = pd.DataFrame(
            {"round": number, "case": point["case"], "share": share}
            for point in points
            if point["effort"] == effort
            for number, share in enumerate(point["shares"])
        )
        across = alt.X("round:Q", title=f"rounds of refining, effort {effort}", axis=alt.Axis(grid=False, tickMinStep=1))
        up = alt.Y(
            "share:Q",
            title="least loss so far (% of that before refining)",
            scale=alt.Scale(zero=False, domainMax=100),
            axis=alt.Axis(tickCount=6),
        )
        legend = alt.Legend(orient="top", columns=2)
        case = alt.Color("case:N", title=None, sort=None, scale=alt.Scale(range=[SKY, RED, GOLD, NAVY]), legend=legend)
        lines = alt.Chart(found).mark_line(strokeWidth=2.5, point=effort == "balanced", clip=False)
        panels.append(lines.encode(x=across, y=up, color=case).properties(width=320, height=280))
    return alt.hconcat(*panels, spacing=40).resolve_scale(y="shared")


def measure_refining() -> None:
    about = machine()
    points = [
        {
            "effort": effort,
            "case": f"{' + '.join(sensitive)}, t = {t}",
            "shares": [round(100 * loss / course[0], 3) for loss in course],
        }
        for effort in EFFORTS
        for sensitive, t in ABLATED
        for course in [told(policy_of(sensitive, t), effort)]
    ]
    REFINING.write_text(json.dumps({"measured": about, "points": points}, indent=1) + "\n")


def told(policy: tc.Policy, effort: str) -> list[float]:
    """The least loss so far, before refining and after each round."""
    heard: list[float] = []

    def listen(given: Any, starts: Any, rounds: int, seconds: Any, hear: Any) -> Any:  # noqa: ARG001
        heard.append(min(total_loss(measured(given, labels)) for labels in starts) / len(starts[0]))
        return refine(given, starts, rounds, seconds, heard.append)

    with patch.object(growth, "refine", listen):
        tc.anonymize(ADULT, policy, algorithm="growth", effort=effort, options={"seconds": 600})
    return heard


# Blocks.

DRAWN = 1200


def blocks() -> Any:
    """Rows in two quasi-identifiers, coloured by block: where plain cuts keep the spread, and where they do not."""
    panels = []
    for sensitive, t, title in (
        ("hours-per-week", 0.2, "cuts between two values: both sides are like the table"),
        (
            "occupation",
            0.1,
            "no such cut: each side gets its part of every occupation",
        ),
    ):
        found = block_of_rows(tc.Policy(quasi=[AGE, EDUCATION], sensitive={sensitive: t}, k=5, other="drop"))
        number = found["block"].max() + 1
        drawn = found.sample(DRAWN, random_state=0)
        drawn[[AGE, EDUCATION]] += np.random.default_rng(0).uniform(-0.4, 0.4, (DRAWN, 2))
        across = alt.X(f"{AGE}:Q", title=TITLES[AGE], scale=alt.Scale(domain=[15, 92], nice=False), axis=alt.Axis(grid=False))
        up = alt.Y(
            f"{EDUCATION}:Q", title=TITLES[EDUCATION], scale=alt.Scale(domain=[0, 17], nice=False), axis=alt.Axis(grid=False)
        )
        block = alt.Color("block:N", legend=None, scale=alt.Scale(scheme="tableau20"))
        dots = alt.Chart(drawn).mark_circle(size=16, opacity=0.9, aria=False).encode(x=across, y=up, color=block)
        panels.append(
            dots.properties(width=400, height=300, title=[f"{sensitive}, t = {t}: {number} blocks, a colour each", title])
        )
    return alt.hconcat(*panels, spacing=40).resolve_scale(color="independent")


def block_of_rows(policy: tc.Policy) -> pd.DataFrame:
    """The age, the education and the block of each row of Adult."""
    caught: list[Any] = []

    def watch(quasi: Any, *rest: Any) -> Any:
        parts = cut(quasi, *rest)
        caught.append((quasi, parts))
        return parts

    with patch.object(growth, "cut", watch):
        tc.anonymize(ADULT, policy, algorithm="growth", effort="fast")
    quasi, parts = caught[0]
    values = pd.read_csv(ADULT, usecols=[AGE, EDUCATION])
    numbers = np.repeat(np.arange(len(parts.starts) - 1), np.diff(parts.starts))
    codes = quasi[parts.rows]
    places = {name: np.unique(values[name])[codes[:, place]].astype(float) for place, name in enumerate((AGE, EDUCATION))}
    return pd.DataFrame({**places, "block": numbers})


CHARTS: dict[str, Callable[[], Any]] = {"many": many, "growing": growing, "refining": refining, "blocks": blocks}

if __name__ == "__main__":
    main()
