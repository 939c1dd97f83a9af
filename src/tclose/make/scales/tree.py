"""Tree: values with a hierarchy, published as the lowest label above all values of a class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.scales.base import Published, Scale, Widths
from tclose.make.scales.boxes import Boxes, Ranges, is_plain, nodes_of, ranks_of, read_range
from tclose.make.scales.everything import Everything
from tclose.make.scales.spans import Spans, charged, column_of_keys, covering, expected_rows, missing_codes, spans_of
from tclose.values.arrays import Bools, Ints
from tclose.values.exact import number_of
from tclose.values.hierarchy import OF_PUBLISHER, ROOT, Hierarchy, node_names

_SEVERAL = re.compile(r"[\[{'].*|.+ or (?:more|less|missing.*)|less than .+|any value", re.DOTALL)
"""Values that look like labels for several values."""


def unknown(values: Iterable[Any], hierarchy: Hierarchy) -> list[Any]:
    """Return the values that are not in a hierarchy; a missing cell need not be in it."""
    return [value for value in values if value is not None and value not in hierarchy]


class Tree(Scale):
    r"""Values published as N, the lowest node of a hierarchy above all values of a class.

    .. math:: NCP = leaves(N) / leaves, \quad LM = (leaves(N) - 1) / (leaves - 1), \quad height(N) / H

    over the leaves that occur in the table, and 0 for one leaf. The third is the loss that precision counts, by the heights of
    the declared hierarchy. Missing cells are a leaf if the hierarchy has an empty label for them; otherwise they are a code of
    their own, and a class with values and missing cells is published as ``LABEL or missing`` and charged 1.

    Different nodes have different labels: a label of several nodes is followed by the labels above it.

    References
    ----------
    Xu et al. 2006, Utility-Based Anonymization Using Local Recoding (NCP).
    Iyengar 2002, Transforming Data to Satisfy Privacy Constraints (LM).
    Sweeney 2002, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression (precision).

    Examples
    --------
    >>> tree = Hierarchy.from_mapping({"lung": ["flu", "cold"], "gut": ["colitis", "ulcer"]})
    >>> scale, codes = Tree.of("disease", ["cold", "colitis", "flu"], tree)
    >>> codes.tolist()
    [1, 2, 0]
    >>> published = scale.publish(np.array([0, 1, 2]), np.array([0, 2, 3]))
    >>> published.columns["disease"].values, published.ncp.round(3).tolist(), published.height.tolist()
    (['lung', 'colitis'], [0.667, 0.0], [0.5, 0.0])
    """

    def __init__(
        self, name: str, hierarchy: Hierarchy, leaves: Sequence[int], *, missing: bool = False, given: bool = True
    ) -> None:
        """Take the leaves of a hierarchy that occur, ascending; with ``missing``, one more code is for missing cells.

        ``given``: a reader may know the hierarchy, because it was not made from the table.
        """
        self.name = name
        self._level: int | None = None
        self._given = given
        self.size = len(leaves) + missing
        self.missing = missing
        self._hierarchy = hierarchy
        paths = [hierarchy.path(leaf) for leaf in leaves]
        depth = max(map(len, paths), default=1)
        padded = [path + [-1] * (depth - len(path)) for path in [*paths, *[[]] * missing]]
        self._ancestors = np.array(padded, dtype=np.int32).T.copy()
        # The leaves of a node are adjacent: a node is a range of codes.
        self._first = np.zeros(len(hierarchy.labels), dtype=np.int64)
        self._leaves = np.zeros(len(hierarchy.labels), dtype=np.int64)
        for level in self._ancestors:
            nodes, first, counts = np.unique(level, return_index=True, return_counts=True)
            some = nodes >= 0
            self._first[nodes[some]], self._leaves[nodes[some]] = first[some], counts[some]
        self._names = node_names(hierarchy)
        self._or_missing = " or missing"
        while any(label and label.endswith(self._or_missing) for label in self._names):
            self._or_missing += " cell"

    @classmethod
    def of(
        cls, name: str, values: Sequence[Any], hierarchy: Hierarchy, *, missing: bool = False, given: bool = True
    ) -> tuple[Tree, Ints]:
        """Return the scale of a column, and the code of each value; with ``missing``, the last code is that of missing cells.

        Codes follow the order of the hierarchy's leaves. Every value must be a leaf; see `unknown`.
        """
        placed = missing and None in hierarchy
        nodes = [hierarchy.leaf(value) for value in ([*values, None] if placed else values)]
        leaves = sorted(set(nodes))
        codes = {leaf: code for code, leaf in enumerate(leaves)}
        found = [codes[node] for node in nodes] + [len(leaves)] * (missing and not placed)
        return cls(name, hierarchy, leaves, missing=missing and not placed, given=given), np.array(found, dtype=np.int64)

    @property
    def levels(self) -> int:
        """The number of levels, from the root down to the deepest value that occurs."""
        return max(len(self._ancestors), 1 + self.missing)

    def groups(self, level: int) -> Ints:
        """Return for each code the number of its node at a level; missing cells are a group of their own below the root."""
        if level == 0:
            return np.zeros(self.size, dtype=np.int64)
        lowest = self._ancestors[: level + 1].max(axis=0)  # nodes are numbered from the root down
        return np.unique(lowest, return_inverse=True)[1].astype(np.int64)

    def at_level(self, level: int) -> Scale:
        """Return the scale that publishes all values at one level of the hierarchy, counted from the root, 0.

        A leaf that is nearer to the root is published itself. A class whose values are below several nodes of the level is still
        published as the lowest node above all of them. At the root, where some cells are missing and are in no node, all rows are
        published as ``ROOT or missing``, so that a reader cannot tell which they are.

        >>> tree = Hierarchy.from_mapping({"lung": ["flu", "cold"], "gut": ["colitis", "ulcer"]})
        >>> scale, codes = Tree.of("disease", ["cold", "colitis", "flu"], tree)
        >>> scale.at_level(1).publish(np.array([0, 1, 2]), np.array([0, 2, 3])).columns["disease"].values
        ['lung', 'gut']
        """
        if level == 0 and self.missing:
            return Everything(self, f"{self._names[ROOT]}{self._or_missing}")
        chosen = copy(self)
        chosen._level = level
        return chosen

    def widths(self) -> Widths:
        """Return the NCP of all ranges of codes: that of the lowest node above both ends."""
        edges = np.arange(self.size + 1) / self.size
        return Widths(np.zeros(self.size), edges[:-1], edges[1:], self.missing, self._ancestors, self._ncp_of_nodes())

    def width_in_words(self, share: float) -> str:
        """Return in words how many values a label stands for, from its mean NCP: ``as labels that stand for 2.1 of the 7``."""
        return f"as labels that stand for {share * self._count_leaves():.1f} of the {self._count_leaves():,} values on average"

    def publish(self, codes: NDArray[Any], starts: Ints) -> Published:
        """Return classes published as labels of the hierarchy's nodes, and their information loss."""
        found = spans_of(codes, starts, self.size - 1 if self.missing else None)
        nodes = self._published_nodes(found.first, found.last)
        inside = np.where(found.absent, 1, self._leaves[nodes])
        ncp = charged(self._ncp_of_nodes()[nodes], found)
        lm = charged((inside - 1) / max(self._count_leaves() - 1, 1), found)
        height = charged(np.array(self._hierarchy.heights)[nodes] / max(self._hierarchy.height, 1), found)
        first = np.where(found.absent, found.first, self._first[nodes])
        estimate = expected_rows(self.size, found._replace(first=first, last=first + inside - 1))
        keys = np.where(found.absent, 2 * len(self._names), 2 * nodes + found.mixed)
        seen = charged(self._declared_ncp_of_nodes()[nodes], found) if self._given else None
        columns, missing = {self.name: column_of_keys(keys, self._node_label)}, bool(found.gone.any())
        return Published(self.name, columns, ncp, lm, height, None, seen, missing, estimate)

    def boxes(self, codes: NDArray[Any], starts: Ints) -> Boxes | None:
        """Return the node, or range, that each published label stands for; with missing cells, any value.

        If all labels are ranges, such as ``[20, 29]``, they stand for the ranges that they name, whatever the hierarchy joins.
        """
        if not self._given and not self._readers_agree():
            return None
        found = spans_of(codes, starts, self.size - 1 if self.missing else None)
        labels = {self._names[node] or "" for node in self._published_nodes(found.first, found.last)[~found.absent].tolist()}
        if any(label.startswith("[") for label in labels):
            ends = {label: read_range(label) for label in labels}
            if all(ends.values()):
                return self._ranges_of_labels(found, ends)
            if not any(is_plain(label) or not label.strip("*") for label in labels):
                return None
        root = np.zeros((1, self.size), dtype=np.int64)
        root[0, self._count_leaves() :] = 1  # missing cells are below no node
        return nodes_of(np.concatenate([root, self._ancestors]), codes, starts)

    def covers(self, codes: NDArray[Any], starts: Ints) -> Callable[[int], Bools]:
        """Return a function from a code to which published labels are above it."""
        missing = self.size - 1 if self.missing else None
        found = spans_of(codes, starts, missing)
        nodes = self._published_nodes(found.first, found.last)
        first = np.where(found.absent, self.size, self._first[nodes])
        return covering(first, first + self._leaves[nodes] - 1, found, missing)

    def attained(self, codes: NDArray[Any], starts: Ints) -> Ints:
        """Return the code of missing cells where the label names them: a node says of none of its values that somebody has it."""
        return missing_codes(spans_of(codes, starts, self.size - 1 if self.missing else None), self.size)

    def _readers_agree(self) -> bool:
        """Whether a hierarchy made from the published labels is the one that was made from the values."""
        leaves = self._hierarchy.leaves
        return None not in self._hierarchy and not any(_SEVERAL.fullmatch(leaf) for leaf in leaves)

    def _ranges_of_labels(self, found: Spans, ends: dict[str, Any]) -> Ranges:
        """Return the range of each class, from the ends that its label names."""
        nodes = self._published_nodes(found.first, found.last)
        known = {node: ends[self._names[node] or ""] for node in set(nodes[~found.absent].tolist())}
        ends_ranked = ranks_of([end for pair in known.values() for end in pair]).reshape(-1, 2)
        gone = int(ends_ranked.max(initial=-1)) + 1
        rank = {node: tuple(pair) for node, pair in zip(known, ends_ranked.tolist(), strict=True)}
        both = np.array([rank.get(node, (gone, gone)) for node in np.where(found.absent, -1, nodes).tolist()], dtype=np.int64)
        return Ranges(both[:, 0], np.where(found.gone > 0, gone, both[:, 1]))

    def describe(self, published: str, *, missing: bool) -> str:  # noqa: ARG002 - there is one column
        """Return the codebook's sentence on what the published column contains."""
        says = f"; {self._or_missing.strip()!r} says that some rows have none" if missing else ""
        which = f"{OF_PUBLISHER if self._given else 'the hierarchy'} of"  # a rule's labels say what they stand for
        if self._level is not None:
            # A level below all published values is not told: only a suppressed value could be as deep.
            level = min(self._level, len(self._ancestors) - 1)
            where = "at the root" if level == 0 else f"{number_of(level, 'level')} below the root"
            return f"The label of {which} {self.name!r} above the value, {where}; or the value, if it is nearer{says}."
        return (
            f"The value, if all rows of the class have the same; otherwise the smallest group of {which} {self.name!r} that has "
            f"all of their values{says}."
        )

    def _count_leaves(self) -> int:
        """Return the number of leaves of the hierarchy that occur in the table."""
        return self.size - self.missing

    def _ncp_of_nodes(self) -> NDArray[np.float64]:
        """Return the NCP of each node over the leaves that occur; 0 for a single leaf."""
        charges: NDArray[np.float64] = np.where(self._leaves > 1, self._leaves / max(self._count_leaves(), 1), 0.0)
        return charges

    def _declared_ncp_of_nodes(self) -> NDArray[np.float64]:
        """Return the NCP of each node over all leaves of the hierarchy, whether they occur or not."""
        leaves = np.zeros(len(self._hierarchy.labels), dtype=np.int64)
        for value in self._hierarchy.leaves:
            leaves[self._hierarchy.path(self._hierarchy.leaf(value))] += 1
        charges: NDArray[np.float64] = np.where(np.array(self._hierarchy.heights) > 0, leaves / len(self._hierarchy.leaves), 0.0)
        return charges

    def _published_nodes(self, first: Ints, last: Ints) -> Ints:
        """Return the node published for each class: the lowest above its codes, or the one above that at the scale's level."""
        nodes: Ints = self._ancestors[0][first].astype(np.int64)
        for level in self._ancestors[1 : None if self._level is None else self._level + 1]:
            below = level[first]
            nodes = np.where((below == level[last]) & (below >= 0), below, nodes)
        return nodes

    def _node_label(self, key: int) -> str | None:
        """Return the label of a key: twice the node, plus one if cells are missing too; None if all are missing."""
        node, mixed = divmod(key, 2)
        if node == len(self._names):
            return None
        label = self._names[node]
        return f"{label or ''}{self._or_missing}" if mixed else label
