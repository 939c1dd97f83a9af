"""Privacy models: each judges a partition, and reports the attained value and the classes that break it.

They are found by their keys in `tclose.policy.models`, by what they are judged on. (n,t)-closeness is judged on regions, by
`judge_regions` of `region.py`.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
from numpy.typing import NDArray

from tclose.judge.models.anonymity import too_small
from tclose.judge.models.base import Model

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

ON_VALUES: dict[str, type[Model]] = {model.key: model for model in Model.__subclasses__()}
"""Judged on the values of one sensitive attribute, class by class: every model of the modules of this folder."""

ON_SIZES: dict[str, Callable[[NDArray[np.int64], int], NDArray[np.bool_]]] = {"k": too_small}
"""Judged on the sizes of classes: which of them break the limit."""
