"""Summaries: policies, audits, releases and verifications as small HTML tables, for a notebook. They need no extra.

All colours are those of the page, so that a summary is read on light pages and on dark ones. Every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from tclose.policy.models import NAMED, asked_of
from tclose.policy.settings import plain_settings
from tclose.report.attained import attained_in_words, verdict_in_words
from tclose.report.labels import label_of, shorten
from tclose.report.listing import Listing, cut
from tclose.values.exact import decimal_up, number_of, plain

if TYPE_CHECKING:
    from tclose.judge.result import Audit, Judgement
    from tclose.policy import Policy
    from tclose.release.release import Release
    from tclose.release.verify import Verification
    from tclose.study.compare.comparison import Comparison

WIDEST = 2500
"""Pixels of a text in a cell, about and at most; a longer one loses its middle."""
MOST_REASONS = 10
"""Sentences on cells of a comparison that were not made, at most."""
LONG_WORD = re.compile(r"\S{24}(?=\S)")
"""A part of a long word, after which a line may be broken."""
CELL = "padding:3px 14px 3px 0;border:0;border-bottom:1px solid rgba(128,128,128,.35);vertical-align:top;"
WORDS, NUMBERS = f"{CELL}text-align:left", f"{CELL}text-align:right;white-space:nowrap"
"""How cells look."""
CHECKED = "It satisfies its policy: it was read back and audited before it was handed out. This is not a legal determination."


def policy_html(policy: Policy) -> str:
    """Return a policy as HTML: its columns by their roles, and its limits."""
    rows = [
        *(("quasi-identifier", column.name, _settings_of(column)) for column in policy.quasi),
        *(("sensitive", column.name, _limits_of(policy, column)) for column in policy.sensitive),
        *(("identifier, never published", name, "") for name in policy.identifiers),
        *(("dropped", name, "") for name in policy.drop),
        *(("published as it is", column.name, column.despite or "") for column in policy.keep),
    ]
    whole = [f"{name} = {plain(Fraction(value))}" for name in ("k", "alpha", "n") if (value := getattr(policy, name)) is not None]
    if policy.suppression:
        whole.append(f"at most {100 * float(policy.suppression):.3g}% of the rows suppressed")
    if policy.unit is not None:
        whole.append("each row is a person" if policy.unit == "row" else f"persons are named by {policy.unit}")
    asked = f"For every class: {', '.join(whole)}." if whole else "Nothing is asked of the sizes of classes."
    columns = cut("Columns", ("role", "column", "settings"), rows, 3, what=("column", "columns"))
    return _page("Policy", asked, [columns])


def audit_html(audit: Audit) -> str:
    """Return an audit as HTML: the verdict, and each limit with what is asked and attained."""
    return _page(f"Audit: {_size(audit)}", verdict_of(audit), [limits_of(audit)])


def release_html(release: Release) -> str:
    """Return a release as HTML: the verdict, each limit with what is asked and attained, and what the release cost."""
    cost = [("information loss (GCP: 0 is none, 1 is everything)", decimal_up(release.loss["gcp"]))]
    cost.append(("rows of the input that are suppressed", f"{release.suppressed:,}"))
    notes = "What it cost is measured against the input: internal, as the partition and the record are."
    return _page(
        f"Release: {_size(release.audit)}",
        _marked(CHECKED, holds=True),
        [limits_of(release.audit), Listing("Cost", ("cost", ""), cost, note=notes)],
    )


def verification_html(verification: Verification) -> str:
    """Return a verification as HTML: the verdict, what was checked, and what a reader should know."""
    rows = [(finding.what, "yes" if finding.holds else "NO", finding.detail) for finding in verification.findings]
    wrong_first = sorted(rows, key=lambda row: row[1] == "yes")
    told = {
        "Warnings": verification.warnings,
        "Your policy and that of the certificate differ": verification.differences,
        "Not checked, the publisher's word": verification.unchecked,
    }
    findings = cut("Findings", ("checked", "confirmed", ""), wrong_first, 3, what=("finding", "findings"))
    title = f"Verification: {verification.scope.title}"
    return _page(title, _marked(verification.verdict, holds=verification.holds), [findings], told)


def comparison_html(comparison: Comparison) -> str:
    """Return a comparison as HTML: what it speaks for, and each algorithm with what it attains and loses."""
    best = comparison.frontier()
    rows = [
        (
            point.algorithm,
            "" if point.asked is None else f"{point.asked:g}",
            f"{point.k:,}",
            decimal_up(point.t),
            f"{100 * point.excess:+.1f}",
            *point.texts[1:3],
            f"{point.query_error:.1%}",
            "" if point in best else "yes",
        )
        for point in comparison.points
    ]
    headers = (
        "algorithm",
        "t asked",
        "k",
        "t attained",
        "attack excess, points",
        "GCP",
        "GCP, raw table",
        "query error",
        "dominated",
    )
    other = [
        f"{one.cell.algorithm}, t = {one.cell.t}, k = {one.cell.k}: {one.reason}" for one in comparison if one.figures is None
    ]
    told = {"Not made": [*other[:MOST_REASONS], *([f"{len(other) - MOST_REASONS:,} more"] if len(other) > MOST_REASONS else [])]}
    listing = cut("Releases", headers, rows, what=("release", "releases"))
    return _page("Comparison, INTERNAL", comparison.suggestion or "Nothing was made.", [listing] if rows else [], told)


def verdict_of(audit: Audit) -> str:
    """Return the verdict of an audit, with a sign if limits were asked for."""
    said = verdict_in_words(audit)
    return _marked(said, holds=audit.satisfied) if audit.judgements else said


def limits_of(audit: Audit) -> Listing:
    """Return each limit of an audit with what is asked and attained; t of attributes without a limit is there too."""
    rows = [(*_limit_in_words(audit, one), number_of(int(one.broken.sum()), "class", "classes")) for one in audit.judgements]
    limited = {one.sensitive for one in audit.judgements if one.model == "t"}
    rows += [
        (NAMED["t"].label.format(name), decimal_up(found.t_judged), "not limited", "")
        for name, found in audit.sensitive.items()
        if name not in limited
    ]
    return cut("Limits", ("", "attained", "asked", "broken by"), rows, what=("limit", "limits"))


def _limit_in_words(audit: Audit, judgement: Judgement) -> tuple[str, str, str]:
    """Return what a limit is about, what is attained, and what was asked."""
    about = judgement.sensitive or ("persons" if audit.counts_persons else "rows")
    asked = f"{plain(judgement.limit)} or {'more' if judgement.floor else 'less'}"
    return NAMED[judgement.model].label.format(about), attained_in_words(audit, judgement), asked


def _limits_of(policy: Policy, sensitive: Any) -> str:
    """Return the limits of a sensitive column of a policy, in one line."""
    limits = [
        f"{model.name} {'at least' if model.at_least else 'at most'} {plain(limit)}"
        for model, column in asked_of(policy)
        if column is not None and column.name == sensitive.name and (limit := model.limit(policy, column)) is not None
    ]
    return ", ".join(limits) or "measured, not limited"


def _settings_of(column: Any) -> str:
    """Return the settings of a quasi-identifier that are not at their defaults, in one line."""
    settings = plain_settings(column, None)
    if "hierarchy" in settings:
        tree = column.tree
        values = "" if tree is None else f"{number_of(len(tree.leaves), 'value')} on {number_of(tree.height + 1, 'level')}"
        settings["hierarchy"] = values or f"made from its values by {column.builder.key}"
    return ", ".join(f"{name}: {value}" for name, value in settings.items() if name != "name")


def _size(audit: Audit) -> str:
    """Return the rows and classes of an audit, in words."""
    return f"{number_of(audit.rows, 'row')} in {number_of(audit.classes, 'class', 'classes')}"


def _marked(sentence: str, *, holds: bool) -> str:
    """Return a verdict with a sign that is seen before it is read."""
    return f"{'✓' if holds else '✗'} {sentence}"


def _text(value: object) -> str:
    """Return a text for HTML: visible, not too long, escaped."""
    parts = LONG_WORD.sub("\\g<0>\n", shorten(label_of(value), WIDEST)) if value != "" else ""
    return escape(parts).replace("\n", "<wbr>")


def _page(title: str, verdict: str, tables: Iterable[Listing], told: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the HTML of a summary: title and verdict, tables, and lists of sentences under their headings."""
    parts = [f"<p><b>{_text(title)}</b><br>{_text(verdict)}</p>", *map(_table, tables)]
    for heading, sentences in (told or {}).items():
        if sentences:
            parts.append(f"<p>{_text(heading)}:</p><ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>")
    # What scrolls sideways must be reached by the keyboard too.
    region = f'tabindex="0" role="region" aria-label="{escape(shorten(label_of(title), WIDEST))}"'
    return f'<div {region} style="color:inherit;overflow-x:auto">{"".join(parts)}</div>'


def _table(listing: Listing) -> str:
    """Return a table as HTML; columns after those of words are aligned right."""

    def line(cells: Sequence[str], tag: str) -> str:
        """Return a row of cells."""
        looks = [WORDS if index < listing.words else NUMBERS for index in range(len(cells))]
        return "".join(f'<{tag} style="{look}">{_text(cell)}</{tag}>' for cell, look in zip(cells, looks, strict=True))

    head, body = line(listing.headers, "th"), "".join(f"<tr>{line(row, 'td')}</tr>" for row in listing.rows)
    note = f"<p>{_text(listing.note)}</p>" if listing.note else ""
    start = f'<table aria-label="{escape(listing.caption)}" style="border-collapse:collapse">'
    return f"{start}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
