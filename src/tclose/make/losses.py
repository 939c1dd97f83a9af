"""Information loss: what a release gives up, by the measures that papers compare algorithms by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tclose.make.encode import EncodedTable
from tclose.make.recode import Recoded
from tclose.make.scales import Published, Scale
from tclose.make.scales.base import Reach, joined_reach, size_of_reach
from tclose.policy import Policy
from tclose.values.arrays import Floats, Ints, grouped


class Losses(Mapping[str, float]):
    r"""The information loss of a release, in all and by attribute.

    Over the n rows of the input; a suppressed row loses everything:

    ``gcp``
        Mean over rows of the NCP, weighted over attributes: 0 is no loss, 1 is the loss of everything (Xu et al. 2006).
    ``lm``
        Mean over rows of the loss metric, weighted over attributes; it charges :math:`(leaves - 1) / (all - 1)` (Iyengar 2002).
    ``dm``
        Discernibility: :math:`\sum |E|^2`, and n for each suppressed row (Bayardo and Agrawal 2005).
    ``c_avg``
        Average class size, in k: :math:`n / (k \cdot classes)` (LeFevre et al. 2006). Only with a k.
    ``sse``
        Sum of squared errors, each in ranges of the table, over rows and numeric attributes. Only if there are some.
    ``precision``
        1 minus the mean height to which cells were generalised (Sweeney 2002).
    ``kl``
        :math:`\sum_v p_v \ln (p_v / q_v)` summed over attributes: p is the distribution in the input, q the one that a reader
        expects who distributes each class evenly over the values it covers (Kifer and Gehrke 2006).

    Attributes
    ----------
    by_attribute : dict
        The values of gcp, lm, sse, precision and kl for each attribute: ``by_attribute["gcp"]["age"]``.

    References
    ----------
    Xu et al. 2006, Utility-Based Anonymization Using Local Recoding.
    Iyengar 2002, Transforming Data to Satisfy Privacy Constraints.
    Bayardo and Agrawal 2005, Data Privacy Through Optimal k-Anonymization.
    LeFevre et al. 2006, Mondrian Multidimensional K-Anonymity.
    Sweeney 2002, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression.
    Kifer and Gehrke 2006, Injecting Utility into Anonymized Datasets.
    """

    def __init__(self, overall: Mapping[str, float], by_attribute: Mapping[str, Mapping[str, float]]) -> None:
        """Take the information losses of the whole release, and those of each attribute."""
        self._overall = dict(overall)
        self.by_attribute = {loss: dict(values) for loss, values in by_attribute.items()}

    def __getitem__(self, loss: str) -> float:
        """Return one information loss of the whole release, by its name: "gcp"."""
        return self._overall[loss]

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the names of the information losses."""
        return iter(self._overall)

    def __len__(self) -> int:
        """Return the number of information losses."""
        return len(self._overall)

    def to_dict(self) -> dict[str, Any]:
        """Return the information losses as a mapping for JSON, with those of each attribute under ``by_attribute``."""
        return {**self._overall, "by_attribute": {loss: dict(values) for loss, values in self.by_attribute.items()}}

    def __repr__(self) -> str:
        """Return the information losses of the whole release in one line."""
        return f"<Losses: {', '.join(f'{loss} {value:,.4g}' for loss, value in self._overall.items())}>"


def losses(
    published: Sequence[Published],
    *,
    weights: Sequence[Any],
    rows: Ints,
    sizes: Ints,
    originals: Sequence[Ints],
    suppressed: int = 0,
    k: int | None = None,
) -> Losses:
    """Return the information losses of a release against its input, from its published quasi-identifiers.

    Parameters
    ----------
    published : sequence of Published
        The quasi-identifiers.
    weights : sequence of numbers
        The weight of each in gcp and lm: none negative, not all 0.
    rows : (classes,) int64
        Rows of each class of the partition, as in ``published``.
    sizes : int64 array
        Rows of each published class: classes that are published alike are one.
    originals : sequence of (size,) int64
        How often each code occurs in the input, for each quasi-identifier.
    suppressed : int
        The number of rows of the input that are not published.
    k : int, optional
        The k of the policy.

    Examples
    --------
    >>> from tclose.make.scales import Line
    >>> scale, codes = Line.of("age", [20, 30, 40])
    >>> age = scale.publish(np.array([0, 1, 2, 2]), np.array([0, 2, 4]))
    >>> two = np.array([2, 2])
    >>> losses([age], weights=[1], rows=two, sizes=two, originals=[np.array([1, 1, 2])], k=2)
    <Losses: gcp 0.25, lm 0.25, dm 8, c_avg 1, sse 0.125, precision 0.5, kl 0>
    """
    charged = [Charges.of(attribute, rows) for attribute in published]
    squared = sum(size * size for size in sizes.tolist())
    whole = Whole(int(rows.sum()) + suppressed, suppressed, len(sizes), squared, k)
    return losses_of_charges(charged, whole, weights=weights, originals=originals)


class OpenRows(NamedTuple):
    """The rows whose published ranges are open at their low and at their high end; see `OpenEnds`.

    Rows of classes that are charged 1 however much they cover are not among them.
    """

    low: int
    high: int
    numbered: bool

    @classmethod
    def of(cls, published: Published, rows: Ints) -> OpenRows:
        """Return how many rows of classes that have been published are in open ranges; ``rows`` are the rows of each."""
        if published.open_ends is None:
            return cls(0, 0, numbered=True)
        low, high, numbered = published.open_ends
        counted = rows if published.mixed is None else np.where(published.mixed, 0, rows)
        return cls(int(counted[low].sum()), int(counted[high].sum()), numbered)


@dataclass(frozen=True, eq=False)
class Charges:
    """What is charged for one quasi-identifier, summed over the rows of each class, or of each part of a table.

    Attributes
    ----------
    name : str
        The quasi-identifier.
    ncp, lm, height : lists of float
        One number for each class or part; see `Published`.
    seen, squares : lists of float or None
        The same, where they are known. The squares of a part take its open ends to reach as far as its own numbers.
    changed, changed_ncp : int, list of float
        The number of rows that are not published as they are, and their NCP.
    estimate : (size,) float64
        How many rows a reader expects at each code.
    missing : bool
        Whether the value of some row is missing.
    reach : Reach or None
        What the classes cover, of which ``seen`` is a share; see `Published`.
    mixed : int
        The rows that ``seen`` charges 1 for, however much their classes cover.
    open_ends : OpenRows
        The rows in ranges that are open at an end, of which ``seen`` depends on the outermost number that is published.
    """

    name: str
    ncp: list[float]
    lm: list[float]
    height: list[float]
    seen: list[float] | None
    squares: list[float] | None
    changed: int
    changed_ncp: list[float]
    estimate: Floats
    missing: bool
    reach: Reach | None
    mixed: int
    open_ends: OpenRows

    @classmethod
    def of(cls, published: Published, rows: Ints) -> Charges:
        """Return the charges of classes that have been published; ``rows`` are the rows of each."""
        changed = np.where(published.height > 0, rows, 0)
        return cls(
            published.name,
            (published.ncp * rows).tolist(),
            (published.lm * rows).tolist(),
            (published.height * rows).tolist(),
            None if published.seen is None else (published.seen * rows).tolist(),
            None if published.squares is None else published.squares.tolist(),
            int(changed.sum()),
            (published.ncp * changed).tolist(),
            published.estimate,
            published.missing,
            published.reach,
            0 if published.mixed is None else int(rows[published.mixed].sum()),
            OpenRows.of(published, rows),
        )

    def summed(self) -> Charges:
        """Return the charges with one number for all classes."""
        return replace(
            self,
            ncp=[math.fsum(self.ncp)],
            lm=[math.fsum(self.lm)],
            height=[math.fsum(self.height)],
            seen=None if self.seen is None else [math.fsum(self.seen)],
            squares=None if self.squares is None else [math.fsum(self.squares)],
            changed_ncp=[math.fsum(self.changed_ncp)],
        )

    @classmethod
    def joined(cls, parts: Sequence[Charges]) -> Charges:
        """Return the charges of all parts of a table, in the order of the parts."""

        def terms(own: Callable[[Charges], list[float] | None]) -> list[float]:
            """Return the numbers of all parts, one part after the other."""
            return [term for part in parts for term in own(part) or ()]

        first = parts[0]
        with_numbers = [part for part in parts if part.open_ends.numbered] or parts
        reaches = [part.reach for part in with_numbers if part.reach is not None]
        reach = joined_reach(reaches) if reaches else None
        return cls(
            first.name,
            terms(lambda part: part.ncp),
            terms(lambda part: part.lm),
            terms(lambda part: part.height),
            None if first.seen is None else terms(lambda part: part.seen_within(reach)),
            None if first.squares is None else terms(lambda part: part.squares),
            sum(part.changed for part in parts),
            terms(lambda part: part.changed_ncp),
            np.array([math.fsum(column) for column in zip(*(part.estimate.tolist() for part in parts), strict=True)]),
            any(part.missing for part in parts),
            reach,
            sum(part.mixed for part in parts),
            OpenRows(
                sum(part.open_ends.low for part in parts),
                sum(part.open_ends.high for part in parts),
                any(part.open_ends.numbered for part in parts),
            ),
        )

    def seen_within(self, reach: Reach | None) -> list[float]:
        """Return what a reader charges all classes together who sees a table of which they are a part."""
        if self.seen is None:
            return []
        if reach is None or self.reach is None or reach == self.reach:
            return self.seen
        # Exactly: reaches of floats may be whole numbers beyond all floats.
        covered = (Fraction(math.fsum(self.seen)) - self.mixed) * size_of_reach(self.reach)
        if isinstance(reach, tuple) and isinstance(self.reach, tuple):
            covered += self.open_ends.low * (self.reach[0] - reach[0]) + self.open_ends.high * (reach[1] - self.reach[1])
        return [float(self.mixed + covered / max(size_of_reach(reach), 1))]


@dataclass(frozen=True)
class Whole:
    """A release as a whole: the rows of its input, those that are suppressed, its classes, the sum of their squared sizes, k."""

    rows: int
    suppressed: int
    classes: int
    squared: int
    k: int | None


def losses_of_charges(charged: Sequence[Charges], whole: Whole, *, weights: Sequence[Any], originals: Sequence[Ints]) -> Losses:
    """Return the information losses of a release against its input, from what is charged for its quasi-identifiers."""
    n, suppressed = whole.rows, whole.suppressed
    names = [attribute.name for attribute in charged]
    shares = _scaled_weights(weights)

    def each(numbers: Sequence[float]) -> dict[str, float]:
        """Return an information loss of each quasi-identifier, by its name."""
        return dict(zip(names, numbers, strict=True))

    def mean(charges: Sequence[float]) -> float:
        """Return the mean charge over all rows; a suppressed row is charged 1."""
        return math.fsum([*charges, suppressed]) / n

    gcp = [mean(attribute.ncp) for attribute in charged]
    lm = [mean(attribute.lm) for attribute in charged]
    precision = [1 - mean(attribute.height) for attribute in charged]
    kl = [
        _divergence_of_estimate(counts, attribute.estimate, suppressed)
        for counts, attribute in zip(originals, charged, strict=True)
    ]
    sse = {attribute.name: math.fsum([*attribute.squares, suppressed]) for attribute in charged if attribute.squares is not None}
    overall: dict[str, float] = {
        "gcp": math.fsum(share * value for share, value in zip(shares, gcp, strict=True)),
        "lm": math.fsum(share * value for share, value in zip(shares, lm, strict=True)),
        "dm": whole.squared + suppressed * n,
    }
    if whole.k is not None and whole.classes:
        overall["c_avg"] = n / (whole.classes * whole.k)
    if sse:
        overall["sse"] = math.fsum(sse.values())
    overall |= {"precision": math.fsum(precision) / len(precision), "kl": math.fsum(kl)}
    return Losses(overall, {"gcp": each(gcp), "lm": each(lm), "sse": sse, "precision": each(precision), "kl": each(kl)})


def losses_against_input(table: EncodedTable, labels: Ints, recoded: Recoded, policy: Policy) -> Losses:
    """Return the information losses of a release against its input, suppressed rows included.

    Parameters
    ----------
    table
        The input.
    labels : (rows,) int64
        The class of each row of the input; -1 where it is suppressed.
    recoded
        What is published of it.
    """
    published, sizes = recoded.published, recoded.sizes
    suppressed = int(np.count_nonzero(labels < 0))
    if suppressed:  # charged on the scales of the input
        members, starts = grouped(labels)
        scales = table.scales_of(members, starts)
        published = [scale.publish(codes[members], starts) for scale, codes in zip(scales, table.quasi, strict=True)]
        sizes = np.diff(starts)
    return losses(
        published,
        weights=[column.weight for column in policy.quasi],
        rows=sizes,
        sizes=recoded.seen(),
        originals=[np.bincount(codes, minlength=scale.size) for codes, scale in zip(table.quasi, table.scales, strict=True)],
        suppressed=suppressed,
        k=policy.k,
    )


def losses_seen(
    published: Sequence[Published], *, weights: Sequence[Any], rows: Ints, sizes: Ints, k: int | None = None
) -> Losses:
    """Return the information losses that anyone can recompute from a release: gcp, dm, c_avg and precision.

    The others depend on the input: someone who knows all of it but one cell could try which value gives the published number.
    """
    squared = sum(size * size for size in sizes.tolist())
    charged = [Charges.of(attribute, rows) for attribute in published]
    return losses_seen_of_charges(charged, Whole(int(rows.sum()), 0, len(sizes), squared, k), weights=weights)


def losses_seen_of_charges(charged: Sequence[Charges], whole: Whole, *, weights: Sequence[Any]) -> Losses:
    """Return the information losses that anyone can recompute from a release, from what is charged for it; see `losses_seen`."""
    gcp, precision, known = {}, {}, []
    for attribute, weight in zip(charged, weights, strict=True):
        if attribute.seen is not None:
            gcp[attribute.name] = math.fsum(attribute.seen) / whole.rows
            precision[attribute.name] = 1 - math.fsum(attribute.height) / whole.rows
            known.append(weight)
    overall: dict[str, float] = {"dm": whole.squared}
    if whole.k is not None:
        overall["c_avg"] = whole.rows / (whole.classes * whole.k)
    if any(known):
        overall["gcp"] = math.fsum(share * value for share, value in zip(_scaled_weights(known), gcp.values(), strict=True))
        overall["precision"] = math.fsum(precision.values()) / len(precision)
    return Losses(overall, {"gcp": gcp, "precision": precision})


def in_words(scales: Sequence[Scale], published: Sequence[Published], rows: Ints) -> dict[str, str]:
    """Return in words how each quasi-identifier is published: ``4.0% of the rows as they are; the others in ranges 8.6 wide``."""
    return charges_in_words(scales, [Charges.of(attribute, rows) for attribute in published], int(rows.sum()))


def charges_in_words(scales: Sequence[Scale], charged: Sequence[Charges], rows: int) -> dict[str, str]:
    """Return in words how each quasi-identifier of a release of this many rows is published; see `in_words`."""
    said = {}
    for scale, attribute in zip(scales, charged, strict=True):
        if not attribute.changed:
            said[attribute.name] = "as it is"
            continue
        mean = math.fsum(attribute.changed_ncp) / attribute.changed
        as_is = 100 * (1 - attribute.changed / rows)
        unchanged = f"{as_is:.1f}% of the rows as they are; the others " if as_is >= 0.05 else ""
        said[attribute.name] = f"{unchanged}{scale.width_in_words(mean)}"
    return said


def _scaled_weights(weights: Sequence[Any]) -> list[float]:
    """Return the weights of quasi-identifiers divided by their sum."""
    total = sum(weights)
    if not total:
        raise ValueError("Some weight must be above 0.")
    return [float(weight / total) for weight in weights]


def _divergence_of_estimate(counts: Ints, estimate: Floats, suppressed: int) -> float:
    """Return the KL divergence of the input's distribution from the one that a reader of the release expects.

    Rounded to 12 decimals: the last bits of a logarithm differ between machines.
    """
    n = int(counts.sum())
    expected = (estimate + suppressed / len(counts)).tolist()
    terms = [count * math.log(count / near) for count, near in zip(counts.tolist(), expected, strict=True) if count]
    return round(max(math.fsum(terms) / n, 0.0), 12)
