"""Part one: random releases, each judged by brute force."""

from __future__ import annotations

import json
import shutil
import tempfile
import traceback
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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
        made = make(case, first)
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
    faults = [] if len(made) == 1 else _faults_together(case, made)
    if case.effort != "best":  # which ends by the clock
        make(case.shuffled(), folder / "second")
    for table in made:
        release = table.release
        faults += Judge(table.case, release).faults(table.partition)
        if not verify(release, Path(f"{release}.certificate.json")).holds:
            faults.append("verify does not accept it")
        for ending in ("", ".certificate.json", ".codebook.md") if case.effort != "best" else ():
            if Path(f"{release}{ending}").read_bytes() != Path(f"{folder / 'second' / release.name}{ending}").read_bytes():
                faults.append(f"the same rows in another order give another release{ending}")
    return Outcome(case.number, "invalid" if faults else "released", faults)


class Made(NamedTuple):
    """A table that was published: the case of it alone, its file, and the class of each row, -1 where it is suppressed."""

    case: Case
    release: Path
    partition: list[int]


def _faults_together(case: Case, made: Sequence[Made]) -> list[str]:
    """Return what is wrong with several tables of the same rows: each sensitive column in one of them, the smallest intersection."""
    found = []
    names = [name for table in made for name in table.case.policy["sensitive"]]
    if sorted(names) != sorted(case.policy["sensitive"]):
        found.append("not every sensitive column is in one table")
    unit = case.policy.get("unit")
    together: dict[tuple[int, ...], set[Any]] = defaultdict(set)
    for row, labels in enumerate(zip(*(table.partition for table in made), strict=True)):
        if any(label >= 0 for label in labels):
            together[labels].add(row if unit in (None, "row") else case.columns[unit][row])
    least = min(map(len, together.values()))
    for number, table in enumerate(made, start=1):
        said = json.loads(Path(f"{table.release}.certificate.json").read_text(encoding="utf-8"))["tables"]
        if said != {"number": number, "of": len(made), "smallest_intersection": least}:
            found.append(f"table {number}: the certificate says {said}, and the smallest intersection is {least}")
    return found


def make(case: Case, folder: Path) -> list[Made]:
    """Write the table of a case and its release, or releases; return what was published."""
    import tclose as tc

    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        policy: Any = tc.Policy(**case.policy)
        release = tc.anonymize(
            case.write_table(folder), policy, algorithm=case.algorithm, seed=case.seed, effort=case.effort, options=case.options
        )
        release.write(folder / f"release{case.write_as}")
    if not isinstance(release, tc.ReleaseSet):
        return [Made(case, folder / f"release{case.write_as}", release.partition.tolist())]
    return [
        Made(case.only(one.audit.sensitive), folder / f"release.{number}{case.write_as}", one.partition.tolist())
        for number, one in enumerate(release.releases, start=1)
    ]
