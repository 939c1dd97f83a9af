"""anonymize: from a table and a policy to a release, through every room of the house."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tclose.columns.domains import readings_of, warn_of
from tclose.columns.persons import unit_to_release
from tclose.columns.roles import roles_of
from tclose.errors import PolicyError, PrivacyRiskWarning, got, nearest, one_of, raising_alone
from tclose.jobs import announce
from tclose.judge.gate import check_values, judge, judge_against, named_as_published, reference_of
from tclose.make.algorithm import EFFORTS, Algorithm, Partition
from tclose.make.encode import EncodedTable, as_published, encode
from tclose.make.feasibility import must_leave_out
from tclose.make.kept import check_kept, check_quasi
from tclose.make.losses import Losses, in_words, losses, losses_seen
from tclose.make.recode import Recoded, grouped
from tclose.make.registry import find_algorithm
from tclose.make.repair import publish
from tclose.make.suppression import both_sides, trim
from tclose.policy import Policy, check_policy, files_of
from tclose.release.certificate import Commitment, certificate, record
from tclose.release.published import describe_columns
from tclose.release.release import Release
from tclose.tables.duckdb import Table
from tclose.tables.moments import Moments
from tclose.tables.readers import CsvReader, Reader, open_reader

Ints = NDArray[np.int64]


@raising_alone
def anonymize(
    table: Any,
    policy: Policy,
    algorithm: str | None = None,
    seed: int = 0,
    effort: str = "balanced",
    keep_order: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Release:
    """Make a release of a table that holds a policy, and check it before it is handed out.

    Rows are put into classes that hold every limit, the quasi-identifiers of a class are published as one, identifiers are left
    out, and rows are sorted by what is published of them. Then the published values are read back and audited, against
    themselves and against the input.

    Parameters
    ----------
    table : path (CSV, Parquet, Arrow), pandas, polars or pyarrow table
    policy : Policy
        With a k.
    algorithm : str, optional
        One of `list_algorithms`; ``growth`` by default.
    seed : int
        From 0 on; for algorithms that draw lots. The same rows in any order, policy, seed, effort, options and
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

    Raises
    ------
    InfeasibleError
        No release of this table can hold the policy.
    InputError, PolicyError
        The table cannot be read, or does not fit the policy.
    GateError
        The release would have broken the policy: a fault of tclose.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ada", "Bo", "Cy", "Di"], "zip": ["476", "476", "479", "479"], "salary": [3, 5, 4, 6]})
    >>> policy = Policy(quasi=["zip"], sensitive={"salary": 0.2}, identifiers=["name"], k=2)
    >>> anonymize(people, policy)
    <Release: 4 rows in 2 classes, k=2; salary t=0.1667; 0 rows left out, gcp=0.0000>
    """
    check_policy(policy)
    if policy.k is None:
        raise PolicyError("k must be set to make a release: the rows, or persons, of each class at least. Got none.")
    chosen = find_algorithm("growth" if algorithm is None else algorithm)
    settings = _options(chosen, {} if options is None else options)
    seed = _whole("seed", seed)
    effort = one_of("effort", effort, EFFORTS)

    announce("Encoding")
    reader = open_reader(table, policy.input)
    _check_input(reader, policy)
    roles = roles_of(policy, reader)
    chosen.compile_ahead()
    source = Table(reader, roles.kinds, optional=policy.identifiers, given=policy.input)
    _check_orders(source, policy)
    readings = readings_of(source, policy, [column.name for column in policy.quasi])
    warn_of(readings, stacklevel=3)
    unit = unit_to_release(source, policy)
    commitment = Commitment()
    if reader.file is not None:
        with reader.file.read_as("a file"):
            commitment.update_file(reader.file.path)
    encoded = encode(source, policy, unit, roles.kept, commitment.update)
    check_kept(encoded, policy)
    check_quasi(encoded, policy)

    announce("Partitioning")
    labels, partition = _partition(encoded, policy, chosen, seed, effort, settings)

    announce("Recoding")
    resolved = _resolved(policy, encoded)
    of_rows = replace(resolved, unit=None, identifiers=[], drop=[], keep=[])  # what a reader can judge, who knows no persons
    rows = np.flatnonzero(labels >= 0)
    published = encoded if len(rows) == encoded.rows else as_published(source, policy, encoded, rows)
    persons = None if unit is None else source.column(unit)

    def read_back(recoded: Recoded) -> pa.Table:
        table = pa.table(recoded.columns)
        return table if persons is None else table.append_column(unit, persons.take(pa.array(published.order[recoded.rows])))

    labels[rows], recoded = publish(published, labels[rows], partition, policy, reader.names, keep_order=keep_order)
    coded = pa.table(recoded.columns)
    _check_missing_words(recoded.columns, policy)

    announce("Checking")
    left_out = encoded.rows - published.rows
    reference = reference_of(source, policy)
    if left_out:
        reference = named_as_published(reference, source, policy, coded, published.order[recoded.rows])
    check_values(reference, coded, left_out)
    audit = judge(read_back(recoded), resolved)
    public_audit = audit if unit is None else judge(coded, of_rows)
    against_input = audit if left_out == 0 else judge_against(reference, read_back(recoded), resolved)

    if keep_order:
        _warn("The rows are in the order of the input, which may give people away: whoever knows the order knows the rows.")
    weights = [column.weight for column in policy.quasi]
    shown = losses_seen(recoded.published, weights=weights, rows=recoded.sizes, sizes=audit.sizes, k=policy.k)
    loss = _losses(encoded, labels, recoded, left_out, policy)
    public = certificate(
        of_rows,
        public_audit,
        shown.to_dict(),
        describe_columns(policy, roles, published, recoded),
        recoded.unique,
        "input" if keep_order else "sorted",
        "rows" if unit is None else "persons",
        # Classes that lose rows are no longer those that were promised; and nobody is to learn whether any did.
        {} if policy.suppression else partition.promised,
    )
    private = record(
        policy,
        chosen.name,
        settings,
        seed,
        effort,
        partition.course,
        commitment.to_dict(),
        against_input,
        left_out,
        loss.to_dict(),
        readings,
    )
    in_input_order = np.empty(encoded.rows, dtype=np.int64)
    in_input_order[encoded.order] = labels
    inputs = [*([Path(table)] if isinstance(table, str | Path) else []), *files_of(policy)]
    return Release(
        coded,
        in_input_order,
        audit,
        against_input,
        loss,
        public,
        private,
        of_rows,
        tuple(path.absolute() for path in inputs),
        in_words(published.scales, recoded.published, recoded.sizes),
        readings,
        _moments(source, recoded),
    )


def _moments(source: Table, recoded: Recoded) -> dict[str, Moments]:
    """How the published timestamps were written; a quasi-identifier's may be in two columns."""
    names = {part: name for name in source.moments for part in (f"{name}.min", f"{name}.max", name)}
    return {
        part: source.moments[names[part]]
        for part, column in recoded.columns.items()
        if part in names and pa.types.is_timestamp(column.dictionary.type)
    }


def _check_input(reader: Reader, policy: Policy) -> None:
    """What says how a CSV is written goes with a CSV. An audit does not mind: the table may be a release of another kind."""
    for setting in ("delimiter", "encoding"):
        if not isinstance(reader, CsvReader) and getattr(policy.input, setting, None) is not None:
            raise PolicyError(f"{setting} of input says how a CSV is written. {reader.title} is none. Leave it out.")


def _check_missing_words(columns: Mapping[str, pa.Array], policy: Policy) -> None:
    """Texts that mean "no value" must mean nothing else in the release, which is audited with the same policy."""
    words = policy.input.missing if policy.input is not None else []
    for name, column in columns.items() if words else ():
        shown = set(column.dictionary.cast(pa.string()).to_pylist())
        taken = [word for word in words if word in shown]
        if taken:
            raise PolicyError(
                f"missing of input has {taken[0]!r}, which the release would publish in {name!r}. Call it something else there."
            )


def _check_orders(source: Table, policy: Policy) -> None:
    """A release has no ordered categories: whoever reads it needs their order from the policy."""
    for column in policy.sensitive:
        if source.kinds[column.name] == "category" and column.kind in ("auto", "ordered") and column.order is None:
            raise PolicyError(
                f"Sensitive column {column.name!r} is an ordered category, and a release keeps no such order. Give its order in "
                "the policy, or distance: equal."
            )


def _whole(what: str, given: Any) -> int:
    """A whole number, Python's or NumPy's, from 0 on."""
    try:
        number = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = -1
    if number < 0:
        raise PolicyError(f"{what} must be a whole number from 0 on. Got {got(given)}.")
    return number


def _options(algorithm: Algorithm, given: Any) -> dict[str, Any]:
    """The options of an algorithm: those given, and the defaults of the others."""
    if not isinstance(given, Mapping):
        raise PolicyError(f"options must be a mapping from names to values. Got {got(given)}.")
    for name in given:
        if name not in algorithm.options:
            known = ", ".join(algorithm.options) or "none"
            raise PolicyError(
                f"{got(name)} is not an option of {algorithm.name}. Known are: {known}.{nearest(str(name), algorithm.options)}"
            )
    return algorithm.defaults | {name: algorithm.options[name].read(name, value) for name, value in given.items()}


def _partition(
    table: EncodedTable, policy: Policy, algorithm: Algorithm, seed: int, effort: str, options: Mapping[str, Any]
) -> tuple[Ints, Partition]:
    """The class of each row, -1 where it is left out; and the partition of the rows that are not left out."""
    from tclose.make.kernels.limits import limits_of

    kept = np.flatnonzero(~must_leave_out(table, policy))
    part = table if len(kept) == table.rows else table.take(kept)
    asked = policy if algorithm.regions else replace(policy, n=None)  # t-closeness is more than (n,t)-closeness asks
    limits = limits_of(both_sides(part.sensitive), asked, part.persons)
    partition = algorithm.run(part, policy, limits, seed, effort, options)
    labels = np.full(table.rows, -1, dtype=np.int64)
    labels[kept] = partition.labels
    return trim(table, labels, policy), partition


def _resolved(policy: Policy, table: EncodedTable) -> Policy:
    """The policy for the release: each distance as the input's types decided it, and quasi-identifiers as they are printed."""
    sensitive = [
        replace(column, distance=attribute.distance.name) if column.kind == "auto" else column
        for column, attribute in zip(policy.sensitive, table.sensitive, strict=True)
    ]
    return replace(policy, input=None, sensitive=sensitive, quasi=[replace(column, type="text") for column in policy.quasi])


def _losses(table: EncodedTable, labels: Ints, recoded: Recoded, left_out: int, policy: Policy) -> Losses:
    """What the release loses against the input, rows that were left out included."""
    published, sizes = recoded.published, recoded.sizes
    if left_out:  # charged on the scales of the input
        members, starts = grouped(labels)
        published = [scale.publish(codes[members], starts) for scale, codes in zip(table.scales, table.quasi, strict=True)]
        sizes = np.diff(starts)
    return losses(
        published,
        weights=[column.weight for column in policy.quasi],
        rows=sizes,
        sizes=recoded.seen(),
        originals=[np.bincount(codes, minlength=scale.size) for codes, scale in zip(table.quasi, table.scales, strict=True)],
        suppressed=left_out,
        k=policy.k,
    )


def _warn(sentence: str) -> None:
    warnings.warn(sentence, PrivacyRiskWarning, stacklevel=4)
