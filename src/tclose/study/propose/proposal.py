"""Proposal: a policy that is proposed for a table, what speaks for each part of it, and its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tclose.policy import Policy, files_of
from tclose.study.propose.costs import Cost
from tclose.study.propose.offered import Misfit
from tclose.study.propose.singling import SingledOut
from tclose.tables.files import check_target, write_whole


@dataclass(frozen=True)
class Proposal:
    """A policy to edit, with reasons.

    Which columns are sensitive, and which t is right, only the owner of the table can decide: the policy has a guess for both.
    What is counted is of the raw table: a proposal is internal.

    Attributes
    ----------
    policy : Policy
        It can be used as it is.
    rows : int
        Of the table.
    reasons : dict
        For each column, by its name, sentences that say why it has its role.
    singled_out : list of SingledOut
        How many rows each column, and each set of two or three columns, singles out; the largest first among sets of one size.
    costs : list of Cost
        What three values of t cost on a sample.
    sampled : int
        The rows of that sample.
    title : str
        What the file calls the table.
    input_reasons : tuple of str
        Why the policy has its ``input``.
    decisions : tuple of str
        What else its owner must decide, in sentences: persons with several rows, roles of amounts, columns of which most rows
        have one value, and files of hierarchies without a column, columns that nearly tell one another.
    data : str
        What a command calls the table: its path as it was given.
    guessed : bool
        Whether the sensitive columns are a guess; False if they were named.
    without_hierarchies : Cost or None
        What the proposed t would cost without the hierarchies that were offered; None if none is proposed.
    instead : dict
        The settings that each quasi-identifier with such a hierarchy would have without it.
    ways : tuple of str
        How classes are published, in sentences that each hold for several columns: what "in ranges" and "in sets" mean.
    misfits : tuple of Misfit
        Files of hierarchies that were offered, and that their owner should mend.
    alike : tuple of tuple of str
        Groups of columns that tell, or nearly tell, one another.
    """

    policy: Policy
    rows: int
    reasons: dict[str, tuple[str, ...]]
    singled_out: list[SingledOut]
    costs: list[Cost]
    sampled: int
    title: str
    input_reasons: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    data: str = "DATA"
    guessed: bool = True
    without_hierarchies: Cost | None = None
    instead: dict[str, dict[str, Any]] = field(default_factory=dict)
    ways: tuple[str, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()

    def to_yaml(self, path: str = "policy.yaml") -> str:
        """Return the text of a policy's file, with the reasons as comments.

        Parameters
        ----------
        path
            The file: its first lines name it, and the files of hierarchies are named from its folder.
        """
        from tclose.study.propose.commented import commented

        return commented(self, path)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the policy with its comments to a YAML file.

        Parameters
        ----------
        force
            Whether a file that exists may be replaced.
        """
        check_target(Path(path), force=force, inputs=files_of(self.policy))
        text = self.to_yaml(str(path))
        write_whole(Path(path), lambda beside: beside.write_text(text, encoding="utf-8"), force=force)

    def __repr__(self) -> str:
        """Return the roles in one line."""
        policy = self.policy
        quasi, sensitive = (", ".join(column.name for column in part) for part in (policy.quasi, policy.sensitive))
        return f"<Proposal: {self.rows:,} rows; quasi {quasi}; sensitive{', by a guess,' if self.guessed else ''} {sensitive}>"
