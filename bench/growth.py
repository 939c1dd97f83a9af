"""Growth: what its releases lose, how long they take, and what each of its parts is good for.

    python bench/growth.py [SECTION ...]          default: all of them, in this order

scenario   the scenario table, efforts balanced and best, against the prototype and the goals
diverse    the same with two distinct values, at least, of every sensitive attribute in every class
peers      the case that other tools were measured on
others     two other tables, beside t-Mondrian
large      100,000 to 1,000,000 rows: time, memory, loss
many       loss against the number of sensitive attributes; also written to bench/many.json, for the picture of it
ablation   with one thing changed each

Prints Markdown for bench/RESULTS.md. Adult, its hierarchies and census are looked for in TCLOSE_DATA, else in ../shared/data. GCP
and LM are means over the seeds, times the largest of them, in seconds, of `tc.anonymize` after compilation.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np

import tclose as tc
from release import table
from scenarios import BARS, CASES, DATA, HERE, LIMITS, commit, machine, policy_of, reads_alike
from tclose.release.hospital import write_demo

ALGORITHM = "growth"
ADULT = DATA / "adult.csv"
MANY = HERE / "many.json"
SEEDS = (0, 1, 2)
WITHIN = {"balanced": 3.0, "best": 60.0}
"""Seconds of wall time that a release of Adult may take."""
GOALS = {
    ("hours-per-week",): (0.019, 0.035, 0.110),
    ("occupation",): (0.220, 0.320, 0.440),
    ("hours-per-week", "capital-gain"): (0.026, 0.048, 0.145),
    ("hours-per-week", "occupation"): (0.240, 0.330, 0.420),
}
PEERS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
SIZES = (100_000, 300_000, 1_000_000)
WARM = 30_000
ADDED = ("hours-per-week", "occupation", "capital-gain", "capital-loss", "workclass", "relationship")
"""Sensitive attributes, in the order in which they are added; words have the equal distance, numbers the ordered."""

ABLATED = (
    (("hours-per-week",), 0.1),
    (("occupation",), 0.1),
    (("hours-per-week", "capital-gain"), 0.05),
    (("hours-per-week", "occupation"), 0.1),
)
CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "classes grow to t itself": {"growth.growth.TIGHT": Fraction(1)},
    "classes grow to 1/2 t": {"growth.growth.TIGHT": Fraction(1, 2)},
    "classes grow to 1/4 t": {"growth.growth.TIGHT": Fraction(1, 4)},
    "blocks of 1,000 rows": {"growth.growth.BLOCK": {"balanced": 1000}},
    "blocks of 16,000 rows": {"growth.growth.BLOCK": {"balanced": 16_000}},
    "no blocks": {"growth.growth.BLOCK": {"balanced": 10**9}},
    "blocks within 1/10 t of the table": {"growth.growth.DRIFT": Fraction(1, 10)},
    "blocks within 1/2 t of the table": {"growth.growth.DRIFT": Fraction(1, 2)},
    "no move may raise the loss": {"growth.refine.RISE": 0.0},
    "moves may raise it more": {"growth.refine.RISE": 1.0},
    "no swaps": {"growth.refine.SWAPS": 10**9},
    "swaps in every second round": {"growth.refine.SWAPS": 2},
    "moves among 32 classes": {"growth.move.TOGETHER": 32},
    "moves among 512 classes": {"growth.move.TOGETHER": 512},
    "no refining": {"growth.growth.ROUNDS": {"balanced": 0}},
    "48 rounds of refining": {"growth.growth.ROUNDS": {"balanced": 48}},
}
"""Constants of `tclose.make`, and what they are set to. Only such as no kernel reads: those are compiled in."""


@dataclass(frozen=True)
class Run:
    """One release, in numbers."""

    gcp: float
    lm: float
    classes: int
    left_out: int
    attained: list[float]
    """t of each sensitive attribute."""
    ended: str
    """Why refining ended; nothing where there was none."""
    wall: float
    cpu: float
    holds: bool | None = None
    """Whether the audit of its file says the same as the release; None where nobody looked."""


def main() -> None:
    if sys.argv[1:2] == ["alone"]:
        print(json.dumps(alone(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])))
        return
    names = sys.argv[1:] or list(SECTIONS)
    if not set(names) <= SECTIONS.keys():
        raise SystemExit(__doc__)
    say(machine())
    run(ADULT, policy_of(("occupation",), 0.2))  # compiles
    for name in names:
        say(f"\n### {name}")
        SECTIONS[name]()


def say(*lines: str) -> None:
    """Print at once, for those who wait."""
    print(*lines, sep="\n", flush=True)


def heading(*names: str) -> None:
    say("", line(*names), "|" + "---|" * len(names))


def line(*cells: Any) -> str:
    """A row of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def run(source: Any, policy: tc.Policy, effort: str = "balanced", seed: int = 0, algorithm: str | None = None) -> Run:
    """Make one release; without a look at its file."""
    return numbers(*timed(source, policy, effort, seed, algorithm or ALGORITHM))


def timed(source: Any, policy: tc.Policy, effort: str, seed: int, algorithm: str) -> tuple[tc.Release, float, float]:
    """A release, its seconds and its CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    release = tc.anonymize(source, policy, algorithm=algorithm, effort=effort, seed=seed)
    return release, time.perf_counter() - wall, time.process_time() - cpu


def numbers(release: tc.Release, wall: float, cpu: float, holds: bool | None = None) -> Run:
    return Run(
        release.loss["gcp"],
        release.loss["lm"],
        release.audit.classes,
        release.record["suppressed"],
        [attribute.t for attribute in release.audit.sensitive.values()],
        release.record["course"].get("ended", ""),
        wall,
        cpu,
        holds,
    )


def runs(source: Any, policy: tc.Policy, effort: str = "balanced") -> list[Run]:
    """A release for each seed."""
    return [run(source, policy, effort, seed) for seed in SEEDS]


def mean(made: Sequence[Run], loss: str = "gcp") -> float:
    return fmean(getattr(one, loss) for one in made)


def most(made: Sequence[Run], what: str) -> float:
    return max(float(getattr(one, what)) for one in made)


def spread(made: Sequence[Run], what: str = "gcp", form: str = ".4f") -> str:
    """From the least to the most; one number where they are the same."""
    found = [format(getattr(one, what), form) for one in sorted(made, key=lambda one: float(getattr(one, what)))]
    return found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


# The scenario table.


@cache
def of_adult(sensitive: tuple[str, ...], t: float, effort: str, **more: int) -> list[Run]:
    """A release for each seed; that of the first is audited again from its file."""
    policy = policy_of(sensitive, t, **more)
    release, wall, cpu = timed(ADULT, policy, effort, SEEDS[0], ALGORITHM)
    with tempfile.TemporaryDirectory() as folder:
        first = numbers(release, wall, cpu, reads_alike(release, policy, Path(folder)))
    return [first, *(run(ADULT, policy, effort, seed) for seed in SEEDS[1:])]


def rows() -> Iterator[tuple[tuple[str, ...], int, float]]:
    """The sensitive attributes, the place of t, and t."""
    for sensitive in CASES:
        for place, t in enumerate(LIMITS):
            yield sensitive, place, t


def scenario() -> None:
    for effort, aim in (("balanced", "prototype"), ("best", "goal")):
        say(f"\nEffort `{effort}`, seeds {', '.join(map(str, SEEDS))}; aim: {aim}, in {WITHIN[effort]:g} s of wall time.")
        heading(
            "sensitive",
            "t",
            "t-Mondrian",
            "prototype",
            "goal",
            "GCP",
            "of seeds",
            "classes",
            "wall s",
            "CPU s",
            "aim",
            "audit of the file",
        )
        reached, ends = 0, []
        for sensitive, place, t in rows():
            mondrian, prototype, goal = (bars[sensitive][place] for bars in (BARS["mondrian"], BARS["growth"], GOALS))
            made = of_adult(sensitive, t, effort)
            verdict = against(made, prototype if aim == "prototype" else goal, WITHIN[effort])
            reached += verdict == "reached"
            ends += [one.ended for one in made]
            bars = [f"{bar:.4f}" for bar in (mondrian, prototype, goal)]
            say(line(" + ".join(sensitive), t, *bars, *losses(made), *times(made), verdict, audited(made)))
        counted = ", ".join(f"{ends.count(end)} by {end}" for end in sorted(set(ends)) if end)
        say(f"\n{reached} of {len(CASES) * len(LIMITS)} rows reach their aim.{f' Refining ended: {counted}.' if counted else ''}")


def against(made: Sequence[Run], bar: float, seconds: float) -> str:
    """Whether the mean loss is at or below the bar and no release took too long."""
    missed = [what for what, above in (("GCP", mean(made) > bar), ("time", most(made, "wall") > seconds)) if above]
    return f"missed: {' and '.join(missed)}" if missed else "reached"


def losses(made: Sequence[Run]) -> tuple[str, str, str]:
    """GCP, its spread, and classes."""
    return f"{mean(made):.4f}", spread(made), spread(made, "classes", ",")


def times(made: Sequence[Run]) -> tuple[str, str]:
    return f"{most(made, 'wall'):.2f}", f"{most(made, 'cpu'):.2f}"


def audited(made: Sequence[Run]) -> str:
    return "the same, holds" if made[0].holds else "DIFFERS"


def diverse() -> None:
    say(f"\nEffort `balanced`, seeds {', '.join(map(str, SEEDS))}; l = 2 (distinct) for every sensitive attribute.")
    heading("sensitive", "t", "GCP without l", "GCP", "of seeds", "classes", "wall s", "CPU s", "audit of the file")
    for sensitive, _, t in rows():
        without, made = of_adult(sensitive, t, "balanced"), of_adult(sensitive, t, "balanced", l=2)
        say(line(" + ".join(sensitive), t, f"{mean(without):.4f}", *losses(made), *times(made), audited(made)))


# Other cases.


def peers_policy(sensitive: Sequence[str]) -> tc.Policy:
    """The quasi-identifiers that the peers were measured with; age is a number, the others have hierarchies."""
    quasi = [name if name == "age" else tc.Quasi(name, hierarchy=DATA / "hierarchies" / f"{name}.csv") for name in PEERS]
    return tc.Policy(quasi=quasi, sensitive=dict.fromkeys(sensitive, 0.2), k=5, other="drop")


def peers() -> None:
    say("\nAdult, occupation (equal distance), t = 0.2, k = 5, eight quasi-identifiers. Bar: LM 0.33 at most.")
    heading("", "LM", "of seeds", "classes", "rows left out", "wall s", "CPU s")
    say(line("ARX 3.9.2, local recoding", "0.4425", "", 125, "1,090", "65", ""))
    say(line("prototype", "0.3628", "", "1,795", 0, "10", ""))
    for effort in WITHIN:
        made = runs(ADULT, peers_policy(["occupation"]), effort)
        cells = (f"{mean(made, 'lm'):.4f}", spread(made, "lm"), spread(made, "classes", ","), spread(made, "left_out", ","))
        say(line(f"growth, `{effort}`", *cells, *times(made)))


def others() -> None:
    heading("table", "algorithm", "GCP", "of seeds", "classes", "wall s", "CPU s")
    with tempfile.TemporaryDirectory() as folder:
        hospital, _, asked, _ = write_demo(Path(folder))
        census = tc.Policy(quasi=["TAXINC", "POTHVAL", "AGI"], sensitive={"FEDTAX": 0.1, "FICA": 0.15}, k=5, other="drop")
        for name, path, policy in (
            ("census", DATA / "census.csv", census),
            ("the demo's hospital", hospital, tc.Policy.load(asked)),
        ):
            run(path, policy, algorithm="mondrian")  # compiles
            mondrian = [run(path, policy, algorithm="mondrian")]
            say(line(name, "t-Mondrian", *losses(mondrian), *times(mondrian)))
            for effort in WITHIN:
                made = runs(path, policy, effort)
                say(line(name, f"growth, `{effort}`", *losses(made), *times(made)))


# Large tables.


def large() -> None:
    say(
        f"\nEffort `balanced`, seeds {', '.join(map(str, SEEDS))}, quasi-identifiers of `peers`, t = 0.2, k = 5. Each in a process of its own."
    )
    heading("table", "sensitive", "rows", "wall s", "CPU s", "peak MB", "LM", "of seeds", "classes", "rows left out")
    fits = []
    for kind in ("mix", "blur"):
        for sensitive in (("occupation",), ("hours-per-week", "occupation")):
            found = []
            for size in SIZES:
                made, peak = apart(table(size, kind), table(WARM, kind), sensitive)
                found.append(made)
                cells = (*times(made), f"{peak:.0f}", f"{mean(made, 'lm'):.4f}", spread(made, "lm"), spread(made, "classes", ","))
                say(line(kind, " + ".join(sensitive), f"{size:,}", *cells, spread(made, "left_out", ",")))
            powers = [
                f"rows^{exponent([mean(made, what) for made in found]):.2f} in {name} time"
                for what, name in (("wall", "wall"), ("cpu", "CPU"))
            ]
            fits.append(f"- {kind}, {' + '.join(sensitive)}: {', '.join(powers)}")
    say("\nFitted, by least squares on logarithms:\n", *fits)


def apart(path: Path, warm: Path, sensitive: Sequence[str]) -> tuple[list[Run], float]:
    """A release for each seed, each made in a process of its own, and the largest of their peaks of memory."""
    made, peaks = [], []
    for seed in SEEDS:
        command = [sys.executable, __file__, "alone", str(path), str(warm), str(seed), *sensitive]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        peaks.append(found.pop("peak"))
        made.append(Run(**found))
    return made, max(peaks)


def alone(path: Path, warm: Path, seed: int, sensitive: Sequence[str]) -> dict[str, Any]:
    """One release, in this process, and the most memory that the process ever had."""
    policy = peers_policy(sensitive)
    run(warm, policy)
    made = vars(run(path, policy, seed=seed))
    # Not getrusage: its peak starts at that of the process we were started from.
    status = Path("/proc/self/status").read_text().splitlines()
    return {**made, "peak": next(int(fact.split()[1]) / 1024 for fact in status if fact.startswith("VmHWM"))}


def exponent(seconds: Sequence[float]) -> float:
    """x where seconds grow as rows^x."""
    return float(np.polyfit(np.log(SIZES[: len(seconds)]), np.log(seconds), 1)[0])


# Many sensitive attributes.


def many() -> None:
    say(f"\nEffort `balanced`, seeds {', '.join(map(str, SEEDS))}, k = 5; t attained: the largest of the seeds.")
    heading(
        "t", "attributes", "the last of them", "GCP", "of seeds", "classes", "wall s", "CPU s", "t attained, in the same order"
    )
    points = []
    for t in LIMITS[:2]:
        for number in range(1, len(ADDED) + 1):
            made = runs(ADULT, many_policy(ADDED[:number], t))
            attained = ", ".join(f"{max(each):.4f}" for each in zip(*(one.attained for one in made), strict=True))
            say(line(t, number, ADDED[number - 1], *losses(made), *times(made), attained))
            points.append({"t": t, "attributes": number, "last": ADDED[number - 1], "gcp": [one.gcp for one in made]})
    MANY.write_text(json.dumps({"commit": commit(), "date": str(date.today()), "points": points}, indent=1) + "\n")


def many_policy(sensitive: Sequence[str], t: float) -> tc.Policy:
    """The quasi-identifiers of the scenario table, less workclass, which is sensitive here."""
    policy = policy_of(ADDED[:1], t)
    quasi = [column for column in policy.quasi if column.name != "workclass"]
    return replace(policy, quasi=quasi, sensitive=dict.fromkeys(sensitive, t))


# What each part is good for.


def ablation() -> None:
    say("\nEffort `balanced`, seed 0: GCP (CPU s). The last column: GCP against that as it is, geometric mean.")
    heading("", *(f"{' + '.join(sensitive)}, {t}" for sensitive, t in ABLATED), "relative")
    base: list[float] = []
    for name, constants in CHANGES.items():
        with changed(constants):
            made = [run(ADULT, policy_of(sensitive, t)) for sensitive, t in ABLATED]
        base = base or [one.gcp for one in made]
        relative = math.exp(fmean(math.log(one.gcp / own) for one, own in zip(made, base, strict=True)))
        say(line(name, *(f"{one.gcp:.4f} ({one.cpu:.1f})" for one in made), f"{relative:.3f}"))


@contextmanager
def changed(constants: dict[str, Any]) -> Iterator[None]:
    """Constants of the algorithm set to something else for a while."""
    with ExitStack() as stack:
        for place, value in constants.items():
            module, _, name = place.rpartition(".")
            stack.enter_context(patch.object(import_module(f"tclose.make.{module}"), name, value))
        yield


SECTIONS: dict[str, Callable[[], None]] = {
    section.__name__: section for section in (scenario, diverse, peers, others, large, many, ablation)
}

if __name__ == "__main__":
    main()
