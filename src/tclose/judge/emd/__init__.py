r"""The earth mover's distance of the judge, by the shape of the ground distance.

.. math:: EMD(P, Q) = \min_{f \ge 0} \sum_{ij} f_{ij} d_{ij}, \quad \sum_j f_{ij} = P_i, \; \sum_i f_{ij} = Q_j

With integer counts, n rows in Q and s in P, ``n * s * scale * EMD`` is an integer, and all limits are judged on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tclose.distances import Distance
from tclose.judge.emd import joint, line, metric, tree
from tclose.judge.emd import set as any_set
from tclose.judge.emd.guard import Numerators, without_wrapping
from tclose.values.exact import product
from tclose.values.histograms import Histograms

Masses = Sequence[int] | Sequence[Fraction] | NDArray[np.int64]


class Form(NamedTuple):
    """How the earth mover's distance is computed for one shape."""

    numerators: Numerators
    """Of many classes at once, from their touched values."""
    cost: Callable[[Any, NDArray[Any]], Any]
    """From a distance and a dense surplus P - Q to ``scale`` times the least work that levels it."""


FORMS = {
    "line": Form(line.numerators, line.cost),
    "set": Form(any_set.numerators, any_set.cost),
    "tree": Form(tree.numerators, tree.cost),
    "metric": Form(metric.numerators, metric.cost),
    "joint": Form(joint.numerators, line.cost),
}


def numerators(distance: Distance, classes: Histograms) -> NDArray[Any]:
    """Return ``n * s * scale * EMD`` of each class against the table, in integers that cannot wrap around."""
    return without_wrapping(FORMS[distance.shape].numerators, distance, classes)


def denominators(distance: Distance, classes: Histograms) -> NDArray[Any]:
    """Return ``n * s * scale`` of each class, by which `numerators` are divided; 1 if the domain has one value."""
    scale = distance.scale
    return product(classes.sizes, classes.rows * scale) if scale else np.ones(len(classes), dtype=np.int64)


def exact_emd(distance: Distance, p: Masses, q: Masses) -> Fraction:
    """Return the earth mover's distance of two distributions over the whole domain as a fraction; each is scaled to sum 1."""
    if distance.scale == 0:
        return Fraction(0)
    left, right = (np.array([_python_number(mass) for mass in side], dtype=object) for side in (p, q))
    mass_left, mass_right = left.sum(), right.sum()
    work = FORMS[distance.shape].cost(distance, left * mass_right - right * mass_left)
    return Fraction(work) / (distance.scale * Fraction(mass_left) * Fraction(mass_right))


def float_emd(distance: Distance, p: Masses, q: Masses) -> float:
    """Return the earth mover's distance of two distributions over the whole domain as a float; each is scaled to sum 1."""
    if distance.scale == 0:
        return 0.0
    if distance.shape == "metric":  # flows are found in integers: the exact value, rounded once
        return float(exact_emd(distance, p, q))
    return float(FORMS[distance.shape].cost(distance, _shares(p) - _shares(q)) / distance.scale)


def _python_number(mass: Any) -> int | Fraction:
    """Return a mass as a Python integer or a fraction, not as a NumPy number."""
    return mass if isinstance(mass, Fraction) else int(mass)


def _shares(masses: Masses) -> NDArray[np.float64]:
    """Return the masses of a distribution scaled to sum 1, and to a largest of 1 before that, so that no sum overflows."""
    largest = max(masses)
    fits = 1e-200 < largest < 1e200  # else a float could not hold them all
    floats = np.array([float(mass if fits else mass / largest) for mass in masses])
    scaled = floats / floats.max()
    shares: NDArray[np.float64] = scaled / scaled.sum()
    return shares
