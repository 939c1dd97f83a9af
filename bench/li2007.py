"""The experiment of Li, Li and Venkatasubramanian (2007) on Adult: what five privacy models cost under Incognito.

    python bench/li2007.py

k-anonymity, entropy l-diversity, recursive (c,l)-diversity, and k-anonymity with t-closeness for t = 0.2 and 0.15; k = 5 throughout,
l = 5 and c = 3 for occupation, l = 2 for salary, which has two values. One to seven quasi-identifiers, each with its hierarchy. The
time is that of the algorithm alone, without reading and judging. Prints Markdown for bench/RESULTS.md, and writes li2007.json for
bench/pictures_incognito.py. Adult and its hierarchies are looked for in TCLOSE_DATA, else in ../shared/data.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import tclose as tc
from scenarios import DATA, HERE, machine
from tclose.make.registry import ALGORITHMS

QUASI = ("age", "workclass", "education", "native-country", "marital-status", "race", "sex")
K = 5
SENSITIVE: dict[str, dict[str, Any]] = {
    "occupation": {"hierarchy": DATA / "hierarchies" / "occupation.csv"},
    "salary-class": {"distance": "equal"},
}
DIVERSITY: dict[str, int] = {"occupation": 5, "salary-class": 2}
MODELS: dict[str, Callable[[int], dict[str, Any]]] = {
    "k-anonymity": lambda _: {},
    "entropy l-diversity": lambda least: {"l": least, "l_kind": "entropy"},
    "recursive (3,l)-diversity": lambda least: {"l": least, "l_kind": "recursive", "c": 3},
    "k, t = 0.2": lambda _: {"t": 0.2},
    "k, t = 0.15": lambda _: {"t": 0.15},
}
SHOWN = (
    ("CPU s", "seconds", "{:.2f}"),
    ("nodes tested", "tested", "{:,}"),
    ("rows in a class on average", "average", "{:,.0f}"),
    ("DM, in millions", "dm", "{:,.2f}"),
)


def main() -> None:
    print(f"{machine()}\n")
    found = [
        {"sensitive": sensitive, "model": model, "quasi": size, **measured(sensitive, model, size)}
        for sensitive in SENSITIVE
        for model in MODELS
        for size in range(1, len(QUASI) + 1)
    ]
    (HERE / "li2007.json").write_text(json.dumps({"machine": machine(), "found": found}, indent=1) + "\n")
    for sensitive in SENSITIVE:
        for title, key, form in SHOWN:
            print(f"\n{sensitive}: {title}, by the number of quasi-identifiers:\n")
            print(f"| model | {' | '.join(str(size) for size in range(1, len(QUASI) + 1))} |\n|---|{'---|' * len(QUASI)}")
            for model in MODELS:
                row = [one for one in found if (one["sensitive"], one["model"]) == (sensitive, model)]
                cells = [form.format(one[key]) if one.get(key) is not None else "none" for one in row]
                print(f"| {model} | {' | '.join(cells)} |")


def measured(sensitive: str, model: str, size: int) -> dict[str, Any]:
    """What one release costs; nothing where no release can satisfy the model."""
    asked = {**SENSITIVE[sensitive], **MODELS[model](DIVERSITY[sensitive])}
    quasi = [tc.Quasi(name, hierarchy=DATA / "hierarchies" / f"{name}.csv") for name in QUASI[:size]]
    policy = tc.Policy(quasi, {sensitive: asked}, k=K, other="drop")
    own, spent = ALGORITHMS["incognito"], []

    def run(*given: Any) -> Any:
        before = time.process_time()
        partition = own.run(*given)
        spent.append(time.process_time() - before)
        return partition

    with patch.dict(ALGORITHMS, {"incognito": replace(own, run=run)}):
        try:
            for _ in range(2):  # the first may compile
                release = tc.anonymize(DATA / "adult.csv", policy, algorithm="incognito")
        except tc.InfeasibleError as error:
            return {"refused": str(error)}
    course = release.record["course"]
    return {
        "seconds": spent[-1],
        "tested": course["nodes_tested"] + course["nodes_tested_of_subsets"],
        "average": release.audit.rows / release.audit.classes,
        "dm": release.loss["dm"] / 1e6,
        "gcp": release.loss["gcp"],
        "levels": course["levels"],
    }


if __name__ == "__main__":
    main()
