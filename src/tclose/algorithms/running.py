"""Running a kernel so that Ctrl-C stays prompt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np

NAP = 0.02
"""Seconds between two looks at the kernel: Ctrl-C reaches Python only between naps."""
PATIENCE = 1.0
"""Seconds that an interrupted kernel gets to stop."""


def run(kernel: Callable[..., Any], *args: Any) -> Any:
    """Run a kernel that holds no GIL in a thread, with a cancel flag (uint8, length 1) as last argument.

    A compiled kernel does not notice Ctrl-C, nor does a compiler; the main thread does, sets the flag, and the kernel, which
    looks at it at least every 0.2 s, returns. What the kernel raises is raised here. Whoever listens to
    progress hears the thread too.
    """
    cancel = np.zeros(1, dtype=np.uint8)
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(kernel(*args, cancel))
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            errors.append(error)

    worker = threading.Thread(target=copy_context().run, args=(work,), name=getattr(kernel, "__name__", "kernel"), daemon=True)
    try:
        worker.start()
        while worker.is_alive():
            worker.join(NAP)
    except BaseException:
        cancel[0] = 1
        worker.join(PATIENCE)
        raise
    if errors:
        raise errors[0]
    return results[0]
