"""Privacy models as the makers know them: the limits of a sensitive column, one module for each family of models.

A module has the compiled check of its family, which never passes a class that an exact judge refuses, the excess, which says how
far a class is from satisfying it, and a `Family`: the numbers that both read, and the exact check of one class, for feasibility.
Here, and nowhere else, the families are listed and called; Numba needs the calls spelt out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tclose.make.kernels.compiling import once
from tclose.make.kernels.scratch import Scratch
from tclose.make.kernels.shapes import UNLIMITED
from tclose.make.models import closeness, diversity, lift, share
from tclose.make.models.base import AgainstTable, Family, OnClass
from tclose.make.models.closeness import excess_of_t, satisfies_t
from tclose.make.models.diversity import excess_of_l, satisfies_l
from tclose.make.models.lift import excess_of_lift, satisfies_lift
from tclose.make.models.share import excess_of_alpha, satisfies_alpha
from tclose.policy.models import REGION
from tclose.values.arrays import Codes, Ints

if TYPE_CHECKING:
    from tclose.make.kernels.limits import Limits

ON_CLASS: tuple[OnClass, ...] = (share.FAMILY, diversity.FAMILY)
AGAINST_TABLE: tuple[AgainstTable, ...] = (closeness.FAMILY, lift.FAMILY)

COLUMN = np.dtype(
    [
        ("first", np.int64),  # its first attribute; the column has one for each table that it is compared with
        ("last", np.int64),  # the index after its last attribute
        ("size", np.int64),  # m
        *(field for family in ON_CLASS for field in family.fields),
    ]
)
"""The limits of one sensitive column on its values alone. A limit x is stored as x_above / x_below."""

ATTRIBUTE = np.dtype(
    [
        ("size", np.int64),  # m
        ("occurring", np.int64),  # number of values that occur in the table
        ("reference", np.int64),  # where its part of a row of `Limits.references` starts
        *(field for family in AGAINST_TABLE for field in family.fields),
    ]
)
"""The limits of one column against one table."""

FAR = {key: breaks for family in AGAINST_TABLE for key, breaks in family.breaks.items()}
"""By the key of a privacy model: whether a class breaks its limit, from its counts and those of the table."""

UNEVEN = {key: breaks for family in ON_CLASS for key, breaks in family.breaks.items()}
"""By the key of a privacy model: whether a class breaks its limit, from its counts alone."""

REGISTERED = {"k", REGION, *FAR, *UNEVEN}
"""The keys of the privacy models that the makers check. k is checked by `satisfies`, (n,t)-closeness as t is."""


@once
def satisfies_all(limits: Limits, references: Ints, number: int, rows: Codes, size: int, scratch: Scratch, touched: Ints) -> bool:
    """Return whether a tallied column satisfies its limits. Those that are cheap to check, and fail most often, come first."""
    no_region = limits.n == 0 or size < limits.n  # a class of n rows is a region itself, at distance 0
    column = limits.columns[number]
    fine = satisfies_alpha(column, size, scratch.counts, touched)
    for index in range(column.first, column.last):
        attribute = limits.attributes[index]
        if fine and (attribute.beta_kind > 0 or attribute.delta_kind > 0):
            fine = satisfies_lift(attribute, limits.references, size, scratch.counts, touched)
        if fine and no_region and attribute.kind != UNLIMITED:
            fine = satisfies_t(attribute, limits.shapes, references, size, scratch, touched)
    if fine and column.l_kind > 0:
        fine = satisfies_l(limits, number, rows, scratch, touched)
    return fine


@once
def excess_of_all(limits: Limits, number: int, size: int, scratch: Scratch, touched: Ints) -> float:
    """Return the sum of the excesses of a tallied column. The order in which they are added decides ties in growth."""
    column, counts = limits.columns[number], scratch.counts
    total = excess_of_alpha(column, size, counts, touched)
    for index in range(column.first, column.last):
        attribute = limits.attributes[index]
        if attribute.beta_kind > 0 or attribute.delta_kind > 0:
            table = limits.references[0, attribute.reference : attribute.reference + 1 + attribute.size]
            total += excess_of_lift(attribute, table[0], table[1:], size, counts, touched)
        if attribute.kind == UNLIMITED or size >= limits.n > 0:  # a class of n rows is a region itself, at distance 0
            continue
        total += excess_of_t(limits, attribute, size, scratch, touched)
    if column.l_kind > 0:
        total += excess_of_l(column, size, counts, touched, scratch.spare)
    return total


def without(limits: Limits, *families: Family) -> Limits:
    """Return the same limits without those of some families."""
    return limits._replace(columns=_unlimited(limits.columns, families), attributes=_unlimited(limits.attributes, families))


def only(limits: Limits, family: Family) -> Limits:
    """Return the same limits, but on the values of sensitive columns those of one family alone."""
    return without(limits, *(other for other in (*ON_CLASS, *AGAINST_TABLE) if other is not family))


def _unlimited(records: NDArray[Any], families: tuple[Family, ...]) -> NDArray[Any]:
    changed = records.copy()
    for family in families:
        for name in family.unlimited.keys() & set(records.dtype.names or ()):
            changed[name] = family.unlimited[name]
    return changed
