"""Edges: how many persons must attain an end of a published range, and the grids that other ends are moved to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tclose.errors import InfeasibleError, PolicyError
from tclose.make.encode import Codes, EncodedTable
from tclose.make.scales import Line, Scale
from tclose.make.scales.grids import Grid, People, coarsest_grid, grid_for, people_of_rows
from tclose.make.scales.rulers import Clock
from tclose.policy import Policy
from tclose.values.arrays import Ints


def can_move_ends(scales: Sequence[Scale], policy: Policy) -> None:
    """Raise PolicyError where the ends of ranges cannot be moved: times of day have no grid."""
    for scale in scales:
        if policy.edges > 1 and isinstance(scale, Line) and scale.has_ends and isinstance(scale.ruler, Clock):
            raise PolicyError(
                f"edges={policy.edges} moves ends of ranges to a grid, and times of day have none. Give {scale.name!r} a "
                "hierarchy or recode: set, or leave edges out."
            )


def with_edges(table: EncodedTable, policy: Policy) -> EncodedTable:
    """Return the rows that are published, on scales that move the ends of ranges as the policy asks."""
    if policy.edges == 1:
        return table
    grids: dict[str, Grid] = {}
    for scale, codes in zip(table.scales, table.quasi, strict=True):

        def people(indexes: Ints, size: int, codes: Codes = codes) -> People:
            """Return the persons who are published, by an index of each code."""
            return people_of_rows(size, indexes[codes], table.persons)

        grid = edge_grid(scale, policy.k or 1, people)
        grids |= {} if grid is None else {scale.name: grid}
    return with_edge_grids(table, policy.edges, grids)


def edge_grid(scale: Scale, k: int, people: Callable[[Ints, int], People]) -> Grid | None:
    """Return the grid to which the ends of a quasi-identifier's ranges are moved; None if it has none, or no ranges.

    A column with a ``snap`` has its own grid. For another one it is that of ``snap: auto``, chosen from the published rows, so
    that it tells nothing of suppressed ones; where no grid has k persons in each cell, it is the coarsest. No sensitive value is
    looked at.

    Parameters
    ----------
    people
        Returns the persons who are published, by an index of each code: below a size, or equal to it, for no value.
    """
    if not isinstance(scale, Line) or not scale.has_ends or scale.settings["snap"] is not None:
        return None
    # Values beyond a limit are published as one, and their ends stay.
    inside = [code for code, atom in enumerate(scale.atoms) if not atom.beyond]
    if not inside:
        return None
    values = [scale.atoms[code].shown for code in inside]
    indexes = np.full(scale.size, len(inside))
    indexes[inside] = np.arange(len(inside))
    try:
        # Bounds are values: they cannot be open.
        return grid_for(scale.name, values, people(indexes, len(inside)), k, ends=scale.recode == "range")
    except InfeasibleError:
        return coarsest_grid(scale.name, values)


def with_edge_grids(table: EncodedTable, edges: int, grids: Mapping[str, Grid]) -> EncodedTable:
    """Return a table on scales that move ends which fewer than ``edges`` persons attain, to given grids of the columns."""
    return replace(table, scales=[moving_ends(scale, edges, grids.get(scale.name)) for scale in table.scales])


def moving_ends(scale: Scale, edges: int, grid: Grid | None) -> Scale:
    """Return the scale that moves ends which fewer than ``edges`` persons attain, to a given grid, where it has ends."""
    return scale.with_edges(edges, grid) if edges > 1 and isinstance(scale, Line) else scale


def edge_grids(scales: Sequence[Scale]) -> dict[str, Grid]:
    """Return the grids that ends of ranges are moved to, by the name of the quasi-identifier."""
    lines = [scale for scale in scales if isinstance(scale, Line)]
    return {scale.name: scale.edge_grid for scale in lines if scale.edge_grid is not None}


def edge_settings(scales: Sequence[Scale]) -> dict[str, dict[str, Any]]:
    """Return the snap, top and bottom of the grids that ends of ranges are moved to, by the name of the quasi-identifier."""
    found = {}
    for scale in scales:
        if isinstance(scale, Line) and scale.edge_grid is not None and scale.ruler is not None:
            limits = [None if unit is None else scale.ruler.limit(unit) for unit in scale.edge_grid.limits(scale.ruler)]
            found[scale.name] = {"snap": scale.edge_grid.snap, "bottom": limits[0], "top": limits[1]}
    return found
