"""The ordered distance: how many steps apart two values are in their order (Li et al. 2007, section 4.1)."""

from __future__ import annotations

from tclose.distances.shapes import Line


class Ordered(Line):
    r"""Values stand on a line, one step apart: :math:`d(i, j) = |i - j| / (m - 1)`.

    .. math:: EMD(P, Q) = \frac{1}{m-1} \sum_{i<m} |cumP_i - cumQ_i|

    Values are in the order of their **value**, never of their frequency: the tutorial's "sorted by frequency" gives
    other numbers, and is reached only by naming that order.
    """

    name = "ordered"

    def __init__(self, m: int) -> None:
        """Take the number of values, m: their codes are 0 to m-1, one step apart."""
        super().__init__(range(m))
