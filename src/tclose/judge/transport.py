"""emd and transport: the earth mover's distance between two distributions, and a plan that attains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np

from tclose.distances import Distance
from tclose.distances.choose import distance_on
from tclose.errors import PolicyError, got, raising_alone
from tclose.judge.emd import exact_emd, float_emd, metric
from tclose.values.exact import exact as exact_number
from tclose.values.exact import number_of
from tclose.values.hierarchy import Hierarchy

Distribution = Mapping[Any, Any] | Sequence[Any]


@dataclass(frozen=True)
class Move:
    """One step of a transport plan: a mass that goes from one value to another."""

    source: Any
    target: Any
    mass: Fraction
    distance: Fraction

    @property
    def cost(self) -> Fraction:
        """The work of the move, mass times distance; the costs of a plan add up to the earth mover's distance."""
        return self.mass * self.distance


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
    r"""Return the earth mover's distance of two distributions: the least work that turns one into the other.

    .. math:: EMD(P, Q) = \min_{f \ge 0} \sum_{ij} f_{ij} d_{ij}, \quad \sum_j f_{ij} = P_i, \; \sum_i f_{ij} = Q_j

    Parameters
    ----------
    p, q : sequences of counts or probabilities, or mappings from values to them
        Each is scaled to sum 1. Two sequences are of one length. A float means the decimal that is written: 0.1 is 1/10.
    distance : {"ordered", "numeric", "equal"}, Hierarchy, or square matrix of distances
        A Hierarchy takes mappings, or sequences in the order of ``values`` (default: of its leaves).
    values : sequence, optional
        The domain: the value of each entry of a sequence; the order of the values for ``ordered``. Default for mappings: the
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
    _, ground, left, right = _aligned_distributions(p, q, distance, values)
    return exact_emd(ground, left, right) if exact else float_emd(ground, left, right)


@raising_alone
def transport(p: Distribution, q: Distribution, distance: Any = "ordered", values: Sequence[Any] | None = None) -> list[Move]:
    """Return an optimal transport plan: moves whose costs add up to the earth mover's distance.

    Takes what `emd` takes. A move has ``source``, ``target``, ``mass``, ``distance`` and ``cost``, in exact fractions.

    Examples
    --------
    >>> [(move.source, move.target, str(move.mass)) for move in transport({14: 1, 88: 1}, {14: 1, 27: 1, 88: 1, 101: 1})]
    [(14, 27, '1/4'), (88, 101, '1/4')]
    """
    labels, ground, left, right = _aligned_distributions(p, q, distance, values)
    return [Move(labels[i], labels[j], mass, ground.ground(i, j)) for i, j, mass in plan(ground, left, right)]


def plan(distance: Distance, p: Sequence[Fraction | int], q: Sequence[Fraction | int]) -> list[tuple[int, int, Fraction]]:
    """Return an optimal plan that turns p into q, each scaled to sum 1: moves of (from code, to code, mass)."""
    mass_p, mass_q = Fraction(sum(p)), Fraction(sum(q))
    surplus = [a / mass_p - b / mass_q for a, b in zip(p, q, strict=True)]
    return PLANS[distance.shape](distance, surplus)


def _from_left_to_right(_: Distance, surplus: list[Fraction]) -> list[tuple[int, int, Fraction]]:
    """Return moves that match surplus and deficit in the order of their codes: optimal on a line and in a set."""
    return _match_in_order(surplus, range(len(surplus)))


def _from_leaves_to_root(distance: Any, surplus: list[Fraction]) -> list[tuple[int, int, Fraction]]:
    """Return moves that match surplus and deficit in the lowest subtrees first, then one level up: optimal in a tree."""
    moves = []
    for depth in range(len(distance.ancestors) - 1, -1, -1):
        runs = distance.runs(depth)
        for first, last in zip(runs, np.append(runs[1:], distance.m), strict=True):
            if distance.ancestors[depth][first] >= 0:
                moves += _match_in_order(surplus, range(first, last))
    return moves


def _match_in_order(surplus: list[Fraction], codes: range) -> list[tuple[int, int, Fraction]]:
    """Return moves from the first code with a surplus to the first with a deficit, until one kind is used up; update surplus."""
    above, below = [code for code in codes if surplus[code] > 0], [code for code in codes if surplus[code] < 0]
    moves = []
    while above and below:
        i, j = above[0], below[0]
        mass = min(surplus[i], -surplus[j])
        moves.append((i, j, mass))
        surplus[i] -= mass
        surplus[j] += mass
        del above[: surplus[i] == 0], below[: surplus[j] == 0]
    return moves


PLANS: dict[str, Callable[[Any, list[Fraction]], list[tuple[int, int, Fraction]]]] = {
    "line": _from_left_to_right,
    "set": _from_left_to_right,
    "tree": _from_leaves_to_root,
    "metric": metric.flow,
}


def _aligned_distributions(
    p: Distribution, q: Distribution, distance: Any, values: Sequence[Any] | None
) -> tuple[list[Any], Distance, list[Fraction], list[Fraction]]:
    """Return the domain in the order of its codes, the distance on it, and both distributions over it."""
    domain, left, right = _domain_and_masses(p, q, distance, None if values is None else list(values))
    for name, side in (("p", left), ("q", right)):
        if not any(side):
            raise PolicyError(f"{name} must have some mass. Got none.")
    ordered, ground = distance_on(distance, domain)
    index = {value: number for number, value in enumerate(domain)}
    return ordered, ground, [left[index[v]] for v in ordered], [right[index[v]] for v in ordered]


def _domain_and_masses(
    p: Distribution, q: Distribution, distance: Any, values: list[Any] | None
) -> tuple[list[Any], list[Fraction], list[Fraction]]:
    """Return the domain of two distributions, and the masses of both at its values."""
    p, q = _mapping_or_sequence(p), _mapping_or_sequence(q)
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise PolicyError("p and q must both be mappings, or both sequences. Got one of each.")
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        in_order = distance != "equal" if isinstance(distance, str) else not isinstance(distance, Hierarchy)
        domain = _union_of_values(p, q, in_order=in_order) if values is None else values
        beyond = [value for value in (*p, *q) if value not in set(domain)]
        if beyond:
            raise PolicyError(f"p and q must have no value beyond values. Got {len(beyond)}, the first {got(beyond[0])}.")
        left, right = ([_exact_mass(side.get(value, 0)) for value in domain] for side in (p, q))
    else:
        left, right = ([_exact_mass(mass) for mass in side] for side in (p, q))
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


def _mapping_or_sequence(side: Any) -> Mapping[Any, Any] | Sequence[Any]:
    """Return a distribution as a mapping or a sequence; a pandas Series is a mapping from its index."""
    if hasattr(side, "index") and hasattr(side, "to_dict"):
        mapping: dict[Any, Any] = side.to_dict()
        if len(mapping) < len(side):
            raise PolicyError("The index of a Series must have each value once. Got a value twice.")
        return mapping
    if isinstance(side, Mapping | Sequence | np.ndarray) and not isinstance(side, str | bytes):
        return side  # type: ignore[return-value]  # an array serves as a sequence
    raise PolicyError(f"p and q must be mappings or sequences of counts or probabilities. Got {type(side).__name__}.")


def _union_of_values(p: Mapping[Any, Any], q: Mapping[Any, Any], *, in_order: bool) -> list[Any]:
    """Return the values of two mappings, each once; sorted if the distance needs their order."""
    values = list(dict.fromkeys((*p, *q)))
    if not in_order:
        return values
    try:
        return sorted(values)
    except TypeError:
        raise PolicyError("The values cannot be sorted. Give their order in values.") from None


def _exact_mass(mass: Any) -> Fraction:
    """Return a count or probability as a fraction; raise PolicyError if it is not a number from 0 on."""
    try:
        number = exact_number(mass)
    except ValueError:
        raise PolicyError(
            f"p and q must hold counts or probabilities. Got {type(mass).__name__}, which is no finite number."
        ) from None
    if number < 0:
        raise PolicyError(f"p and q must hold counts or probabilities. Got {got(mass)}, which is below 0.")
    return number
