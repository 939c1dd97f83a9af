"""tclose verify: check a published file again."""

from __future__ import annotations

from pathlib import Path

import typer

from tclose.cli.tables import STANDARD_INPUT
from tclose.errors import InputError


def verify(
    release: Path = typer.Argument(..., metavar="RELEASE", help="The published table."),
    certificate: Path | None = typer.Option(
        None, "--certificate", metavar="FILE", help="Its certificate; by default RELEASE.certificate.json."
    ),
    policy: Path | None = typer.Option(
        None, "-p", "--policy", metavar="FILE", help="Your own policy, in YAML, which the release must satisfy too."
    ),
    everything: bool = typer.Option(False, "--all", help="Also every check by itself, and what is the publisher's word."),
) -> None:
    """Check a published file again, from the file and its certificate alone.

    The bytes, the columns, every limit and every figure that a release can show are compared with what the certificate says.
    The first line is the verdict; the others say in plain words what was verified. Read them: a certificate may ask for little,
    or publish names as they are.

    Exits with 0 when all of it is right, with 1 when something is not, or nothing was asked.

    \b
    Examples:
      tclose verify release.csv
      tclose verify release.csv --certificate elsewhere/release.csv.certificate.json
      tclose verify release.csv -p policy.yaml
      tclose verify release.csv --all
    """
    from tclose.cli.printing import a_reader_may_leave
    from tclose.cli.screen import status
    from tclose.cli.verification import show_verification

    if release == STANDARD_INPUT:
        raise InputError("A release is checked by its bytes, beside its certificate. Save it to a file, and name the file.")
    with status(f"Verifying {release.name}"):
        from tclose.release.verify import verify as check

        found = check(release, certificate, policy)
    with a_reader_may_leave():
        show_verification(found, everything=everything)
    if not found.holds:
        raise typer.Exit(1)
