"""Memory: how much of it the work in a block may take, and how that is shared out.

The engine spills to disk what its share does not hold. What comes home from it is counted before it comes, and refused if it
would not fit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tclose.errors import InputError, PolicyError, got

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}

TAKEN = 250 * 10**6
"""Bytes that Python and its packages take before the first row is read."""

LEAST = 500 * 10**6
"""Bytes: with less DuckDB has too little to sort what it spills."""

PER_THREAD = 125 * 10**6
"""Bytes that a thread of DuckDB needs at least."""


@dataclass(frozen=True)
class Budget:
    """The memory that the whole process may take, in bytes: half of what is left of it is the engine's, half our own arrays'."""

    whole: int

    @property
    def engine(self) -> int:
        """The bytes that the engine may take before it spills to disk."""
        return (self.whole - TAKEN) // 2

    @property
    def threads(self) -> int:
        """The number of threads of the engine."""
        return max(1, min(os.cpu_count() or 1, self.engine // PER_THREAD))

    @property
    def figures(self) -> int:
        """The bytes that may be kept until the end: what is found about each class."""
        return (self.whole - TAKEN) // 4

    @property
    def parts(self) -> int:
        """The bytes that may be taken by the part of the table that is worked on."""
        return (self.whole - TAKEN) // 4

    def check_figures(self, needed: int, why: str) -> None:
        """Raise InputError if figures of ``needed`` bytes do not fit; ``why`` says what they are of, and begins the sentence."""
        if needed > self.figures:
            raise InputError(
                f"{why}: they take about {in_words(needed)} of memory, and {in_words(self.whole)} in all leave "
                f"{in_words(self.figures)} for them. Give at least {in_words(TAKEN + 4 * needed)}, or fewer or coarser "
                "quasi-identifiers."
            )


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


def budget() -> Budget | None:
    """Return the memory that the current work may take; None if nobody has bounded it."""
    return _budget.get()


@contextmanager
def bounded(memory: str | None) -> Iterator[None]:
    """Bound the memory of what is done inside this block, in this thread; see `parse_size`. None leaves it unbounded."""
    token = _budget.set(None if memory is None else Budget(parse_size(memory)))
    try:
        yield
    finally:
        _budget.reset(token)


def parse_size(memory: Any) -> int:
    """Return a size of memory in bytes; raise PolicyError for one that makes no sense.

    >>> parse_size("1GB"), parse_size("1.5 gb"), parse_size("512MB")
    (1000000000, 1500000000, 512000000)
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?(MB|GB|TB)", memory.strip().upper()) if isinstance(memory, str) else None
    if found is None:
        raise PolicyError(f"memory must be a number with MB, GB or TB behind it, such as 1GB. Got {got(memory)}.")
    size = int(float(found[1]) * UNITS[found[2]])
    if size < LEAST:
        raise PolicyError(f"memory must be at least {in_words(LEAST)}: tclose alone takes half of that. Got {got(memory)}.")
    return size


def in_words(size: int) -> str:
    """Return a number of bytes as text that `parse_size` reads, rounded up.

    >>> in_words(1_000_000_000), in_words(2_340_000_001), in_words(511_000_001)
    ('1GB', '2.4GB', '512MB')
    """
    if size < UNITS["GB"]:
        return f"{-(-size // UNITS['MB'])}MB"
    return f"{-(-size // (UNITS['GB'] // 10)) / 10:g}GB"


def refuse_to_load(title: str) -> None:
    """Raise InputError if memory is bounded: a table that is not read in place cannot be bounded. The title names the table."""
    if budget() is not None:
        raise InputError(
            f"{title} is not read in place, so memory cannot be bounded. Write it as Parquet, with columns of text, numbers or "
            "dates, or leave memory out."
        )
