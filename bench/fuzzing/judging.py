"""A release judged from its written files and its input, by brute force: what is wrong with it, in words."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from fuzzing.boxes import Boxes
from fuzzing.cases import Case
from fuzzing.covering import Covering
from fuzzing.limits import Attribute, bin_of, number
from fuzzing.reading import kind_of, plain, printed, read_table


class Judge:
    """A case, and one release of it."""

    def __init__(self, case: Case, release: Path) -> None:
        """Read the release as a stranger would."""
        self.case, self.path, self.policy = case, release, case.policy
        self.published = read_table(release)
        self.rows = len(next(iter(self.published.values())))
        self.certificate = json.loads(Path(f"{release}.certificate.json").read_text(encoding="utf-8"))
        whole = case.algorithm == "incognito"
        self.quasi = [
            Covering(name, settings, case.columns[name], whole_column=whole) for name, settings in self.policy["quasi"].items()
        ]
        self.sensitive = [Attribute(name, settings, case.columns[name]) for name, settings in self.policy["sensitive"].items()]
        self.kept = [*self.policy.get("keep", {})]
        if self.policy.get("other") == "keep":
            named = {
                *self.policy["quasi"],
                *self.policy["sensitive"],
                *self.policy.get("identifiers", []),
                *self.policy.get("drop", []),
            }
            self.kept += [name for name in case.columns if name not in {*named, self.policy.get("unit"), *self.kept}]
        self.seen = [[self._cell(attribute, cell) for cell in self.published[attribute.name]] for attribute in self.sensitive]
        by_cells: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        self.names = [name for quasi in self.quasi for name in quasi.columns() if name in self.published]
        for row, cells in enumerate(zip(*(self.published[name] for name in self.names), strict=True)):
            by_cells[cells].append(row)
        self.classes = list(by_cells.values())
        self.inside: list[list[int]] = [[] for _ in self.classes]

    @staticmethod
    def _cell(attribute: Attribute, cell: Any) -> Any:
        return cell if attribute.binned else attribute.value(cell)

    def faults(self, partition: Sequence[int]) -> list[str]:
        """Return all that is wrong.

        Parameters
        ----------
        partition
            The class of each row of the input, -1 where it was suppressed.
        """
        found = self._columns() + self._suppression(partition)
        if not found:
            found = self._rows(partition)
        if not found:
            found = self._limits() + self._figures() + self._leaks(partition)
        return found

    # Columns and rows ------------------------------------------------------------------------------------------------

    def _columns(self) -> list[str]:
        allowed = (
            {name for quasi in self.quasi for name in quasi.columns()}
            | {attribute.name for attribute in self.sensitive}
            | {*self.kept}
        )
        extra = set(self.published) - allowed
        needed = {attribute.name for attribute in self.sensitive} | {*self.kept} | {quasi.columns()[0] for quasi in self.quasi}
        return [f"column {name!r} is published" for name in sorted(extra)] + [
            f"column {name!r} is missing" for name in sorted(needed - set(self.published))
        ]

    def _suppression(self, partition: Sequence[int]) -> list[str]:
        suppressed = sum(label < 0 for label in partition)
        found = []
        if suppressed + self.rows != self.case.rows:
            found.append("the release has not the rows that were not suppressed")
        if suppressed > number(self.policy.get("suppression", 0)) * self.case.rows:
            found.append("more rows are suppressed than the policy allows")
        return found

    def _rows(self, partition: Sequence[int]) -> list[str]:
        """Every row of the input that is not suppressed must be a row of the release, and its class must fit a published one."""
        members: dict[int, list[int]] = defaultdict(list)
        for row, label in enumerate(partition):
            if label >= 0:
                members[label].append(row)
        fits: dict[int, list[int]] = {}
        found = []
        for label, rows in members.items():
            reasons: list[str] = []
            fits[label] = [place for place, group in enumerate(self.classes) if not self._misfit(group[0], rows, reasons)]
            if not fits[label]:
                near = max(reasons, key=reasons.count) if reasons else ""
                found.append(f"no published class fits the rows of a class: {near}")
        if found:
            return found
        kinds = {name: kind_of(self.case.columns[name]) for name in self.kept}
        kept = [[plain(cell, kinds[name]) for cell in self.published[name]] for name in self.kept]
        rooms = [Counter(tuple(cells[row] for cells in (*self.seen, *kept)) for row in group) for group in self.classes]
        bins = [
            sorted(set(cells) - {None}) if attribute.binned else []
            for attribute, cells in zip(self.sensitive, self.seen, strict=True)
        ]

        def key(row: int) -> tuple[Any, ...]:
            """What must be published of a row beside its quasi-identifiers."""
            own = [
                _published(attribute, self.case.columns[attribute.name][row], labels)
                for attribute, labels in zip(self.sensitive, bins, strict=True)
            ]
            return *own, *(plain(self.case.columns[name][row], kinds[name]) for name in self.kept)

        keys = {label: Counter(map(key, rows)) for label, rows in members.items()}
        waiting = sorted(members, key=lambda label: (len(fits[label]), -len(members[label])))
        places = _settle(waiting, fits, keys, rooms)
        if places is None:
            return ["the rows of the release are not those of the input"]
        for label, place in places.items():
            self.inside[place] += members[label]
        return []

    def _misfit(self, published: int, rows: Sequence[int], reasons: list[str]) -> bool:
        for quasi in self.quasi:
            cells = {name: self.published[name][published] for name in quasi.columns() if name in self.published}
            fault = quasi.fault(cells, [self.case.columns[quasi.name][row] for row in rows])
            if fault:
                reasons.append(f"{quasi.name}: {fault}")
                return True
        return False

    # Limits ------------------------------------------------------------------------------------------------------------

    def _limits(self) -> list[str]:
        found: list[str] = []
        unit = self.policy.get("unit")
        for group, rows in zip(self.classes, self.inside, strict=True):
            persons = None if unit in (None, "row") else [self.case.columns[unit][row] for row in rows]
            size = len(group) if persons is None else len(set(persons))
            if size < self.policy["k"]:
                found.append(f"k: a class of {size}")
            for attribute, cells in zip(self.sensitive, self.seen, strict=True):
                some = [cells[row] for row in group]
                if persons is not None:  # in the order of these rows, as far as they can be told apart
                    some = [
                        _published(attribute, self.case.columns[attribute.name][row], sorted(set(cells) - {None}, key=str))
                        for row in rows
                    ]
                for what, everyone in (("itself", cells), ("the input", self._input(attribute, cells))):
                    if everyone is not None:
                        broken = attribute.broken(
                            some, everyone, persons, self.policy.get("alpha"), regions=self.policy.get("n") is not None
                        )
                        found += [f"{limit} of {attribute.name}, against {what}" for limit in broken]
        if self.policy.get("n") is not None:
            found += self._regions()
        for attribute, cells in zip(self.sensitive, self.seen, strict=True):
            if attribute.binned:
                bins = sorted(bin_of(label) for label in set(cells) - {None})
                if any(one[1] > other[0] for one, other in pairwise(bins)):
                    found.append(f"bins of {attribute.name} overlap")
        return sorted(set(found))

    def _regions(self) -> list[str]:
        """(n,t)-closeness: around each class there must be a region of n rows that it is close to."""
        boxes = Boxes(self.quasi, [{name: self.published[name][group[0]] for name in self.names} for group in self.classes])
        found = []
        for attribute, cells in zip(self.sensitive, self.seen, strict=True):
            if attribute.settings.get("t") is None:
                continue
            limit = number(attribute.settings["t"])
            for place, group in enumerate(self.classes):
                for region in boxes.regions(place):
                    if region is None:  # too many to try
                        break
                    rows = [row for inside in region for row in self.classes[inside]]
                    if len(rows) >= self.policy["n"]:
                        some, others = ([cells[row] for row in part] for part in (group, rows))
                        if attribute.emd(some, others, cells) <= limit:
                            break
                else:
                    found.append(f"n,t of {attribute.name}")
        return found

    def _input(self, attribute: Attribute, cells: Sequence[Any]) -> list[Any] | None:
        """The input's values in the form in which they are published; None where a suppressed one has a bin that nobody sees."""
        values = [attribute.value(value) for value in self.case.columns[attribute.name]]
        if self.rows == self.case.rows:
            return None
        if not attribute.binned:
            return values
        if isinstance(attribute.settings["bins"], int) or "count" in attribute.settings["bins"]:
            return None  # its edges are those of the published values
        bins = {bin_of(label): label for label in set(cells) - {None}}
        found: list[Any] = []
        for value in values:
            label = next((label for (low, high), label in bins.items() if value is not None and low <= value < high), None)
            if label is None and value is not None:
                return None
            found.append(label)
        return found

    # The certificate ---------------------------------------------------------------------------------------------------

    def _figures(self) -> list[str]:
        said, found = self.certificate, []
        sizes = [len(group) for group in self.classes]
        figures: dict[str, tuple[Any, Any]] = {
            "rows": (said["rows"], self.rows),
            "classes": (said["classes"], len(sizes)),
            "k": (said["attained"]["k"], min(sizes)),
        }
        figures["dm"] = said["loss"]["dm"], sum(size * size for size in sizes)
        everything = Counter(zip(*self.published.values(), strict=True))
        figures["unique_rows"] = said["unique_rows"], sum(times == 1 for times in everything.values())
        for attribute, cells in zip(self.sensitive, self.seen, strict=True):
            attained, groups = (
                said["attained"]["sensitive"][attribute.name],
                [[cells[row] for row in group] for group in self.classes],
            )
            if attribute.settings.get("publish") is None:
                worst = max(attribute.emd(group, cells) for group in groups)
                figures[f"t of {attribute.name}"] = Fraction(attained["t_exact"]), worst
            figures[f"l of {attribute.name}"] = attained["l_distinct"], min(len(set(group)) for group in groups)
        for what, (printed_figure, counted) in figures.items():
            if printed_figure != counted:
                found.append(f"the certificate's {what} is not what the release has")
        return found

    # Leaks -------------------------------------------------------------------------------------------------------------

    def _leaks(self, partition: Sequence[int]) -> list[str]:
        """No identifier, dropped cell, or text of suppressed rows alone may be in a public file."""
        files = {
            "release": self.path,
            "certificate": Path(f"{self.path}.certificate.json"),
            "codebook": Path(f"{self.path}.codebook.md"),
        }
        texts = {name: path.read_bytes().decode("utf-8", "replace") for name, path in files.items()}
        texts["release"] += "\n".join(str(cell) for cells in self.published.values() for cell in set(cells))
        if self.path.suffix == ".parquet":
            texts["release"] += str(pq.read_metadata(self.path).metadata) + str(pq.read_schema(self.path))
        hidden = [*self.policy.get("identifiers", []), *self.policy.get("drop", []), self.policy.get("unit")]
        if self.policy.get("other") == "drop":
            hidden += [name for name in ("code",) if name in self.case.columns]
        secret = {
            str(cell) for name in hidden if name in self.case.columns for cell in self.case.columns[name] if cell is not None
        }
        gone = [row for row, label in enumerate(partition) if label < 0]
        for name in (*self.policy["quasi"], *self.policy["sensitive"]):
            cells = self.case.columns[name]
            shown = {printed(cells[row]) for row, label in enumerate(partition) if label >= 0}
            secret |= {printed(cells[row]) for row in gone if isinstance(cells[row], str)} - shown
        given = json.dumps(self.policy, default=str, ensure_ascii=False)
        return [
            f"{what} tells a cell that must not be published"
            for what, text in texts.items()
            if any(len(cell) >= 6 and cell in text and cell not in given for cell in secret)
        ]


def _published(attribute: Attribute, original: Any, labels: Sequence[str]) -> Any:
    """What must be published of a sensitive value: itself, or the one of these labels whose bin it is in."""
    value = attribute.value(original)
    if not attribute.binned or value is None:
        return value
    return next((label for label in labels if bin_of(label)[0] <= value < bin_of(label)[1]), "no bin")


def _settle(
    waiting: list[int], fits: dict[int, list[int]], keys: dict[int, Counter[Any]], rooms: list[Counter[Any]]
) -> dict[int, int] | None:
    """Put each class in a published one that it fits and that has its rows; None where that cannot be."""
    if not waiting:
        return {}
    label, *others = waiting
    for place in fits[label]:
        if keys[label] <= rooms[place]:
            rooms[place] = rooms[place] - keys[label]
            found = _settle(others, fits, keys, rooms)
            if found is not None:
                return {label: place, **found}
            rooms[place] = rooms[place] + keys[label]
    return None


def one_class_fits(case: Case) -> bool | None:
    """Return whether the one class of all rows satisfies the policy; None where that cannot be told cheaply."""
    persons = None if case.policy.get("unit") in (None, "row") else case.columns[case.policy["unit"]]
    if (case.rows if persons is None else len(set(persons))) < case.policy["k"]:
        return False
    if case.policy.get("n") is not None and case.rows < case.policy["n"]:
        return False
    for name, settings in case.policy["sensitive"].items():
        attribute = Attribute(name, settings, case.columns[name])
        if attribute.binned:
            bins = settings["bins"]
            if isinstance(bins, int) or "count" in bins:
                return None
            values = [_binned(attribute.value(cell), bins) for cell in case.columns[name]]
        else:
            values = [attribute.value(cell) for cell in case.columns[name]]
        asked = {**attribute.settings, "t": None}
        attribute.settings = asked
        if attribute.broken(values, values, persons, case.policy.get("alpha"), regions=False):
            return False
    return True


def _binned(value: Any, bins: Any) -> Any:
    if value is None:
        return None
    if "width" in bins:
        return value // number(bins["width"])
    return sum(value >= number(edge) for edge in (bins["edges"] if isinstance(bins, dict) else bins))
