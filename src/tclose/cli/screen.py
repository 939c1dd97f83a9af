"""What a person sees: an audit as tables on a terminal, plain text elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclose._numbers import decimal_down, decimal_up, number_of, plain
from tclose._progress import COMPILING, listening
from tclose.attribute import REGION
from tclose.cli.printing import Columns, Screen, words

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
    return Screen(stderr=True).status(words(f"{what} ..."))


@contextmanager
def stages(what: str) -> Iterator[None]:
    """A spinner that says which stage of long work has begun, and how it goes: ``Refining adult.csv ... loss 0.2312``.

    Where there is no terminal, one line says that kernels are compiled.
    """
    screen = Screen(stderr=True)
    told = screen.is_interactive

    def show(stage: str, figure: str) -> None:
        nonlocal told
        spinner.update(words(f"{stage} {what} ... {figure}".rstrip()))
        if figure.startswith(COMPILING) and not told:
            told = True
            screen.tell(f"{figure[0].upper()}{figure[1:]}.")

    with screen.status(words(f"{what} ...")) as spinner, listening(show):
        yield


def show_audit(audit: Audit, title: str, listing: Path | None = None) -> None:
    """The audit, on standard output; ``listing`` is where its classes are listed."""
    screen = Screen()
    screen.tell(words(f"{title}: {_size(audit)}", style="bold"))
    screen.print(_overview(audit))
    for name, attribute in audit.sensitive.items():
        screen.print()
        screen.print(_attribute_table(name, attribute))
    screen.print()
    _show_verdict(screen, audit)
    if listing is not None:
        screen.tell(f"Every class is listed in {listing}.")
    elif not audit.satisfied:
        screen.tell("List every class, who is in it and what it breaks: --classes classes.csv")


def show_release(release: Release, paths: list[Path]) -> None:
    """What was made, what it attains and loses, and where it is."""
    screen = Screen()
    audit, left_out = release.audit, release.suppressed
    gone = number_of(left_out, "row") if left_out else "none"
    screen.tell(words(f"{paths[0].name}: {_size(audit)}, {gone} left out", style="bold"))
    table = Columns("", "attained", "asked")
    counted = audit.k_persons if audit.counts_persons else audit.k
    promised = release.certificate.get("promised", {})
    table.row(
        f"k, {'persons' if audit.counts_persons else 'rows'} in the smallest class", f"{counted:,}", _number(audit.policy.k)
    )
    for name, attribute in audit.sensitive.items():
        table.row(f"t of {name} ({attribute.distance})", decimal_up(attribute.t_judged), _number(attribute.limit))
        if name in promised:
            table.row("  promised before rows were chosen", decimal_up(promised[name]["t"]), "")
    for judgement in audit.judgements:
        if judgement.model not in ("k", "t"):
            place = judgement.values.argmin() if judgement.floor else judgement.values.argmax()
            of = f" of {judgement.sensitive}" if judgement.sensitive else ""
            model = f"l{of} ({judgement.model[2:]})" if judgement.model.startswith("l_") else f"{judgement.model}{of}"
            table.row(model, _shown(judgement, int(place)), _number(judgement.limit))
    table.row("information lost, GCP from 0 to 1", f"{release.loss['gcp']:.4f}", "")
    screen.print(table)
    kept = [column["name"] for column in release.certificate["columns"] if column["role"] == "kept"]
    if kept:
        screen.tell(f"Published as they are: {', '.join(kept)}.")
    if release.loss["gcp"] > USELESS:
        screen.tell("Nearly all that the quasi-identifiers say is lost. Loosen the limits, or name fewer quasi-identifiers.")
    unique = release.certificate["unique_rows"]
    differ = "differs" if unique == 1 else "differ"
    rows = f"{unique:,} of {number_of(audit.rows, 'row')} {differ}"
    screen.tell(f"{rows} from all others when sensitive and kept columns are counted in.")
    screen.tell(words("The policy holds", style="bold green"), "for these quasi-identifiers; this is not a legal determination.")
    screen.print()
    notes = ("the release", "public: what was asked and attained", "INTERNAL: never publish it", "public: what each column holds")
    width = max(len(str(path)) for path in paths)
    for path, note in zip(paths, notes, strict=True):
        screen.tell(f"  {path!s:<{width}}  {note}")


def _size(audit: Audit) -> str:
    return f"{number_of(audit.rows, 'row')} in {number_of(audit.classes, 'class', 'classes')}"


def _overview(audit: Audit) -> Columns:
    table = Columns("", "attained", "asked")
    asked = _number(audit.policy.k)
    table.row("k, rows in the smallest class", f"{audit.k:,}", "" if audit.counts_persons else asked)
    if audit.k_persons is not None:
        table.row("k, persons in the smallest class", f"{audit.k_persons:,}", asked if audit.counts_persons else "")
    same = audit.homogeneous
    share = decimal_up(Fraction(100 * same["rows"], audit.rows), 1)
    table.row("classes with one sensitive value", f"{same['classes']:,} ({number_of(same['rows'], 'row')}, {share}%)", "")
    joint = audit.joint_verdict
    if joint is not None:
        table.row("joint test, not judged", f"{decimal_up(joint.worst)} (class {joint.worst_class})", "")
    return table


def _attribute_table(name: str, attribute: AttributeAudit) -> Columns:
    table = Columns(f"{name} ({attribute.distance})", "attained", "asked", "classes that break it")

    def row(label: str, key: str, shown: str) -> None:
        limit, broken = attribute.models[key].limit, attribute.verdicts[key].broken
        over = f"{int(broken.sum()):,}" if limit is not None else ""
        table.row(label, shown, _number(limit), words(over, style="red" if broken.any() else "green"))

    t = attribute.verdicts["t"]
    row("t, distance from the table", "t", f"{decimal_up(attribute.t_judged)} (class {t.worst_class})")
    if attribute.t_other is not None:
        other = "values" if attribute.judged == "bins" else "bins"
        table.row(f"t over {other}, not judged", decimal_up(attribute.t_other), "", "")
    if REGION in attribute.verdicts:
        region = attribute.verdicts[REGION]
        shown = f"{decimal_up(region.worst)} (class {region.worst_class})"
        over = words(f"{int(region.broken.sum()):,} not shown", style="red" if region.broken.any() else "green")
        table.row("(n,t), distance from a region", shown, _number(attribute.limit), over)
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


def _show_verdict(screen: Screen, audit: Audit) -> None:
    if not audit.judgements:
        screen.tell("No limit was asked for; this is what was measured.")
        return
    if audit.satisfied:
        verdict = words("The policy holds", style="bold green")
        screen.tell(verdict, "for these quasi-identifiers; this is not a legal determination.")
        return
    screen.tell(words("The policy does not hold.", style="bold red"))
    for judgement in audit.judgements:
        count = int(judgement.broken.sum())
        if count:
            of = f" of {judgement.sensitive}" if judgement.sensitive else ""
            worst = ", ".join(f"class {number} at {_shown(judgement, number)}" for number in judgement.worst(SHOWN))
            more = ", ..." if count > SHOWN else ""
            what = f"broken by {number_of(count, 'class', 'classes')}"
            screen.tell(f"  {judgement.model}{of}: {what}; worst: {worst}{more}")
    number = next(judgement for judgement in audit.judgements if judgement.broken.any()).worst(1)[0]
    people = ", ".join(f"{name} {_value(values.slice(number, 1))}" for name, values in audit.quasi.items())
    screen.tell(f"  Class {number} is {people}: {number_of(int(audit.sizes[number]), 'row')}.")


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
