"""Part two: damaged files through the command line. Whatever is in a file, tclose must end in its own words, soon, and leave nothing half."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing import damage
from fuzzing.cases import MAKERS
from fuzzing.children import GIGABYTE, Ending, command, run_all

ALLOWED = (0, 1, 2)
MEMORY = 2 * GIGABYTE
SECONDS = 20.0
"""Of CPU time: other work on the machine does not count."""
GIVEN_UP = 120.0
"""Seconds after which a run is ended by force."""

SECRET = "secret-"
PAPERS = ("", ".certificate.json", ".private.json", ".codebook.md")
DIAGNOSES = ("influenza", "pneumonia", "asthma", "hypertension", "stroke")
TREE = "influenza;infection;respiratory;*\npneumonia;infection;respiratory;*\nasthma;respiratory;*\nhypertension;circulatory;*\nstroke;circulatory;*\n"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FRAME = re.compile(r'Traceback \(most recent|File ".*", line \d+')


@dataclass
class Run:
    """One run: what was damaged and how, the command, how it ended, and what is wrong with that."""

    number: int
    what: str
    arguments: list[str]
    ending: Ending
    faults: list[str] = field(default_factory=list)
    said: str = ""


def run_files(seed: int, numbers: Iterable[int], jobs: int, keep: Path | None = None) -> Iterator[Run]:
    """Run the command line on the damaged files of these numbers; with ``keep``, copy the files of faulty runs there."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-files-"))
    try:
        whole = folder / "whole"
        for _, ending in run_all([("whole", partial(_write_whole, whole))], 1, 300):
            if ending.code:
                raise RuntimeError("the undamaged files could not be made")
        works = ((number, partial(_run_one, seed, number, whole, folder / str(number))) for number in numbers)
        for number, ending in run_all(works, jobs, GIVEN_UP):
            run = _examined(number, ending, folder / str(number))
            if run.faults and keep is not None:
                shutil.copytree(folder / str(number), keep / f"files-{seed}-{number}", dirs_exist_ok=True, symlinks=True)
            yield run
            shutil.rmtree(folder / str(number))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# The undamaged files --------------------------------------------------------------------------------------------------------


def _write_whole(folder: Path) -> int:
    """Tables of each kind, a tree, a matrix, policies, and releases with their certificates."""
    folder.mkdir()
    lot = random.Random(0)
    rows = 40
    columns: dict[str, list[Any]] = {
        "name": [f"{SECRET}name-{place}" for place in range(rows)],
        "note": [f"{SECRET}note-{lot.randrange(10**6)}" for _ in range(rows)],
        "age": [lot.randint(20, 60) for _ in range(rows)],
        "zip": [f"47{lot.randint(600, 699)}" for _ in range(rows)],
        "sex": [lot.choice("fm") for _ in range(rows)],
        "diagnosis": [lot.choice(DIAGNOSES) for _ in range(rows)],
        "cost": [lot.randint(10, 500) for _ in range(rows)],
    }
    table = pa.table(columns)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]) + "\n"
    (folder / "table.csv").write_text(text, encoding="utf-8")
    (folder / "table.csv.gz").write_bytes(damage.packed(text.encode(), "gzip"))
    (folder / "table.csv.zst").write_bytes(damage.packed(text.encode(), "zstd"))
    pq.write_table(table, folder / "table.parquet", row_group_size=25)
    pq.write_table(table, folder / "plain.parquet", compression="none", use_dictionary=False)
    for name, maker in (("table.arrow", pa.ipc.new_file), ("table.ipc", pa.ipc.new_stream)):
        with maker(folder / name, table.schema) as writer:
            writer.write_table(table, max_chunksize=25)
    (folder / "tree.csv").write_text(TREE, encoding="utf-8")
    cells = [["0" if one == other else "1/2" for other in DIAGNOSES] for one in DIAGNOSES]
    matrix = ["," + ",".join(DIAGNOSES), *(f"{name}," + ",".join(row) for name, row in zip(DIAGNOSES, cells, strict=True))]
    (folder / "matrix.csv").write_text("\n".join(matrix) + "\n", encoding="utf-8")
    base = {"k": 3, "identifiers": ["name"], "drop": ["note"]}
    policies = {
        "tree": {
            **base,
            "quasi": {"age": {"snap": 5, "top": 55}, "zip": {"hierarchy": "prefixes"}, "sex": None},
            "sensitive": {"diagnosis": {"t": 0.5, "hierarchy": "tree.csv"}, "cost": {"t": 0.4, "bins": {"width": 50}}},
        },
        "matrix": {
            **base,
            "quasi": {"age": {"recode": "bounds"}, "sex": None, "zip": {"recode": "set"}},
            "sensitive": {"diagnosis": {"t": 0.6, "l": 2, "matrix": "matrix.csv"}, "cost": 0.5},
            "suppression": 0.1,
        },
        "regions": {
            **base,
            "quasi": ["age", "sex", "zip"],
            "sensitive": {"diagnosis": {"t": 0.4}, "cost": {"t": 0.4, "distance": "numeric"}},
            "n": 15,
            "alpha": 0.9,
        },
    }
    from tclose.policy import Policy
    from tclose.release.anonymize import anonymize

    for name, policy in policies.items():
        (folder / f"{name}.yaml").write_text(json.dumps(policy, indent=1), encoding="utf-8")
        for suffix in (".csv", ".parquet", ".arrow"):
            anonymize(folder / "table.csv", Policy.load(folder / f"{name}.yaml"), effort="fast").write(
                folder / f"{name}-release{suffix}"
            )
    return 0


# One run ----------------------------------------------------------------------------------------------------------------------


def _run_one(seed: int, number: int, whole: Path, folder: Path) -> int:
    """Damage a file and run a command on it; in a child."""
    lot = random.Random(f"files/{seed}/{number}")
    (folder / "work").mkdir(parents=True)
    arguments, what = _prepare(lot, whole, folder / "work")
    before = sorted(path.name for path in (folder / "work").iterdir())
    (folder / "plan.json").write_text(json.dumps({"what": what, "arguments": arguments, "before": before}), encoding="utf-8")
    os.environ["COLUMNS"] = "120"
    return command(arguments, folder / "work", folder / "out.txt", folder / "err.txt")


def _prepare(lot: random.Random, whole: Path, work: Path) -> tuple[list[str], str]:
    """Put the files of a run in its folder, one of them damaged; return the command, and what was done."""
    policy = lot.choice(("tree", "matrix", "regions"))
    verb = lot.choice(("audit", "anonymize", "anonymize", "verify"))
    if verb == "verify":
        table = f"{policy}-release{lot.choice(('.csv', '.parquet', '.arrow'))}"
        files = {"table": table, "certificate": f"{table}.certificate.json"}
    else:
        table = lot.choice(
            (
                "table.csv",
                "table.csv",
                "table.parquet",
                "plain.parquet",
                "table.arrow",
                "table.ipc",
                "table.csv.gz",
                "table.csv.zst",
            )
        )
        files = {"table": table, "policy": f"{policy}.yaml", "tree": "tree.csv", "matrix": "matrix.csv"}
        if policy != "tree":
            del files["tree"]
        if policy != "matrix":
            del files["matrix"]
    for name in files.values():
        shutil.copy(whole / name, work / name)
    target = lot.choice(("table", *files))
    path = work / files[target]
    data = path.read_bytes()
    own = {"policy": damage.SETTINGS, "certificate": damage.SETTINGS, "tree": damage.TREE, "matrix": damage.MATRIX}.get(target)
    if own is None:
        own = {".csv": damage.CSV, ".gz": damage.PACKED, ".zst": damage.PACKED}.get(path.suffix, damage.TYPED)
    done = []
    for _ in range(lot.choice((1, 1, 1, 2))):
        chosen = lot.choice(own if lot.random() < 0.6 else damage.ANY)
        data = chosen(lot, data)
        done.append(chosen.__name__)
    path.write_bytes(data)
    what = f"{target} {path.name}: {' and '.join(done)}"
    if lot.random() < 0.08:  # another name, which may be of another kind
        name = lot.choice(
            (
                f"-{path.name}",
                f"a b'\"{path.name}",
                f"x{path.suffix}",
                f"*{path.suffix}",
                f"[1]{path.suffix}",
                "n" * 240 + path.suffix,
                f"line\nbreak{path.suffix}",
                f"esc\x1b[31m{path.suffix}",
                "none",
                "x.csv",
                "x.parquet",
                "x.arrow",
                "x.csv.gz",
                "x.csv.zst",
                f"{path.stem}{path.suffix.upper()}",
                f"%s{{0}}{path.suffix}",
            )
        )
        if target in ("table", "policy", "certificate"):
            path.rename(work / name)
            files[target] = name
            what += f", named {name[:40]!r}"
    elif lot.random() < 0.03:
        path.unlink()
        lot.choice((path.mkdir, partial(path.symlink_to, path.name), partial(path.symlink_to, "/dev/null"), lambda: None))()
        what += ", then no file"
    if verb == "verify":
        return ["verify", f"./{files['table']}", "--certificate", f"./{files['certificate']}"], what
    if verb == "audit":
        arguments = ["audit", f"./{files['table']}"]
        arguments += (
            ["-p", f"./{files['policy']}"]
            if lot.random() < 0.8
            else ["--quasi", lot.choice(("age,zip", "zip", "age,strange")), "--sensitive", "diagnosis"]
        )
        arguments += lot.choice(([], ["--json"], ["--classes", "classes.csv"], ["--classes", "classes.parquet"]))
        return arguments, what
    arguments = [
        "anonymize",
        f"./{files['table']}",
        "-p",
        f"./{files['policy']}",
        "-o",
        f"out{lot.choice(('.csv', '.parquet', '.arrow'))}",
    ]
    algorithm = lot.choice(MAKERS)
    arguments += ["--algorithm", algorithm, "--effort", "fast"]
    arguments += ["--option", "intersection=accept"] if algorithm == "codip" else []
    return arguments, what


def _examined(number: int, ending: Ending, folder: Path) -> Run:
    """Look at what a run said and left."""
    if not (folder / "plan.json").exists():
        return Run(number, "the files could not be prepared", [], ending, ["fuzz"])
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    arguments = plan["arguments"]
    texts = [
        path.read_bytes().decode("utf-8", "replace") if path.exists() else "" for path in (folder / "out.txt", folder / "err.txt")
    ]
    faults = []
    if ending.code not in ALLOWED:
        faults.append("signal" if ending.code < 0 else f"exit {ending.code}")
    if ending.memory > MEMORY:
        faults.append("memory")
    if ending.seconds > SECONDS:
        faults.append("seconds")
    if any(_CONTROL.search(text) for text in texts):
        faults.append("control characters")
    if any(_FRAME.search(text) for text in texts):
        faults.append("traceback")
    if any(SECRET in text for text in texts) and "name" not in _told(texts):
        faults.append("secret")
    if (
        ending.code != 0
        and not (ending.code == 1 and arguments[0] != "anonymize")
        and not texts[1].startswith(("Error: ", "Warning: "))
    ):
        faults.append("no sentence")
    work = folder / "work"
    new = {path.name for path in work.iterdir()} - set(plan["before"])
    expected: set[str] = set()
    if arguments[0] == "anonymize" and ending.code == 0:
        outs = [arguments[arguments.index("-o") + 1]]
        if "codip" in arguments:
            outs = [f"out.{number}{Path(outs[0]).suffix}" for number in range(1, max(2, len(new) // len(PAPERS)) + 1)]
        expected = {f"{out}{ending}" for out in outs for ending in PAPERS}
    if "--classes" in arguments and ending.code in (0, 1):
        expected = {arguments[arguments.index("--classes") + 1]}
    if new != expected:
        faults.append("partial files")
    return Run(number, plan["what"], arguments, ending, faults, (texts[1] or texts[0])[:600])


def _told(texts: list[str]) -> str:
    """Whether a sentence speaks of columns by their names: with a damaged header a cell may be one."""
    return "name" if any("Column '" in text or "columns" in text for text in texts) else ""
