"""Frames for analysts: published ranges as numbers or dates that can be computed with, and labels as categories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa

from tclose.errors import one_of
from tclose.make.scales.line import OR_MISSING
from tclose.policy import Policy
from tclose.tables.readings import Reading

if TYPE_CHECKING:
    import pandas as pd

NUMERIC = ("midpoint", "bounds")
NUMBERS, MOMENTS = ("integer", "decimal", "float"), ("date", "timestamp")
"""Kinds of columns whose published ranges have a middle."""
_RANGE = re.compile(r"\[(.+), (.+)[\])]")
_OPEN = re.compile(r"(.+) or (more|less)|less than (.+)")


class Ends(NamedTuple):
    """The ends of a published range as they are written; None for an open end, or if nothing is known."""

    low: str | None
    high: str | None


def ends_of(label: str | None) -> Ends:
    """Return the ends of a published range.

    >>> ends_of("[25, 34]"), ends_of("[20, 30)"), ends_of("27"), ends_of("90 or more or missing")
    (Ends(low='25', high='34'), Ends(low='20', high='30'), Ends(low='27', high='27'), Ends(low='90', high=None))
    >>> ends_of("less than 20"), ends_of("any value"), ends_of(None)
    (Ends(low=None, high='20'), Ends(low=None, high=None), Ends(low=None, high=None))
    """
    if label is None or label.removesuffix(OR_MISSING) in ("any value", "*"):
        return Ends(None, None)
    label = label.removesuffix(OR_MISSING)
    if found := _RANGE.fullmatch(label):
        return Ends(found[1], found[2])
    if found := _OPEN.fullmatch(label):
        return Ends(found[1], None) if found[2] == "more" else Ends(None, found[1] or found[3])
    return Ends(label, label)


def frame_of(
    coded: pa.Table, policy: Policy, readings: dict[str, Reading], numeric: Literal["midpoint", "bounds"]
) -> pd.DataFrame:
    """Return a release as a pandas frame to compute with.

    Parameters
    ----------
    coded : pyarrow.Table
        The release with its columns as dictionaries.
    policy : Policy
    readings : dict of Reading
        What each quasi-identifier was read as: numbers and dates have a middle.
    numeric
        "midpoint": a range becomes its middle, one that is open at one side its other end. "bounds": it becomes two columns,
        ``age.min`` and ``age.max``, empty where a range is open. Labels of hierarchies and sets become categories.
    """
    import pandas as pd

    one_of("numeric", numeric, NUMERIC)
    quasi = {column.name: column for column in policy.quasi}
    found: dict[str, Any] = {}
    for name in coded.column_names:
        column = coded[name].combine_chunks()
        asked = quasi.get(name)
        if asked is None:
            found[name] = column.dictionary_decode().to_pandas()
        elif asked.hierarchy is None and asked.recode == "range" and readings[name].kind in (*NUMBERS, *MOMENTS):
            low, high = _bounds(column, moments=readings[name].kind in MOMENTS)
            if numeric == "midpoint":
                found[name] = (low + (high - low) / 2).fillna(low).fillna(high)
            else:
                found |= {f"{name}.min": low, f"{name}.max": high}
        elif pa.types.is_string(column.dictionary.type):
            found[name] = column.to_pandas()
        else:
            found[name] = column.dictionary_decode().to_pandas()
    return pd.DataFrame(found)


def _bounds(column: Any, *, moments: bool) -> tuple[Any, Any]:
    """Return the low and the high ends of a column of labels, as numbers or moments; missing where a range is open."""
    import pandas as pd

    ends = [ends_of(None if value is None else str(value)) for value in column.dictionary.to_pylist()]
    indices = column.indices.to_pandas()
    read = pd.to_datetime if moments else pd.to_numeric
    sides = [read(pd.Series([end[side] for end in ends], dtype="object")) for side in (0, 1)]
    if not moments:
        sides = [side.astype("float64") for side in sides]
    low, high = (indices.map(side) for side in sides)
    return low, high
