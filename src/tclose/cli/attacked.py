"""The screen of attacks: what a release gives away most and what lowers it, then a line for each kind of attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tclose.cli.attack_details import how_often_right, percent, show_details, worst_in_words
from tclose.cli.printing import Columns, Screen, words
from tclose.cli.screen import listed_names
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.study.attack import Attacks
    from tclose.study.attacks.record import Attack

INTERNAL = "INTERNAL: measured with the raw table. Do not publish this."

NOTHING = "none seen"

MEANING = (
    "How often the attacker is right about others, who are not in the release, and about people in it.",
    "Given away: in it minus others, in points of 100. In brackets its 95% interval, which misses the truth once in twenty",
    f"times; {NOTHING!r} if 0 lies in it.",
)

DOES = {
    "homogeneity": "is sure of it",
    "background knowledge": "is sure if one is ruled out",
    "several rows": "is sure by all their rows",
    "skewness": "draws a row that fits them",
    "similarity": "guesses a value near it",
    "learning": "guesses it from all classes",
    "background join": "guesses it by another value",
    "edges": "proves the class of a person",
    "refinement": "is sure by elimination",
    "kept columns": "finds one row that fits",
    "prosecutor": "finds the row of a person",
    "journalist": "finds the person of a row",
    "marketer": "matches rows with people",
}
"""What the attacker of each kind does, in a few words."""

ONE_ROW = (
    "k, l and t are about one row of a person. Who knows several rows of a person can combine their classes, and may be left "
    "with one value of a column that is the same in all of them; no limit is about that. Where it matters, publish one row a "
    "person, or a summary of their rows."
)
"""What is said where persons may have several rows."""

COUNTED = (
    "A person with several rows counts once: where the attacker is sure, or proves a class, if it is so for one of their rows; "
    "else by the mean over them."
)
"""How such persons are counted."""

CERTAIN = {
    "homogeneity": "an attacker",
    "refinement": "an attacker",
    "several rows": "an attacker who knows the quasi-identifiers of all of their rows",
}
"""Attacks by which nothing but the release makes an attacker certain of a value, and to whom it is certain."""


def show_attacks(found: Attacks, name: str, *, everything: bool = False) -> None:
    """Print the screen of attacks.

    Parameters
    ----------
    name
        The name of the table.
    everything
        Whether to show all attacks on all columns, who is hit worst and what lowers each.
    """
    screen = Screen()
    screen.tell(INTERNAL)
    for line in (_what_was_attacked(found, name), *_on_whom(found)):
        screen.tell(line)
    screen.print()
    for line in _verdict(found):
        screen.tell(line)
    screen.print()
    table = Columns("an attacker who", "about", "others", "in it", "given away")
    for attack in worst_of_each_kind(found):
        said = (DOES.get(attack.name, attack.name), attack.sensitive or "")
        table.row(*said, *how_often_right(attack)[1:], _given_away(attack))
    screen.print(table)
    screen.tell(" ".join(MEANING))
    if found.release.certificate["counted"] == "persons":
        screen.tell(COUNTED)
        screen.tell(ONE_ROW)
    for reason in found.skipped:
        screen.tell(reason)
    if everything:
        screen.print()
        show_details(screen, found)
    else:
        screen.tell("Every attack on every column, who is hit worst, and what lowers it: --all")


def _what_was_attacked(found: Attacks, name: str) -> str:
    """Return a sentence on the release and the controls."""
    people = number_of(found.members, "person", "people")
    classes = number_of(found.release.audit.classes, "class", "classes")
    held = number_of(found.controls, "person who is not in it is", "people who are not in it are")
    known = listed_names(list(found.release.audit.quasi))
    return f"{name}: a release of {people} in {classes} was attacked; {held} the controls. Attackers know {known}."


def _on_whom(found: Attacks) -> list[str]:
    """Return a sentence on the sample of people on whom attacks were tried; none if it was everybody."""
    tried = found.tried
    if (tried.members, tried.controls) == (found.members, found.controls):
        return []
    members, controls = f"{tried.members:,} of {found.members:,}", f"{tried.controls:,} of {found.controls:,}"
    all_of = [attack.name for attack in worst_of_each_kind(found) if attack.members.persons == found.members]
    everybody = f" On all of them: {listed_names(all_of)}." if all_of else ""
    return [f"Tried on {members} people in the release and {controls} others, chosen at random.{everybody}"]


def worst_of_each_kind(found: Attacks) -> list[Attack]:
    """Return of each kind of attack the one on the column that it gives away most of; those that give away most come first."""
    kinds: dict[str, list[Attack]] = {}
    for attack in found:
        kinds.setdefault(attack.name, []).append(attack)
    worst = [max(attacks, key=_how_bad) for attacks in kinds.values()]
    return sorted(worst, key=lambda attack: -_excess_seen(attack))


def _how_bad(attack: Attack) -> tuple[float, float]:
    """Return a key by which attacks of a kind are compared: the excess that is seen, then any excess, or success without one."""
    return _excess_seen(attack), attack.members.share if attack.excess is None else attack.excess


def _excess_seen(attack: Attack) -> float:
    """Return the excess of an attack; 0 where chance may have made it, or without controls."""
    return attack.excess if attack.excess is not None and attack.interval is not None and attack.interval[0] > 0 else 0.0


def _verdict(found: Attacks) -> list[Any]:
    """Return sentences on what the release gives away most, to whom, and what lowers it; and on values that are certain."""
    most = worst_of_each_kind(found)[0]
    if _excess_seen(most):
        about = f"The release gives away most about {most.sensitive}" if most.sensitive else "What the release gives away most"
        worst = "" if most.worst is None else f" {worst_in_words(most.worst)}"
        lines = [
            words(f"{about}. {most.sentence}", style="bold"),
            f"That is {_with_interval(most, ' points more')}.{worst} Lowered by: {most.lowers}.",
        ]
    else:
        lines = [
            words("No attack is right more often about people in the release than about others, beyond chance.", style="bold")
        ]
    certain = [attack for attack in found if attack.name in CERTAIN and attack.members.share]
    if certain:
        one = max(certain, key=lambda attack: attack.members.share)
        people = number_of(round(one.members.share * one.members.persons), "person", "people")
        lines.append(
            words(f"The {one.sensitive} of {people} is certain to {CERTAIN[one.name]}. Lowered by: {one.lowers}.", style="bold")
        )
    lines.append(
        "Where nothing is given away below, the attacker learns what the table teaches about everybody: it works as well on "
        "people who are not in the release."
    )
    return lines


def _given_away(attack: Attack) -> str:
    """Return what an attack gives away, for its line: points with their interval, or people."""
    figures = attack.figures
    if attack.name == "edges":
        return number_of(figures["pinned"], "person", "people")
    if "largest" in figures:
        return f"at most {percent(figures['largest'])} each"
    if "matches" in figures:
        return f"about {number_of(round(figures['matches']), 'match', 'matches')}"
    if attack.excess is None or attack.interval is None:
        people = round(attack.members.share * attack.members.persons)
        return number_of(people, "person", "people") if people else NOTHING
    return _with_interval(attack) if _excess_seen(attack) else NOTHING


def _with_interval(attack: Attack, unit: str = "") -> str:
    """Return an excess that is seen, in points, with its interval: "4.9 (3.3 to 6.5)"."""
    excess, low, high = (f"{100 * share:.1f}" for share in (attack.excess or 0.0, *(attack.interval or ())))
    return f"{excess}{unit} ({low} to {high})"
