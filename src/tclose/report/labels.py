"""Labels: texts of a table made fit for a chart. Each is visible, on one line, short enough, and told apart from the others.

Widths are estimated, on the safe side: a chart is planned without drawing it. Those of the finished picture are measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import east_asian_width

from tclose.values.hierarchy import printed
from tclose.values.visible import visible

ELLIPSIS = "…"
MISSING = "missing"
"""How a missing cell is called."""
NARROW, WIDE = set(" ijltfrI.,:;'`|!()[]{}/\\-"), set("mwMW%@…—")
NAMED = 30
"""Columns that a sentence names, at most: readers look for theirs."""
LONGEST = 400
"""Characters of a text that are looked at, at its start and at its end: no label has room for more."""


def width_of(text: str, size: float = 12, *, bold: bool = False) -> float:
    """Return about how wide a text is in pixels, on the safe side."""
    return size * sum(map(_em, text)) * (1.08 if bold else 1)


def _em(char: str) -> float:
    """Return about how wide a character is, as a share of the size of its font."""
    if char in NARROW:
        return 0.36
    if char in WIDE:
        return 1.02
    if char.isascii():
        return 0.78 if char.isupper() else 0.58
    return 1.3 if east_asian_width(char) in "WF" else 0.85


def shorten(text: str, width: float, size: float = 12) -> str:
    """Return a text that is at most ``width`` pixels wide: a longer one loses its middle, as ends often tell texts apart.

    >>> shorten("Diseases of the circulatory system, chronic", 160)
    'Diseases of…em, chronic'
    """
    if len(text) <= 2 * LONGEST and width_of(text, size) <= width:
        return text
    half = (width - width_of(ELLIPSIS, size)) / 2
    return _within(text[:LONGEST], half, size) + ELLIPSIS + _within(text[: -LONGEST - 1 : -1], half, size)[::-1]


def _within(chars: str, width: float, size: float) -> str:
    """Return the first characters of a text that have room in a width."""
    for count, char in enumerate(chars):
        width -= size * _em(char)
        if width < 0:
            return chars[:count]
    return chars


def label_of(value: Any) -> str:
    """Return a value as it is printed, on one line, with escapes for characters that nobody sees."""
    return MISSING if value is None else visible(printed(value)) or "(empty)"


def labels_of(values: Iterable[Any], width: float, size: float = 12) -> list[str]:
    """Return a label for each value, at most ``width`` pixels wide; different values have different labels.

    >>> labels_of([1, None, "x" * 1000 + "1", "x" * 1000 + "2"], 80)
    ['1', 'missing', 'xxxx…xxx1', 'xxxx…xxx2']
    >>> labels_of(["x" * 1000 + "1" + "x" * 1000, "x" * 2000], 80)
    ['xxx…xxx (1)', 'xxx…xxx (2)']
    """
    texts = [label_of(value) for value in values]
    labels = [shorten(text, width, size) for text in texts]
    shared = {label for label, times in Counter(labels).items() if times > 1}
    taken = set(labels)
    for index, label in enumerate(labels):
        if label in shared:
            labels[index] = _numbered(texts[index], width, size, taken)
            taken.add(labels[index])
    return labels


def _numbered(text: str, width: float, size: float, taken: set[str]) -> str:
    """Return a short form of a text with the first number that makes it differ from all labels that are taken."""
    number = 1
    while True:
        ending = f" ({number})"
        label = shorten(text, width - width_of(ending, size), size) + ending
        if label not in taken:
            return label
        number += 1


def wrap(text: str, width: float, size: float = 12, *, bold: bool = False) -> list[str]:
    """Return the lines of a text, broken between words so that none is wider; a longer word is shortened.

    >>> wrap("5 classes of 3 to 9 rows; the median is 4", 120)
    ['5 classes of 3 to 9', 'rows; the median', 'is 4']
    """
    lines: list[str] = []
    for word in visible(text).split(" "):
        short = shorten(word, width / (1.08 if bold else 1), size)
        if lines and width_of(f"{lines[-1]} {short}", size, bold=bold) <= width:
            lines[-1] += f" {short}"
        else:
            lines.append(short)
    return lines


def quoted(name: str, width: float = 150) -> str:
    """Return the name of a column for a title: visible, and at most ``width`` pixels wide."""
    return shorten(label_of(name), width)


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal, in titles, tables and sentences alike.

    One that is neither 0 nor 1 is never shown as such.

    >>> percent(0.5), percent(0.0123), percent(0.00001), percent(0), percent(0.9999), percent(1)
    ('50.0%', '1.2%', '<0.1%', '0%', '>99.9%', '100%')
    """
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    if 0 < share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{100 * share:.1f}%"


def listed(texts: Sequence[str], most: int = NAMED) -> str:
    """Return a list of texts for a sentence, about ``most`` of them: "a, b and 3 more"; never "1 more", which is named."""
    if len(texts) <= most + 1:
        return ", ".join(texts[:-1]) + " and " + texts[-1] if len(texts) > 1 else "".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most:,} more"
