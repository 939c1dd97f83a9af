"""Classes in which everybody, or nobody, has the commonest value of a sensitive column: a limit t may allow them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tclose.judge.result import Audit
from tclose.policy import Sensitive
from tclose.report.labels import percent, quoted
from tclose.study.measured import Distribution
from tclose.values.arrays import Bools
from tclose.values.exact import decimal_down, number_of

COMMON = Fraction(1, 2)
"""That nobody in a class has the commonest value is told if this share of rows has it: a rarer one may be absent by chance."""


@dataclass(frozen=True)
class Group:
    """Some classes of a release, and the rows in them."""

    classes: int
    rows: int


@dataclass(frozen=True)
class Commonest:
    """The commonest value of a sensitive column, and the classes in which everybody, or nobody, has it.

    Attributes
    ----------
    column, value : str
    share : Fraction
        Of the rows with the value.
    everybody, nobody : Group
        ``nobody`` is empty for a value that fewer than `COMMON` have.
    cells : tuple of int
        Numbers of rows that a reader can tell from what is said of these classes here and of classes with one value elsewhere.
    """

    column: str
    value: str
    share: Fraction
    everybody: Group
    nobody: Group
    cells: tuple[int, ...]

    @classmethod
    def of(cls, found: Distribution, audit: Audit) -> Commonest:
        """Return the commonest value of a column, ties: the first wins, and the classes without and with nothing else."""
        code = int(found.counts.argmax())
        rows, share = found.rows_with(code), Fraction(int(found.counts[code]), int(found.counts.sum()))

        def group(chosen: Bools) -> Group:
            return Group(int(chosen.sum()), int(audit.sizes[chosen].sum()))

        all_have = group((rows == audit.sizes) & (share < 1))
        none_has = group((rows == 0) & (share >= COMMON))
        other = audit.sensitive[found.name].homogeneous_rows - all_have.rows
        cells = (all_have.rows, none_has.rows, audit.rows - all_have.rows - none_has.rows, other)
        return cls(found.name, found.values[code], share, all_have, none_has, cells)

    def told(self, least: int) -> bool:
        """Whether numbers of rows may be told: none that a reader can tell from them is small."""
        return all(count == 0 or count >= least for count in self.cells)

    def in_words(self, audit: Audit, *, exactly: bool) -> str:
        """Return what somebody learns who knows the class of a person, and what closes it; empty if there are no such classes.

        Parameters
        ----------
        exactly
            Whether to tell the value, its share, and numbers of classes and rows.
        """
        groups = [(group, verb) for group, verb in ((self.everybody, "everybody has"), (self.nobody, "nobody has")) if group.rows]
        if not groups:
            return ""
        name = quoted(self.column)
        said = [self._exactly(audit, groups)] if exactly else []
        if not exactly:
            said.append(f"In some classes {' and in some '.join(verb for _, verb in groups)} the commonest value of {name}.")
        said.append("Whoever knows that a person is in such a class knows this of the person.")
        column = next(column for column in audit.policy.sensitive if column.name == self.column)
        return " ".join([*said, self._remedy(column, audit, exactly=exactly)])

    def _exactly(self, audit: Audit, groups: list[tuple[Group, str]]) -> str:
        """Return sentences with the value and the numbers of classes and rows."""
        (first, verb), *others = groups
        where = f"{first.classes:,} of {number_of(audit.classes, 'class', 'classes')}"
        rows = f"{first.rows:,} of {number_of(audit.rows, 'row')}"
        value = f"{quoted(self.column)} {quoted(self.value)}, the commonest value ({percent(float(self.share))} of all rows)"
        said = [f"In {where}, with {rows}, {verb} {value}."]
        said += [
            f"In {number_of(group.classes, 'class', 'classes')}, with {number_of(group.rows, 'row')}, {verb} it."
            for group, verb in others
        ]
        return " ".join(said)

    def _remedy(self, column: Sensitive, audit: Audit, *, exactly: bool) -> str:
        """Return what in a policy leaves no such class.

        Under the equal distance a class in which everybody has a value of share q is 1 - q from the table, one in which nobody
        has it at least q: a smaller t leaves none.
        """
        reach = min(1 - self.share if self.everybody.rows else Fraction(1), self.share if self.nobody.rows else Fraction(1))
        below = decimal_down(reach, 2)
        limit = f"a t below {below}" if exactly and float(below) and audit.policy.n is None else "a small t"
        ways = ["l: 2, where everybody has it"] if self.everybody.rows else []
        ways.append(limit if audit.sensitive[self.column].distance == "equal" else f"distance: equal with {limit}")
        coarser = "Wider bins" if column.bins is not None else "Bins, or coarser values,"
        return f"What would close it, in the policy: {'; or '.join(ways)}. {coarser} would make it tell less."
