"""Information loss: what a release gives up, by the measures that papers compare algorithms by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tclose.make.encode import EncodedTable
from tclose.make.recode import Recoded
from tclose.make.scales import Published, Scale
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
    n = int(rows.sum()) + suppressed
    names = [attribute.name for attribute in published]
    shares = _scaled_weights(weights)

    def each(numbers: Sequence[float]) -> dict[str, float]:
        """Return an information loss of each quasi-identifier, by its name."""
        return dict(zip(names, numbers, strict=True))

    def mean(charges: Floats) -> float:
        """Return the mean charge over all rows; a suppressed row is charged 1."""
        return math.fsum([*(charges * rows).tolist(), suppressed]) / n

    gcp = [mean(attribute.ncp) for attribute in published]
    lm = [mean(attribute.lm) for attribute in published]
    precision = [1 - mean(attribute.height) for attribute in published]
    kl = [
        _divergence_of_estimate(counts, attribute.estimate, suppressed)
        for counts, attribute in zip(originals, published, strict=True)
    ]
    sse = {
        attribute.name: math.fsum([*attribute.squares.tolist(), suppressed])
        for attribute in published
        if attribute.squares is not None
    }
    overall: dict[str, float] = {
        "gcp": math.fsum(share * value for share, value in zip(shares, gcp, strict=True)),
        "lm": math.fsum(share * value for share, value in zip(shares, lm, strict=True)),
        "dm": sum(size * size for size in sizes.tolist()) + suppressed * n,
    }
    if k is not None and len(sizes):
        overall["c_avg"] = n / (len(sizes) * k)
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
    n = int(rows.sum())
    gcp, precision, known = {}, {}, []
    for attribute, weight in zip(published, weights, strict=True):
        if attribute.seen is not None:
            gcp[attribute.name] = math.fsum((attribute.seen * rows).tolist()) / n
            precision[attribute.name] = 1 - math.fsum((attribute.height * rows).tolist()) / n
            known.append(weight)
    overall: dict[str, float] = {"dm": sum(size * size for size in sizes.tolist())}
    if k is not None:
        overall["c_avg"] = n / (len(sizes) * k)
    if any(known):
        overall["gcp"] = math.fsum(share * value for share, value in zip(_scaled_weights(known), gcp.values(), strict=True))
        overall["precision"] = math.fsum(precision.values()) / len(precision)
    return Losses(overall, {"gcp": gcp, "precision": precision})


def in_words(scales: Sequence[Scale], published: Sequence[Published], rows: Ints) -> dict[str, str]:
    """Return in words how each quasi-identifier is published: ``4% of the rows as they are; the others in ranges of 8.6``."""
    said = {}
    for scale, attribute in zip(scales, published, strict=True):
        changed = np.where(attribute.height > 0, rows, 0)
        if not changed.any():
            said[attribute.name] = "as it is"
            continue
        mean = math.fsum((attribute.ncp * changed).tolist()) / int(changed.sum())
        as_is = 100 * (1 - int(changed.sum()) / int(rows.sum()))
        unchanged = f"{as_is:.0f}% of the rows as they are; the others " if as_is >= 0.5 else ""
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
