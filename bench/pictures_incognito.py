"""Draw the pictures of docs/algorithms/incognito.md: a small lattice with what became of its nodes, and what privacy models cost.

    pip install tclose[report,bench]; python bench/pictures_incognito.py

The second is drawn from li2007.json, which bench/li2007.py writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa

import tclose as tc
from saving import save
from scenarios import HERE
from tclose.make.incognito.lattice import Node, candidates_of, minimal, specialisations, subsets, walk
from tclose.release.hospital import hospital
from tclose.report.look import GOLD, GREEN, LINE, NAVY, ON_BRIGHT, ON_DEEP, RED, SKY
from tclose.values.arrays import Bools

Maker = Callable[[str], str]

VISITS = hospital(2000)
"""Visits of the demo's hospital: a header, then a row a visit."""
ZIPS: tuple[Maker, ...] = (str, lambda code: f"{code[:4]}*", lambda code: f"{code[:3]}**", lambda _: "*")
AGES: tuple[Maker, ...] = (str, lambda age: str(int(age) // 10), lambda age: str(int(age) // 20), lambda _: "*")
K, T = 5, 0.25
NAMES = (("47602", "4760*", "476**", "*"), ("23", "[20, 29]", "[20, 39]", "*"))
FATES = ("a part of it fails: never looked at", "tested, fails", "tested, passes: minimal", "above one that passes: not tested")
COLOURS = ("#e6e6e6", "#f2b5bd", "#2c6ca3", "#bcd7ee")


def main() -> None:
    save(lattice(), "lattice")
    save(models(), "li2007")


def lattice() -> Any:
    fates = fates_of_nodes()
    nodes = pd.DataFrame(
        [{"x": node[1] - node[0], "y": sum(node), "label": label(node), "fate": fate} for node, fate in fates.items()]
    )
    nodes["line"] = nodes["label"].str.split("\n")
    edges = pd.DataFrame(
        [
            {"x": node[1] - node[0], "y": sum(node), "x2": below[1] - below[0], "y2": sum(below)}
            for node in fates
            for below in specialisations(node)
        ]
    )
    across = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-3.6, 3.6]))
    up = alt.Y("y:Q", axis=alt.Axis(title="height: levels of generalisation", values=list(range(7)), grid=False, format="d"), scale=alt.Scale(domain=[-0.5, 6.5]))  # fmt: skip
    lines = alt.Chart(edges).mark_rule(color=LINE).encode(x=across, y=up, x2="x2:Q", y2="y2:Q")
    colour = alt.Color(
        "fate:N",
        scale=alt.Scale(domain=list(FATES), range=list(COLOURS)),
        legend=alt.Legend(title=None, orient="bottom", columns=2, symbolType="square"),
    )
    boxes = nodes.assign(x=nodes["x"] - 0.48, x2=nodes["x"] + 0.48, y=nodes["y"] - 0.3, y2=nodes["y"] + 0.3)
    shapes = alt.Chart(boxes).mark_rect(cornerRadius=6, stroke=LINE).encode(x=across, y=up, x2="x2:Q", y2="y2:Q", color=colour)
    dark = alt.condition(f"datum.fate == '{FATES[2]}'", alt.value(ON_DEEP), alt.value(ON_BRIGHT))
    texts = alt.Chart(nodes).mark_text(lineBreak="\n", dy=-7).encode(x=across, y=up, text="label:N", color=dark)
    return alt.layer(lines, shapes, texts).properties(width=700, height=520)


def models() -> Any:
    """Time, average class size and DM of each privacy model against the number of quasi-identifiers; occupation is sensitive."""
    found = [one for one in json.loads((HERE / "li2007.json").read_text())["found"] if one["sensitive"] == "occupation"]
    frame = pd.DataFrame([one for one in found if "refused" not in one])
    names = list(dict.fromkeys(frame["model"]))
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=400)
    colour = alt.Color("model:N", sort=names, scale=alt.Scale(domain=names, range=[NAVY, SKY, RED, GOLD, GREEN]), legend=legend)
    # Two pairs of models have the same course, nearly: what is dashed shows the line that it covers.
    dash = alt.StrokeDash(
        "model:N", sort=names, scale=alt.Scale(domain=names, range=[[1, 0], [1, 0], [5, 5], [1, 0], [5, 5]]), legend=legend
    )
    shape = alt.Shape("model:N", sort=names, legend=None)
    across = alt.X("quasi:Q", title="quasi-identifiers", axis=alt.Axis(values=list(range(1, 8)), format="d", grid=False))
    panels = []
    kind: Any  # Altair has a type for the names of scales
    for key, title, kind in (
        ("seconds", "CPU s of the search", "linear"),
        ("average", "rows in a class on average", "log"),
        ("dm", "DM, in millions", "linear"),
    ):
        chart = alt.Chart(frame).encode(
            x=across, y=alt.Y(f"{key}:Q", title=title, scale=alt.Scale.from_dict({"type": kind})), color=colour, strokeDash=dash
        )
        points = chart.mark_point(filled=True, size=60).encode(shape=shape)
        panels.append((chart.mark_line() + points).properties(width=240, height=230))
    return alt.hconcat(*panels, spacing=25)


def fates_of_nodes() -> dict[Node, str]:
    """What became of each node: every one is audited here, and the algorithm's own walk says which it would have tested."""
    levels = [len(ZIPS), len(AGES)]
    passing: dict[tuple[int, ...], Bools] = {}
    tested = set()

    def test(columns: tuple[int, ...], node: Node) -> bool:
        tested.add((columns, node))
        return satisfies(columns, node)

    for columns in subsets(levels):
        candidates = candidates_of(columns, levels, passing)
        passing[columns] = walk(candidates, partial(test, columns), marking=True)
    least = minimal(passing[0, 1])
    fates: dict[Node, str] = {}
    for node in ((zip_height, age_height) for zip_height in range(4) for age_height in range(4)):
        if ((0, 1), node) in tested:
            fates[node] = FATES[2] if node in least else FATES[1]
        else:
            fates[node] = FATES[3] if passing[0, 1][node] else FATES[0]
        assert bool(passing[0, 1][node]) == satisfies((0, 1), node)
    return fates


def satisfies(columns: tuple[int, ...], node: Node) -> bool:
    """Whether the classes have at least k rows and are within t of the table, by an audit of the generalised rows."""
    header, *visits = VISITS
    cells = {}
    for column, height in zip(columns, node, strict=True):
        name, makers = (("zip", ZIPS), ("age", AGES))[column]
        cells[name] = [makers[height](visit[header.index(name)]) for visit in visits]
    costs = [int(visit[header.index("cost")]) for visit in visits]
    return tc.audit(pa.table({**cells, "cost": costs}), tc.Policy(list(cells), {"cost": T}, k=K, unit="row")).satisfied


def label(node: Node) -> str:
    return "\n".join(names[height] for names, height in zip(NAMES, node, strict=True))


if __name__ == "__main__":
    main()
