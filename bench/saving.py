"""The pictures of the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tclose.report.svg import draw

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def save(chart: Any, name: str) -> None:
    """Write an Altair chart as docs/pictures/NAME.svg."""
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.svg").write_text(draw(chart.to_dict()), encoding="utf-8")
