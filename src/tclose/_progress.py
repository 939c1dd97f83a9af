"""Progress: the stages of long work, told to whoever listens. The library prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Callable[[str], None]) -> Iterator[None]:
    """Call ``hear`` with the name of each stage that begins inside this block."""
    before = _listener.set(hear)
    try:
        yield
    finally:
        _listener.reset(before)


def announce(stage: str) -> None:
    """Say that a stage begins."""
    hear = _listener.get()
    if hear is not None:
        hear(stage)
