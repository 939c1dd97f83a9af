"""What a person sees: an audit as tables on a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tclose._numbers import decimal_down, decimal_up, number_of, plain
from tclose._progress import COMPILING, listening
from tclose.attribute import REGION
from tclose.errors import OutputError

if TYPE_CHECKING:
    from tclose.attribute import AttributeAudit
    from tclose.release import Release
    from tclose.result import Audit, Judgement

USELESS = 0.9
"""A loss from which on a release says little of its quasi-identifiers."""

SHOWN = 5
"""Classes named on the screen for each limit; --classes lists all."""


def status(what: str) -> AbstractContextManager[Any]:
    """A spinner on the terminal while something takes its time; nothing elsewhere."""
    return Console(stderr=True).status(Text(f"{what} ..."))


@contextmanager
def stages(what: str) -> Iterator[None]:
    """A spinner that says which stage of long work has begun, and how it goes: ``Refining adult.csv ... loss 0.2312``.

    Where there is no terminal, one line says that kernels are compiled.
    """
    console = Console(stderr=True)
    told = console.is_interactive

    def show(stage: str, figure: str) -> None:
        nonlocal told
        spinner.update(Text(f"{stage} {what} ... {figure}".rstrip()))
        if figure.startswith(COMPILING) and not told:
            told = True
            console.print(f"{figure[0].upper()}{figure[1:]}.", highlight=False, soft_wrap=True)

    with console.status(Text(f"{what} ...")) as spinner, listening(show):
        yield


@contextmanager
def a_reader_may_leave() -> Iterator[None]:
    """Whoever reads our output may stop, as in ``tclose audit ... | head``: the exit code is the audit's all the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"The output cannot be written: {error.strerror}.") from None


class _Console(Console):
    """Leaves a broken pipe to `a_reader_may_leave`; rich would end the program."""

    def on_broken_pipe(self) -> None:
        """Let it be heard."""
        raise BrokenPipeError


def show_audit(audit: Audit, title: str, listing: Path | None = None) -> None:
    """The audit, on standard output; ``listing`` is where its classes are listed."""
    console = _Console(highlight=False, soft_wrap=True)
    console.print(Text(f"{title}: {_size(audit)}", style="bold"))
    console.print(_overview(audit))
    for name, attribute in audit.sensitive.items():
        console.print()
        console.print(_attribute_table(name, attribute))
    console.print()
    _show_verdict(console, audit)
    if listing is not None:
        console.print(f"Every class is listed in {listing}.", markup=False)
    elif not audit.satisfied:
        console.print("List every class, who is in it and what it breaks: --classes classes.csv")


def show_release(release: Release, paths: list[Path]) -> None:
    """What was made, what it attains and loses, and where it is."""
    console = _Console(highlight=False, soft_wrap=True)
    audit, left_out = release.audit, release.suppressed
    gone = number_of(left_out, "row") if left_out else "none"
    console.print(Text(f"{paths[0].name}: {_size(audit)}, {gone} left out", style="bold"))
    table = _table("", "attained", "asked")
    counted = audit.k_persons if audit.counts_persons else audit.k
    promised = release.certificate.get("promised", {})
    table.add_row(
        f"k, {'persons' if audit.counts_persons else 'rows'} in the smallest class", f"{counted:,}", _number(audit.policy.k)
    )
    for name, attribute in audit.sensitive.items():
        table.add_row(f"t of {name} ({attribute.distance})", decimal_up(attribute.t_judged), _number(attribute.limit))
        if name in promised:
            table.add_row("  promised before rows were chosen", decimal_up(promised[name]["t"]), "")
    for judgement in audit.judgements:
        if judgement.model not in ("k", "t"):
            place = judgement.values.argmin() if judgement.floor else judgement.values.argmax()
            of = f" of {judgement.sensitive}" if judgement.sensitive else ""
            model = f"l{of} ({judgement.model[2:]})" if judgement.model.startswith("l_") else f"{judgement.model}{of}"
            table.add_row(model, _shown(judgement, int(place)), _number(judgement.limit))
    table.add_row("information lost, GCP from 0 to 1", f"{release.loss['gcp']:.4f}", "")
    console.print(table)
    kept = [column["name"] for column in release.certificate["columns"] if column["role"] == "kept"]
    if kept:
        console.print(f"Published as they are: {', '.join(kept)}.", markup=False)
    if release.loss["gcp"] > USELESS:
        console.print("Nearly all that the quasi-identifiers say is lost. Loosen the limits, or name fewer quasi-identifiers.")
    unique = release.certificate["unique_rows"]
    differ = "differs" if unique == 1 else "differ"
    rows = f"{unique:,} of {number_of(audit.rows, 'row')} {differ}"
    console.print(f"{rows} from all others when sensitive and kept columns are counted in.")
    console.print(Text("The policy holds", style="bold green"), "for these quasi-identifiers; this is not a legal determination.")
    console.print()
    notes = ("the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds")
    width = max(len(str(path)) for path in paths)
    for path, note in zip(paths, notes, strict=True):
        console.print(f"  {path!s:<{width}}  {note}", markup=False)


def _size(audit: Audit) -> str:
    return f"{number_of(audit.rows, 'row')} in {number_of(audit.classes, 'class', 'classes')}"


def _overview(audit: Audit) -> Table:
    table = _table("", "attained", "asked")
    asked = _number(audit.policy.k)
    table.add_row("k, rows in the smallest class", f"{audit.k:,}", "" if audit.counts_persons else asked)
    if audit.k_persons is not None:
        table.add_row("k, persons in the smallest class", f"{audit.k_persons:,}", asked if audit.counts_persons else "")
    same = audit.homogeneous
    share = decimal_up(Fraction(100 * same["rows"], audit.rows), 1)
    table.add_row("classes with one sensitive value", f"{same['classes']:,} ({number_of(same['rows'], 'row')}, {share}%)", "")
    joint = audit.joint_verdict
    if joint is not None:
        table.add_row("joint test, not judged", f"{decimal_up(joint.worst)} (class {joint.worst_class})", "")
    return table


def _attribute_table(name: str, attribute: AttributeAudit) -> Table:
    table = _table(f"{name} ({attribute.distance})", "attained", "asked", "classes that break it")

    def row(label: str, key: str, shown: str) -> None:
        limit, broken = attribute.models[key].limit, attribute.verdicts[key].broken
        over = f"{int(broken.sum()):,}" if limit is not None else ""
        table.add_row(label, shown, _number(limit), Text(over, style="red" if broken.any() else "green"))

    t = attribute.verdicts["t"]
    row("t, distance from the table", "t", f"{decimal_up(attribute.t_judged)} (class {t.worst_class})")
    if attribute.t_other is not None:
        other = "values" if attribute.judged == "bins" else "bins"
        table.add_row(f"t over {other}, not judged", decimal_up(attribute.t_other), "", "")
    if REGION in attribute.verdicts:
        region = attribute.verdicts[REGION]
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
    if not audit.judgements:
        console.print("No limit was asked for; this is what was measured.")
        return
    if audit.satisfied:
        verdict = Text("The policy holds", style="bold green")
        console.print(verdict, "for these quasi-identifiers; this is not a legal determination.")
        return
    console.print(Text("The policy does not hold.", style="bold red"))
    for judgement in audit.judgements:
        count = int(judgement.broken.sum())
        if count:
            of = f" of {judgement.sensitive}" if judgement.sensitive else ""
            worst = ", ".join(f"class {number} at {_shown(judgement, number)}" for number in judgement.worst(SHOWN))
            more = ", ..." if count > SHOWN else ""
            what = f"broken by {number_of(count, 'class', 'classes')}"
            console.print(f"  {judgement.model}{of}: {what}; worst: {worst}{more}", markup=False)
    number = next(judgement for judgement in audit.judgements if judgement.broken.any()).worst(1)[0]
    people = ", ".join(f"{name} {_value(values.slice(number, 1))}" for name, values in audit.quasi.items())
    console.print(f"  Class {number} is {people}: {number_of(int(audit.sizes[number]), 'row')}.", markup=False)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="left" if place == 0 else "right", min_width=34 if place == 0 else None)
    return table


def _number(limit: Any) -> str:
    return "" if limit is None else str(plain(Fraction(limit)))


def _shown(judgement: Judgement, number: int) -> str:
    """What a class attains, rounded against us."""
    value = float(judgement.values[number])
    if value.is_integer():
        return str(int(value))
    return decimal_down(value) if judgement.floor else decimal_up(value)


def _value(cell: Any) -> str:
    """One cell as text, by Arrow: Python cannot hold every date that a table can."""
    return "missing" if cell.null_count else str(cell.cast("string")[0])
