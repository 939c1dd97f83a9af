"""The formula guard: texts that a spreadsheet would run instead of show get a leading ``'``, and can be had back exactly.

A text is risky when, after any number of ``'``, it begins with one of ``= + - @``, their fullwidth twins, a tab or a line break;
a plain negative number is not. A risky text gets one ``'`` more. As ``'`` before a risky text is risky again, no two texts are
guarded to the same one.
"""

from __future__ import annotations

import re

FORMULA = "^'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
"""How a text begins that a spreadsheet may take for a formula. Written so that Python and RE2 read it alike, as is `NUMBER`."""

NUMBER = r"^-[0-9]+(\.[0-9]+)?$"
"""A number that begins as a formula does, and is none."""

_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)


def is_risky(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula, so that `guarded` would change it.

    >>> [is_risky(text) for text in ("=1+1", "'=1+1", "+1", "-5", "-5 to 5", "a=b")]
    [True, True, True, False, True, False]
    """
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def guarded(text: str) -> str:
    """Return a text with ``'`` before it if a spreadsheet may take it for a formula; else the text as it is.

    >>> guarded("=cmd()"), guarded("'=cmd()"), guarded("-5")
    ("'=cmd()", "''=cmd()", '-5')
    """
    return f"'{text}" if is_risky(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` was given: without the ``'`` that it put before a formula.

    >>> unguarded(guarded("=cmd()")), unguarded("'tis")
    ('=cmd()', "'tis")
    """
    return text[1:] if text.startswith("'") and is_risky(text[1:]) else text
