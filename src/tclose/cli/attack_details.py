"""The details of attacks: of each what it found about people in the release and about others, and what would lower it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tclose.cli.printing import Columns, Screen
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.study.attack import Attacks
    from tclose.study.attacks.record import Attack, Worst


def show_details(screen: Screen, found: Attacks) -> None:
    """Print a table of all attacks, then what each means and what would lower it."""
    table = Columns("attack", "about", "without it", "others", "in it", "in it minus others", "95% interval")
    for attack in found:
        difference = "" if attack.excess is None else points(attack.excess)
        interval = "" if attack.interval is None else f"{points(attack.interval[0])} to {points(attack.interval[1])}"
        table.row(name_of(attack), attack.sensitive or "", *how_often_right(attack), difference, interval)
    screen.print(table)
    screen.tell("Without it: by the shares of values in the whole table. Attacks that are right about nobody stand here alone.")
    for attack in found:
        if (
            not attack.members.share
            and not (attack.class_known and attack.class_known.share)
            and not attack.figures.get("narrowed")
        ):
            continue
        screen.print()
        screen.tell(attack.sentence)
        for line in _remarks(attack):
            screen.tell(f"  {line}")


def name_of(attack: Attack) -> str:
    """Return the name of an attack; of a join with the value that the attacker knows: it is about the one that they guess."""
    return f"{attack.name}, knows {attack.figures['known']}" if "known" in attack.figures else attack.name


def how_often_right(attack: Attack) -> list[str]:
    """Return how often an attack is right without the release, about others and about people in it; "" if not known."""
    others = None if attack.controls is None else attack.controls.share
    return ["" if share is None else percent(share) for share in (attack.before, others, attack.members.share)]


def _remarks(attack: Attack) -> list[str]:
    """Return what is to be said of an attack besides its sentence: the upper bound, the worst group, and what lowers it."""
    found = []
    if attack.class_known is not None:
        found.append(f"If the attacker knows everybody's class: {percent(attack.class_known.share)}.")
    if "lift" in attack.figures:
        found.append(f"A value is at most {attack.figures['lift']:.1f} times likelier in a class than in the table.")
    if "largest" in attack.figures:
        found.append(f"Largest for one person: {percent(attack.figures['largest'])}.")
    if "matches" in attack.figures:
        found.append(f"That is about {number_of(round(attack.figures['matches']), 'right match', 'right matches')}.")
    if "population_uniques" in attack.figures:
        raw, everybody = attack.figures["sample_uniques"], attack.figures["population_uniques"]
        found.append(
            f"Before the release, the quasi-identifiers of {number_of(raw, 'person')} occur once in the table. In the population "
            f"those of about {number_of(round(everybody), 'person')} do (estimated by Pitman's model)."
        )
    if "one_row" in attack.figures:
        found.append(f"By one of their rows alone: {percent(attack.figures['one_row'])}.")
    if "smallest" in attack.figures:
        below, rows = percent(attack.figures["below_k"]), number_of(attack.figures["smallest"], "row")
        found.append(f"Fewer than k persons share both classes with {below} of them; the smallest intersection has {rows}.")
        found.append(f"By the later release alone: {percent(attack.figures['one_release'])}.")
    if "column" in attack.figures:
        found.append(f"{attack.figures['column']} tells most: without it {percent(attack.figures['without'])}.")
        if attack.controls is not None:
            found.append("For people who are not in the release that row is somebody else's, which the attacker cannot know.")
    if attack.name == "refinement":
        ruled_out, narrowed, one = (attack.figures[figure] for figure in ("impossible", "narrowed", "one_class"))
        found.append(
            f"All classes together rule out {percent(ruled_out)} of the pairs of a row and a class that single classes allow."
        )
        found.append(
            f"That leaves fewer classes for {number_of(narrowed, 'row')}. In all, {number_of(one, 'row')} have one class left."
        )
    if attack.name == "edges":
        found += _remarks_on_edges(attack.figures)
    if attack.worst is not None:
        found.append(worst_in_words(attack.worst))
    found.append(f"Lowered by: {attack.lowers}.")
    return found


def _remarks_on_edges(figures: dict[str, Any]) -> list[str]:
    """Return what is to be said of people whose class is proven, and of those who are outermost in their class."""
    found = []
    for name, told in figures["sensitive"].items():
        if told["pinned"]["class_shares"] is not None:
            before, after = (percent(told["pinned"][belief]) for belief in ("belief_before", "belief_after"))
            found.append(f"The attacker believes in their true {name} with {after}; with {before} if the class is not known.")
    found.append(
        f"Alone at an end of their class by raw value, whatever is published: {number_of(figures['outermost'], 'person')}."
    )
    for name, told in figures["sensitive"].items():
        if (learned := told["outermost"]["learning"]) is not None:
            shares = f"{percent(learned.right.share)} of them and {percent(learned.others.share)} of the others"
            interval = f"95% interval of the difference {points(learned.interval[0])} to {points(learned.interval[1])}"
            found.append(f"Learning guesses the {name} of {shares} ({interval}).")
            beyond = told["outermost"]["beyond_model"]
            low, high = map(points, beyond.chosen_interval)
            found.append(
                f"Knowing the class adds {points(beyond.difference)} of it: {points(beyond.dealt)} because they are unlike "
                f"others of their class, {points(beyond.chosen)} ({low} to {high}) because they were taken for their {name}."
            )
    return found


def worst_in_words(worst: Worst) -> str:
    """Return a sentence on the group of people about whom an attack is right most often."""
    return f"Worst for {worst.column} {worst.label}: {percent(worst.share)} of {number_of(worst.persons, 'person', 'people')}."


def percent(share: float) -> str:
    """Return a share in percent, with one decimal."""
    return f"{100 * share:.1f}%"


def points(share: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.1f}"
