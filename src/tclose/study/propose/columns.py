"""Columns: what is known of a column before it has a role."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tclose.make.kept import is_free_text, is_nearly_unique
from tclose.tables.coded import Codes
from tclose.tables.nearly import WORDS
from tclose.tables.readings import NOUNS, Reading
from tclose.tables.table import Table
from tclose.values.arrays import Ints

NUMERIC = ("integer", "decimal", "float")

ALONE = 0.1
"""The share of the rows, singled out by one column, from which on this column is a danger by itself."""

AMOUNTS = 150
"""Different numbers of a column of amounts, as of money, at least. Ages, years, hours of a week and scores have fewer."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table.

    Attributes
    ----------
    name, kind : str
        See `tclose.tables.table.Table`.
    domain : pyarrow array
        Its values, ascending, missing last, as their owner knows them.
    codes : (rows,) unsigned integers
        The index of each row's value.
    reading : Reading
    """

    name: str
    kind: str
    domain: pa.Array
    codes: Codes
    reading: Reading

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return len(self.codes)

    @cached_property
    def counts(self) -> Ints:
        """The number of rows with each value of the domain."""
        return np.bincount(self.codes, minlength=len(self.domain)).astype(np.int64)

    @property
    def missing(self) -> int:
        """The number of rows without a value."""
        return int(self.counts[-1]) if self.domain.null_count else 0

    @property
    def values(self) -> int:
        """The number of distinct values, without missing cells."""
        return len(self.domain) - int(self.domain.null_count)

    @property
    def present(self) -> pa.Array:
        """The distinct values, ascending, without missing cells."""
        return self.domain.slice(0, self.values)

    @property
    def noun(self) -> str:
        """What the column has, in words: "whole numbers"."""
        return "whole numbers written as decimals" if self.whole and self.kind != "integer" else NOUNS[self.kind]

    @cached_property
    def whole(self) -> bool:
        """Whether the column has whole numbers only; programs often write them 1.0, 2.0, above all where cells are missing."""
        if self.kind == "integer" or self.kind not in NUMERIC:
            return self.kind == "integer"
        return self.values > 0 and all(float(value).is_integer() for value in self.present.to_pylist())

    @property
    def digits(self) -> int:
        """The number of digits that all whole numbers of the column have; 0 if they differ in it, or are none."""
        if not self.whole or not self.values or self.present[0].as_py() < 0:
            return 0
        least, most = (len(str(int(self.present[index].as_py()))) for index in (0, -1))
        return least if least == most else 0

    @property
    def constant(self) -> bool:
        """Whether all rows are the same."""
        return len(self.domain) < 2

    @property
    def unique(self) -> bool:
        """Whether no value is in two rows, and most rows have one."""
        return self.values == self.rows - self.missing and 10 * self.missing <= self.rows

    @property
    def nearly_unique(self) -> bool:
        """Whether a release refuses to publish the column in sets of values: see `tclose.make.kept`."""
        return is_nearly_unique(self.values, self.rows)

    @property
    def amount(self) -> bool:
        """Whether the column has numbers that few rows share, as amounts of money, weights of a survey, or measurements."""
        alone = int(np.count_nonzero(self.counts[: self.values] == 1))
        return self.kind in NUMERIC and self.values >= AMOUNTS and alone >= ALONE * self.rows

    @cached_property
    def free_text(self) -> bool:
        """Whether the column has long texts, in which people write names."""
        return is_free_text(self.present, self.counts[: self.values])

    @cached_property
    def doubtful_words(self) -> dict[str, int]:
        """The texts of the column that often mean "no value", as ? or NA, with their numbers of rows."""
        if self.kind != "text":
            return {}
        words = pa.array([word for word in WORDS if word], self.present.type)
        found = pc.indices_nonzero(pc.is_in(self.present, words)).to_pylist()
        return {self.present[index].as_py(): int(self.counts[index]) for index in found}

    @cached_property
    def same_length(self) -> int:
        """The number of characters that all texts have; 0 if they differ in it, or are no texts."""
        if self.kind not in ("text", "integer") or not self.values:
            return 0
        lengths = pc.unique(pc.utf8_length(self.present.cast(pa.string())))
        return int(lengths[0].as_py()) if len(lengths) == 1 else 0

    @cached_property
    def infinite(self) -> bool:
        """Whether the column has an infinite number."""
        return self.kind == "float" and not bool(np.isfinite(self.present.to_numpy(zero_copy_only=False)).all())


def columns_of(source: Table) -> list[Column]:
    """Return the columns of an open table, in its order."""
    names = [name for name in source.names if name in source]
    readings = source.readings(names)
    found: list[tuple[str, tuple[Any, Codes]]] = list(zip(names, source.rows(names), strict=True))
    return [Column(name, source.kinds[name], source.values(name, cells), codes, readings[name]) for name, (cells, codes) in found]


def percent(share: float) -> str:
    """Return a share of the rows as percents with one decimal.

    >>> percent(0.0473), percent(0.0004)
    ('4.7%', 'less than 0.1%')
    """
    return f"{100 * share:.1f}%" if share >= 0.001 else "less than 0.1%"
