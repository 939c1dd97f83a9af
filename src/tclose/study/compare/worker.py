"""A worker of a comparison: ``python -m tclose.study.compare.worker PARENT`` reads a task, then cells, and writes results."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time

NAP = 1.0
"""Seconds between two looks at whether the process that began this one is still there."""


def main() -> None:
    """Run each cell that is sent, until there are no more, or nobody waits for them."""
    sent, results = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed by mistake is no result
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    from tclose.study.compare.cell import run

    task = pickle.load(sent)
    while True:
        try:
            cell = pickle.load(sent)
        except EOFError:
            return
        pickle.dump(run(task, cell), results)
        results.flush()


def _end_with(parent: int) -> None:
    """End this process when the one that began it is gone: it may have been killed in the middle of a cell."""
    while os.getppid() == parent:
        time.sleep(NAP)
    os._exit(1)


if __name__ == "__main__":
    main()
