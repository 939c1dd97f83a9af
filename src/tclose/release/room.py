"""Room: whether the memory that a release needs is free, said before the work starts."""

from __future__ import annotations

from pathlib import Path

from tclose.errors import InputError
from tclose.tables.memory import in_words

TAKEN, PER_CELL, PER_SENSITIVE = 400 * 10**6, 10, 180
"""Bytes that a release takes at its peak: without any row; for each cell of a column with a role; and for each of a sensitive
column, of whose values each class has many, in addition."""

MEMORY = Path("/proc/meminfo")
"""What Linux says of the memory of the machine."""

GROUP = Path("/sys/fs/cgroup")
"""What Linux says of the memory of a container."""


def check_room(rows: int | None, columns: int, sensitive: int) -> None:
    """Raise InputError if a release of this many rows and columns needs more memory than is free, as far as both are known.

    ``sensitive`` is how many of the columns are sensitive.
    """
    free = free_memory()
    if rows is None or free is None:
        return
    needed = TAKEN + rows * (PER_CELL * columns + PER_SENSITIVE * sensitive)
    if needed > free:
        raise InputError(
            f"A release of {rows:,} rows and {columns:,} columns needs about {in_words(needed)} of memory, and {in_words(free)} "
            "are free. Take a machine with more, end other programs, give fewer columns a role, or make it on Spark."
        )


def free_memory() -> int | None:
    """Return how many bytes of memory this process may still take; None where the system does not say."""
    found = [free for free in (_of_machine(), _of_container()) if free is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    """Return the bytes that are free, or could be at once; None on other systems than Linux."""
    try:
        return int(_entries(MEMORY)["MemAvailable:"]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_container() -> int | None:
    """Return the bytes that the container of this process has left, what it keeps of files aside; None without a limit."""
    try:
        most, taken = (int((GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        return max(0, most - taken + int(_entries(GROUP / "memory.stat")["inactive_file"]))
    except (OSError, KeyError, ValueError):  # "max": no limit
        return None


def _entries(path: Path) -> dict[str, str]:
    """Return the first two words of each line of a file."""
    return dict(line.split()[:2] for line in path.read_text().splitlines())
