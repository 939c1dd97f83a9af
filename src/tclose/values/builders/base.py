"""Builder: a rule that says for any value of a column which labels stand above it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar


class Builder(ABC):
    """A rule that makes a hierarchy of the values of a column: ``{intervals: [5, 10, 20]}`` in a policy.

    The labels above a value depend on the rule and on the kind of the column (whole numbers, the length of codes), not on how
    often values occur. So the hierarchy of the published rows is made from them alone, and suppressed rows leave no trace in it.

    Attributes
    ----------
    key : str
        The key of the rule in a policy.
    needs : str
        What the values must be, in words: "numbers", "dates" or "codes".
    """

    key: ClassVar[str]
    needs: ClassVar[str]
    remedy: ClassVar[str] = "Correct it, or leave the cell empty"

    @abstractmethod
    def setting(self) -> Any:
        """Return the rule as a policy writes it: ``{"intervals": [5, 10, 20]}``."""

    @abstractmethod
    def requirement(self, value: Any) -> str | None:
        """Return what a value must be, for a sentence, if the rule has no place for it; None if it has one."""

    @abstractmethod
    def paths(self, values: Sequence[Any]) -> list[list[str]]:
        """Return the labels of each value from the root down, all of the same length, in the order of the tree's leaves.

        Parameters
        ----------
        values : sequence
            Distinct values that the rule has a place for, in any order.
        """

    def levels(self) -> list[str]:
        """Return the name of each level that the rule makes, the finest first; without the values and without the root."""
        return []
