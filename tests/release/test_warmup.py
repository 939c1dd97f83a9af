"""The warm-up: it leaves nothing to compile, of one algorithm or of all, says what it did, and refuses where nothing can be kept."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tclose.make.algorithm import Partition
from tclose.make.kernels import compiling
from tclose.make.kernels.rehearsing import KERNELS, NEEDED
from tclose.make.problem import Problem
from tclose.make.registry import ALGORITHMS
from tests.support.processes import POLICY, write_people

OTHER_RELEASES = """
import sys
import numpy as np
import pyarrow as pa
from numba.core.dispatcher import Dispatcher
import tclose as tc
from tclose.make.kernels.rehearsing import KERNELS, NEEDED
from tclose.release.warmup import warm_up

warm_up()
modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("tclose.make.")]
kernels = {id(part): part for module in modules for part in vars(module).values() if isinstance(part, Dispatcher)}.values()

def loaded():
    return sum(sum(kernel.stats.cache_hits.values()) + sum(kernel.stats.cache_misses.values()) for kernel in kernels)

warm = loaded()
assert warm > 5, warm
called = set()

class Noted:
    \"""A kernel, or a part that is called by its address; its calls by Python are noted.\"""
    def __init__(self, name, part):
        self.name, self.part = name, part
    def __call__(self, *arguments):
        called.add(self.name)
        return self.part(*arguments)
    def address(self):
        called.add(self.name)
        return self.part.address()

for name in KERNELS:
    module, _, function = name.rpartition(".")
    part = getattr(sys.modules[f"tclose.make.{module}"], function)
    for each in modules:
        if getattr(each, function, None) is part:
            setattr(each, function, Noted(name, part))

calls = {algorithm.name: set() for algorithm in tc.list_algorithms()}
rng = np.random.default_rng(0)
columns = {f"q{number}": rng.integers(0, 9, 300) for number in range(4)} | {f"s{number}": rng.integers(0, 6, 300) for number in range(3)}
table = pa.table({**columns, "who": [f"P{row // 2}" for row in range(300)], "day": pa.array(range(300), pa.date32())})
quasi = {"q0": {"top": 7}, "q1": {"recode": "set", "weight": 2}, "q2": {"recode": "centroid"}, "day": {"hierarchy": "dates"}}
for asked in (
    {"quasi": quasi, "sensitive": {"s0": {"t": 0.3, "beta": 5, "beta_kind": "enhanced"}}, "k": 2},
    {"quasi": ["q3"], "sensitive": {"s0": 0.4, "s1": {"t": 0.2, "distance": "numeric"}, "s2": {"l": 3, "l_kind": "recursive", "c": 2}}, "k": 2},
    {"quasi": ["q0", "q3"], "sensitive": {"s0": {"t": 0.2}, "s1": {"distance": "equal", "delta": 3}}, "k": 4, "unit": "who", "alpha": 0.6},
    {"quasi": ["day"], "sensitive": {"s0": {"t": 0.1, "bins": 2}}, "k": 4, "suppression": 0.05},
    {"quasi": ["q1", "q2"], "sensitive": {"s0": 0.2}, "k": 3, "n": 60},
    {"quasi": ["q0", "q1"], "sensitive": ["s0"], "k": 5},
):
    policy = tc.Policy(**asked, other="drop")
    for algorithm in tc.list_algorithms():
        if algorithm.refuses(policy, None):
            continue
        accept = {"intersection": "accept"} if algorithm.several else {}
        called.clear()
        tc.anonymize(table, policy, algorithm=algorithm.name, options=accept)
        assert loaded() == warm, (asked, algorithm.name, loaded(), warm)
        calls[algorithm.name] |= called
for name, found in calls.items():
    rare = {"kernels.merge._merge", "kernels.loss.fill_losses"} if name in ("growth", "codip") else set()
    assert found | rare == set(NEEDED[name]) | rare, (name, found ^ set(NEEDED[name]))
"""


def test_after_it_nothing_is_compiled_or_read_from_the_disk() -> None:
    """What another policy would still read from the disk, it would compile on another machine.

    An algorithm calls the kernels that are compiled ahead for it, and no others; growth merges only if rows fit nowhere.
    """
    done = subprocess.run([sys.executable, "-c", OTHER_RELEASES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_kernels_of_one_algorithm(tmp_path: Path) -> None:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tclose", *map(str, arguments)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    done = run("warmup", "--algorithm", "mondrian")
    assert (done.returncode, done.stdout.partition(" in ")[0]) == (0, "Compiled")
    kept = {path.name.partition("-")[0] for path in (tmp_path / "cache").rglob("*.nbc")}
    assert set(NEEDED["mondrian"]) <= kept
    assert not kept & (set(KERNELS) - set(NEEDED["mondrian"]))
    assert not [name for name in kept if name.startswith(("growth.", "fragmentation.", "microaggregation.", "incognito."))]

    write_people(tmp_path / "table.csv", 300)
    (tmp_path / "policy.yaml").write_text(f"{POLICY}n: 50\nsuppression: 0.1\n")
    paths: list[str | Path] = [tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv"]
    done = run("anonymize", *paths, "--algorithm", "mondrian")
    assert (done.returncode, done.stderr) == (0, "")  # compiling would be told


def test_an_unknown_algorithm_is_refused() -> None:
    done = CliRunner().invoke(app, ["warmup", "--algorithm", "mondrain"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: algorithm must be one of growth, mondrian, ")


def test_it_says_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = numba.njit(lambda number: number + 1)

    def run(problem: Problem, *_: Any) -> Partition:
        return Partition(np.full(problem.rows, fresh(-1), dtype=np.int64))

    for name in list(ALGORITHMS):
        monkeypatch.setitem(ALGORITHMS, name, replace(ALGORITHMS[name], run=run))
    growth = replace(ALGORITHMS["growth"], refuses=lambda policy, _: "Several." if len(policy.sensitive) > 1 else "")
    monkeypatch.setitem(ALGORITHMS, "growth", growth)
    first, second = (CliRunner().invoke(app, ["warmup"]) for _ in range(2))
    kept = f"It is stored in {compiling.FOLDER}.\n"
    assert re.fullmatch(rf"Compiled in [0-9]+\.[0-9] seconds\. {re.escape(kept)}", first.stdout)
    assert (second.exit_code, second.stdout, second.stderr) == (0, f"Everything was compiled already. {kept}", "")


def test_where_nothing_can_be_kept_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "FOLDER", None)
    done = CliRunner().invoke(app, ["warmup"])
    sentence = "There is no folder to keep compiled kernels in. Set NUMBA_CACHE_DIR to one that can be written."
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {sentence}\n")
