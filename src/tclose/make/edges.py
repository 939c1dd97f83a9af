"""Edges: how many persons must attain an end of a published range, and the grids that other ends are moved to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tclose.errors import InfeasibleError, PolicyError
from tclose.make.encode import EncodedTable
from tclose.make.scales import Line
from tclose.make.scales.grids import Grid, choose_grid, coarsest_grid
from tclose.make.scales.rulers import Clock
from tclose.policy import Policy


def can_move_ends(table: EncodedTable, policy: Policy) -> None:
    """Raise PolicyError where the ends of ranges cannot be moved: times of day have no grid."""
    for scale in table.scales:
        if policy.edges > 1 and isinstance(scale, Line) and scale.has_ends and isinstance(scale.ruler, Clock):
            raise PolicyError(
                f"edges={policy.edges} moves ends of ranges to a grid, and times of day have none. Give {scale.name!r} a "
                "hierarchy or recode: set, or leave edges out."
            )


def with_edges(table: EncodedTable, policy: Policy) -> EncodedTable:
    """Return the rows that are published, on scales that move the ends of ranges as the policy asks.

    A column with a ``snap`` has its own grid. For another one it is that of ``snap: auto``, chosen from the published rows, so
    that it tells nothing of suppressed ones; where no grid has k persons in each cell, it is the coarsest.
    """
    if policy.edges == 1:
        return table
    return with_edge_grids(table, policy.edges, _chosen_grids(table, policy.k or 1))


def with_edge_grids(table: EncodedTable, edges: int, grids: Mapping[str, Grid]) -> EncodedTable:
    """Return a table on scales that move ends which fewer than ``edges`` persons attain, to given grids of the columns."""
    scales = [scale.with_edges(edges, grids.get(scale.name)) if isinstance(scale, Line) else scale for scale in table.scales]
    return table if edges == 1 else replace(table, scales=scales)


def edge_grids(table: EncodedTable) -> dict[str, Grid]:
    """Return the grids that ends of ranges are moved to, by the name of the quasi-identifier."""
    lines = [scale for scale in table.scales if isinstance(scale, Line)]
    return {scale.name: scale.edge_grid for scale in lines if scale.edge_grid is not None}


def edge_settings(table: EncodedTable) -> dict[str, dict[str, Any]]:
    """Return the snap, top and bottom of the grids that ends of ranges are moved to, by the name of the quasi-identifier."""
    found = {}
    for scale in table.scales:
        if isinstance(scale, Line) and scale.edge_grid is not None and scale.ruler is not None:
            limits = [None if unit is None else scale.ruler.limit(unit) for unit in scale.edge_grid.limits(scale.ruler)]
            found[scale.name] = {"snap": scale.edge_grid.snap, "bottom": limits[0], "top": limits[1]}
    return found


def _chosen_grids(table: EncodedTable, k: int) -> dict[str, Grid]:
    """Return the grid of each quasi-identifier that is published as ranges and has none; no sensitive value is looked at."""
    found = {}
    for scale, codes in zip(table.scales, table.quasi, strict=True):
        if not isinstance(scale, Line) or not scale.has_ends or scale.settings["snap"] is not None:
            continue
        # Values beyond a limit are published as one, and their ends stay.
        inside = [code for code, atom in enumerate(scale.atoms) if not atom.beyond]
        if inside:
            values = [scale.atoms[code].shown for code in inside]
            ranks = np.full(scale.size, len(inside))
            ranks[inside] = np.arange(len(inside))
            try:
                # Bounds are values: they cannot be open.
                grid = choose_grid(scale.name, values, ranks[codes], table.persons, k, ends=scale.recode == "range")
            except InfeasibleError:
                grid = coarsest_grid(scale.name, values)
            assert grid is not None
            found[scale.name] = grid
    return found
