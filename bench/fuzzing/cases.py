"""Random tables under random policies: what a release is made of. A case is drawn from its seed and number alone."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

ODD_TEXTS = (
    "=1+1",
    "+49 30",
    "-x",
    "@home",
    "a, b",
    "{c}",
    'say "yes"',
    "'tis",
    "'=2",
    "é ü",
    "semi;colon",
    "line\nbreak",
    "or missing",
)
"""Texts that a file, a set or a spreadsheet could take for something else."""

FILES = (".csv", ".parquet", ".arrow")
TYPED = (".parquet", ".arrow")
"""Files that know times and floats."""
MAKERS = (
    "growth", "growth", "mondrian", "fragmentation", "incognito", "microaggregation-merge", "microaggregation-swap",
    "microaggregation-tfirst", "sabre", "wang-clustering", "wang-pca", "codip",
)  # fmt: skip
"""The algorithms to draw from."""


@dataclass
class Case:
    """A table, what is asked of it, and how.

    Attributes
    ----------
    columns : dict
        The values of each column, as Python has them; None is a missing cell.
    policy : dict
        The settings of a policy, in plain types.
    """

    number: int
    columns: dict[str, list[Any]]
    policy: dict[str, Any]
    read_as: str = ".csv"
    write_as: str = ".csv"
    algorithm: str = "growth"
    effort: str = "fast"
    seed: int = 0
    options: dict[str, Any] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    def only(self, names: Iterable[str]) -> Case:
        """The same case without the other sensitive columns: one of several tables."""
        sensitive = {name: settings for name, settings in self.policy["sensitive"].items() if name in set(names)}
        gone = set(self.policy["sensitive"]) - set(sensitive)
        columns = {name: values for name, values in self.columns.items() if name not in gone}
        return replace(self, columns=columns, policy={**self.policy, "sensitive": sensitive})

    def shuffled(self) -> Case:
        """The same rows in another order."""
        order = list(range(self.rows))
        random.Random(self.number).shuffle(order)
        columns = {name: [values[row] for row in order] for name, values in self.columns.items()}
        return replace(self, columns=columns)

    def write_table(self, folder: Path) -> Path:
        """Write the table to a file in a folder."""
        path = folder / f"table{self.read_as}"
        if self.read_as == ".csv":
            said = self.policy.get("input", {})
            lot = random.Random(self.number)
            with path.open("w", encoding=said.get("encoding", "utf-8"), newline="") as file:
                writer = csv.writer(file, delimiter={"tab": "\t"}.get(said.get("delimiter"), said.get("delimiter", ",")))
                writer.writerow(self.columns)
                writer.writerows([_written(cell, said, lot) for cell in row] for row in zip(*self.columns.values(), strict=True))
            return path
        table = pa.table({name: pa.array(values) for name, values in self.columns.items()})
        if self.read_as == ".parquet":
            pq.write_table(table, path)
        else:
            pa.feather.write_feather(table, str(path), compression="uncompressed")
        return path


def _written(cell: Any, said: dict[str, Any], lot: random.Random) -> Any:
    """A cell of a CSV, in the way that the policy's ``input`` says."""
    if cell is None:
        return lot.choice(["", *said.get("missing", [])])
    if isinstance(cell, Decimal):
        return str(cell).replace(".", said.get("decimal", "."))
    if isinstance(cell, date) and not isinstance(cell, datetime) and "dates" in said:
        return cell.strftime("%d.%m.%Y")
    return cell


def _draw_input(lot: random.Random) -> dict[str, Any]:
    """How a CSV is written, where that is not as in a release."""
    said = {
        "delimiter": lot.choice((None, ";", "tab", "|")),
        "decimal": lot.choice((None, ",")),
        "encoding": lot.choice((None, "latin-1", "utf-16", "cp1252")),
        "missing": lot.choice((None, ["NA"], ["NA", "n/a", "-"])),
        "dates": lot.choice((None, "DD.MM.YYYY", "%d.%m.%Y")),
    }
    return {key: value for key, value in said.items() if value is not None}


def draw_case(seed: int, number: int) -> Case:
    """Return the case of this number."""
    lot = random.Random(f"releases/{seed}/{number}")
    read_as, write_as = lot.choice(FILES), lot.choice(FILES)
    rows = lot.choice((1, 4, 9)) if lot.random() < 0.08 else lot.randint(12, 70) if lot.random() < 0.9 else lot.randint(100, 250)
    policy: dict[str, Any] = {"k": lot.choice((1, 2, 2, 3, 4, 6, 10)), "quasi": {}, "sensitive": {}}
    columns: dict[str, list[Any]] = {}
    for place in range(lot.choice((1, 1, 2, 2, 3, 4))):
        kinds = [draw for draw, typed in QUASI if read_as in TYPED or not typed]
        values, settings = lot.choice(kinds)(lot)
        if lot.random() < 0.15:
            settings["weight"] = lot.choice((0.5, 2, "1/3"))
        columns[f"q{place}"] = _fill(lot, values, rows, missing=lot.random() < 0.25)
        policy["quasi"][f"q{place}"] = settings or None
    for place in range(lot.choice((1, 1, 1, 2, 3))):
        ways = [draw for draw, typed in SENSITIVE if read_as in TYPED or not typed]
        values, settings, missing = lot.choice(ways)(lot)
        columns[f"s{place}"] = _fill(lot, values, rows, missing=missing and lot.random() < 0.7, skewed=lot.random() < 0.4)
        policy["sensitive"][f"s{place}"] = {**settings, **_draw_limits(lot)}
    _draw_others(lot, columns, policy, rows)
    if lot.random() < 0.12:
        policy["alpha"] = lot.choice((0.5, 0.7, 0.9, "2/3"))
    if lot.random() < 0.35:
        policy["suppression"] = lot.choice((0.02, 0.1, 0.25, 0.5))
    if lot.random() < 0.12 and any("t" in settings for settings in policy["sensitive"].values()):
        policy["n"] = lot.choice((policy["k"], 2 * policy["k"], max(rows // 2, 1)))
    asked = [limit for settings in policy["sensitive"].values() for limit in settings.items()]
    near = policy.get("n") != 1  # with regions of one row every class is near one
    limited = any(key in ("l", "beta", "delta") or (key == "t" and value != 1 and near) for key, value in asked)
    if not limited and "alpha" not in policy:
        policy["k"] = max(policy["k"], 2)  # a policy must ask for something
    names = list(columns)
    lot.shuffle(names)
    algorithm = lot.choice(_able(policy["sensitive"]) if lot.random() < 0.9 else MAKERS)
    options: dict[str, Any] | None = None
    if algorithm == "fragmentation" and lot.random() < 0.5:
        options = {
            "prefer": lot.choice(("loss", "classes")),
            "bound": lot.choice(("corrected", "published")),
            "sizing": lot.choice(("relaxed", "gcd")),
        }
    said = _draw_input(lot) if read_as == ".csv" and lot.random() < 0.4 else {}
    if said:
        policy["input"] = said
    effort = lot.choice(("fast", "fast", "balanced", "best"))
    if algorithm == "incognito":  # bounds and means have no levels
        for settings in policy["quasi"].values():
            if settings and settings.get("recode") in ("bounds", "centroid"):
                del settings["recode"]
    if algorithm == "growth" and effort == "best":
        options = {"seconds": "0.2"}
    if algorithm == "sabre":
        options = {"fill": lot.choice(("nearest", "hilbert"))}
    if algorithm == "codip" and effort == "best":  # a minute for each table
        effort = "fast"
    if algorithm == "codip" and lot.random() < 0.9:
        options = {"intersection": "accept"}
        policy["k"] = max(policy["k"], 2)
        policy.pop("keep", None)
        policy["other"] = "drop"
    return Case(
        number, {name: columns[name] for name in names}, policy, read_as, write_as, algorithm, effort, lot.randint(0, 3), options
    )


def _able(sensitive: dict[str, Any]) -> list[str]:
    """The algorithms that take such sensitive columns."""
    first = next(iter(sensitive.values()))
    without = {"codip"} if len(sensitive) == 1 else {"sabre", "microaggregation-tfirst"}
    if "t" not in first or "matrix" in first:
        without |= {"sabre", "microaggregation-tfirst"}
    return [name for name in MAKERS if name not in without]


def _fill(lot: random.Random, values: list[Any], rows: int, *, missing: bool, skewed: bool = False) -> list[Any]:
    """Cells of a column; the first one is never missing, for a column of nothing else has no type."""
    weights = [1 / (place + 1) ** 2 if skewed else 1.0 for place in range(len(values))]
    cells = lot.choices(values, weights, k=rows)
    if missing:
        cells = [None if lot.random() < 0.15 else cell for cell in cells]
        if all(cell is None for cell in cells):
            cells[0] = values[0]
    return cells


def _draw_limits(lot: random.Random) -> dict[str, Any]:
    """Limits of a sensitive column: often t, seldom others."""
    limits: dict[str, Any] = {}
    if lot.random() < 0.8:
        limits["t"] = lot.choice((0, 0.05, 0.1, 0.2, 0.3, "1/3", 0.5, 1))
    if lot.random() < 0.2:
        limits |= lot.choice(
            (
                {"l": 2},
                {"l": 3},
                {"l": 2, "l_kind": "entropy"},
                {"l": 1.5, "l_kind": "entropy"},
                {"l": 2, "l_kind": "recursive", "c": 2},
                {"l": 3, "l_kind": "recursive", "c": "7/2"},
            )
        )
    if lot.random() < 0.12:
        limits |= lot.choice(({"beta": 1}, {"beta": 3}, {"beta": 2, "beta_kind": "enhanced"}))
    if lot.random() < 0.12:
        limits |= lot.choice(({"delta": 1}, {"delta": 2.5}, {"delta": 1, "delta_kind": "lenient"}))
    return limits


def _draw_others(lot: random.Random, columns: dict[str, list[Any]], policy: dict[str, Any], rows: int) -> None:
    """Persons, identifiers, dropped and kept columns."""
    if lot.random() < 0.3:
        persons = max(1, rows * 2 // 3)
        columns["who"] = [f"person-{token(lot)}-{place}" for place in range(persons)]
        columns["who"] = [lot.choice(columns["who"]) for _ in range(rows)]
        policy["unit"] = "who"
        if lot.random() < 0.5:
            policy["identifiers"] = ["who"]
    elif lot.random() < 0.3:
        policy["unit"] = "row"
    if lot.random() < 0.4:
        columns["name"] = [f"name-{token(lot)}-{row}" for row in range(rows)]
        policy["identifiers"] = [*policy.get("identifiers", []), "name"]
    if lot.random() < 0.3:
        columns["phone"] = [f"phone-{token(lot)}" for _ in range(rows)]
        policy["drop"] = ["phone"]
    if lot.random() < 0.3:
        columns["ward"] = lot.choices([f"ward {letter}" for letter in "ABC"] + ["=ward"], k=rows)
        policy["keep"] = {"ward": {"despite": "fuzzing"}}
    if lot.random() < 0.2:
        columns["code"] = lot.choices([Decimal("1.5"), Decimal("-2.25"), None], k=rows)
        if all(cell is None for cell in columns["code"]):
            columns["code"][0] = Decimal("1.5")
        if lot.random() < 0.5:
            policy["other"] = "keep"
            policy.setdefault("drop", [])
            if rows < 2 * 2:
                policy["other"] = "drop"
        else:
            policy["other"] = "drop"


def token(lot: random.Random) -> str:
    """A text that occurs nowhere by chance."""
    return "".join(lot.choices("bcdfghjkmnpqrstvwxz", k=6))


# Quasi-identifiers: some values, and settings that go with them -----------------------------------------------------------


def _integers(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    low, high = lot.choice(((0, 9), (-20, 20), (18, 99), (-5, -1), (10**9, 10**9 + 40), (-(10**15), 10**15)))
    values = sorted({lot.randint(low, high) for _ in range(lot.randint(2, 25))})
    middle = values[len(values) // 2]
    wide = high - low > 10**6
    settings: dict[str, Any] = dict(
        lot.choice(
            (
                {},
                {},
                {"recode": "bounds"},
                {"recode": "centroid"},
                {"recode": "set"},
                {"snap": 10**14 if wide else lot.choice((2, 5, 10, 7))},
                {"snap": 10**14 if wide else 5, "top": middle, "recode": lot.choice(("range", "bounds", "centroid"))},
                {"bottom": middle},
                {"top": middle, "bottom": middle - 2},
                {"hierarchy": draw_tree(lot, [str(value) for value in values]), "recode": lot.choice(("range", "level"))},
                {"hierarchy": "prefixes"},
                {"hierarchy": {"intervals": lot.choice(([5, 10], [2, 4, 20], ["3/2", 3], [10**14] if wide else [7]))}},
                {"type": "text"},
                {"type": "category"},
            )
        )
    )
    if lot.random() < 0.2 and settings.keys() <= {"recode", "snap", "top", "bottom"} and settings.get("recode") != "set":
        settings["type"] = "integer"
    return values, settings


def _decimals(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    digits = lot.choice((1, 2, 3, 6))
    values = sorted({Decimal(lot.randint(-500, 2000)).scaleb(-digits) for _ in range(lot.randint(2, 15))})
    return values, _on_a_line(lot, values, lot.choice((0.5, 1, "1/4", 0.3)))


def _floats(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    values = sorted({round(lot.uniform(-10, 50), lot.choice((1, 2, 5))) + 0.0 for _ in range(lot.randint(2, 15))})
    return values, _on_a_line(lot, values, lot.choice((0.5, 1, 2.5)))


def _on_a_line(lot: random.Random, values: list[Any], snap: Any) -> dict[str, Any]:
    middle = str(values[len(values) // 2])
    return dict(
        lot.choice(
            (
                {},
                {"recode": "bounds"},
                {"recode": "centroid"},
                {"recode": "set"},
                {"snap": snap},
                {"snap": snap, "recode": "bounds"},
                {"top": middle},
                {"bottom": middle, "recode": "bounds"},
                {"snap": snap, "bottom": middle},
                {"hierarchy": "prefixes"},
                {"hierarchy": {"intervals": [snap, str(4 * Fraction(str(snap)))]}},
            )
        )
    )


def _dates(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    first = date(lot.choice((1950, 1999, 2023)), lot.randint(1, 12), 1)
    values = sorted({first + timedelta(days=lot.randint(0, lot.choice((20, 400, 4000)))) for _ in range(lot.randint(2, 20))})
    return values, _calendar(lot, values[len(values) // 2].isoformat(), built={"hierarchy": "dates"})


def _moments(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    first = datetime(2023, lot.randint(1, 12), 1)
    step = lot.choice((1, 60, 3600))
    values = sorted({first + timedelta(seconds=step * lot.randint(0, 20000)) for _ in range(lot.randint(2, 20))})
    return values, _calendar(lot, values[len(values) // 2].isoformat(sep=" "), built={"recode": "set"})


def _calendar(lot: random.Random, middle: str, built: dict[str, Any]) -> dict[str, Any]:
    snap = lot.choice(("day", "week", "month", "quarter", "year"))
    return dict(
        lot.choice(
            (
                {},
                {"recode": "bounds"},
                {"recode": "centroid"},
                {"snap": snap},
                {"snap": snap, "recode": "bounds"},
                {"top": middle},
                {"snap": snap, "bottom": middle},
                built,
            )
        )
    )


def _clocks(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    values = sorted({time(lot.randint(0, 23), lot.choice((0, 15, 30)), lot.choice((0, 5))) for _ in range(lot.randint(2, 10))})
    return values, dict(lot.choice(({}, {"recode": "bounds"}, {"top": "12:00"}, {"recode": "set"})))


def _texts(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    values = [f"{token(lot)}{place}" for place in range(lot.randint(2, 10))]
    if lot.random() < 0.4:
        values += lot.sample(ODD_TEXTS, lot.randint(1, 6))
    given = {"hierarchy": draw_tree(lot, values), "recode": lot.choice(("range", "level"))}
    return values, dict(lot.choice(({}, {}, {"recode": "set"}, {"type": "text"}, given, given, {"hierarchy": "prefixes"})))


def _zips(lot: random.Random) -> tuple[list[Any], dict[str, Any]]:
    values = sorted({lot.choice(("0", "4", "47", "476")) + str(lot.randint(0, 99)) for _ in range(lot.randint(2, 20))})
    return ["0123", *values], {"hierarchy": "prefixes"}


QUASI: list[tuple[Callable[[random.Random], tuple[list[Any], dict[str, Any]]], bool]] = [
    (_integers, False),
    (_integers, False),
    (_decimals, False),
    (_floats, True),
    (_dates, False),
    (_moments, True),
    (_clocks, True),
    (_texts, False),
    (_texts, False),
    (_zips, False),
]
"""How a quasi-identifier is drawn, and whether it needs a file with types."""


def draw_tree(lot: random.Random, leaves: list[str], name: str = "all") -> dict[str, Any]:
    """A tree over these leaves, as a mapping; no label stands twice."""

    def grow(some: list[str], label: str, depth: int) -> Any:
        if len(some) <= 2 or depth == 3 or lot.random() < 0.2:
            return list(some)
        parts = lot.randint(2, min(3, len(some)))
        cuts = sorted(lot.sample(range(1, len(some)), parts - 1))
        groups = [some[start:end] for start, end in zip([0, *cuts], [*cuts, len(some)], strict=True)]
        found: dict[str, Any] = {}
        for place, group in enumerate(groups):
            if len(group) == 1 and lot.random() < 0.5:
                found[group[0]] = None
            else:
                found[f"{label}/{place}"] = grow(group, f"{label}/{place}", depth + 1)
        return found

    shuffled = list(leaves)
    lot.shuffle(shuffled)
    return {name: grow(shuffled, name, 0)}


# Sensitive attributes: some values, settings, and whether cells may be missing --------------------------------------------

Drawn = tuple[list[Any], dict[str, Any], bool]


def _numbers(lot: random.Random) -> Drawn:
    values: list[Any] = sorted({lot.randint(-10, 40) for _ in range(lot.randint(1, 12))})
    if lot.random() < 0.3:
        values = [Decimal(value).scaleb(-1) for value in values]
    distance = lot.choice(({}, {"distance": "ordered"}, {"distance": "numeric"}, {"distance": "equal"}))
    if lot.random() < 0.2:
        return values, {**distance, "missing": "value"}, True
    return values, dict(distance), distance == {"distance": "equal"}


def _binned(lot: random.Random) -> Drawn:
    values: list[Any] = sorted({lot.randint(-10, 60) for _ in range(lot.randint(2, 25))})
    bins = lot.choice((2, 3, 5, {"count": 4}, {"width": 10}, {"width": 7.5}, [0, 10, 20], {"edges": [-3, 5.5]}))
    settings: dict[str, Any] = {"bins": bins}
    equal = lot.random() < 0.3
    if equal:
        settings["distance"] = "equal"
    if lot.random() < 0.25:
        settings["publish"] = "value"
    if lot.random() < 0.15:
        settings["missing"] = "value"
    return values, settings, equal or "missing" in settings


def _days(lot: random.Random) -> Drawn:
    values: list[Any] = sorted({date(2020, 1, 1) + timedelta(days=lot.randint(0, 900)) for _ in range(lot.randint(2, 8))})
    return values, dict(lot.choice(({}, {"distance": "numeric"}, {"distance": "equal"}))), False


def _instants(lot: random.Random) -> Drawn:
    values: list[Any] = sorted(
        {datetime(2020, 1, 1) + timedelta(minutes=lot.randint(0, 90000)) for _ in range(lot.randint(2, 8))}
    )
    return values, dict(lot.choice(({}, {"distance": "numeric"}))), False


def _diagnoses(lot: random.Random) -> Drawn:
    values: list[Any] = [f"{token(lot)}" for _ in range(lot.randint(2, 7))] + lot.sample(ODD_TEXTS[:4], lot.randint(0, 2))
    return values, dict(lot.choice(({}, {"distance": "equal"}))), True


def _grades(lot: random.Random) -> Drawn:
    values: list[Any] = [f"grade {letter}" for letter in "abcdef"[: lot.randint(2, 6)]] + lot.sample(
        ODD_TEXTS[:4], lot.randint(0, 2)
    )
    lot.shuffle(values)
    if lot.random() < 0.3:
        order = [*values, None]
        lot.shuffle(order)
        return values, {"order": order, "missing": "value"}, True
    return values, {"order": [*values, "never seen"]}, False


def _branches(lot: random.Random) -> Drawn:
    values: list[Any] = [f"{token(lot)}" for _ in range(lot.randint(2, 8))] + lot.sample(ODD_TEXTS[:4], lot.randint(0, 2))
    missing = lot.random() < 0.2
    tree = draw_tree(lot, [*values, *([""] if missing else []), "elsewhere"], "any")
    return values, {"hierarchy": tree, **({"missing": "value"} if missing else {})}, missing


def _apart(lot: random.Random) -> Drawn:
    """A matrix: points on a square, in the distance of a walk along its sides, so that it is a metric."""
    values: list[Any] = [f"{token(lot)}" for _ in range(lot.randint(2, 6))]
    points = lot.sample([(x, y) for x in range(6) for y in range(6)], len(values))
    matrix = {
        one: {other: f"{abs(a - c) + abs(b - d)}/10" for other, (c, d) in zip(values, points, strict=True)}
        for one, (a, b) in zip(values, points, strict=True)
    }
    return values, {"matrix": matrix}, False


SENSITIVE: list[tuple[Callable[[random.Random], Drawn], bool]] = [
    (_numbers, False),
    (_numbers, False),
    (_binned, False),
    (_binned, False),
    (_days, False),
    (_instants, True),
    (_diagnoses, False),
    (_diagnoses, False),
    (_grades, False),
    (_branches, False),
    (_branches, False),
    (_apart, False),
]
"""How a sensitive attribute is drawn, and whether it needs a file with types."""
