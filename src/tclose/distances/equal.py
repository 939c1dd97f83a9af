"""The equal distance: any two different values are at distance 1 (Li et al. 2007, section 4.2)."""

from __future__ import annotations

from tclose.distances.shapes import Set


class Equal(Set):
    r""":math:`d(u, v) = 1` for :math:`u \ne v`; the EMD is the variational distance.

    .. math:: EMD(P, Q) = \frac12 \sum_v |P_v - Q_v| = 1 - \sum_v \min(P_v, Q_v)
    """

    name = "equal"
