"""Part three: forged pairs of a release and a certificate. verify must not accept what a reader's own count refutes."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing.cases import draw_case
from fuzzing.children import Ending, command, run_all
from fuzzing.files import GIVEN_UP
from fuzzing.reader import untrue
from fuzzing.releases import make

WORDS = (
    "version",
    "tool",
    "row_order",
    "counted",
    "promised",
    "regions",
    "release.file",
    "codebook",
    "loss.gcp",
    "loss.precision",
    "loss.by_attribute",
    "policy.quasi",
)
"""What a certificate says and a release cannot show: the publisher's word. Also (n,t)'s regions, which are judged elsewhere."""


@dataclass
class Forgery:
    """A forged pair: how it was made, what is untrue of it, and how verify ended."""

    number: int
    how: str
    untrue: list[str]
    ending: Ending
    said: str = ""

    @property
    def accepted(self) -> bool:
        """Whether verify said yes to something untrue."""
        return self.ending.code == 0 and bool(self.untrue)

    @property
    def faulty(self) -> bool:
        """Whether it was accepted, or verify did not end in its own words."""
        return self.accepted or self.ending.code not in (0, 1, 2)


def run_forgeries(seed: int, numbers: Iterable[int], jobs: int, keep: Path | None = None) -> Iterator[Forgery]:
    """Forge the pairs of these numbers and hand them to verify."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-forgeries-"))
    try:
        works = ((number, partial(_run_one, seed, number, folder / str(number))) for number in numbers)
        for number, ending in run_all(works, jobs, GIVEN_UP):
            place = folder / str(number)
            if not (place / "plan.json").exists():
                yield Forgery(number, "the pair could not be made", [], ending)
                continue
            plan = json.loads((place / "plan.json").read_text(encoding="utf-8"))
            said = "".join(
                path.read_text(encoding="utf-8", errors="replace")
                for path in (place / "out.txt", place / "err.txt")
                if path.exists()
            )
            forgery = Forgery(number, plan["how"], plan["untrue"], ending, said[-600:])
            if forgery.faulty and keep is not None:
                shutil.copytree(place, keep / f"forgeries-{seed}-{number}", dirs_exist_ok=True)
            yield forgery
            shutil.rmtree(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_one(seed: int, number: int, folder: Path) -> int:
    """Forge a pair and verify it; in a child."""
    lot = random.Random(f"forgeries/{seed}/{number}")
    folder.mkdir()
    suffix = _make_honest(lot, seed, folder / "honest")
    release, certificate = folder / f"release{suffix}", folder / "certificate.json"
    shutil.move(folder / "honest" / release.name, release)
    shutil.move(folder / "honest" / f"{release.name}.certificate.json", certificate)
    shutil.rmtree(folder / "honest")
    forge = lot.choice(FORGERIES)
    wrong = forge(lot, release, certificate)
    how = f"{forge.__name__}: {wrong}"
    try:
        found = untrue(release, certificate)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        found = [f"it cannot be read: {type(error).__name__}"]
    if forge is change_field and not wrong.startswith(WORDS) and not wrong.startswith("policy"):
        found = found or [wrong]
    (folder / "plan.json").write_text(json.dumps({"how": how, "untrue": found}), encoding="utf-8")
    return command(["verify", release.name, "--certificate", certificate.name], folder, folder / "out.txt", folder / "err.txt")


def _make_honest(lot: random.Random, seed: int, folder: Path) -> str:
    """Make a release of a random case, with its certificate; return its suffix."""
    from tclose.errors import TcloseError

    while True:
        case = draw_case(seed, lot.randrange(10**6))
        if case.effort == "best" or case.rows < 9 or case.algorithm == "codip":  # several tables: others' figures are its word
            continue
        try:
            make(case, folder)
        except (TcloseError, pa.ArrowException):
            shutil.rmtree(folder)
            continue
        return case.write_as


# Forgeries --------------------------------------------------------------------------------------------------------------------


def change_field(lot: random.Random, release: Path, certificate: Path) -> str:  # noqa: ARG001 - the release stays
    """One field of the certificate is another."""
    said = json.loads(certificate.read_text(encoding="utf-8"))
    places: list[tuple[Any, Any, str]] = []
    waiting: list[tuple[Any, str]] = [(said, "")]
    while waiting:
        holder, way = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            name = f"{way}.{key}".lstrip(".")
            places.append((holder, key, name))
            if isinstance(holder[key], dict | list):
                waiting.append((holder[key], name))
    holder, key, name = lot.choice([place for place in places if not place[2].startswith(WORDS)])
    before = holder[key]
    if name.endswith(".holds") and _role_of(said, name) != "sensitive":
        return f"version {name}"  # words about other columns cannot be checked; nothing is changed
    if isinstance(before, bool) or before is None:
        after: Any = lot.choice((not before, 1, 0))
    elif isinstance(before, int):
        after = lot.choice((before + 1, before - 1, 0, float(before), str(before), before * 2 + 1))
    elif isinstance(before, float):
        after = lot.choice((before + 0.25, before / 2 + 0.001, round(before, 3) + 0.001, int(before) + 1))
    elif isinstance(before, str):
        after = lot.choice((before + " ", before[:-1], before.upper() + "x", "1/1000"))
    else:
        after = lot.choice(([], {}, None, "x"))
    if after == before and type(after) is type(before):
        after = "another"
    if lot.random() < 0.15 and isinstance(holder, dict):
        text = json.dumps(said, ensure_ascii=False)
        old = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(before, ensure_ascii=False)}"
        new = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(after, ensure_ascii=False)}"
        if text.count(old) == 1:
            certificate.write_text(text.replace(old, lot.choice((f"{old}, {new}", f"{new}, {old}"))), encoding="utf-8")
            return f"{name} twice"
    holder[key] = after
    certificate.write_text(json.dumps(said, indent=2, ensure_ascii=False), encoding="utf-8")
    return f"{name} from {str(before)[:30]!r} to {str(after)[:30]!r}"


def change_cells(lot: random.Random, release: Path, certificate: Path) -> str:
    """Cells of the release are others, and every figure of the certificate is mended."""
    columns = _columns(release)
    said = json.loads(certificate.read_text(encoding="utf-8"))
    quasi = [column["name"] for column in said["columns"] if column["role"] == "quasi"]
    sensitive = [column["name"] for column in said["columns"] if column["role"] == "sensitive"]
    rows = len(columns[quasi[0]])
    how = lot.choice(("sorted", "moved", "alone", "deleted", "doubled", "swapped", "one value", "written otherwise"))
    if how == "sorted":  # every class gets what is alike
        name = lot.choice(sensitive)
        columns[name] = sorted(columns[name], key=lambda cell: (cell is None, str(cell)))
    elif how == "moved":
        for _ in range(lot.randint(1, 3)):
            here, there = lot.randrange(rows), lot.randrange(rows)
            for name in quasi:
                columns[name][here] = columns[name][there]
    elif how == "alone":
        texts = [name for name in quasi if all(cell is None or isinstance(cell, str) for cell in columns[name])]
        name = lot.choice(texts or quasi)
        row = lot.randrange(rows)
        cell = columns[name][row]
        columns[name][row] = lot.choice((f"{cell} ", f"{cell}\u200b", f" {cell}", "", None)) if texts else None
    elif how in ("deleted", "doubled"):
        chosen = set(lot.sample(range(rows), min(rows - 1, lot.randint(1, 4))))
        order = [row for row in range(rows) for _ in range(1 if row not in chosen else 0 if how == "deleted" else 2)]
        columns = {name: [cells[row] for row in order] for name, cells in columns.items()}
    elif how == "swapped":
        name = lot.choice(sensitive)
        for _ in range(lot.randint(1, 6)):
            here, there = lot.randrange(rows), lot.randrange(rows)
            columns[name][here], columns[name][there] = columns[name][there], columns[name][here]
    elif how == "one value":
        name = lot.choice(sensitive)
        first = [columns[each][0] for each in quasi]
        for row in range(rows):
            if [columns[each][row] for each in quasi] == first:
                columns[name][row] = columns[name][0]
    else:  # one number in two ways
        name = lot.choice((*sensitive, *quasi))
        row = lot.randrange(rows)
        if isinstance(columns[name][row], str) and columns[name][row].lstrip("-").isdigit():
            columns[name][row] += ".0"
    _write(release, columns)
    _mend(release, certificate)
    return how


def change_policy(lot: random.Random, release: Path, certificate: Path) -> str:
    """The certificate asks for something else, and every figure and sentence is mended."""
    said = json.loads(certificate.read_text(encoding="utf-8"))
    policy = said["policy"]
    name = lot.choice(list(policy["sensitive"]))
    own = dict(policy["sensitive"][name] or {})
    how = lot.choice(("k", "t", "l", "alpha", "beta", "delta", "quasi", "tall tree", "nothing"))
    if how == "k":
        policy["k"] = lot.choice((1, policy.get("k", 1) + 1, 50))
    elif how == "alpha":
        policy["alpha"] = lot.choice((0.1, 0.4, 0.8))
    elif how == "quasi" and len(policy["quasi"]) > 1:
        del policy["quasi"][lot.choice(list(policy["quasi"]))]
    elif how == "tall tree" and "hierarchy" in own:
        own["hierarchy"] = {"top": {**own["hierarchy"], "pad": {"a": {"b": {"c": {"d": ["unused"]}}}}}}
        own["t"] = 0.1
    elif how == "nothing":
        said["policy"] = {"quasi": policy["quasi"], "sensitive": dict.fromkeys(policy["sensitive"])}
    elif how in ("t", "l", "beta", "delta"):
        limits: dict[str, dict[str, Any]] = {
            "t": {"t": lot.choice((0, 0.01, 0.1, "1/7"))},
            "l": {"l": lot.choice((2, 4)), "l_kind": "distinct", "c": None},
            "beta": {"beta": 0.1},
            "delta": {"delta": 0.2},
        }
        own = {key: value for key, value in (own | limits[how]).items() if value is not None}
    if how != "nothing":
        policy["sensitive"][name] = own or None
    said.pop("promised", None)
    certificate.write_text(json.dumps(said), encoding="utf-8")
    _mend(release, certificate)
    return how


def raw_beside_bins(lot: random.Random, release: Path, certificate: Path) -> str:
    """Numbers are published where their bins were promised: judged as bins, they would be close."""
    rows = lot.choice((10, 20))
    suffix = release.suffix
    columns: dict[str, list[Any]] = {
        "q": ["a"] * (rows // 2) + ["b"] * (rows // 2),
        "s": [1000 + row for row in range(rows // 2)] + [9000 + row for row in range(rows // 2)],
    }
    if lot.random() < 0.5:
        columns["s"][0] = "[0, 100000)"
        columns["s"] = [str(cell) for cell in columns["s"]] if suffix != ".csv" else columns["s"]
    _write(release, columns)
    bins: Any = lot.choice(({"width": 100_000}, [500], 2))
    policy = {"quasi": {"q": {"type": "text"}}, "sensitive": {"s": {"t": 0.01, "distance": "ordered", "bins": bins}}, "k": 5}
    return _certify(release, certificate, policy)


def jumping_regions(lot: random.Random, release: Path, certificate: Path) -> str:
    """Regions that jump over classes, or hold one alone though others lie inside it."""
    classes = lot.choice((4, 8))
    columns: dict[str, list[Any]] = {
        "age": [f"[{10 * place}, {10 * place + 9}]" for place in range(1, classes + 1) for _ in range(5)]
    }
    columns["s"] = ["HIV" if place % 2 else "flu" for place in range(classes) for _ in range(5)]
    _write(release, columns)
    regions = [
        lot.choice(
            (
                [place % 2 for place in range(classes)],
                list(range(classes)),
                [0] * classes,
                [place // 2 for place in range(classes)],
                [-1] * classes,
            )
        )
    ]
    policy = {
        "quasi": {"age": {"type": "text"}},
        "sensitive": {"s": {"t": 0.01, "distance": "equal"}},
        "k": 5,
        "n": lot.choice((5, 2 * classes, 20)),
    }
    return _certify(release, certificate, policy, regions=regions)


def no_limits(lot: random.Random, release: Path, certificate: Path) -> str:
    """A certificate that asks for nothing, or states more than it asks."""
    _write(release, {"name": [f"Person {row}" for row in range(10)], "q": ["*"] * 10, "s": ["x", "y"] * 5})
    policy: dict[str, Any] = {"quasi": {"q": {"type": "text"}}, "sensitive": {"s": None}}
    if lot.random() < 0.5:
        policy["k"] = 50
    return _certify(release, certificate, policy, statement="k=50 and t=0.1 verified")


def local_files(lot: random.Random, release: Path, certificate: Path) -> str:
    """A certificate that names files of the reader's machine."""
    said = json.loads(certificate.read_text(encoding="utf-8"))
    name = next(iter(said["policy"]["sensitive"]))
    where = lot.choice(("/etc/hostname", "/dev/zero", "/dev/null", "/proc/self/environ", release.name, "../x"))
    said["policy"]["sensitive"][name] = {"t": 1, lot.choice(("hierarchy", "matrix")): where}
    certificate.write_text(json.dumps(said), encoding="utf-8")
    return where


FORGERIES: list[Callable[[random.Random, Path, Path], str]] = [
    change_field, change_field, change_field, change_field, change_cells, change_cells, change_cells, change_cells, raw_beside_bins, jumping_regions, no_limits, local_files,
]  # fmt: skip


# What a forger needs ------------------------------------------------------------------------------------------------------------


def _role_of(said: dict[str, Any], name: str) -> str:
    return str(said["columns"][int(name.split(".")[1])]["role"]) if name.startswith("columns.") else ""


def _columns(release: Path) -> dict[str, list[Any]]:
    """The columns as they stand in the file, guards against formulas and all."""
    if release.suffix == ".csv":
        with release.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return {name: [row[place] or None for row in rows] for place, name in enumerate(header)}
    table = pq.read_table(release) if release.suffix == ".parquet" else pa.ipc.open_file(release).read_all()
    return {name: table[name].to_pylist() for name in table.column_names}


def _write(release: Path, columns: dict[str, list[Any]]) -> None:
    if release.suffix == ".csv":
        with release.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return
    arrays = {
        name: pa.array(cells) if len({type(cell) for cell in cells} - {type(None)}) < 2 else pa.array(map(str, cells))
        for name, cells in columns.items()
    }
    table = pa.table(arrays)
    if release.suffix == ".parquet":
        pq.write_table(table, release)
    else:
        with pa.ipc.new_file(release, table.schema) as writer:
            writer.write_table(table)


def _mend(release: Path, certificate: Path) -> None:
    """Every figure, role and sentence of a certificate as its policy and an audit of the release have it."""
    import tclose as tc
    from tclose.release.certificate import describe_sensitive, figures, statement

    said = json.loads(certificate.read_text(encoding="utf-8"))
    policy: Any = tc.Policy(**said["policy"])
    said["release"] = {**said.get("release", {}), "sha256": hashlib.sha256(release.read_bytes()).hexdigest()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            audit = tc.audit(release, policy)
    except tc.TcloseError:  # no audit has figures for it; then neither has the forger
        certificate.write_text(json.dumps(said, indent=2, ensure_ascii=False), encoding="utf-8")
        return
    columns = _columns(release)
    rows = list(zip(*columns.values(), strict=True))
    sizes = audit.sizes.tolist()
    sensitive = {
        column.name: describe_sensitive(column, audit.sensitive[column.name].distance, policy) for column in policy.sensitive
    }
    before = {column["name"]: column["holds"] for column in said["columns"]}
    said["columns"] = [
        {
            "name": name,
            "role": "sensitive" if name in sensitive else "quasi" if name in audit.quasi else "kept",
            "holds": sensitive.get(name, before.get(name, "As in the input.")),
        }
        for name in columns
    ]
    said |= {"statement": statement(policy), "rows": audit.rows, "classes": audit.classes}
    said["unique_rows"] = sum(rows.count(row) == 1 for row in rows)
    said["attained"] = {"k": audit.k, "homogeneous": audit.homogeneous, "sensitive": figures(audit)}
    attained = {"dm": sum(size * size for size in sizes), "c_avg": audit.rows / (len(sizes) * policy.k) if policy.k else None}
    said["loss"] = {**said.get("loss", {}), **attained}
    certificate.write_text(json.dumps(said, indent=2, ensure_ascii=False), encoding="utf-8")


def _certify(release: Path, certificate: Path, policy: dict[str, Any], **more: Any) -> str:
    """Write a certificate for any file, in which every figure is right; ``more`` is said besides."""
    said = json.loads(certificate.read_text(encoding="utf-8"))
    for key in ("regions", "promised", "codebook"):
        said.pop(key, None)
    said |= {"policy": policy, "counted": "rows", "loss": {}, "columns": []}
    certificate.write_text(json.dumps(said), encoding="utf-8")
    _mend(release, certificate)
    said = json.loads(certificate.read_text(encoding="utf-8"))
    certificate.write_text(json.dumps({**said, **more}), encoding="utf-8")
    return json.dumps(policy["sensitive"])
