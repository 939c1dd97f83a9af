"""Workers: processes that run the cells of a comparison, several at a time. One that takes too long is ended and replaced."""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from tclose.jobs import check
from tclose.study.compare.cell import Cell, Result, Task

NAP = 0.2
"""Seconds between two looks at whether a worker has taken too long, or somebody has cancelled the job."""


class _Worker:
    """A process of its own, which gets the task once and then cells one by one.

    It is a new Python, not a copy of this one: what the caller runs, a script or a notebook, is not run again in it.
    """

    def __init__(self, task: bytes, results: queue.Queue[tuple[_Worker, Result | None]]) -> None:
        """Start the process and send it the task."""
        self._results = results
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tclose.study.compare.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches this process alone, which then ends its workers
        )
        self._cells: queue.Queue[Cell | None] = queue.Queue()
        self.cell: Cell | None = None
        self.begun = 0.0
        self._talking = threading.Thread(target=self._talk, args=(task,), daemon=True)
        self._talking.start()

    def give(self, cell: Cell) -> None:
        """Let the process run a cell; its result is put into the queue."""
        self.cell, self.begun = cell, time.monotonic()
        self._cells.put(cell)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._cells.put(None)
        self._talking.join()
        with suppress(OSError), self._process:  # what was not sent yet cannot be sent any more
            pass

    def _talk(self, task: bytes) -> None:
        """Send the task and the cells, and receive results, until the process ends."""
        sent, received = self._process.stdin, self._process.stdout
        assert sent is not None
        assert received is not None
        try:
            sent.write(task)
            while (cell := self._cells.get()) is not None:
                pickle.dump(cell, sent)
                sent.flush()
                self._results.put((self, pickle.load(received)))
        except (OSError, EOFError, pickle.UnpicklingError):
            self._results.put((self, None))


def run_all(task: Task, cells: Sequence[Cell], processes: int, seconds: float | None) -> Iterator[Result]:
    """Yield the results of all cells in the order in which they end.

    Parameters
    ----------
    processes : int
        How many cells run at the same time.
    seconds : float or None
        The longest time that a cell may take, in wall time; its result says so if it is over.
    """
    packed = pickle.dumps(task)
    results: queue.Queue[tuple[_Worker, Result | None]] = queue.Queue()
    left, workers = list(reversed(cells)), set[_Worker]()
    try:
        while left or workers:
            while left and len(workers) < processes:
                workers.add(_begun(_Worker(packed, results), left))
            for worker, result in _ended(results, workers, seconds):
                assert worker.cell is not None
                yield result or Result(worker.cell, "failed", "The process that made the release ended.")
                if result is None or result.status == "time" or not left:
                    worker.end()
                    workers.discard(worker)
                else:
                    _begun(worker, left)
    finally:
        for worker in workers:
            worker.end()


def _begun(worker: _Worker, left: list[Cell]) -> _Worker:
    """Let a worker run the next cell."""
    worker.give(left.pop())
    return worker


def _ended(results: queue.Queue[Any], workers: set[_Worker], seconds: float | None) -> Iterator[tuple[_Worker, Result | None]]:
    """Yield the workers whose cell has ended, or has taken too long; None for a process that ended by itself."""
    try:
        worker, result = results.get(timeout=NAP)
        if worker in workers:  # else it was ended after its time, and its pipe tells so
            yield worker, result
    except queue.Empty:
        check()
    now = time.monotonic()
    for worker in [one for one in workers if seconds is not None and now - one.begun > seconds]:
        assert worker.cell is not None
        yield worker, Result(worker.cell, "time", f"It took longer than {seconds:g} s.")
