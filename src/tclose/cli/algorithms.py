"""tclose algorithms: list the algorithms that make releases."""

from __future__ import annotations


def algorithms() -> None:
    """List the algorithms that make releases, and their options, defaults first.

    \b
    Examples:
      tclose algorithms
    """
    from tclose.cli.printing import a_reader_may_leave, echo
    from tclose.make.registry import list_algorithms

    with a_reader_may_leave():
        for algorithm in list_algorithms():
            echo(algorithm, f"  {algorithm.reference}")
            for name, option in algorithm.options.items():
                echo(f"  --option {name}={option}")
