"""The app and its commands. Each error becomes one sentence and an exit code."""

from __future__ import annotations

import io
import sys
import traceback
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from tclose.cli.algorithms import algorithms
from tclose.cli.anonymize import anonymize
from tclose.cli.apply import apply
from tclose.cli.attack import attack
from tclose.cli.audit import audit
from tclose.cli.compare import compare
from tclose.cli.demo import demo
from tclose.cli.explain import explain
from tclose.cli.hierarchy import hierarchy
from tclose.cli.init import init
from tclose.cli.printing import echo
from tclose.cli.report import report
from tclose.cli.schema import schema
from tclose.cli.verify import verify
from tclose.cli.warmup import warmup
from tclose.errors import GateError, InfeasibleError, OutputExistsError, TcloseError

CANNOT_HOLD, BAD_INPUT, FAULT, INTERRUPTED = 1, 2, 3, 130
STOPPED = "Interrupted."
REPORT = (
    "Please report that, with the output of 'tclose --version', to the project's issue tracker; nothing of your table is in it."
)
HOME = Path(__file__).resolve().parents[1]

# Typer has click inside it, or beside it in older versions; either way BadParameter inherits from ClickException.
ClickException: Any = next(parent for parent in typer.BadParameter.__mro__ if parent.__name__ == "ClickException")


class Commands(TyperGroup):
    """The commands, which say in one sentence what went wrong: an engine's message or a traceback could quote the table."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command; each error becomes one sentence on standard error, and an exit code."""
        try:
            code = super().main(*args, **{**settings, "standalone_mode": False}) or 0
            if code == INTERRUPTED:  # typer returns it after Ctrl-C
                _exit_with_error(STOPPED, INTERRUPTED)
            sys.exit(code)
        except ClickException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "tclose"
            message = error.format_message()
            if context is not None and context.info_name == "verify" and "extra argument" in message:
                message += ". Give a certificate that lies elsewhere with --certificate FILE."
            _exit_with_error(f"{message}{'' if message[-1] in '.?)' else '.'} Try '{command} --help'.", BAD_INPUT)
        except (KeyboardInterrupt, typer.Abort):
            _exit_with_error(STOPPED, INTERRUPTED)
        except InfeasibleError as error:
            _exit_with_error(str(error), CANNOT_HOLD)
        except GateError as error:
            _exit_with_error(f"{error} {REPORT}", FAULT)
        except OutputExistsError as error:
            _exit_with_error(error.sentence("--force"), BAD_INPUT)
        except TcloseError as error:
            _exit_with_error(str(error), BAD_INPUT)
        except Exception as error:  # noqa: BLE001 - the last resort, and it must not quote the message
            _exit_with_error(_fault_in_one_sentence(error), FAULT)


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    init,
    audit,
    explain,
    anonymize,
    verify,
    report,
    attack,
    compare,
    apply,
    hierarchy,
    algorithms,
    schema,
    warmup,
    demo,
):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    """Print the version of tclose and exit, if the option --version is given."""
    if wanted:
        from tclose import __version__

        echo(f"tclose {__version__}")
        raise typer.Exit


@app.callback()
def tclose(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."),  # noqa: ARG001
) -> None:
    """Measure how much a table would give away about the people in it, and make one that can be published.

    Exit codes: 0 fine; 1 the policy is not satisfied, or cannot be; 2 bad input or usage; 3 a fault of tclose; 130 interrupted.

    Start here: tclose demo
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run() -> None:
    """Run the ``tclose`` command that the command line names, on streams that show a letter they cannot print as its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a letter shows its code
            stream.reconfigure(errors="backslashreplace")
    app()


def _exit_with_error(sentence: str, code: int) -> None:
    """Print an error sentence on standard error, and exit with a code."""
    echo(f"Error: {sentence}", err=True)
    sys.exit(code)


def _fault_in_one_sentence(error: Exception) -> str:
    """Return the sentence that reports a fault of tclose by its type and line, without its message, which may quote the table."""
    paths = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    places = [f"{path.relative_to(HOME)}, line {line}" for path, line in paths if HOME in path.parents]
    place = places[-1] if places else "an unknown place"
    return f"tclose has a fault: {type(error).__name__} in {place}. {REPORT}"
