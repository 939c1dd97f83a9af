"""Progress: the stages of long work and a figure inside each, told to whoever listens.

The library prints nothing, but for one line: whoever sits before a notebook or Python's prompt is told why the first call waits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

COMPILING = "compiling"
"""How a figure begins that says so."""


@dataclass
class _Listener:
    hear: Callable[[str, str], None]
    stage: str = ""


_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Callable[[str, str], None]) -> Iterator[None]:
    """Call ``hear`` with each stage that begins inside this block and no figure, and with each figure and the stage it is of."""
    before = _listener.set(_Listener(hear))
    try:
        yield
    finally:
        _listener.reset(before)


def announce(stage: str) -> None:
    """Say that a stage begins."""
    listener = _listener.get()
    if listener is not None:
        listener.stage = stage
        listener.hear(stage, "")


def report(figure: str) -> None:
    """Say how the stage at hand goes: the loss so far, for one. The next figure takes its place."""
    listener = _listener.get()
    if listener is not None:
        listener.hear(listener.stage, figure)
    elif figure.startswith(COMPILING) and COMPILING not in _told and _somebody_waits():
        _told.add(COMPILING)
        sys.stderr.write(f"tclose is {figure}.\n")
        sys.stderr.flush()


_told: set[str] = set()


def _somebody_waits() -> bool:
    """Whether Python runs in a notebook, or at a prompt."""
    notebook = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or (notebook is not None and notebook.get_ipython() is not None)
