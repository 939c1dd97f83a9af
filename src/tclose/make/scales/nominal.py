"""Nominal: values without an order or a hierarchy, published as the set of the values of a class."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.base import Column, Published, Scale, Widths
from tclose.make.scales.boxes import Ranges, ranges_of, ranks_of, texts_on_a_line
from tclose.values.arrays import Bools, Ints
from tclose.values.hierarchy import printed

_OR_MISSING = " or missing"
_UNCLEAR = re.compile(r"""^$|^\s|\s$|[,{}"]""")


class Nominal(Scale):
    r"""Values published as sets: ``{flu, cold}``, or the value itself if a class has only one.

    .. math:: NCP = |set| / |domain|, \quad LM = (|set| - 1) / (|domain| - 1)

    and 0 for one value, over the values that occur. A missing cell counts as a value of both the set and the domain; it is
    published as ``{flu, cold} or missing``, and as a missing cell if it is the only one. Different sets have different labels:
    a value that could be read as several is put in quotes.

    References
    ----------
    Xu et al. 2006, Utility-Based Anonymization Using Local Recoding (NCP).
    Iyengar 2002, Transforming Data to Satisfy Privacy Constraints (LM).

    Examples
    --------
    >>> scale, codes = Nominal.of("job", ["cook", "nurse", "smith"])
    >>> published = scale.publish(codes, np.array([0, 2, 3]))
    >>> published.columns["job"].values, published.ncp.round(3).tolist()
    (['{cook, nurse}', 'smith'], [0.667, 0.0])
    """

    def __init__(self, name: str, texts: Sequence[str], *, missing: bool = False) -> None:
        """Take the printed values of a quasi-identifier without an order, in the order of their codes."""
        self.name = name
        self.size = len(texts) + missing
        self.missing = missing
        self._texts = list(texts)

    @classmethod
    def of(cls, name: str, values: Iterable[Any], *, missing: bool = False) -> tuple[Nominal, Ints]:
        """Return the scale of a column, and the code of each value; with ``missing``, the last code is that of missing cells.

        Codes follow the order of the values. Values with the same printed form are one.
        """
        texts = [printed(value) for value in values]
        codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        found = [codes[text] for text in texts] + [len(codes)] * missing
        return cls(name, list(codes), missing=missing), np.array(found, dtype=np.int64)

    def widths(self) -> Widths:
        """Return the NCP of all ranges of codes: the share of the domain in a set of all codes in the range."""
        edges = np.arange(self.size + 1) / self.size
        none = np.zeros((0, self.size), dtype=np.int32)
        return Widths(np.zeros(self.size), edges[:-1], edges[1:], missing=False, ancestors=none, charges=np.zeros(0))

    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Return classes published as sets of values, and their information loss."""
        rows = np.diff(starts)
        keys = np.sort(np.repeat(np.arange(len(rows)) * self.size, rows) + codes.astype(np.int64))
        owners, members = np.divmod(keys[np.diff(keys, prepend=-1) > 0], self.size)
        sizes = np.bincount(owners, minlength=len(rows))
        several = sizes > 1
        ncp = np.where(several, sizes / self.size, 0.0)
        lm = (sizes - 1) / max(self.size - 1, 1)
        estimate = np.bincount(members, weights=(rows / sizes)[owners], minlength=self.size).astype(np.float64)
        columns = {self.name: self._set_column(members, sizes)}
        reach = frozenset(np.unique(members).tolist())
        seen = np.where(several, sizes / max(len(reach), 1), 0.0)
        missing = self.missing and bool((codes == self.size - 1).any())
        return Published(self.name, columns, ncp, lm, several.astype(np.float64), None, seen, missing, estimate, reach)

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Ranges | None:
        """Return the range from the least to the greatest member of each published set; missing cells come last."""
        keys = self._sort_keys
        if keys is None:
            return None
        ranks = np.append(ranks_of(keys), [len(keys)] * self.missing)
        return ranges_of(ranks, ranks, codes, starts)

    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:
        """Return a function from a code to which published sets have it as a member."""
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))

        def covers(code: int) -> Bools:
            """Whether the published set of each class has the code's value."""
            found = np.zeros(len(starts) - 1, dtype=np.bool_)
            found[owners[codes == code]] = True
            return found

        return covers

    def attained(self, codes: NDArray[Any], starts: Ints) -> Ints:
        """Return all members of each published set."""
        return np.unique(np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * self.size + codes)

    def describe(self, published: str, *, missing: bool) -> str:  # noqa: ARG002 - there is one column
        """Return the codebook's sentence on what the published column contains."""
        says = "; 'or missing' says that some of them miss it" if missing else ""
        return f"The values of {self.name!r} among the rows of the class, as a set where they differ{says}."

    @cached_property
    def _sort_keys(self) -> list[tuple[Any, ...]] | None:
        """The keys by which a reader sorts the values; None if that is not clear."""
        return texts_on_a_line(self._texts)

    @cached_property
    def _member_texts(self) -> list[str]:
        """The published text of each value as a member of a set."""
        return [within(text) for text in self._texts]

    def _set_column(self, members: Ints, sizes: NDArray[np.int64]) -> Column:
        """Return the published column of sets; ``members`` are the codes of all sets, one after the other, ascending in each."""
        # Sets of codes as big-endian bytes sort as tuples of codes do, and are fast to hash.
        wide = members.astype(">u4").tobytes()
        ends = (np.cumsum(sizes) * 4).tolist()
        keys = [wide[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        index_of = {key: index for index, key in enumerate(sorted(set(keys)))}
        labels = [self._set_label(struct.unpack(f">{len(key) // 4}I", key)) for key in index_of]
        return Column(labels, np.array([index_of[key] for key in keys], dtype=np.int64))

    def _set_label(self, codes: tuple[int, ...]) -> str | None:
        """Return the label of a set of codes: ``{a, b}``, a single value, or None if all cells are missing."""
        members = codes[:-1] if codes[-1] == len(self._texts) else codes
        if not members:
            return None
        label = alone(self._texts[members[0]])
        if len(members) > 1:
            label = f"{{{', '.join([self._member_texts[code] for code in members])}}}"
        return label if len(members) == len(codes) else label + _OR_MISSING


def alone(text: str) -> str:
    """Return a value published by itself, in quotes if it could be read as a set, a quoted value or a missing one."""
    return _quoted(text) if not text or text[0] in '{"' or text.endswith(_OR_MISSING) else text


def within(text: str) -> str:
    """Return a value as a member of a set, in quotes if a reader could not tell where it ends."""
    return _quoted(text) if _UNCLEAR.search(text) else text


def _quoted(text: str) -> str:
    """Return a value of a published set in quotes, its own quotes doubled."""
    return '"' + text.replace('"', '""') + '"'
