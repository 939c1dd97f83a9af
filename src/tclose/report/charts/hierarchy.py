"""A hierarchy, drawn as an outline: each label below the one that stands for it, with the number of values that it covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tclose.report.charts.frame import PADDING, WIDTH, Spec, frame, text_layer
from tclose.report.labels import labels_of, listed, width_of
from tclose.report.look import LINE, SKY
from tclose.values.exact import number_of

MOST = 36
"""Lines of the outline, at most."""
LINE_HEIGHT = 21
ROOM = WIDTH - 2 * PADDING


def hierarchy_tree(labels: Sequence[str], parents: Sequence[int], *, rows: Mapping[str, int] | None = None) -> Spec:
    """Return a chart of a hierarchy: the levels that have room, from the top down.

    Parameters
    ----------
    labels
        Of each node; the first is the root, and parents come before their children.
    parents
        The index of each node's parent; that of the root is ignored.
    rows : mapping, optional
        The rows of a table at each value; by default values are counted.
    """
    children: list[list[int]] = [[] for _ in labels]
    depths = [0] * len(labels)
    for node in range(1, len(labels)):
        children[parents[node]].append(node)
        depths[node] = depths[parents[node]] + 1
    covered = [0 if below else 1 if rows is None else int(rows.get(labels[node], 0)) for node, below in enumerate(children)]
    for node in range(len(labels) - 1, 0, -1):
        covered[parents[node]] += covered[node]
    sizes = [depths.count(depth) for depth in range(max(depths) + 1)]
    deepest = next((depth for depth in range(len(sizes)) if sum(sizes[: depth + 2]) > MOST), len(sizes) - 1)
    deepest = max(deepest, 1) if len(sizes) > 1 else 0
    outline = [node for node in range(len(labels)) if depths[node] <= deepest]
    hidden = max(len(outline) - MOST, 0)
    outline = outline[: MOST - bool(hidden)]
    unit = "value" if rows is None else "row"
    values = sum(not below for below in children)
    title = f"A hierarchy of {number_of(values, 'value')} on {number_of(len(sizes), 'level')}"
    levels = listed([f"{size:,}" for size in sizes], 12)
    notes = [f"Labels on each level, from the top down: {levels}."]
    if hidden:
        notes.append(f"{number_of(hidden + 1, 'label')} of this level are not shown.")
    if deepest < len(sizes) - 1:
        verb = "is" if deepest == len(sizes) - 2 else "are"
        notes.append(f"{number_of(len(sizes) - 1 - deepest, 'level')} below {verb} not shown.")
    indent = min(22.0, 150 / max(deepest, 1))
    counts = [number_of(covered[node], unit) for node in outline]
    room = ROOM - max(map(width_of, counts)) - 12
    by_depth: dict[int, list[int]] = {}
    for node in outline:
        by_depth.setdefault(depths[node], []).append(node)
    named = {
        node: label
        for depth, nodes in by_depth.items()
        for node, label in zip(
            nodes, labels_of([labels[node] or None for node in nodes], room - indent * depth - 14), strict=True
        )
    }
    places = {node: (indent * depths[node] + 5, index) for index, node in enumerate(outline)}
    said = "; ".join(f"{named[node]}: {count}" for node, count in zip(outline, counts, strict=True))
    return frame(
        title,
        f"{said}.",
        height=LINE_HEIGHT * len(outline),
        layers=[
            _branches(outline, parents, places),
            _points(outline, places),
            *_texts(outline, places, named, counts),
        ],
        notes=notes,
    )  # fmt: skip


def _axes(count: int) -> Spec:
    """Return the encoding of pixels from the left, and of lines from the top."""
    return {
        "x": {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, ROOM], "nice": False}},
        "y": {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [count - 0.5, -0.5], "nice": False}},
    }


def _branches(outline: list[int], parents: Sequence[int], places: dict[int, tuple[float, int]]) -> Spec:
    """Return a line from each parent down to its last child, and one from there to each child."""
    lines = []
    lowest: dict[int, int] = {}
    for node in outline[1:]:
        (x, y), (start, _) = places[node], places[parents[node]]
        lines.append({"x": start, "y": y, "x2": x, "y2": y})
        lowest[parents[node]] = y
    lines += [{"x": places[node][0], "y": places[node][1], "x2": places[node][0], "y2": last} for node, last in lowest.items()]
    return {
        "data": {"values": lines},
        "mark": {"type": "rule", "color": LINE},
        "encoding": {**_axes(len(outline)), "x2": {"field": "x2"}, "y2": {"field": "y2"}},
    }


def _points(outline: list[int], places: dict[int, tuple[float, int]]) -> Spec:
    """Return a point for each label."""
    points = [{"x": places[node][0], "y": places[node][1]} for node in outline]
    mark = {"type": "point", "filled": True, "color": SKY, "size": 50, "opacity": 1}
    return {"data": {"values": points}, "mark": mark, "encoding": _axes(len(outline))}


def _texts(outline: list[int], places: dict[int, tuple[float, int]], named: dict[int, str], counts: list[str]) -> list[Spec]:
    """Return the label of each node beside its point, and its number of values at the right."""
    axes = _axes(len(outline))
    names = [{"text": named[node], "x": places[node][0], "y": places[node][1]} for node in outline]
    numbers = [{"text": count, "x": ROOM, "y": places[node][1]} for node, count in zip(outline, counts, strict=True)]
    return [
        text_layer(names, axes, align="left", baseline="middle", dx=9),
        text_layer(numbers, axes, align="right", baseline="middle"),
    ]
