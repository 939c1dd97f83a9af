"""tclose demo: a hospital's table, what it would give away, and a release of it that satisfies a policy."""

from __future__ import annotations

from pathlib import Path

import typer


def demo(
    folder: Path = typer.Option(Path("tclose-demo"), "--folder", metavar="DIR", help="Where the demo's files go."),
    force: bool = typer.Option(False, "--force", help="Replace files that exist."),
) -> None:
    """Make a hospital table of 10,000 visits, audit it, make a release of it, and audit that.

    \b
    Examples:
      tclose demo
      tclose demo --folder hospital
      tclose demo --force
    """
    from tclose.cli.printing import a_reader_may_leave, echo
    from tclose.cli.released import show_release
    from tclose.cli.screen import show_audit, stages, status
    from tclose.cli.verification import show_verification
    from tclose.release.hospital import write_demo
    from tclose.release.release import check_paths

    out = folder / "release.csv"
    if folder.is_dir():
        check_paths(out, force=force)
    with status("Making a hospital"):
        data, hierarchy, policy, ranges = write_demo(folder, force=force)
    echo(f"Wrote {data} (10,000 visits), {hierarchy.name}, {ranges.name} and {policy.name}. The people in it do not exist.", "")
    with status("Measuring"):
        from tclose.judge.audit import audit
        from tclose.policy import Policy

        asked = Policy.load(policy)
        before = audit(data, asked)
    with a_reader_may_leave():
        _show_heading(f"1. Before: tclose audit {data} -p {policy}")
        show_audit(before, data.name)

    with stages(data.name, out.name):
        from tclose.release.anonymize import anonymize

        release = anonymize(data, asked)
        paths = release.write(out, force=force)
    with a_reader_may_leave():
        _show_heading(f"2. The release: tclose anonymize {data} -p {policy} -o {out} --force")
        show_release(release, paths)

    with status("Verifying"):
        from tclose.release.verify import verify

        found = verify(out)
    with a_reader_may_leave():
        _show_heading(f"3. After: tclose audit {out} -p {policy}")
        show_audit(found.audit, out.name)
        _show_heading(f"4. What every reader can check: tclose verify {out}")
        show_verification(found)
        echo(
            "",
            f"Look at {out} beside {data}, and at {paths[3].name}. Then change {policy.name}, or go on:",
            f"  tclose audit {data} -p {policy} --classes {folder / 'classes.csv'}",
            f"  tclose anonymize {data} -p {policy} -o {folder / 'release.parquet'}",
        )


def _show_heading(title: str) -> None:
    """Print a heading of the demo."""
    from tclose.cli.printing import echo

    echo("", title, "-" * len(title))
