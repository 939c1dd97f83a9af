"""explain: why a table breaks a policy, and what would help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tclose.columns.reading import warn_of
from tclose.errors import PolicyError, got, raising_alone
from tclose.jobs import announce, report
from tclose.judge.audit import Context, examine
from tclose.judge.result import Audit
from tclose.policy import Policy, check_policy
from tclose.release.certificate import CERTIFICATE
from tclose.study.explain.coarser import Coarser, coarser_columns
from tclose.study.explain.explanation import Explanation
from tclose.study.explain.feasible import why_infeasible
from tclose.study.explain.loosen import Limit, loosened_limits
from tclose.study.explain.made import Made, make_release
from tclose.study.explain.suppress import Suppression, fewest_rows, suppress_rows
from tclose.study.explain.trial import Figures, Rows
from tclose.study.explain.worst import WorstClass, counted, explain_class, worst_numbers
from tclose.study.measured import Distribution, measure


@raising_alone
def explain(table: Any, policy: Policy, n: int = 5) -> Explanation:
    """Explain why a table, raw or released, breaks a policy, and what would help.

    The worst classes are listed: which values each has too much and too little of, and the moves of mass, as `transport` has
    them, that add up to its distance from the table. What would help is tried, and comes with what an audit then finds: of a raw
    table a release, made quickly; each quasi-identifier coarser by one level, or in wider intervals; for each broken limit the
    nearest one that the table satisfies; and rows to suppress. Where no release of the table can satisfy the policy at all, the
    smallest changes are named with which one can.

    The table is taken as it is, and nothing is written. The result is INTERNAL, as it shows raw classes.

    Parameters
    ----------
    table : path (CSV, Parquet, Arrow), pandas, polars or pyarrow table
    policy : Policy
    n : int
        How many of the worst classes to explain, at most.

    Returns
    -------
    Explanation
        ``print`` it.

    Raises
    ------
    InputError, PolicyError
        The table cannot be read, or does not fit the policy.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"zip": ["476"] * 3 + ["479"] * 3, "disease": ["flu", "flu", "gout", "flu", "gout", "gout"]})
    >>> found = explain(people, Policy(quasi=["zip"], sensitive={"disease": 0.1}, k=2))
    >>> found
    <Explanation: 2 of 2 classes break a limit; 3 suggestions; INTERNAL>
    >>> [suggestion.what for suggestion in found.suggestions]
    ['zip as one value', 't of disease: 0.1667 instead of 0.1', '2 rows suppressed in 2 classes']
    """
    check_policy(policy)
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise PolicyError(f"n must be a whole number from 1 on: how many classes to explain. Got {got(n)}.")
    announce("Measuring")
    audit = examine(table, policy, Context(readings=True))
    warn_of(audit.readings, stacklevel=3)
    now = Figures.of(audit)
    rows = Rows.of(table, policy)
    infeasible = None
    if not now.satisfied:
        announce("Judging")
        infeasible = why_infeasible(rows.table, policy)

    announce("Explaining")
    alone = int((counted(audit) == 1).sum())
    raw = 2 * alone > audit.classes
    least = max(policy.k or 2, 2) if raw else 1
    distributions = measure(rows.table, policy, audit).distributions
    classes = [_explained(rows, audit, number, distributions) for number in worst_numbers(audit, n, least)]
    announce("Trying")
    released = _is_released(table)  # and no release has a class of one person
    suggestions = [] if now.satisfied or infeasible is not None else _suggestions(rows, audit, raw=alone > 0 and not released)
    return Explanation(policy, audit, now, alone, raw, least, classes, suggestions, infeasible, released)


def _is_released(table: Any) -> bool:
    """Whether a table is the file of a release: its certificate lies beside it."""
    return isinstance(table, str | Path) and Path(f"{table}{CERTIFICATE}").is_file()


def _explained(rows: Rows, audit: Audit, number: int, distributions: dict[str, Distribution]) -> WorstClass:
    """Return one of the worst classes, with the rows to suppress."""
    found = explain_class(audit, number, distributions)
    report(f"class {number}")
    return replace(found, fewest=fewest_rows(rows, audit, number, found.column))


def _suggestions(rows: Rows, audit: Audit, *, raw: bool) -> list[Made | Coarser | Limit | Suppression]:
    """Return what would help, each tried: of a raw table a release; coarser columns, the best first; limits; rows to suppress."""
    made = make_release(rows) if raw else None
    now = Figures.of(audit)
    helping = [one for one in coarser_columns(rows) if one.after.broken < now.broken or one.after.rows_broken < now.rows_broken]
    coarser = sorted(helping, key=lambda one: (one.after.rows_broken, one.after.broken, one.after.classes))
    suppressed = suppress_rows(rows)
    first = [] if made is None else [made]
    return [*first, *coarser, *loosened_limits(rows, audit), *([] if suppressed is None else [suppressed])]
