"""The exceptions of tclose. Each is also a built-in type, so that ``except ValueError`` goes on working.

    TcloseError
      + InputError (ValueError)         the table cannot be read, or does not fit the policy
        + ColumnError                   a column is missing, named twice, or of a kind that cannot be used
      + PolicyError (ValueError)        the policy asks for something that is no policy
        + HierarchyError                a hierarchy, matrix or order is malformed or misses a value
      + InfeasibleError (ValueError)    no release of the table can hold the policy
      + GateError (RuntimeError)        a release would have broken its policy: a fault of ours, and nothing was written
      + OutputError (OSError)           a result cannot be written
        + OutputExistsError (FileExistsError)  a file is there already, and nobody asked to replace it

    PrivacyRiskWarning (UserWarning)    the numbers hold, but a reader may take them for more than they are
    ReadingWarning (UserWarning)        a column is nearly numbers or dates, and was read as text

A message is one sentence or two: what was found, what is needed, what to do. It quotes no row of the table.
"""

import difflib
import functools
from collections.abc import Callable, Collection, Iterable, Sequence
from numbers import Number
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class TcloseError(Exception):
    """Anything that tclose refuses, with a sentence for the user."""


class InputError(TcloseError, ValueError):
    """The table cannot be read, or does not fit the policy."""


class ColumnError(InputError):
    """A column is missing, named twice, or of a kind that cannot be used."""


class PolicyError(TcloseError, ValueError):
    """The policy asks for something that is no policy."""


class HierarchyError(PolicyError):
    """A hierarchy, matrix or order is malformed, or misses a value of the table."""


class InfeasibleError(TcloseError, ValueError):
    """No release of the table can hold the policy."""


class GateError(TcloseError, RuntimeError):
    """A release would have broken its policy; nothing was written."""


class OutputError(TcloseError, OSError):
    """A result cannot be written."""


class OutputExistsError(OutputError, FileExistsError):
    """A file is there already, and nobody asked to replace it.

    >>> print(OutputExistsError("release.csv"))
    File 'release.csv' exists. Give force=True to replace it.
    """

    def __str__(self) -> str:
        """For whoever calls from Python."""
        return self.sentence("force=True")

    def sentence(self, how: str) -> str:
        """The same for whoever has another way to ask for it."""
        return f"File {str(self.args[0])!r} exists. Give {how} to replace it."


class PrivacyRiskWarning(UserWarning):
    """The numbers hold, but a reader may take them for more than they are."""


class ReadingWarning(UserWarning):
    """A column is nearly numbers or dates, and was read as text: the table may not be what it seems."""


def raising_alone(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let a public function raise its errors without the exceptions that they arose from.

    ``from None`` hides these from a traceback, but keeps them, and a log that walks the chain would show a raw line of the table.
    """

    @functools.wraps(function)
    def alone(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if not (isinstance(error, TcloseError) or error.__suppress_context__):
                raise
            refusal = error
        try:
            refusal.__cause__ = refusal.__context__ = None
            raise refusal  # outside of the except clause, which would add the context again
        finally:
            del refusal  # the traceback holds this frame

    return alone


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint: the known name most like this one."""
    lowered = {item.lower(): item for item in reversed(list(known))}
    close = difflib.get_close_matches(name.lower(), lowered, n=1)
    return f" Did you mean {lowered[close[0]]!r}?" if close else ""


def listed(values: Sequence[str], most: int = 5) -> str:
    """The first of some values, and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d"], most=2)
    ("'a', 'b'", "'a', 'b' and 2 more")
    """
    more = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(map(repr, values[:most])) + more


_SHOWN = 60
"""Characters of what was given that a sentence shows."""


def got(value: Any, *, setting: bool = False) -> str:
    """What was given, for the end of a sentence: a name or a number as it is, of anything else its kind; it may hold a table.

    ``setting`` says that it stands for one setting of a column: then a short list or mapping is shown too.

    >>> got("range"), got(7), got([7]), got([7], setting=True), got("9" * 5000)[-22:]
    ("'range'", '7', 'list', '[7]', '... (5,000 characters)')
    """
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return f"a number of more than {_SHOWN} digits"
    if isinstance(value, str):
        return repr(value) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}... ({len(value):,} characters)"
    if isinstance(value, Number | None):
        return str(value)
    inside = list(value.values()) if isinstance(value, dict) else value
    flat = isinstance(inside, list | tuple) and all(isinstance(part, str | Number | None) for part in inside)
    return repr(value) if setting and flat and len(repr(value)) <= _SHOWN else type(value).__name__


def one_of(what: str, given: Any, known: Collection[str]) -> str:
    """What was given, if it is one of the known names; else an error that lists them."""
    if isinstance(given, str) and given in known:
        return given
    hint = nearest(given, known) if isinstance(given, str) else ""
    raise PolicyError(f"{what} must be one of {', '.join(known)}. Got {got(given)}.{hint}")
