"""An explanation in words, for somebody who never read a paper: the same on screens, in print and in notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tclose.judge.transport import Move
from tclose.policy.models import NAMED
from tclose.study.explain.made import Made
from tclose.study.explain.suppress import Fewest, Suppression
from tclose.study.explain.trial import Figures
from tclose.study.explain.worst import Broken, Share, WorstClass
from tclose.values.exact import decimal_up, number_of, plain

if TYPE_CHECKING:
    from tclose.study.explain.coarser import Coarser
    from tclose.study.explain.explanation import Explanation
    from tclose.study.explain.loosen import Limit

    Suggestion = Made | Coarser | Limit | Suppression

INTERNAL = "INTERNAL: it shows classes and values of the table. Do not publish this."

TOGETHER = "No change of one limit makes it possible. These together do:"

MOST_SUPPRESSED = Fraction(1, 10)
"""Suppressing a larger share of the rows is no remedy: what is left speaks of other people than the table does."""

SHOWN = 2
"""Values, and moves, of a class that a sentence names, at most."""


def opening(found: Explanation) -> Iterator[str]:
    """Yield the first sentences: whether the policy is satisfied, how many classes break it, and what k does to a raw table."""
    now = found.now
    size = f"{number_of(now.rows, 'row')} in {number_of(now.classes, 'class', 'classes')}"
    if found.infeasible is not None:
        yield f"No release of this table can satisfy the policy. {found.infeasible.reason}"
    if not found.audit.judgements:
        yield f"The policy has no limits, so no class of the {size} breaks one."
    elif now.satisfied:
        yield f"The policy is satisfied: of {size} none breaks a limit."
    else:
        verb = "breaks" if now.broken == 1 else "break"
        rows = f"{now.rows_broken:,} of {number_of(now.rows, 'row')}"
        classes = number_of(now.classes, "class", "classes")
        yield f"The policy is not satisfied: {now.broken:,} of {classes} {verb} a limit, with {rows}."
    if found.raw:
        k, who = found.policy.k, "person" if found.audit.counts_persons else "row"
        asked = f"k={k} asks for {k} {who}s or more" if k not in (None, 1) else f"k=5, for one, asks for 5 {who}s or more"
        yield (
            f"{found.alone:,} of {number_of(now.classes, 'class', 'classes')} are one {who} each: nobody else has the "
            f"quasi-identifiers of these people, so whoever knows them knows their {_listed(list(found.audit.sensitive))}. "
            f"{asked} in each class: a person is then one of several, and t asks that these have about the values of everybody. "
            "The command anonymize makes such classes."
        )


def heading_of_classes(found: Explanation) -> str:
    """Return the line above the classes; empty if there are none to show."""
    if not found.classes:
        return ""
    what = "The classes that are farthest from the table" if found.now.satisfied else "The classes that break the policy most"
    if found.raw:
        what += f", of those with {number_of(found.classes_from, 'person' if found.audit.counts_persons else 'row')} or more"
    return f"{what}:"


def class_in_words(found: Explanation, number: int) -> Iterator[str]:
    """Yield the sentences on one of the worst classes; the first names it, the others explain it."""
    one = found.classes[number]
    size = (
        number_of(one.rows, "row")
        if one.persons is None
        else f"{number_of(one.persons, 'person')} in {number_of(one.rows, 'row')}"
    )
    yield f"{number + 1}. {one.people}; {size}. {_limits_in_words(found, one)}"
    if one.too_much:
        yield f"Too much: {_shares_in_words(one.too_much, one.column)}."
        yield f"Too little: {_shares_in_words(one.too_little, one.column)}."
        if one.middle is not None:
            yield f"The median of {one.column} is {one.middle[0]}, in the table {one.middle[1]}."
        yield _moves_in_words(one.moves, one.distance)
    if one.fewest is not None:
        yield _fewest_in_words(found, one, one.fewest)


def _limits_in_words(found: Explanation, one: WorstClass) -> str:
    """Return the limits that a class breaks; or how far it is from the table."""
    if one.breaks:
        return f"It breaks {'; '.join(_broken_in_words(broken) for broken in one.breaks)}."
    limit = next(column.t for column in found.policy.sensitive if column.name == one.column)
    asked = "" if limit is None else f"; at most {plain(limit)} is asked"
    return f"Its distance from the table in {one.column} is {decimal_up(one.distance)}{asked}."


def _broken_in_words(broken: Broken) -> str:
    """Return a broken limit, asked and attained."""
    model = NAMED[broken.model]
    name = broken.model if model.limit_from is None else model.limit_from.name
    of = "" if broken.sensitive is None else f" of {broken.sensitive}"
    attained = f"{broken.attained:,.0f}" if model.whole else model.rounded(broken.attained)
    return f"{name}{of}: {attained}, where {'at least' if broken.at_least else 'at most'} {plain(broken.limit)} is asked"


def _shares_in_words(shares: Sequence[Share], column: str) -> str:
    """Return the first of some values with their shares in the class and in the table."""
    parts = []
    for place, share in enumerate(shares[:SHOWN]):
        who = "nobody has" if not share.rows else "all have" if share.of_class == 1 else f"{_percent(share.of_class)} have"
        named = f" {column}" if place == 0 else ""
        inside = "in this class " if place == 0 else ""
        parts.append(f"{inside}{who}{named} {share.value}, in the table {_percent(share.of_table)}")
    more = len(shares) - SHOWN
    return "; ".join(parts) + (f"; and {number_of(more, 'other value')}" if more > 0 else "")


def _percent(share: Fraction) -> str:
    """Return a share in percent, with three digits."""
    return f"{100 * float(share):.3g}%"


def _moves_in_words(moves: Sequence[Move], distance: Fraction) -> str:
    """Return the moves of a plan with the largest costs, and what all of them add up to."""
    parts = [f"{_percent(move.mass)} from {move.source} to {move.target} ({decimal_up(move.cost)})" for move in moves[:SHOWN]]
    rest = moves[SHOWN:]
    if rest:
        parts.append(f"{number_of(len(rest), 'other move')} ({decimal_up(sum((move.cost for move in rest), Fraction(0)))})")
    return f"To be like the table it would move {'; '.join(parts)}: in all {decimal_up(distance)}, its distance."


def _fewest_in_words(found: Explanation, one: WorstClass, fewest: Fewest) -> str:
    """Return which rows of a class to suppress, and what is left."""
    if fewest.whole:
        least = "" if found.policy.k is None else f" of {number_of(found.policy.k, 'row')} or more"
        small = any(broken.sensitive is None for broken in one.breaks)
        known = f"no part{least} satisfies t" if fewest.proven else "whether fewer would do is not known"
        why = "it is too small" if small else known
        return f"Suppress: all its rows; {why}."
    first = list(fewest.values.items())[:SHOWN]
    values = ", ".join(f"{count:,} with {value}" for value, count in first)
    more = len(fewest.values) - SHOWN
    values += f" and {number_of(more, 'other value')}" if more > 0 else ""
    proven = "; no fewer will do" if fewest.proven else ""
    return f"Suppress: {number_of(len(fewest.rows), 'row')} ({one.column}: {values}), and it breaks no limit{proven}."


def heading_of_changes(found: Explanation) -> str:
    """Return the line above what would help; empty if there is nothing to show."""
    if found.infeasible is None:
        return "What would help, each tried:" if found.suggestions else ""
    if found.infeasible.changes:
        return "What would make it possible, each tried:"
    return TOGETHER if found.infeasible.together else ""


def changes_in_words(found: Explanation) -> Iterator[str]:
    """Yield the changes that make an infeasible policy feasible."""
    if found.infeasible is None:
        return
    for change in found.infeasible.changes:
        yield f"  {change.what}"
    if found.infeasible.changes and found.infeasible.together:
        yield TOGETHER
    for change in found.infeasible.together:
        yield f"  {change.what}"


def headers(found: Explanation) -> list[str]:
    """Return the headers of the table of what would help."""
    return ["", "classes", "break a limit", "rows in them", "k", *([_t_header(found)] if found.now.t else [])]


def _t_header(found: Explanation) -> str:
    """Return what the last figure is: the largest distance of a class in any sensitive column."""
    return f"t of {next(iter(found.now.t))}" if len(found.now.t) == 1 else "largest t"


def rows_of_changes(found: Explanation) -> Iterator[list[str]]:
    """Yield the table of what would help, the best first: the table as it is, then each change with the figures of its trial."""
    helping = [suggestion for suggestion in found.suggestions if _helps(found, suggestion)]
    if not helping:
        return
    yield ["as it is", *_figures_in_words(found.now)]
    for suggestion in sorted(helping, key=lambda one: (_is_no_remedy(found, one), one.after.rows_broken, one.after.broken)):
        share = _percent(_suppressed(found, suggestion))
        note = f": no remedy, it is {share} of the table" if _is_no_remedy(found, suggestion) else ""
        yield [f"{suggestion.what}{note}", *_figures_in_words(suggestion.after)]


def _helps(found: Explanation, suggestion: Suggestion) -> bool:
    """Whether fewer classes, or fewer rows, break a limit after a change."""
    return suggestion.after.broken < found.now.broken or suggestion.after.rows_broken < found.now.rows_broken


def _is_no_remedy(found: Explanation, suggestion: Suggestion) -> bool:
    """Whether a change suppresses too much of the table."""
    return _suppressed(found, suggestion) > MOST_SUPPRESSED


def _figures_in_words(figures: Figures) -> list[str]:
    """Return figures as cells of a table."""
    counts = [f"{count:,}" for count in (figures.classes, figures.broken, figures.rows_broken, figures.k)]
    return [*counts, *([decimal_up(max(figures.t.values()))] if figures.t else [])]


def closing(found: Explanation) -> Iterator[str]:
    """Yield the last sentences: what does not help, what to do first, and which suggestion suffices by itself."""
    useless = [suggestion.what for suggestion in found.suggestions if not _helps(found, suggestion)]
    if useless:
        yield f"{'This does not help' if len(useless) == 1 else 'None of these helps'} alone: {'; '.join(useless)}."
    if found.infeasible is not None or found.now.satisfied:
        return
    others = [suggestion for suggestion in found.suggestions if not isinstance(suggestion, Made)]
    remedies = [suggestion for suggestion in others if not _is_no_remedy(found, suggestion)]
    enough = [suggestion.what for suggestion in remedies if suggestion.after.satisfied]
    changes = "these" if len(others) == len(found.suggestions) else "the other changes"
    sentence = f"Enough by itself: {'; or '.join(enough)}." if enough else f"None of {changes} is enough by itself."
    # Far from the policy a release comes first: nothing else helps much.
    far = found.raw or len(remedies) < len(others)
    yield from (_release_in_words(found), sentence) if far else (sentence, _release_in_words(found))


def _release_in_words(found: Explanation) -> str:
    """Return the advice to make a release, or another one, with what it attained and lost if it was tried."""
    made = next((suggestion for suggestion in found.suggestions if isinstance(suggestion, Made)), None)
    if made is not None:
        rows = "all" if not made.suppressed else f"{found.now.rows - made.suppressed:,} of"
        return (
            f"Make a release, with the command tclose anonymize: a quick try of it satisfies every limit with {rows} "
            f"{number_of(found.now.rows, 'row')}, in {number_of(made.after.classes, 'class', 'classes')}; "
            f"{100 * made.detail_lost:.0f}% of the detail of the quasi-identifiers is lost."
        )
    if found.released:
        return (
            "This is a release. To make another one that satisfies the policy, use the command tclose anonymize on the raw table."
        )
    where = "" if found.alone else "; if this table is a release itself, on the raw table"
    return f"To make a release that satisfies the policy, use the command tclose anonymize{where}."


def _suppressed(found: Explanation, suggestion: Suggestion) -> Fraction:
    """Return the share of the rows of the table that a suggestion suppresses."""
    return Fraction(len(suggestion.rows), found.now.rows) if isinstance(suggestion, Suppression) else Fraction(0)


def all_lines(found: Explanation) -> Iterator[str]:
    """Yield the whole explanation as lines of text."""
    yield INTERNAL
    yield from opening(found)
    if heading_of_classes(found):
        yield ""
        yield heading_of_classes(found)
    for number in range(len(found.classes)):
        first, *others = class_in_words(found, number)
        yield first
        yield from (f"   {line}" for line in others)
    if heading_of_changes(found):
        yield ""
        yield heading_of_changes(found)
    yield from changes_in_words(found)
    if rows := list(rows_of_changes(found)):
        table = [headers(found), *rows]
        widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
        for first, *cells in table:
            aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
            yield "  ".join([f"  {first.ljust(widths[0])}", *aligned])
    yield from closing(found)


def _listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
