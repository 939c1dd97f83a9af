"""What a person sees: an audit as tables on a terminal, plain text elsewhere."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tclose._numbers import decimal_down, decimal_up, plain

if TYPE_CHECKING:
    from tclose._audit import Audit
    from tclose.attribute import AttributeAudit

SHOWN = 5
"""Classes named on the screen for each limit; --classes lists all."""


def status(what: str) -> AbstractContextManager[Any]:
    """A spinner on the terminal while something takes its time; nothing elsewhere."""
    return Console(stderr=True).status(f"{what} ...")


def show_audit(audit: Audit, title: str) -> None:
    """The audit, on standard output."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        Text(
            f"{title}: {audit.rows:,} rows in {audit.classes:,} {_plural(audit.classes, 'class', 'classes')}",
            style="bold",
        )
    )
    console.print(_overview(audit))
    for name, attribute in audit.sensitive.items():
        console.print()
        console.print(_attribute_table(name, attribute))
    console.print()
    _show_verdict(console, audit)


def _overview(audit: Audit) -> Table:
    table = _table("", "attained", "asked")
    unit = audit.policy.unit
    in_persons = audit.k_persons is not None and unit not in (None, "row")
    table.add_row("k, rows in the smallest class", f"{audit.k:,}", "" if in_persons else _number(audit.policy.k))
    if audit.k_persons is not None:
        table.add_row("k, persons in the smallest class", f"{audit.k_persons:,}", _number(audit.policy.k) if in_persons else "")
    same = audit.homogeneous
    share = decimal_up(Fraction(100 * same["rows"], audit.rows), 1)
    table.add_row("classes with one sensitive value", f"{same['classes']:,} ({same['rows']:,} rows, {share}%)", "")
    return table


def _attribute_table(name: str, attribute: AttributeAudit) -> Table:
    table = _table(f"{name} ({attribute.distance})", "attained", "asked", "classes over it")

    def row(label: str, key: str, shown: str) -> None:
        limit, broken = attribute.models[key].limit, attribute.verdicts[key].broken
        over = f"{int(broken.sum()):,}" if limit is not None else ""
        table.add_row(label, shown, _number(limit), Text(over, style="red" if broken.any() else "green"))

    t = attribute.verdicts["t"]
    row("t, distance from the table", "t", f"{decimal_up(attribute.t_exact)} (class {t.worst_class})")
    if "n,t" in attribute.verdicts:
        region = attribute.verdicts["n,t"]
        shown = f"{decimal_up(region.worst)} (class {region.worst_class})"
        over = Text(f"{int(region.broken.sum()):,} not shown", style="red" if region.broken.any() else "green")
        table.add_row("(n,t), distance from a region", shown, _number(attribute.limit), over)
    row("l, distinct values", "l_distinct", str(attribute.l_distinct))
    row("l, entropy", "l_entropy", decimal_down(attribute.l_entropy))
    row("c, recursive", "c_recursive", decimal_up(attribute.c_recursive))
    row("beta, likeness", "beta", decimal_up(attribute.beta))
    if "beta_enhanced" in attribute.verdicts:
        row("beta, enhanced", "beta_enhanced", decimal_up(attribute.verdicts["beta_enhanced"].worst))
    row("delta, disclosure", "delta", decimal_up(attribute.delta))
    row("lift, worst p/q", "lift", decimal_up(attribute.lift))
    row("share of one value, worst", "share", decimal_up(attribute.share))
    return table


def _show_verdict(console: Console, audit: Audit) -> None:
    violations = audit.violations
    if not violations:
        limited = audit.policy.k is not None or any(
            m.limit is not None for a in audit.sensitive.values() for m in a.models.values()
        )
        if not limited:
            console.print("No limit was asked for; this is what was measured.")
        else:
            console.print(
                Text("The policy holds", style="bold green"),
                "for these quasi-identifiers; this is not a legal determination.",
            )
        return
    console.print(Text("The policy does not hold.", style="bold red"))
    counts = Counter((v.model, v.sensitive) for v in violations)
    for (model, sensitive), count in counts.items():
        those = [v for v in violations if (v.model, v.sensitive) == (model, sensitive)]
        smallest_first = model in ("k", "l_distinct", "l_entropy")
        worst = sorted(those, key=lambda v: v.value if smallest_first else -v.value)[:SHOWN]
        names = ", ".join(f"{v.number} ({_rounded(v.value, smallest_first)})" for v in worst)
        of = f" of {sensitive}" if sensitive else ""
        more = ", ..." if count > SHOWN else ""
        console.print(
            f"  {model}{of}: broken by {count:,} {_plural(count, 'class', 'classes')}, worst {names}{more}",
            markup=False,
        )
    console.print("  List every class and what it breaks: --classes classes.csv")


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="left" if place == 0 else "right", min_width=34 if place == 0 else None)
    return table


def _number(limit: Any) -> str:
    return "" if limit is None else str(plain(Fraction(limit)))


def _rounded(value: float, smallest_first: bool) -> str:
    if value == float("inf"):
        return "unbounded"
    if value == int(value):
        return str(int(value))
    return decimal_down(value) if smallest_first else decimal_up(value)


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
