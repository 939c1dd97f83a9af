"""t-closeness, and (n,t)-closeness, of one tallied column: whether it is satisfied, exactly, and its excess."""

from __future__ import annotations

from typing import Any

import numpy as np

from tclose.make.kernels.compiling import once
from tclose.make.kernels.emd import one, work
from tclose.make.kernels.limits import NEAR, Limits
from tclose.make.kernels.scratch import Scratch
from tclose.make.kernels.small import at_most
from tclose.values.arrays import Ints


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
