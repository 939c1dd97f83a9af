"""A worker of a comparison: ``python -m tclose.study.compare.worker`` reads a task, then cells, and writes their results."""

from __future__ import annotations

import os
import pickle
import sys


def main() -> None:
    """Run each cell that is sent, until there are no more."""
    sent, results = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed by mistake is no result
    from tclose.study.compare.cell import run

    task = pickle.load(sent)
    while True:
        try:
            cell = pickle.load(sent)
        except EOFError:
            return
        pickle.dump(run(task, cell), results)
        results.flush()


if __name__ == "__main__":
    main()
