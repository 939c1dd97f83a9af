"""The attack by edges, person by person: who alone can be the end of a range, or a member of a set?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[int | None, str, str]
"""An age, which may be missing; a job; and a town."""


def box_of(rows: Sequence[Row], country_of: Mapping[str, str]) -> dict[str, Any]:
    """What is published of a class: the range of ages and whether some are missing, the set of jobs, the towns of the label."""
    ages = [age for age, _, _ in rows if age is not None]
    towns = {town for _, _, town in rows}
    countries = {country_of[town] for town in towns}
    if len(towns) > 1:
        towns = {town for town, country in country_of.items() if country in countries or len(countries) > 1}
    ends = (min(ages), max(ages)) if ages else None
    return {"ages": ends, "missing": len(ages) < len(rows), "jobs": {job for _, job, _ in rows}, "towns": towns}


def inside(row: Row, box: Mapping[str, Any]) -> bool:
    """Whether the published values of a class may stand for a row."""
    age, job, town = row
    fits = box["missing"] if age is None else box["ages"] is not None and box["ages"][0] <= age <= box["ages"][1]
    return fits and job in box["jobs"] and town in box["towns"]


def pinned(rows: Sequence[Row], labels: Sequence[int], persons: Sequence[int], country_of: Mapping[str, str]) -> set[int]:
    """The rows whose class is proven: one person alone, of all in the box, can have a value that somebody in the class has."""
    found = set()
    for label in {label for label in labels if label >= 0}:
        box = box_of([row for row, own in zip(rows, labels, strict=True) if own == label], country_of)
        claims: list[tuple[int, Any]] = [(1, job) for job in box["jobs"]]
        claims += [(0, age) for age in set(box["ages"] or ())] + [(0, None)] * box["missing"]
        for column, value in claims:
            fitting = [index for index, row in enumerate(rows) if inside(row, box) and row[column] == value]
            if len({persons[index] for index in fitting}) == 1:
                found |= {index for index in fitting if labels[index] == label}
    return found
