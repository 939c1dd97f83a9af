"""A matrix distance as a user gives it: distances between named values, from a CSV file or a nested mapping."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from tclose.distances.matrix import Matrix, check_domain
from tclose.errors import HierarchyError
from tclose.values.bounded import FileTooLargeError, read_at_most
from tclose.values.exact import exact, plain
from tclose.values.hierarchy import printed

MOST_BYTES = 10_000_000
"""The most bytes of a matrix's file: a hundred values have ten thousand distances."""

LARGEST_DENOMINATOR = 10**60
"""The largest common denominator of all distances of a matrix: with more digits exact sums would take too long."""


@dataclass(frozen=True)
class LabelledMatrix:
    """Distances between values that are found by their printed form."""

    labels: list[str]
    rows: list[list[Fraction]]
    file: Path | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check that the matrix of distances is a metric and names each value once, before any table is read."""
        if len(set(self.labels)) < len(self.labels):
            raise HierarchyError("A matrix must name each value once. Got a value twice.")
        self._check_denominators()
        Matrix(self.rows)

    def _check_denominators(self) -> None:
        """Refuse a matrix whose distances have too large a common denominator for exact sums."""
        common = 1
        for distance in (entry for row in self.rows for entry in row):
            common = lcm(common, distance.denominator)
            if common > LARGEST_DENOMINATOR:
                raise HierarchyError(
                    "A matrix must have distances with a common denominator of at most "
                    f"{len(str(LARGEST_DENOMINATOR)) - 1} digits. Got more; write them with fewer decimals."
                )

    @classmethod
    def from_mapping(cls, distances: Mapping[Any, Mapping[Any, Any]]) -> LabelledMatrix:
        """Return the matrix of distances in a mapping ``{"a": {"b": 0.5}, "b": {}}``: one entry per pair is enough."""
        if not isinstance(distances, Mapping) or not all(isinstance(row, Mapping) for row in distances.values()):
            raise HierarchyError("A matrix must be a mapping from each value to its distances. Got something else.")
        labels = list(dict.fromkeys(printed(key) for row in (distances, *distances.values()) for key in row))
        check_domain(len(labels))  # before there are as many entries as their square
        known = {(printed(a), printed(b)): _exact_entry(d) for a, row in distances.items() for b, d in row.items()}

        def entry(a: str, b: str) -> Fraction:
            found = known.get((a, b), known.get((b, a), Fraction(0) if a == b else None))
            if found is None:
                raise HierarchyError(f"A matrix must give every distance. Got none between {a!r} and {b!r}.")
            return found

        return cls(labels, [[entry(a, b) for b in labels] for a in labels])

    @classmethod
    def from_csv(cls, path: str | Path) -> LabelledMatrix:
        """Return the matrix of distances in a square CSV file: values in its first row and, in the same order, first column."""
        try:
            text = read_at_most(Path(path), MOST_BYTES).decode("utf-8-sig")
            rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
        except FileTooLargeError:
            raise HierarchyError(f"Matrix file {str(path)!r} must have at most {MOST_BYTES:,} bytes. Got more.") from None
        except (OSError, UnicodeDecodeError, csv.Error):
            raise HierarchyError(f"Matrix file {str(path)!r} cannot be read as UTF-8 text. Check its path.") from None
        labels = rows[0][1:] if rows else []
        if not labels or [row[0] for row in rows[1:]] != labels:
            raise HierarchyError(f"Matrix file {Path(path).name!r} must have the same values in its first row and first column.")
        return cls(labels, [[_exact_entry(cell) for cell in row[1:]] for row in rows[1:]], Path(path))

    def among(self, values: Sequence[Any]) -> Matrix:
        """Return the matrix distance between some of the values, whose codes are their indices in ``values``."""
        indices = [self.labels.index(printed(value)) for value in values]
        return Matrix([[self.rows[i][j] for j in indices] for i in indices])

    def to_mapping(self) -> dict[str, dict[str, Any]]:
        """Return the matrix of distances as a mapping of mappings, which `from_mapping` reads back."""
        return {
            a: {b: plain(d) for b, d in zip(self.labels, row, strict=True)} for a, row in zip(self.labels, self.rows, strict=True)
        }


def _exact_entry(distance: Any) -> Fraction:
    """Return an entry of a distance matrix as a fraction; raise HierarchyError if it is not a number."""
    try:
        return exact(distance)
    except ValueError as error:
        raise HierarchyError(f"A matrix must hold numbers. {error}.") from None
