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
    """Return the values of a domain in the order of their codes, and the distance of a named kind between them.

    Parameters
    ----------
    kind : one of `KINDS`
    values : distinct values, ascending where they can be compared; None, for missing cells, last
    labelling : Hierarchy for hierarchical, LabelledMatrix for matrix, the values' order for others (default: as given)
    """
    return KINDS[kind].arrange(values, labelling)


def _in_order(values: Sequence[Any], labelling: Labelling | None) -> list[Any]:
    """Return values of a domain in the order of their labels in a hierarchy, matrix or order; without one, as given."""
    if labelling is None:
        return list(values)
    rank = {label: number for number, label in enumerate(labels_of(labelling))}
    return sorted(values, key=lambda value: rank[label_of(value, rank)])


def _labels_of_values(values: Sequence[Any], labelling: Labelling) -> list[str]:
    """Return the label by which each value is found in a hierarchy, matrix or order."""
    known = set(labels_of(labelling))
    return [label_of(value, known) for value in values]


def _arrange_ordered(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    """Return the values of a domain in their order, and the ordered distance between them."""
    return _in_order(values, labelling), Ordered(len(values))


def _arrange_numeric(values: Sequence[Any], _: Labelling | None) -> Arranged:
    """Return the values of a domain from least to greatest, missing last, and the numeric distance between them."""
    numbers = {value: as_number(value) for value in values if value is not None}
    ordered = sorted(numbers, key=numbers.__getitem__)
    positions = [numbers[value] for value in ordered]
    return (
        ([*ordered, None], Numeric([*positions, _number_for_missing(positions)]))
        if None in values
        else (ordered, Numeric(positions))
    )


def _arrange_equal(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    """Return the values of a domain in their order, and the equal distance between them."""
    return _in_order(values, labelling), Equal(len(values))


def _arrange_hierarchical(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    """Return the values of a domain in the order of a hierarchy's leaves, and the hierarchical distance between them."""
    assert isinstance(labelling, Hierarchy)
    ordered = _in_order(values, labelling)
    return ordered, Hierarchical(labelling, _labels_of_values(ordered, labelling))


def _arrange_matrix(values: Sequence[Any], labelling: Labelling | None) -> Arranged:
    """Return the values of a domain in the order of a matrix's labels, and the matrix distance between them."""
    assert isinstance(labelling, LabelledMatrix)
    ordered = _in_order(values, labelling)
    return ordered, labelling.among(_labels_of_values(ordered, labelling))


class Kind(NamedTuple):
    """A distance that a policy can name."""

    arrange: Callable[[Sequence[Any], Labelling | None], Arranged]
    needs: Literal["", "order", "numbers", "hierarchy", "matrix"] = ""
    """What the values must have: an order, their own or a given one; numbers; or a given hierarchy or matrix."""


KINDS = {
    "ordered": Kind(_arrange_ordered, "order"),
    "numeric": Kind(_arrange_numeric, "numbers"),
    "equal": Kind(_arrange_equal),
    "hierarchical": Kind(_arrange_hierarchical, "hierarchy"),
    "matrix": Kind(_arrange_matrix, "matrix"),
}
"""All distances, by name."""


def distance_on(distance: Any, domain: list[Any]) -> Arranged:
    """Return a domain in the order of its codes, and the distance on it that a name, a hierarchy or a matrix stands for."""
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
    matrix = _matrix_of_rows(distance)
    if matrix.m != len(domain):
        rows, wanted = number_of(matrix.m, "row"), number_of(len(domain), "value")
        raise PolicyError(f"A matrix distance must have one row for each value. Got {rows} for {wanted}.")
    return domain, matrix


def _matrix_of_rows(rows: Any) -> Matrix:
    """Return the matrix distance of rows of numbers; raise PolicyError if they are not a matrix of numbers."""
    try:
        return Matrix([list(row) for row in rows])
    except TcloseError:
        raise
    except (TypeError, ValueError):
        raise PolicyError("distance must be a known name, a Hierarchy or a matrix of numbers. Got something else.") from None


def _number_for_missing(numbers: Sequence[Fraction]) -> Fraction:
    """Return the number that stands for missing cells under the numeric distance: one mean step after the greatest number.

    After numbers that are one step apart it is one step after the last, as under the ordered distance.
    """
    if len(numbers) < 2:
        return sum(numbers, Fraction(1))
    return numbers[-1] + (numbers[-1] - numbers[0]) / (len(numbers) - 1)


def without_label(values: Iterable[Any], labelling: Labelling) -> list[Any]:
    """Return the values that a hierarchy, a matrix or an order does not contain."""
    known = set(labels_of(labelling))
    return [value for value in values if label_of(value, known) not in known]


def label_of(value: Any, known: Collection[str]) -> str:
    """Return the label of a value: its printed form, without the formula guard unless the label has it too."""
    text = printed(value)
    return text if text in known else unguarded(text)


def as_number(value: Any) -> Fraction:
    """Return the number that a value stands for under the numeric distance: dates in days, times in microseconds."""
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
    """Return all labels of a hierarchy (its leaves), of a matrix or of an order, in their order."""
    if isinstance(labelling, Hierarchy):
        return labelling.leaves
    return labelling.labels if isinstance(labelling, LabelledMatrix) else labelling
