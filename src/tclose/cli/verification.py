"""What a person sees of a verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclose.cli.printing import Screen, words

if TYPE_CHECKING:
    from tclose._verify import Verification


def show_verification(found: Verification, title: str) -> None:
    """Each thing that the certificate says, and whether it is so."""
    screen = Screen()
    for finding in found.findings:
        mark = words("yes", style="green") if finding.holds else words("NO ", style="bold red")
        detail = f" ({finding.detail})" if finding.detail else ""
        screen.tell(mark, "", f"{finding.what}{detail}")
    verdict = "is as certified" if found.holds else "is not as certified"
    screen.tell(words(f"{title} {verdict}.", style="bold green" if found.holds else "bold red"))
