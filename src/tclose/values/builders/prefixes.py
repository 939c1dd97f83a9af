"""Prefixes: hierarchies of codes whose first characters say the most, such as zip codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tclose.values.builders.base import Builder
from tclose.values.printed import printed

MOST_CHARACTERS = 100
"""Characters of a code: each may be a level of the hierarchy."""


@dataclass(frozen=True)
class Prefixes(Builder):
    """A hierarchy of codes: the value, its first characters at each level, then stars alone.

    ``shown`` has the number of characters that each level shows, the finest first; None shows one less on each level. A shorter
    value is filled up with blanks, so that all values of a level are hidden from the same character on.

    >>> Prefixes((3, 2)).paths(["47602", "13053"])
    [['*****', '13***', '130**', '13053'], ['*****', '47***', '476**', '47602']]
    """

    shown: tuple[int, ...] | None = None
    key = "prefixes"
    needs = "codes"

    @classmethod
    def read(cls, given: Any) -> Prefixes:
        """Return the prefixes of a policy's list of numbers of characters: ``[4, 3]``."""
        shown = tuple(given) if isinstance(given, list | tuple) else (given,)
        whole = all(isinstance(count, int) and not isinstance(count, bool) and 1 <= count < MOST_CHARACTERS for count in shown)
        if not shown or not whole or any(fine <= coarse for fine, coarse in pairwise(shown)):
            raise ValueError("numbers of characters that stay, 1 or more, the most first: [4, 3]")
        return cls(shown)

    def setting(self) -> Any:
        """Return the prefixes as a policy writes them: ``"prefixes"``, or ``{"prefixes": [4, 3]}``."""
        return self.key if self.shown is None else {self.key: list(self.shown)}

    def levels(self) -> list[str]:
        """Return how many characters each level shows."""
        return ["1 character" if count == 1 else f"{count} characters" for count in self.shown or ()]

    def requirement(self, value: Any) -> str | None:
        """Return what a value must be that has a star, or too many characters."""
        text = printed(value)
        if "*" in text:
            return "not hold '*', which stands for what is hidden"
        return f"have at most {MOST_CHARACTERS} characters, a level for each" if len(text) > MOST_CHARACTERS else None

    def paths(self, values: Sequence[Any]) -> list[list[str]]:
        """Return the masked forms of each code, from the root down, in ascending order of the codes."""
        texts = sorted({printed(value) for value in values})
        length = max(map(len, texts), default=0)
        shown = range(1, length) if self.shown is None else self.shown[::-1]
        filled = sorted((text.ljust(length), text) for text in texts)
        return [
            ["*" * length, *(full[:count].ljust(length, "*") if count < length else text for count in shown), text]
            for full, text in filled
        ]
