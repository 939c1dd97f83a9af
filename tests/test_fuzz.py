"""A short slice of the fuzz campaign (bench/fuzz.py), and whether its brute force notices what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fuzzing.boxes import Boxes
from fuzzing.cases import Case
from fuzzing.covering import Covering
from fuzzing.judging import Judge, one_class_fits
from fuzzing.limits import Attribute
from fuzzing.reader import untrue
from fuzzing.reading import parse_csv
from fuzzing.releases import make
from tests.support.examples import examples
from tests.support.project import PROJECT

RELEASES, FILES, FORGERIES = examples(20), examples(40), examples(12)


# The brute force, by hand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Fraction(3, 8)),  # Li et al. 2007, section 5
        ({"distance": "numeric"}, Fraction(3, 8)),
        ({"distance": "equal"}, Fraction(2, 3)),
        ({"matrix": {str(a): {str(b): f"{abs(a - b)}/8" for b in range(3, 12)} for a in range(3, 12)}}, Fraction(3, 8)),
        ({"hierarchy": {"all": {"low": [3, 4, 5], "high": [6, 7, 8, 9, 10, 11]}}}, Fraction(2, 3)),
    ],
)
def test_distances_of_three_low_salaries(settings: dict[str, Any], expected: Fraction) -> None:
    attribute = Attribute("salary", settings, list(range(3, 12)))
    values = [attribute.value(salary) for salary in range(3, 12)]
    assert attribute.emd(values[:3], values) == expected


@pytest.mark.parametrize(
    ("distance", "expected"), [("ordered", Fraction(3 + 2 + 1, 4 * 3)), ("numeric", Fraction(12 + 11 + 4, 4 * 12))]
)
def test_a_missing_cell_stands_after_the_greatest_value(distance: str, expected: Fraction) -> None:
    attribute = Attribute("s", {"distance": distance, "missing": "value"}, [0])
    values = [attribute.value(cell) for cell in (0, 1, 8, None)]  # in the numeric distance at 12
    assert attribute.emd(values[-1:], values) == expected


@pytest.mark.parametrize(
    ("limits", "broken"),
    [
        ({"t": "1/6"}, []),
        ({"t": "1/7"}, ["t"]),
        ({"l": 3}, ["l"]),
        ({"l": 2, "l_kind": "entropy"}, ["l"]),
        ({"l": 2, "l_kind": "recursive", "c": 3}, []),
        ({"l": 2, "l_kind": "recursive", "c": 2}, ["l"]),
        ({"beta": "1/3"}, []),
        ({"beta": 0.3}, ["beta"]),
        ({"delta": 5}, ["delta"]),
        ({"delta": 5, "delta_kind": "lenient"}, []),
        ({"delta": 0.2, "delta_kind": "lenient"}, ["delta"]),
    ],
)
def test_limits_of_a_class_of_three(limits: dict[str, Any], broken: list[str]) -> None:
    attribute = Attribute("s", {"distance": "equal", **limits}, ["x"])
    assert attribute.broken(["x", "x", "y"], ["x", "x", "x", "y", "y", "z"], None, None, regions=False) == broken
    assert attribute.broken(["x", "x", "y"], ["x", "x", "x", "y", "y", "z"], None, 0.5, regions=False)[-1:] != []


@pytest.mark.parametrize(
    ("settings", "values", "cell", "fits"),
    [
        ({}, [25, 34], "[25, 34]", True),
        ({}, [25, 34], "[25, 35]", False),
        ({}, [25, 34], "[26, 34]", False),
        ({}, [25, None], "25 or missing", True),
        ({}, [25, None], "25", False),
        ({"snap": 5}, [26, 34], "[25, 34]", True),
        ({"top": 90}, [93, 99], "90 or more", True),
        ({"top": 90}, [93, 89], "90 or more", False),
        ({"recode": "set"}, ["a", "b, c"], '{a, "b, c"}', True),
        ({"recode": "set"}, ["a"], "{a, b}", False),
        ({"hierarchy": {"*": {"north": ["a", "b"], "south": ["c"]}}}, ["a", "b"], "north", True),
        ({"hierarchy": {"*": {"north": ["a", "b"], "south": ["c"]}}}, ["a", "c"], "north", False),
        ({"hierarchy": {"*": {"north": ["a", "b"], "south": ["c"]}}}, ["a", "b"], "*", False),
        ({"hierarchy": "prefixes"}, ["4761", "4769"], "476*", True),
        ({"hierarchy": "prefixes"}, ["4761", "4779"], "476*", False),
        ({"hierarchy": {"intervals": [5, 10]}}, [21, 23], "[20, 24]", True),
        ({"hierarchy": {"intervals": [5, 10]}}, [21, 23], "[20, 29]", False),
        ({"hierarchy": {"intervals": [5, 10]}}, [21, 25], "[20, 24]", False),
        ({"hierarchy": {"intervals": [5, 10]}}, [21, 31], "*", True),
        ({"hierarchy": {"intervals": [5, 10]}}, [21, 29], "*", False),
    ],
)
def test_what_covers_the_values_of_a_class(settings: dict[str, Any], values: list[Any], cell: str, fits: bool) -> None:
    assert (Covering("q", settings, values).fault({"q": cell}, values) == "") is fits


def test_regions_cut_no_class() -> None:
    column = Covering("q", {}, [1, 2])
    boxes = Boxes([column], [{"q": cell} for cell in ("[1, 2]", "[4, 9]", "[5, 6]", "12")])
    assert set(boxes.regions(0)) == {frozenset(region) for region in ([0], [0, 1, 2], [0, 1, 2, 3])}
    assert frozenset([2]) not in set(boxes.regions(2))  # class 1 meets its box


def test_regions_in_a_tree_are_nodes() -> None:
    column = Covering("q", {"hierarchy": {"*": {"north": ["a", "b"], "south": ["c", "d"]}}}, ["a"])
    boxes = Boxes([column], [{"q": cell} for cell in ("a", "b", "south")])
    assert set(boxes.regions(0)) == {frozenset(region) for region in ([0], [0, 1], [0, 1, 2])}


def test_an_empty_text_is_not_a_missing_cell() -> None:
    assert parse_csv('a,b\n"",\n"x""y, ",z\n') == [["a", "b"], ["", None], ['x"y, ', "z"]]


# The brute force, on releases that were tampered with -------------------------------------------------------------------------

CASE = Case(
    0,
    {"name": [f"name-{row}-xyz" for row in range(8)], "age": [20, 21, 22, 23, 40, 41, 42, 43], "s": ["x", "y"] * 4},
    {"k": 2, "identifiers": ["name"], "quasi": {"age": None}, "sensitive": {"s": {"t": 0.2}}},
)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    folder = tmp_path_factory.mktemp("fuzz") / "case"
    (made,) = make(CASE, folder)
    return made.release, made.partition


def test_a_release_has_no_faults(released: tuple[Path, list[int]]) -> None:
    path, partition = released
    assert Judge(CASE, path).faults(partition) == []
    assert untrue(path, Path(f"{path}.certificate.json")) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("x\n", "y\n", 1), "the rows of the release"),
        (lambda text: text.replace("[2", "[1", 2), "wider than its rows"),
        (lambda text: text.replace("[2", "[2", 1).rsplit("\n", 2)[0] + "\n", "rows that were not suppressed"),
        (lambda text: text.replace("\n", ",x\n").replace(",x", ",name", 1), "'name' is published"),
    ],
)
def test_a_tampered_release_has_faults(
    released: tuple[Path, list[int]], tmp_path: Path, change: Callable[[str], str], fault: str
) -> None:
    path, partition = released
    (tmp_path / path.name).write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    for ending in (".certificate.json", ".codebook.md"):
        (tmp_path / f"{path.name}{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())
    assert fault in str(Judge(CASE, tmp_path / path.name).faults(partition))


def test_limits_and_leaks_are_found(released: tuple[Path, list[int]]) -> None:
    path, partition = released
    stricter = Case(0, CASE.columns, {**CASE.policy, "k": 5, "sensitive": {"s": {"t": 0, "l": 3}}})
    assert {fault.split(":")[0].split(",")[0] for fault in Judge(stricter, path).faults(partition)} >= {"k", "l of s"}
    codebook = Path(f"{path}.codebook.md")
    before = codebook.read_bytes()
    codebook.write_bytes(before + b"name-3-xyz")
    assert Judge(CASE, path).faults(partition) == ["codebook tells a cell that must not be published"]
    codebook.write_bytes(before)


def test_a_reader_finds_what_is_untrue(released: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, _ = released
    said = json.loads(Path(f"{path}.certificate.json").read_text(encoding="utf-8"))
    said["attained"]["k"] += 1
    said["policy"]["k"] = 50
    (tmp_path / "said.json").write_text(json.dumps(said), encoding="utf-8")
    assert untrue(path, tmp_path / "said.json") == ["attained k", "k"]


def test_whether_one_class_fits() -> None:
    assert one_class_fits(CASE) is True
    assert one_class_fits(Case(0, CASE.columns, {**CASE.policy, "k": 9})) is False


# A slice of the campaign ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory, warm: None) -> dict[str, Any]:
    """What the campaign found, in a process of its own: it forks, and must have no connection open."""
    report = tmp_path_factory.mktemp("campaign") / "fuzz.json"
    counts = ["--releases", str(RELEASES), "--files", str(FILES), "--forgeries", str(FORGERIES)]
    script = PROJECT / "bench" / "fuzz.py"
    done = subprocess.run([sys.executable, script, "all", *counts, "--json", report], capture_output=True, text=True, check=False)
    assert report.exists(), done.stderr
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("part", ["releases", "files", "forgeries"])
def test_a_slice_of_the_campaign_finds_nothing(campaign: dict[str, Any], part: str) -> None:
    assert [failure for failure in campaign["failures"] if failure["part"] == part] == []
    assert campaign["found"][part]["cases"] == {"releases": RELEASES, "files": FILES, "forgeries": FORGERIES}[part]


def test_most_releases_of_the_slice_are_made(campaign: dict[str, Any]) -> None:
    assert campaign["endings"]["releases: released"] > RELEASES / 2
