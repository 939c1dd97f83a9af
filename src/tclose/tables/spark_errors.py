"""Errors that executors of Spark raise: those of tclose come to the driver as they are, in a text that Spark passes on."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tclose import errors
from tclose.errors import TcloseError

_MARK = "tclose-error-"


@dataclass(frozen=True)
class Telling:
    """A function of one argument that does what another one does; an error of tclose is raised as one that Spark passes on."""

    do: Callable[[Any], Any]

    def __call__(self, argument: Any) -> Any:
        """Return what the function returns; if that is an iterator, as one whose errors are told, too."""
        with _telling():
            found = self.do(argument)
        return self._each(found) if isinstance(found, Iterator) else found

    def _each(self, found: Iterator[Any]) -> Iterator[Any]:
        """Yield what the function yields."""
        with _telling():
            yield from found


@contextmanager
def _telling() -> Iterator[None]:
    """Raise an error of tclose as one whose text has its class and its sentence, in letters that no log breaks or escapes."""
    try:
        yield
    except TcloseError as error:
        told = base64.b64encode(json.dumps([type(error).__name__, str(error)]).encode()).decode()
        raise RuntimeError(f"{_MARK}{told};") from None


@contextmanager
def hearing() -> Iterator[None]:
    """Raise an error of tclose that an executor told, with its own class and sentence."""
    try:
        yield
    except TcloseError:
        raise
    except Exception as error:
        told = re.search(f"{_MARK}([A-Za-z0-9+/=]+);", str(error))
        if told is None:
            raise
        name, sentence = json.loads(base64.b64decode(told[1]))
        raise getattr(errors, name)(sentence) from None
