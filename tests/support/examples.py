"""How many random examples a property is tried with.

A run of the tests tries a third of them, and draws others each time. ``TCLOSE_EXAMPLES`` says how many it shall be instead: 1 in .ci/run,
which tries all of them; 10 for a long search.
"""

from __future__ import annotations

import os
from fractions import Fraction

SHARE = Fraction(os.environ.get("TCLOSE_EXAMPLES", "1/3"))
LEAST = 5


def examples(number: int) -> int:
    """The share of a number of examples that this run tries: 5 of them at least, or all."""
    return max(round(number * SHARE), min(number, LEAST))
