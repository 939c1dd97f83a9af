"""Figures of a cell of a comparison, of which only some matter to a test."""

from __future__ import annotations

from typing import Any

from tclose.study.compare.cell import Figures


def figures(**given: Any) -> Figures:
    """Figures of which only some matter."""
    plain: dict[str, Any] = {"classes": 9, "suppressed": 0, "homogeneous": 0, "lm": 0.1, "query_error": 0.2, "excess": 0.01}
    plain |= {"excess_interval": (0.0, 0.02), "attack": "learning, ill", "seconds": 1.0, "gcp": 0.3}
    t = given.pop("t", 0.1)
    return Figures(attained={"ill": t}, **plain | given)
