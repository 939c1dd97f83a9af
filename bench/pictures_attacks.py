"""Draw the picture of docs/threats.md: what the join of two sensitive columns gains, against what a release loses.

    pip install tclose[report,bench]; python bench/pictures_attacks.py

The figures are those of bench/RESULTS.md, "Attacks", in bench/attacks.json.
"""

from __future__ import annotations

import json
from pathlib import Path

from saving import PICTURES
from tclose.report.charts.frontier import Outcome, frontier
from tclose.report.svg import draw

FIGURES = Path(__file__).with_name("attacks.json")


def main() -> None:
    shown = []
    for one in json.loads(FIGURES.read_text()):
        name, detail = named(one)
        shown.append((name, one["gcp"], one["join"], detail))
    outcomes = [
        Outcome(
            name, loss, risk, any(other != (loss, risk) and other[0] <= loss and other[1] <= risk for other in points), detail
        )
        for points in [[(loss, risk) for _, loss, risk, _ in shown]]
        for name, loss, risk, detail in shown
    ]
    chart = frontier(
        outcomes,
        loss="information loss (GCP)",
        risk="excess of the join, in points",
        title="Who knows the hours of a person of Adult guesses their occupation",
    )
    (PICTURES / "attacks.svg").write_text(draw(chart), encoding="utf-8")


def named(one: dict[str, str]) -> tuple[str, str]:
    """Return the algorithm and the t, or what was asked besides, of a line of the tables."""
    if one["kind"] == "asked besides":
        return "growth, more asked", one["name"]
    first, *rest = one["name"].split(", ")
    algorithm, t = (first, rest[0]) if one["kind"] == "equal loss" else (rest[0], first)
    effort = "".join(f" {part.strip('`')}" for part in rest[1:])
    return algorithm, f"t={t.strip('0').rstrip('.') or '0'}{effort}"


if __name__ == "__main__":
    main()
