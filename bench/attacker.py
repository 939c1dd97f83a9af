"""What an attacker learns from a release beyond the shares of its classes.

    python bench/attacker.py

The attacker knows the quasi-identifiers of everyone in Adult, hence everyone's class, and reads the occupations of each class in the
release. From that alone they learn how occupation depends on quasi-identifiers, and deal the occupations of each class out to its
people accordingly (after Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009): naive Bayes, fitted by turns with the
chances of each person, whose sums in each class are the counts in the release. Their guess is the likeliest occupation.

Prints Markdown for bench/RESULTS.md. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import tclose as tc
from growth import ADULT, heading, line, say
from scenarios import machine, policy_of
from tclose.make.registry import ALGORITHMS

Ints = NDArray[np.int64]
Chances = NDArray[np.float64]
"""(rows, values): the chance of each value for each person."""

SENSITIVE = "occupation"
MADE = (
    (0.2, "growth", "balanced"),
    (0.2, "growth", "best"),
    (0.2, "mondrian", "balanced"),
    (0.2, "fragmentation", "balanced"),
    (0.1, "growth", "balanced"),
    (0.1, "growth", "best"),
    (0.1, "mondrian", "balanced"),
    (0.1, "fragmentation", "balanced"),
)
TURNS = 20
"""How often the attacker learns and deals out,"""
SCALINGS = 20
"""and how often the chances are scaled to the counts of classes and to 1 for each person in turn."""


class Seen(NamedTuple):
    """What the attacker knows, and the truth."""

    quasi: Ints
    """(rows, quasi)"""
    labels: Ints
    """(rows,): classes."""
    values: Ints
    """(rows,): of these the attacker knows the counts in each class alone."""
    gcp: float


def main() -> None:
    say(machine(), f"\n{SENSITIVE} of Adult, k = 5, quasi-identifiers of the scenario table. Share of people guessed rightly:")
    heading("t", "algorithm", "GCP", "by class shares", "by learning", "of people alone at an edge", "of the others", "alone")
    for t, algorithm, effort in MADE:
        seen = release(t, algorithm, effort)
        right, alone = learned(seen).argmax(axis=1) == seen.values, alone_at_an_edge(seen)
        by_shares = float((shares(seen).argmax(axis=1) == seen.values).mean())
        guessed = (by_shares, right.mean(), right[alone].mean() if alone.any() else np.nan, right[~alone].mean(), alone.mean())
        name = f"growth, `{effort}`" if algorithm == "growth" else algorithm
        say(line(t, name, f"{seen.gcp:.4f}", *(f"{share:.1%}" for share in guessed)))
    whole = np.bincount(seen.values) / len(seen.values)
    truth = naive_bayes(seen.quasi, np.tile(whole, (len(seen.values), 1)), model(seen.quasi, np.eye(len(whole))[seen.values]))
    told = (truth.argmax(axis=1) == seen.values).mean()
    say(f"\nBy the most frequent value of the table: {whole.max():.1%}. By learning from the table itself: {told:.1%}.")


def release(t: float, algorithm: str, effort: str) -> Seen:
    """The classes of a release, with what went into them."""
    caught: list[Any] = []
    made = ALGORITHMS[algorithm]

    def watch(problem: Any, *rest: Any) -> Any:
        partition: Any = made.run(problem, *rest)
        caught.append((problem.quasi.astype(np.int64), partition.labels, problem.limits.codes[0].astype(np.int64)))
        return partition

    with patch.dict(ALGORITHMS, {algorithm: replace(made, run=watch)}):
        loss = tc.anonymize(ADULT, policy_of((SENSITIVE,), t), algorithm=algorithm, effort=effort).loss
    quasi, labels, values = caught[-1]
    return Seen(quasi, labels, values, loss["gcp"])


def counts_in(seen: Seen) -> Chances:
    """(classes, values): people."""
    counts = np.zeros((seen.labels.max() + 1, seen.values.max() + 1))
    np.add.at(counts, (seen.labels, seen.values), 1.0)
    return counts


def shares(seen: Seen) -> Chances:
    """For each person the shares of their class."""
    counts = counts_in(seen)
    counts /= counts.sum(axis=1, keepdims=True)
    return counts[seen.labels]


def learned(seen: Seen) -> Chances:
    """Learn from the chances at hand, deal out anew, and again."""
    chances = own = shares(seen)
    for _ in range(TURNS):
        chances = dealt_out(seen, naive_bayes(seen.quasi, own, model(seen.quasi, chances)))
    return chances


def model(quasi: Ints, chances: Chances) -> list[Chances]:
    """For each quasi-identifier, (codes, values), the logarithm of the share of a code among people with a value; all count 1 more."""
    found = []
    for codes in quasi.T:
        counts = np.ones((codes.max() + 1, chances.shape[1]))
        np.add.at(counts, codes, chances)
        found.append(np.log(counts / counts.sum(axis=0)))
    return found


def naive_bayes(quasi: Ints, before: Chances, learnt: list[Chances]) -> Chances:
    """The chances of each person, from what they were before the quasi-identifiers were looked at."""
    scores = np.log(before.clip(1e-300))
    for codes, logarithms in zip(quasi.T, learnt, strict=True):
        scores += logarithms[codes]
    chances: Chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances


def dealt_out(seen: Seen, chances: Chances) -> Chances:
    """Scale chances until they sum to the counts of each class, and to 1 for each person (Sinkhorn)."""
    counts = counts_in(seen)
    for _ in range(SCALINGS):
        sums = np.zeros_like(counts)
        np.add.at(sums, seen.labels, chances)
        chances = chances * (counts / np.maximum(sums, 1e-300))[seen.labels]
        chances = chances / chances.sum(axis=1, keepdims=True)
    return chances


def alone_at_an_edge(seen: Seen) -> NDArray[np.bool_]:
    """Who alone has the least or the largest code of their class on some quasi-identifier."""
    found = np.zeros(len(seen.labels), dtype=np.bool_)
    for codes in seen.quasi.T:
        for least in (np.minimum, np.maximum):
            edge = np.full(seen.labels.max() + 1, codes.max() + 1 if least is np.minimum else -1)
            least.at(edge, seen.labels, codes)
            there = codes == edge[seen.labels]
            found |= there & (np.bincount(seen.labels, weights=there)[seen.labels] == 1)
    return found


if __name__ == "__main__":
    main()
