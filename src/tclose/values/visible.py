"""Text of tables made visible: a character that a reader would not see, or that would move others, is shown as its escape.

Such are control characters, characters that change the direction of text or have no width, and halves of surrogate pairs.
"""

from __future__ import annotations


def visible(text: object) -> str:
    """Return a text on one line, with each character that is not printable as its escape.

    >>> print(visible("salary\\x1b[2J"))
    salary\\x1b[2J
    """
    given = str(text)
    return given if given.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in given)
