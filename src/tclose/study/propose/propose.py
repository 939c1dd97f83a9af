"""propose: from a table to a policy that can be edited, with the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclose.errors import ColumnError, InputError, raising_alone
from tclose.jobs import announce
from tclose.make.registry import DEFAULT, find_algorithm
from tclose.policy import Input, Policy, Quasi
from tclose.study.propose.alike import alike_columns, decisions_on_alike, decisions_on_twins, groups_alike
from tclose.study.propose.columns import Column, columns_of
from tclose.study.propose.commented import flow, listed_names
from tclose.study.propose.costs import Cost, costs_of_t, rows_to_try
from tclose.study.propose.hierarchies import AS_WRITTEN, Suggested
from tclose.study.propose.inputs import Read, read_as_needed
from tclose.study.propose.limited import hardly_limited
from tclose.study.propose.offered import Offered
from tclose.study.propose.persons import SEVERAL_ROWS, Unit, find_unit, share_like_the_row_before, values_of_persons
from tclose.study.propose.proposal import Proposal
from tclose.study.propose.roles import Assigned, assign_roles
from tclose.study.propose.samples import sample_rows
from tclose.study.propose.sensitive import T
from tclose.study.propose.singling import singled_out
from tclose.study.propose.words import suggests_sensitive
from tclose.tables.readers import absent
from tclose.values.arrays import Ints
from tclose.values.exact import number_of

K = 5
"""The k that is proposed."""

LONGEST_NAME = 1_000
"""Characters of a name that YAML takes for a key."""


@raising_alone
def propose(table: Any, *, sensitive: str | Sequence[str] | None = None, hierarchies: str | Path | None = None) -> Proposal:
    """Propose a policy for a table: a role for each column, with reasons, for its owner to check and edit.

    Columns that name persons become identifiers, and the one that names persons with several rows the unit. Others become
    quasi-identifiers, published on a grid or by a hierarchy that suggests itself. Which columns are sensitive is guessed from
    their names: nobody but their owner can know it. It is counted how many rows each column, and each set of two or three
    columns, singles out, and three values of t are tried on a sample of at most 10,000 rows.

    Parameters
    ----------
    table : path (CSV, Parquet, Arrow), pandas, polars or pyarrow table
    sensitive : name or list of names, optional
        The sensitive columns. Without it they are guessed.
    hierarchies : path, optional
        A folder of hierarchies, a file ``COLUMN.csv`` for a column. Those that have all values of their column are proposed.

    Returns
    -------
    Proposal
        ``proposal.policy`` is the policy, ``proposal.to_yaml()`` its file with the reasons as comments.

    Raises
    ------
    InputError
        The table or the folder cannot be read, a named column is not in the table or the same in every row, or there are no
        columns for a quasi-identifier and for a sensitive attribute.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = {"id": range(100), "age": [20 + number % 30 for number in range(100)], "illness": ["flu", "gout"] * 50}
    >>> proposal = propose(pa.table({name: list(values) for name, values in people.items()}))
    >>> proposal
    <Proposal: 100 rows; quasi age; sensitive, by a guess, illness>
    >>> proposal.policy.identifiers
    ['id']
    """
    announce("Reading")
    find_algorithm(DEFAULT).compile_ahead()  # in other processes, while the table is read
    data = str(table) if isinstance(table, str | Path) else "DATA"
    offered = Offered() if hierarchies is None else Offered.of(hierarchies)
    read = read_as_needed(table)
    columns = columns_of(read.source)
    named = _named([sensitive] if isinstance(sensitive, str) else list(sensitive or ()), read, columns)
    unit = find_unit([column for column in columns if column.name not in named])
    owner = None if unit is None else unit.column
    assigned = assign_roles(columns, unit, K, named, offered)
    policy = _policy_of(assigned, read, None if owner is None else owner.name)
    announce("Counting who is singled out in")
    open_ = [one.column for one in assigned if one.role != "identifiers" and not one.column.constant]
    counted = singled_out(open_, columns, owner)
    announce("Trying three t on a sample of")
    rows = sample_rows(columns, owner, rows_to_try(policy))
    grids = {one.column.name: one.grid for one in assigned if one.grid is not None}
    pairs = alike_columns(assigned, rows)
    instead = {one.column.name: one.instead for one in assigned if one.instead is not None and one.instead.settings is not None}
    costs = costs_of_t(read.reader, policy, grids, rows)
    limits = dict(hardly_limited(assigned, costs))
    return Proposal(
        policy,
        columns[0].rows,
        {one.column.name: (_described(one), *one.reasons, *_asked(one, limits)) for one in assigned}
        | {name: (why,) for name, why in read.unreadable.items()},
        counted,
        costs,
        len(rows),
        Path(table).name if isinstance(table, str | Path) else "the table",
        tuple(read.reasons),
        (
            *_decisions_on_persons(columns, unit),
            *_decisions_on_values_of_persons(assigned, owner),
            *_decisions(assigned, offered, limits),
            *decisions_on_alike(pairs),
            *decisions_on_twins(assigned, pairs),
        ),
        data,
        not named,
        _cost_without_hierarchies(read, policy, instead, grids, rows),
        {name: found.settings or {} for name, found in instead.items()},
        _ways(assigned),
        tuple(one.misfit for one in assigned if one.misfit is not None),
        groups_alike(assigned, pairs),
    )


def _ways(assigned: list[Assigned]) -> tuple[str, ...]:
    """Return how classes are published, and how whole numbers are that have a decimal point, in sentences."""
    ways = [one.way for one in assigned if one.way]
    published = [one.column for one in assigned if one.role in ("quasi", "sensitive", "keep")]
    pointed = any(column.whole and column.kind == "decimal" for column in published)
    return tuple(dict.fromkeys([*ways, AS_WRITTEN] if pointed else ways))


def _cost_without_hierarchies(
    read: Read, policy: Policy, instead: dict[str, Suggested], grids: dict[str, dict[str, Any]], rows: Ints
) -> Cost | None:
    """Return what the proposed t costs if no quasi-identifier has the hierarchy that was offered; None if none has."""
    if not instead:
        return None
    quasi = [
        Quasi(column.name, **(instead[column.name].settings or {})) if column.name in instead else column
        for column in policy.quasi
    ]
    chosen = grids | {name: found.grid for name, found in instead.items() if found.grid is not None}
    return costs_of_t(read.reader, replace(policy, quasi=quasi), chosen, rows, [float(T)])[0]


def _named(names: list[str], read: Read, columns: list[Column]) -> list[str]:
    """Return the sensitive columns that the owner named, each once; raise an error for one that cannot be limited."""
    for name in names:
        if name in read.unreadable:
            raise ColumnError(read.unreadable[name])
        if name not in read.reader.names:
            raise absent(read.reader, name)
        if any(column.name == name and column.constant for column in columns):
            raise InputError(f"Column {name!r} is the same in every row: there is nothing to learn. Name another one.")
    return list(dict.fromkeys(names))


def _decisions_on_persons(columns: Sequence[Column], unit: Unit | None) -> Iterator[str]:
    """Yield the question whether persons have several rows, where no column names them and rows look like it."""
    share = share_like_the_row_before(columns) if unit is None else 0.0
    if share:
        yield (
            f"{SEVERAL_ROWS} {100 * share:.1f}% of the rows agree with the row before in all columns but one at "
            "most, as rows of one person do. If a column names the persons, name it in unit. If none does, add one to the table, "
            "from its source: numbering runs of similar rows is a guess. Without it k and l count rows, and five rows that look "
            "alike may be one person."
        )


def _decisions_on_values_of_persons(assigned: Sequence[Assigned], owner: Column | None) -> Iterator[str]:
    """Yield the question whether others know several rows of a person, if persons have one value of a sensitive column."""
    sensitive = [one.column for one in assigned if one.role == "sensitive"]
    names, several, least = ([], 0, 0.0) if owner is None else values_of_persons(owner, sensitive)
    if names:
        one = len(names) == 1
        share = "each" if least == 1 else f"{'' if one else 'at least '}{math.floor(1000 * least) / 10:.1f}%"
        yield (
            f"Do others know several rows of a person? {listed_names(names)} {'is' if one else 'are'} the same in all rows of "
            f"{share} of the {several:,} persons who have several. k, l and t are about one row of a person: who knows several "
            f"of their rows can combine the classes, and may be left with one {listed_names(names) if one else 'value of each'}. "
            "No limit is about that. If it matters, publish one row a person: docs/visits.md says how."
        )


def _asked(one: Assigned, limits: Mapping[str, str]) -> list[str]:
    """Return a sentence that leads from a column to the question about its limits; none if nothing is asked."""
    return ["Is it limited as you want it? DECIDE, see above."] if one.column.name in limits else []


def _decisions(assigned: list[Assigned], offered: Offered, limits: Mapping[str, str]) -> Iterator[str]:
    """Yield what the owner of the table must decide beside the sensitive columns and t.

    ``limits`` has the questions about sensitive columns that t hardly limits.
    """
    amounts = [one for one in assigned if one.amount]
    if amounts:
        yield (
            f"Which role {'does' if len(amounts) == 1 else 'do'} {_names(amounts)} have? Few rows share a number there, as "
            "with amounts of money. Leave in quasi what others may know: it is published in ranges. Move what nobody should "
            f"learn, as an income, to sensitive, and write {_settings_if_sensitive(amounts)}. What nobody else knows, as "
            "the weight of a survey, costs the other columns some detail: take its line away, and name it in drop."
        )
    doubtful = [one for one in assigned if one.doubtful]
    if doubtful:
        one = len(doubtful) == 1
        asked = f"What {'does' if one else 'do'} {_names(doubtful)} hold? {'Its name has' if one else 'Their names have'}"
        yield (
            f"{asked} no word that tclose knows, so {'it stands' if one else 'they stand'} in quasi until you say. Move what "
            "nobody should learn, as an opinion, a result, or how often somebody saw a doctor, to sensitive, and write "
            f"{_settings_if_sensitive(doubtful)}. What nobody else knows costs the other columns detail: name it in drop, or in "
            "keep if it harms nobody."
        )
    more = [one for one in assigned if one.role == "quasi" and suggests_sensitive(one.column.name)]
    if more:
        ask, why = ("Is", "Its name suggests") if len(more) == 1 else ("Are", "Their names suggest")
        move = f"Move what nobody should learn to sensitive, and write {_settings_if_sensitive(more)}."
        yield f"{ask} {_names(more)} sensitive, too? {why} it. {move}"
    yield from (one.decide or limits[one.column.name] for one in assigned if one.decide or one.column.name in limits)
    used = {one.column.name for one in assigned if one.role in ("quasi", "sensitive") or one.misfit is not None}
    unused = [path.name for name, path in offered.files.items() if name not in used]
    if unused:
        one = len(unused) == 1
        what = f"Which column is {unused[0]} for" if one else f"Which columns are {listed_names(unused)} for"
        yield f"{what}? No column in quasi or sensitive has {'its name' if one else 'their names'}."


def _names(columns: Sequence[Assigned]) -> str:
    """Return the names of columns as a sentence lists them."""
    return listed_names([one.column.name for one in columns])


def _settings_if_sensitive(columns: Sequence[Assigned]) -> str:
    """Return what to write after the names of quasi-identifiers that become sensitive: what would be proposed for each."""
    alike: dict[tuple[str, str], list[Assigned]] = {}
    for one in columns:
        settings = dict(one.if_sensitive or {})
        beside = " beside its hierarchy" if settings.pop("hierarchy", None) is not None else ""
        why = "bins because few rows share a number there" if "bins" in settings else ""
        if "distance" in settings and one.column.kind != "category":
            why = f"{'bins and ' if 'bins' in settings else ''}distance: equal because most rows have one value there"
        alike.setdefault((f"{flow(settings)}{beside}", why), []).append(one)
    groups = [(settings, f" ({why})" if why else "", own) for (settings, why), own in alike.items()]
    if len(groups) == 1:
        return f"{groups[0][0]} after its name{groups[0][1]}"
    return f"after its name {', or '.join(f'{settings} for {_names(own)}{why}' for settings, why, own in groups)}"


def _described(one: Assigned) -> str:
    """Return a sentence on the cells of a column: their kind, how many values there are, and how many are missing."""
    column = one.column
    noun = column.noun[0].upper() + column.noun[1:]
    missing = f", {column.missing:,} missing" if column.missing else ""
    words = "".join(
        f" {number_of(rows, 'row has', 'rows have')} {word!r}: if that means no value, name it in input: {{missing: [...]}}."
        for word, rows in column.doubtful_words.items()
    )
    return f"{noun}, {column.values:,} different{missing}.{words}"


def _policy_of(assigned: list[Assigned], read: Read, unit: str | None) -> Policy:
    """Return the policy that has each column in its role."""
    long = next((name for name in read.reader.names if len(name) > LONGEST_NAME), None)
    if long is not None:
        raise InputError(f"A column has a name of {len(long):,} characters, too long for a policy's file. Rename it.")
    roles: dict[str, dict[str, Any]] = {role: {} for role in ("identifiers", "quasi", "sensitive", "keep", "drop")}
    for one in assigned:
        roles[one.role][one.column.name] = one.settings or None
    return Policy(
        quasi=roles["quasi"],
        sensitive=roles["sensitive"],
        k=K,
        unit=unit,
        input=None if read.given == Input() else read.given,
        identifiers=list(roles["identifiers"]),
        keep=roles["keep"],
        drop=[*roles["drop"], *read.unreadable],
    )
