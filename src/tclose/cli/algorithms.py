"""tclose algorithms: what can make a release."""

from __future__ import annotations

import typer


def algorithms() -> None:
    """List the algorithms that make releases, and their options, defaults first.

    \b
    Examples:
      tclose algorithms
    """
    from tclose.algorithms import list_algorithms
    from tclose.cli.screen import a_reader_may_leave

    with a_reader_may_leave():
        for algorithm in list_algorithms():
            typer.echo(f"{algorithm}\n  {algorithm.reference}")
            for name, option in algorithm.options.items():
                typer.echo(f"  --option {name}={option}")
