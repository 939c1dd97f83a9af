"""Jobs: long work that somebody listens to, and that can be cancelled from another thread.

Work belongs to the job that is entered around it, in the thread that entered it and in the threads that its kernels run in. So a
server may run several jobs at once, each with a listener and a cancel flag of its own. Work without a job has no listener and is
never cancelled. Nothing here knows signals: Ctrl-C raises KeyboardInterrupt in the main thread, as Python has it.

The library prints nothing, but for one line: whoever sits before a notebook or Python's prompt is told why the first call waits.

    job = Job(print)
    worker = threading.Thread(target=work, args=(job,))  # which does ``with job: tc.anonymize(...)``
    job.cancel()                                         # ``tc.anonymize`` raises Cancelled
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

COMPILING = "compiling"
"""The first word of the figure that says so."""

NAP = 0.02
"""Seconds between two attempts to stop what a cancelled job waits for."""


class Cancelled(Exception):  # noqa: N818 - the field's word, as in asyncio
    """The job was cancelled before its work was done. Nothing was written."""


class Job:
    """Long work: who listens to it, and whether it is cancelled."""

    def __init__(self, listener: Callable[[str, str], None] | None = None) -> None:
        """Make a job; work that is done inside ``with job:`` belongs to it.

        Parameters
        ----------
        listener
            Called with each stage that begins and an empty figure, then with the stage and each figure of it.
        """
        self._listener = listener
        self._stage = ""
        self._cancelled = False
        self._stops: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._tokens: list[Token[Job]] = []

    def __enter__(self) -> Self:
        """Begin: what this thread does from now on belongs to the job. One thread at a time enters a job."""
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End: what this thread does belongs to the job it belonged to before."""
        _current.reset(self._tokens.pop())

    @property
    def cancelled(self) -> bool:
        """Whether somebody has cancelled the job."""
        return self._cancelled

    def cancel(self) -> None:
        """End the work soon, from any thread: it raises `Cancelled`. Work that is done already stays done."""
        with self._lock:
            self._cancelled = True
        threading.Thread(target=self._stop, daemon=True).start()

    def check(self) -> None:
        """Raise `Cancelled` if the job is cancelled. Work that takes long without a kernel or a query calls this often."""
        if self._cancelled:
            raise Cancelled("The job was cancelled.")

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop``, from another thread, if the job is cancelled inside this block: for work that cannot look by itself.

        It is called again and again until the block is left: a query may begin just after the first call.
        """
        with self._lock:
            self.check()
            self._stops.append(stop)
        try:
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)

    def _stop(self) -> None:
        while True:
            with self._lock:  # a block that is left is not stopped any more
                for stop in self._stops:
                    stop()
                if not self._stops:
                    return
            time.sleep(NAP)

    def announce(self, stage: str) -> None:
        """Say that a stage begins."""
        self._stage = stage
        if self._listener is not None:
            self._listener(stage, "")

    def report(self, figure: str) -> None:
        """Say how the stage goes: the loss so far, for one. The next figure replaces it."""
        if self._listener is not None:
            self._listener(self._stage, figure)
        elif figure.startswith(COMPILING) and COMPILING not in _told and _somebody_waits():
            _told.add(COMPILING)
            sys.stderr.write(f"tclose is {figure}.\n")
            sys.stderr.flush()


_current: ContextVar[Job] = ContextVar("job", default=Job())  # noqa: B039 - the default has no listener, and nobody can cancel it
_told: set[str] = set()


def current() -> Job:
    """Return the job that this thread works for."""
    return _current.get()


def announce(stage: str) -> None:
    """Say that a stage of the current job begins, unless the job is cancelled."""
    job = current()
    job.check()
    job.announce(stage)


def report(figure: str) -> None:
    """Say how the stage of the current job goes."""
    current().report(figure)


def check() -> None:
    """Raise `Cancelled` if the current job is cancelled."""
    current().check()


def _somebody_waits() -> bool:
    """Whether Python runs in a notebook, or at a prompt."""
    notebook = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or (notebook is not None and notebook.get_ipython() is not None)
