"""Privacy models: each judges a partition, and reports the attained value and the classes that break it."""

from tclose.judge.models.anonymity import Lift, Share, homogeneous, too_small
from tclose.judge.models.base import Model, Verdict
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.disclosure import Disclosure
from tclose.judge.models.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from tclose.judge.models.likeness import BasicLikeness, EnhancedLikeness
from tclose.judge.models.region import Regions, judge_regions

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
