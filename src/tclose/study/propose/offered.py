"""Offered: the hierarchies of a folder, a file COLUMN.csv for a column, and whether each fits. It quotes no cell of the table."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from tclose.errors import HierarchyError, InputError
from tclose.study.propose.columns import Column
from tclose.values.exact import number_of
from tclose.values.hierarchy import Hierarchy
from tclose.values.visible import visible


@dataclass(frozen=True)
class Misfit:
    """A file that its owner should mend.

    Attributes
    ----------
    column : str
    path : Path
    reason : str
        Why it is not used, in a sentence.
    before : str
        What stands before the command that says more; "" if the reason says all.
    """

    column: str
    path: Path
    reason: str
    before: str = ""

    def command(self, data: str) -> str:
        """Return the command that says more of the file, for a shell; ``data`` is the table."""
        return shlex.join(map(visible, ("tclose", "hierarchy", data, self.column, "--file", str(self.path))))


@dataclass(frozen=True)
class Fit:
    """What became of the file of a column: the hierarchy if it can be proposed, the reason in a sentence, and what to mend."""

    tree: Hierarchy | None
    reason: str
    misfit: Misfit | None = None


@dataclass(frozen=True)
class Offered:
    """The files of a folder, by the names of their columns."""

    files: dict[str, Path] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: str | Path) -> Offered:
        """Return the files ``COLUMN.csv`` of a folder; raise InputError if it cannot be read, or has none."""
        if Path(folder).is_file():
            raise InputError(f"Hierarchies must be in a folder. {str(folder)!r} is a file: give its folder.")
        try:
            found = sorted(path for path in Path(folder).iterdir() if path.suffix.lower() == ".csv" and path.is_file())
        except OSError:
            raise InputError(f"The folder of hierarchies {str(folder)!r} cannot be read. Check its path.") from None
        if not found:
            raise InputError(
                f"The folder of hierarchies {str(folder)!r} has no CSV files. A hierarchy is named like its column, age.csv."
            )
        return cls({path.stem: path for path in found})

    def fit_quasi(self, column: Column) -> Fit | None:
        """Return whether the file of a quasi-identifier fits it; None if there is no file."""
        return self._fit(column, missing=False)

    def fit_sensitive(self, column: Column) -> Fit | None:
        """Return whether the file of a sensitive column fits it; None if there is no file."""
        path = self.files.get(column.name)
        if path is not None and column.kind != "text":
            return Fit(None, f"{visible(path.name)} is not used: its {column.noun} have an order, which says what is near.")
        return self._fit(column, missing=column.missing > 0)

    def _fit(self, column: Column, *, missing: bool) -> Fit | None:
        """Return whether the file of a column fits; ``missing`` asks for a place for missing cells, too."""
        path = self.files.get(column.name)
        if path is None:
            return None
        name = visible(path.name)

        def misfit(why: str, before: str = "") -> Fit:
            return Fit(None, f"{name} {why}", Misfit(column.name, path, f"{name} {why}", before))

        try:
            tree = Hierarchy.from_csv(path)
        except HierarchyError:  # its sentence may quote a value
            return misfit("is no hierarchy.", "This says why:")
        lacking = sum(value not in tree for value in column.present.to_pylist())
        if lacking:
            return misfit(f"does not fit: it lacks {lacking:,} of {number_of(column.values, 'value')}.", "This names them:")
        if missing and None not in tree:
            return misfit("does not fit: it has no place for missing cells. Add a line whose value is empty.")
        if tree.height < 2:
            return Fit(None, f"{name} is not used: it has no groups between the values and its root.")
        return Fit(tree, f"{name} has all of its values, with {number_of(tree.height - 1, 'level')} of groups.")
