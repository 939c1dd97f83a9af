"""Algorithms: from an encoded table and a policy to a partition. Kernels are compiled on first use, not here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tclose.errors import one_of
from tclose.make.algorithm import EFFORTS, Above, Algorithm, Choice, Partition
from tclose.make.fragmentation.fragment import BOUNDS
from tclose.make.fragmentation.result import SIZINGS
from tclose.make.fragmentation.search import STRATEGIES

if TYPE_CHECKING:
    from tclose.make.encode import EncodedTable
    from tclose.make.kernels.limits import Limits
    from tclose.policy import Policy

__all__ = ["ALGORITHMS", "EFFORTS", "Algorithm", "Partition", "find_algorithm", "list_algorithms"]


def _growth(table: EncodedTable, policy: Policy, limits: Limits, seed: int, effort: str, options: Mapping[str, Any]) -> Partition:
    from tclose.make.growth.growth import growth

    return growth(table, policy, limits, seed, effort, options)


def _mondrian(
    table: EncodedTable,
    policy: Policy,
    limits: Limits,
    seed: int,  # noqa: ARG001 - nothing is random
    effort: str,  # noqa: ARG001 - nor refined
    options: Mapping[str, Any],  # noqa: ARG001
) -> Partition:
    from tclose.make.mondrian import mondrian

    return mondrian(table, policy, limits)


def _fragmentation(
    table: EncodedTable,
    policy: Policy,
    limits: Limits,
    seed: int,  # noqa: ARG001 - nothing is random
    effort: str,  # noqa: ARG001 - rows are exchanged in so many rounds
    options: Mapping[str, Any],
) -> Partition:
    from tclose.make.fragmentation.fragmentation import fragmentation

    return fragmentation(table, policy, limits, options)


_ALL = (
    Algorithm(
        "growth",
        "lets classes grow row by row until they keep every limit, then moves and swaps rows so that less is lost",
        "tclose; see docs/growth.md",
        _growth,
        {"seconds": Above(0, default=60)},
    ),
    Algorithm(
        "mondrian",
        "cuts the table in two along the widest quasi-identifier, again and again, while both sides keep every limit",
        "LeFevre et al. 2006; with t-closeness Li et al. 2007, with (n,t)-closeness Li et al. 2010",
        _mondrian,
        regions=True,
    ),
    Algorithm(
        "fragmentation",
        "parts the sensitive values into boxes of which every class takes its share: close to the table whatever rows it takes",
        "Bagai, Weber and Thammanna Gowda 2023, with corrected bounds and relaxed conformance",
        _fragmentation,
        {
            "sizing": Choice(SIZINGS),
            "bound": Choice(BOUNDS),
            "strategy": Choice(STRATEGIES),
            "prefer": Choice(("loss", "classes")),
        },
    ),
)

ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _ALL}
"""All algorithms, by name."""


def list_algorithms() -> list[Algorithm]:
    """All algorithms.

    >>> [algorithm.name for algorithm in list_algorithms()]
    ['growth', 'mondrian', 'fragmentation']
    """
    return list(ALGORITHMS.values())


def find_algorithm(name: str) -> Algorithm:
    """The algorithm of this name."""
    return ALGORITHMS[one_of("algorithm", name, ALGORITHMS)]
