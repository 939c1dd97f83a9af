"""The warm-up: it leaves nothing to compile, says what it did, and refuses where nothing can be kept."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from typer.testing import CliRunner

from tclose.cli import app
from tclose.make.algorithm import Partition
from tclose.make.kernels import compiling
from tclose.make.problem import Problem
from tclose.make.registry import ALGORITHMS

OTHER_RELEASES = """
import sys
import numpy as np
import pyarrow as pa
from numba.core.dispatcher import Dispatcher
import tclose as tc
from tclose.release.warmup import warm_up

def kernels():
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("tclose.make.")]
    return {id(part): part for module in modules for part in vars(module).values() if isinstance(part, Dispatcher)}.values()

def loaded():
    return sum(sum(kernel.stats.cache_hits.values()) + sum(kernel.stats.cache_misses.values()) for kernel in kernels())

warm_up()
warm = loaded()
assert warm > 5, warm
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
        tc.anonymize(table, policy, algorithm=algorithm.name, options=accept)
        assert loaded() == warm, (asked, algorithm.name, loaded(), warm)
"""


def test_after_it_nothing_is_compiled_or_read_from_the_disk() -> None:
    """What another policy would still read from the disk, it would compile on another machine."""
    done = subprocess.run([sys.executable, "-c", OTHER_RELEASES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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
