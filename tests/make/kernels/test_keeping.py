"""Compiled kernels on the disk: found again while no source has changed, compiled anew when any has, wherever they are kept."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import pytest

import tclose.make
from tclose.make.kernels import compiling

ROOM = Path(tclose.make.__file__).parent

MEASURE = """
import json, sys
import numpy as np
from tclose.make.kernels import compiling
from tclose.make.kernels.loss import fill_losses, loss_table
from tclose.make.scales import Widths

one = Widths(np.array([0.0, 0.0]), np.array([0.0, 0.5]), np.array([0.0, 0.5]), False, np.empty((0, 2), np.int32), np.empty(0))
lost = np.empty(2)
lows = np.zeros(4, np.int32)[:: int(sys.argv[1])][:2]
fill_losses(loss_table([one, one], [1.0, 1.0]), np.arange(2), lows, np.ones(2, np.int32), lost)
print(json.dumps({"lost": lost[0], "compiled": sum(fill_losses.stats.cache_misses.values()), "folder": compiling.FOLDER}))
"""
"""Calls one kernel, whose callee is in another file, and says what it found and whether it was compiled."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with nothing compiled; the folder it is in."""
    shutil.copytree(ROOM.parent, tmp_path / "site" / "tclose", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "site"


def start(package: Path, layout: int = 1, environment: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    """Measure with a copy of the package, with rows side by side (1) or apart (2): another type, another kernel."""
    own = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    settings = {**own, "PYTHONPATH": str(package), **environment}
    return subprocess.Popen([sys.executable, "-c", MEASURE, str(layout)], stdout=subprocess.PIPE, text=True, env=settings)


def finish(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(out)
    return found


def measure(package: Path, environment: Mapping[str, str] = {}) -> dict[str, Any]:
    return finish(start(package, environment=environment))


def double(package: Path) -> None:
    """Change a callee: all is lost twice."""
    widths = package / "tclose" / "make" / "kernels" / "loss.py"
    text = widths.read_text()
    assert text.count("= losses.ranges[") == 1
    widths.write_text(text.replace("= losses.ranges[", "= 2 * losses.ranges["))


def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed(package: Path) -> None:
    first, second = measure(package), measure(package)
    double(package)
    third = measure(package)
    assert [(run["lost"], run["compiled"]) for run in (first, second, third)] == [(0.5, 1), (0.5, 0), (1.0, 1)]
    assert first["folder"] == second["folder"] != third["folder"]
    assert package / "tclose" in Path(third["folder"]).parents
    assert [path.name for path in Path(third["folder"]).parent.glob("kernels-*")] == [
        Path(third["folder"]).name
    ]  # no other is left


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "a read-only package"])
def test_kernels_are_kept_elsewhere(package: Path, tmp_path: Path, place: str) -> None:
    environment, above = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, tmp_path / "cache"
    if place == "a read-only package":
        (package / "tclose" / "make" / "kernels" / "__pycache__").write_text("No folder can be made here, not even by root.")
        environment, above = {"XDG_CACHE_HOME": str(tmp_path / "user")}, tmp_path
    first, second = measure(package, environment), measure(package, environment)
    assert [(run["lost"], run["compiled"]) for run in (first, second)] == [(0.5, 1), (0.5, 0)]
    assert first["folder"] == second["folder"]
    assert above in Path(first["folder"]).parents
    assert package not in Path(first["folder"]).parents


def test_two_processes_compile_at_once(package: Path) -> None:
    found = [finish(process) for process in [start(package, layout) for layout in (1, 2)]]
    assert [(run["lost"], run["compiled"]) for run in found] == [(0.5, 1), (0.5, 1)]
    names = sorted(path.name.split("-")[0] for path in Path(found[0]["folder"]).iterdir())
    assert names == ["kernels.loss.fill_losses", "kernels.loss.fill_losses", "kernels.loss.loss"]


def successor(number: int) -> int:
    return number + 1


def test_what_is_kept_is_found_by_its_types_and_a_damaged_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def compiled(*numbers: float) -> int:
        """How many kernels are compiled for these numbers by a process that has loaded none."""
        kernel: Any = compiling.kernel(successor)
        assert [kernel(number) for number in numbers] == [number + 1 for number in numbers]
        assert Path(kernel.stats.cache_path).is_relative_to(tmp_path)
        return sum(kernel.stats.cache_misses.values())

    assert [compiled(1), compiled(2, 2.5), compiled(3, 3.5)] == [1, 1, 0]
    for path in tmp_path.rglob("*.nbc"):
        path.write_bytes(path.read_bytes()[:-1])
    assert [compiled(1, 1.5), compiled(1, 1.5)] == [2, 0]


def test_kernels_take_nothing_from_files_outside_their_room() -> None:
    """The digest, by which kernels are known, is that of the files in their room."""
    for path in sorted(ROOM.rglob("*.py")):
        tree = ast.parse(path.read_text())
        outside = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("tclose")
            and not (node.module or "").startswith("tclose.make")
            for alias in node.names
        }
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            how = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
            if how & {"kernel", "lean", "once", "apart"}:
                used = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
                assert not used & outside, (path, node.name)
