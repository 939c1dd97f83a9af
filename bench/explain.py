"""explain on Adult: hours-per-week at t = .05, with the classes that mondrian made for t = .2.

    python bench/explain.py

Every figure is taken again from the files: the moves of the worst classes by `tclose.transport`, each suggestion by doing what it
says and auditing the result. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa

import tclose as tc
from scenarios import DATA, machine, policy_of
from tclose.study.explain.coarser import Coarser
from tclose.study.explain.loosen import Limit
from tclose.study.explain.made import Made
from tclose.study.explain.trial import Figures
from tclose.values.printed import printed

HOURS = "hours-per-week"


def main() -> None:
    """Explain the release, follow each suggestion, and say what was found."""
    strict = policy_of((HOURS,), 0.05)
    release = tc.anonymize(DATA / "adult.csv", policy_of((HOURS,), 0.2), algorithm="mondrian").table
    start = time.perf_counter()
    found = tc.explain(release, strict)
    seconds = time.perf_counter() - start
    print(found, f"\n{machine()} {seconds:.1f} s.\n", sep="\n")

    rows = release.to_pylist()
    names = [column.name for column in strict.quasi]
    hours = Counter(release[HOURS].to_pylist())
    for one in found.classes:
        own = Counter(row[HOURS] for row in rows if ", ".join(f"{name} {printed(row[name])}" for name in names) == one.people)
        plan = tc.transport(own, hours)
        same = Counter((str(move.source), str(move.target), move.mass) for move in plan) == Counter(
            (move.source, move.target, move.mass) for move in one.moves
        )
        adds = sum((move.cost for move in plan), Fraction(0)) == tc.emd(own, hours, exact=True) == one.distance
        print(f"class {one.number}: {len(plan)} moves, those of transport: {same}; they add up to {one.distance}: {adds}")
        if one.fewest is not None:
            print(
                f"  without {len(one.fewest.rows)} rows: as said, {figures(without(release, one.fewest.rows), strict) == one.fewest.after}"
            )
    for suggestion in found.suggestions:
        if isinstance(suggestion, Coarser):
            columns = {name: release[name].to_pylist() for name in release.column_names}
            for name, labels in suggestion.labels.items():
                columns[name] = [None if cell is None else labels.get(cell, printed(cell)) for cell in columns[name]]
            after = figures(pa.table(columns), strict)
        elif isinstance(suggestion, Limit):
            after = figures(release, with_t(strict, suggestion.value))
            less = tc.audit(release, with_t(strict, suggestion.value - Fraction(1, 10**12)))
            print(f"with 10^-12 less than {suggestion.value}: satisfied, {less.satisfied}")
        elif isinstance(suggestion, Made):
            continue  # of a raw table alone
        else:
            after = figures(without(release, suggestion.rows), strict)
        print(f"{suggestion.what}: as said, {after == suggestion.after}; satisfied, {after.satisfied}")


def with_t(policy: tc.Policy, t: Fraction) -> tc.Policy:
    """The policy with another t."""
    return replace(policy, sensitive=[replace(policy.sensitive[0], t=t)])


def without(table: pa.Table, rows: list[int]) -> pa.Table:
    """The table without some rows."""
    gone = set(rows)
    return table.filter(pa.array([row not in gone for row in range(table.num_rows)]))


def figures(table: pa.Table, policy: tc.Policy) -> Figures:
    """The figures of an audit of a table."""
    return Figures.of(tc.audit(table, policy))


if __name__ == "__main__":
    main()
