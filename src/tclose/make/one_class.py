"""One class: whether it satisfies the limits of one attribute, exactly, from its histogram.

Kernels decide about many small classes, and refuse what is too near a limit for 64 bits; here one class of a whole table is
decided in integers of any size. What a release is judged by is `tclose.judge`; the two share nothing.
"""

from __future__ import annotations

from tclose.distances import Distance
from tclose.errors import InfeasibleError
from tclose.policy import Policy, Sensitive
from tclose.policy.models import MODELS
from tclose.values.arrays import Ints
from tclose.values.exact import number_of


def check_k(counted: int, what: str, policy: Policy) -> None:
    """Raise InfeasibleError if a table has fewer rows or persons than k; ``what`` is "row" or "person"."""
    if policy.k is not None and counted < policy.k:
        raise InfeasibleError(f"The table has {number_of(counted, what)}: k={policy.k} cannot be satisfied. Choose a smaller k.")


def check_n(rows: int, policy: Policy) -> None:
    """Raise InfeasibleError if a table has fewer rows than n, so that no region has n rows."""
    if policy.n is not None and rows < policy.n:
        raise InfeasibleError(f"The table has {number_of(rows, 'row')}: n={policy.n} cannot be satisfied. Choose a smaller n.")


def has_limit(column: Sensitive, policy: Policy) -> bool:
    """Whether a policy limits the values that a class may have of a sensitive column."""
    from tclose.make.models import FAR, UNEVEN  # Numba is loaded on use

    return any(MODELS[key].limit(policy, column) is not None for key in (*FAR, *UNEVEN))


def too_far(column: Sensitive, policy: Policy, distance: Distance, counts: Ints, table: Ints) -> str:
    """Return the first limit on the difference from a table, such as t, that a class breaks; empty if it breaks none.

    Parameters
    ----------
    counts, table : (m,) int64
        The rows of the class and of the table at each value; a value of the class is one of the table.
    """
    from tclose.make.models import FAR

    for key, breaks in FAR.items():
        limit = MODELS[key].limit(policy, column)
        if limit is not None and breaks(limit, column, distance, counts, table):
            return MODELS[key].asked(policy, column)
    return ""


def too_uneven(column: Sensitive, policy: Policy, counts: Ints, persons: Ints | None = None) -> str:
    """Return the first limit on the values of a class alone, such as l, that it breaks; empty if it breaks none.

    Parameters
    ----------
    counts : (m,) int64
        The rows of the class at each value.
    persons : (m,) int64, optional
        The persons at each value, which l counts where they are given.
    """
    from tclose.make.models import UNEVEN

    for key, breaks in UNEVEN.items():
        limit = MODELS[key].limit(policy, column)
        counted = persons if MODELS[key].counts_persons and persons is not None else counts
        if limit is not None and breaks(limit, column, counted):
            return MODELS[key].asked(policy, column)
    return ""
