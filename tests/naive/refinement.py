"""Refinement by trying out all assignments of rows to classes, and by a linear program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from tests.naive.edges import Row, box_of, inside


def assignments(
    rows: Sequence[Row], labels: Sequence[int], country_of: Mapping[str, str], *, ends: bool
) -> list[tuple[int, ...]]:
    """All assignments of rows to classes that fit what is published: boxes and sizes; with ``ends``, exactly these boxes."""
    boxes = {label: box_of([row for row, own in zip(rows, labels, strict=True) if own == label], country_of) for label in labels}
    found = []
    for tried in product(sorted(boxes), repeat=len(rows)):
        fits = Counter(tried) == Counter(labels) and all(inside(row, boxes[own]) for row, own in zip(rows, tried, strict=True))
        if fits and ends:
            parts = {label: [row for row, own in zip(rows, tried, strict=True) if own == label] for label in boxes}
            fits = all(box_of(part, country_of) == boxes[label] for label, part in parts.items())
        if fits:
            found.append(tried)
    return found


def possible(allowed: Any, flow: Any, least: Any) -> Any:
    """Which allowed pairs have flow in some feasible flow, by a linear program for each (flows are integral at its corners)."""
    people, classes = flow.shape
    sums = np.concatenate([np.kron(np.eye(people), np.ones(classes)), np.kron(np.ones(people), np.eye(classes))])
    found = np.zeros_like(allowed)
    for pair in zip(*np.nonzero(allowed), strict=True):
        low = least.copy()
        low[pair] = max(low[pair], 1)
        bounds = [(low[cell], None if allowed[cell] else 0) for cell in np.ndindex(people, classes)]
        tried = linprog(np.zeros(flow.size), A_eq=sums, b_eq=[*flow.sum(axis=1), *flow.sum(axis=0)], bounds=bounds)
        found[pair] = tried.status == 0
    return found
