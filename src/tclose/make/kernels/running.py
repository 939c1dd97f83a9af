"""Running kernels, on one core or on all, so that they end soon when their job is cancelled or Ctrl-C is pressed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose import jobs
from tclose.make.kernels import compiling

NAP = 0.02
"""Seconds between two looks at the job: Ctrl-C reaches Python only between naps."""
PATIENCE = 1.0
"""Seconds that a cancelled kernel gets to stop."""


def run(kernel: Callable[..., Any], *args: Any) -> Any:
    """Run a kernel that holds no GIL in a thread, with a cancel flag (uint8, length 1) as last argument.

    A compiled kernel notices neither Ctrl-C nor that its job is cancelled, nor does a compiler. The thread that calls this
    function does, and sets the flag. The kernel looks at the flag at least every 0.2 s, and returns. What the kernel raises is
    raised here. The kernel's thread works for the same job.
    """
    cancel = np.zeros(1, dtype=np.uint8)
    if compiling.rehearsing:
        compiling.rehearse(kernel, *args, cancel)
    results: list[Any] = []
    _watch([lambda: results.append(kernel(*args, cancel))], cancel)
    return results[0]


def run_parts(kernel: Callable[..., Any], parts: int, make_scratch: Callable[[], Any], *args: Any) -> None:
    """Run ``kernel(part, *args, scratch, cancel)`` for each part from 0 on, on all cores; see `run`.

    Each thread has scratch memory of its own, made by ``make_scratch()``. Parts must not depend on one another: which thread
    takes which part, and when, is left open.
    """
    cancel = np.zeros(1, dtype=np.uint8)
    if compiling.rehearsing:
        compiling.rehearse(kernel, 0, *args, make_scratch(), cancel)
    waiting, lock = iter(range(parts)), threading.Lock()

    def work() -> None:
        scratch = make_scratch()
        while not cancel[0]:
            with lock:
                part = next(waiting, None)
            if part is None:
                return
            kernel(part, *args, scratch, cancel)

    _watch([work] * max(1, min(threads(), parts)), cancel)


def cores() -> int:
    """Return how many cores this process may use."""
    usable = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(usable(0)) if usable else os.cpu_count() or 1


def threads() -> int:
    """Return how many threads of this process work at a time: one for each core, at most OMP_NUM_THREADS, which Spark sets."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(asked)) if asked.isdecimal() and int(asked) > 0 else cores()


def _watch(works: list[Callable[[], None]], cancel: NDArray[np.uint8]) -> None:
    """Do all works at once, each in a thread. The first error, a cancelled job or Ctrl-C stops the others."""
    errors: list[BaseException] = []
    job = jobs.current()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            errors.append(error)
            cancel[0] = 1

    workers = [threading.Thread(target=copy_context().run, args=(guarded, work), daemon=True) for work in works]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                job.check()
                worker.join(NAP)
    except BaseException:
        cancel[0] = 1
        for worker in workers:
            if worker.ident is not None:
                worker.join(PATIENCE)
        raise
    if errors:
        raise errors[0]
