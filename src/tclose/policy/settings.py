"""Settings: the base class of the parts of a policy, and its settings in plain types."""

from __future__ import annotations

import os
from dataclasses import MISSING, fields
from datetime import date, time
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from tclose.distances.labelled import LabelledMatrix
from tclose.values.bins import Bins
from tclose.values.builders import Builder, Ranges
from tclose.values.exact import plain
from tclose.values.hierarchy import Hierarchy
from tclose.values.notation import DateForm

CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True, validate_default=False)


class Settings:
    """A part of a policy. It refuses settings that contradict one another, and prints those that are not at their defaults."""

    def __post_init__(self) -> None:
        """Check the conditions that involve several settings."""
        self._check()

    def _check(self) -> None:
        """Refuse settings that contradict one another; each kind of settings says which do."""

    def __repr__(self) -> str:
        """Return the name of the class and the settings that are not at their defaults."""
        shown = {setting.name: getattr(self, setting.name) for setting in fields(self)}  # type: ignore[arg-type]  # a dataclass
        changed = [s for s in fields(self) if shown[s.name] != _default_of(s)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{s.name}={readable(shown[s.name])!r}' for s in changed)})"


def readable(value: Any) -> Any:
    """Return a setting's value as a person writes it, for an error sentence."""
    if isinstance(value, DateForm):
        return value.words
    if isinstance(value, Builder):
        return value.setting()
    return plain(value) if isinstance(value, Fraction) else value


def _default_of(setting: Any) -> Any:
    """Return the default value of a policy's field."""
    return setting.default_factory() if setting.default_factory is not MISSING else setting.default


def plain_settings(owner: Any, folder: Path | None) -> dict[str, Any]:
    """Return the settings that are not at their defaults, in plain types that YAML can hold."""

    def simple(value: Any) -> Any:
        """Return a policy's setting as a number, text, list or mapping."""
        if isinstance(value, Fraction):
            return plain(value)
        if isinstance(value, Ranges) and value.file and folder is not None:
            return {value.key: _path_from(folder, value.file)}
        if isinstance(value, Bins | Builder):
            return value.setting()
        if isinstance(value, DateForm):
            return value.words
        if isinstance(value, date | time):
            return value.isoformat()
        if isinstance(value, Hierarchy | LabelledMatrix):
            return _path_from(folder, value.file) if value.file and folder is not None else value.to_mapping()
        return value

    return {f.name: simple(getattr(owner, f.name)) for f in fields(owner) if getattr(owner, f.name) != _default_of(f)}


def _path_from(folder: Path, file: str | Path) -> str:
    """Return the path of a file as a policy in a folder names it: relative to it, so that both can be moved together.

    One that was given as absolute stays so if it is not below the folder, unless the folder is absolute, too, and near.
    """
    path, given = os.path.relpath(file, folder), Path(file)
    far = not folder.is_absolute() or len(Path(os.path.commonpath([folder, given.absolute()])).parts) < 2
    return str(given) if given.is_absolute() and path.startswith(os.pardir) and far else path
