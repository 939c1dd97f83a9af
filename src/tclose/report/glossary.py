"""The glossary of a page: the words on it that a reader may not know, each in a sentence."""

from __future__ import annotations

import re
from html import unescape

TERMS = (
    ("class", r"\bclass(es)?\b", "Rows that agree in all quasi-identifiers. Nobody can tell them apart by these columns."),
    ("Cramér's V", r"Cramér's V", "How strongly two columns go together. 0: not at all; 1: one tells the other."),
    ("COUNT query", r"\bCOUNT quer(y|ies)\b", "A question that is answered by a number: how many rows are there of some kind?"),
    (
        "detail lost, GCP",
        r"\bGCP\b|\bdetail lost\b|of the detail\b",
        (
            "Information loss (global certainty penalty): the mean width of the published values, as a share of all values. "
            "0 or 0%: nothing is lost; 1 or 100%: everything."
        ),
    ),
    (
        "EMD",
        r"\bEMD\b",
        (
            "Earth mover's distance: the shares of a class that would have to move to other values until it is distributed as "
            "the table, each times how far it moves. 0: as the table; 1: as far from it as can be."
        ),
    ),
    (
        "excess, given away",
        r"\bexcess\b|\bgiven away\b",
        "How much more often an attack is right about people in the release than about others, in points of 100.",
    ),
    (
        "frontier",
        r"\bfrontier\b",
        "The releases that no other beats: none is better in one of two figures, and no worse in the other.",
    ),
    ("k", r"\bk\b", "The rows, or persons, of the smallest class. Larger is safer."),
    ("l", r"\bl of\b|\bl:", "The fewest different values of a sensitive column in a class. Larger is safer."),
    (
        "LM",
        r"\bLM\b",
        "Information loss (loss metric), much as GCP, over values beyond the first. 0: nothing is lost; 1: everything.",
    ),
    ("masked", r"\bmasked\b", "Not shown because few rows have it, or because it would tell another such number."),
    ("quasi-identifier", r"\bquasi-identifiers?\b", "A column that others may know about a person, as age or postcode."),
    ("sensitive column", r"\bsensitive\b", "A column with what nobody should learn about one person, as a diagnosis."),
    ("suppressed", r"\bsuppressed\b", "Of the raw table, and not in the release."),
    (
        "t",
        r"\bt of\b|\bt =|\bt attained\b|\blimit t\b",
        (
            "How far the sensitive values of a class are from those of the whole table, at most: the largest earth mover's "
            "distance. Smaller is safer."
        ),
    ),
    (
        "transport plan",
        r"\b[Tt]ransport plan\b",
        "Which share of a class moves from which value to which other, at the least cost.",
    ),
)
"""Each term, what finds it on a page, and what it means."""
TAGS = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)


def terms_on(page: str) -> list[tuple[str, str]]:
    """Return the terms that stand on a page of HTML, each with its meaning."""
    text = unescape(TAGS.sub(" ", page))
    return [(term, meaning) for term, found_by, meaning in TERMS if re.search(found_by, text)]
