"""A reader's own look at a release and its certificate: every limit and every figure that can be counted, by brute force."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from fuzzing.boxes import Boxes, side_of
from fuzzing.covering import Covering
from fuzzing.limits import Attribute, bin_of, number
from fuzzing.reading import read_table


def untrue(release: Path, certificate: Path) -> list[str]:
    """Return what a certificate says that is not so; what a release cannot show is passed over."""
    said = json.loads(certificate.read_text(encoding="utf-8"), object_pairs_hook=_without_twins)
    table = read_table(release)
    rows = len(next(iter(table.values())))
    quasi = [column["name"] for column in said["columns"] if column["role"] == "quasi"]
    by_cells: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in range(rows):
        by_cells[tuple(_apart(table[name][row]) for name in quasi)].append(row)
    classes = list(by_cells.values())
    sizes = [len(group) for group in classes]
    policy = said["policy"]
    found = []
    limits = [settings for settings in policy["sensitive"].values() if isinstance(settings, dict)]
    if (
        policy.get("k") is None
        and policy.get("alpha") is None
        and not any({"t", "l", "beta", "delta"} & settings.keys() for settings in limits)
    ):
        found.append("nothing is asked")
    if hashlib.sha256(release.read_bytes()).hexdigest() != said["release"]["sha256"]:
        found.append("sha256")
    if [column["name"] for column in said["columns"]] != list(table):
        found.append("columns")
    if policy.get("k") is not None and min(sizes) < policy["k"]:
        found.append("k")
    unique = sum(
        times == 1
        for times in Counter(zip(*([_apart(cell) for cell in cells] for cells in table.values()), strict=True)).values()
    )
    counted = {"rows": rows, "classes": len(classes), "unique_rows": unique}
    found += [what for what, figure in counted.items() if said[what] != figure]
    if said["attained"]["k"] != min(sizes):
        found.append("attained k")
    if said["loss"]["dm"] != sum(size * size for size in sizes):
        found.append("dm")
    one_value = set()
    for name, settings in policy["sensitive"].items() if isinstance(policy["sensitive"], dict) else ():
        settings = settings or {}
        attribute = Attribute(name, settings, _inferred(table[name]))
        cells = table[name] if attribute.binned else [attribute.value(cell) for cell in table[name]]
        if attribute.binned and not _are_bins(cells):
            attribute = Attribute(name, {**settings, "bins": None}, _inferred(table[name]))
            cells = [attribute.value(cell) for cell in table[name]]
            found.append(f"bins of {name}")
        groups = [[cells[row] for row in group] for group in classes]
        if policy.get("n") is not None and settings.get("t") is not None:
            found += [] if _is_close(attribute, cells, classes, policy, table) else [f"n,t of {name}"]
        for group in groups:
            found += [
                f"{limit} of {name}"
                for limit in attribute.broken(group, cells, None, policy.get("alpha"), regions=policy.get("n") is not None)
            ]
        attained = said["attained"]["sensitive"][name]
        if settings.get("publish") is None and Fraction(attained["t_exact"]) != max(
            attribute.emd(group, cells) for group in groups
        ):
            found.append(f"t_exact of {name}")
        if attained["l_distinct"] != min(len(set(group)) for group in groups):
            found.append(f"l_distinct of {name}")
        share = max(Fraction(max(Counter(group).values()), len(group)) for group in groups)
        if not share <= number(attained["share"]) <= share + Fraction(1, 10**12):
            found.append(f"share of {name}")
        if len(set(cells)) > 1:
            one_value |= {place for place, group in enumerate(groups) if len(set(group)) == 1}
    told = said["attained"]["homogeneous"]
    if (told["classes"], told["rows"]) != (len(one_value), sum(sizes[place] for place in one_value)):
        found.append("homogeneous")
    return sorted(set(found))


def _is_close(
    attribute: Attribute, cells: Sequence[Any], classes: Sequence[list[int]], policy: dict[str, Any], table: dict[str, list[Any]]
) -> bool:
    """Whether around each class there is a region of n rows that it is close to."""
    quasi = [_covering(name, settings or {}, table) for name, settings in policy["quasi"].items()]
    boxes = Boxes(quasi, [{name: column[group[0]] for name, column in table.items()} for group in classes])
    for place, group in enumerate(classes):
        for region in boxes.regions(place):
            rows = [row for inside in region or () for row in classes[inside]]
            if region is None or (
                len(rows) >= policy["n"]
                and attribute.emd([cells[row] for row in group], [cells[row] for row in rows], cells)
                <= number(attribute.settings["t"])
            ):
                break
        else:
            return False
    return True


def _covering(name: str, settings: dict[str, Any], table: dict[str, list[Any]]) -> Covering:
    """A quasi-identifier whose values nobody knows: of numbers or dates where all its labels can be read so, else of texts."""
    asked = {key: value for key, value in settings.items() if key in ("recode", "hierarchy")}
    for example in (1, date(2024, 1, 1)):
        column = Covering(name, asked, [example])
        try:
            for row in range(len(next(iter(table.values())))):
                side_of(column, {part: cells[row] for part, cells in table.items()})
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        return column
    return Covering(name, asked, ["text"])


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A reader who sees a key twice believes neither: the first stands, so that a second one is a difference."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        found.setdefault(key, value)
    return found


def _apart(cell: Any) -> Any:
    """A cell so that what looks different is different: NaN is itself, True is not 1."""
    return "NaN" if isinstance(cell, float) and cell != cell else (type(cell).__name__, cell)


def _inferred(cells: Sequence[Any]) -> list[Any]:
    """The cells of a CSV as what all of them are: numbers, dates, timestamps, else texts."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts or len(texts) < sum(cell is not None for cell in cells):
        return list(cells)
    for read in (Decimal, date.fromisoformat, datetime.fromisoformat):
        try:
            return [None if cell is None else read(cell) for cell in cells]
        except (ValueError, InvalidOperation):
            continue
    return list(cells)


def _are_bins(cells: Sequence[Any]) -> bool:
    try:
        return all(cell is None or bin_of(cell) for cell in cells)
    except (TypeError, ValueError):
        return False
