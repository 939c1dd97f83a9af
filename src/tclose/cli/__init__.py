"""The command line: thin commands over the library. Exit codes: 0 fine, 1 the policy does not hold, 2 bad input or usage,
3 a fault of ours, 130 interrupted."""

from tclose.cli.commands import app, main

__all__ = ["app", "main"]
