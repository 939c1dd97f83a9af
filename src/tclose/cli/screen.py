"""The screen of an audit: the verdict, what was asked and attained, and the worst classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclose.cli.binned import fewer_bins, half_in_words
from tclose.cli.printing import Columns, Screen, words
from tclose.jobs import COMPILING, Job
from tclose.policy.models import MODELS, NAMED, PrivacyModel
from tclose.report.attained import verdict_in_words
from tclose.tables.readings import NOUNS
from tclose.values.exact import decimal_up, number_of, plain

if TYPE_CHECKING:
    from tclose.judge.attribute import AttributeAudit, Profile
    from tclose.judge.parts import Figures
    from tclose.judge.result import Audit, Judgement
    from tclose.tables.readings import Reading

WHAT_T_IS = "t is 0 where a class has the same distribution of values as the whole table, and 1 where it is as far as can be."

SHOWN = 3
"""Values of a class that a sentence names, at most."""

SEVERAL = 0.1
"""Values in an order are named only where they have at least this share of a class."""

OF_OUTPUT = ("Writing", "Reading back", "Reporting on")
"""Stages of work on the release, not on the table."""

JOINT = "joint test: t of all sensitive columns taken as one value. It is never judged."


def status(what: str) -> AbstractContextManager[Any]:
    """Return a context that shows a spinner on the terminal during long work; elsewhere it shows nothing."""
    return Screen(stderr=True).status(words(f"{what} ..."))


@contextmanager
def stages(what: str, written: str = "") -> Iterator[None]:
    """Show a spinner with the stage and progress of the work in this block: ``Refining adult.csv ... loss 0.2312``.

    ``written`` is the file that the last stages work on. Where there is no terminal, one line says that kernels are compiled.
    """
    screen = Screen(stderr=True)
    told = screen.is_interactive

    def show(stage: str, figure: str) -> None:
        """Show a stage and its progress; without a terminal, only that kernels are compiled, once."""
        nonlocal told
        name = written if written and stage in OF_OUTPUT else what
        spinner.update(words(f"{stage} {name} ... {figure}".rstrip()))
        if figure.startswith(COMPILING) and not told:
            told = True
            screen.tell(f"{figure[0].upper()}{figure[1:]}.")

    with screen.status(words(f"{what} ...")) as spinner, Job(show):
        yield


def show_audit(
    audit: Audit, title: str, listing: Path | None = None, *, everything: bool = False, notes: Sequence[str] = ()
) -> None:
    """Print the screen of an audit: the verdict, limits asked and attained, and the worst classes.

    Parameters
    ----------
    title
        The name of the table.
    listing
        The file that lists its classes.
    everything
        Whether to show all measures, also those without a limit: beta, delta, lift, the joint test.
    notes
        Sentences about how the table was read.
    """
    screen = Screen()
    screen.tell(_styled_verdict(audit))
    screen.tell(f"{title}: {size(audit)}. Rows of one class agree in {listed_names(list(audit.quasi))}.")
    for note in notes:
        screen.tell(note)
    screen.print()
    screen.print(limits_table(audit))
    screen.tell(WHAT_T_IS)
    for sentence in fewer_bins(audit):
        screen.tell(sentence)
    screen.print()
    for sentence in worst_classes(audit):
        screen.tell(sentence)
    if everything:
        _show_all_measures(screen, audit)
    if listing is not None:
        screen.tell(f"Every class is listed in {listing}.")
    elif not audit.satisfied:
        screen.tell("List every class, who is in it and what it breaks: --classes classes.csv")
        screen.tell("To make a release that satisfies the policy, use the command anonymize.")


def in_doubt(readings: Mapping[str, Reading]) -> list[str]:
    """Return a warning for each column that was read as text although nearly all of its cells are numbers or dates."""
    return [f"Warning: column {reading.sentence}." for reading in readings.values() if reading.doubtful]


def how_read(readings: Mapping[str, Reading], notes: Sequence[str] = ()) -> list[str]:
    """Return lines for the screen that say how each column was read, after notes; columns that were read alike share a line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for reading in readings.values():
        how = reading.sentence.removeprefix(f"{reading.column}: ")
        alone = reading.column if reading.doubtful else ""  # what is said of a column in doubt is about its own cells
        alike.setdefault((how, alone), []).append(reading.column)
    sure = [names for (how, _), names in alike.items() if how == NOUNS["text"]]
    lines = [f"  {listed_names(names)}: {how}" for (how, _), names in alike.items() if how != NOUNS["text"]]
    lines += [f"  {'the others' if lines and len(names) > 1 else listed_names(names)}: {NOUNS['text']}" for names in sure]
    return ["How the columns were read:", *notes, *lines] if lines else []


def _styled_verdict(audit: Audit) -> Any:
    """Return the first sentence of an audit's screen, in the colour of the verdict."""
    colour = "" if not audit.judgements else " green" if audit.satisfied else " red"
    return words(verdict_in_words(audit), style=f"bold{colour}")


def size(audit: Audit | Figures) -> str:
    """Return the numbers of rows and classes of an audit, in words: "10 rows in 2 classes"."""
    return f"{number_of(audit.rows, 'row')} in {number_of(audit.classes, 'class', 'classes')}"


def limits_table(audit: Audit, *, promised: Any = None, judged: bool = True) -> Columns:
    """Return a screen table of an audit: one limit or measure per row, what is attained and what was asked.

    Parameters
    ----------
    promised
        For each sensitive attribute the bound on t that was known before rows were chosen.
    judged
        Whether to count the classes that break each limit; in a release there are none.
    """
    headers = ("", "attained", "asked", *(("broken by",) if judged else ()))
    table = Columns(*headers)
    limits = {(judgement.model, judgement.sensitive): judgement for judgement in audit.judgements}

    def row(label: str, attained: str, judgement: Judgement | None) -> None:
        """Add a row: its label, the attained value, the limit, and the number of classes that break it."""
        asked = "" if judgement is None else f"{limit_as_text(judgement.limit)} or {'more' if judgement.floor else 'less'}"
        cells: list[Any] = [label, attained, asked]
        if judged:
            count = None if judgement is None else int(judgement.broken.sum())
            broken = "" if count is None else number_of(count, "class", "classes")
            cells.append(words(broken, style="red" if count else "green"))
        table.row(*cells)

    of_k = limits.get(("k", None))
    if audit.k_persons is not None:
        row(MODELS["k"].label.format("persons"), f"{audit.k_persons:,}", of_k if audit.counts_persons else None)
    if not audit.counts_persons:
        row(MODELS["k"].label.format("rows"), f"{audit.k:,}", of_k)
    for name, attribute in audit.sensitive.items():
        for model, attained in _attained_by_model(attribute):
            judgement = limits.get((model.name, name))
            if judgement is not None or model.on_screen:
                row(model.label.format(name), attained, judgement)
            if model.key == "t" and attribute.t_other is not None:
                row(
                    f"  over its {'values' if attribute.judged == 'bins' else 'bins'}, not judged",
                    decimal_up(attribute.t_other),
                    None,
                )
            if model.key == "t" and promised and name in promised:
                row("  promised before rows were chosen", decimal_up(promised[name]["t"]), None)
    same = audit.homogeneous
    share = decimal_up(Fraction(100 * same["rows"], audit.rows), 1)
    row("rows in classes with one sensitive value", f"{same['rows']:,} ({share}%)", None)
    return table


def _attained_by_model(attribute: AttributeAudit) -> Iterator[tuple[PrivacyModel, str]]:
    """Yield each privacy model with what an attribute attains of it, as text; models that can be limited come first."""
    for model in sorted(MODELS.values(), key=lambda model: not model.settings):
        if model.key in attribute.verdicts:
            worst = attribute.verdicts[model.key].worst
            yield model, f"{int(worst):,}" if model.whole else model.rounded(worst)


def worst_classes(audit: Audit) -> Iterator[str]:
    """Yield sentences on the smallest class and on the classes farthest from the table: who is in them, and their values.

    Each class is named once, with all limits that it breaks.
    """
    farthest: dict[int, list[str]] = {}
    for name, attribute in audit.sensitive.items():
        farthest.setdefault(attribute.worst_class, []).append(name)
    smallest = _smallest_class(audit, list(farthest))
    for number in dict.fromkeys([*([] if smallest is None else [smallest]), *farthest]):
        names = farthest.get(number, [])
        parts = ["The smallest class"] if number == smallest else []
        parts += [f"{'the' if parts else 'The class'} farthest from the table in {listed_names(names)}"] if names else []
        yield f"{', and '.join(parts)}: {_people_in_words(audit, number)}.{_breaks_in_words(audit, number)}"
        for name in names:
            profile = audit.sensitive[name].profile
            if profile is not None:
                yield f"  {_disclosure_in_words(name, profile)}"


def _smallest_class(audit: Audit, farthest: Sequence[int]) -> int | None:
    """Return the number of the smallest class if k is broken: of several one that is named anyway, else the first."""
    if audit.policy.k is None or not audit.judgements[0].broken.any():
        return None
    sizes = audit.judgements[0].values
    first: int = audit.judgements[0].worst(1)[0]
    return next((number for number in farthest if sizes[number] == sizes[first]), first)


def _breaks_in_words(audit: Audit, number: int) -> str:
    """Return a sentence on the limits that a class breaks, after a space; nothing if it breaks none."""
    broken = [judgement for judgement in audit.judgements if judgement.broken[number]]
    names = []
    for judgement in broken:
        setting = NAMED[judgement.model].limit_from
        name = judgement.model if setting is None else setting.name
        names.append(name if judgement.sensitive is None else f"{name} of {judgement.sensitive}")
    return f" It breaks {listed_names(names)}." if names else ""


def _people_in_words(audit: Audit, number: int) -> str:
    """Return the quasi-identifiers of a class, and its numbers of persons and rows, for a sentence."""
    values = ", ".join(f"{name} {_cell_as_text(column.slice(number, 1))}" for name, column in audit.quasi.items())
    rows = number_of(int(audit.sizes[number]), "row")
    if audit.persons is not None:
        return f"{values}; {number_of(int(audit.persons[number]), 'person')} in {rows}"
    return f"{values}; {rows}"


def _disclosure_in_words(name: str, profile: Profile) -> str:
    """Return the sentence on what a class tells of its people: the values more frequent in it than in the table."""
    excess = profile.excess()
    shown = [
        part
        for part in excess[:SHOWN]
        if profile.middle is None or part[1] >= SEVERAL * profile.rows  # else one of many numbers; the medians say more
    ]
    middle = ""
    if profile.middle is not None and len(profile.values) > 1:
        inside, outside = map(half_in_words, profile.middle)
        if inside != outside and (not shown or len(profile.values) > 2):  # else it would tell nothing more
            middle = f"half have {name} {inside} (in the table {outside})"
    if excess and not shown and not middle:
        shown = [profile.most_different()]
    parts = [_share_in_words(name, profile, part) for part in shown] + [middle] * bool(middle)
    sentence = "; ".join(parts) or f"it has the same {name} as the table"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _share_in_words(name: str, profile: Profile, part: tuple[str, int, int]) -> str:
    """Return how often a value occurs in a class, and in the table."""
    value, rows, of_table = part
    inside, outside = (f"{100 * share:.3g}%" for share in (rows / profile.rows, of_table / profile.of_table))
    return f"{'All' if rows == profile.rows else inside} have {name} {value} (in the table {outside})"


def _show_all_measures(screen: Screen, audit: Audit) -> None:
    """Print all measures of an audit, limited or not, and the class that attains each."""
    screen.print()
    table = Columns("all measures", "attained", "in class")
    table.row("rows in the smallest class", f"{audit.k:,}", "")
    for name, attribute in audit.sensitive.items():
        for model, attained in _attained_by_model(attribute):
            table.row(model.label.format(name), attained, f"{attribute.verdicts[model.key].worst_class:,}")
    if audit.joint_verdict is not None:
        table.row("joint test", decimal_up(audit.joint_verdict.worst), f"{audit.joint_verdict.worst_class:,}")
    screen.print(table)
    meanings = [model.meaning for model in MODELS.values() if model.meaning]
    for meaning in (*meanings, *([] if audit.joint_verdict is None else [JOINT])):
        screen.tell(f"  {meaning}")


def listed_names(names: Sequence[str]) -> str:
    """Return column names as a sentence lists them: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def limit_as_text(limit: Any) -> str:
    """Return a policy's limit as its shortest number, for a table on the screen.

    >>> limit_as_text(1000), limit_as_text("0.2"), limit_as_text("4/15")
    ('1,000', '0.2', '4/15')
    """
    number = plain(Fraction(limit))
    return f"{number:,}" if isinstance(number, int) else str(number)


def _cell_as_text(cell: Any) -> str:
    """Return one cell as text, by Arrow, as Python cannot represent every date; "missing" for a missing cell."""
    return "missing" if cell.null_count else str(cell.cast("string")[0])
