"""tclose verify: a published file, checked again."""

from __future__ import annotations

from pathlib import Path

import typer


def verify(
    release: Path = typer.Argument(..., metavar="RELEASE", help="The published table."),
    certificate: Path = typer.Option(..., "--certificate", metavar="FILE", help="Its certificate."),
) -> None:
    """Check a published file again, from the file and its certificate alone.

    The bytes, the columns, every limit and every figure that a release can show are compared with what the certificate says.
    Exits with 0 when all of it is so, with 1 when something is not.

    \b
    Examples:
      tclose verify release.csv --certificate release.csv.certificate.json
    """
    from tclose.cli.printing import a_reader_may_leave
    from tclose.cli.screen import status
    from tclose.cli.verification import show_verification

    with status(f"Verifying {release.name}"):
        from tclose._verify import verify as check

        found = check(release, certificate)
    with a_reader_may_leave():
        show_verification(found, release.name)
    if not found.holds:
        raise typer.Exit(1)
