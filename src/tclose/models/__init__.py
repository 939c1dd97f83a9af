"""Privacy models: each judges a partition, and reports the attained value and the classes that break it."""

from tclose.models.anonymity import Lift, Share, homogeneous, too_small
from tclose.models.base import Model, Verdict
from tclose.models.closeness import Closeness
from tclose.models.disclosure import Disclosure
from tclose.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from tclose.models.likeness import BasicLikeness, EnhancedLikeness
from tclose.models.region import Regions, judge_regions

__all__ = [
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
