"""Hierarchies made by rules, in releases: what is published, what a reader verifies, and what a suppressed row leaves behind."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.columns.domains import labelling_of
from tclose.distances.choose import arrange
from tclose.make.encode import as_published, encode
from tclose.policy import files_of
from tclose.tables.readers import open_reader
from tclose.tables.table import open_table
from tclose.values.builders import read_builder
from tclose.values.hierarchy import joined
from tests.support.verdicts import encoded_table

ICD = [["A00-A09", "A00-B99"], ["A15-A19", "A00-B99"], ["C00-C97", "C00-D48"], ["E10-E14", "E00-E90"]]
ROWS = 60


def column(name: str, seed: int = 3) -> list[Any]:
    rng = np.random.default_rng(seed)
    if name == "born":
        return [date(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 400, ROWS)]
    if name == "icd":
        return list(map(str, rng.choice(["A04", "A04.7", "A15", "C50.1", "C61", "E11"], ROWS)))
    if name == "zip":
        return [f"476{code:02}" for code in rng.integers(0, 30, ROWS)]
    return list(map(int, rng.integers(18, 90, ROWS)))


RULES: list[tuple[str, dict[str, Any], Any]] = [
    ("age", {"intervals": [5, 20]}, 200),
    ("age", {"rounding": [10, 50]}, 200),
    ("age", {"cuts": [[30, 45, 60], [45]]}, 200),
    ("zip", {"prefixes": [4, 3]}, "99999-999"),
    ("born", {"dates": ["month", "year"]}, date(1901, 1, 1)),
    ("born", {"dates": ["week"]}, date(1901, 1, 1)),
    ("icd", {"ranges": ICD}, "C97.9"),
]


@pytest.mark.parametrize("n", [None, 10])
@pytest.mark.parametrize(("name", "rule", "_"), RULES)
def test_a_release_publishes_labels_of_the_rule_and_is_verified(
    name: str, rule: dict[str, Any], _: Any, n: int | None, tmp_path: Path
) -> None:
    values = column(name)
    table = pa.table({name: values, "s": list("xyz") * (ROWS // 3)})
    policy = tc.Policy([tc.Quasi(name, hierarchy=rule)], {"s": 0.4}, k=5, n=n)
    for algorithm in ("mondrian", "incognito") if n is None else ("mondrian",):
        release = tc.anonymize(table, policy, algorithm=algorithm)
        tree = tc.Hierarchy(joined(read_builder(rule).paths(list(set(values)))))
        assert set(release.table[name].to_pylist()) <= set(tree.labels)
        data, certificate, *_others = release.write(tmp_path / f"{algorithm}.csv")
        assert tc.verify(data, certificate).holds
        if n is not None:
            assert json.loads(certificate.read_text())["policy"]["quasi"][name]["hierarchy"] == rule


@pytest.mark.parametrize(("name", "rule", "outlier"), RULES)
def test_a_suppressed_row_leaves_no_trace(name: str, rule: dict[str, Any], outlier: Any) -> None:
    """What is published of the others is the same, to the codebook, as if it had never been there."""
    values = column(name)
    policy = tc.Policy([tc.Quasi(name, hierarchy=rule)], {"s": 1}, k=2, suppression="1/61")
    everybody = {name: [*values, outlier, outlier], "s": [*list("xyz") * (ROWS // 3), "x", "y"]}
    with_outlier = open_table(open_reader(pa.table(everybody)), {name: "auto", "s": "auto"})
    encoded = encode(with_outlier, policy, None, [], lambda _: None)
    comp = as_published(with_outlier, policy, encoded, np.flatnonzero(encoded.order < ROWS))
    ref = encoded_table({name: values, "s": everybody["s"][:ROWS]}, policy)
    pairs = [(scale, scale.at_level(1)) for scale in (comp.scales[0], ref.scales[0])]
    for of_comp, of_ref in zip(*pairs, strict=True):
        for size in (1, 2, 7, ROWS):
            starts = np.array([*range(0, ROWS, size), ROWS])
            published = [scale.publish(np.sort(table.quasi[0]), starts) for scale, table in ((of_comp, comp), (of_ref, ref))]
            texts = [[one.columns[name].values[index] for index in one.columns[name].indices] for one in published]
            assert texts[0] == texts[1]
            assert published[0].ncp.tolist() == published[1].ncp.tolist()
        assert of_comp.describe(name, missing=False) == of_ref.describe(name, missing=False)
        assert str(outlier) not in of_comp.describe(name, missing=False)


# --- sensitive attributes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule"), [*((name, rule) for name, rule, _ in RULES), ("born", "dates")])
def test_a_rule_serves_as_distance(name: str, rule: Any, tmp_path: Path) -> None:
    values = column(name)
    table = pa.table({"q": [row % 7 for row in range(ROWS)], name: values})
    policy = tc.Policy(["q"], [tc.Sensitive(name, t=0.35, hierarchy=rule)], k=5, suppression="1/20")
    assert policy.sensitive[0].kind == "hierarchical"
    release = tc.anonymize(table, policy, algorithm="mondrian")
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert json.loads(certificate.read_text())["policy"]["sensitive"][name]["hierarchy"] == rule
    assert tc.verify(data, certificate).holds
    policy.save(tmp_path / "policy.yaml")
    assert tc.Policy.load(tmp_path / "policy.yaml") == policy
    written_out = tc.Policy(["q"], [tc.Sensitive(name, t=0.35, hierarchy=labelling_of(policy.sensitive[0], values))])
    measured = [tc.audit(table, asked).sensitive[name].t_exact for asked in (policy, written_out)]
    assert measured[0] == measured[1] > 0


@pytest.mark.parametrize(("name", "rule", "_"), RULES)
def test_the_distance_of_two_values_does_not_depend_on_the_others(name: str, rule: Any, _: Any) -> None:
    asked = tc.Sensitive(name, t=0.3, hierarchy=rule)
    values = sorted(set(column(name)))
    ordered, whole = arrange("hierarchical", values, labelling_of(asked, values))
    for first in range(0, len(ordered), 3):
        for second in range(first + 1, len(ordered), 5):
            pair = [ordered[first], ordered[second]]
            _, alone = arrange("hierarchical", pair, labelling_of(asked, pair))
            assert alone.ground(0, 1) == whole.ground(first, second)


def test_sensitive_rules_refuse_what_they_cannot_measure() -> None:
    with pytest.raises(tc.HierarchyError, match=r"^Column 'zip': prefixes of a sensitive attribute must name their levels"):
        tc.Sensitive("zip", hierarchy="prefixes")
    table = pa.table(
        {"q": [1, 1, 2, 2], "icd": ["A04", "Z99", "A04", "A04"], "code": ["=1", "a", "b", "c"], "gone": ["A04", None] * 2}
    )
    for name, rule, says in (
        ("icd", {"ranges": ICD}, "hierarchy: ranges of 'icd': a value must be in one of the ranges. Got 'Z99', first in row 2. Add"),
        ("code", {"prefixes": [1]}, "a value must be a code that no spreadsheet takes for a formula. Got '=1', first in row 1."),
        ("icd", {"intervals": [5]}, "hierarchy: intervals of 'icd': a value must be a finite number. Got 'A04', first in row 1, and 1 other"),
        ("gone", {"ranges": ICD}, "'gone' must have a value in every row for the hierarchical distance. Got 2 missing"),
    ):  # fmt: skip
        with pytest.raises(tc.TcloseError) as caught:
            tc.audit(table, tc.Policy(["q"], [tc.Sensitive(name, t=0.3, hierarchy=rule)]))
        assert says in str(caught.value)


def test_a_certificate_names_no_file_of_ranges(tmp_path: Path) -> None:
    table = pa.table({"q": [row % 7 for row in range(ROWS)], "icd": column("icd")})
    policy = tc.Policy(["q"], [tc.Sensitive("icd", t=0.5, hierarchy={"ranges": ICD})], k=5)
    data, certificate, *_ = tc.anonymize(table, policy, algorithm="mondrian").write(tmp_path / "release.csv")
    said = json.loads(certificate.read_text())
    said["policy"]["sensitive"]["icd"]["hierarchy"] = {"ranges": "/etc/passwd"}
    certificate.write_text(json.dumps(said))
    with pytest.raises(tc.InputError, match="does not write out the hierarchy of a column"):
        tc.verify(data, certificate)


def test_a_file_of_ranges_is_found_beside_the_policy(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "blocks.csv").write_text("A00-A09;A00-B99\nC00-C97;C00-D48\n")
    text = "quasi: {icd: {hierarchy: {ranges: blocks.csv}}}\nsensitive: {code: {t: 0.3, hierarchy: {ranges: blocks.csv}}}\nk: 5\n"
    (folder / "policy.yaml").write_text(text)
    policy = tc.Policy.load(folder / "policy.yaml")
    assert policy.quasi[0].hierarchy.rows == (("A00-A09", "A00-B99"), ("C00-C97", "C00-D48"))
    assert files_of(policy) == [folder / "blocks.csv"] * 2
    policy.save(tmp_path / "copy.yaml")
    assert "ranges: project/blocks.csv" in (tmp_path / "copy.yaml").read_text()
    assert tc.Policy.load(tmp_path / "copy.yaml") == policy
    written_out = policy.to_dict(None)["sensitive"]["code"]["hierarchy"]
    assert written_out == {"ranges": [["A00-A09", "A00-B99"], ["C00-C97", "C00-D48"]]}
    with pytest.raises(tc.OutputError, match="is read as an input, and would be overwritten"):
        policy.save(folder / "blocks.csv", force=True)


def test_dates_with_a_time_of_day_are_refused() -> None:
    table = pa.table({"at": [datetime(2024, 3, 5, 8), datetime(2024, 3, 6, 9)], "s": ["x", "y"]})
    with pytest.raises(
        tc.PolicyError, match=r"^hierarchy: dates of 'at' needs dates without a time of day\. The column holds timesta"
    ):
        tc.anonymize(table, tc.Policy([tc.Quasi("at", hierarchy={"dates": ["month"]})], ["s"], k=2))
