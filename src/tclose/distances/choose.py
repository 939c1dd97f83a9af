"""The choice of a distance: from a name, a hierarchy or a matrix to the values in the order of their codes, and a distance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from tclose.distances.base import Distance
from tclose.distances.equal import Equal
from tclose.distances.hierarchical import Hierarchical
from tclose.distances.labelled import LabelledMatrix
from tclose.distances.matrix import Matrix
from tclose.distances.numeric import Numeric
from tclose.distances.ordered import Ordered
from tclose.errors import PolicyError, TcloseError, got
from tclose.values.exact import exact, number_of
from tclose.values.formula_guard import unguarded
from tclose.values.hierarchy import Hierarchy, printed

Labelling = Hierarchy | LabelledMatrix | Sequence[str]
"""What says where a value belongs, by its label: a hierarchy, a matrix, or the labels in their order."""

Arranged = tuple[list[Any], Distance]
"""Values in the order of their codes, and the distance between them."""


def arrange(kind: str, values: Sequence[Any], labelling: Labelling | None = None) -> Arranged:
    """Return values in the order of their codes, and the distance between them.

    Parameters
    ----------
    kind : one of `KINDS`
    values : distinct values, ascending where they can be compared; None, for missing cells, last
    labelling : Hierarchy for hierarchical, LabelledMatrix for matrix, the values' order for others (default: as given)
    """
    return KINDS[kind].arrange(values, labelling)


def _in_order(values: Sequence[Any], labelling: Labelling | None) -> list[Any]:
    """Return values in the order of their labels; without labels, as they are given."""
    if labelling is None:
        return list(values)
    rank = {label: number for number, label in enumerate(labels_of(labelling))}
    return sorted(values, key=lambda value: rank[label_of(value, rank)])


def _labels(values: Sequence[Any], labelling: Labelling) -> list[str]:
    """Return the label of each value."""
    known = set(labels_of(labelling))
    return [label_of(value, known) for value in values]


def _ordered(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    return _in_order(values, labelling), Ordered(len(values))


def _numeric(values: Sequence[Any], _: Labelling | None) -> Arranged:
    numbers = {value: as_number(value) for value in values if value is not None}
    ordered = sorted(numbers, key=numbers.__getitem__)
    positions = [numbers[value] for value in ordered]
    return ([*ordered, None], Numeric([*positions, _after(positions)])) if None in values else (ordered, Numeric(positions))


def _equal(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    return _in_order(values, labelling), Equal(len(values))


def _hierarchical(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    assert isinstance(labelling, Hierarchy)
    ordered = _in_order(values, labelling)
    return ordered, Hierarchical(labelling, _labels(ordered, labelling))


def _by_matrix(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    assert isinstance(labelling, LabelledMatrix)
    ordered = _in_order(values, labelling)
    return ordered, labelling.among(_labels(ordered, labelling))


class Kind(NamedTuple):
    """A distance that a policy can name."""

    arrange: Callable[[Sequence[Any], Labelling | None], Arranged]
    needs: Literal["", "order", "numbers", "hierarchy", "matrix"] = ""
    """What the values must have: an order, their own or a given one; numbers; or a given hierarchy or matrix."""


KINDS = {
    "ordered": Kind(_ordered, "order"),
    "numeric": Kind(_numeric, "numbers"),
    "equal": Kind(_equal),
    "hierarchical": Kind(_hierarchical, "hierarchy"),
    "matrix": Kind(_by_matrix, "matrix"),
}
"""All distances, by name."""


def distance_on(distance: Any, domain: list[Any]) -> Arranged:
    """Return the domain in the order of its codes, and the distance on it."""
    if isinstance(distance, str):
        by_name = [name for name, kind in KINDS.items() if kind.needs not in ("hierarchy", "matrix")]
        if distance not in by_name:
            *others, last = map(repr, by_name)
            hint = "Pass a Hierarchy or a matrix itself." if distance in KINDS else f"Known are {', '.join(others)} and {last}."
            raise PolicyError(f"distance must be a known name, a Hierarchy or a matrix. Got {distance!r}. {hint}")
        return arrange(distance, domain)
    if isinstance(distance, Hierarchy):
        unknown = without_label(domain, distance)
        if unknown:
            strange = number_of(len(unknown), "that is not", "that are not")
            raise PolicyError(f"Every value must be in the hierarchy. Got {strange}, the first {got(unknown[0])}.")
        if len({printed(value) for value in domain}) < len(domain):
            raise PolicyError("Values of a hierarchy must differ in their printed form. Got two that do not, as 39 and '39'.")
        return arrange("hierarchical", domain, distance)
    matrix = _matrix(distance)
    if matrix.m != len(domain):
        rows, wanted = number_of(matrix.m, "row"), number_of(len(domain), "value")
        raise PolicyError(f"A matrix distance must have one row for each value. Got {rows} for {wanted}.")
    return domain, matrix


def _matrix(rows: Any) -> Matrix:
    try:
        return Matrix([list(row) for row in rows])
    except TcloseError:
        raise
    except (TypeError, ValueError):
        raise PolicyError("distance must be a known name, a Hierarchy or a matrix of numbers. Got something else.") from None


def _after(numbers: Sequence[Fraction]) -> Fraction:
    """Return the number for missing cells: after the greatest one, by the mean step from number to number.

    After numbers that are one step apart it is one step after the last, as under the ordered distance.
    """
    if len(numbers) < 2:
        return sum(numbers, Fraction(1))
    return numbers[-1] + (numbers[-1] - numbers[0]) / (len(numbers) - 1)


def without_label(values: Iterable[Any], labelling: Labelling) -> list[Any]:
    """Return the values whose label a hierarchy, a matrix or an order does not have."""
    known = set(labels_of(labelling))
    return [value for value in values if label_of(value, known) not in known]


def label_of(value: Any, known: Collection[str]) -> str:
    """Return the label of a value: its printed form, without the guard that a release may have put before it."""
    text = printed(value)
    return text if text in known else unguarded(text)


def as_number(value: Any) -> Fraction:
    """Return the number that a value stands for: dates in days, times in microseconds."""
    if isinstance(value, datetime):
        moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return Fraction((moment - datetime.min) // timedelta(microseconds=1))
    if isinstance(value, date):
        return Fraction(value.toordinal())
    if isinstance(value, time):
        return Fraction(((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond)
    try:
        return exact(value)
    except ValueError:
        raise PolicyError(f"The numeric distance needs numbers or dates. Got {type(value).__name__}.") from None


def labels_of(labelling: Labelling) -> Sequence[str]:
    """Return the labels that a hierarchy, a matrix or an order has."""
    if isinstance(labelling, Hierarchy):
        return labelling.leaves
    return labelling.labels if isinstance(labelling, LabelledMatrix) else labelling
