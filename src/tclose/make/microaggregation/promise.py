"""The promise of t-first: the size of its classes, its buckets, and the policies that it is made for.

A class with one row from each of k' buckets of equal size, the rows sorted by the sensitive attribute, is within (n - k') / (2
(n - 1) k') of the table under the ordered distance, if all values differ. k' is the least size with which that is at most t.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tclose.values.arrays import Ints

if TYPE_CHECKING:
    from tclose.make.problem import Problem
    from tclose.policy import Policy


def refuses(policy: Policy, problem: Problem | None) -> str:
    """Return what t-first cannot do: several sensitive attributes, and distances other than the ordered one."""
    if len(policy.sensitive) > 1:
        return f"It takes one sensitive attribute. The policy has {len(policy.sensitive)}."
    column = policy.sensitive[0]
    distance = column.kind if problem is None else problem.sensitive[0].distance.name
    if distance not in ("auto", "ordered"):
        return f"It takes a sensitive attribute with the ordered distance. {column.name!r} has the {distance} one."
    return ""


def cluster_size(rows: int, k: int, t: Fraction) -> int:
    """Return k', the number of rows of a class (Soria-Comas et al. 2015): max(k, ceil(n / (2 (n - 1) t + 1))).

    It is raised by (n mod k') // (n // k'), so that fewer rows are left over than there are classes.

    >>> [cluster_size(1080, 2, Fraction(hundredths, 100)) for hundredths in (1, 5, 9, 13, 17, 21, 25)]
    [49, 10, 6, 4, 3, 3, 2]
    """
    above, below = t.numerator, t.denominator
    size = max(k, -(-rows * below // (2 * (rows - 1) * above + below)))
    return size + rows % size // (rows // size)


def bucket_sizes(rows: int, size: int) -> Ints:
    """Return the number of rows of each of ``size`` buckets: n // k', and the rows left over in the middle bucket, or two.

    Of two middle buckets the lower gets the odd row.

    >>> bucket_sizes(11, 3).tolist(), bucket_sizes(11, 4).tolist()
    ([3, 5, 3], [2, 4, 3, 2])
    """
    each, over = divmod(rows, size)
    sizes = np.full(size, each, dtype=np.int64)
    sizes[(size - 1) // 2] += over - over // 2 if size % 2 == 0 else over
    sizes[size // 2] += over // 2 if size % 2 == 0 else 0
    return sizes
