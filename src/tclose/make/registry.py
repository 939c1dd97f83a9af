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


def _imported_on_use(where: str) -> Callable[..., Any]:
    """Return an algorithm's function, named ``module:function``, whose module is imported when it is first called."""
    module, function = where.split(":")

    def call(*given: Any) -> Any:
        """Import the algorithm's module, and call its function."""
        return getattr(import_module(f"tclose.make.{module}"), function)(*given)

    return call


_ALL = (
    Algorithm(
        "growth",
        "lets classes grow row by row until they satisfy every limit, then moves and swaps rows to lower the information loss",
        "tclose; see docs/research/growth.md",
        _imported_on_use("growth.growth:growth"),
        {"seconds": Above(0, default=60)},
    ),
    Algorithm(
        "mondrian",
        "cuts the table in two along the widest quasi-identifier, again and again, while both sides satisfy every limit",
        "LeFevre et al. 2006; with t-closeness Li et al. 2007, with (n,t)-closeness Li et al. 2010",
        _imported_on_use("mondrian:mondrian"),
        regions=True,
    ),
    Algorithm(
        "fragmentation",
        "divides the sensitive values into boxes; a class takes its share of each, and is close to the table whatever its rows",
        "Bagai, Weber and Thammanna Gowda 2023, with corrected bounds and relaxed conformance",
        _imported_on_use("fragmentation.fragmentation:fragmentation"),
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
        _imported_on_use("incognito.incognito:incognito"),
        refuses=_imported_on_use("incognito.lattice:refuses"),
    ),
    Algorithm(
        "microaggregation-merge",
        "makes classes of the k nearest rows (MDAV), and merges those that break a limit with the nearest",
        "Soria-Comas et al. 2015, algorithm 1; MDAV: Domingo-Ferrer and Torra 2005",
        _imported_on_use("microaggregation.merge:merge"),
    ),
    Algorithm(
        "microaggregation-swap",
        "makes classes of the k nearest rows, swaps rows of each for farther ones until it satisfies every limit, then merges",
        "Soria-Comas et al. 2015, algorithm 2",
        _imported_on_use("microaggregation.swap:swap"),
    ),
    Algorithm(
        "microaggregation-tfirst",
        "sorts the rows by the sensitive attribute into buckets; a class takes the nearest row of each; then merges",
        "Soria-Comas et al. 2015, algorithm 3",
        _imported_on_use("microaggregation.tfirst:tfirst"),
        refuses=promise.refuses,
    ),
    Algorithm(
        "sabre",
        "puts the sensitive values into buckets, sizes classes that are close whatever their rows, and fills them with near rows",
        "Cao, Karras, Kalnis and Tan 2011, with exact worst cases; our reconstruction of how classes are sized",
        _imported_on_use("sabre:sabre"),
        {"fill": Choice(("nearest", "hilbert"))},
        refuses=_imported_on_use("sabre:refuses"),
    ),
    Algorithm(
        "wang-clustering",
        "groups rows whose sensitive values are near one another; a class takes about one row of each group",
        "Wang et al. 2018; our reconstruction",
        _imported_on_use("wang:wang_clustering"),
    ),
    Algorithm(
        "wang-pca",
        "groups rows along the first principal component of the sensitive columns; a class takes about one row of each group",
        "Wang et al. 2018; our reconstruction",
        _imported_on_use("wang:wang_pca"),
    ),
    Algorithm(
        "codip",
        "makes several tables, each with all quasi-identifiers and a group of sensitive columns that go together",
        "Fang, Ashrafi and Ng 2011; our reconstruction",
        _imported_on_use("codip:codip"),
        {"intersection": Choice(("refuse", "accept"))},
        several=True,
        refuses=_imported_on_use("codip:refuses"),
    ),
)

ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _ALL}
"""All algorithms, by name."""

DEFAULT = "growth"
"""The algorithm where none is named."""


def list_algorithms() -> list[Algorithm]:
    """Return all algorithms that make releases, the default first.

    >>> [algorithm.name for algorithm in list_algorithms()][:3]
    ['growth', 'mondrian', 'fragmentation']
    """
    return list(ALGORITHMS.values())


def find_algorithm(name: str) -> Algorithm:
    """Return the algorithm with a name; raise PolicyError if there is none."""
    return ALGORITHMS[one_of("algorithm", name, ALGORITHMS)]


def settings_of(algorithm: str | None, seed: Any, effort: Any, options: Any) -> Settings:
    """Return the checked settings of a release: algorithm, options, seed and effort; None means the default.

    Raises
    ------
    PolicyError
        A setting is unknown, or not of its kind.
    """
    chosen = find_algorithm(DEFAULT if algorithm is None else algorithm)
    values = chosen.read_options({} if options is None else options)
    return Settings(chosen, values, _read_whole_number("seed", seed), one_of("effort", effort, EFFORTS))


def check_accepted(algorithm: Algorithm, policy: Policy, problem: Problem | None = None) -> None:
    """Raise PolicyError if the algorithm cannot do what the policy asks, and name the first algorithm that can."""
    reason = algorithm.refuses(policy, problem)
    if reason:
        able = next((other.name for other in list_algorithms() if not other.refuses(policy, problem)), None)
        remedy = "" if able is None else f" Choose {able}, which can."
        raise PolicyError(f"{algorithm.name} cannot make this release. {reason}{remedy}")


def _read_whole_number(what: str, given: Any) -> int:
    """Return a setting as a whole number from 0 on, Python's or NumPy's; raise PolicyError for anything else."""
    try:
        number = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = -1
    if number < 0:
        raise PolicyError(f"{what} must be a whole number from 0 on. Got {got(given)}.")
    return number
