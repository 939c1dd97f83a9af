"""Part one: random releases, each judged by brute force."""

from __future__ import annotations

import json
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from fuzzing.cases import Case, draw_case
from fuzzing.children import run_all
from fuzzing.judging import Judge, one_class_fits

BATCH = 25
"""Cases for each child: what a child must load first is then shared by some."""

SECONDS = 20.0
"""For each case."""


@dataclass
class Outcome:
    """What became of a case: "released", "infeasible", "refused" or "invalid", and why."""

    number: int
    ending: str
    reasons: list[str] = field(default_factory=list)


def run_releases(seed: int, numbers: Iterable[int], jobs: int) -> Iterator[Outcome]:
    """Make and judge the releases of these cases."""
    numbers = list(numbers)
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-releases-"))
    try:
        works = ((batch, partial(_judge_batch, seed, batch, folder)) for batch in batches)
        for batch, ending in run_all(works, jobs, SECONDS * BATCH):
            lines = folder / f"{batch[0]}.jsonl"
            told = (
                [Outcome(**json.loads(line)) for line in lines.read_text(encoding="utf-8").splitlines()] if lines.exists() else []
            )
            yield from told
            for number in batch[len(told) : len(told) + 1] if ending.code else []:
                yield Outcome(number, "invalid", [f"the process ended with {ending.code} after {ending.seconds:.0f} s"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judge_batch(seed: int, numbers: list[int], folder: Path) -> int:
    with (folder / f"{numbers[0]}.jsonl").open("w", encoding="utf-8") as lines:
        for number in numbers:
            within = Path(tempfile.mkdtemp(dir=folder))
            outcome = judge_case(draw_case(seed, number), within)
            lines.write(json.dumps(vars(outcome)) + "\n")
            lines.flush()
            shutil.rmtree(within)
    return 0


def judge_case(case: Case, folder: Path) -> Outcome:
    """Make the release of a case and judge it."""
    try:
        return _judge_case(case, folder)
    except Exception:  # noqa: BLE001 - a fault of tclose or of the brute force: either must be looked at
        return Outcome(case.number, "invalid", [traceback.format_exc(limit=-4)])


def _judge_case(case: Case, folder: Path) -> Outcome:
    from tclose import verify
    from tclose.errors import GateError, InfeasibleError, TcloseError

    first = folder / "first"
    try:
        partition = make(case, first)
    except InfeasibleError as error:
        fits = one_class_fits(case)
        return Outcome(
            case.number,
            "invalid" if fits else "infeasible",
            [f"the one class of all rows satisfies the policy; {error}"] if fits else [],
        )
    except GateError as error:
        return Outcome(case.number, "invalid", [str(error)])
    except TcloseError as error:
        left = [path.name for path in first.iterdir() if not path.name.startswith("table")]
        return Outcome(case.number, "invalid" if left else "refused", [f"{type(error).__name__}: {error}"])
    release = first / f"release{case.write_as}"
    faults = Judge(case, release).faults(partition)
    if not verify(release, Path(f"{release}.certificate.json")).holds:
        faults.append("verify does not accept it")
    if case.effort != "best":  # which ends by the clock
        make(case.shuffled(), folder / "second")
        for ending in ("", ".certificate.json", ".codebook.md"):
            if Path(f"{release}{ending}").read_bytes() != Path(f"{folder / 'second' / release.name}{ending}").read_bytes():
                faults.append(f"the same rows in another order give another release{ending}")
    return Outcome(case.number, "invalid" if faults else "released", faults)


def make(case: Case, folder: Path) -> list[int]:
    """Write the table of a case and its release; return the class of each row, -1 where it is suppressed."""
    import tclose as tc

    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy: Any = tc.Policy(**case.policy)
        release = tc.anonymize(
            case.write_table(folder), policy, algorithm=case.algorithm, seed=case.seed, effort=case.effort, options=case.options
        )
        release.write(folder / f"release{case.write_as}")
    partition: list[int] = release.partition.tolist()
    return partition
