"""emd and transport: the earth mover's distance between two distributions, and a plan that attains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance, Move
from tclose.distances.choose import distance_on
from tclose.errors import PolicyError, got, raising_alone
from tclose.values.exact import exact as exact_number
from tclose.values.exact import number_of
from tclose.values.hierarchy import Hierarchy

Distribution = Mapping[Any, Any] | Sequence[Any]


@overload
def emd(
    p: Distribution, q: Distribution, distance: Any = ..., values: Sequence[Any] | None = ..., *, exact: Literal[True]
) -> Fraction: ...
@overload
def emd(
    p: Distribution,
    q: Distribution,
    distance: Any = ...,
    values: Sequence[Any] | None = ...,
    exact: Literal[False] = ...,
) -> float: ...
@raising_alone
def emd(
    p: Distribution,
    q: Distribution,
    distance: Any = "ordered",
    values: Sequence[Any] | None = None,
    exact: bool = False,
) -> float | Fraction:
    r"""The earth mover's distance: the least work that turns one distribution into another.

    .. math:: EMD(P, Q) = \min_{f \ge 0} \sum_{ij} f_{ij} d_{ij}, \quad \sum_j f_{ij} = P_i, \; \sum_i f_{ij} = Q_j

    Parameters
    ----------
    p, q : sequences of counts or probabilities, or mappings from values to them
        Each is scaled to sum 1. Two sequences are of one length. A float means the decimal that is written: 0.1 is 1/10.
    distance : {"ordered", "numeric", "equal"}, Hierarchy, or square matrix of distances
        A Hierarchy takes mappings, or sequences in the order of ``values`` (default: of its leaves).
    values : sequence, optional
        The domain: what the places of a sequence stand for; the order of the values for ``ordered``. Default for mappings: the
        values of both, sorted.
    exact : bool
        A fraction instead of a float.

    Returns
    -------
    float or Fraction
        Between 0 and 1.

    References
    ----------
    Li, Li, Venkatasubramanian: t-closeness, ICDE 2007, section 4.

    Examples
    --------
    >>> emd([1, 1, 1, 0, 0, 0, 0, 0, 0], [1] * 9)
    0.375
    >>> emd({"flu": 1}, {"flu": 1, "cold": 2}, "equal", exact=True)
    Fraction(2, 3)
    """
    _, ground, left, right = _aligned(p, q, distance, values)
    return ground.exact(left, right) if exact else ground.emd(_floats(left), _floats(right))


@raising_alone
def transport(p: Distribution, q: Distribution, distance: Any = "ordered", values: Sequence[Any] | None = None) -> list[Move]:
    """One optimal transport plan: moves whose costs add up to the earth mover's distance.

    Takes what `emd` takes. A move has ``source``, ``target``, ``mass``, ``distance`` and ``cost``, in exact fractions.

    Examples
    --------
    >>> [(move.source, move.target, str(move.mass)) for move in transport({14: 1, 88: 1}, {14: 1, 27: 1, 88: 1, 101: 1})]
    [(14, 27, '1/4'), (88, 101, '1/4')]
    """
    labels, ground, left, right = _aligned(p, q, distance, values)
    return [replace(move, source=labels[move.source], target=labels[move.target]) for move in ground.plan(left, right)]


def _aligned(
    p: Distribution, q: Distribution, distance: Any, values: Sequence[Any] | None
) -> tuple[list[Any], Distance, list[Fraction], list[Fraction]]:
    """The domain in the order of its codes, the distance on it, and both distributions over it."""
    domain, left, right = _masses(p, q, distance, None if values is None else list(values))
    for name, side in (("p", left), ("q", right)):
        if not any(side):
            raise PolicyError(f"{name} must have some mass. Got none.")
    ordered, ground = distance_on(distance, domain)
    place = {value: code for code, value in enumerate(domain)}
    return ordered, ground, [left[place[v]] for v in ordered], [right[place[v]] for v in ordered]


def _masses(
    p: Distribution, q: Distribution, distance: Any, values: list[Any] | None
) -> tuple[list[Any], list[Fraction], list[Fraction]]:
    """The domain, and the masses of both distributions at its values."""
    p, q = _plain(p), _plain(q)
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise PolicyError("p and q must both be mappings, or both sequences. Got one of each.")
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        in_order = distance != "equal" if isinstance(distance, str) else not isinstance(distance, Hierarchy)
        domain = _union(p, q, in_order=in_order) if values is None else values
        beyond = [value for value in (*p, *q) if value not in set(domain)]
        if beyond:
            raise PolicyError(f"p and q must have no value beyond values. Got {len(beyond)}, the first {got(beyond[0])}.")
        left, right = ([_mass(side.get(value, 0)) for value in domain] for side in (p, q))
    else:
        left, right = ([_mass(mass) for mass in side] for side in (p, q))
        if len(left) != len(right):
            raise PolicyError(f"p and q must have one length. Got {len(left)} and {len(right)}.")
        if values is None and isinstance(distance, str) and distance == "numeric":
            raise PolicyError("The numeric distance needs values, or mappings from numbers. Got neither.")
        leaves = distance.leaves if isinstance(distance, Hierarchy) else list(range(len(left)))
        domain = leaves if values is None else values
        if len(domain) != len(left):
            places, wanted = number_of(len(left), "place"), number_of(len(domain), "value")
            raise PolicyError(f"p and q must have one place for each value. Got {places} for {wanted}.")
    if len(set(domain)) < len(domain) or any(value != value for value in domain):
        raise PolicyError("values must be distinct, and none may be NaN. Got a value twice, or NaN.")
    return domain, left, right


def _plain(side: Any) -> Mapping[Any, Any] | Sequence[Any]:
    """A mapping or a sequence; a pandas Series is a mapping from its index, for `value_counts` sorts by frequency."""
    if hasattr(side, "index") and hasattr(side, "to_dict"):
        mapping: dict[Any, Any] = side.to_dict()
        if len(mapping) < len(side):
            raise PolicyError("The index of a Series must have each value once. Got a value twice.")
        return mapping
    if isinstance(side, Mapping | Sequence | np.ndarray) and not isinstance(side, str | bytes):
        return side  # type: ignore[return-value]  # an array serves as a sequence
    raise PolicyError(f"p and q must be mappings or sequences of counts or probabilities. Got {type(side).__name__}.")


def _floats(masses: list[Fraction]) -> NDArray[np.float64]:
    """Masses as floats, scaled down or up where a float could not hold them."""
    largest = max(masses)
    fits = 1e-200 < largest < 1e200
    return np.array([float(mass if fits else mass / largest) for mass in masses])


def _union(p: Mapping[Any, Any], q: Mapping[Any, Any], *, in_order: bool) -> list[Any]:
    values = list(dict.fromkeys((*p, *q)))
    if not in_order:
        return values
    try:
        return sorted(values)
    except TypeError:
        raise PolicyError("The values cannot be sorted. Give their order in values.") from None


def _mass(mass: Any) -> Fraction:
    try:
        number = exact_number(mass)
    except ValueError:
        raise PolicyError(
            f"p and q must hold counts or probabilities. Got {type(mass).__name__}, which is no finite number."
        ) from None
    if number < 0:
        raise PolicyError(f"p and q must hold counts or probabilities. Got {got(mass)}, which is below 0.")
    return number
