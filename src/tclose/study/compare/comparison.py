"""A comparison: what each algorithm attains, loses and gives away at each t and k, and which of them are worth a look."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from tclose.errors import InputError, one_of
from tclose.study.compare.cell import Result
from tclose.values.exact import decimal_up, number_of

MEASURES = ("t", "excess", "gcp", "lm", "query_error", "homogeneous")
"""What can be compared: less is better in all of them."""

NO_GAIN = "no attack more often right about people in the release than about others"
"""What is said where no attack has an excess that shows in its digits."""


class Point(NamedTuple):
    """One algorithm at one t and k: means over the seeds that were done, and the worst of them.

    t, the attack with the largest excess, and the largest share of one value of each sensitive column in a class are those of the
    worst seed.
    """

    algorithm: str
    asked: float | None
    k: int
    seeds: int
    t: float
    excess: float
    gcp: float
    lm: float
    query_error: float
    homogeneous: float
    seconds: float
    gcp_stated: float | None = None
    attack: str = ""
    sentence: str | None = None
    share: dict[str, float] = {}  # noqa: RUF012 - nobody changes it

    @property
    def name(self) -> str:
        """The algorithm and what was asked of it, in words."""
        return f"{self.algorithm}, k = {self.k}" if self.asked is None else f"{self.algorithm}, t = {self.asked:g}, k = {self.k}"

    @property
    def loss(self) -> str:
        """The information loss in words: as the report of the release states it, and by the raw table."""
        raw = f"{self.gcp:.3f}"
        return f"GCP {raw}" if self.gcp_stated is None else f"GCP {self.gcp_stated:.3f} ({raw} by the raw table)"

    @property
    def texts(self) -> tuple[str, ...]:
        """What was measured, for a person: t, GCP as stated and by the raw table, LM, query error, excess, rows, CPU seconds."""
        return (
            decimal_up(self.t),
            "-" if self.gcp_stated is None else f"{self.gcp_stated:.3f}",
            f"{self.gcp:.3f}",
            f"{self.lm:.3f}",
            f"{self.query_error:.1%}",
            f"{100 * self.excess:+.1f}",
            f"{self.homogeneous:,.0f}",
            f"{self.seconds:.1f}",
        )


class Compared(NamedTuple):
    """What was compared: the table, and how many of its persons each release was made without.

    Attributes
    ----------
    rows, persons : int
        Of the whole table; each row is a person where the policy names no unit.
    held_back : int
        Persons who are in no release, so that attacks can be tried on them too.
    quasi, sensitive : list of str
    """

    rows: int
    persons: int
    held_back: int
    quasi: list[str]
    sensitive: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Releases of one table, made by several algorithms at several t and k. INTERNAL: it is measured with the raw table.

    Attributes
    ----------
    results : list of Result
        Each cell: how it went, and its figures.
    asked : float or None
        The t of the policy itself, the largest if its sensitive attributes have several.
    compared : Compared or None
        What was compared; None if it is not known.
    """

    results: list[Result]
    asked: float | None
    compared: Compared | None = None

    @classmethod
    def from_dict(cls, given: Any) -> Comparison:
        """Return a comparison that was written as JSON.

        Raises
        ------
        InputError
            It is not the JSON of a comparison.
        """
        try:
            compared = given.get("compared")
            results = [Result.from_dict(one) for one in given["results"]]
            return cls(results, given["asked"], None if compared is None else Compared(**compared))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError("This is not the JSON of a comparison. Write it anew with 'tclose compare --json'.") from error

    def __iter__(self) -> Iterator[Result]:
        """Iterate over the results of the cells."""
        return iter(self.results)

    @property
    def points(self) -> list[Point]:
        """What was done, seeds taken together: sorted by t, then by information loss."""
        groups: dict[tuple[str, float | None, int], list[Result]] = {}
        for result in self.results:
            if result.figures is not None:
                groups.setdefault((result.cell.algorithm, result.cell.t, result.cell.k), []).append(result)
        found = [_point(results) for results in groups.values()]
        return sorted(found, key=lambda point: (point.asked or 0, point.k, point.gcp, point.algorithm))

    @property
    def share_in_table(self) -> dict[str, float]:
        """The share of the commonest value of each sensitive column in the table, as the first release has it."""
        return next((result.figures.share_in_table for result in self.results if result.figures is not None), {})

    def choice(self) -> list[Point]:
        """Return the points of the frontier at whose t and k there is another algorithm to choose."""
        several = {(one.asked, one.k) for one in self.points for other in self.points if _rivals(one, other)}
        return [point for point in self.frontier() if (point.asked, point.k) in several]

    def frontier(self, x: str = "gcp", y: str = "t") -> list[Point]:
        """Return the points that no other is better than: at least as good in both measures, and better in one.

        Parameters
        ----------
        x, y : str
            "t" (attained), "excess", "gcp", "lm", "query_error" or "homogeneous".
        """
        _check_measures(x, y)
        points = self.points
        return [point for point in points if not any(_better(other, point, (x, y)) for other in points)]

    @property
    def best(self) -> Point | None:
        """Of the releases whose t is nearest to that of the policy, the one that loses least; None if nothing was done."""
        return min(
            self.points,
            key=lambda point: (abs((point.asked or 0) - (self.asked or 0)), point.asked or 0, point.gcp, point.algorithm),
            default=None,
        )

    @property
    def suggestion(self) -> str | None:
        """What the figures speak for, in sentences; None if nothing was done."""
        points, best = self.points, self.best
        if best is None:
            return None
        asked = f"k = {best.k}" if best.asked is None else f"t = {best.asked:g}"
        size = "" if best.asked is None else f" (k = {best.k})"
        rivals = [point for point in points if _rivals(point, best)]
        found = f" loses least: {best.loss}" if rivals else f": {best.loss}"
        gains = round(100 * best.excess, 1) > 0
        attacked = f"largest excess of an attack {100 * best.excess:+.1f} points" if gains else NO_GAIN
        said = (
            f"At {asked}, {best.algorithm}{size}{found}, COUNT queries off by {best.query_error:.1%} in the median, {attacked}."
            f"{self._steps(best)}"
        )
        if best.sentence and gains:
            where = "That attack" if best.seeds == 1 else f"The largest of {best.seeds} seeds"
            said += f" {where}: {best.sentence[:1].lower()}{best.sentence[1:]}"
        if best.homogeneous:
            said += f" {best.homogeneous:,.0f} rows lie in classes in which everybody has the same sensitive value."
            none = [point for point in points if not point.homogeneous]
            if none:
                cheapest = min(none, key=lambda point: (point.gcp, point.algorithm))
                said += f" The least lossy release without such rows is {cheapest.name}: {cheapest.loss}."
        if rivals:
            second = min(rivals, key=lambda point: (point.gcp, point.algorithm))
            said += f" Next is {second.algorithm} with {second.loss}."
        return said

    def _steps(self, best: Point) -> str:
        """Return a sentence on what the next smaller t costs, and what the next larger one gives back; empty without others."""
        if best.asked is None:
            return ""
        same = [point for point in self.points if (point.algorithm, point.k) == (best.algorithm, best.k)]
        smaller = [point for point in same if point.asked is not None and point.asked < best.asked][-1:]
        larger = [point for point in same if point.asked is not None and point.asked > best.asked][:1]
        steps = [_step(point, best) for point in (*smaller, *larger)]
        return f" In GCP, a t of {', one of '.join(steps)}." if steps else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a mapping for JSON."""
        front = self.frontier()
        points = [{**point._asdict(), "dominated": point not in front} for point in self.points]
        return {
            "internal": True,
            "asked": self.asked,
            "compared": None if self.compared is None else self.compared._asdict(),
            "results": [result.to_dict() for result in self.results],
            "points": points,
            "share_in_table": self.share_in_table,
            "suggestion": self.suggestion,
        }

    def to_json(self) -> str:
        """Return the comparison as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_csv(self) -> str:
        """Return one line for each cell, with its figures, as CSV."""
        out = io.StringIO()
        rows = [_flat(result) for result in self.results]
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def to_html(self, path: str | Path | None = None, *, name: str = "table", force: bool = False) -> str:
        """Return the comparison as one HTML page, and write it to a file if a path is given.

        It is INTERNAL. It needs the extra ``report``: ``pip install 'tclose[report]'``.

        Parameters
        ----------
        path
            Ends in .html.
        name
            What the page calls the table.
        force
            Whether a file that exists may be replaced.
        """
        from tclose.report.compared import comparison_page
        from tclose.report.page import make_page

        return make_page(lambda: comparison_page(self, name), path, force=force)

    def plot_frontier(self, x: str = "gcp", y: str = "t") -> Any:
        """Return an Altair chart of all points by two measures; those that others dominate are pale. INTERNAL.

        It needs the extra ``report``: ``pip install 'tclose[report]'``. Parameters are those of `frontier`.
        """
        from tclose.report.plots import plot_frontier

        return plot_frontier(self, x, y)

    def _repr_html_(self) -> str:
        """Return the comparison as a small table for a notebook: a suggestion, and what each algorithm attains and loses."""
        from tclose.report.summaries import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        """Return how many cells were done, and how many points are on the frontier, in one line."""
        done = sum(result.status == "done" for result in self.results)
        cells = number_of(len(self.results), "cell")
        return f"<Comparison: {done:,} of {cells} done; {len(self.frontier())} on the frontier of t and GCP; INTERNAL>"


def _check_measures(*names: str) -> None:
    """Raise PolicyError for what is no measure of a comparison."""
    for name in names:
        one_of("A measure", name, MEASURES)


def _rivals(one: Point, other: Point) -> bool:
    """Whether two points are of different algorithms at the same limits."""
    return one.algorithm != other.algorithm and (one.asked, one.k) == (other.asked, other.k)


def _step(one: Point, best: Point) -> str:
    """Return what another t costs, or gives back."""
    more = _more(one, best)
    return f"{one.asked:g} costs {more:.3f} more" if more > 0 else f"{one.asked:g} gives back {-more:.3f}"


def _more(one: Point, other: Point) -> float:
    """Return how much more a point loses than another: as their reports state it, or by the raw table if that is not known."""
    if one.gcp_stated is None or other.gcp_stated is None:
        return one.gcp - other.gcp
    return one.gcp_stated - other.gcp_stated


def _point(results: Sequence[Result]) -> Point:
    """Return the means of the figures of cells that differ in their seed alone."""
    figures = [result.figures for result in results if result.figures is not None]
    cell, worst = results[0].cell, max(figures, key=lambda one: one.excess)

    def mean(measure: Callable[[Any], float | None]) -> float:
        known = [value for value in map(measure, figures) if value is not None]
        return fmean(known) if known else 0.0

    return Point(
        cell.algorithm,
        cell.t,
        cell.k,
        len(figures),
        max(one.t for one in figures),
        mean(lambda one: one.excess),
        mean(lambda one: one.gcp),
        mean(lambda one: one.lm),
        mean(lambda one: one.query_error),
        mean(lambda one: one.homogeneous),
        mean(lambda one: one.seconds),
        None if any(one.gcp_stated is None for one in figures) else mean(lambda one: one.gcp_stated),
        worst.attack,
        worst.sentence,
        {name: max(one.share.get(name, share) for one in figures) for name, share in worst.share.items()},
    )


def _better(first: Point, second: Point, measures: Sequence[str]) -> bool:
    """Whether a point is at least as good as another in all measures, and better in one."""
    pairs = [(getattr(first, measure), getattr(second, measure)) for measure in measures]
    return all(one <= other for one, other in pairs) and any(one < other for one, other in pairs)


def _flat(result: Result) -> dict[str, Any]:
    """Return a result as one row of a table."""
    row: dict[str, Any] = {**result.cell._asdict(), "status": result.status, "reason": result.reason or ""}
    found = result.to_dict()["figures"] or {}
    for name, value in found.items():
        if isinstance(value, dict):
            row |= {f"{name}.{key}": one for key, one in value.items()}
        elif isinstance(value, tuple):
            row |= {f"{name}.low": value[0], f"{name}.high": value[1]}
        else:
            row["attained_t" if name == "t" else name] = value
    return row
