"""anonymize: from a table and a policy to a release, room by room."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa

from tclose.errors import PolicyError, PrivacyRiskWarning, listed, raising_alone
from tclose.jobs import announce
from tclose.judge.edges import check_edges
from tclose.judge.gate import check_values, judge, judge_against, named_as_published, reference_of
from tclose.judge.result import Audit
from tclose.make.algorithm import Partition, Settings
from tclose.make.edges import can_move_ends, edge_grids, with_edge_grids, with_edges
from tclose.make.encode import EncodedTable, as_published, chosen_grids, encode, on_grids
from tclose.make.kept import check_kept, check_quasi
from tclose.make.losses import in_words, losses_against_input, losses_seen
from tclose.make.partition import partition_rows
from tclose.make.recode import Recoded
from tclose.make.registry import DEFAULT, check_accepted, settings_of
from tclose.make.repair import publish
from tclose.policy import Policy, check_policy, files_of
from tclose.release.certificate import Commitment, PrivateFacts, PublicFacts, certificate, record
from tclose.release.joined import Joined, joined_tables
from tclose.release.opened import Opened, open_input
from tclose.release.published import (
    check_missing_words,
    chosen_edge_grids,
    describe_columns,
    moments_of,
    on_chosen_grids,
    plain_grids,
    policies_of_release,
    quasi_columns,
)
from tclose.release.release import Details, Release
from tclose.release.release_set import ReleaseSet
from tclose.release.scope import asks_for_something
from tclose.release.spark_release import SparkRelease
from tclose.tables.reader import Reader
from tclose.tables.spark import is_spark
from tclose.values.arrays import Ints
from tclose.values.exact import number_of


@overload
def anonymize(
    table: Any,
    policy: Policy,
    *,
    algorithm: Literal["codip"],
    seed: int = 0,
    effort: str = "balanced",
    keep_order: bool = False,
    options: Mapping[str, Any] | None = None,
) -> ReleaseSet: ...


@overload
def anonymize(
    table: Any,
    policy: Policy,
    *,
    algorithm: str | None = None,
    seed: int = 0,
    effort: str = "balanced",
    keep_order: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Release: ...


@raising_alone
def anonymize(
    table: Any,
    policy: Policy,
    *,
    algorithm: str | None = None,
    seed: int = 0,
    effort: str = "balanced",
    keep_order: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Release | ReleaseSet | SparkRelease:
    """Make a release of a table that satisfies a policy, and check it before it is returned.

    Rows are put into classes that satisfy every limit. The quasi-identifiers of a class are published as one, identifiers are
    not published, and rows are sorted by what is published of them. Then the published values are read back and audited, against
    themselves and against the input.

    Parameters
    ----------
    table : path, pandas, polars or pyarrow table, DuckDB relation or ibis table
        Which files are read is in docs/tables.md.
    policy : Policy
        With a k. It must ask for something: k above 1, or a limit of a sensitive attribute.
    algorithm : str, optional
        One of `list_algorithms`; ``growth`` by default.
    seed : int
        From 0 on; for algorithms that choose at random. The same rows in any order, policy, seed, effort, options and
        versions give the same release.
    effort : str
        How long to refine the release: ``fast``, ``balanced`` or ``best``; for algorithms that refine.
    keep_order : bool
        Keep the order of the input's rows. That may give people away: a warning says so, and so does the certificate.
    options : mapping, optional
        Options of the algorithm.

    Returns
    -------
    Release
        A `ReleaseSet`, if the algorithm makes several tables.

    Raises
    ------
    InfeasibleError
        No release of this table can satisfy the policy.
    InputError, PolicyError
        The table cannot be read, or does not fit the policy; or the algorithm cannot do what the policy asks.
    GateError
        The release would have broken the policy: a fault of tclose.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ada", "Bo", "Cy", "Di"], "zip": ["476", "476", "479", "479"], "salary": [3, 5, 4, 6]})
    >>> policy = Policy(quasi=["zip"], sensitive={"salary": 0.2}, identifiers=["name"], k=2)
    >>> anonymize(people, policy)
    <Release: 4 rows in 2 classes, k=2; salary t=0.1667; 0 rows suppressed, gcp=0.0000>
    """
    check_policy(policy)
    _check_asked(policy)
    settings = settings_of(algorithm, seed, effort, options)
    check_accepted(settings.algorithm, policy)
    if keep_order and settings.algorithm.several:
        raise PolicyError(
            f"{settings.algorithm.name} cannot keep the order of the rows: in several tables it joins them again. Let the "
            f"rows be sorted, or choose {DEFAULT}, which makes one table."
        )

    if is_spark(table):
        from tclose.release.distributed import anonymize_on_spark

        return anonymize_on_spark(table, policy, settings, keep_order=keep_order)
    announce("Encoding")
    opened = open_input(table, policy, settings.algorithm)
    commitment = _commit_to_file(opened.reader)
    encoded = encode(opened.source, policy, opened.unit, opened.roles.kept, commitment.update)
    check_kept(encoded, policy)
    _warn_of_kept(encoded)
    check_quasi(encoded, policy)
    can_move_ends(encoded.scales, policy)

    announce("Partitioning")
    partitions = partition_rows(encoded, policy, settings)

    announce("Recoding")
    made = [_recode_classes(opened, policy, encoded, partition, keep_order=keep_order) for partition in partitions]
    joined = _join(policy, settings, encoded, made) if settings.algorithm.several else None

    announce("Checking")
    if keep_order:
        sentence = (
            "The rows are in the order of the input, which may give people away: anyone who knows the order knows the rows."
        )
        warnings.warn(sentence, PrivacyRiskWarning, stacklevel=3)
    asked = _Asked(policy, settings, keep_order)
    releases = [_release(asked, opened, commitment, one, joined, number) for number, one in enumerate(made, start=1)]
    return releases[0] if joined is None else ReleaseSet(tuple(releases), joined)


def _warn_of_kept(encoded: EncodedTable) -> None:
    """Warn of each kept column that nearly tells quasi-identifiers."""
    for name, others in encoded.told.items():
        noun = "the quasi-identifier" if len(others) == 1 else "the quasi-identifiers"
        sentence = (
            f"Column {name!r} is published as it is, and nearly tells {noun} {listed(others)}: with it, the ranges and groups of "
            f"the classes hide little. Name {name!r} in drop, or in quasi."
        )
        warnings.warn(sentence, PrivacyRiskWarning, stacklevel=4)


@dataclass(frozen=True)
class _Asked:
    """What `anonymize` was called with, checked."""

    policy: Policy
    settings: Settings
    keep_order: bool


def _release(asked: _Asked, opened: Opened, commitment: Commitment, made: _Made, joined: Joined | None, number: int) -> Release:
    """Return one table as a release, judged, with its papers; ``number`` counts tables from 1."""
    judged = _judge_release(opened, made)
    loss = losses_against_input(_charged(opened, made), made.labels, made.recoded, made.policy)
    private = PrivateFacts(
        asked.settings,
        made.partition.course,
        commitment.to_dict(),
        judged.against_input,
        made.suppressed,
        loss.to_dict(),
        opened.readings,
        None if joined is None else {"number": number, **joined.to_dict()},
        plain_grids(made.policy, made.grids),
        chosen_edge_grids(made.table.scales),
    )
    public = _public_facts(opened, made, judged, keep_order=asked.keep_order)
    if joined is not None:
        tables = {"number": number, "of": len(joined.tables), "smallest_intersection": joined.smallest_intersection}
        public = replace(public, tables=tables)
    return Release(
        made.partition_of_input(),
        judged.audit,
        loss,
        certificate(judged.by_reader, public),
        record(asked.policy, private),
        opened.readings,
        _details_of_release(opened, made, judged),
    )


def _check_asked(policy: Policy) -> None:
    """Refuse a policy without a k, or one that every table satisfies: `verify` would not confirm its release."""
    if policy.k is None:
        raise PolicyError("k must be set to make a release: the rows, or persons, of each class at least. Got none.")
    if not asks_for_something(policy):
        raise PolicyError(
            "A policy must ask for something to make a release: k above 1, or a limit of a sensitive attribute that a table can "
            f"break. Got k={policy.k} and no such limit."
        )


def _commit_to_file(reader: Reader) -> Commitment:
    """Return a commitment to the files that a table is read from, if it is from files; `encode` adds the columns to it."""
    commitment = Commitment()
    if reader.file is not None:
        with reader.file.read_as("a file"):
            for path in reader.file.files:
                commitment.update_file(path)
    return commitment


@dataclass(frozen=True, eq=False)
class _Made:
    """The values that are published, and where they come from.

    Attributes
    ----------
    policy : Policy
        What is asked of them.
    encoded : EncodedTable
        The input, with the sensitive attributes that are published.
    table : EncodedTable
        The rows of it that are published, on scales of their own.
    labels : (rows of the input,) int64
        The class of each row of the encoded input; -1 where it is suppressed.
    partition : Partition
        As the algorithm returned it: some of its classes may have been merged since.
    recoded : Recoded
    grids : dict
        The snap, top and bottom that ``snap: auto`` chose from the published rows, by the name of the quasi-identifier.
    """

    policy: Policy
    encoded: EncodedTable
    table: EncodedTable
    labels: Ints
    partition: Partition
    recoded: Recoded
    grids: dict[str, dict[str, Any]]

    @property
    def suppressed(self) -> int:
        """The number of rows of the input that are not published."""
        return self.encoded.rows - self.table.rows

    @cached_property
    def coded(self) -> pa.Table:
        """The published table of the release, its columns dictionary-encoded."""
        return pa.table(self.recoded.columns)

    @property
    def origin(self) -> Ints:
        """The index of the input row that each published row was made from."""
        return self.table.order[self.recoded.rows]

    def partition_of_input(self) -> Ints:
        """Return the class of each row, in the order of the input; -1 for a suppressed row."""
        labels = np.empty(self.encoded.rows, dtype=np.int64)
        labels[self.encoded.order] = self.labels
        return labels

    def published_classes(self) -> Ints:
        """Return the published class of each row of the encoded input: classes with the same values are one; -1 if suppressed."""
        return np.append(self.recoded.classes, -1)[self.labels]


def _recode_classes(opened: Opened, policy: Policy, encoded: EncodedTable, partition: Partition, *, keep_order: bool) -> _Made:
    """Return the published values of a partition's classes, and the rows that they come from."""
    policy, encoded = partition.asked(policy), encoded.only(partition.sensitive)
    rows = np.flatnonzero(partition.labels >= 0)
    # Where rows may be suppressed, nobody is to learn from the form of the values whether any were.
    table = as_published(opened.source, policy, encoded, rows) if policy.suppression else encoded
    grids = chosen_grids(table.scales)
    table = with_edges(table.at_levels(partition.levels), policy)
    labels = partition.labels.copy()
    labels[rows], recoded = publish(table, labels[rows], partition, policy, opened.reader.names, keep_order=keep_order)
    check_missing_words(recoded.columns, policy)
    return _Made(policy, encoded, table, labels, partition, recoded, grids)


def _charged(opened: Opened, made: _Made) -> EncodedTable:
    """Return the input on the scales that information loss is charged on: its own, with the grids that are published."""
    table = on_grids(opened.source, made.policy, made.encoded, made.grids).at_levels(made.partition.levels)
    return with_edge_grids(table, made.policy.edges, edge_grids(made.table.scales))


def _join(policy: Policy, settings: Settings, encoded: EncodedTable, made: list[_Made]) -> Joined:
    """Return what joining several tables would show.

    Raises
    ------
    PolicyError
        Classes of different tables have fewer than k rows in common, and that was not accepted.
    """
    codes = {attribute.column.name: attribute.codes for attribute in encoded.sensitive}
    tables = [list(one.partition.sensitive) for one in made]
    joined = joined_tables(codes, tables, [one.published_classes() for one in made], encoded.persons)
    if joined.smallest_intersection < (policy.k or 1) and settings.options["intersection"] == "refuse":
        together = number_of(joined.smallest_intersection, "row" if encoded.persons is None else "person")
        raise PolicyError(
            f"{settings.algorithm.name} cannot make this release. Someone who joins its {len(made)} tables by the "
            f"quasi-identifiers may be left with {together}, below k={policy.k}. Choose {DEFAULT}, which makes one table, or "
            "accept that with the option intersection=accept."
        )
    return joined


@dataclass(frozen=True)
class _Judged:
    """What the gate found.

    Attributes
    ----------
    audit : Audit
        Of the release as its owner reads it, who knows the unit.
    by_reader : Audit
        Of the release as a reader reads it: limits over rows.
    against_input : Audit
        Of the release as its owner reads it, compared with the input.
    """

    audit: Audit
    by_reader: Audit
    against_input: Audit


def _judge_release(opened: Opened, made: _Made) -> _Judged:
    """Return the audits of the published values against themselves and against the input; raise if a limit is broken."""
    policy = made.policy
    reference = reference_of(opened.source, policy)
    if made.suppressed:
        reference = named_as_published(reference, opened.source, policy, made.coded, made.origin)
    check_values(reference, made.coded, made.suppressed)
    check_edges(opened.source, on_chosen_grids(policy, made.grids), made.coded, made.origin, opened.unit)
    of_owner, of_reader = policies_of_release(policy, made.encoded.sensitive)
    with_unit = made.coded
    if opened.unit is not None:
        with_unit = with_unit.append_column(opened.unit, opened.source.column(opened.unit).take(pa.array(made.origin)))
    audit = judge(with_unit, of_owner)
    by_reader = replace(audit, policy=of_reader) if opened.unit is None else judge(made.coded, of_reader)
    against_input = audit if made.suppressed == 0 else judge_against(reference, with_unit, of_owner)
    return _Judged(audit, by_reader, against_input)


def _public_facts(opened: Opened, made: _Made, judged: _Judged, *, keep_order: bool) -> PublicFacts:
    """Return what the certificate says of a release besides its audit: losses, columns, order, promised bounds."""
    policy, recoded = made.policy, made.recoded
    weights = [column.weight for column in policy.quasi]
    seen = losses_seen(recoded.published, weights=weights, rows=recoded.sizes, sizes=judged.audit.sizes, k=policy.k)
    return PublicFacts(
        loss=seen.to_dict(),
        columns=describe_columns(
            policy, opened.roles, list(recoded.columns), quasi_columns(made.table, recoded), made.table.sensitive
        ),
        unique=recoded.unique,
        order="input" if keep_order else "sorted",
        counted="rows" if opened.unit is None else "persons",
        # Classes that lost rows are no longer those that were promised; and nobody is to learn whether any did.
        promised={} if policy.suppression else made.partition.promised,
    )


def _details_of_release(opened: Opened, made: _Made, judged: _Judged) -> Details:
    """Return what writing and showing a release needs besides its public attributes."""
    file = opened.reader.file
    inputs = [*([] if file is None else [file.path]), *files_of(made.policy)]
    return Details(
        coded=made.coded,
        policy=judged.by_reader.policy,
        against_input=judged.against_input,
        inputs=tuple(path.absolute() for path in inputs),
        in_words=in_words(made.table.scales, made.recoded.published, made.recoded.sizes),
        moments=moments_of(opened.source, made.recoded),
        levels=made.partition.levels,
        grids=made.grids,
        edge_grids=edge_grids(made.table.scales),
        unique_before=None if made.partition.sensitive else made.encoded.unique,
        like_before=made.encoded.like_before,
    )
