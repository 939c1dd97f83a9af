"""The algorithms, one entry each. Their modules, and Numba with them, are loaded on use."""

from __future__ import annotations

import operator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tclose.errors import PolicyError, got, one_of
from tclose.make.algorithm import EFFORTS, Above, Algorithm, Choice, Partition, Settings
from tclose.make.fragmentation.fragment import BOUNDS
from tclose.make.fragmentation.result import SIZINGS
from tclose.make.fragmentation.search import STRATEGIES
from tclose.make.microaggregation import promise

if TYPE_CHECKING:
    from collections.abc import Callable

    from tclose.make.problem import Problem
    from tclose.policy import Policy

__all__ = ["ALGORITHMS", "DEFAULT", "EFFORTS", "Algorithm", "Partition", "check_accepted", "find_algorithm", "list_algorithms"]


def _on_use(where: str) -> Callable[..., Any]:
    """Return a function of a module in this folder, ``module:function``, that is imported when it is first called."""
    module, function = where.split(":")

    def call(*given: Any) -> Any:
        return getattr(import_module(f"tclose.make.{module}"), function)(*given)

    return call


_ALL = (
    Algorithm(
        "growth",
        "lets classes grow row by row until they satisfy every limit, then moves and swaps rows to lower the information loss",
        "tclose; see docs/research/growth.md",
        _on_use("growth.growth:growth"),
        {"seconds": Above(0, default=60)},
    ),
    Algorithm(
        "mondrian",
        "cuts the table in two along the widest quasi-identifier, again and again, while both sides satisfy every limit",
        "LeFevre et al. 2006; with t-closeness Li et al. 2007, with (n,t)-closeness Li et al. 2010",
        _on_use("mondrian:mondrian"),
        regions=True,
    ),
    Algorithm(
        "fragmentation",
        "divides the sensitive values into boxes; a class takes its share of each, and is close to the table whatever its rows",
        "Bagai, Weber and Thammanna Gowda 2023, with corrected bounds and relaxed conformance",
        _on_use("fragmentation.fragmentation:fragmentation"),
        {
            "sizing": Choice(SIZINGS),
            "bound": Choice(BOUNDS),
            "strategy": Choice(STRATEGIES),
            "prefer": Choice(("loss", "classes")),
        },
    ),
    Algorithm(
        "incognito",
        "generalises each quasi-identifier to one level of its hierarchy, the same for all rows, as little as the limits allow",
        "LeFevre et al. 2005; with t-closeness Li et al. 2007; our reconstruction",
        _on_use("incognito.incognito:incognito"),
        refuses=_on_use("incognito.lattice:refuses"),
    ),
    Algorithm(
        "microaggregation-merge",
        "makes classes of the k nearest rows (MDAV), and merges those that break a limit with the nearest",
        "Soria-Comas et al. 2015, algorithm 1; MDAV: Domingo-Ferrer and Torra 2005",
        _on_use("microaggregation.merge:merge"),
    ),
    Algorithm(
        "microaggregation-swap",
        "makes classes of the k nearest rows, swaps rows of each for farther ones until it satisfies every limit, then merges",
        "Soria-Comas et al. 2015, algorithm 2",
        _on_use("microaggregation.swap:swap"),
    ),
    Algorithm(
        "microaggregation-tfirst",
        "sorts the rows by the sensitive attribute into buckets; a class takes the nearest row of each; then merges",
        "Soria-Comas et al. 2015, algorithm 3",
        _on_use("microaggregation.tfirst:tfirst"),
        refuses=promise.refuses,
    ),
    Algorithm(
        "sabre",
        "puts the sensitive values into buckets, sizes classes that are close whatever their rows, and fills them with near rows",
        "Cao, Karras, Kalnis and Tan 2011, with exact worst cases; our reconstruction of how classes are sized",
        _on_use("sabre:sabre"),
        {"fill": Choice(("nearest", "hilbert"))},
        refuses=_on_use("sabre:refuses"),
    ),
    Algorithm(
        "wang-clustering",
        "groups rows whose sensitive values are near one another; a class takes about one row of each group",
        "Wang et al. 2018; our reconstruction",
        _on_use("wang:wang_clustering"),
    ),
    Algorithm(
        "wang-pca",
        "groups rows along the first principal component of the sensitive columns; a class takes about one row of each group",
        "Wang et al. 2018; our reconstruction",
        _on_use("wang:wang_pca"),
    ),
    Algorithm(
        "codip",
        "makes several tables, each with all quasi-identifiers and a group of sensitive columns that go together",
        "Fang, Ashrafi and Ng 2011; our reconstruction",
        _on_use("codip:codip"),
        {"intersection": Choice(("refuse", "accept"))},
        several=True,
        refuses=_on_use("codip:refuses"),
    ),
)

ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _ALL}
"""All algorithms, by name."""

DEFAULT = "growth"
"""The algorithm where none is named."""


def list_algorithms() -> list[Algorithm]:
    """Return all algorithms.

    >>> [algorithm.name for algorithm in list_algorithms()][:3]
    ['growth', 'mondrian', 'fragmentation']
    """
    return list(ALGORITHMS.values())


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm of this name."""
    return ALGORITHMS[one_of("algorithm", name, ALGORITHMS)]


def settings_of(algorithm: str | None, seed: Any, effort: Any, options: Any) -> Settings:
    """Return the settings of a release, checked; options and algorithm may be None, for the defaults.

    Raises
    ------
    PolicyError
        A setting is unknown, or not of its kind.
    """
    chosen = find_algorithm(DEFAULT if algorithm is None else algorithm)
    values = chosen.read_options({} if options is None else options)
    return Settings(chosen, values, _whole("seed", seed), one_of("effort", effort, EFFORTS))


def check_accepted(algorithm: Algorithm, policy: Policy, problem: Problem | None = None) -> None:
    """Refuse a policy that the algorithm cannot satisfy, and name an algorithm that can, the first of `list_algorithms`."""
    reason = algorithm.refuses(policy, problem)
    if reason:
        able = next((other.name for other in list_algorithms() if not other.refuses(policy, problem)), None)
        remedy = "" if able is None else f" Choose {able}, which can."
        raise PolicyError(f"{algorithm.name} cannot make this release. {reason}{remedy}")


def _whole(what: str, given: Any) -> int:
    """Return a whole number from 0 on, Python's or NumPy's."""
    try:
        number = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = -1
    if number < 0:
        raise PolicyError(f"{what} must be a whole number from 0 on. Got {got(given)}.")
    return number
