"""The screen of attacks: for each what it found about people in the release and about others, and what would lower it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tclose.cli.printing import Columns, Screen
from tclose.values.exact import number_of

if TYPE_CHECKING:
    from tclose.study.attack import Attacks
    from tclose.study.attacks.record import Attack

INTERNAL = "INTERNAL: measured with the raw table. Do not publish this."


def show_attacks(found: Attacks, name: str) -> None:
    """Print the screen of attacks: a table of all, then what each means and what would lower it."""
    screen, release = Screen(), found.release
    screen.tell(INTERNAL)
    classes = number_of(release.audit.classes, "class", "classes")
    held = f"; {number_of(found.controls, 'person')} who are not in it are the controls"
    screen.tell(f"{name}: a release of {number_of(found.members, 'person')} in {classes} was attacked{held}.")
    screen.print()
    table = Columns("attack", "about", "without the release", "in it", "controls", "excess", "95% interval")
    for attack in found:
        table.row(attack.name, attack.sensitive or "", *_figures(attack))
    screen.print(table)
    screen.tell("Excess: what the release gives away about the people in it. The rest is what it teaches about everybody.")
    screen.tell("Attacks that are right about nobody stand in the table alone.")
    for reason in found.skipped:
        screen.tell(reason)
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


def _figures(attack: Attack) -> list[str]:
    """Return the figures of an attack for a line of the table; "-" where there is none."""
    return [
        "-" if attack.before is None else _percent(attack.before),
        _percent(attack.members.share),
        "-" if attack.controls is None else _percent(attack.controls.share),
        "-" if attack.excess is None else _points(attack.excess),
        "-" if attack.interval is None else f"{_points(attack.interval[0])} to {_points(attack.interval[1])}",
    ]


def _remarks(attack: Attack) -> list[str]:
    """Return what is to be said of an attack besides its sentence: the upper bound, the worst group, and what lowers it."""
    found = []
    if attack.class_known is not None:
        found.append(f"If the attacker knows everybody's class: {_percent(attack.class_known.share)}.")
    if "lift" in attack.figures:
        found.append(f"A value is at most {attack.figures['lift']:.1f} times likelier in a class than in the table.")
    if "largest" in attack.figures:
        found.append(f"Largest for one person: {_percent(attack.figures['largest'])}.")
    if "matches" in attack.figures:
        found.append(f"That is about {number_of(round(attack.figures['matches']), 'right match', 'right matches')}.")
    if "population_uniques" in attack.figures:
        raw, everybody = attack.figures["sample_uniques"], attack.figures["population_uniques"]
        found.append(
            f"Before the release, the quasi-identifiers of {number_of(raw, 'person')} occur once in the table. In the population "
            f"those of about {number_of(round(everybody), 'person')} do (estimated by Pitman's model)."
        )
    if "smallest" in attack.figures:
        below, rows = _percent(attack.figures["below_k"]), number_of(attack.figures["smallest"], "row")
        found.append(f"Fewer than k persons share both classes with {below} of them; the smallest intersection has {rows}.")
        found.append(f"By the later release alone: {_percent(attack.figures['one_release'])}.")
    if "column" in attack.figures:
        found.append(f"{attack.figures['column']} tells most: without it {_percent(attack.figures['without'])}.")
        if attack.controls is not None:
            found.append("For people who are not in the release that row is somebody else's, which the attacker cannot know.")
    if attack.name == "refinement":
        ruled_out, narrowed, one = (attack.figures[figure] for figure in ("impossible", "narrowed", "one_class"))
        found.append(
            f"All classes together rule out {_percent(ruled_out)} of the pairs of a row and a class that single classes allow."
        )
        found.append(
            f"That leaves fewer classes for {number_of(narrowed, 'row')}. In all, {number_of(one, 'row')} have one class left."
        )
    if attack.name == "edges":
        found += _remarks_on_edges(attack.figures)
    if attack.worst is not None:
        worst = attack.worst
        found.append(f"Worst for {worst.column} {worst.label}: {_percent(worst.share)} of {number_of(worst.persons, 'person')}.")
    found.append(f"Lowered by: {attack.lowers}.")
    return found


def _remarks_on_edges(figures: dict[str, Any]) -> list[str]:
    """Return what is to be said of people whose class is proven, and of those who are outermost in their class."""
    found = []
    for name, told in figures["sensitive"].items():
        if told["pinned"]["class_shares"] is not None:
            before, after = (_percent(told["pinned"][belief]) for belief in ("belief_before", "belief_after"))
            found.append(f"The attacker believes in their true {name} with {after}; with {before} if the class is not known.")
    found.append(
        f"Alone at an end of their class by raw value, whatever is published: {number_of(figures['outermost'], 'person')}."
    )
    for name, told in figures["sensitive"].items():
        if (learned := told["outermost"]["learning"]) is not None:
            shares = f"{_percent(learned.right.share)} of them and {_percent(learned.others.share)} of the others"
            interval = f"95% interval of the difference {_points(learned.interval[0])} to {_points(learned.interval[1])}"
            found.append(f"Learning guesses the {name} of {shares} ({interval}).")
            beyond = told["outermost"]["beyond_model"]
            low, high = map(_points, beyond.chosen_interval)
            found.append(
                f"Knowing the class adds {_points(beyond.difference)} of it: {_points(beyond.dealt)} because they are unlike "
                f"others of their class, {_points(beyond.chosen)} ({low} to {high}) because they were taken for their {name}."
            )
    return found


def _percent(share: float) -> str:
    """Return a share in percent, with one decimal."""
    return f"{100 * share:.1f}%"


def _points(share: float) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.1f}"
