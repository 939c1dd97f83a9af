"""What a person sees of a verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tclose.cli.screen import _Console

if TYPE_CHECKING:
    from tclose._verify import Verification


def show_verification(found: Verification, title: str) -> None:
    """Each thing that the certificate says, and whether it is so."""
    console = _Console(highlight=False, soft_wrap=True)
    for finding in found.findings:
        mark = Text("yes", style="green") if finding.holds else Text("NO ", style="bold red")
        detail = f" ({finding.detail})" if finding.detail else ""
        console.print(Text.assemble(mark, "  ", finding.what, detail))
    verdict = "is as certified" if found.holds else "is not as certified"
    console.print(Text(f"{title} {verdict}.", style="bold green" if found.holds else "bold red"))
