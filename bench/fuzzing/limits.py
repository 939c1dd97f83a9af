"""The limits of a policy by brute force: fractions, sorted lists and a linear program. Nothing of tclose is used."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linprog

from fuzzing.covering import paths_of
from fuzzing.reading import kind_of, plain, printed

_BIN = re.compile(r"below (.+)|\[(.+), (.+)\)|(.+) or more")


def number(setting: Any) -> Fraction:
    """Return a limit as the number that is written."""
    return Fraction(str(setting))


def bin_of(label: str) -> tuple[Any, Any]:
    """Return the half-open interval that the label of a bin stands for."""
    found = _BIN.fullmatch(label)
    if found is None:
        raise ValueError(f"{label!r} is no label of a bin")
    below, low, high, above = found.groups()
    if below is not None:
        return -math.inf, Fraction(below)
    return (Fraction(above), math.inf) if above is not None else (Fraction(low), Fraction(high))


class Attribute:
    """One sensitive attribute: its settings, and how its published values compare."""

    def __init__(self, name: str, settings: Mapping[str, Any] | None, original: Sequence[Any]) -> None:
        """From the policy's settings and the input's column."""
        self.name, self.settings = name, settings or {}
        self.binned = self.settings.get("bins") is not None and self.settings.get("publish") is None
        self.kind = kind_of(list(original))
        looked_up = next((key for key in ("hierarchy", "matrix", "order") if self.settings.get(key) is not None), None)
        if looked_up is not None:
            self.kind = "text"
        measured = self.kind != "text"
        auto = {"hierarchy": "hierarchical", "matrix": "matrix", "order": "ordered"}.get(
            str(looked_up), "ordered" if measured else "equal"
        )
        asked = self.settings.get("distance", "auto")
        self.distance = auto if asked == "auto" else str(asked)

    def value(self, original: Any) -> Any:
        """Return a cell, of the input or published without bins, in the form in which values are compared."""
        if self.kind == "text" and original is not None and not isinstance(original, str):
            return printed(original)
        return plain(original, self.kind)

    def emd(self, some: Sequence[Any], everyone: Sequence[Any], table: Sequence[Any] | None = None) -> Fraction:
        """Return the earth mover's distance between the values of a class and others, which are a table or a part of it."""
        p, q = Counter(some), Counter(everyone)
        domain = list(q) if table is None else list(dict.fromkeys(table))
        difference = {value: Fraction(p[value], len(some)) - Fraction(q[value], len(everyone)) for value in domain}
        if len(domain) == 1:
            return Fraction(0)
        if self.distance == "equal":
            return sum((abs(part) for part in difference.values()), Fraction(0)) / 2
        if self.distance == "ordered":
            return self._along([difference[value] for value in sorted(domain, key=self._rank)], [1] * (len(domain) - 1)) / (
                len(domain) - 1
            )
        if self.distance == "numeric":
            ordered = sorted(value for value in domain if value is not None)
            steps = [_difference(high, low) for low, high in pairwise(ordered)]
            if None in domain:  # as far after the greatest as values are from one another on average
                steps.append(sum(steps, Fraction(0)) / len(steps) if steps else Fraction(1))
                ordered.append(None)
            return self._along([difference[value] for value in ordered], steps) / sum(steps)
        return self._in_tree(difference) if self.distance == "hierarchical" else self._transport(difference)

    def _rank(self, value: Any) -> Any:
        order = self.settings.get("order")
        if order is None:  # a missing cell stands after the greatest value
            return value is None, 0 if value is None else bin_of(value) if self.binned else value
        return ["" if label is None else printed(label) for label in order].index(value or "")

    @staticmethod
    def _along(parts: list[Fraction], steps: Sequence[Any]) -> Fraction:
        """Work along a line: what has piled up crosses each step."""
        piled, work = Fraction(0), Fraction(0)
        for part, step in zip(parts, steps, strict=False):
            piled += part
            work += abs(piled) * step
        return work

    @cached_property
    def _paths(self) -> dict[str, list[tuple[str, ...]]]:
        """For each leaf the nodes above it and itself, from the root down, as the ways to them."""
        ways = {leaf: list(reversed(labels)) for leaf, labels in paths_of(self.settings["hierarchy"]).items()}
        if len({way[0] for way in ways.values()}) > 1:
            ways = {leaf: ["*", *way] for leaf, way in ways.items()}
        return {leaf: [tuple(way[:depth]) for depth in range(1, len(way) + 1)] for leaf, way in ways.items()}

    def _in_tree(self, difference: Mapping[Any, Fraction]) -> Fraction:
        """Li et al. 2007: sum over inner nodes of height / H times the lesser of surplus and want among the children."""
        heights: dict[tuple[str, ...], int] = {}
        for ways in self._paths.values():
            for up, way in enumerate(reversed(ways)):
                heights[way] = max(heights.get(way, 0), up)
        extra: dict[tuple[str, ...], Fraction] = {}
        for value, part in difference.items():
            for way in self._paths[value or ""]:
                extra[way] = extra.get(way, Fraction(0)) + part
        work = Fraction(0)
        for node, height in heights.items():
            children = [part for way, part in extra.items() if len(way) == len(node) + 1 and way[:-1] == node]
            surplus = sum((part for part in children if part > 0), Fraction(0))
            want = -sum((part for part in children if part < 0), Fraction(0))
            work += height * min(surplus, want)
        return work / max(heights.values())

    def _transport(self, difference: Mapping[Any, Fraction]) -> Fraction:
        """A linear program whose plan is made of whole numbers; its potentials prove that no plan is cheaper."""
        values = list(difference)
        matrix = {(one, other): number(away) for one, row in self.settings["matrix"].items() for other, away in row.items()}
        one = math.lcm(*(part.denominator for part in difference.values()))
        unit = math.lcm(*(away.denominator for away in matrix.values()))
        have = [value for value in values if difference[value] > 0]
        need = [value for value in values if difference[value] < 0]
        if not have:
            return Fraction(0)
        costs = [int(matrix[a, b] * unit) for a in have for b in need]
        sides = np.zeros((len(have) + len(need), len(costs)))
        for place, (a, b) in enumerate((a, b) for a in range(len(have)) for b in range(len(need))):
            sides[a, place] = sides[len(have) + b, place] = 1
        amounts = [int(difference[value] * one) for value in have] + [int(-difference[value] * one) for value in need]
        found = linprog(costs, A_eq=sides, b_eq=amounts, method="highs")
        plan = [round(part) for part in found.x]
        potentials = [round(part) for part in found.eqlin.marginals]
        cost = sum(part * each for part, each in zip(plan, costs, strict=True))
        is_plan = [sum(plan[place] for place in np.flatnonzero(row)) for row in sides] == amounts and min(plan) >= 0
        is_proof = all(
            potentials[place // len(need)] + potentials[len(have) + place % len(need)] <= cost_of
            for place, cost_of in enumerate(costs)
        )
        if not is_plan or not is_proof or cost != sum(price * amount for price, amount in zip(potentials, amounts, strict=True)):
            raise ArithmeticError("the linear program was not solved exactly")
        return Fraction(cost, one * unit)

    def broken(
        self, some: Sequence[Any], everyone: Sequence[Any], persons: Sequence[Any] | None, alpha: Any, *, regions: bool
    ) -> list[str]:
        """Return the limits that a class breaks, compared with a table.

        Parameters
        ----------
        persons
            Who each row of the class is about, where persons are counted: l is judged on rows and on persons.
        regions
            Whether (n,t)-closeness takes the place of t.
        """
        settings, found = self.settings, []
        counts, table = Counter(some), Counter(everyone)
        if not counts.keys() <= table.keys():
            return ["values"]
        if settings.get("t") is not None and not regions and self.emd(some, everyone) > number(settings["t"]):
            found.append("t")
        if alpha is not None and Fraction(max(counts.values()), len(some)) > number(alpha):
            found.append("alpha")
        if settings.get("l") is not None:
            of_persons = Counter(value for _, value in set(zip(persons, some, strict=True))) if persons is not None else counts
            if _lacks_diversity(counts, settings) or _lacks_diversity(of_persons, settings):
                found.append("l")
        lifts = {value: Fraction(counts[value] * len(everyone), len(some) * table[value]) for value in table}
        if settings.get("beta") is not None:
            enhanced = settings.get("beta_kind") == "enhanced"
            for value, lift in lifts.items():
                if lift > 1 and (
                    lift - 1 > number(settings["beta"])
                    or (enhanced and lift - 1 > -math.log(table[value] / len(everyone)) + 1e-12)
                ):
                    found.append("beta")
                    break
        if settings.get("delta") is not None:
            absent = 0 in lifts.values()
            far = [max(lift, 1 / lift) for lift in lifts.values() if lift]
            if (absent and settings.get("delta_kind") != "lenient") or math.log(max(far)) > float(
                number(settings["delta"])
            ) + 1e-12:
                found.append("delta")
        return found


def _difference(high: Any, low: Any) -> Fraction:
    away = high - low
    return (
        away
        if isinstance(away, Fraction)
        else Fraction(away.days * 86_400_000_000 + away.seconds * 1_000_000 + away.microseconds)
    )


def _lacks_diversity(counts: Counter[Any], settings: Mapping[str, Any]) -> bool:
    l, kind, most = number(settings["l"]), settings.get("l_kind", "distinct"), sorted(counts.values(), reverse=True)  # noqa: E741
    if kind == "distinct":
        return len(most) < l
    if kind == "recursive":
        return most[0] >= number(settings["c"]) * sum(most[int(l) - 1 :])
    with localcontext(prec=60):
        size = sum(most)
        entropy = Decimal(size).ln() - sum((count * Decimal(count).ln() for count in most), Decimal(0)) / size
        return entropy - (Decimal(l.numerator).ln() - Decimal(l.denominator).ln()) < Decimal("-1e-50")
