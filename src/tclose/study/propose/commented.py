"""Commented: the file of a proposed policy, its reasons as comments. It quotes no cell of the table but ends of a grid."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tclose.make.registry import DEFAULT
from tclose.policy.fields import CONTEXT
from tclose.policy.proposed import UNCONFIRMED
from tclose.study.propose.columns import ALONE, percent
from tclose.study.propose.costs import Cost
from tclose.study.propose.sensitive import L, T
from tclose.study.propose.singling import MOST_COLUMNS, SingledOut
from tclose.study.propose.words import suggests_sensitive
from tclose.values.exact import number_of
from tclose.values.visible import visible

if TYPE_CHECKING:
    from tclose.study.propose.proposal import Proposal

WIDTH = 110
"""Characters of a line of comments."""

SHOWN = 5
"""Sets of columns of each size that the file lists; of those with a sensitive column, one."""

SETS = (("column", "columns"), ("set of two", "sets of two"), ("set of three", "sets of three"))
"""What one set, and several sets, of one, two and three columns are called."""

SHARES, LONGEST_NAME = 4, 20
"""Sensitive columns in the table of costs, and characters of a name there, at most."""

CONTEXT_ASKED = {
    "purpose": "What the release is for",
    "recipient": "Who gets it",
    "controls": "What binds the recipients, as a contract, and who has access to the file",
    "adversaries": "Who may try to find somebody in it, and what they know",
    "thresholds": "Why this k and this t",
    "earlier_releases": "Other releases about the same people, or that there are none",
    "reviewer": "Who decided about the release, and when",
}
"""What each topic of a policy's ``context`` asks for."""

_HOW = "name it between the brackets, and take '# ' away."

EMPTY = {
    "identifiers": "Never published: what names a person, as a name or the number of a person or of a row. To make a column one, "
    f"take its line away below, {_HOW}",
    "keep": f"To publish a column as it is, with its exact values, take its line away above, {_HOW} Only a harmless one that "
    "nobody else knows: what others may know must be in quasi.",
    "drop": f"To drop a column, take its line away above, {_HOW}",
}
"""What to do with the list of identifiers, or of kept or dropped columns, in a file in which it is empty."""

FOR_PROPOSED = "The table is about the roles and settings as proposed. Once you have changed some, this says what each t costs:"
"""What the table of costs is about."""

WHICH_SENSITIVE, WHICH_T = "Which columns are sensitive?", "Which t?"
"""The first two questions of every table; the third is about roles."""

ROLES = (
    "What can others know about a person? That belongs in quasi. A harmless column that nobody else knows can be published as it "
    "is, with its exact values: name it in keep, as keep: [COLUMN]. What is in drop is not published."
)
"""Which columns belong in the other roles."""

ROLES_IN_SHORT = "What can others know about a person? That belongs in quasi."
"""The same on a screen."""

ASK_IN_SHORT = "Ask of each column in quasi: would it harm a person if others learned it?"
"""What finds a sensitive column whose name does not say so, on a screen."""

ASK = f"{ASK_IN_SHORT} Then it belongs in sensitive."
"""What finds a sensitive column whose name does not say so."""

MOVED = (
    f"When you move a column there, replace what stands after its name by {{t: {float(T)}, l: {L}}}, or by what a question below "
    "says."
)
"""What to write for a column that becomes sensitive."""

FIRST = 4
"""The number of the first question that is not asked of every table."""

_PLAIN = re.compile("[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_SENTENCE = re.compile(r"(?<=[.?]) ")
_PART = re.compile("[,;:] ")
_ITEM = re.compile(r"- |[0-9]+\. ")
_WORDS = ("null", "true", "false", "inf", "nan")


def commented(proposal: Proposal, path: str) -> str:
    """Return the text of the file."""
    return "\n".join(_lines(proposal, path)) + "\n"


def _lines(proposal: Proposal, path: str) -> Iterator[str]:
    """Yield the lines of the file."""
    settings = proposal.policy.to_dict(Path(path).parent)
    yield from _heading(proposal, path)
    yield ""
    if "input" in settings:
        yield from _comment(*proposal.input_reasons)
        yield "input:"
        yield from (f"  {key}: {flow(value)}" for key, value in settings["input"].items())
        yield ""
    yield from _comment("At least k persons look alike in each class.")
    yield f"k: {settings['k']}"
    if proposal.policy.unit is None:
        yield from _comment(
            "Each row is taken for a person. If persons have several rows, name the column that names them, or add one from the "
            "source of the table:"
        )
        yield "# unit: person"
    else:
        yield from _comment("k and l count persons, not rows.")
        yield f"unit: {scalar(proposal.policy.unit)}"
    yield from _roles(proposal, settings, path)
    yield ""
    yield from _comment(*(f"- {line}" if index else line for index, line in enumerate(dangers(proposal))))
    yield ""
    yield from _comment(
        "What only people can say. Public reports show it, so nothing internal belongs here, and 'not stated' for the rest. Fill "
        "in what you can, and take '# ' away before it and before context."
    )
    yield "# context:"
    yield from (f'#   {topic}: ""  # {CONTEXT_ASKED[topic]}' for topic in CONTEXT)


def _heading(proposal: Proposal, path: str) -> Iterator[str]:
    """Yield the comments that say what the file is, what to decide, and how to go on."""
    title = visible(proposal.title)
    yield from _comment(
        f"A proposal for {title} ({proposal.rows:,} rows), to be checked and edited. Its comments count rows of the raw table: "
        "keep it internal.",
        "Decide before you publish anything:",
        f"1. {WHICH_SENSITIVE} {source_of_sensitive(proposal)} {ASK} {MOVED}",
        f"2. {WHICH_T} The table below says what each costs. The file has one so that it runs; it is not chosen for you.",
        f"3. {ROLES}",
        *(f"{number}. {sentence}" for number, sentence in enumerate(map(visible, proposal.decisions), FIRST)),
    )
    for number, misfit in enumerate(proposal.misfits, FIRST + len(proposal.decisions)):
        yield from _comment(f"{number}. {misfit.reason} {misfit.before}".rstrip())
        if misfit.before:
            yield f"#       {misfit.command(proposal.data)}"
    yield f"# {UNCONFIRMED}"
    yield f"# Then: {next_command(proposal.data, path)}"


def source_of_sensitive(proposal: Proposal) -> str:
    """Return where the sensitive columns of a proposal come from, in a sentence."""
    names = [column.name for column in proposal.policy.sensitive]
    if not proposal.guessed:
        return f"You named {listed_names(names)}: is that all?"
    if not any(map(suggests_sensitive, names)):
        return f"No name suggests one: {listed_names(names)}, the last column, only stands in for it."
    return f"{listed_names(names)} {'is a guess' if len(names) == 1 else 'are guesses'} from names alone."


def why_in_short(proposal: Proposal, role: str, name: str) -> str:
    """Return what a column has, and how it would be published, in the words of a screen: the file has the reasons."""
    described, *reasons = proposal.reasons[name]
    if name in proposal.instead:
        return f"{described} By its file."
    if role == "quasi":
        return " ".join([described, *(f"{_PART.split(reason, maxsplit=1)[0].rstrip('.')}." for reason in reasons[:1])])
    if role != "sensitive":
        return " ".join([described, *reasons[:1]])
    settings = {key: value for key, value in proposal.policy.to_dict()["sensitive"][name].items() if key in ("bins", "distance")}
    return " ".join([described, *(f"{key}: {value}." for key, value in settings.items())])


def costs_in_short(proposal: Proposal) -> str:
    """Return a sentence on what the table of costs was tried on, and what its figures are."""
    whole = "all rows" if proposal.sampled == proposal.rows else f"a sample of {proposal.sampled:,} rows"
    left = _uncounted(proposal)
    without = f" (without {listed_names(left)})" if left else ""
    shares = (
        "; below a sensitive column: the largest share of one value in a class" if any(c.shares for c in proposal.costs) else ""
    )
    return f"Tried on {whole}. GCP is the information loss{without}{shares}."


def in_short(decision: str) -> str:
    """Return the question of a decision: the head of the file says, under its number, what to write for each answer.

    >>> in_short("Is race sensitive, too? Its name suggests it. Move what nobody should learn to sensitive.")
    'Is race sensitive, too?'
    """
    return _SENTENCE.split(decision, maxsplit=1)[0]


def next_command(data: str, path: str) -> str:
    """Return the command that makes a release with the policy, for a shell."""
    return shlex.join(["tclose", "anonymize", visible(data), "-p", visible(path), "-o", "release.csv", "--report", "report.html"])


def costs_command(proposal: Proposal, path: str) -> str:
    """Return the command that says what each t costs with the policy as its owner has edited it, for a shell."""
    tried = ",".join(str(cost.t) for cost in proposal.costs)
    words = ["tclose", "compare", visible(proposal.data), "-p", visible(path), "--algorithms", DEFAULT, "--t", tried]
    return shlex.join(words)


def _roles(proposal: Proposal, settings: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the parts of the file that give a role to each column."""
    explained = {
        "identifiers": "Never published: they name persons.",
        "quasi": "What others may know about a person. A class is published with one value, range or set for all of its rows.",
        "sensitive": "What nobody should learn. GUESSED: check it first." if proposal.guessed else "What nobody should learn.",
        "keep": "Published as they are, with their exact values. What others may know must be in quasi.",
        "drop": "Not published. Give a column another role to publish it.",
    }
    alone = {one.columns[0]: one for one in proposal.singled_out if len(one.columns) == 1}
    for role, words in explained.items():
        found = settings.get(role)
        if not found:
            if role in EMPTY:
                yield ""
                yield from _comment(EMPTY[role])
                yield f"# {role}: []"
            continue
        yield ""
        yield from _comment(words)
        if role == "quasi":
            yield from _comment(*proposal.ways, *filter(None, [loss_of_hierarchies(proposal)]))
        if role == "sensitive":
            yield from cost_lines(proposal.costs, proposal.sampled, proposal.rows)
            yield from _comment(*filter(None, [uncounted(proposal)]), FOR_PROPOSED)
            yield f"#   {costs_command(proposal, path)}"
        yield f"{role}:"
        for name in found:
            reasons = list(proposal.reasons[name])
            if name in alone:
                reasons.append(f"By itself it singles out {_rows_in_words(alone[name])}.")
            yield from _comment(" ".join(map(visible, reasons)), indent="  ")
            own = found[name] if isinstance(found, dict) else None
            yield f"  - {scalar(name)}" if isinstance(found, list) else f"  {scalar(name)}: {flow(own) if own else ''}".rstrip()


def cost_lines(costs: Sequence[Cost], sampled: int, rows: int) -> list[str]:
    """Return the comments that say what each t costs."""
    whole = "all rows" if sampled == rows else f"a sample of {sampled:,} of {rows:,} rows"
    lines = _comment(
        "t is how far the sensitive values of a class may be from those of the whole table: 0 the same, 1 anything. With a t of "
        "0.2, a diagnosis that 1% have may reach 21% in a class, if all values are equally far apart. Where values have an order "
        "or a hierarchy, a change to a value close by counts little, so the share of one value may grow by more than t: a "
        "smaller t, bins, or distance: equal allow less of that. CHOOSE one for each column. "
        f"Tried for all of them together, on {whole}:"
    )
    header, *cells = cost_table(costs)
    widths = [max(len(row[place]) for row in (header, *cells)) for place in range(len(header))]
    for row in (header, *cells):
        lines.append("#   " + "   ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    larger = "" if sampled == rows else ", and the whole table has more classes than the sample"
    lines += _comment(*what_costs_mean(costs), f"A larger t need not mean more classes{larger}.")
    for refusal in dict.fromkeys(cost.refusal for cost in costs if cost.refusal):
        lines += _comment(f"Refused: {visible(refusal)}")
    return lines


def cost_table(costs: Sequence[Cost]) -> list[list[str]]:
    """Return the table of what each t costs, its header first, between one class of everybody and the raw table."""
    shares = next((list(cost.shares.items())[:SHARES] for cost in costs if cost.shares), [])
    names = [name for name, _ in shares]
    rows = [["t", "GCP", "classes", *(visible(name)[:LONGEST_NAME] for name in names)]]
    rows.append(["one class", "1.000", "1", *(f"{100 * in_table:.1f}%" for _, (_, in_table) in shares)])
    for cost in costs:
        figures = ["refused", ""] if cost.gcp is None else [f"{cost.gcp:.3f}", f"{cost.classes:,}"]
        rows.append([str(cost.t), *figures, *(f"{100 * cost.shares[name][0]:.1f}%" if cost.shares else "" for name in names)])
    rows.append(["raw table", "0.000", "", *([""] * len(names))])
    return rows


def what_costs_mean(costs: Sequence[Cost]) -> list[str]:
    """Return sentences on the table of costs: its figures, and its first and last line."""
    names = next((list(cost.shares)[:SHARES] for cost in costs if cost.shares), [])
    said = ["GCP is the information loss: 1 if everybody is in one class, which tells nothing; 0 for the raw table."]
    if names:
        said.append(f"Under {listed_names(names)}: the largest share of one value in a class.")
    return said


def uncounted(proposal: Proposal) -> str:
    """Return a sentence on the quasi-identifiers that the table of costs leaves out, as a release's papers do; "" if none."""
    names = _uncounted(proposal)
    return f"GCP leaves out {listed_names(names)}: no reader of a release can compute how much is lost there." if names else ""


def _uncounted(proposal: Proposal) -> list[str]:
    """Return the quasi-identifiers that the table of costs leaves out; none if it leaves out all or none."""
    names = [column.name for column in proposal.policy.quasi if column.builder is not None]
    return names if len(names) < len(proposal.policy.quasi) else []


def loss_of_hierarchies(proposal: Proposal) -> str:
    """Return a sentence on what the offered hierarchies cost; "" if none is proposed, or without them it costs as much."""
    figures = _without_hierarchies(proposal)
    if not figures:
        return ""
    return (
        f"{figures}. A group of a file also covers values that nobody in the class has; ranges and sets do not. Where that "
        f"matters more to you than its labels, {_instead(proposal)}."
    )


def loss_in_short(proposal: Proposal) -> str:
    """Return the figures of `loss_of_hierarchies`, and where it is said what to write; "" if it says nothing."""
    figures = _without_hierarchies(proposal)
    return f"{figures}: the file says what to write for that." if figures else ""


def _without_hierarchies(proposal: Proposal) -> str:
    """Return what the loss would be without the offered hierarchies; "" if none is proposed, or it would be as much."""
    other = proposal.without_hierarchies
    own = next((cost for cost in proposal.costs if other is not None and cost.t == other.t), None)
    if own is None or own.gcp is None or other is None or other.gcp is None or other.gcp >= own.gcp:
        return ""
    return f"Without the files of hierarchies GCP would be {other.gcp:.3f} at t = {other.t}, not {own.gcp:.3f}"


def _instead(proposal: Proposal) -> str:
    """Return what to write for the columns that have a hierarchy of a file, if they are to have none, for a sentence."""
    names: dict[str, list[str]] = {}
    for name, settings in proposal.instead.items():
        names.setdefault(flow(settings), []).append(name)
    bare = names.pop("{}", [])
    written = [f"write {settings} in the place of the hierarchy of {listed_names(own)}" for settings, own in names.items()]
    alone = f"nothing after the {'name' if len(bare) == 1 else 'names'} of {listed_names(bare)}"
    return ", and ".join([*written, *([alone if written else f"write {alone}"] if bare else [])])


SINGLED_OUT = "Singled out are rows whose values no other person shares: whoever knows these values finds the row."
"""What figures of rows that are singled out mean."""

NO_SET = "No column, and no set of two or three columns, does so here."
"""What is said where no row is singled out."""


def dangers(proposal: Proposal, shown: int = SHOWN) -> list[str]:
    """Return sentences on the sets of columns that single out the most rows; the first one says what that means.

    Of sets that differ in columns that nearly tell one another, the worst is listed.

    Parameters
    ----------
    shown
        The sets of each size that are listed at most.
    """
    sets = _sets_that_single_out(proposal)
    listed: list[SingledOut] = []
    for sensitive in (False, True):  # first what others may know, then sets with a column that nobody should know
        for size in (1, 2, 3):
            listed += _different(proposal, sets, size, sensitive=sensitive)[: 1 if sensitive else shown]
    if not listed:
        return [SINGLED_OUT, NO_SET]
    return [SINGLED_OUT, *(f"{in_words(one)}." for one in listed), *_what_is_not_listed(proposal, sets, listed)]


def worst_dangers(proposal: Proposal) -> list[str]:
    """Return the sentences of `dangers` on the worst set of each size alone, and how many more there are."""
    sets = _sets_that_single_out(proposal)
    found = [
        [*_different(proposal, sets, size, sensitive=False), *_different(proposal, sets, size, sensitive=True)]
        for size in (1, 2, 3)
    ]
    listed = [own[0] for own in found if own]
    if not listed:
        return [SINGLED_OUT, NO_SET]
    more = [f"{_how_many(proposal)} The file has more."] if len(sets) > len(listed) else []
    return [SINGLED_OUT, *(f"{in_words(one)}." for one in listed), *more]


def _how_many(proposal: Proposal) -> str:
    """Return a sentence on how many columns, and sets of columns, single out a row, of how many that were counted."""
    found: list[str] = []
    for size, nouns in enumerate(SETS, 1):
        counted = [one for one in proposal.singled_out if len(one.columns) == size]
        some = sum(one.rows > 0 for one in counted)
        verb = "" if found else " singles out somebody" if some == 1 else " single out somebody"
        if some:
            found.append(f"{some:,} of the {number_of(len(counted), *nouns)}{verb}")
    columns = sum(len(one.columns) == 1 for one in proposal.singled_out)
    limited = f" Sets were counted of the {MOST_COLUMNS} columns that single out most." if columns > MOST_COLUMNS else ""
    return f"These are the worst: in all, {listed_words(found)}.{limited}"


def _sets_that_single_out(proposal: Proposal) -> list[SingledOut]:
    """Return the sets of columns that single out a row, without sets with a column that singles out many by itself."""
    by_themselves = {one.columns[0] for one in proposal.singled_out if len(one.columns) == 1 and one.share >= ALONE}
    return [one for one in proposal.singled_out if one.rows and (len(one.columns) == 1 or by_themselves.isdisjoint(one.columns))]


def _different(proposal: Proposal, sets: Sequence[SingledOut], size: int, *, sensitive: bool) -> list[SingledOut]:
    """Return the sets of one size with a sensitive column, or without; of those that tell about the same, the worst."""
    own = {column.name for column in proposal.policy.sensitive}
    first = {name: group[0] for group in proposal.alike for name in group}
    different: dict[frozenset[str], SingledOut] = {}
    for one in sets:
        told = frozenset(first.get(name, name) for name in one.columns)
        if len(told) == len(one.columns) == size and sensitive != own.isdisjoint(one.columns):
            different.setdefault(told, one)
    return list(different.values())


def _what_is_not_listed(proposal: Proposal, sets: Sequence[SingledOut], listed: Sequence[SingledOut]) -> Iterator[str]:
    """Yield sentences on the sets that single out rows, too, and are not listed."""
    if len(sets) > len(listed):
        yield f"{_how_many(proposal)} For one column, see its comment."
    columns = {name for one in listed for name in one.columns}
    for group in proposal.alike:
        if not columns.isdisjoint(group):
            yield f"Of {listed_names(group)} a line names one at most: they tell about the same."
    counted = {one.columns[0]: one.share for one in proposal.singled_out if len(one.columns) == 1}
    if len(counted) > 1 and max(counted.values()) >= ALONE:
        yield f"Sets with a column that singles out {100 * ALONE:.0f}% of the rows or more by itself are not listed."


def in_words(one: SingledOut) -> str:
    """Return how many rows a set of columns singles out: "age, zip and sex together single out 71.0% of the rows"."""
    if len(one.columns) == 1:
        return f"{listed_names(one.columns)} by itself singles out {_rows_in_words(one)}"
    return f"{listed_names(one.columns)} together single out {_rows_in_words(one)}"


def _rows_in_words(one: SingledOut) -> str:
    """Return the number and the share of the rows that are singled out."""
    if not one.rows:
        return "no row"
    if one.estimate:
        return f"at most about {percent(one.share)} of the rows (an estimate from {one.of:,} rows)"
    return f"{percent(one.share)} of the rows ({one.rows:,})"


def listed_names(names: Sequence[str]) -> str:
    """Return the names of columns as a sentence lists them."""
    return listed_words([visible(name) or "(no name)" for name in names])


def listed_words(words: Sequence[str]) -> str:
    """Return words, one or more, as a sentence lists them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _comment(*sentences: str, indent: str = "") -> list[str]:
    """Return sentences as lines of comments, each beginning a line."""
    lines = []
    for sentence in sentences:
        deeper = "  " if _ITEM.match(sentence) else ""
        lines += textwrap.wrap(
            sentence,
            WIDTH,
            initial_indent=f"{indent}# {deeper}",
            subsequent_indent=f"{indent}# {deeper and deeper + '  '}",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def scalar(value: Any) -> str:
    """Return a text, a number or a truth value as YAML writes it, in one line.

    >>> print(scalar("age"), scalar("no: 1"), scalar("12"), scalar(12), scalar("null"), scalar("a\\x85b"))
    age "no: 1" "12" 12 "null" "a\\U00000085b"
    """
    if not isinstance(value, str):
        return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return '"' + "".join(map(_quoted, value)) + '"'


def _quoted(char: str) -> str:
    """Return a character as it stands between double quotes in YAML."""
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def flow(value: Any) -> str:
    """Return a value, list or mapping in one line of YAML: ``{t: 0.2, l: 2}``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(own)}" for key, own in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)
