"""find_fragmentation: split the sensitive values into boxes so small that classes may take any rows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tclose.distances.choose import distance_on
from tclose.errors import PolicyError, nearest, one_of, raising_alone
from tclose.make.fragmentation.axes import axis_of
from tclose.make.fragmentation.counts import Counts, numbers
from tclose.make.fragmentation.fragment import BOUNDS
from tclose.make.fragmentation.result import Fragmentation
from tclose.make.fragmentation.search import STRATEGIES, Path, search
from tclose.values.exact import INT64_MAX, exact
from tclose.values.hierarchy import Hierarchy


@raising_alone
def find_fragmentation(
    counts: Any,
    t: Any,
    bound: str = "corrected",
    distances: Any = "ordered",
    strategy: str | Path = "psi",
    values: Sequence[Sequence[Any]] | None = None,
) -> Fragmentation:
    r"""Return boxes of several sensitive attributes' values, so small that classes may take any rows of them.

    A class that takes the same share of every fragment F is within

    .. math:: \hat B_s = \sum_F \Delta_s(F)

    of the table on attribute s. Starting from one box of all values, one box is split along one attribute at a time, until
    :math:`\hat B_s \le t_s` for every s (Bagai, Weber and Thammanna Gowda 2023, section 3.1).

    Parameters
    ----------
    counts : array of as many dimensions as attributes, or mapping ``{(value, ...): count}``
        The number of rows with each tuple of values. A pandas Series, as ``value_counts`` gives it, is a mapping from its index.
    t : number, or one for each attribute
        The limits.
    bound : {"corrected", "published"}
        ``published`` measures the worst case of a box in units of the box's own extent, over all its values, as the paper does;
        ``corrected`` in units of the whole domain, over the values that occur: never larger.
    distances : {"ordered", "numeric", "equal"}, Hierarchy or square matrix; or one for each attribute
    strategy : {"psi", "sum"}, or sequence of (fragment, attribute, after)
        Which box is split next: the one that leaves the least excess :math:`\Psi = \sum_s \max(\hat B_s - t_s, 0)`, the one that
        leaves the least sum of bounds, or a given path: the index of a fragment, an attribute, and the number of its values
        before the cut.
    values : one sequence for each attribute, optional
        The domains. Default for an array: indices, or the leaves of a Hierarchy; for a mapping: the values that it has, sorted.

    Returns
    -------
    Fragmentation
        With ``fragments``, ``bounds``, ``class_sizes(k)``, ``conforms(rows)``, ``promise(taken)`` and ``walk()``.

    References
    ----------
    Bagai, Weber, Thammanna Gowda: Data Sanitization for t-Closeness over Multiple Numerical Sensitive Attributes, Transactions
    on Data Privacy 16 (2023).

    Examples
    --------
    The matrix of the paper's figure 1:

    >>> matrix = [[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]]
    >>> found = find_fragmentation(matrix, t=(0.3, 0.3))
    >>> found
    <Fragmentation: 3 fragments, corrected bounds 0.3000 of 3/10, 0.2500 of 3/10>
    >>> len(find_fragmentation(matrix, t=(0.3, 0.3), bound="published").fragments)
    7
    >>> found.class_sizes(k=5, sizing="gcd")[:2]
    array([[5, 6, 9],
           [5, 6, 9]])
    """
    one_of("bound", bound, BOUNDS)
    if isinstance(strategy, str) and strategy not in STRATEGIES:
        raise PolicyError(
            f"strategy must be one of {', '.join(STRATEGIES)}, or a path. Got {strategy!r}.{nearest(strategy, STRATEGIES)}"
        )
    matrix = _read_matrix(counts, distances, values)
    limits = _read_limits(t, len(matrix.axes))
    return Fragmentation.of_walk(search(matrix, limits, bound, _read_strategy(strategy)), limits)


def _read_matrix(counts: Any, distances: Any, values: Sequence[Sequence[Any]] | None) -> Counts:
    """Return the multiplicity matrix of a user's counts of tuples, with the distance of each sensitive attribute."""
    if hasattr(counts, "index") and hasattr(counts, "to_dict") and getattr(counts, "ndim", 0) == 1:
        entries, counts = len(counts), counts.to_dict()  # a Series, as value_counts gives it: a mapping from its index
        if len(counts) < entries:
            raise PolicyError("The index of a Series must have each value once. Got a value twice.")
    if values is not None:
        values = _read_domains(values)
    keys, rows, domains = (
        _cells_of_mapping(counts, values) if isinstance(counts, Mapping) else _cells_of_array(counts, values, distances)
    )
    if rows.dtype.kind not in "iu" or not len(rows) or rows.min() < 0 or not rows.any():
        raise PolicyError("counts must be whole numbers of rows, none below 0, and not all 0. Got others.")
    if sum(rows.tolist()) > INT64_MAX:
        raise PolicyError("counts must add up to less than 2^63 rows. Got more.")
    keys, rows = keys[rows > 0], rows[rows > 0].astype(np.int64)
    kinds = _distance_for_each(distances, len(domains))
    if values is None and isinstance(counts, Mapping):
        domains = [_sorted_domain(domain, kind) for domain, kind in zip(domains, kinds, strict=True)]
    ordered, axes, codes = [], [], []
    for number, (domain, kind) in enumerate(zip(domains, kinds, strict=True)):
        labels, distance = distance_on(kind, list(domain))
        code_of = {value: code for code, value in enumerate(labels)}
        codes.append(np.array([code_of[key[number]] for key in keys], dtype=np.int64))
        axes.append(axis_of(distance, int(rows.sum())))
        ordered.append(labels)
    cells = np.stack(codes, axis=1)
    order = np.lexsort(cells.T[::-1])
    return Counts(cells[order], rows[order], axes, ordered)


def _cells_of_mapping(
    counts: Mapping[Any, Any], values: Sequence[Sequence[Any]] | None
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[list[Any]]]:
    """Return the cells of a multiplicity matrix, their rows, and the domains, from counts given as a mapping."""
    keys = np.empty(len(counts), dtype=object)
    keys[:] = [key if isinstance(key, tuple) else (key,) for key in counts]
    sizes = {len(key) for key in keys}
    if len(sizes) != 1 or (values is not None and sizes != {len(values)}):
        raise PolicyError("Every key of counts must have one value for each attribute. Got keys of several lengths, or none.")
    occurring = [list(dict.fromkeys(column)) for column in zip(*keys, strict=True)]
    domains = occurring if values is None else [list(domain) for domain in values]
    for domain, seen in zip(domains, occurring, strict=True):
        _check_domain(domain)
        if not set(seen) <= set(domain):
            raise PolicyError("counts must have no value beyond values. Got one that is not there.")
    return keys, numbers(list(counts.values())), domains


def _cells_of_array(
    counts: Any, values: Sequence[Sequence[Any]] | None, distances: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[list[Any]]]:
    """Return the cells of a multiplicity matrix, their rows, and the domains, from counts given as an array."""
    dense = numbers(counts)
    if values is None:
        kinds = _distance_for_each(distances, dense.ndim)
        if any(isinstance(kind, str) and kind == "numeric" for kind in kinds):
            raise PolicyError("The numeric distance needs values, or a mapping from numbers. Got neither.")
        values = [
            kind.leaves if isinstance(kind, Hierarchy) else range(size) for kind, size in zip(kinds, dense.shape, strict=True)
        ]
    domains = [list(domain) for domain in values]
    if dense.ndim == 0 or tuple(map(len, domains)) != dense.shape:
        raise PolicyError("counts must be an array with a place for each value of each attribute. Got another shape.")
    for domain in domains:
        _check_domain(domain)
    cells = np.argwhere(dense)
    keys = np.empty(len(cells), dtype=object)
    keys[:] = [tuple(domain[code] for domain, code in zip(domains, cell, strict=True)) for cell in cells.tolist()]
    return keys, dense[tuple(cells.T)], domains


def _read_domains(values: Any) -> list[list[Any]]:
    """Return the domains of sensitive attributes as lists; raise PolicyError if a user gave no sequences."""
    try:
        return [list(domain) for domain in values]
    except TypeError:
        raise PolicyError("values must be one sequence for each attribute. Got something else.") from None


def _check_domain(domain: list[Any]) -> None:
    """Raise PolicyError if a domain has a value twice, NaN, or a value that cannot be hashed."""
    try:
        distinct = len(set(domain)) == len(domain)
    except TypeError:
        raise PolicyError("values must be hashable. Got one that is not, such as a list.") from None
    if not distinct or any(value != value for value in domain):
        raise PolicyError("values must be distinct, and none may be NaN. Got a value twice, or NaN.")


def _sorted_domain(domain: list[Any], kind: Any) -> list[Any]:
    """Return a domain sorted; as given if its values cannot be compared and its distance needs no order."""
    try:
        return sorted(domain)
    except TypeError:
        if isinstance(kind, Hierarchy) or (isinstance(kind, str) and kind == "equal"):
            return domain
        raise PolicyError("The values of an attribute cannot be sorted. Give their order in values.") from None


def _distance_for_each(distances: Any, attributes: int) -> list[Any]:
    """Return one distance for each sensitive attribute, from a user's distances; a single one serves all."""
    if isinstance(distances, str | Hierarchy):
        return [distances] * attributes
    if not isinstance(distances, Sequence | np.ndarray):
        raise PolicyError(
            f"distances must be names, hierarchies or matrices: one, or one for each attribute. Got {type(distances).__name__}."
        )
    if len(distances) and _is_matrix(distances):
        return [distances] * attributes
    if len(distances) != attributes:
        raise PolicyError(f"distances must be one, or one for each attribute. Got {len(distances)} for {attributes}.")
    return list(distances)


def _is_matrix(distances: Any) -> bool:
    """Whether a user's distances are one matrix of numbers, not one distance for each attribute."""
    first = distances[0]
    return isinstance(first, Sequence | np.ndarray) and not isinstance(first, str) and all(np.ndim(entry) == 0 for entry in first)


def _read_limits(t: Any, attributes: int) -> list[Fraction]:
    """Return the t of each sensitive attribute as fractions, from a user's numbers; a single one serves all."""
    if isinstance(t, np.ndarray):
        t = t.tolist()
    given = list(t) if isinstance(t, Sequence) and not isinstance(t, str) else [t] * attributes
    if len(given) != attributes:
        raise PolicyError(f"t must be one number, or one for each attribute. Got {len(given)} for {attributes}.")
    try:
        limits = [exact(limit) for limit in given]
    except ValueError as error:
        raise PolicyError(f"t must be a number. {error}.") from None
    if not all(0 <= limit <= 1 for limit in limits):
        raise PolicyError(f"t must be between 0 and 1. Got {', '.join(map(str, given))}.")
    return limits


def _read_strategy(strategy: str | Path) -> str | Path:
    """Return how fragments are searched: a strategy's name, or a given path as steps of (fragment, attribute, after)."""
    if isinstance(strategy, str):
        return strategy
    try:
        steps = [tuple(step) for step in strategy]
    except TypeError:
        raise PolicyError(f"strategy must be one of {', '.join(STRATEGIES)}, or a path. Got something else.") from None
    if not all(len(step) == 3 and all(_is_whole(number) for number in step) for step in steps):
        raise PolicyError(
            "A path must be steps of three whole numbers: fragment, attribute, and after how many values. Got others."
        )
    return [(int(fragment), int(attribute), int(after)) for fragment, attribute, after in steps]


def _is_whole(number: Any) -> bool:
    """Whether a user's number is a whole number, Python's or NumPy's."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
