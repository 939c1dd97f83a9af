"""Claims: what a certificate says, read from a file that nobody vouches for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from tclose.errors import InputError


class _Column(BaseModel):
    name: str
    role: str
    holds: str


class _File(BaseModel):
    sha256: str


class _Attained(BaseModel):
    k: int
    homogeneous: dict[str, int]
    sensitive: dict[str, dict[str, Any]]


class _Promise(BaseModel):
    t: float
    t_attained: float


class Certificate(BaseModel):
    """What a certificate must hold so that a release can be checked against it."""

    tool: Literal["tclose"]
    release: _File
    rows: int
    classes: int
    columns: list[_Column]
    policy: dict[str, Any]
    counted: Literal["rows", "persons"]
    attained: _Attained
    unique_rows: int
    loss: dict[str, Any]
    promised: dict[str, _Promise] = {}


def read_certificate(path: Path) -> Certificate:
    """A certificate from its file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Certificate {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):  # UnicodeDecodeError and JSONDecodeError are values that cannot be read
        raise InputError(f"Certificate {path.name!r} is not JSON. Check how it was copied.") from None
    try:
        return Certificate.model_validate(found)
    except ValidationError as error:
        if isinstance(found, dict) and "internal" in found:
            raise InputError(f"File {path.name!r} is the INTERNAL record, not the certificate. Keep it to yourself.") from None
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "tool"
        raise InputError(f"File {path.name!r} is no certificate of a release: it has no {place!r}, or an odd one.") from None
