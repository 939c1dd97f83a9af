"""Privacy models: each judges a partition, and reports the attained value and the classes that break it.

They are registered by their keys in `tclose.policy.models`, by what they are judged on. (n,t)-closeness is judged on regions, by
`judge_regions`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tclose.judge.models.anonymity import Lift, Share, homogeneous, too_small
from tclose.judge.models.base import Model, Verdict
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.disclosure import Disclosure
from tclose.judge.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from tclose.judge.models.likeness import BasicLikeness, EnhancedLikeness
from tclose.judge.models.region import Regions, judge_regions

ON_VALUES: dict[str, type[Model]] = {
    model.key: model
    for model in (
        Closeness,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        BasicLikeness,
        EnhancedLikeness,
        Disclosure,
        Lift,
        Share,
    )
}
"""Judged on the values of one sensitive attribute, class by class."""

ON_SIZES: dict[str, Callable[[NDArray[np.int64], int], NDArray[np.bool_]]] = {"k": too_small}
"""Judged on the sizes of classes: which of them break the limit."""

__all__ = [
    "ON_SIZES",
    "ON_VALUES",
    "BasicLikeness",
    "Closeness",
    "Disclosure",
    "DistinctDiversity",
    "EnhancedLikeness",
    "EntropyDiversity",
    "Lift",
    "Model",
    "RecursiveDiversity",
    "Regions",
    "Share",
    "Verdict",
    "homogeneous",
    "judge_regions",
    "too_small",
]
