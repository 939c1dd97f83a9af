"""The screens of the command line, for a reader who never read a paper: the verdict first, then what was asked, lost and told."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

import tclose as tc
from tclose.cli import app
from tclose.cli.printing import Screen
from tclose.cli.released import Asked, show_release, show_spark_release
from tclose.cli.screen import _disclosure_in_words, how_read, stages
from tclose.cli.unique import show_unique
from tclose.jobs import Job, announce, report
from tclose.judge.attribute import Profile
from tclose.judge.parts import Figures
from tclose.report.attained import SATISFIED
from tclose.report.facts import Facts
from tclose.report.labels import percent
from tclose.report.papers import papers_beside
from tclose.tables.readings import Reading
from tclose.values.histograms import Histograms

pytestmark = pytest.mark.usefixtures("warm")

TABLE = "age,town,pay,ill\n" + "".join(
    f"{20 + row},{'AB'[row // 4]},{10 * row},{'flu' if row < 3 else 'cold' if row < 6 else 'gout'}\n" for row in range(8)
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "policy.yaml").write_text("k: 2\nquasi: [town]\nsensitive: {pay: {t: 0.25}, ill: {t: 0.9, l: 2}}\ndrop: [age]\n")
    return tmp_path / "table.csv", tmp_path / "policy.yaml"


def test_the_screen_of_an_audit(files: tuple[Path, Path]) -> None:
    lines = run("audit", files[0], "-p", files[1]).stdout.splitlines()
    assert lines[:2] == [
        "The policy is not satisfied. 2 of 2 classes break a limit, with 8 of 8 rows.",
        "table.csv: 8 rows in 2 classes. Rows of one class agree in town.",
    ]
    assert lines[2:6] == [
        "How the columns were read:",
        "  pay: whole numbers, taken as ordered; `distance: equal` if they are codes",
        "  the others: text",
        "",
    ]
    # Ordered: 1/8 + 2/8 + 3/8 + 4/8 + 3/8 + 2/8 + 1/8, over 7. Equal: 3/4 - 3/8.
    assert [re.split("  +", line.strip()) for line in lines[6:13]] == [
        ["attained", "asked", "broken by"],
        ["k, rows in the smallest class", "4", "2 or more", "0 classes"],
        ["t of pay: distance from the table", "0.2858", "0.25 or less", "2 classes"],
        ["l of pay: values in a class", "4"],
        ["t of ill: distance from the table", "0.3750", "0.9 or less", "0 classes"],
        ["l of ill: values in a class", "2", "2 or more", "0 classes"],
        ["rows in classes with one sensitive value", "0 (0.0%)"],
    ]
    assert lines[15:18] == [
        "The class farthest from the table in pay and ill: town A; 4 rows. It breaks t of pay.",
        "  25% have pay 0 (in the table 12.5%); 25% have pay 10 (in the table 12.5%); 25% have pay 20 (in the table 12.5%); "
        "half have pay 10 or less (in the table 30 or less).",
        "  75% have ill flu (in the table 37.5%).",
    ]


def test_a_half_that_is_the_same_in_the_table_is_not_told(tmp_path: Path) -> None:
    """Most have 0, in the class and in the table: the share of 0 says it all."""
    rows = [*(("A", flag) for flag in (0, 0, 0, 0, 0, 1)), *(("B", flag) for flag in (0, 0, 0, 0, 1, 1))]
    (tmp_path / "flags.csv").write_text("town,flag\n" + "".join(f"{town},{flag}\n" for town, flag in rows))
    shown = run("audit", tmp_path / "flags.csv", "--quasi", "town", "--sensitive", "flag").stdout
    assert "  83.3% have flag 0 (in the table 75%).\n" in shown
    assert "half have" not in shown


def test_where_the_medians_are_the_same_the_value_that_differs_most_is_told(tmp_path: Path) -> None:
    """Six in ten have 0 in the class, eight in ten in the table, and the other values are rare in both."""
    rows = [*(("A", 0) for _ in range(24)), *(("A", number) for number in range(1, 17)), *(("B", 0) for _ in range(40))]
    (tmp_path / "visits.csv").write_text("town,visits\n" + "".join(f"{town},{visits}\n" for town, visits in rows))
    policy = tmp_path / "policy.yaml"
    policy.write_text("quasi: [town]\nsensitive: {visits: {distance: ordered}}\n")
    profile = Profile.of(Histograms.of([[24, *[1] * 16], [40, *[0] * 16]]), 0, list(range(17)), in_order=True)
    assert (profile.middle, profile.most_different()) == (("0", "0"), ("0", 24, 64))
    assert _disclosure_in_words("visits", profile) == "60% have visits 0 (in the table 80%)."
    shown = run("audit", tmp_path / "visits.csv", "-p", policy).stdout
    assert "half have" not in shown.lower()


def test_beta_lift_and_the_joint_test_are_shown_only_on_demand(files: tuple[Path, Path]) -> None:
    short, long = (run("audit", files[0], "-p", files[1], *more).stdout for more in ((), ("--all",)))
    for word in ("beta", "delta", "lift", "joint", "entropy", "recursive"):
        assert word not in short
        assert word in long
    assert "lift: how many times likelier a value is in some class than in the table." in long


def test_the_profile_of_a_class_by_hand() -> None:
    # The table has 4, 4 and 2 rows of a, b and c; the class 3 of a and 1 of c.
    histograms = Histograms.of([[1, 4, 1], [3, 0, 1]])
    profile = Profile.of(histograms, 1, ["a", "b", "c"], in_order=True)
    assert (profile.values, profile.counts, profile.table) == (["a", "c"], [3, 1], [4, 2])
    assert (profile.rows, profile.of_table, profile.middle) == (4, 10, ("a", "b"))
    assert profile.excess() == [("a", 3, 4), ("c", 1, 2)]  # 3/4 - 4/10 = 0.35; 1/4 - 2/10 = 0.05
    assert Profile.of(histograms, 0, [None, "b", "c"], in_order=False).values == ["missing", "b", "c"]


def test_the_profile_is_of_the_worst_class_and_not_of_the_first() -> None:
    rows = {"town": ["A"] * 4 + ["B"] * 4 + ["C"] * 2, "ill": ["flu", "cold"] * 4 + ["gout", "gout"]}
    found = tc.audit(pa.table(rows), tc.Policy(["town"], ["ill"])).sensitive["ill"]
    assert found.worst_class == 2
    assert found.profile == Profile(["gout"], [2], [2], 2, 10)


def test_what_a_release_loses_in_words() -> None:
    people = pa.table(
        {
            "age": np.arange(20, 36),
            "day": pa.array(np.arange(16) * 10, pa.int32()).cast(pa.date32()),
            "sex": ["F", "M"] * 8,
            "zip": [f"47{row // 2}" for row in range(16)],
            "ill": ["flu", "flu", "cold", "cold"] * 4,
        }
    )
    policy = tc.Policy(["age", "day", "sex", tc.Quasi("zip", hierarchy="prefixes")], {"ill": 1}, k=16)
    release = tc.anonymize(people, policy)
    assert release._details.in_words == {
        "age": "in ranges 15 wide on average",
        "day": "in ranges 150 days wide on average",
        "sex": "in sets of 2.0 of the 2 values on average",
        "zip": "as labels that stand for 8.0 of the 8 values on average",
    }
    alone = tc.anonymize(people, tc.Policy(["sex"], {"ill": 1}, k=2, other="drop"))
    assert alone._details.in_words == {"sex": "as it is"}


def test_the_screen_of_a_release_says_what_makes_rows_unique(files: tuple[Path, Path]) -> None:
    out = files[0].with_name("release.csv")
    shown = run("anonymize", files[0], "-p", files[1], "-o", out).stdout
    assert "rows in classes with one sensitive value" in shown
    assert "of the detail of the quasi-identifiers is lost (GCP " in shown
    assert (
        "8 of 8 rows are unique when all published columns are taken together (raw table: 8), none by the quasi-identifiers alone: "
        "whoever also knows sensitive values of a person may find the row. If others may know such values, publish them coarser, or "
        "fewer of them.\n"
    ) in shown
    assert "more than in the raw table" not in shown
    release = tc.anonymize(files[0], tc.Policy.load(files[1]))
    rows = list(zip(*(release.table[name].to_pylist() for name in ("town", "ill")), strict=True))
    unique = sum(rows.count(row) == 1 for row in rows)
    assert release._details.unique_without("pay") == unique
    assert unique <= 4
    assert f"Most of that comes from pay, with 8 values: without it {unique} would be unique" in shown


def test_of_few_unique_rows_nothing_is_advised(tmp_path: Path) -> None:
    """Half of the people share their pay with somebody of their town: it is not more than half that are unique."""
    rows = "".join(f"{row % 2},{row if row < 10 else 10 + row % 2}\n" for row in range(20))
    (tmp_path / "table.csv").write_text(f"town,pay\n{rows}")
    (tmp_path / "policy.yaml").write_text("k: 2\nquasi: [town]\nsensitive: {pay: 0.9}\n")
    shown = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv").stdout
    assert "10 of 20 rows are unique when all published columns are taken together" in shown
    assert "may find the row.\n" in shown
    assert "If others may know" not in shown


def test_why_a_release_has_more_unique_rows_than_the_raw_table(tmp_path: Path) -> None:
    """Rows 0 to 3 are equal in pairs; where equal rows are in classes with different ranges, each is unique."""
    release = tc.anonymize(pa.table({"age": [20, 20, 30, 30], "pay": [1, 1, 2, 2]}), tc.Policy(["age"], {"pay": 0.9}, k=2))
    more = replace(release, certificate={**release.certificate, "unique_rows": 2})
    for unique_before, told in ((0, True), (2, False), (None, False)):
        screen = Screen(stderr=False)
        with screen.capture() as caught:
            show_unique(screen, replace(more, _details=replace(more._details, unique_before=unique_before)))
        assert ("  They are more than in the raw table: rows that were equal there may be" in caught.get()) == told


def test_the_largest_share_of_one_value_is_that_of_the_report(tmp_path: Path) -> None:
    """The class with the largest share need not be the one that is farthest from the table."""
    rng = np.random.default_rng(5)
    rows = [(int(age), int(debt), int(group)) for age, debt, group in rng.integers([20, 0, 0], [60, 9, 4], (300, 3))]
    (tmp_path / "table.csv").write_text(
        "age,debt,group\n" + "".join(f"{age},{debt * debt},{group}\n" for age, debt, group in rows)
    )
    (tmp_path / "policy.yaml").write_text("k: 3\nquasi: [age]\nsensitive: {debt: 0.2, group: {t: 0.5, distance: equal}}\n")
    files = ["-p", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "release.csv")]
    shown = run("anonymize", tmp_path / "table.csv", *files).stdout
    facts = Facts(papers_beside(tmp_path / "release.csv"), 1)
    shares = [f"{name} {inside} ({outside})" for name in ("debt", "group") for inside, outside in [facts.shares(name)]]
    assert f"Largest share of one value in a class (in the table): {', '.join(shares)}.\n" in shown
    assert facts.beyond_t == "t does not bound these shares of debt: near values count as nearly the same there."
    assert "t does not bound that share of debt: near values count as nearly the same there.\n" in shown
    assert "The class farthest from the table in" not in shown


def test_the_screen_of_a_release_on_spark_is_that_of_one_machine(files: tuple[Path, Path], tmp_path: Path) -> None:
    """The same release, once with its classes and once with their figures alone, as they come home from a cluster."""
    release, out = tc.anonymize(files[0], tc.Policy.load(files[1])), tmp_path / "release.csv"
    paths, asked = release.write(out), Asked(files[1], None)
    figures, details = Figures.of(release.audit), release._details
    stated = {"certificate": release.certificate, "record": release.record, "readings": release.readings}
    far: Any = SimpleNamespace(audit=figures, loss=release.loss, in_words=details.in_words, suppressed=0, **stated)
    screens = []
    for show in (partial(show_release, release, paths, asked), partial(show_spark_release, far, paths, asked)):
        shown = io.StringIO()
        with redirect_stdout(shown):
            show()
        screens.append(shown.getvalue().splitlines())
    here, there = screens
    assert [line for line in there if line not in here] == [
        line for line in there if line.startswith("Largest share of one value in")
    ]
    gone = [line for line in here if line not in there]
    assert [line.split()[0] for line in gone] == ["l", "Largest", "8", "Most"]  # l of pay is not asked


def test_the_next_commands_name_the_files_and_run(tmp_path: Path) -> None:
    folder = tmp_path / "our files"
    folder.mkdir()
    (folder / "table.csv").write_text(TABLE)
    policy, out = folder / "policy.yaml", folder / "release.csv"
    policy.write_text("k: 2\nquasi: [town]\nsensitive: {pay: {t: 0.25}, ill: {t: 0.9, l: 2}}\ndrop: [age]\n")
    shown = run("anonymize", folder / "table.csv", "-p", policy, "-o", out).stdout
    lines = shown.splitlines()[-3:]
    names = ["Next", "For those who decide", "The classes farthest from the table"]
    assert [line.partition(": ")[0] for line in lines] == names
    check, decide, worst = ([*shlex.split(line.partition(": ")[2])] for line in lines)
    assert check == ["tclose", "verify", str(out)]
    assert decide == ["tclose", "report", str(out), "--internal", "--data", str(folder / "table.csv")]
    assert worst == ["tclose", "audit", str(out), "-p", str(policy)]
    assert [run(*command[1:]).exit_code for command in (check, decide, worst)] == [0, 0, 0]
    assert "The class farthest from the table in pay" in run(*worst[1:]).stdout
    piped = CliRunner().invoke(app, ["anonymize", "-", "-p", str(policy), "-o", str(out), "--force"], input=TABLE)
    assert piped.stdout.splitlines()[-2].endswith("release.csv' --internal")


@pytest.mark.parametrize(("unit", "told"), [("", True), ("unit: row\n", False), ("unit: person\n", False)])
def test_rows_that_look_like_several_rows_of_a_person_are_told(tmp_path: Path, unit: str, told: bool) -> None:
    """Of 40 persons, three years each: 80 of 120 rows differ from the row before in age alone."""
    rng = np.random.default_rng(3)
    people = rng.integers(0, 9, (40, 4)).tolist()
    rows = [f"p{person},{year},{','.join(map(str, cells))}" for person, cells in enumerate(people) for year in range(3)]
    (tmp_path / "table.csv").write_text("\n".join(["person,year,a,b,c,ill", *rows]) + "\n")
    policy = tmp_path / "policy.yaml"
    person = "" if "person" in unit else "drop: [person]\n"
    policy.write_text(f"k: 2\n{unit}{person}quasi: [year, a, b, c]\nsensitive: {{ill: 0.9}}\n")
    shown = run("anonymize", tmp_path / "table.csv", "-p", policy, "-o", tmp_path / "release.csv").stdout
    assert shown.startswith("Warning: 66.7% of the rows agree with the row before in all columns but one at most, as") == told
    assert ("Name the column that names the persons in unit, or write unit: row if each row is a person." in shown) == told
    if told:
        mixed = [rows[place] for place in rng.permutation(120)]
        (tmp_path / "table.csv").write_text("\n".join(["person,year,a,b,c,ill", *mixed]) + "\n")
        shown = run("anonymize", tmp_path / "table.csv", "-p", policy, "-o", tmp_path / "release.csv", "--force").stdout
        assert "Warning" not in shown


def test_codes_and_cells_that_are_looked_up_are_called_so(tmp_path: Path) -> None:
    rows = "".join(f"{1 + row % 4}.0,{row % 5},{'ab'[row % 2]},{row % 3}\n" for row in range(60))
    (tmp_path / "table.csv").write_text(f"job,flag,ill,pay\n{rows}")
    (tmp_path / "ill.csv").write_text("a;x;*\nb;y;*\n")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "k: 2\nquasi: {job: {type: category}, flag: {type: category}}\nsensitive: {ill: {t: 0.9, hierarchy: ill.csv}, pay: 0.9}\n"
    )
    lines = run("anonymize", tmp_path / "table.csv", "-p", policy, "-o", tmp_path / "out.csv").stdout.splitlines()
    first = lines.index("How the columns were read:")
    assert lines[first + 1 : first + 4] == [
        "  job and flag: codes without an order",
        "  ill: text, as in its hierarchy",
        "  pay: whole numbers, taken as ordered; `distance: equal` if they are codes",
    ]


@pytest.mark.parametrize("bins", ["", ", bins: 20"])
def test_no_column_is_blamed_if_unique_rows_stay_without_it(tmp_path: Path, bins: str) -> None:
    """Two columns that tell the same: each of 20 rows has its own value in both, and in 4 bins it has company."""
    rows = "".join(f"{row % 2},{row},{7 * row}\n" for row in range(20))
    (tmp_path / "table.csv").write_text(f"age,pay,tax\n{rows}")
    limits = f"{{t: 0.9{bins}}}"
    (tmp_path / "policy.yaml").write_text(f"k: 2\nquasi: [age]\nsensitive: {{pay: {limits}, tax: {limits}}}\n")
    shown = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv").stdout
    assert "No column makes that by itself: without pay 20 would still be unique; " in shown
    line = "pay: {t: 0.9, bins: 4}"
    told = f"would still be unique; with all sensitive numbers in 4 bins each, none (write {line}, and so for the others).\n"
    assert told in shown


def test_bins_are_advised_only_if_they_were_counted_to_help(tmp_path: Path) -> None:
    """One of 20 rows has a gain: in bins, too, it is the only one. If each row has its own, none is alone in 4 bins."""
    many = [3 * row for row in range(20)]
    for gains, limits, told in (
        ([0, 1, *[0] * 18], "t: 0.9", ""),
        (many, "t: 0.9", ", and in 4 bins none (write gain: {t: 0.9, bins: 4})"),
        (many, "t: 9/10, bins: 20, publish: value, l: 2", ", and in 4 bins none (write gain: {t: 0.9, bins: 4, l: 2})"),
        (many, "t: 0.9, distance: numeric", ", and in 4 bins none"),  # which goes without bins
    ):
        rows = "".join(f"{row % 2},{gain}\n" for row, gain in enumerate(gains))
        (tmp_path / "table.csv").write_text(f"town,gain\n{rows}")
        (tmp_path / "policy.yaml").write_text(f"k: 2\nquasi: [town]\nsensitive: {{gain: {{{limits}}}}}\n")
        files: list[str | Path] = ["-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv", "--force"]
        shown = run("anonymize", tmp_path / "table.csv", *files).stdout
        assert f" values: without it none would be unique{told}.\n" in shown


def test_what_to_write_for_bins_is_quoted_where_yaml_needs_it(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("town,pay: net\n" + "".join(f"{row % 2},{3 * row}\n" for row in range(20)))
    (tmp_path / "policy.yaml").write_text('k: 2\nquasi: [town]\nsensitive: {"pay: net": {t: 2/3}}\n')
    shown = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv").stdout
    line = shown.partition("(write ")[2].partition(").\n")[0]
    assert YAML(typ="safe", pure=True).load(line) == {"pay: net": {"t": "2/3", "bins": 4}}


def test_where_each_row_is_a_person_nothing_is_said_of_several_rows(files: tuple[Path, Path]) -> None:
    shown = run("anonymize", files[0], "-p", files[1], "-o", files[0].with_name("release.csv")).stdout
    assert "none suppressed; each row is taken for a person\n" in shown
    assert "several of their rows" not in shown


@pytest.mark.parametrize("command", ["audit", "anonymize"])
def test_fewer_bins_than_asked_are_told(tmp_path: Path, command: str) -> None:
    """18 of 20 rows have a 0: ten bins of equally many rows become two."""
    rows = "".join(f"{row % 2},{max(0, row - 17)}\n" for row in range(20))
    (tmp_path / "table.csv").write_text(f"age,gain\n{rows}")
    out = ["-o", str(tmp_path / "release.csv"), "--force"] if command == "anonymize" else []
    for bins, told in (("10", True), ("2", False), ("[1, 2]", False)):
        (tmp_path / "policy.yaml").write_text(f"k: 2\nquasi: [age]\nsensitive: {{gain: {{t: 0.9, bins: {bins}}}}}\n")
        shown = run(command, tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", *out).stdout
        assert "t of gain" in shown
        assert ("bins, not 10 as asked: rows with the same value share a bin" in shown) == told
        assert ("To choose the bins yourself" in shown) == (told and command == "anonymize")


@pytest.mark.parametrize(
    ("settings", "said"), [("", True), ("unit: row\n", False), ("unit: person\nidentifiers: [person]\n", False)]
)
def test_a_dropped_column_that_may_name_persons_is_told(tmp_path: Path, settings: str, said: bool) -> None:
    """Ten persons with two rows each: dropped, their number says nothing about k."""
    rows = "".join(f"{row // 2},{row % 2},{row % 3}\n" for row in range(20))
    (tmp_path / "table.csv").write_text(f"person,age,ill\n{rows}")
    drop = "" if "person" in settings else "drop: [person]\n"
    (tmp_path / "policy.yaml").write_text(f"k: 2\nquasi: [age]\nsensitive: {{ill: 0.9}}\n{settings}{drop}")
    made = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv")
    assert made.exit_code == 0
    assert (
        "person is dropped. If it names persons who have several rows, name it in unit: it is not published, and k" in made.stdout
    ) == said


def test_the_screen_has_the_figures_of_the_report(tmp_path: Path) -> None:
    """Ages of 80 or more are published as one: a reader does not know how far they reach. In codes of zip, nobody else can count."""
    rows = "".join(f"{age},{'ab'[age % 2]},{80 + age % 5}{age % 7}01,{age % 4}\n" for age in [*range(10), *range(90, 100)])
    (tmp_path / "table.csv").write_text(f"age,town,zip,pay\n{rows}")
    (tmp_path / "policy.yaml").write_text(
        "k: 5\nquasi: {age: {top: 80}, town: , zip: {hierarchy: prefixes}}\nsensitive: {pay: {t: 0.9}}\n"
    )
    files = ["-p", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "release.csv")]
    shown = run("anonymize", tmp_path / "table.csv", *files, "--report", tmp_path / "report.html").stdout
    facts = Facts(papers_beside(tmp_path / "release.csv"), 1)
    stated = {name: lost for name, _, lost in facts.losses().rows}
    said = {name: words for name, words, _ in facts.losses().rows}
    release = tc.anonymize(tmp_path / "table.csv", tc.Policy.load(tmp_path / "policy.yaml"))
    assert stated["age"] != percent(release.loss.by_attribute["gcp"]["age"])
    assert stated["zip"] == "not stated"
    assert f"{facts.detail_lost} of the detail of the quasi-identifiers is lost (GCP 0." in shown
    open_at_one_end = "50.0% of the rows in ranges 8 wide on average; the others in ranges that are open at one end"
    assert said["age"] == f"{open_at_one_end}; 80 or more is one value"
    assert said["town"] == "as it is"
    assert facts.coarse[0] == ("age", said["age"])
    assert re.search(f"  age +{stated['age']} +50.0% in ranges 8 wide; the others in open ranges; 80 or more is one value", shown)
    assert "published (of the rows; on average)" in shown
    assert re.search(f"  town +{stated['town']} +as it is", shown)
    assert re.search(
        f"  zip +{percent(release.loss.by_attribute['gcp']['zip'])} [*]  {re.escape(said['zip'].replace(' on average', ''))}",
        shown,
    )
    assert "1 none; the report explains it):\n" in shown
    assert (
        "* As a share of what your table has: readers cannot compute it, and the report does not state it. The figure of" in shown
    )


def test_a_loss_that_no_reader_can_compute_is_marked_and_suppressed_rows_are_named(tmp_path: Path) -> None:
    rows = "".join(f"{age},{age % 4}\n" for age in range(20))
    (tmp_path / "table.csv").write_text(f"age,pay\n{rows}")
    (tmp_path / "policy.yaml").write_text("k: 5\nquasi: {age: {recode: centroid}}\nsensitive: {pay: {t: 0.9}}\n")
    files = ["-p", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "release.csv"), "--force"]
    shown = run("anonymize", tmp_path / "table.csv", *files).stdout
    assert "1 none):\n" in shown
    assert "is one value" not in shown
    assert shown.count("* As a share of what your table has: readers cannot compute it, and the report does not state it.\n") == 1
    (tmp_path / "table.csv").write_text("age,pay\n" + "".join(f"{age},{age % 2}\n" for age in [20, 30] * 10) + "99,3\n")
    (tmp_path / "policy.yaml").write_text("k: 10\nsuppression: 0.1\nquasi: [age]\nsensitive: {pay: {t: 0.9}}\n")
    shown = run("anonymize", tmp_path / "table.csv", *files).stdout
    assert "1 row suppressed" in shown
    assert "of the detail of the quasi-identifiers is lost in the rows that are published (GCP 0." in shown


def test_a_hierarchy_that_loses_much_is_explained(tmp_path: Path) -> None:
    rows = "".join(f"{value},{row % 4}\n" for row, value in enumerate("abcd" * 5))
    (tmp_path / "table.csv").write_text(f"town,pay\n{rows}")
    (tmp_path / "town.csv").write_text("a;north;*\nb;north;*\nc;south;*\nd;south;*\n")
    files: list[str | Path] = ["-p", tmp_path / "policy.yaml", "-o", tmp_path / "out.csv", "--force"]
    for hierarchy, k, told in (("{hierarchy: town.csv}", 20, True), ("{hierarchy: town.csv}", 5, False), ("", 20, False)):
        (tmp_path / "policy.yaml").write_text(f"k: {k}\nquasi: {{town: {hierarchy}}}\nsensitive: {{pay: {{t: 1}}}}\n")
        shown = run("anonymize", tmp_path / "table.csv", *files).stdout
        assert "of the detail of the quasi-identifiers is lost" in shown
        assert ("Most detail is lost to the hierarchy of town. Without a hierarchy, ranges (snap: auto) or" in shown) == told


def test_labels_of_a_hierarchy_have_one_wording_on_the_screen_and_in_the_report(tmp_path: Path) -> None:
    rows = "".join(f"{value},{row % 4}\n" for row, value in enumerate("aaaaabbbbbbbbbbcd" * 2))
    (tmp_path / "table.csv").write_text(f"town,pay\n{rows}")
    (tmp_path / "town.csv").write_text("a;north;*\nb;north;*\nc;south;*\nd;south;*\n")
    (tmp_path / "policy.yaml").write_text("k: 4\nquasi: {town: {hierarchy: town.csv}}\nsensitive: {pay: {t: 1}}\n")
    shown = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "out.csv").stdout
    ((_, said, lost),) = Facts(papers_beside(tmp_path / "out.csv"), 1).losses().rows
    assert " of its hierarchy" in said
    assert re.search(f"  town +{lost} +{re.escape(said.replace(' of the rows', ''))}", shown)  # which the header says


def test_unique_rows_of_the_raw_table_are_counted_as_they_are() -> None:
    """Of ages 20, 21, 91 and 92, twice 20, all of one illness, three are alone; with a top of 90 the last two look alike."""
    people = pa.table({"age": [20, 20, 21, 91, 92], "ill": ["flu"] * 5})
    release = tc.anonymize(people, tc.Policy([tc.Quasi("age", top=90)], ["ill"], k=2))
    assert release._details.unique_before == 3
    assert release.certificate["unique_rows"] == 0


def test_a_release_without_unique_rows_says_how_many_there_were(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("age,ill\n20,flu\n21,flu\n22,flu\n22,flu\n")
    (tmp_path / "policy.yaml").write_text("k: 2\nquasi: [age]\nsensitive: [ill]\n")
    shown = run("anonymize", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "release.csv").stdout
    assert "Every row has another that is the same in all columns: that is the best there is." in shown
    assert "In the raw table 2 rows had none." in shown


def test_a_class_is_named_once_with_all_that_it_breaks(tmp_path: Path) -> None:
    """Town C is one row, and the farthest from the table in both columns."""
    (tmp_path / "table.csv").write_text("town,pay,ill\nA,1,flu\nA,2,flu\nB,1,flu\nB,2,flu\nC,3,gout\n")
    (tmp_path / "policy.yaml").write_text("k: 2\nquasi: [town]\nsensitive: {pay: {t: 0.5, l: 2}, ill: {t: 0.5}}\n")
    lines = run("audit", tmp_path / "table.csv", "-p", tmp_path / "policy.yaml").stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if "farthest" in line)
    assert lines[first : first + 3] == [
        "The smallest class, and the farthest from the table in pay and ill: town C; 1 row. "
        "It breaks k, t of pay, l of pay and t of ill.",
        "  All have pay 3 (in the table 20%).",
        "  All have ill gout (in the table 20%).",
    ]
    assert sum("town C" in line for line in lines) == 1


def test_columns_in_doubt_have_a_line_of_their_own() -> None:
    columns = {"a": ("text", False), "b": ("text; mend it", True), "c": ("text; mend it", True), "d": ("text", False)}
    readings = {name: Reading(name, "text", f"{name}: {how}", doubtful=doubt) for name, (how, doubt) in columns.items()}
    assert how_read(readings)[1:] == ["  b: text; mend it", "  c: text; mend it", "  the others: text"]
    assert how_read({}) == []


def test_progress_names_the_file_that_a_stage_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("rich.status.Status.update", lambda _, text: shown.append(str(text)))
    with stages("table.csv", "release.csv"):
        announce("Refining")
        report("round 1 of 12")
        announce("Writing")
    assert shown == ["Refining table.csv ...", "Refining table.csv ... round 1 of 12", "Writing release.csv ..."]


def test_refining_tells_its_round_and_the_time_left() -> None:
    figures: list[str] = []
    people = pa.table({"age": [20 + row % 17 for row in range(60)], "ill": ["flu", "cold", "gout"] * 20})
    with Job(lambda stage, figure: figures.append(figure) if stage == "Refining" and figure else None):
        tc.anonymize(people, tc.Policy(["age"], {"ill": 0.3}, k=4), effort="fast")
    assert [figure.split(", ")[0] for figure in figures] == ["round 1 of 3", "round 2 of 3", "round 3 of 3"]
    assert all(figure.endswith(" s left") for figure in figures)


def test_a_sensitive_column_without_a_limit_is_told(files: tuple[Path, Path], tmp_path: Path) -> None:
    told = (
        "No limit was asked for pay: a class may give away what its people have there. Give each a limit in the policy, as pay:"
    )
    shown = run("anonymize", files[0], "-p", files[1], "-o", tmp_path / "limited.csv", "--force")
    assert "No limit was asked" not in shown.stdout
    files[1].write_text(files[1].read_text().replace("pay: {t: 0.25}", "pay: {bins: 2}"))
    shown = run("anonymize", files[0], "-p", files[1], "-o", tmp_path / "free.csv")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[lines.index(SATISFIED) + 1].startswith(told)


def test_an_indented_line_stays_indented_and_a_command_is_not_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("TTY_COMPATIBLE", "1"), ("COLUMNS", "30"), ("NO_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    Screen().tell("  one two three four five six seven eight nine ten")
    Screen().tell_command("Then:", "tclose anonymize people.csv -p policy.yaml -o release.csv")
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown[:2] == ["  one two three four five six", "  seven eight nine ten"]
    assert shown[2:] == ["Then: tclose anonymize people.csv -p policy.yaml -o release.csv"]
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    Screen().tell("  one two three four five six seven eight nine ten")
    assert capsys.readouterr().out == "  one two three four five six seven eight nine ten\n"


def test_an_ordered_distance_that_hardly_limits_a_share_is_told(tmp_path: Path) -> None:
    rows = [f"{20 + number % 4},{0 if number % 10 else 10 + number},{number % 7}" for number in range(400)]
    data, policy, out = tmp_path / "people.csv", tmp_path / "policy.yaml", tmp_path / "out.csv"
    data.write_text("\n".join(["age,debt,score", *rows]) + "\n")
    policy.write_text("k: 5\nquasi: [age]\nsensitive: {debt: 0.2, score: 0.2}\n")
    text = " ".join(run("anonymize", data, "-p", policy, "-o", out).output.split())
    told = (
        "debt: 90.0% of the rows have the same value, and t hardly limits its share in a class: where nobody has it, the ordered"
    )
    assert told in text  # one of 41 values: 0.9 / 40
    assert "distance can be as small as 0.0225. To limit it, write distance: equal in the policy" in text
    assert text.count("hardly limits") == 1
    policy.write_text("k: 5\nquasi: [age]\nsensitive: {debt: {t: 0.2, distance: equal}, score: 0.2}\n")
    assert "hardly limits" not in run("anonymize", data, "-p", policy, "-o", out, "--force").output


@pytest.mark.filterwarnings("ignore::tclose.ReadingWarning")
def test_a_column_that_is_nearly_numbers_is_told_before_the_result(tmp_path: Path) -> None:
    rows = [f"{'n/a' if number == 7 else 20 + number % 4},{number % 7}" for number in range(60)]
    data, policy, out = tmp_path / "people.csv", tmp_path / "policy.yaml", tmp_path / "out.csv"
    data.write_text("\n".join(["age,score", *rows]) + "\n")
    policy.write_text("k: 5\nquasi: [score]\nsensitive: {age: 0.9}\n")
    text = run("anonymize", data, "-p", policy, "-o", out).stdout
    assert text.startswith("Warning: column age: text, because 1 of 60 cells is no number; ")
    assert text.index("Warning") < text.index("The policy is satisfied")
    policy.write_text("k: 5\ninput: {missing: [n/a]}\nquasi: [score]\nsensitive: {age: {t: 0.9, missing: value}}\n")
    assert run("anonymize", data, "-p", policy, "-o", out, "--force").stdout.startswith("The policy is satisfied")


def test_a_delimiter_that_the_file_does_not_have_is_told(tmp_path: Path) -> None:
    rows = [f"{20 + number % 4},{number % 7}" for number in range(60)]
    data, policy, out = tmp_path / "people.csv", tmp_path / "policy.yaml", tmp_path / "out.csv"
    data.write_text("\n".join(["age,score", *rows]) + "\n")
    policy.write_text("k: 5\ninput: {delimiter: ;}\nquasi: [age]\nsensitive: {score: 0.9}\n")
    told = "  The cells are separated by commas: the header has no ';', which the policy's input names."
    for command in (f"anonymize {data} -p {policy} -o {out}", f"audit {data} -p {policy}"):
        lines = run(*command.split()).stdout.splitlines()
        assert lines[lines.index("How the columns were read:") + 1] == told
    data.write_text(data.read_text().replace(",", ";"))
    assert "separated by" not in run("audit", data, "-p", policy).stdout
