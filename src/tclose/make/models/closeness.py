"""t-closeness, and (n,t)-closeness, of one tallied column: whether it is satisfied, exactly, and its excess."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.make.emd import exact_emd
from tclose.make.kernels.compiling import once
from tclose.make.kernels.emd import one, work
from tclose.make.kernels.scratch import Scratch
from tclose.make.kernels.shapes import TREE, UNLIMITED, shape_of
from tclose.make.kernels.small import at_most
from tclose.make.models.base import NEAR, AgainstTable, rounded_down
from tclose.policy import Policy, Sensitive
from tclose.values.arrays import Bools, Ints
from tclose.values.exact import INT64_MAX

if TYPE_CHECKING:
    from tclose.make.encode import Attribute
    from tclose.make.kernels.limits import Limits


@once
def satisfies_t(attribute: Any, shapes: Ints, references: Ints, size: int, scratch: Scratch, touched: Ints) -> bool:
    """Return whether a tallied class of ``size`` rows is within t of one of the references. May sort the touched values.

    ``references`` has a row for each table or region; the last is tried first.
    """
    near, region = False, len(references)
    while region > 0 and not near:
        region -= 1
        whole, rough = work(attribute, shapes, references[region], size, scratch, touched)
        n = references[region, attribute.reference]
        if size <= attribute.largest_exact:
            near = at_most(whole, n * size * attribute.scale, attribute.t_above, attribute.t_below)
        else:
            near = rough / one(attribute, n, size) <= attribute.t_above / attribute.t_below - NEAR
    return near


@once
def excess_of_t(limits: Limits, attribute: Any, size: int, scratch: Scratch, touched: Ints) -> float:
    """Return max(0, EMD - t), against the nearest of the references. May sort the touched values."""
    nearest = np.inf
    for region in range(len(limits.references)):
        reference = limits.references[region]
        _, rough = work(attribute, limits.shapes, reference, size, scratch, touched)
        nearest = min(nearest, rough / one(attribute, reference[attribute.reference], size))
    excess: float = max(0.0, nearest - attribute.t_above / attribute.t_below)
    return excess


def limits_t(attributes: NDArray[Any]) -> Bools:
    """Return which attributes have a limit on t."""
    limited: Bools = attributes["kind"] != UNLIMITED
    return limited


def least_t(limits: Limits) -> float:
    """Return the least limit on t; 1 if there is none."""
    limited = limits.attributes[limits_t(limits.attributes)]
    least: float = (limited["t_above"] / limited["t_below"]).min(initial=1.0)
    return least


def tightened(limits: Limits, share: Fraction) -> Limits:
    """Return the same limits with every t times a share, for algorithms that leave slack for later stages."""
    attributes = limits.attributes.copy()
    for record in attributes:
        t = Fraction(int(record["t_above"]), int(record["t_below"])) * share
        record["t_above"], record["t_below"] = rounded_down(t)
    return limits._replace(attributes=attributes)


def _fill(_: Policy, attribute: Attribute) -> Mapping[str, float | Ints]:
    t, distance, m, n = attribute.column.t, attribute.distance, len(attribute.counts), int(attribute.counts.sum())
    if t is None or distance.scale == 0:
        return {}
    above, below = rounded_down(t)
    kind, scale, shape = shape_of(distance, max(n, len(attribute.codes)))
    return {
        "kind": kind,
        "nodes": (len(shape) - m) // 2 if kind == TREE else 0,
        "scale": scale,
        # With a shape that was rounded to fit, no class is compared exactly.
        "largest_exact": INT64_MAX // (n * scale) if n and scale == distance.scale else 0,
        "t_above": above,
        "t_below": below,
        "shape": shape,
    }


def _is_far(t: Fraction, _: Sensitive, distance: Distance, counts: Ints, table: Ints) -> bool:
    """Whether the earth mover's distance is above t."""
    return exact_emd(distance, counts, table) > t


FAMILY = AgainstTable(
    unlimited={
        "kind": UNLIMITED,
        "nodes": 0,  # number of nodes of a tree
        "scale": 0,  # n * s * scale * EMD is an integer
        "largest_exact": 0,  # the largest class whose n * s * scale fits into 64 bits
        "t_above": 1,
        "t_below": 1,
        "shape": 0,  # where its part of `Limits.shapes` starts
    },
    fill=_fill,
    breaks={"t": _is_far},
)
