"""tclose report: write the page on which people decide about a release."""

from __future__ import annotations

from pathlib import Path

import typer


def report(
    release: Path = typer.Argument(..., metavar="RELEASE", help="The published table; its certificate lies beside it."),
    out: Path | None = typer.Option(None, "-o", "--out", metavar="FILE", help="The report; by default RELEASE.report.html."),
    record: Path | None = typer.Option(
        None, "--record", metavar="FILE", help="The private record; by default RELEASE.private.json, if it is there."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the report if it exists."),
) -> None:
    """Write a report of a release: one HTML file, which needs no network.

    The release is verified first. The report is public: it shows what anybody can compute from the release and its certificate,
    with counts of few rows masked (small_cells in the policy), and what the policy's context says, which is in the private
    record. Nothing else is taken from the record.

    \b
    Examples:
      tclose report release.csv
      tclose report release.csv -o report.html --force
    """
    from tclose.cli.printing import echo
    from tclose.cli.screen import status
    from tclose.release.release import papers_of
    from tclose.report.page import check_page, write_page

    path = release.with_name(f"{release.name}.report.html") if out is None else out
    check_page(path, internal=False, force=force, inputs=[release, *papers_of(release)])
    with status(f"Reporting on {release.name}"):
        from tclose.report.papers import papers_beside
        from tclose.report.report import public_report

        write_page(public_report(papers_beside(release, record)), path, force=force)
    echo(f"Wrote {path}, a public report.")
