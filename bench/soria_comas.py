"""The experiment of Soria-Comas et al. 2015 on the census table: class sizes and SSE of the three microaggregation algorithms.

    pip install tclose[report,bench]; python bench/soria_comas.py [draw]

1,080 rows; quasi-identifiers TAXINC and POTHVAL, published as means; sensitive FEDTAX, then FICA, by the ordered distance. Prints Markdown for
bench/RESULTS.md, writes the SSE to soria_comas.json, and draws docs/pictures/soria_comas.svg from it and docs/pictures/microaggregation.svg, the
idea on a few rows; draw only draws. The table is looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa

import tclose as tc
from saving import save
from scenarios import DATA, HERE, machine
from tclose.make.microaggregation.promise import cluster_size
from tclose.report.look import GOLD, GREY, NAVY, RED, SKY

SSE = HERE / "soria_comas.json"
CENSUS = DATA / "census.csv"
QUASI = ("TAXINC", "POTHVAL")
SENSITIVE = {"FEDTAX": "1,080 different values", "FICA": "375 different values"}
KS = (2, 5, 10, 30)
TS = tuple(Fraction(hundredths, 100) for hundredths in (1, 5, 9, 13, 17, 21, 25))
THREE = ("microaggregation-merge", "microaggregation-swap", "microaggregation-tfirst")
SHORT = {
    "microaggregation-merge": "merge",
    "microaggregation-swap": "swap",
    "microaggregation-tfirst": "t-first",
    "growth": "growth",
}
COLOURS = {"merge": GOLD, "swap": SKY, "t-first": RED, "growth": NAVY}


class Run(NamedTuple):
    """One release."""

    sensitive: str
    k: int
    t: Fraction
    algorithm: str
    least: int
    """Rows of the smallest class."""
    mean: float
    """Rows of a class, on average."""
    sse: float
    """As a share of that of one class of all rows."""
    gcp: float
    merged: int
    """How many classes were merged away."""
    seconds: float
    """CPU."""


def main() -> None:
    if sys.argv[1:] != ["draw"]:
        experiment()
    save(sse(), "soria_comas")
    save(idea(), "microaggregation")


def experiment() -> None:
    about = machine()
    print(f"{about}\n")
    runs = list(measured())
    print_sizes(runs)
    print_table(runs)
    print_losses(runs)
    points = [
        {"sensitive": run.sensitive, "algorithm": run.algorithm, "t": float(run.t), "sse": round(run.sse, 8)}
        for run in runs
        if run.k == KS[0]
    ]
    SSE.write_text(json.dumps({"measured": about, "points": points}, indent=1) + "\n")


def measured() -> Iterator[Run]:
    """All releases; growth, which does not aim at the SSE, with k = 2 alone."""
    whole = one_class()
    for sensitive in SENSITIVE:
        for algorithm in (*THREE, "growth"):
            for k in KS if algorithm in THREE else KS[:1]:
                for t in TS:
                    policy = policy_of(sensitive, t, k)
                    begun = time.process_time()
                    release = tc.anonymize(CENSUS, policy, algorithm=algorithm)
                    spent = time.process_time() - begun
                    classes = release.audit.classes
                    merged = release.record["course"].get("classes_before_merging", classes) - classes
                    yield Run(
                        sensitive=sensitive,
                        k=k,
                        t=t,
                        algorithm=SHORT[algorithm],
                        least=release.audit.k,
                        mean=release.audit.rows / classes,
                        sse=release.loss["sse"] / whole,
                        gcp=release.loss["gcp"],
                        merged=merged,
                        seconds=spent,
                    )


def policy_of(sensitive: str, t: Any, k: int) -> tc.Policy:
    return tc.Policy([tc.Quasi(name, recode="centroid") for name in QUASI], {sensitive: t}, k=k, other="drop")


def one_class() -> float:
    """The SSE of one class of all rows: the largest there is."""
    return float(tc.anonymize(CENSUS, policy_of("FEDTAX", 0, 2), algorithm="microaggregation-merge").loss["sse"])


def of(runs: list[Run], sensitive: str, algorithm: str, k: int) -> list[Run]:
    return [run for run in runs if (run.sensitive, run.algorithm, run.k) == (sensitive, algorithm, k)]


def header(*first: str, last: str = "") -> str:
    names = [*first, *(f"t = {float(t):g}" for t in TS), *([last] if last else [])]
    return f"| {' | '.join(names)} |\n{'|---' * len(names)}|"


def row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def print_sizes(runs: list[Run]) -> None:
    """Cluster sizes of t-first at k = 2: by the formula, and of the release; in brackets how many classes were merged away."""
    print("Cluster sizes of t-first, k = 2: by the formula, then the smallest class of the release (classes merged away).\n")
    print(header(""))
    print(row("k'", *(cluster_size(1080, 2, t) for t in TS)))
    for sensitive in SENSITIVE:
        print(row(sensitive, *(f"{run.least} ({run.merged})" for run in of(runs, sensitive, "t-first", 2))))


def print_table(runs: list[Run]) -> None:
    for sensitive, about in SENSITIVE.items():
        print(f"\n{sensitive} ({about}): rows of the smallest class / of a class on average.\n")
        print(header("algorithm", "k"))
        for algorithm in map(SHORT.__getitem__, THREE):
            for k in KS:
                print(row(algorithm, k, *(f"{run.least} / {run.mean:.1f}" for run in of(runs, sensitive, algorithm, k))))


def print_losses(runs: list[Run]) -> None:
    print(
        "\nk = 2: SSE of TAXINC and POTHVAL, in percent of that of one class of all rows / GCP; and the most CPU s of a release.\n"
    )
    print(header("sensitive", "algorithm", last="CPU s"))
    for sensitive in SENSITIVE:
        for algorithm in SHORT.values():
            own = of(runs, sensitive, algorithm, 2)
            losses = (f"{100 * run.sse:.1f} / {run.gcp:.4f}" for run in own)
            print(row(sensitive, algorithm, *losses, f"{max(run.seconds for run in own):.1f}"))


def sse() -> Any:
    """The SSE against t, k = 2, one panel for each sensitive attribute; from soria_comas.json."""
    found = pd.DataFrame(json.loads(SSE.read_text())["points"])
    found["sse"] *= 100
    across = alt.X("t:Q", title="t", scale=alt.Scale(domain=[0, 0.26]), axis=alt.Axis(values=[float(t) for t in TS], grid=False))
    up = alt.Y("sse:Q", title="SSE, % of one class of all rows", scale=alt.Scale(domain=[0, 100]))
    legend = alt.Legend(orient="top", symbolType="stroke", symbolSize=400)
    colour = alt.Color(
        "algorithm:N",
        title=None,
        sort=list(COLOURS),
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=legend,
    )
    dash = alt.StrokeDash(
        "algorithm:N",
        title=None,
        sort=list(COLOURS),
        legend=legend,
        scale=alt.Scale(domain=list(COLOURS), range=[[1, 0]] * 3 + [[5, 4]]),
    )
    panels = []
    for sensitive, about in SENSITIVE.items():
        chart = alt.Chart(found[found["sensitive"] == sensitive]).mark_line(point=alt.OverlayMarkDef(size=45, strokeWidth=0))
        panels.append(
            chart.encode(x=across, y=up, color=colour, strokeDash=dash).properties(
                width=330, height=260, title=f"{sensitive}: {about}"
            )
        )
    return alt.hconcat(*panels, spacing=40)


# The idea, on a few rows.

ROWS, K, T = 24, 3, "1/5"


def idea() -> Any:
    """The classes that each algorithm makes of the same rows, as polygons; a row's colour is its sensitive value."""
    rng = np.random.default_rng(7)
    age, years = rng.permutation(np.arange(20, 68, 2)), rng.integers(0, 40, ROWS)
    pay = np.argsort(np.argsort(age + 0.6 * years + rng.normal(0, 9, ROWS)))  # older people earn more, as a rule
    table = pa.table({"age": age, "years": years, "pay": pay})
    panels = []
    for algorithm in THREE:
        policy = tc.Policy(["age", "years"], {"pay": T}, k=K)
        release = tc.anonymize(table, policy, algorithm=algorithm)
        title = [SHORT[algorithm], f"{release.audit.classes} classes, t = {release.audit.sensitive['pay'].t:.3f}"]
        panels.append(polygons(table.to_pandas(), release.partition).properties(width=240, height=220, title=title))
    unlimited = tc.anonymize(table, tc.Policy(["age", "years"], {"pay": 1}, k=K), algorithm=THREE[0])
    title = ["MDAV alone", f"{unlimited.audit.classes} classes, t = {unlimited.audit.sensitive['pay'].t:.3f}"]
    first = polygons(table.to_pandas(), unlimited.partition).properties(width=240, height=220, title=title)
    return alt.vconcat(alt.hconcat(first, panels[0], spacing=30), alt.hconcat(*panels[1:], spacing=30), spacing=20)


def polygons(table: pd.DataFrame, partition: Any) -> Any:
    table = table.assign(number=partition)
    edges = []
    for number, members in table.groupby("number"):
        corners = hull(members[["age", "years"]].to_numpy())
        edges += [{"age": x, "years": y, "number": number, "step": step} for step, (x, y) in enumerate([*corners, corners[0]])]
    across = alt.X(
        "age:Q",
        scale=alt.Scale(domain=[15, 70]),
        axis=alt.Axis(grid=False, title="one quasi-identifier", labels=False, ticks=False),
    )
    up = alt.Y("years:Q", scale=alt.Scale(domain=[-4, 44]), axis=alt.Axis(grid=False, title="another", labels=False, ticks=False))
    lines = (
        alt.Chart(pd.DataFrame(edges))
        .mark_line(color=GREY, strokeWidth=1.5)
        .encode(x=across, y=up, detail="number:N", order="step:Q")
    )
    shade = alt.Color(
        "pay:Q",
        scale=alt.Scale(scheme="viridis"),
        legend=alt.Legend(title="sensitive value", orient="right", values=[0, ROWS - 1]),
    )
    dots = alt.Chart(table).mark_circle(size=90, opacity=1, stroke=GREY, strokeWidth=1).encode(x=across, y=up, color=shade)
    return alt.layer(lines, dots)


def hull(points: Any) -> list[Any]:
    """The corners of the convex hull of a few points, in order; by Andrew's monotone chain."""
    ordered = sorted(map(tuple, points.tolist()))
    sides = []
    for run in (ordered, ordered[::-1]):
        side: list[Any] = []
        for point in run:
            while len(side) > 1 and turn(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        sides += side[:-1]
    return sides or ordered


def turn(a: Any, b: Any, c: Any) -> float:
    """Above 0 if the way from a over b to c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


if __name__ == "__main__":
    main()
