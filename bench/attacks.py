"""What attackers gain from releases of Adult by different algorithms, at equal t and at equal loss.

    python bench/attacks.py [t] [loss] [costs] [outermost] [found]          default: all

`t`: hours-per-week and occupation, t = .1 and .2, all algorithms that can in a few seconds. `loss`: each algorithm with the t at which
it loses as much as growth does at t = .2, found by bisection. `costs`: what l, beta, grids and edges cost growth, and what they lower.
`outermost`: occupation alone, ten seeds: how much more the class of people who are outermost in it gives away than that of others.
`found`: t = .2, who is found by the ends of ranges, by all classes together, and by linking rows with people.
A fifth of the people are held back as controls; seeds 0, 1 and 2. In percent: members, and the excess over controls in points, means
over the seeds. Prints Markdown for bench/RESULTS.md. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from math import hypot
from statistics import fmean
from typing import Any

import tclose as tc
from scenarios import DATA, machine, policy_of

ADULT = DATA / "adult.csv"
COLUMNS = ("hours-per-week", "occupation")
SEEDS = (0, 1, 2)
MADE = (
    ("growth", "fast"),
    ("growth", "balanced"),
    ("growth", "best"),
    ("mondrian", "balanced"),
    ("fragmentation", "balanced"),
    ("incognito", "balanced"),
    ("microaggregation-merge", "balanced"),
    ("wang-clustering", "balanced"),
    ("wang-pca", "balanced"),
)
SHOWN = (
    ("skewness", "occupation"),
    ("similarity", "hours-per-week"),
    ("learning", "occupation"),
    ("learning", "hours-per-week"),
    ("background join", "occupation"),
    ("background join", "hours-per-week"),
    ("edges", None),
)


def main() -> None:
    sections = {"t": equal_t, "loss": equal_loss, "costs": costs, "outermost": outermost, "found": found_people}
    print(machine())
    for name in sys.argv[1:] or sections:
        sections[name]()


def heading(first: str) -> None:
    names = " | ".join(name if about is None else f"{name}, {about}" for name, about in SHOWN)
    print(f"\n| {first} | GCP | {names} |\n|---|---|{'---|' * len(SHOWN)}", flush=True)


def equal_t() -> None:
    heading("t, algorithm")
    for t in (0.2, 0.1):
        for algorithm, effort in MADE:
            show(f"{t}, {title(algorithm, effort)}", policy_of(COLUMNS, t), algorithm, effort)


def equal_loss() -> None:
    aim = tc.anonymize(ADULT, policy_of(COLUMNS, 0.2)).loss["gcp"]
    print(f"\nGCP of growth at t = .2: {aim:.4f}. The t at which the others lose as much:")
    heading("algorithm, t")
    for algorithm in ("growth", "mondrian", "fragmentation", "wang-clustering"):
        t = 0.2 if algorithm == "growth" else bisected(algorithm, aim)
        show(f"{algorithm}, {t:.3f}", policy_of(COLUMNS, t), algorithm, "balanced")


def bisected(algorithm: str, aim: float) -> float:
    """Return the least t, to three decimals, at which an algorithm loses at most so much."""
    low, high = 0.0, 1.0
    for _ in range(10):
        t = (low + high) / 2
        lost = tc.anonymize(ADULT, policy_of(COLUMNS, round(t, 3)), algorithm=algorithm).loss["gcp"]
        low, high = (low, t) if lost <= aim else (t, high)
    return round(high, 3)


def costs() -> None:
    heading("growth, t = .2")
    plain = policy_of(COLUMNS, 0.2)
    show("as it is", plain, "growth", "balanced")
    for words, policy in variants(plain).items():
        show(words, policy, "growth", "balanced")


def variants(plain: tc.Policy) -> dict[str, tc.Policy]:
    """Return what a policy could ask besides, in words and as a policy."""

    def limited(**limits: int) -> tc.Policy:
        return replace(plain, sensitive=[replace(column, **limits) for column in plain.sensitive])

    def snapped(snap: Any, *names: str) -> tc.Policy:
        return replace(plain, quasi=[replace(column, snap=snap) if column.name in names else column for column in plain.quasi])

    return {
        "k: 50": replace(plain, k=50),
        "k: 100": replace(plain, k=100),
        **{f"l: {least}": limited(l=least) for least in (2, 4)},
        **{f"beta: {most}": limited(beta=most) for most in (4, 2, 1)},
        **{f"age on a grid of {width}": snapped(width, "age") for width in (5, 10)},
        "snap: auto": snapped("auto", "age", "education-num"),
        "edges: 2": replace(plain, edges=2),
        "edges: 2, snap: auto": replace(snapped("auto", "age", "education-num"), edges=2),
    }


def outermost() -> None:
    """Print how much more an attacker gains by knowing everybody's class about outermost people than about others, and why."""
    print(
        "\n| t, release | GCP | outermost | more than of others | because unlike | because chosen |\n|---|---|---|---|---|---|",
        flush=True,
    )
    for t in (0.2, 0.1):
        plain = policy_of(("occupation",), t)
        for algorithm, effort in (
            ("growth", "fast"),
            ("growth", "balanced"),
            ("mondrian", "balanced"),
            ("fragmentation", "balanced"),
        ):
            show_outermost(f"{t}, {title(algorithm, effort)}", plain, algorithm, effort)
        for words in ("k: 100", "beta: 2", "beta: 1", "age on a grid of 5", "snap: auto"):
            show_outermost(f"{t}, growth, {words}", variants(plain)[words], "growth", "balanced")


def show_outermost(name: str, policy: tc.Policy, algorithm: str, effort: str) -> None:
    """Print a line: points, means over ten seeds; intervals are those of the seeds' means, each by drawing classes."""
    found = [tc.attack(ADULT, policy, holdout="1/5", algorithm=algorithm, effort=effort, seed=seed) for seed in range(10)]
    edges = [one.figures for attacks in found for one in attacks if one.name == "edges"]
    people = fmean(one["outermost"] / attacks.members for one, attacks in zip(edges, found, strict=True))
    beyond = [one["sensitive"]["occupation"]["outermost"]["beyond_model"] for one in edges]
    seen = [one for one in beyond if one is not None]
    cells = ["-"] * 3
    if seen:
        dealt = f"{100 * fmean(one.dealt for one in seen):+.1f}"
        cells = [
            pooled([(one.difference, one.interval) for one in seen]),
            dealt,
            pooled([(one.chosen, one.chosen_interval) for one in seen]),
        ]
    gcp = fmean(one.release.loss["gcp"] for one in found)
    print(f"| {name} | {gcp:.4f} | {people:.1%} | {' | '.join(cells)} |", flush=True)


def pooled(found: list[tuple[float, tuple[float, float]]]) -> str:
    """Return the mean of the seeds' differences in points, and its 95% interval."""
    mean, half = fmean(one for one, _ in found), hypot(*((high - low) / 2 for _, (low, high) in found)) / len(found)
    return f"{100 * mean:+.1f} ({100 * (mean - half):+.1f} to {100 * (mean + half):+.1f})"


def found_people() -> None:
    names = (
        "class proven by an end",
        "classes ruled out for",
        "one class left",
        "certain",
        "row found",
        "at most",
        "right matches",
    )
    print(f"\n| t = 0.2 | classes | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}", flush=True)
    for algorithm in ("growth", "mondrian", "fragmentation", "wang-clustering"):
        found = [tc.attack(ADULT, policy_of(COLUMNS, 0.2), holdout="1/5", algorithm=algorithm, seed=seed) for seed in SEEDS]
        classes, cells = fmean(attacks.release.audit.classes for attacks in found), []
        for attacks in found:
            one = {attack.name: attack for attack in attacks}
            refined, certain = (
                one["refinement"].figures,
                max(attack.members.share for attack in attacks if attack.name == "refinement"),
            )
            cells.append(
                (
                    one["edges"].figures["pinned"],
                    refined["narrowed"],
                    refined["one_class"],
                    certain * attacks.members,
                    100 * one["prosecutor"].members.share,
                    100 * one["prosecutor"].figures["largest"],
                    one["marketer"].figures["matches"],
                )
            )
        proven, narrowed, alone, certain, row, most, matches = map(fmean, zip(*cells, strict=True))
        people = f"{proven:.0f} | {narrowed:.0f} | {alone:.0f} | {certain:.0f}"
        print(f"| {algorithm} | {classes:.0f} | {people} | {row:.2f}% | {most:.1f}% | {matches:.0f} |", flush=True)


def title(algorithm: str, effort: str) -> str:
    return f"growth, `{effort}`" if algorithm == "growth" else algorithm


def show(name: str, policy: tc.Policy, algorithm: str, effort: str) -> None:
    """Print a line: GCP, and for each attack the success on members and the excess, means over the seeds."""
    found = [tc.attack(ADULT, policy, holdout="1/5", algorithm=algorithm, effort=effort, seed=seed) for seed in SEEDS]
    cells = []
    for wanted in SHOWN:
        attacks: list[Any] = [one for attacks in found for one in attacks if (one.name, one.sensitive) == wanted]
        cells.append(
            f"{100 * fmean(one.members.share for one in attacks):.1f} ({100 * fmean(one.excess for one in attacks):+.1f})"
        )
    gcp = fmean(one.release.loss["gcp"] for one in found)
    print(f"| {name} | {gcp:.4f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
