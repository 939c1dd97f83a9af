"""Proposed: the line by which the file of a policy says that nobody has confirmed its roles yet."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from tclose.policy.policy import Policy

UNCONFIRMED = "NOT CONFIRMED: nobody has checked the roles below. Delete this line when you have checked each column."
"""The comment that a proposed policy has, in a line of its own; it is a comment, so that no setting of a policy can claim it."""

NOBODY = "Nobody: the roles of the columns are a proposal of tclose init that nobody has confirmed."
"""What the record and the report of such a policy say of its review."""

_LINE = re.compile(r"^[ \t]*#[ \t#]*not confirmed[ \t]*:", re.IGNORECASE | re.MULTILINE)


def without_review(policy: Policy) -> Policy:
    """Return a policy whose context says that nobody has confirmed its roles, before what it says of the review itself."""
    context = policy.context or {}
    said = [NOBODY, *([context["reviewer"]] if "reviewer" in context else [])]
    return replace(policy, context={**context, "reviewer": "\n".join(said)})


def is_unconfirmed(path: Path) -> bool:
    """Return whether a policy's file, which has been loaded, still has the line that its roles are not confirmed."""
    if not path.is_file():  # a pipe, whose text is gone
        return False
    return _LINE.search(path.read_text(encoding="utf-8-sig")) is not None
