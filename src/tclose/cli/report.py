"""tclose report: write the page on which people decide about a release."""

from __future__ import annotations

from pathlib import Path

import typer

from tclose.cli.tables import files_read
from tclose.cli.targets import a_file


def report(
    release: Path = typer.Argument(..., metavar="RELEASE", help="The published table; its certificate lies beside it."),
    out: Path | None = typer.Option(
        None,
        "-o",
        "--out",
        metavar="FILE",
        parser=a_file,
        help="The report; by default RELEASE.report.html, or RELEASE.internal.html.",
    ),
    record: Path | None = typer.Option(
        None, "--record", metavar="FILE", help="The private record; by default RELEASE.private.json, if it is there."
    ),
    internal: bool = typer.Option(False, "--internal", help="Add what must not be published; the file's name must say so."),
    data: Path | None = typer.Option(None, "--data", metavar="FILE", help="The raw table, for an internal report."),
    attacks: Path | None = typer.Option(
        None, "--attacks", metavar="FILE", help="The output of 'tclose attack --json', for an internal report."
    ),
    utility: Path | None = typer.Option(
        None, "--utility", metavar="FILE", help="The JSON of tclose.utility, for an internal report."
    ),
    comparison: Path | None = typer.Option(
        None, "--comparison", metavar="FILE", help="The output of 'tclose compare --json', for an internal report."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the report if it exists."),
) -> None:
    """Write a report of a release: one HTML file, which needs no network.

    The release is verified first. The report is public: it shows what anybody can compute from the release and its certificate,
    with counts of few rows masked (small_cells in the policy), and what the policy's context says, which is in the private
    record. Nothing else is taken from the record.

    An internal report adds the private record, every class of the release, the worst of them with their transport plans and,
    with --data, what the raw table would give away. Never publish it.

    \b
    Examples:
      tclose report release.csv
      tclose report release.csv -o report.html --force
      tclose report release.csv --internal --data visits.csv
      tclose report release.csv --internal --data visits.csv --attacks attacks.json
    """
    from tclose.cli.printing import echo, warnings_told
    from tclose.cli.screen import status
    from tclose.release.release import papers_of
    from tclose.release.verify import release_file
    from tclose.report.findings import read_findings
    from tclose.report.page import check_page, write_page
    from tclose.report.papers import papers_beside
    from tclose.report.report import check_internal, internal_report, public_report

    check_internal(internal, data, attacks, utility, comparison)
    release_file(release)  # one that does not exist is told first
    kind = "internal" if internal else "report"
    path = release.with_name(f"{release.name}.{kind}.html") if out is None else out
    given = [one for one in (record, attacks, utility, comparison) if one is not None]
    raw = [] if data is None else files_read(data)
    check_page(path, internal=internal, force=force, inputs=[release, *papers_of(release), *given, *raw])
    files = {"attacks": attacks, "utility": utility, "comparison": comparison}
    findings = {kind: read_findings(file, kind) for kind, file in files.items() if file is not None}
    with warnings_told(), status(f"Reporting on {release.name}"):
        papers = papers_beside(release, record)
        page = internal_report(papers, data, **findings) if internal else public_report(papers)
        write_page(page, path, internal=internal, force=force)
    if not papers.record and not internal:
        echo(
            f"Warning: the private record of the release is not there. Counts below {papers.small_cells} are masked; the policy "
            "may ask for more (small_cells), and its context is not in the report. Give it with --record.",
            err=True,
        )
    echo(f"Wrote {path}, {'an INTERNAL report: never publish it' if internal else 'a public report'}.")
