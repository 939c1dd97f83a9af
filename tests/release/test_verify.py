"""verify believes nothing that it can count, shows the rest, and opens nothing that a certificate names."""

from __future__ import annotations

import copy
import importlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app
from tclose.release import claims
from tclose.tables.files import sha256_of_folder
from tclose.values.bins import Bins, in_order
from tests.support.forgeries import (
    ODD,
    TREE,
    Pair,
    cells_of,
    certified,
    changed,
    check_one,
    inside,
    mend,
    places,
    put,
    removed,
    tall,
    true_pair,
)

Q = {"q": {"type": "text"}}


def write(path: Path, columns: dict[str, list[Any]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(f'"{cell}"' for cell in row) for row in rows)]) + "\n")
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(pair: Pair) -> str:
    with pytest.raises(tc.TcloseError) as error:
        tc.verify(pair.data)
    return str(error.value)


def noes(found: tc.Verification) -> list[str]:
    return [finding.what for finding in found.findings if not finding.holds]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two classes of five, each with one value."""
    return write(tmp_path / "release.csv", {"q": ["a"] * 5 + ["b"] * 5, "d": ["HIV"] * 5 + ["flu"] * 5})


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Made once."""
    return true_pair(tmp_path_factory.mktemp("true"), 5)


@pytest.fixture
def pair(true: Pair, tmp_path: Path) -> Pair:
    """A copy of a true pair: tests forge it."""
    shutil.copytree(true.data.parent, tmp_path, dirs_exist_ok=True)
    return Pair(tmp_path / true.data.name, tmp_path / true.certificate.name)


# A true pair ------------------------------------------------------------------------------------------------------------------


def test_the_certificate_is_found_beside_the_release(pair: Pair) -> None:
    found = tc.verify(str(pair.data))
    assert found.holds
    assert not noes(found)
    done = run("verify", pair.data)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == found.lines(everything=False)
    assert run("verify", pair.data, "--all").stdout.splitlines() == str(found).splitlines()
    assert done.stdout.splitlines()[0] == str(found).splitlines()[0] == found.headline
    assert repr(found).startswith("<Verification: release.csv is as certified; ")


def test_what_was_verified_is_said_in_plain_words(tmp_path: Path) -> None:
    """Four rows: whoever reads the lines can count them."""
    data = write(tmp_path / "r.csv", {"q": list("aabb"), "d": ["flu", "gout", "flu", "gout"], "note": list("wxyz")})
    found = tc.verify(certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.1, "l": 2, "hierarchy": TREE}}, "k": 2}).data)
    assert str(found).splitlines()[:8] == [
        "r.csv is as certified: it satisfies every limit of its certificate. Its bytes, its columns and all figures that can be "
        "counted are those of the certificate (16 checks).",
        "r.csv: 4 rows in 2 classes",
        "k: at least 2 rows in each class; the smallest has 2.",
        "t of d: each class within 0.1 of the table; attained 0.0000, exactly 0.",
        "l, different values in each class, of d: at least 2; attained 2.",
        "Quasi-identifiers, which others may know: q.",
        "Sensitive: d. Distance: a tree of 4 levels and 5 values, 2 of them in the file.",
        "Published as they are: note (4 different values).",
    ]
    assert found.warnings == ["note: 4 different values in 4 rows, published as it is."]
    assert found.holds


def test_the_screen_is_short_and_the_checks_are_listed_on_request(tmp_path: Path) -> None:
    """The verdict comes first, then what was asked; what a reader need not know is behind a flag, with plain names."""
    data = write(tmp_path / "r.csv", {"q": list("aabb"), "d": ["flu", "gout", "flu", "gout"]})
    pair = certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.1, "l": 2}}, "k": 2})
    lines = run("verify", data).stdout.splitlines()
    assert lines[0].startswith("r.csv is as certified: it satisfies every limit of its certificate. ")
    assert lines[-1].endswith("the publisher's word, not checked here. To list every check and claim: --all")
    assert not [line for line in lines if line.startswith("yes ") or "dm" in line or "c_avg" in line]
    every = run("verify", data, "--all").stdout
    assert "yes  discernibility (dm), the sum of squared class sizes, as certified (8)" in every  # 2 * 2 + 2 * 2
    assert "yes  mean class size in multiples of k (c_avg) as certified (1.0)" in every
    told = pair.said()
    pair.say({**told, "classes": 3, "unique_rows": 0})
    lines = run("verify", data).stdout.splitlines()
    assert lines[:4] == [
        "r.csv is not as certified: 2 of 16 checks failed.",
        "NO   classes as certified (certified 3, found 2)",
        "NO   rows that differ from all others as certified (certified 0, found 4)",
        "",
    ]
    assert run("verify", data, "--all").stdout.splitlines().index(lines[1]) > lines.index(lines[3])


def test_precision_is_not_called_what_detail_lost_leaves(tmp_path: Path) -> None:
    """Two classes of ages: a quarter of the detail is lost, and no row has its age."""
    people = pa.table({"age": [20, 30, 50, 60], "ill": ["flu", "gout"] * 2})
    tc.anonymize(people, tc.Policy(["age"], {"ill": 0.5}, k=2)).write(tmp_path / "r.csv")
    claims = tc.verify(tmp_path / "r.csv").unchecked
    assert "detail lost (gcp; 0 is none, 1 is all; any reader can compute it): 0.25, age 0.25" in claims
    (precision,) = [claim for claim in claims if claim.startswith("precision ")]
    assert "another measure than detail lost" in precision
    assert precision.endswith(" published as they are): 0, age 0")
    assert not any("kept" in claim for claim in claims)


def test_who_can_compute_detail_lost_is_said_as_in_the_report(tmp_path: Path) -> None:
    people = pa.table({"town": list("abcd") * 4, "ill": ["flu", "gout"] * 8})
    town = tc.Quasi("town", hierarchy={"north": ["a", "b"], "south": ["c", "d"]})
    made = tc.anonymize(people, tc.Policy([town], {"ill": 0.5}, k=5))
    made.write(tmp_path / "r.csv")
    (claim,) = [claim for claim in tc.verify(tmp_path / "r.csv").unchecked if claim.startswith("detail lost ")]
    assert "any reader can compute it; of a column with a hierarchy, whoever has the hierarchy): " in claim
    assert "Any reader can compute it; of a column with a hierarchy, whoever has the hierarchy." in made.to_html()


def test_a_file_that_was_saved_again_is_called_so(tmp_path: Path) -> None:
    """Other line ends: another sha256, and the same figures. A changed value is not taken for that."""
    people = pa.table({"age": [20, 30, 50, 60] * 3, "ill": ["flu", "gout"] * 6})
    data = tc.anonymize(people, tc.Policy(["age"], {"ill": 0.5}, k=2)).write(tmp_path / "r.csv")[0]
    text = data.read_bytes()
    data.write_bytes(text.replace(b"\n", b"\r\n"))
    found = tc.verify(data)
    assert noes(found) == ["The file is the one that was certified", "The private record beside it is its own"]
    assert found.headline.endswith(
        " checks failed. The bytes differ, but all columns, limits and figures that can be counted still match, as when another "
        "program saved the file. A value that no figure counts may have changed all the same."
    )
    data.write_bytes(text.replace(b"gout", b"flu", 1))
    assert "The bytes differ" not in tc.verify(data).headline
    data.write_bytes(text)
    assert "The bytes differ" not in tc.verify(data).headline
    (tmp_path / "r.csv.private.json").write_text("{}")
    assert "The bytes differ" not in tc.verify(data).headline


def test_where_persons_were_asked_rows_are_said_to_be_checked(tmp_path: Path) -> None:
    people = pa.table({"who": [f"p{row // 2}" for row in range(16)], "age": [20, 30, 50, 60] * 4, "ill": ["flu", "gout"] * 8})
    told = "k and l are checked over rows. That they are satisfied over persons, too, is the publisher's word."
    for unit, drop in (("who", []), (None, ["who"])):
        policy = tc.Policy(["age"], {"ill": 0.9}, k=2, unit=unit, drop=drop)
        tc.anonymize(people, policy).write(tmp_path / "r.csv", force=True)
        lines = run("verify", tmp_path / "r.csv").stdout.splitlines()
        assert (told in lines) == (unit is not None)


def test_a_certificate_as_a_second_argument_is_told_its_option(tmp_path: Path) -> None:
    done = run("verify", tmp_path / "r.csv", tmp_path / "r.csv.certificate.json")
    assert done.exit_code == 2
    assert "Give a certificate that lies elsewhere with --certificate FILE. Try '" in done.stderr


def test_the_verdict_speaks_of_the_reader_s_policy_too(tmp_path: Path) -> None:
    data = write(tmp_path / "r.csv", {"q": list("aabb"), "d": ["flu", "gout", "flu", "gout"]})
    certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.1}}, "k": 2})
    same = tc.verify(data, policy=tc.Policy(["q"], {"d": 0.1}, k=2))
    assert same.headline.startswith("r.csv is as certified: it satisfies every limit of its certificate and of your policy. ")
    other = tc.verify(data, policy=tc.Policy(["q"], {"d": 0.1}, k=3))
    assert other.headline == "r.csv is as certified, but not what your policy asks: 1 of 18 checks failed."


# What is published is judged --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["ordered", "equal"])
@pytest.mark.parametrize("bins", [{"width": 100_000}, [5000, 20_000], 2])
def test_raw_numbers_beside_bins_are_judged_as_numbers(distance: str, bins: Any, tmp_path: Path) -> None:
    salaries = [1000 + i for i in range(5)] + [9000 + i for i in range(5)]
    data = write(tmp_path / "release.csv", {"q": ["a"] * 5 + ["b"] * 5, "salary": salaries})
    policy: dict[str, Any] = {"quasi": Q, "sensitive": {"salary": {"t": 0.01, "distance": distance, "bins": bins}}, "k": 5}
    found = tc.verify(certified(data, policy).data)
    assert not found.holds
    assert "salary holds intervals" in noes(found)
    assert "It satisfies every limit" in noes(found)
    raw = tc.audit(data, tc.Policy(quasi=["q"], sensitive={"salary": {"distance": distance}}))
    assert found.audit.sensitive["salary"].t_exact == raw.sensitive["salary"].t_exact
    assert tc.audit(data, tc.Policy(**policy)).sensitive["salary"].judged == "bins"  # an input is put into its bins


@pytest.mark.parametrize(
    "labels",
    [
        ["[0, 10)", "12"],
        ["[0, 10)", "[5, 15)"],
        ["[0, 10)", "[9, 3)"],
        ["[0, 10)", "[12, 12)"],
        ["[0, 10)", "[0.0, 10.0)"],
        ["below 10", "[5, 10)"],
        ["[0, 10)", "10 or more than that"],
    ],
)
def test_labels_that_overlap_are_empty_or_mixed_with_others_are_refused(labels: list[str], tmp_path: Path) -> None:
    assert in_order(labels) is None
    data = write(tmp_path / "release.csv", {"q": list("aabb"), "s": labels * 2})
    with pytest.raises(tc.InputError, match="labels of bins that do not overlap"):
        tc.audit(data, tc.Policy(quasi=["q"], sensitive={"s": {"distance": "equal", "bins": 2}}))


@pytest.mark.parametrize(
    ("bins", "labels", "fit"),
    [
        ({"width": 10}, ["[0, 10)", "[20, 30)"], True),
        ({"width": 10}, ["[0, 10)", "[25, 35)"], False),
        ({"width": 10}, ["[0, 10)", "[20, 40)"], False),
        ({"width": 10}, ["[0, 10)", "20 or more"], False),
        ([0, 10], ["below 0", "[0, 10)", "10 or more"], True),
        ([0, 10], ["below 0", "[0, 5)"], False),
        (2, ["below 5", "5 or more"], True),
        (2, ["below 5", "[5, 7)", "7 or more"], False),
    ],
)
def test_intervals_must_be_those_of_the_policy(bins: Any, labels: list[str], fit: bool, tmp_path: Path) -> None:
    assert Bins.read(bins).fit(labels) == fit
    data = write(tmp_path / "release.csv", {"q": ["a"] * len(labels), "s": labels})
    found = tc.verify(
        certified(data, {"quasi": Q, "sensitive": {"s": {"t": 0, "distance": "ordered", "bins": bins}}, "k": 2}).data
    )
    assert found.holds == fit
    assert noes(found) == ([] if fit else ["The intervals of s are those of the certificate"])


def test_a_number_that_is_written_in_two_ways_is_two_signs(tmp_path: Path) -> None:
    data = write(tmp_path / "release.csv", {"q": list("aabb"), "s": ["1.0", "1.0", "1.00", "1.00"]})
    found = tc.verify(certified(data, {"quasi": Q, "sensitive": {"s": {"t": 0.1, "distance": "equal"}}, "k": 2}).data)
    assert noes(found) == ["Each value of s is written in one way"]


# What cannot be refused is said -----------------------------------------------------------------------------------------------


def test_a_tree_made_tall_and_a_matrix_of_tiny_distances_are_warned_of(small: Path) -> None:
    tree = {"*": {"real": ["HIV", "flu"], "pad": tall(50)}}
    found = tc.verify(certified(small, {"quasi": Q, "sensitive": {"d": {"t": 0.01, "hierarchy": tree}}, "k": 5}).data)
    assert found.holds
    assert "d: the distances between the values that occur reach at most 0.0193, so t says little." in found.warnings
    assert "d: 2 classes have one value only (10 rows): anyone who knows the class of a person knows the value." in found.warnings
    assert "Sensitive: d. Distance: a tree of 53 levels and 3 values, 2 of them in the file." in str(found)
    matrix = {"HIV": {"flu": "1/1000"}, "flu": {}}
    found = tc.verify(certified(small, {"quasi": Q, "sensitive": {"d": {"t": 0.01, "matrix": matrix}}, "k": 5}).data)
    assert "d: the distances between the values that occur reach at most 0.0010, so t says little." in found.warnings


def test_a_far_value_does_not_hide_that_all_others_are_near(tmp_path: Path) -> None:
    values = ["HIV"] * 9 + ["rest"] + ["flu"] * 9 + ["rest"]
    data = write(tmp_path / "r.csv", {"q": ["a"] * 10 + ["b"] * 10, "d": values})
    tree = {"*": {"real": ["HIV", "flu"], "pad": {"other": tall(60), "rest": None}}}
    found = tc.verify(certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.01, "hierarchy": tree}}, "k": 5}).data)
    assert found.warnings == [
        "d: most distances are small, so t says little. With all different values equally far apart it would be 0.4500."
    ]
    numbers = [1] * 19 + [10**6] + [2] * 19 + [10**6]
    data = write(tmp_path / "n.csv", {"q": ["a"] * 20 + ["b"] * 20, "d": numbers})
    found = tc.verify(certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.01, "distance": "numeric"}}, "k": 5}).data)
    assert found.holds
    assert found.warnings == ["d: nearly all values lie close together in a small part of their range, so t says little."]


def test_names_that_are_kept_are_warned_of(tmp_path: Path) -> None:
    names = [f"Person {i}" for i in range(10)]
    data = write(tmp_path / "r.csv", {"name": names, "age": list(range(20, 30)), "q": ["*"] * 10, "d": ["x", "y"] * 5})
    pair = certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.1, "distance": "equal"}}, "k": 10})
    done = run("verify", data)
    assert done.exit_code == 0
    assert "Published as they are: name (10 different values), age (10 different values)." in done.stdout
    assert "Warning: name: 10 different values in 10 rows, published as it is." in done.stdout
    every = run("verify", data, "--all").stdout
    assert "what name holds: As in the input." in every.split("Not checked, the publisher's word:")[1]
    assert pair.certificate.exists()


@pytest.mark.parametrize("asked", [{}, {"k": 1}, {"alpha": 1}])
@pytest.mark.parametrize("of_column", [None, {"t": 1}, {"l": 1}])
def test_a_certificate_that_asks_for_nothing_is_not_confirmed(asked: Any, of_column: Any, small: Path) -> None:
    column = {**(of_column or {}), "distance": "equal"}
    certified(small, {"quasi": Q, "sensitive": {"d": column}, **asked}, statement="k=50 and t=0.1 verified")
    found = tc.verify(small)
    assert noes(found) == ["Something was asked", "The statement is that of its limits"]
    assert run("verify", small).exit_code == 1


def test_regions_no_larger_than_a_class_say_little(tmp_path: Path) -> None:
    """Each class is its own region, at distance 0."""
    data = write(tmp_path / "r.csv", {"q": [1, 1, 2, 2], "d": list("xxyy")})
    asked = {"quasi": Q, "sensitive": {"d": {"t": 0.1, "distance": "equal"}}}
    certified(data, {**asked, "n": 1})
    assert noes(tc.verify(data)) == ["Something was asked"]
    certified(data, {**asked, "n": 2})
    found = tc.verify(data)
    assert found.holds
    assert "Every class has 2 rows or more, and may be a region by itself: (n,t) says little." in found.warnings


# What comes with a certificate is limited -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["hierarchy", "matrix"])
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_a_file_that_a_certificate_names_is_not_touched(key: str, role: str, pair: Pair, tmp_path: Path) -> None:
    """A secret is not quoted, a pipe is not waited for."""
    (tmp_path / "secret.txt").write_text("first secret line\nsecond secret line\n")
    os.mkfifo(tmp_path / "pipe")
    told = pair.said()
    for name in ("secret.txt", "pipe", "absent", "/dev/zero"):
        column = "age" if role == "quasi" else "ill"
        settings = {"type": "text"} if role == "quasi" else {}
        pair.say(changed(told, ("policy", role, column), put({**settings, key: str(tmp_path / name)})))
        sentence = refused(pair)
        assert "secret line" not in sentence
        assert str(tmp_path) not in sentence
    pair.say(changed(told, ("policy", "sensitive", "ill"), put({key: {"a": str(tmp_path / "pipe")}})))
    assert "secret" not in refused(pair)


@pytest.mark.parametrize(
    ("mutate", "needed"),
    [
        (lambda text: text.replace('"rows":', '"rows": 1, "rows":', 1), "names a key twice"),
        (lambda text: text.replace('"k":', '"k": 1, "k":'), "names a key twice"),
        (lambda text: text.replace('"unique_rows": ', '"unique_rows": NaN, "x": ', 1), "NaN or Infinity"),
        (lambda text: text.replace('"unique_rows": ', '"unique_rows": -Infinity, "x": ', 1), "NaN or Infinity"),
        (lambda text: text.replace('"unique_rows": ', '"unique_rows": 1e999, "x": ', 1), "too large"),
        (lambda text: text.replace('"unique_rows": ', f'"unique_rows": {"9" * 6000}, "x": ', 1), "more than 620 characters"),
        (lambda text: text.replace('"unique_rows": ', f'"unique_rows": 0.{"9" * 6000}, "x": ', 1), "more than 620 characters"),
        (lambda text: text.replace('"1/3"', f'"1/{"9" * 6000}"'), "more than 620 characters"),
        (lambda text: text.replace('"tool"', '"proven": "by experts", "tool"', 1), "says more than this version"),
        (lambda text: text.replace('"tool"', f'"x": {"[" * 100_000}{"]" * 100_000}, "tool"', 1), "inside one another"),
        (lambda text: text.replace('"tool"', f'"x": {"[" * 200}{"]" * 200}, "tool"', 1), "inside one another"),
        (lambda text: text[:-20], "is not JSON"),
        (lambda _: "\ufeff{}", "is not JSON"),
    ],
)  # fmt: skip
def test_what_json_allows_and_no_certificate_has_is_refused(mutate: Any, needed: str, pair: Pair) -> None:
    before = pair.certificate.read_text()
    pair.certificate.write_text(mutate(before))
    assert pair.certificate.read_text() != before
    sentence = refused(pair)
    assert needed in sentence
    assert len(sentence) < 300


@pytest.mark.parametrize(
    ("policy", "needed"),
    [
        ({"bins": 10**10}, "2 to 1,000"),
        ({"bins": list(range(20_000))}, "has no policy"),
        ({"matrix": {str(row): {} for row in range(20_000)}}, "has no policy"),
        ({"hierarchy": {"*": tall(400)}}, "inside one another"),
        ({"matrix": {str(i): {str(j): f"{10**17 + i * 1000 + j}/{2 * (10**17 + i * 1000 + j) - 1}" for j in range(i)} for i in range(9)}},
         "common denominator"),
        ({"bins": ["1" * 700]}, "more than 620 characters"),
        ({"order": list(range(20_000))}, "policy.sensitive.ill.order"),
        ({"l": "1e999999999"}, "too large"),
        ({"t": True}, "policy.sensitive.ill.t"),
        ({"distance": "auto", "order": ["x"], "nonsense": 1}, "says more than this version"),
    ],
)  # fmt: skip
def test_a_policy_that_would_take_for_ever_is_refused(policy: Any, needed: str, pair: Pair) -> None:
    pair.say(changed(pair.said(), ("policy", "sensitive", "ill"), put(policy)))
    sentence = refused(pair)
    assert needed in sentence or "has no policy that tclose can read" in sentence
    assert len(sentence) < 500


def test_a_certificate_is_a_file_of_a_reasonable_size(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with pair.certificate.open("r+b") as file:  # gigabytes that take no room
        file.truncate(claims.LARGEST_FILE * 40)
    monkeypatch.setattr(claims, "LARGEST_FILE", 2_000_000)
    assert refused(pair) == "Certificate 'release.csv.certificate.json' has more than 2 MB, which no certificate has."
    pair.certificate.unlink()
    os.mkfifo(pair.certificate)
    assert "is no regular file" in refused(pair)


# Papers that do not belong together -------------------------------------------------------------------------------------------


def test_a_name_that_leaves_no_room_for_papers_beside_it(pair: Pair, tmp_path: Path) -> None:
    long = pair.data.rename(tmp_path / ("n" * 250 + ".csv"))
    assert tc.verify(long, pair.certificate).holds
    done = run("verify", long)
    assert (done.exit_code, done.stdout) == (2, "")


def test_papers_of_another_release_are_named(tmp_path: Path) -> None:
    made = {}
    for name, rows in (("one", 8), ("two", 12)):
        (tmp_path / name).mkdir()
        table = {"age": list(range(rows)), "s": [row % 4 for row in range(rows)]}
        import pyarrow as pa

        made[name] = tc.anonymize(pa.table(table), tc.Policy(["age"], {"s": 0.5}, k=2)).write(tmp_path / name / "release.csv")
    assert tc.verify(made["one"][0]).holds
    for place, what in ((1, "certificate.json"), (2, "private.json"), (3, "codebook.md")):
        own = made["one"][place].read_bytes()
        made["one"][place].write_bytes(made["two"][place].read_bytes())
        done = run("verify", made["one"][0])
        assert done.exit_code == 1
        assert f"release.csv.{what} belongs to another file" in done.stdout
        made["one"][place].write_bytes(own)
    assert tc.verify(made["one"][0]).holds


def test_the_certificate_of_another_release_blames_no_other_paper(tmp_path: Path) -> None:
    import pyarrow as pa

    made = []
    for rows in (8, 12):
        table = pa.table({"age": list(range(rows)), "s": [row % 4 for row in range(rows)]})
        made.append(tc.anonymize(table, tc.Policy(["age"], {"s": 0.5}, k=2)).write(tmp_path / f"{rows}.csv"))
    shown = str(tc.verify(made[0][0], made[1][1]))
    assert "(12.csv.certificate.json belongs to another file" in shown
    assert "(8.csv.codebook.md does not go with 12.csv.certificate.json)" in shown


def test_a_release_is_looked_for_before_its_certificate(tmp_path: Path) -> None:
    import pyarrow as pa

    def sentence(release: Any) -> str:
        with pytest.raises(tc.InputError) as error:
            tc.verify(release)
        return str(error.value)

    path = tmp_path / "release.csv"
    assert sentence(path) == f"File '{path}' does not exist. Check its path."
    assert sentence(tmp_path) == f"'{tmp_path}' is a folder without Parquet files. Name a file, or a folder of them."
    path.write_text("age,s\n1,2\n")
    assert sentence(path) == (
        f"Certificate '{path}.certificate.json' does not exist. Is 'release.csv' a release? Then put its certificate beside it, or "
        "give its path."
    )
    paper = tmp_path / "release.csv.certificate.json"
    paper.write_text("{}")
    assert sentence(paper) == (
        "File 'release.csv.certificate.json' is a certificate. Name the release that it is of: 'release.csv'."
    )
    got = sentence(pa.table({"age": [1]}))
    assert got == "release must be the path of a published file. Got Table. Write it to a file first."


def test_a_folder_of_parquet_files_is_a_release(tmp_path: Path) -> None:
    """As Spark writes it: the sum of the folder is in the certificate, and nothing else may lie in it."""
    table = pa.table({"age": list(range(12)), "s": [row % 4 for row in range(12)]})
    release = tc.anonymize(table, tc.Policy(["age"], {"s": 0.5}, k=2))
    folder = tmp_path / "release.parquet"
    folder.mkdir()
    for part in range(2):
        pq.write_table(release.table.slice(6 * part, 6), folder / f"part-{part}.parquet")
    certificate = {**release.certificate, "release": {"file": folder.name, "sha256": sha256_of_folder(folder)}}
    (tmp_path / "release.parquet.certificate.json").write_text(json.dumps(certificate))
    assert tc.verify(folder).holds
    pq.write_table(release.table.slice(6, 5), folder / "part-1.parquet")
    assert not tc.verify(folder).holds
    (folder / "_SUCCESS").touch()
    with pytest.raises(tc.InputError, match="more in it"):
        tc.verify(folder)


# The reader's own policy ------------------------------------------------------------------------------------------------------


def test_the_release_must_satisfy_the_readers_policy_too(small: Path, tmp_path: Path) -> None:
    tree = {"*": {"real": ["HIV", "flu"], "pad": tall(50)}}
    certified(small, {"quasi": Q, "sensitive": {"d": {"t": 0.01, "hierarchy": tree}}, "k": 5})
    mine = tmp_path / "mine.yaml"
    mine.write_text("k: 5\nquasi: [q]\nsensitive: {d: {t: 0.2, distance: equal}}\n")
    done = run("verify", small, "--policy", mine)
    assert done.exit_code == 1
    assert "NO   It satisfies your policy (t of d is broken)" in done.stdout
    assert "  t of d is 0.2, certified is 0.01" in done.stdout
    assert "  distance of d is equal, certified is hierarchical" in done.stdout
    assert "  d has a hierarchy in the certificate only" in done.stdout
    mine.write_text("quasi: [q]\nsensitive: {d: {t: 0.5, distance: equal}}\n")
    found = tc.verify(small, policy=mine)
    assert found.holds
    assert found.own is not None
    assert found.own.sensitive["d"].t_exact == tc.audit(small, tc.Policy.load(mine)).sensitive["d"].t_exact
    assert "k is not asked, certified is 5" in found.differences
    found = tc.verify(small, policy=tc.Policy(["q"], ["d"], drop=["d2"]))
    assert noes(found) == ["Your policy asks for something"]
    found = tc.verify(small, policy=tc.Policy(["d"], {"q": 1}, k=2))
    assert {"d is quasi-identifier in yours only", "q is quasi-identifier in the certificate only"} <= set(found.differences)


def test_what_means_no_value_in_the_readers_input_is_a_value_in_a_release(tmp_path: Path) -> None:
    data = write(tmp_path / "r.csv", {"q": ["a", "NA", "?", "a"], "d": list("xyxy")})
    certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.9, "distance": "equal"}}})
    found = tc.verify(data, policy=tc.Policy(["q"], {"d": 0.9}, k=2, input={"missing": ["NA", "?"]}))
    assert found.own is not None
    assert found.own.classes == 3
    assert noes(found) == ["It satisfies your policy"]


def test_what_the_reader_never_publishes_is_missed(tmp_path: Path) -> None:
    data = write(tmp_path / "r.csv", {"q": list("aabb"), "d": list("xyxy"), "name": list("wxyz")})
    certified(data, {"quasi": Q, "sensitive": {"d": {"t": 0.1, "distance": "equal"}}, "k": 2})
    found = tc.verify(data, policy=tc.Policy(["q"], {"d": 0.1}, k=2, identifiers=["name"]))
    assert noes(found) == ["name is not published, as your policy asks"]


# Forgeries --------------------------------------------------------------------------------------------------------------------

WORD = (
    ("version",),
    ("release", "file"),
    ("row_order",),
    ("counted",),
    ("columns",),
    ("loss",),
    ("policy", "quasi"),
    ("codebook",),
)
"""Where the publisher's word stands; nowhere else."""


def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file stays the same, so what is read of it is kept."""
    module: Any = importlib.import_module("tclose.release.verify")
    kept: dict[str, Any] = {}
    examine, opened = module.examine, module.open_table

    def examine_once(path: Any, policy: tc.Policy, context: Any) -> Any:
        key = f"{path} {policy.to_dict(None)} {context}"
        return kept[key] if key in kept else kept.setdefault(key, examine(path, policy, context))

    def open_once(reader: Any, kinds: Any) -> Any:
        key = f"{kinds}"
        return kept[key] if key in kept else kept.setdefault(key, opened(reader, kinds))

    monkeypatch.setattr(module, "examine", examine_once)
    monkeypatch.setattr(module, "open_table", open_once)


def test_every_field_is_checked_or_shown(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place changed and removed: noticed, or refused, or printed as the publisher's word."""
    read_once(monkeypatch)
    told = pair.said()
    printed = str(tc.verify(pair.data))
    hidden = []
    for number, path in enumerate(places(told)):
        if path[:2] == ("policy", "sensitive") and len(path) > 4:
            continue  # inside a hierarchy
        old = inside(told, path)
        other = {"sorted": "input", "rows": "persons"}.get(old, f"{old}x") if isinstance(old, str) else ODD[number % len(ODD)]
        other = abs(old - 0.25) if isinstance(old, float) else old + 1 if isinstance(old, int) else other
        for change in (put(other), removed):
            pair.say(changed(told, path, change))
            try:
                found = tc.verify(pair.data)
            except tc.TcloseError:
                continue
            shown = str(found) != printed and any(path[: len(place)] == place for place in WORD)
            decided = path[-1] == "distance" and change is removed  # then the column decides it, as it did
            if found.holds and not shown and not decided:
                hidden.append((path, change))
    assert hidden == []


def test_who_mends_all_figures_still_shows_what_was_asked(pair: Pair) -> None:
    """A changed cell with its hash and figures mended is another release, and is described as such."""
    frame = cells_of(pair.data)
    frame.loc[0, "age"] = "999"
    frame.to_csv(pair.data, index=False, lineterminator="\n")
    assert not tc.verify(pair.data).holds
    pair.say(mend(pair, copy.deepcopy(pair.said())))
    found = tc.verify(pair.data)
    assert noes(found)[0] == "It satisfies every limit"
    assert "the smallest has 1." in str(found)


@pytest.mark.parametrize("seed", [0, 100, 200])
def test_what_verify_accepts_is_true_to_an_independent_reader(seed: int, tmp_path: Path) -> None:
    ends = [check_one(tmp_path, number).split(":")[0] for number in range(seed, seed + 12)]
    assert set(ends) <= {"accepted", "not as certified", "refused"}


def test_a_certificate_of_wrong_types_ends_with_1_or_2(pair: Pair) -> None:
    told = pair.said()
    for number, path in enumerate(list(places(told))[::7]):
        pair.certificate.write_text(json.dumps(changed(told, path, put(ODD[number % len(ODD)]))))
        done = run("verify", pair.data)
        assert done.exit_code in (0, 1, 2), (path, done.exception)


def test_a_release_that_is_as_certified_and_not_what_the_reader_asks(tmp_path: Path) -> None:
    table = pa.table({"age": [23, 27, 31, 39], "salary": [3, 5, 4, 6]})
    data = tc.anonymize(table, tc.Policy(["age"], {"salary": 0.5}, k=2)).write(tmp_path / "release.csv")[0]
    found = tc.verify(data, policy=tc.Policy(["age"], {"salary": 0.5}, k=3))
    assert not found.holds
    assert found.verdict == "release.csv is as certified, but not what your policy asks."
