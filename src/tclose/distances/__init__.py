"""Ground distances, each in its file: ordered, numeric, equal, hierarchical, matrix."""

from tclose.distances.base import Distance
from tclose.distances.equal import Equal
from tclose.distances.hierarchical import Hierarchical
from tclose.distances.matrix import Matrix
from tclose.distances.numeric import Numeric
from tclose.distances.ordered import Ordered

__all__ = ["Distance", "Equal", "Hierarchical", "Matrix", "Numeric", "Ordered"]
