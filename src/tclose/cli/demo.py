"""tclose demo: a hospital's table, and what it would give away."""

from __future__ import annotations

from pathlib import Path

import typer


def demo(
    folder: Path = typer.Option(Path("tclose-demo"), "--folder", metavar="DIR", help="Where the demo's files go."),
) -> None:
    """Make a hospital table of 10,000 visits, and audit it.

    \b
    Examples:
      tclose demo
      tclose demo --folder hospital
    """
    from tclose.cli.screen import show_audit, status
    from tclose.demo import write_demo

    with status("Making a hospital"):
        data, hierarchy, policy = write_demo(folder)
    typer.echo(f"Wrote {data} (10,000 visits), {hierarchy.name} and {policy.name}. The people in it do not exist.\n")
    with status("Measuring"):
        from tclose._audit import audit
        from tclose.policy import Policy

        result = audit(data, Policy.load(policy))
    show_audit(result, data.name)
    typer.echo(
        f"\nAs it stands, the table must not be published. Look further:\n"
        f"  tclose audit {data} -p {policy} --classes {folder / 'classes.csv'}\n"
        f"  tclose audit {data} -p {policy} --json\n"
        f"  tclose audit {data} --quasi age,sex --sensitive diagnosis"
    )
