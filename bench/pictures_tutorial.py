"""Draw the pictures of docs/tutorial.md: running sums, moves of mass, and a tree of diseases.

pip install tclose[report,bench]; python bench/pictures_tutorial.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import altair as alt
import pandas as pd

import tclose as tc
from saving import save
from tclose.report.look import GOLD, NAVY, RED, SKY, TEXT

SALARIES = range(3, 12)
MERITS = [3, 3, 3, 3, 4, 4, 4, 1, 1, 2]
TABLE = Counter({"flu": 1, "pneumonia": 1, "bronchitis": 2, "gastric ulcer": 1, "stomach cancer": 2, "gastritis": 2})
CLASS = Counter({"gastritis": 1, "flu": 1, "bronchitis": 1})
TREE = {
    "all diseases": {
        "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"]},
        "digestive": {"stomach": ["gastric ulcer", "stomach cancer", "gastritis"]},
    }
}
WIDTH = 560
BEND = 0.87
"""Where a branch of the tree turns, so that no line crosses a label."""
LEGEND = alt.Legend(title=None, orient="top", direction="horizontal")


def main() -> None:
    save(running_sums([3, 4, 5], list(SALARIES), "salary in thousands"), "tutorial-salary")
    save(moves([3, 4, 5], list(SALARIES), "salary in thousands"), "tutorial-moves")
    save(running_sums([4, 1, 2], MERITS, "merit points"), "tutorial-merit")
    save(tree(), "tutorial-disease")


def running_sums(inside: Sequence[int], table: Sequence[int], title: str) -> Any:
    """The shares of values in a class and in the table, and below them the running sum of their differences."""
    values = sorted(set(table))
    shares = {
        name: [Fraction(list(rows).count(value), len(rows)) for value in values]
        for name, rows in (("class", inside), ("table", table))
    }
    bars = pd.DataFrame(
        [
            {"value": value, "of": name, "share": float(share), "text": str(share)}
            for name, of_name in shares.items()
            for value, share in zip(values, of_name, strict=True)
        ]
    )
    sums = list(accumulate(p - q for p, q in zip(*shares.values(), strict=True)))
    steps = pd.DataFrame(
        [
            {"value": value, "sum": float(total), "text": str(total).replace("-", "\N{MINUS SIGN}")}
            for value, total in zip(values, sums, strict=True)
        ]
    )
    across = alt.X(
        "value:O", title=title, axis=alt.Axis(labelAngle=0, ticks=False), scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12)
    )
    colours = alt.Color("of:N", scale=alt.Scale(domain=["class", "table"], range=[RED, SKY]), legend=LEGEND)
    height = alt.Y("share:Q", title="share", axis=alt.Axis(values=[0, 0.1, 0.2, 0.3, 0.4], format=".1f"))
    above = alt.Chart(bars).mark_bar().encode(across, height, colours, alt.XOffset("of:N"))
    reach = max(abs(float(total)) for total in sums)
    lowest = min(0.0, float(min(sums)))
    running = alt.Y(
        "sum:Q",
        title="running sum",
        scale=alt.Scale(domain=[lowest - 0.3 * reach if lowest < 0 else 0, 1.2 * reach]),
        axis=alt.Axis(tickCount=4),
    )
    below = alt.Chart(steps).mark_bar(color=GOLD).encode(across, running)
    texts = (
        alt.Chart(steps).mark_text(dy=alt.expr("datum.sum < 0 ? 9 : -8"), color=TEXT).encode(across, running, alt.Text("text:N"))
    )
    emd = sum(map(abs, sums)) / (len(values) - 1)
    return alt.vconcat(
        above.properties(width=WIDTH, height=130, title="What the class has, and what the table has"),
        (below + texts).properties(
            width=WIDTH,
            height=130,
            title=f"Running sum of class minus table; the bars, added up and divided by {len(values) - 1}, are {emd}",
        ),
    ).resolve_scale(color="independent")


def moves(inside: Sequence[int], table: Sequence[int], title: str) -> Any:
    """The moves of mass that turn the distribution of a class into that of the table."""
    plan = tc.transport(Counter(inside), Counter(table))
    arrows = pd.DataFrame(
        [
            {
                "move": f"{number}.",
                "from": move.source,
                "to": move.target,
                "text": f"{move.mass} by {move.target - move.source} steps",
            }
            for number, move in enumerate(plan, 1)
        ]
    )
    span = alt.Scale(domain=[min(table) - 0.5, max(table) + 2.4])
    across = alt.X("from:Q", scale=span, title=title, axis=alt.Axis(values=sorted(set(table)), grid=False, format="d"))
    down = alt.Y("move:O", title="move", axis=alt.Axis(ticks=False, domain=False))
    base = alt.Chart(arrows)
    lines = base.mark_rule(color=NAVY, strokeWidth=3).encode(across, down, x2="to:Q")
    starts = base.mark_point(color=RED, fill=RED, opacity=1, size=90).encode(across, down)
    ends = base.mark_point(color=SKY, fill=SKY, opacity=1, size=110, shape="triangle-right").encode(
        alt.X("to:Q", scale=span), down
    )
    texts = base.mark_text(align="left", dx=12, color=TEXT).encode(alt.X("to:Q", scale=span), down, alt.Text("text:N"))
    cost = sum(move.mass * move.distance for move in plan)
    return (lines + starts + ends + texts).properties(
        width=WIDTH, height=210, title=f"Six moves of 1/9 turn the class into the table; a step costs 1/8, all together {cost}"
    )


def tree() -> Any:
    """The tree of diseases with what a class has more or less of than the table, at every node."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    place(TREE, 0, nodes, edges)
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[5.5, -0.5]))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.15, 3.95]))
    lines = alt.Chart(pd.DataFrame(edges)).mark_rule(color=NAVY, strokeWidth=1.5).encode(x, y, x2="x2:Q", y2="y2:Q")
    shade = alt.Color(
        "sign:N",
        scale=alt.Scale(domain=["too much in the class", "too little", "as in the table"], range=[RED, SKY, GOLD]),
        legend=LEGEND,
    )
    dots = alt.Chart(pd.DataFrame(nodes)).mark_point(size=120, opacity=1, filled=True).encode(x, y, shade)
    names = alt.Chart(pd.DataFrame(nodes)).mark_text(align="left", dx=10, dy=-11, color=TEXT).encode(x, y, alt.Text("label:N"))
    return (lines + dots + names).properties(
        width=WIDTH + 60,
        height=300,
        title="Class gastritis, flu, bronchitis: what each disease and each group has too much or too little of",
    )


def place(
    below: dict[str, Any] | list[str], depth: int, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> list[tuple[float, Fraction]]:
    """Add the nodes of a part of the tree; return the height at which each of its topmost ones stands, and its extra mass."""
    tops = []
    for name in below:
        parts = place(below[name], depth + 1, nodes, edges) if isinstance(below, dict) else []
        if parts:
            y, extra = sum(top for top, _ in parts) / len(parts), sum((mass for _, mass in parts), Fraction(0))
        else:
            y = float(sum(node["x"] == 3 for node in nodes))
            extra = Fraction(CLASS[name], CLASS.total()) - Fraction(TABLE[name], TABLE.total())
        edges += [{"x": depth, "y": y, "x2": depth + BEND, "y2": y}] if parts else []
        for top, _ in parts:
            edges += [
                {"x": depth + BEND, "y": y, "x2": depth + BEND, "y2": top},
                {"x": depth + BEND, "y": top, "x2": depth + 1, "y2": top},
            ]
        sign = "too much in the class" if extra > 0 else "too little" if extra < 0 else "as in the table"
        signed = f"+{extra}" if extra > 0 else str(extra).replace("-", "\N{MINUS SIGN}")
        nodes.append({"x": depth, "y": y, "label": f"{name} {signed}", "sign": sign})
        tops.append((y, extra))
    return tops


if __name__ == "__main__":
    main()
