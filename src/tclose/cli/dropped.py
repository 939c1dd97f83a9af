"""Exceptions that Python can raise nowhere, as those of a ``__del__``: they are not printed, and an interrupt is not lost.

Ctrl-C may arrive while an object is being made. The ``__del__`` of the half-made object may then fail, and Python would print a
traceback, which could quote the table. Ctrl-C may also arrive inside a ``__del__`` or a callback, where Python would print it,
and go on.
"""

from __future__ import annotations

import _thread
import sys
import time

NAP = 0.02
"""Seconds after which a dropped interrupt comes again: by then the ``__del__`` that it came into is usually done."""


def handle_dropped_exceptions() -> None:
    """Print nothing of the exceptions that Python drops in this process, and deliver a dropped interrupt again, soon."""
    sys.unraisablehook = _handle


def _handle(dropped: sys.UnraisableHookArgs) -> None:
    """Ignore a dropped exception, unless it is an interrupt: a thread delivers that again, for raised here it would be lost."""
    if issubclass(dropped.exc_type, KeyboardInterrupt) and not sys.is_finalizing():
        _thread.start_new_thread(_interrupt_soon, ())


def _interrupt_soon() -> None:
    time.sleep(NAP)
    _thread.interrupt_main()
