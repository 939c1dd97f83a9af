"""The command line: thin commands over the library. Exit codes: 0 fine, 1 the policy is not satisfied, 2 bad input or usage,
3 a fault of ours, 130 interrupted."""

import sys
from typing import TYPE_CHECKING, Any

from tclose.cli.dropped import handle_dropped_exceptions

if TYPE_CHECKING:
    from tclose.cli.commands import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the ``tclose`` command; the entry point of the installed script."""
    try:
        handle_dropped_exceptions()
        from tclose.cli.commands import run

        run()
    except KeyboardInterrupt:  # while the commands were loaded; once they run they say it themselves
        sys.stderr.write("Error: Interrupted.\n")
        sys.exit(130)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'tclose.cli' has no attribute {name!r}")
    from tclose.cli.commands import app

    return app
