"""Guards and sentences of the library: what a newcomer gives by mistake, and what is said of it."""

from __future__ import annotations

import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tclose as tc

pytestmark = pytest.mark.usefixtures("warm")

ROWS = 16
COLUMNS: dict[str, list[Any]] = {
    "patient": [f"P{row:03d}" for row in range(ROWS)],
    "age": [20 + row // 2 for row in range(ROWS)],
    "disease": ["flu", "cold"] * (ROWS // 2),
}
POLICY = tc.Policy(quasi=["age"], sensitive={"disease": 0.5}, identifiers=["patient"], k=2)


def table(**more: list[Any]) -> pa.Table:
    return pa.table({**COLUMNS, **more})


def made(**settings: Any) -> tc.Policy:
    return tc.Policy(**settings)


# A text that is nearly unique, as a quasi-identifier


def test_patient_numbers_are_not_published_in_sets() -> None:
    policy = tc.Policy(quasi=["patient"], sensitive={"disease": 0.5}, other="drop", k=2)
    with pytest.raises(tc.PolicyError) as refusal:
        tc.anonymize(table(), policy)
    assert str(refusal.value) == (
        "Quasi-identifier 'patient' has 16 values in 16 rows, nearly one for each, and the release would list them in sets. "
        "Make it an identifier, publish it by a hierarchy, or set despite: reason."
    )


@pytest.mark.parametrize(
    ("quasi", "refused"),
    [
        (tc.Quasi("patient"), True),
        (tc.Quasi("patient", despite="the numbers are drawn anew for each release"), False),
        (tc.Quasi("patient", hierarchy="prefixes"), False),
        (tc.Quasi("half"), False),  # 8 values in 16 rows: each stands for two
        (tc.Quasi("more"), True),  # 9 values
        (tc.Quasi("gaps"), False),  # 8 values and missing cells
        (tc.Quasi("number"), False),  # published in ranges
        (tc.Quasi("number", recode="set"), False),  # numbers, in sets by choice
        (tc.Quasi("number", type="category"), True),  # codes
        (tc.Quasi("patient", recode="set"), True),
        (tc.Quasi("few"), False),  # 7 values are categories, in however small a table
    ],
    ids=str,
)
def test_which_quasi_identifiers_need_a_reason(quasi: tc.Quasi, refused: bool) -> None:
    people = table(
        half=[f"h{row // 2}" for row in range(ROWS)],
        more=[f"m{min(row, 8)}" for row in range(ROWS)],
        gaps=[f"g{row}" if row < 8 else None for row in range(ROWS)],
        number=[row * 10 for row in range(ROWS)],
        few=[f"f{min(row, 6)}" for row in range(ROWS)],
    )
    if quasi.name == "few":
        people = people.slice(0, 8)
    policy = tc.Policy(quasi=[quasi], sensitive={"disease": 0.5}, other="drop", k=2)
    if refused:
        with pytest.raises(tc.PolicyError, match="nearly one for each"):
            tc.anonymize(people, policy)
    else:
        assert tc.anonymize(people, policy).audit.satisfied


def test_a_reason_is_saved_and_stays_private(tmp_path: Path) -> None:
    policy = tc.Policy(quasi=[tc.Quasi("patient", despite="drawn anew")], sensitive={"disease": 0.5}, other="drop", k=2)
    policy.save(tmp_path / "policy.yaml")
    assert tc.Policy.load(tmp_path / "policy.yaml") == policy
    release = tc.anonymize(table(), policy)
    assert release.record["policy"]["quasi"]["patient"] == {"despite": "drawn anew"}
    assert "drawn anew" not in str(release.certificate)


# A policy that is none


@pytest.mark.parametrize("call", [tc.audit, tc.anonymize], ids=lambda call: str(call.__name__))
@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"quasi": ["age"]}, "policy must be a Policy. Got dict. Write tclose.Policy(**policy)."),
        ("policy.yaml", "policy must be a Policy. Got str. Read the file with tclose.Policy.load(path)."),
        (None, "policy must be a Policy. Got NoneType."),
    ],
    ids=["dict", "path", "none"],
)
def test_a_policy_that_is_none(call: Any, policy: Any, sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as refusal:
        call(table(), policy)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("quasi_identifiers", "Did you mean 'quasi'?"),
        ("qi", "Did you mean 'quasi'?"),
        ("Quasi-Identifiers", "Did you mean 'quasi'?"),
        ("sensitive_attributes", "Did you mean 'sensitive'?"),
        ("identifier", "Did you mean 'identifiers'?"),
        ("insensitive", "Did you mean 'keep'?"),
        ("suppresion", "Did you mean 'suppression'?"),
        ("t", "It is a setting of a sensitive column, as in sensitive: {salary: {t: ...}}."),
    ],
)
def test_names_that_other_tools_use(key: str, hint: str) -> None:
    with pytest.raises(tc.PolicyError) as refusal:
        made(**{"quasi": ["age"], "sensitive": ["disease"], key: ["x"]})
    assert str(refusal.value) == f"{key!r} is not a setting of Policy. {hint}"


# Columns that are in an index, and lists that are no lists


def test_a_column_in_the_index_of_a_frame() -> None:
    frame = pd.DataFrame(COLUMNS).set_index("age")
    for call in (tc.audit, tc.anonymize):
        with pytest.raises(tc.ColumnError) as refusal:
            call(frame, POLICY)
        assert (
            str(refusal.value) == "Column 'age' is not in the table. It is in the index of the frame: call reset_index() first."
        )
    assert tc.audit(frame.reset_index(), POLICY).rows == ROWS


@pytest.mark.parametrize(
    "several",
    [tuple, pd.Index, pd.Series, np.array, pl.Series, pa.array, lambda names: dict.fromkeys(names).keys()],
    ids=["tuple", "pd.Index", "pd.Series", "array", "pl.Series", "pa.array", "keys"],
)
def test_names_in_whatever_holds_names(several: Any) -> None:
    policy = tc.Policy(
        quasi=several(["age", "zip"]),
        sensitive=several(["disease"]),
        identifiers=several(["patient", "name"]),
        drop=several(["x"]),
        keep=several(["ward"]),
    )
    assert policy == tc.Policy(["age", "zip"], ["disease"], identifiers=["patient", "name"], drop=["x"], keep=["ward"])
    assert tc.Sensitive("disease", order=several(["cold", "flu"])).order == ["cold", "flu"]


def test_a_frame_is_no_list_of_names() -> None:
    for frame in (pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)):
        with pytest.raises(tc.PolicyError) as refusal:
            tc.Policy(quasi=frame, sensitive=["disease"])
        assert "P001" not in str(refusal.value)


# Errors that name the column


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"hierarchy": {}}, "Column 'zip': a hierarchy must be a mapping from labels to what is below them. Got something else."),
        ({"hierarchy": {"*": ["a", "a"]}}, "Column 'zip': a value must occur once. Got 'a' twice."),
        (
            {"matrix": {"a": {"b": 0.5, "c": 0.5}}},
            "Column 'zip': A matrix must give every distance. Got none between 'b' and 'c'.",
        ),
        ({"order": ["a", "a"]}, "order of 'zip' must be a list of distinct values, from least to greatest. Got ['a', 'a']."),
    ],
    ids=["no tree", "a leaf twice", "no matrix", "no order"],
)
def test_what_is_wrong_with_a_setting_names_its_column(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tc.PolicyError) as refusal:
        tc.Sensitive("zip", **settings)
    assert str(refusal.value) == sentence
    with pytest.raises(tc.PolicyError) as refusal:
        tc.Policy(quasi=["age"], sensitive={"zip": settings})
    assert str(refusal.value) == sentence


def test_prefixes_of_masked_values_name_their_column() -> None:
    people = table(zip=[f"476*{row // 2}" for row in range(ROWS)])
    policy = tc.Policy(quasi={"zip": {"hierarchy": "prefixes"}}, sensitive={"disease": 0.5}, other="drop", k=2)
    with pytest.raises(
        tc.PolicyError, match=r"^hierarchy: prefixes of 'zip': a value must not hold '\*', which .* Got '476\*0', first in row 1"
    ):
        tc.anonymize(people, policy)


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_values_that_a_hierarchy_lacks_are_counted_and_five_are_named(role: str) -> None:
    people = table(town=[f"town {row // 2 * 2:02d}" for row in range(ROWS)])
    town = {"town": {"hierarchy": {"*": ["elsewhere"]}}}
    policy = made(**{"quasi": ["age"], "sensitive": ["disease"], role: town, "other": "drop", "k": 2})
    with pytest.raises(tc.HierarchyError) as refusal:
        tc.anonymize(people, policy)
    assert str(refusal.value) == (
        "8 values of 'town' are not in its hierarchy: 'town 00', 'town 02', 'town 04', 'town 06', 'town 08' and 3 more. "
        "One of them is in row 1. Add them there."
    )


# Small conveniences


def test_a_release_has_its_codebook(tmp_path: Path) -> None:
    release = tc.anonymize(table(), POLICY)
    written = release.write(tmp_path / "release.csv")[3].read_text()
    assert release.codebook.startswith("# Release\n")
    assert release.codebook.splitlines()[1:] == written.splitlines()[1:-2]  # there is no file yet, and so no sha256


@pytest.mark.parametrize(
    ("column", "said"),
    [(tc.Quasi("age"), False), (tc.Quasi("age", snap=5), True), (tc.Quasi("age", hierarchy={"intervals": [5]}), True)],
)
def test_a_codebook_says_which_ends_a_range_has_where_it_may_lack_one(column: tc.Quasi, said: bool) -> None:
    people = pa.table({"age": [1.5, 2.5, 11.5, 12.5], "ill": list("abab")})
    release = tc.anonymize(people, tc.Policy([column], {"ill": 0.1}, k=2))
    assert ("a range [a, b) has a, and not b. " in release.codebook) is said
    assert any(cell.endswith(")") for cell in release.table["age"].to_pylist()) is said


@pytest.mark.parametrize(
    ("snap", "said"), [(1, "widened to a grid of whole numbers."), ("1/20", "of 0.05."), ("1/3", "of 1/3."), (2.5, "of 2.5.")]
)
def test_a_codebook_says_grids_as_people_write_numbers(snap: Any, said: str) -> None:
    people = pa.table({"age": [1.5, 2.5, 11.5, 12.5], "ill": list("abab")})
    release = tc.anonymize(people, tc.Policy([tc.Quasi("age", snap=snap)], {"ill": 0.1}, k=2))
    assert release.certificate["columns"][0]["holds"].endswith(said)


def test_a_codebook_explains_zeros_that_the_input_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay,ill\n" + "20,0.0,a\n20,13.73189,b\n" * 2)
    said = "are all written with as many decimals as the longest"
    release = tc.anonymize(tmp_path / "people.csv", tc.Policy(["age"], {"pay": 0.1, "ill": {"t": 0.1, "l": 2}}, k=2))
    assert {str(pay) for pay in release.table["pay"].to_pylist()} == {"0.00000", "13.73189"}
    assert said in release.codebook
    assert "limits t=0.1, l=2 (at least 2 different values in each class)." in release.codebook
    assert said not in tc.anonymize(tmp_path / "people.csv", tc.Policy(["age"], {"ill": 0.1}, k=2, drop=["pay"])).codebook


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (tc.Quasi("town", hierarchy={"north": ["a1", "a2"], "south": ["b1", "b2"]}), True),
        (tc.Quasi("town", hierarchy="prefixes"), False),  # a label as a* says what it stands for
        (tc.Quasi("town"), False),
    ],
)
def test_codebook_and_report_say_where_the_labels_of_a_hierarchy_are_explained(column: tc.Quasi, said: bool) -> None:
    people = pa.table({"town": ["a1", "a2", "b1", "b2"] * 5, "ill": list("ababababbabababababa")})
    release = tc.anonymize(people, tc.Policy([column], {"ill": 1}, k=6))
    text = (
        "What each label of a publisher's hierarchy stands for is in that hierarchy, which the publisher can hand out with "
        "the release."
    )
    assert (text in release.codebook) is said
    assert (text in unescape(release.to_html())) is said


def test_the_shell_completes_commands_and_options() -> None:
    def completed(words: str, index: int) -> str:
        env = {**os.environ, "_TCLOSE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(index)}
        main = "import sys; sys.argv = ['tclose']; from tclose.cli import main; main()"
        return subprocess.run([sys.executable, "-c", main], env=env, capture_output=True, text=True, check=True).stdout

    assert completed("tclose an", 1).split() == ["anonymize"]
    assert completed("tclose audit --cl", 2).split() == ["--classes"]
