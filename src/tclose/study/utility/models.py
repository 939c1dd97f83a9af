"""Models: what a classifier learns from a release, tried on raw rows of people who are not in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tclose.extras import load
from tclose.study.scene import CONTROL, Scene
from tclose.study.utility.groups import Groups
from tclose.values.arrays import Floats, Ints


@dataclass(frozen=True)
class Model:
    """How often a logistic regression guesses a sensitive attribute of people who were held back, from their quasi-identifiers.

    Attributes
    ----------
    target : str
    raw, released : float
        The share of right guesses of a model that was trained on the raw rows; and on the release.
    constant : float
        The share of right guesses of who always says the most frequent value.
    """

    target: str
    raw: float
    released: float
    constant: float


def compare_models(scene: Scene, quasi: Sequence[Groups], target: Groups) -> Model:
    """Return what models learn from the raw rows and from the release.

    Both see the same features: for each group of each quasi-identifier the share of the row in it. A raw row has one group; a
    published one is distributed over all that it covers.
    """
    members, held = np.flatnonzero(scene.labels != CONTROL), scene.held_back
    tested, truth = _raw_features(quasi, held), target.rows[held]
    raw = _trained(_raw_features(quasi, members), target.rows[members], np.ones(len(members)))
    classes, values = np.nonzero(target.shares)
    weights = (target.shares * scene.sizes[:, None])[classes, values]
    released = _trained(np.concatenate([one.shares for one in quasi], axis=1)[classes], values, weights)
    most = np.bincount(target.rows[members]).argmax()
    shares = [float(np.mean(guesses == truth)) for guesses in (raw(tested), released(tested), most)]
    return Model(target.name, *shares)


def _raw_features(quasi: Sequence[Groups], rows: Ints) -> Any:
    """Return 1 for the group of each quasi-identifier that each row is in, and 0 for the others, as a sparse matrix."""
    starts = np.cumsum([0, *(one.count for one in quasi)])
    columns = np.stack([start + one.rows[rows] for start, one in zip(starts, quasi, strict=False)], axis=1)
    ends = np.arange(len(rows) + 1) * len(quasi)
    return load("scipy.sparse").csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(len(rows), starts[-1]))


def _trained(features: Any, target: Ints, weights: Floats) -> Any:
    """Return a function from features to the likeliest value, by logistic regression; constant if there is one value."""
    if len(np.unique(target)) == 1:
        return lambda tested: np.full(tested.shape[0], target[0])
    return (
        load("sklearn.linear_model")
        .LogisticRegression(max_iter=1000, tol=1e-3)
        .fit(features, target, sample_weight=weights)
        .predict
    )
