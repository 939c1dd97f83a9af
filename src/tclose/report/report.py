"""report: the page on which people decide about a release, public or internal."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from tclose.errors import InputError
from tclose.report.facts import Facts
from tclose.report.figures import charts_of_facts
from tclose.report.inside import Inside, look_inside
from tclose.report.page import render
from tclose.report.papers import Papers
from tclose.study.measured import measure
from tclose.values.exact import number_of


def public_report(papers: Papers) -> str:
    """Return the public report of a release: what anybody can compute from it and its certificate, small counts masked."""
    return _render_report(Facts(papers, papers.small_cells), None)


def internal_report(
    papers: Papers,
    data: Any = None,
    *,
    attacks: Any = None,
    utility: Any = None,
    comparison: Any = None,
    fragmentation: Any = None,
) -> str:
    """Return the internal report of a release, with figures that must not be published.

    Parameters
    ----------
    data
        The raw table, which is measured under the policy of the record.
    attacks, utility, comparison
        What `tclose.attack`, `tclose.utility` and `tclose.compare` found, as mappings for JSON.
    fragmentation
        What `tclose.find_fragmentation` found.

    Raises
    ------
    InputError
        The raw table is given, but the record is not known, or is of a table with another number of rows.
    """
    raw = None
    if data is not None:
        if papers.policy is None:
            raise InputError(
                "The raw table is measured under the policy of the private record, which is not there. Give its path."
            )
        raw = measure(data, papers.policy)
        rows = papers.record["input"]["rows"]
        if raw.audit.rows != rows:
            raise InputError(
                f"The release was made from a table of {number_of(rows, 'row')}, and the raw table has {raw.audit.rows:,}. Give "
                "the one that the release was made from."
            )
    facts = Facts(papers, least=1)
    return _render_report(facts, look_inside(facts, raw, attacks, utility, comparison, fragmentation))


def check_internal(internal: bool, *others: Any) -> None:
    """Raise InputError if a public report is asked for with what only an internal one may have."""
    if not internal and any(other is not None for other in others):
        raise InputError("A public report has nothing of the raw table. Ask for an internal one, or leave that out.")


def _render_report(facts: Facts, inside: Inside | None) -> str:
    """Return the page of a report; ``inside`` has what only its owner may see."""
    return render("report.html", facts=facts, inside=inside, version=version("tclose"), charts=charts_of_facts(facts))
