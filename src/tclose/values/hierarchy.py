"""Hierarchy: a tree over the values of a column, from a CSV file, a nested mapping or rows of labels."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tclose.errors import HierarchyError, got, raising_alone
from tclose.values.builders import (
    GROUPS,
    Builder,
    Dates,
    NumberBuilder,
    Prefixes,
    asks_for_builder,
    cuts_of_quantiles,
    read_builder,
    why_no_tree,
)
from tclose.values.exact import number_of
from tclose.values.label_files import read_text, rows_of
from tclose.values.preview import Level, preview
from tclose.values.printed import printed

__all__ = ["MOST_LEVELS", "MOST_NODES", "OF_PUBLISHER", "ROOT", "Hierarchy", "above", "node_names", "printed"]

ROOT = 0

OF_PUBLISHER = "the publisher's hierarchy"
"""How the codebook of a release calls a hierarchy that was given, not made from the values by a rule."""

MOST_LEVELS = 100
"""Levels of a hierarchy below its root: codes and classifications have some ten; each level costs time and memory."""

MOST_NODES = 1_000_000
"""Labels of a hierarchy: about half a gigabyte of memory."""


class Hierarchy:
    """A tree over values: its leaves are the values, every other node stands for all leaves below it.

    A node is a number; node 0 is the root, parents come before their children. Leaves keep the order of the file,
    depth first, so that the leaves of one node stand side by side.

    Attributes
    ----------
    labels : list of str
        The label of each node.
    parents : list of int
        The parent of each node; the root's is -1.
    heights : list of int
        The longest way from each node down to a leaf.
    leaves : list of str
        The values, depth first.
    builder : Builder or None
        The rule that puts numbers into the intervals of the tree. A policy takes the rule, which has a place for every number.

    Examples
    --------
    >>> tree = Hierarchy.from_mapping({"respiratory": ["flu", "bronchitis"], "digestive": ["colitis"]})
    >>> tree.leaves, tree.height
    (['flu', 'bronchitis', 'colitis'], 2)
    """

    def __init__(self, paths: Iterable[Sequence[str]], file: Path | None = None) -> None:
        """Build the tree from the paths of its leaves, each from the root down; ``file`` is where they were read, if anywhere."""
        self.file = file
        self.builder: Builder | None = None
        roots: dict[str, Any] = {}
        nodes = 0
        for path in paths:
            if len(path) > MOST_LEVELS + 1:
                raise HierarchyError(f"a hierarchy must have at most {MOST_LEVELS} levels. Got {len(path) - 1:,}.")
            nodes += _add_path(roots, path)
            if nodes > MOST_NODES:
                raise HierarchyError(f"a hierarchy must have at most {MOST_NODES:,} labels. Got more.")
        if not roots:
            raise HierarchyError("a hierarchy must have at least one value. Got none.")
        self.labels: list[str] = []
        self.parents: list[int] = []
        self._children: list[dict[str, int]] = []
        self._number_nodes(roots)
        self._leaf_nodes: dict[str, int] = {}
        self._inner_nodes: dict[str, int | None] = {}  # None where a label stands for several nodes
        for node, label in enumerate(self.labels):
            if self._children[node]:
                self._inner_nodes[label] = None if label in self._inner_nodes else node
            elif label in self._leaf_nodes:
                raise HierarchyError(f"a value must occur once. Got {label!r} twice.")
            else:
                self._leaf_nodes[label] = node
        self.leaves = list(self._leaf_nodes)
        self.heights = [0] * len(self.labels)
        for node in range(len(self.labels) - 1, ROOT, -1):
            parent = self.parents[node]
            self.heights[parent] = max(self.heights[parent], self.heights[node] + 1)

    @classmethod
    @raising_alone
    def from_csv(cls, path: str | Path) -> Hierarchy:
        """Return the hierarchy in a CSV file as ARX writes it: no header, one row per value, ``value;parent;...;root``.

        Cells are separated by ``;`` or ``,``. Rows may differ in length. A label that repeats its neighbour (``other;other;*``),
        as files with equal columns do, is the same node.
        """
        text = read_text(Path(path), "Hierarchy file")
        try:
            return cls(_csv_paths(text), Path(path))
        except HierarchyError as error:
            ask = " Is its first line a header? Such a file has none: delete it." if _may_have_header(text) else ""
            raise HierarchyError(f"Hierarchy file {Path(path).name!r}: {error}{ask}") from None
        except csv.Error:
            raise HierarchyError(f"Hierarchy file {Path(path).name!r} is no CSV. Check how it was written.") from None

    @classmethod
    def from_mapping(cls, tree: Mapping[Any, Any]) -> Hierarchy:
        """Return the hierarchy of nested mappings and lists: ``{"respiratory": {"infection": ["flu", "pneumonia"]}}``.

        One outermost key is the root; several get the root ``*``.
        """
        if not isinstance(tree, Mapping) or not tree:
            raise HierarchyError("a hierarchy must be a mapping from labels to what is below them. Got something else.")
        try:
            return cls(_paths_below(tree, () if len(tree) == 1 else ("*",)))
        except RecursionError:
            raise HierarchyError("a hierarchy must not be as deep as this one, nor hold itself. Got too many levels.") from None

    @classmethod
    def from_groups(cls, groups: Mapping[Any, Any]) -> Hierarchy:
        """Return the hierarchy of groups of values, each with its label, in their order, below the root ``*``.

        A group may have groups inside it.

        >>> tree = Hierarchy.from_groups({"low": ["none", "primary"], "high": ["bachelor", "master"]})
        >>> tree.leaves, tree.labels[0]
        (['none', 'primary', 'bachelor', 'master'], '*')
        """
        if not isinstance(groups, Mapping) or not groups:
            raise HierarchyError("groups must be a mapping from labels to lists of values. Got something else.")
        return cls.from_mapping({"*": groups})

    @classmethod
    def from_intervals(cls, values: Iterable[Any], widths: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of numbers in intervals of some widths, each a multiple of the one before.

        >>> tree = Hierarchy.from_intervals([23, 47], [5, 10])
        >>> [tree.labels[node] for node in tree.path(tree.leaf(23))]
        ['*', '[20, 29]', '[20, 24]', '23']
        """
        return cls.from_builder(read_builder({"intervals": widths}), values)

    @classmethod
    def from_rounding(cls, values: Iterable[Any], units: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the numbers that round to the same multiple of a unit; see `tclose.values.builders.Rounding`.

        >>> tree = Hierarchy.from_rounding([23, 47], [10])
        >>> [tree.labels[node] for node in tree.path(tree.leaf(23))]
        ['*', '[15, 24]', '23']
        """
        return cls.from_builder(read_builder({"rounding": units}), values)

    @classmethod
    def from_cuts(cls, values: Iterable[Any], cuts: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of numbers between cut points: a list of them, or a list for each level, the finest first.

        >>> tree = Hierarchy.from_cuts([12, 23, 70], [[18, 65], [65]])
        >>> [tree.labels[node] for node in tree.path(tree.leaf(23))]
        ['*', '64 or less', '[18, 64]', '23']
        """
        return cls.from_builder(read_builder({"cuts": cuts}), values)

    @classmethod
    def from_quantiles(cls, values: Iterable[Any], groups: Sequence[int]) -> Hierarchy:
        """Return the hierarchy of numbers in groups of about equally many rows: 8 groups, then 4, then 2 for ``[8, 4, 2]``.

        The cut points are found once, from these values: ``builder.setting()`` names them, as a policy writes them. A policy that
        is given the hierarchy takes its cut points, so that they do not depend on which rows are suppressed later.

        >>> tree = Hierarchy.from_quantiles([21, 23, 34, 35, 47, 48, 61, 77], [4, 2])
        >>> tree.builder.setting()
        {'cuts': [[30, 40, 50], [40]]}
        """
        cells = list(values)
        _distinct_cells(read_builder({"cuts": [0]}), cells)
        try:
            builder = cuts_of_quantiles(Counter(cell for cell in cells if cell is not None), groups)
        except ValueError as error:
            raise HierarchyError(f"quantiles must be a list of {error}.") from None
        return cls.from_builder(builder, cells)

    @classmethod
    def from_prefixes(cls, values: Iterable[Any], shown: Sequence[int] | None = None) -> Hierarchy:
        """Return the hierarchy of codes such as zip codes: each level up hides one more character, from the right.

        ``shown`` names the levels, by the number of characters that stay: ``[3, 2]``. A shorter value is filled up with blanks,
        so that all values of a level are hidden from the same character on. Leaves ascend, and missing cells are ignored.

        >>> tree = Hierarchy.from_prefixes(["47677", "47602", "479"])
        >>> tree.leaves
        ['47602', '47677', '479']
        >>> [tree.labels[node] for node in tree.path(tree.leaf("47602"))]
        ['*****', '4****', '47***', '476**', '4760*', '47602']
        >>> [tree.labels[node] for node in tree.path(tree.leaf("479"))]
        ['*****', '4****', '47***', '479**', '479 *', '479']
        >>> tree = Hierarchy.from_prefixes(["47677", "47602"], [3])
        >>> [tree.labels[node] for node in tree.path(tree.leaf("47602"))]
        ['*****', '476**', '47602']
        """
        return cls.from_builder(Prefixes() if shown is None else read_builder({"prefixes": shown}), values)

    @classmethod
    def from_dates(cls, values: Iterable[Any], units: Sequence[str] | None = None) -> Hierarchy:
        """Return the hierarchy of dates: date, month, quarter, year, ``*``. Leaves ascend, and missing cells are ignored.

        ``units`` names other levels, the finest first: ``["month", "year"]``, or ``["week"]``, which lies in no month.

        >>> tree = Hierarchy.from_dates(["2024-03-05", "2023-12-31"])
        >>> tree.leaves
        ['2023-12-31', '2024-03-05']
        >>> [tree.labels[node] for node in tree.path(tree.leaf("2024-03-05"))]
        ['*', '2024', '2024-Q1', '2024-03', '2024-03-05']
        """
        return cls.from_builder(Dates() if units is None else read_builder({"dates": units}), values)

    @classmethod
    @raising_alone
    def from_ranges(cls, values: Iterable[Any], table: str | Path | Sequence[Sequence[str]]) -> Hierarchy:
        """Return the hierarchy of codes by a table of ranges, a CSV file or its rows; see `tclose.values.builders.Ranges`.

        >>> tree = Hierarchy.from_ranges(["A04.7", "A17"], [["A00-A09", "A00-B99"], ["A15-A19", "A00-B99"]])
        >>> [tree.labels[node] for node in tree.path(tree.leaf("A04.7"))]
        ['A00-B99', 'A00-A09', 'A04.7']
        """
        return cls.from_builder(read_builder({"ranges": table}), values)

    @classmethod
    def from_builder(cls, builder: Builder, values: Iterable[Any]) -> Hierarchy:
        """Return the hierarchy that a rule makes of the cells of a column, in the order of the rows; missing ones are ignored.

        Raise HierarchyError that names a value for which the rule has no place, and its row.
        """
        cells = list(values)
        tree = cls(joined(builder.paths(_distinct_cells(builder, cells))))
        tree.builder = builder if isinstance(builder, NumberBuilder) else None
        return tree

    @property
    def height(self) -> int:
        """The height of the root, H: the number of levels above the lowest leaf."""
        return self.heights[ROOT]

    def leaf(self, value: Any) -> int:
        """Return the number of the leaf of a value, found by its printed form; raise HierarchyError if there is none."""
        try:
            return self._leaf_nodes[printed(value)]
        except KeyError:
            raise HierarchyError(f"Value {printed(value)!r} is not in the hierarchy.") from None

    def __contains__(self, value: Any) -> bool:
        """Whether a value is a leaf of the hierarchy, found by its printed form."""
        return printed(value) in self._leaf_nodes

    def path(self, node: int) -> list[int]:
        """Return the numbers of the hierarchy's nodes from the root down to a node, both included."""
        path = [node]
        while path[-1] != ROOT:
            path.append(self.parents[path[-1]])
        return path[::-1]

    def find(self, label: str) -> int | None:
        """Return the number of the node with a label: its leaf, else its only inner node; None if none or several have it."""
        return self._leaf_nodes.get(label, self._inner_nodes.get(label))

    def to_mapping(self) -> dict[str, Any]:
        """Return the tree as nested mappings and lists, which `from_mapping` reads back."""

        def below(node: int) -> Any:
            children = self._children[node]
            if all(not self._children[child] for child in children.values()):
                return list(children)
            return {label: below(child) for label, child in children.items()}

        mapping = {self.labels[ROOT]: below(ROOT)}
        if not asks_for_builder(mapping) and why_no_tree(mapping) is None:
            return mapping
        # A policy would take what is below the root for a rule, or for groups: write it in the other form that a tree has.
        ((label, inside),) = mapping.items()
        below_root = inside if isinstance(inside, dict) else dict.fromkeys(inside)
        return {label: [{key: part} for key, part in below_root.items()] if label == GROUPS else below_root}

    def to_csv(self) -> str:
        """Return the text of a CSV file that ARX and `from_csv` read: ``value;parent;...;root``, without a header.

        Every row has the same number of cells, as ARX needs it: a value nearer to the root is repeated.

        >>> print(Hierarchy.from_mapping({"*": {"lung": ["flu", "cold"], "gout": None}}).to_csv(), end="")
        flu;lung;*
        cold;lung;*
        gout;gout;*
        """
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(self._rows())
        return text.getvalue()

    def preview(self, values: Iterable[Any], k: int = 5) -> list[Level]:
        """Return what the rows of a column become on each level of the hierarchy, from the values, level 0, to the root.

        >>> tree = Hierarchy.from_intervals([21, 23, 47], [10])
        >>> [(level.labels, level.fewest, level.most) for level in tree.preview([21, 23, 23, 47, None])]
        [(3, 1, 2), (2, 1, 3), (1, 4, 4)]
        """
        return self.levels(Counter(map(printed, values)), k)

    def levels(self, counts: Mapping[str, int], k: int) -> list[Level]:
        """Return what the rows of a column become on each level, from the number of rows that have each printed value."""
        return preview(self._rows(), counts, k)

    def plot(self) -> Any:
        """Return an Altair chart of the hierarchy as an outline: each label with the number of values below it.

        It needs the extra ``report``: ``pip install 'tclose[report]'``.

        >>> Hierarchy.from_prefixes(["47677", "47602", "479"]).plot()
        alt.LayerChart(...)
        """
        from tclose.report.plots import plot_hierarchy

        return plot_hierarchy(self)

    def __eq__(self, other: object) -> bool:
        """Whether two hierarchies have the same labels and parents in the same order."""
        return isinstance(other, Hierarchy) and (self.labels, self.parents) == (other.labels, other.parents)

    def __hash__(self) -> int:
        """Return a hash of all labels and parents, so that equal hierarchies have equal hashes."""
        return hash((tuple(self.labels), tuple(self.parents)))

    def __repr__(self) -> str:
        """Return the number of values and the height of the tree, for a person to read."""
        return f"<Hierarchy: {number_of(len(self.leaves), 'value')}, height {self.height}>"

    def _rows(self) -> list[list[str]]:
        """Return for each leaf its labels up to the root, in rows of equal length: a leaf nearer to the root is repeated."""
        paths = [self.path(self._leaf_nodes[leaf])[::-1] for leaf in self.leaves]
        depth = max(map(len, paths))
        return [[self.labels[node] for node in [path[0]] * (depth - len(path)) + path] for path in paths]

    def _number_nodes(self, roots: dict[str, Any]) -> None:
        """Number the nodes depth first: fill in the labels, parents and children of the tree from nested mappings."""
        waiting = [(-1, *next(iter(roots.items())))]
        while waiting:
            parent, label, below = waiting.pop()
            node = len(self.labels)
            self.labels.append(label)
            self.parents.append(parent)
            self._children.append({})
            if parent >= 0:
                self._children[parent][label] = node
            waiting += [(node, *item) for item in reversed(below.items())]


def node_names(hierarchy: Hierarchy) -> list[str | None]:
    """Return a name for each node that no other node has: its label, with the labels above it where nodes share a label.

    The leaf of missing cells, an empty label, is None.

    >>> node_names(Hierarchy.from_mapping({"*": {"x": {"other": ["a", "b"]}, "y": {"other": ["c"]}}}))
    ['*', 'x', 'other (x)', 'a', 'b', 'y', 'other (y)', 'c']
    """
    labels, inner = hierarchy.labels, [node for node, height in enumerate(hierarchy.heights) if height]
    shared = Counter(labels[node] for node in inner)
    shared.update(hierarchy.leaves)
    taken = {label for label, times in shared.items() if times == 1} | set(hierarchy.leaves)
    names: list[str | None] = [label or None for label in labels]
    open_nodes = [node for node in inner if shared[labels[node]] > 1 or not labels[node]]
    ways = {node: [labels[above] for above in reversed(hierarchy.path(node)[:-1])] or ["all"] for node in open_nodes}
    length = 1
    while open_nodes:
        proposed = {node: f"{labels[node]} ({', '.join(ways[node][:length])})".strip() for node in open_nodes}
        times = Counter(proposed.values())
        for node, name in proposed.items():
            if length > len(ways[node]):  # even the whole way is a label of the file
                name = next(text for text in (f"{name} {number}" for number in range(2, len(labels) + 3)) if text not in taken)
            elif times[name] > 1 or name in taken:
                continue
            names[node] = name
            taken.add(name)
        open_nodes = [node for node in open_nodes if names[node] == (labels[node] or None)]
        length += 1
    return names


def above(hierarchy: Hierarchy, names: Iterable[str]) -> Hierarchy:
    """Return the part of a hierarchy with the nodes of some names (see `node_names`) and all nodes above them.

    Names that it does not have are ignored.

    >>> tree = Hierarchy.from_mapping({"*": {"x": ["a", "b"], "y": {"z": ["c"]}}})
    >>> above(tree, ["a", "y"]).to_mapping()
    {'*': {'x': ['a'], 'y': []}}
    """
    labels = [name or "" for name in node_names(hierarchy)]
    nodes = {label: node for node, label in enumerate(labels)}
    kept = {ROOT}.union(*(hierarchy.path(nodes[name]) for name in set(names) if name in nodes))
    lowest = sorted(kept - {hierarchy.parents[node] for node in kept})
    return Hierarchy([labels[node] for node in hierarchy.path(leaf)] for leaf in lowest)


def joined(paths: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield paths of labels in which labels that repeat their neighbour are one: an interval with one number is that number."""
    return ([label for label, _ in groupby(path)] for path in paths)


def _distinct_cells(builder: Builder, cells: Iterable[Any]) -> list[Any]:
    """Return the distinct values of cells; raise HierarchyError for the first that a rule has no place for, with its row."""
    distinct: dict[str, Any] = {}
    for row, cell in enumerate(cells, 1):
        text = printed(cell)
        if cell is None or text in distinct:
            continue
        needed = builder.requirement(cell)
        if needed is not None:
            raise HierarchyError(f"a value must {needed}. Got {got(text)} in row {row:,}. {builder.remedy}.")
        distinct[text] = cell
    return list(distinct.values())


def _add_path(roots: dict[str, Any], path: Sequence[str]) -> int:
    """Add a path of labels, from the root down, to the nested mappings of a tree; return the number of new labels."""
    if roots and path[0] not in roots:
        raise HierarchyError(f"a hierarchy must have one root. Got {next(iter(roots))!r} and {path[0]!r}.")
    level, new, count = roots, False, 0
    for index, label in enumerate(path):
        if index and not new and not level:
            raise HierarchyError(f"a value cannot stand above others. Got {path[index - 1]!r} as a value and above {label!r}.")
        new = label not in level
        count += new
        level = level.setdefault(label, {})
    if not new:
        what = "as a value and above others" if level else "twice"
        raise HierarchyError(f"a value must occur once. Got {path[-1]!r} {what}.")
    return count


def _may_have_header(text: str) -> bool:
    """Whether the first line of a hierarchy's CSV file may be a header: all other lines share a root that it does not have."""
    try:
        first, *others = (path[0] for path in _csv_paths(text))
    except (HierarchyError, csv.Error, ValueError):
        return False
    return len(others) > 1 and len(set(others)) == 1 and first != others[0]


def _csv_paths(text: str) -> Iterator[list[str]]:
    """Return the paths of labels in a hierarchy's CSV file, one per row, each from the root down."""
    return (_path_of_row(row, line) for line, row in rows_of(text))


def _path_of_row(row: list[str], line: int) -> list[str]:
    """Return the labels of a CSV row from the root down; empty cells at its end and repeated neighbours are filling."""
    cells = list(row)
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    if "" in cells[1:]:
        raise HierarchyError(f"line {line} has an empty cell between its labels. Fill it or leave it out.")
    return [label for label, _ in groupby(reversed(cells))]


def _paths_below(tree: Any, above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yield the paths of labels, from the root down, of a nested mapping that stands below the labels ``above``."""
    if isinstance(tree, Mapping) and tree:
        for label, below in tree.items():
            yield from _paths_below(below, (*above, printed(label)))
    elif isinstance(tree, list | tuple) and tree:
        for item in tree:
            if isinstance(item, Mapping):
                yield from _paths_below(item, above)
            elif isinstance(item, list | tuple):
                raise HierarchyError(f"below {above[-1] if above else '*'!r} a list of values must not hold a list. Got one.")
            else:
                yield (*above, printed(item))
    elif tree is None or (isinstance(tree, list | tuple | Mapping) and not tree):
        yield above
    else:
        raise HierarchyError(f"below {above[-1]!r} a hierarchy must have a list or a mapping. Got {type(tree).__name__}.")
