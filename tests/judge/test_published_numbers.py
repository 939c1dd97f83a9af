"""Every published distance, as an exact fraction: as two distributions, as a table, and from the command line.

Sources: the t-closeness tutorial with its Incident, salary and merit points tables; Li et al., ICDE 2007 (the slides follow it);
Li et al., TKDE 2010, for (n,t)-closeness; Bagai, Weber and Thammanna Gowda 2023, "the fragmentation paper"; the thesis on it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.distances import Equal, Hierarchical, Ordered
from tclose.judge.models.closeness import Closeness
from tclose.judge.models.diversity import DistinctDiversity
from tclose.judge.models.region import judge_regions
from tclose.make.fragmentation.axes import axis_of
from tclose.values.histograms import Histograms

# The disease tree of Li et al. 2007; its height is 3.
DISEASES = tc.Hierarchy.from_mapping(
    {
        "*": {
            "respiratory": {
                "infection": ["flu", "pneumonia", "bronchitis"],
                "vascular lung": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive": {
                "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon": ["colitis", "colon cancer"],
            },
        }
    }
)


def fractions(text: str) -> list[Fraction]:
    return [Fraction(part) for part in text.split()]


# Distances between two distributions


def test_tutorial_section_2() -> None:
    assert tc.emd({14: 1, 88: 1}, {14: 1, 27: 1, 88: 1, 101: 1}, exact=True) == Fraction(1, 6)


@pytest.mark.parametrize(
    ("p", "q", "published"),
    [
        # The fragmentation paper: P, Q and R
        ([0.2, 0.1, 0.7], [0.3, 0, 0.7], "1/20"),
        ([0.3, 0, 0.7], [0.1, 0, 0.9], "1/5"),
        ([0.2, 0.1, 0.7], [0.1, 0, 0.9], "3/20"),
        # The thesis: P, Q and R
        ([0.3, 0.1, 0.6], [0.4, 0, 0.6], "1/20"),
        ([0.3, 0.1, 0.6], [0.1, 0.7, 0.2], "3/10"),
        ([0.4, 0, 0.6], [0.1, 0.7, 0.2], "7/20"),
    ],
)
def test_three_values_with_decimal_shares(p: list[float], q: list[float], published: str) -> None:
    # The shares are decimals, and 0.1 means 1/10.
    assert tc.emd(p, q, exact=True) == Fraction(published)
    assert tc.emd(p, q) == pytest.approx(float(Fraction(published)))


# The fragmentation paper, figure 1: counts of two sensitive attributes in the table and in one class.
M = np.array([[15, 75, 0], [15, 0, 15], [30, 30, 45], [15, 30, 30]])
E = np.array([[3, 3, 0], [1, 0, 4], [0, 4, 0], [1, 1, 3]])


@pytest.mark.parametrize(("axis", "distance"), [(1, "1/20"), (0, "1/40")], ids=["rows", "columns"])
def test_figure_1_of_the_fragmentation_paper(axis: int, distance: str) -> None:
    assert tc.emd(E.sum(axis).tolist(), M.sum(axis).tolist(), exact=True) == Fraction(distance)


@pytest.mark.parametrize(("axis", "published"), [(1, "31/60"), (0, "21/40")], ids=["rows", "columns"])
def test_delta_of_the_whole_matrix(axis: int, published: str) -> None:
    rows = M.sum(axis)
    along = axis_of(Ordered(len(rows)), int(rows.sum()))
    assert Fraction(along.delta(rows), along.scale * int(rows.sum())) == Fraction(published)


@pytest.mark.parametrize(
    ("u", "v", "published"), [("flu", "bronchitis", "1/3"), ("gastric ulcer", "colitis", "2/3"), ("gastric ulcer", "flu", "1")]
)
def test_distances_in_the_disease_tree(u: str, v: str, published: str) -> None:
    distance = Hierarchical(DISEASES, DISEASES.leaves)
    places = DISEASES.leaves.index(u), DISEASES.leaves.index(v)
    assert distance.ground(*places) == Fraction(published)
    assert tc.emd({u: 1}, {v: 1}, DISEASES, exact=True) == Fraction(published)


# Tables


Columns = dict[str, list[Any]]

INCIDENTS: Columns = {
    "Zone": ["2C"] * 3 + ["4F"] * 4 + ["9A"] * 2 + ["3B"] * 5,
    "Incident": [
        *["power outage"] * 3,
        *["theft", "fire", "fatal accident", "fire"],
        *["sidewalk repair", "power outage"],
        *["pest control", "power outage", "sidewalk repair", "tree replanting", "sidewalk repair"],
    ],
}
SALARIES: Columns = {
    "Zip Code": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    "Age": ["2*"] * 3 + ["≥ 40"] * 3 + ["3*"] * 3,
    "Salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
    "Disease": [
        *["gastric ulcer", "gastritis", "stomach cancer"],
        *["gastritis", "flu", "bronchitis"],
        *["bronchitis", "pneumonia", "stomach cancer"],
    ],
}
MERITS: Columns = {
    "Project Name": ["E**"] * 3 + ["U**"] + ["G**"] * 4 + ["R**"] * 2,
    "Merit Points": [1, 4, 2, 3, 3, 4, 3, 1, 4, 3],
}
THESIS: Columns = {  # thesis, table 6
    "ZIP Code": ["672**"] * 3 + ["6721*"] * 3 + ["672**"] * 3,
    "Age": ["2*"] * 3 + ["40-59"] * 3 + ["3*"] * 3,
    "Salary": [23000, 21000, 27000, 58000, 49000, 56000, 81000, 83000, 91000],
}
REGIONS: Columns = {  # the example of Li et al. 2010: cancer and flu in three classes
    "Zip Code": ["476**"] * 600 + ["479**"] * 2000 + ["476**"] * 400,
    "Age": ["2*"] * 600 + [">=40"] * 2000 + ["3*"] * 400,
    "Disease": ["cancer"] * 300 + ["flu"] * 300 + ["cancer"] * 200 + ["flu"] * 1800 + ["cancer"] * 200 + ["flu"] * 200,
}

ZIP_AND_AGE = ["Zip Code", "Age"]
# columns, quasi-identifiers, sensitive attribute and its settings, the classes' distances in the order of the table
Example = tuple[Columns, list[str], str, dict[str, Any], str]
TABLES: dict[str, Example] = {
    "incident": (INCIDENTS, ["Zone"], "Incident", {}, "9/14 5/7 3/7 31/70"),
    "salary": (SALARIES, ZIP_AND_AGE, "Salary", {}, "3/8 1/6 17/72"),
    "disease, equal": (SALARIES, ZIP_AND_AGE, "Disease", {}, "4/9 4/9 4/9"),
    # The slides' 0.5 and 0.278 are against a uniform Q; with the table's own Q it is these.
    "disease, hierarchical": (SALARIES, ZIP_AND_AGE, "Disease", {"hierarchy": DISEASES}, "4/9 8/27 8/27"),
    # Ordered by value, 1 < 2 < 3 < 4.
    "merit points, ordered": (MERITS, ["Project Name"], "Merit Points", {}, "8/45 4/15 1/20 7/30"),
    # The tutorial's own numbers come out only in the order of frequency, which must be asked for by name.
    "merit points, by frequency": (MERITS, ["Project Name"], "Merit Points", {"order": [3, 4, 1, 2]}, "1/3 1/3 1/12 1/6"),
    "merit points, equal": (MERITS, ["Project Name"], "Merit Points", {"distance": "equal"}, "2/5 3/5 3/20 3/10"),
    "thesis table 6": (THESIS, ["ZIP Code", "Age"], "Salary", {}, "3/8 7/36 3/8"),
    "regions": (REGIONS, ZIP_AND_AGE, "Disease", {}, "4/15 2/15 4/15"),
}


@pytest.fixture(params=TABLES.values(), ids=list(TABLES))
def example(request: pytest.FixtureRequest) -> Example:
    chosen: Example = request.param
    return chosen


def policy(quasi: Any, sensitive: Any, **limits: Any) -> tc.Policy:
    return tc.Policy(quasi=quasi, sensitive=sensitive, **limits)


def classes_of(columns: Columns, quasi: Sequence[str], sensitive: str) -> dict[tuple[Any, ...], Counter[Any]]:
    """The sensitive values of each class, classes in the order of the table."""
    classes: dict[tuple[Any, ...], Counter[Any]] = {}
    for key, value in zip(zip(*(columns[name] for name in quasi), strict=True), columns[sensitive], strict=True):
        classes.setdefault(key, Counter())[value] += 1
    return classes


def test_published_tables_as_distributions(example: Example) -> None:
    columns, quasi, sensitive, how, published = example
    kind = how.get("hierarchy", how.get("distance", "ordered" if isinstance(columns[sensitive][0], int) else "equal"))
    classes = classes_of(columns, quasi, sensitive).values()
    comp = [tc.emd(p, Counter(columns[sensitive]), kind, values=how.get("order"), exact=True) for p in classes]
    assert comp == fractions(published)


def test_published_tables_audited(example: Example) -> None:
    columns, quasi, sensitive, how, published = example
    audit = tc.audit(pa.table(columns), policy(quasi=quasi, sensitive={sensitive: how}))
    classes = classes_of(columns, quasi, sensitive)
    distances = dict(zip(classes, fractions(published), strict=True))
    listed = audit.class_table()
    keys = list(zip(*(listed.column(name).to_pylist() for name in quasi), strict=True))
    assert listed.column(f"{sensitive}.t").to_pylist() == pytest.approx([float(distances[key]) for key in keys], rel=1e-15)
    found = audit.sensitive[sensitive]
    assert found.t_exact == max(distances.values())
    assert distances[keys[found.worst_class]] == found.t_exact
    assert found.l_distinct == min(len(values) for values in classes.values())
    assert audit.k == min(values.total() for values in classes.values())
    assert audit.satisfied


def run_audit(folder: Path, columns: Columns, asked: tc.Policy) -> tuple[int, dict[str, Any]]:
    """``tclose audit table.csv -p policy.yaml --json``: its exit code and what it prints."""
    from tclose.cli import app

    pyarrow.csv.write_csv(pa.table(columns), folder / "table.csv")
    asked.save(folder / "policy.yaml", force=True)
    result = CliRunner().invoke(app, ["audit", str(folder / "table.csv"), "-p", str(folder / "policy.yaml"), "--json"])
    assert result.exit_code in (0, 1), result.output
    return result.exit_code, json.loads(result.stdout)


def test_published_tables_from_the_command_line(example: Example, tmp_path: Path) -> None:
    columns, quasi, sensitive, how, published = example
    code, comp = run_audit(tmp_path, columns, policy(quasi=quasi, sensitive={sensitive: how}))
    worst = max(fractions(published))
    classes = classes_of(columns, quasi, sensitive)
    assert code == 0  # nothing is limited
    assert (comp["rows"], comp["classes"]) == (len(columns[sensitive]), len(classes))
    assert comp["k"] == min(values.total() for values in classes.values())
    assert comp["sensitive"][sensitive]["t_exact"] == str(worst)
    assert comp["sensitive"][sensitive]["t"] == pytest.approx(float(worst), rel=1e-15)
    assert Fraction(str(comp["sensitive"][sensitive]["t"])) >= worst  # a risk is never shown smaller than it is
    assert comp["sensitive"][sensitive]["l_distinct"] == min(len(values) for values in classes.values())


def test_incidents_are_2_anonymous_1_diverse_and_5_7_close(tmp_path: Path) -> None:
    # Tutorial, sections 1 and 2.2, with t = 5/7 as its limit: attained, and so satisfied.
    asked = policy(quasi=["Zone"], sensitive={"Incident": "5/7"}, k=2)
    audit = tc.audit(pa.table(INCIDENTS), asked)
    assert (audit.k, audit.sensitive["Incident"].l_distinct, audit.sensitive["Incident"].t_exact) == (2, 1, Fraction(5, 7))
    assert audit.satisfied
    code, comp = run_audit(tmp_path, INCIDENTS, asked)
    assert (code, comp["satisfied"], comp["homogeneous"]) == (0, True, {"classes": 1, "rows": 3})


def test_the_decimal_published_for_incidents_is_a_limit_just_too_high(tmp_path: Path) -> None:
    # .7143 is rounded up and holds; .7142 does not, in zone 4F, the third class by name.
    assert tc.audit(pa.table(INCIDENTS), policy(quasi=["Zone"], sensitive={"Incident": 0.7143})).satisfied
    code, comp = run_audit(tmp_path, INCIDENTS, policy(quasi=["Zone"], sensitive={"Incident": 0.7142}))
    assert (code, comp["satisfied"]) == (1, False)
    assert [(found["model"], found["class"], found["size"]) for found in comp["violations"]] == [("t", 2, 4)]


# (n,t)-closeness: the example of Li et al. 2010


def test_classes_may_be_close_to_a_region_and_not_to_the_table() -> None:
    # The two classes of 476** are 1,000 rows, half of them cancer, like each class; the third class has 2,000 rows itself.
    classes = Histograms.of([[300, 300], [200, 1800], [200, 200]])
    t = Fraction(1, 10)
    closeness = Closeness(Equal(2), limit=t).judge(classes)
    assert closeness.values.tolist() == pytest.approx([4 / 15, 2 / 15, 4 / 15])
    assert closeness.worst == Fraction(4, 15)
    assert closeness.broken.all()

    def by_zip(wanted: object) -> list[np.ndarray[Any, Any]]:
        return [np.array([0, 2]), np.array([1])]

    assert not judge_regions(classes, Equal(2), t, 1000, by_zip).broken.any()
    assert judge_regions(classes, Equal(2), t, 1001, by_zip).broken.tolist() == [True, False, True]
    # With n = the table's rows it is t-closeness again.
    assert judge_regions(classes, Equal(2), t, 3000, by_zip).worst == Fraction(4, 15)


@pytest.mark.parametrize(("n", "code"), [(None, 1), (1000, 0), (1001, 1), (3000, 1)])
def test_regions_from_the_command_line(tmp_path: Path, n: int | None, code: int) -> None:
    # With ages lifted to the root of their tree, the classes of one zip code form a region.
    ages = {"*": ["2*", "3*", ">=40"]}
    asked = policy(quasi={"Zip Code": None, "Age": {"hierarchy": ages}}, sensitive={"Disease": 0.1}, n=n)
    assert tc.audit(pa.table(REGIONS), asked).satisfied is (code == 0)
    exit_code, comp = run_audit(tmp_path, REGIONS, asked)
    assert (exit_code, comp["satisfied"]) == (code, code == 0)
    assert comp["sensitive"]["Disease"]["t_exact"] == "4/15"  # against the table, whatever the region


# Traps in the sources


def test_trap_1_the_order_of_frequency_is_not_the_order_of_values() -> None:
    # The tutorial sorts merit points by frequency (3, 4, 1, 2) and finds t = 1/3; by value it is 4/15.
    values = {order: [MERITS["Merit Points"].count(v) for v in order] for order in ((1, 2, 3, 4), (3, 4, 1, 2))}
    assert values == {(1, 2, 3, 4): [2, 1, 4, 3], (3, 4, 1, 2): [4, 3, 2, 1]}
    table = Counter(MERITS["Merit Points"])
    assert tc.emd({3: 1}, table, exact=True) == Fraction(4, 15)
    assert tc.emd({3: 1}, table, values=[3, 4, 1, 2], exact=True) == Fraction(1, 3)


def test_trap_2_the_published_disease_distances_hold_for_a_uniform_table_only() -> None:
    # The slides give .5 and .278 for Table 4 of Li et al. 2007, whose Q is not uniform over its six diseases.
    low, third = SALARIES["Disease"][:3], SALARIES["Disease"][6:]
    uniform, table = dict.fromkeys(SALARIES["Disease"], 1), Counter(SALARIES["Disease"])
    assert [tc.emd(Counter(p), uniform, DISEASES, exact=True) for p in (low, third)] == fractions("1/2 5/18")
    assert [tc.emd(Counter(p), table, DISEASES, exact=True) for p in (low, third)] == fractions("4/9 8/27")


def test_trap_2_heights_are_those_of_the_declared_tree() -> None:
    # Pruned to the six diseases that occur, the tree has height 2, and 8/27 turns into 1/3.
    pruned = tc.Hierarchy.from_mapping(
        {"*": {"respiratory": ["flu", "pneumonia", "bronchitis"], "digestive": ["gastric ulcer", "stomach cancer", "gastritis"]}}
    )
    p, table = Counter(SALARIES["Disease"][3:6]), Counter(SALARIES["Disease"])
    assert tc.emd(p, table, DISEASES, exact=True) == Fraction(8, 27)
    assert tc.emd(p, table, pruned, exact=True) == Fraction(1, 3)


@pytest.mark.parametrize("extend", [lambda side: [*side, 0], lambda side: [0, *side]], ids=["right", "left"])
def test_trap_3_the_ordered_distance_changes_under_zero_extension(extend: Callable[[list[int]], list[int]]) -> None:
    # The proof of the fragmentation paper's Proposition 7 takes it for invariant. The work is the same, its unit m-1 is not.
    p, q = [1, 0], [0, 1]
    assert tc.emd(p, q, exact=True) == 1
    assert tc.emd(extend(p), extend(q), exact=True) == Fraction(1, 2)
    # The equal distance has no such unit.
    assert tc.emd(extend(p), extend(q), "equal", exact=True) == tc.emd(p, q, "equal", exact=True) == 1


def test_trap_6_nine_positives_of_ten_are_the_skewed_class() -> None:
    # A virus that 1% have. Each class is 2-diverse. The thesis calls its "second" class, with 1 positive of 10, the worse one;
    # it is the first, with 9. The slides' classes have 2 and 3 positives of 4.
    table = [9900, 100]
    classes = Histograms.of([[1, 9], [9, 1], [2, 2], [1, 3]], table=table)
    assert DistinctDiversity(limit=Fraction(2)).judge(classes).broken.tolist() == [False] * 4
    comp = Closeness(Equal(2)).judge(classes)
    assert comp.values.tolist() == pytest.approx([0.89, 0.09, 0.49, 0.74])
    assert (comp.worst, comp.worst_class) == (Fraction(89, 100), 0)
