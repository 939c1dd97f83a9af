"""Ground distances and the earth mover's distance: ordered, numeric, equal, hierarchical, matrix."""

from tclose.distances.base import Distance, Move
from tclose.distances.equal import Equal
from tclose.distances.hierarchical import Hierarchical
from tclose.distances.matrix import Matrix
from tclose.distances.numeric import Numeric
from tclose.distances.ordered import Ordered

__all__ = ["Distance", "Equal", "Hierarchical", "Matrix", "Move", "Numeric", "Ordered"]
