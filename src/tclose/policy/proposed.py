"""Proposed: the line by which the file of a policy says that nobody has confirmed its roles yet."""

from __future__ import annotations

import re
from pathlib import Path

UNCONFIRMED = "NOT CONFIRMED: nobody has checked the roles below. Delete this line when you have checked each column."
"""The comment that a proposed policy has, in a line of its own; it is a comment, so that no setting of a policy can claim it."""

_LINE = re.compile(r"^\s*#[\s#]*not confirmed\s*:", re.IGNORECASE | re.MULTILINE)


def is_unconfirmed(path: Path) -> bool:
    """Return whether a policy's file, which has been loaded, still has the line that its roles are not confirmed."""
    if not path.is_file():  # a pipe, whose text is gone
        return False
    return _LINE.search(path.read_text(encoding="utf-8-sig")) is not None
