"""report: the page on which people decide about a release, public or internal."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from tclose.report.facts import Facts
from tclose.report.page import render
from tclose.report.papers import Papers


def public_report(papers: Papers) -> str:
    """Return the public report of a release: what anybody can compute from it and its certificate, small counts masked."""
    return _render_report(Facts(papers, papers.small_cells), None)


def _render_report(facts: Facts, inside: Any) -> str:
    """Return the page of a report; ``inside`` has what only its owner may see."""
    return render("report.html", facts=facts, inside=inside, version=version("tclose"), charts=_charts(facts))


def _charts(_: Facts) -> dict[str, list[Any]]:
    """Return the charts of a report, by section."""
    return {"risk": [], "transformations": [], "utility": []}
