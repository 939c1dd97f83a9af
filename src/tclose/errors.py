"""The exceptions of tclose. Each is also a built-in type, so that ``except ValueError`` catches it.

    TcloseError
      + InputError (ValueError)         the table cannot be read, or does not fit the policy
        + ColumnError                   a column is missing, named twice, or of a kind that cannot be used
      + PolicyError (ValueError)        the policy is not valid, or does not fit the table
        + HierarchyError                a hierarchy, matrix or order is malformed or misses a value
      + InfeasibleError (ValueError)    no release of the table can satisfy the policy
      + GateError (RuntimeError)        a release would have broken its policy: a fault of ours, and nothing was written
      + OutputError (OSError)           a result cannot be written
        + OutputExistsError (FileExistsError)  a file exists, and nobody asked to replace it
      + MissingExtraError (ImportError) a package that only some parts of tclose need is not installed

    PrivacyRiskWarning (UserWarning)    the numbers are right, but a reader may take them for more than they are
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
    """The policy is not valid, or does not fit the table."""


class HierarchyError(PolicyError):
    """A hierarchy, matrix or order is malformed, or misses a value of the table."""


class InfeasibleError(TcloseError, ValueError):
    """No release of the table can satisfy the policy."""


class GateError(TcloseError, RuntimeError):
    """A release would have broken its policy; nothing was written."""


class OutputError(TcloseError, OSError):
    """A result cannot be written."""


class OutputExistsError(OutputError, FileExistsError):
    """A file exists, and nobody asked to replace it.

    >>> print(OutputExistsError("release.csv"))
    File 'release.csv' exists. Give force=True to replace it.

    Attributes
    ----------
    note : str
        What the caller knows besides, in sentences.
    """

    note = ""

    def __str__(self) -> str:
        """Return the sentence for a caller in Python."""
        return self.sentence("force=True")

    def sentence(self, how: str) -> str:
        """Return the sentence with another way to ask for it, as an option of the command line."""
        said = f"File {str(self.args[0])!r} exists. Give {how} to replace it."
        return f"{said} {self.note}" if self.note else said


class PrivacyRiskWarning(UserWarning):
    """The numbers are right, but a reader may take them for more than they are."""


class ReadingWarning(UserWarning):
    """A column is nearly numbers or dates, and was read as text: the table may not be what it seems."""


class MissingExtraError(TcloseError, ImportError):
    """A package that only some parts of tclose need is not installed."""


def raising_alone(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Let a public function raise its errors without the exceptions that caused them.

    ``from None`` hides the causes from a traceback, but does not remove them: a log of the whole chain would show a raw line.
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
            del refusal  # the traceback refers to this frame

    return alone


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint: the known names of which the name is the first word, else the one that is most similar.

    >>> nearest("wang", ["sabre", "wang-pca", "wang-clustering"]), nearest("Sabr", ["sabre", "wang-pca"])
    (" Did you mean 'wang-pca' or 'wang-clustering'?", " Did you mean 'sabre'?")
    """
    names = list(known)
    meant = [item for item in names if item.lower().startswith(f"{name.lower()}-")]
    if not meant:
        lowered = {item.lower(): item for item in reversed(names)}
        meant = [lowered[close] for close in difflib.get_close_matches(name.lower(), lowered, n=1)]
    shown = " or ".join(filter(None, [", ".join(map(repr, meant[:-1])), *map(repr, meant[-1:])]))
    return f" Did you mean {shown}?" if shown else ""


def listed(values: Sequence[str], most: int = 5) -> str:
    """The first of some values, and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d"], most=2)
    ("'a', 'b'", "'a', 'b' and 2 more")
    """
    more = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(map(repr, values[:most])) + more


_SHOWN = 60
"""Most characters of a given value that a sentence shows."""


def got(value: Any, *, setting: bool = False) -> str:
    """Return a given value for the end of a sentence: a name or a number as it is, anything else by its type: it may be a table.

    ``setting`` says that the value is one setting of a column: then a short list or mapping is shown, too.

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
    """Return the given name if it is known; else raise an error that lists the known names."""
    if isinstance(given, str) and given in known:
        return given
    hint = nearest(given, known) if isinstance(given, str) else ""
    raise PolicyError(f"{what} must be one of {', '.join(known)}. Got {got(given)}.{hint}")
