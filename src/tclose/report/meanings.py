"""Meanings: what the limits of a release mean, for a reader who never read a paper; what t means depends on the distance."""

from __future__ import annotations

from collections.abc import Mapping

from tclose.judge.result import Audit
from tclose.policy.models import NAMED
from tclose.report.labels import listed, quoted

PLAINLY = {
    "k": "k: at least this many {} of each class look alike in all quasi-identifiers.",
    "t": "t: how far the sensitive values of a class may be from those of the whole table. It is 0 if both have the same "
    "distribution, and 1 if they are as far apart as can be.",
    "l_distinct": "l: at least this many different values occur in each class.",
    "share": "alpha: no value has a larger share in a class.",
}
"""What models mean."""

ALONG_AN_ORDER = (
    "values have an order, and near values count as nearly the same. A class is at 0.2, for example, if a fifth of it would have "
    "to move across the whole range of values for it to be like the table, or two fifths half as far"
)
ALONG = ("ordered", "numeric")
"""Distances along an order: of two values they are the same as the equal distance."""
BY_DISTANCE = {
    "equal": "all values are equally far apart. A class is at 0.2, for example, if a fifth of it would need other values to be "
    "like the table. So no value's share in a class is farther than t from its share in the table: with a t of 0.2, a value that "
    "30% of all rows have is that of 10% to 50% of a class",
    "ordered": ALONG_AN_ORDER,
    "numeric": ALONG_AN_ORDER,
    "hierarchical": "values of one small group of the hierarchy are near, and values that only the whole has in common are far. "
    "A class is at 0.2, for example, if a fifth of it would have to move as far as can be for it to be like the table, or two "
    "fifths half as far",
    "matrix": "the publisher gave the distance of each two values. A class is at 0.2, for example, if a fifth of it would have "
    "to move by a distance of 1 for it to be like the table, or two fifths half as far",
}
"""What t says, by the distance of a sensitive column."""


def meanings_of(audit: Audit, values: Mapping[str, int], counted: str = "rows") -> list[str]:
    """Return what the limits that were asked mean, in sentences; t once for each kind of distance.

    Parameters
    ----------
    values
        How many values each sensitive column has.
    counted
        What k counts: "rows" or "persons".
    """
    used = dict.fromkeys(NAMED[judgement.model] for judgement in audit.judgements)
    said = []
    for model in used:
        if model.key in PLAINLY or model.meaning:
            said.append((PLAINLY.get(model.key) or model.meaning).format(counted))
        if model.key == "t":
            said += _by_distance(audit, values)
    return said


def _by_distance(audit: Audit, values: Mapping[str, int]) -> list[str]:
    """Return what t says of each sensitive column that has one; columns whose distance says the same share a sentence."""
    alike: dict[str, list[str]] = {}
    for column in audit.policy.sensitive:
        distance = audit.sensitive[column.name].distance
        words = BY_DISTANCE.get("equal" if values[column.name] <= 2 and distance in ALONG else distance)
        if column.t is not None and words is not None:
            alike.setdefault(words, []).append(quoted(column.name))
    return [f"t of {listed(names)}: {words}." for words, names in alike.items()]
