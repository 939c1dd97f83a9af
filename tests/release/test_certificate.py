"""The papers of a release: the public one tells nothing that the release does not, and every figure in it is checked."""

from __future__ import annotations

import copy
import json
import re
import shutil
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tclose as tc
import tclose.release.anonymize
from tclose.release.certificate import Commitment, codebook, to_json
from tclose.release.verify import verify
from tests.support.examples import examples
from tests.support.releases import able

FEW = settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

Columns = dict[str, list[Any]]
Papers = tuple[str, str]


def papers(columns: Any, policy: tc.Policy, **options: Any) -> tuple[bytes, Papers]:
    """The release as bytes, and its public papers."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    release = tc.anonymize(table, policy, **options)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, release.table.schema) as writer:
        writer.write_table(release.table.combine_chunks())
    return sink.getvalue().to_pybytes(), (to_json(release.certificate), codebook("release.csv", release.certificate, ""))


def changed(columns: Columns, name: str, row: int, value: Any) -> Columns:
    return {**columns, name: [value if place == row else old for place, old in enumerate(columns[name])]}


# --- what it says -----------------------------------------------------------------------------------------------------


def people(rows: int = 40) -> Columns:
    return {
        "name": [f"P{row:03d}" for row in range(rows)],
        "age": [20 + row * 7 % 40 for row in range(rows - 1)] + [400],
        "zip": [f"4{row % 3}{row % 7}" for row in range(rows)],
        "salary": [row % 5 for row in range(rows)],
        "ill": [["flu", "cold", "gout"][row % 3] for row in range(rows)],
    }


POLICY = tc.Policy(
    ["age", tc.Quasi("zip", weight=2, despite="a small table")],
    {
        "salary": {"t": 0.4, "l": 2, "beta": 5, "delta": 5, "delta_kind": "lenient"},
        "ill": {"t": 0.5, "hierarchy": {"lung": ["flu", "cold"], "joint": ["gout"]}},
    },
    k=4,
    alpha=0.8,
    suppression=0.05,
    identifiers=["name"],
)


def leaves(paper: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(paper, dict | list):
        for key, value in paper.items() if isinstance(paper, dict) else enumerate(paper):
            yield from leaves(value, (*path, key))
    else:
        yield path, paper


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release and its papers, made once."""
    folder = tmp_path_factory.mktemp("release")
    tc.anonymize(pa.table(people()), POLICY, algorithm="mondrian", seed=987654321).write(folder / "release.csv")
    return folder


@pytest.fixture
def written(release: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A copy of a release, its certificate and its record: tests tamper with them."""
    shutil.copytree(release, tmp_path, dirs_exist_ok=True)
    data = tmp_path / "release.csv"
    return data, Path(f"{data}.certificate.json"), Path(f"{data}.private.json")


def test_the_certificate_says_what_is_public_and_no_more(written: tuple[Path, Path, Path]) -> None:
    _, certificate, record = written
    text, found = certificate.read_text(), json.loads(certificate.read_text())
    assert set(found) == {
        "statement", "tool", "version", "rows", "classes", "row_order", "columns", "policy", "counted", "attained", "unique_rows",
        "loss", "release",
    }  # fmt: skip
    assert set(found["policy"]) == {"quasi", "sensitive", "k", "alpha"}
    assert all(set(column or {}) <= {"type", "recode", "weight"} for column in found["policy"]["quasi"].values())
    assert found["policy"]["sensitive"]["ill"]["hierarchy"] == {"*": {"lung": ["flu", "cold"], "joint": ["gout"]}}
    assert found["statement"] == "t-closeness verified for these quasi-identifiers; not a legal determination"
    private = json.loads(record.read_text())
    assert private["seed"] == 987654321
    for secret in (
        "987654321",
        private["input"]["hmac_sha256"],
        private["input"]["hmac_key"],
        "suppress",
        "seed",
        "effort",
        "hmac",
        "input_",
    ):
        assert secret not in text.replace("As in the input", "")
    for paper in (text, record.read_text()):
        assert str(certificate.parent) not in paper
        assert not re.search(r"/tmp|/home|[0-9]{2}:[0-9]{2}:[0-9]{2}|20[0-9]{2}-[0-9]{2}-[0-9]{2}T", paper)
    digests = re.findall(r"\b[0-9a-f]{40,}\b", certificate.read_text())
    assert digests == [found["release"]["sha256"]]


def test_the_record_is_for_its_owner_and_says_what_the_certificate_hides(written: tuple[Path, Path, Path]) -> None:
    data, certificate, record = written
    found = json.loads(record.read_text())
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(certificate.stat().st_mode) == stat.S_IMODE(data.stat().st_mode) != 0o600
    assert found["internal"].startswith("INTERNAL")
    assert tc.Policy(**found["policy"]) == POLICY
    assert found["suppressed"] == 40 - json.loads(certificate.read_text())["rows"] > 0
    assert found["input"]["rows"] == 40
    assert found["algorithm"] == "mondrian"
    for name, attained in found["attained_against_input"].items():
        assert 0 <= Fraction(attained["t_exact"]) <= next(column.t for column in POLICY.sensitive if column.name == name)


def test_a_commitment_is_opened_by_its_key_and_by_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def commitments(columns: Any, policy: tc.Policy = POLICY) -> tuple[str, str]:
        found = tc.anonymize(columns if isinstance(columns, pd.DataFrame) else pa.table(columns), policy).record["input"]
        return found["hmac_sha256"], found["hmac_key"]

    first, second = commitments(people()), commitments(people())
    assert first[1] != second[1]
    assert first[0] != second[0]
    key = bytes.fromhex(first[1])
    monkeypatch.setattr(tclose.release.anonymize, "Commitment", lambda: Commitment(key))
    assert commitments(people()) == first
    for name, value in (("age", 99), ("zip", "499"), ("salary", 1), ("ill", "gout")):
        assert commitments(changed(people(), name, 3, value))[0] != first[0]
    order = [*range(20, 40), *range(20)]
    assert commitments({name: [values[row] for row in order] for name, values in people().items()})[0] != first[0]
    renamed = {("years" if name == "age" else name): values for name, values in people().items()}
    other = tc.Policy(["years", tc.Quasi("zip", despite="a small table")], ["salary", "ill"], k=4, other="drop")
    assert commitments(renamed, other)[0] != first[0]


def test_a_commitment_to_empty_texts_missing_cells_and_their_borders() -> None:
    def commitment(texts: list[str | None]) -> str:
        return str(
            tc.anonymize(pa.table({"q": texts, "s": [1] * len(texts)}), tc.Policy(["q"], ["s"], k=2)).record["input"][
                "hmac_sha256"
            ]
        )

    tables: list[list[str | None]] = [
        ["ab", "c"],
        ["a", "bc"],
        ["abc", ""],
        ["abc", None],
        ["", "abc"],
        [None, "abc"],
        ["abc", "abc"],
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tclose.release.anonymize, "Commitment", lambda: Commitment(bytes(32)))
        assert len({commitment(texts) for texts in tables}) == len(tables)


def test_a_commitment_to_the_labels_of_ordered_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tclose.release.anonymize, "Commitment", lambda: Commitment(bytes(32)))
    found = set()
    for labels in (["x", "y"], ["v", "w"]):
        frame = pd.DataFrame({"q": pd.Categorical(labels * 4, categories=labels, ordered=True), "s": [1, 2] * 4})
        found.add(tc.anonymize(frame, tc.Policy(["q"], {"s": 0.9}, k=2)).record["input"]["hmac_sha256"])
    assert len(found) == 2


# --- the attacker -----------------------------------------------------------------------------------------------------

SCALES: list[tuple[list[Any], list[dict[str, Any]]]] = [
    (
        [1, 2, 3, 5, 8, 13],
        [
            {},
            {"recode": "bounds"},
            {"recode": "centroid"},
            {"recode": "set"},
            {"snap": 4},
            {"top": 8, "bottom": 2},
            {"hierarchy": {"few": [1, 2, 3], "many": {"some": [5, 8], "most": [13]}}},
        ],
    ),
    ([date(2024, month, 1) for month in (1, 2, 3, 11)], [{}, {"snap": "quarter"}, {"recode": "bounds"}]),
    (["a", "ab", "b", "c"], [{}, {"hierarchy": {"x": ["a", "ab"], "y": ["b", "c"]}}]),
]
SENSITIVE: list[tuple[list[Any], dict[str, Any]]] = [
    ([1, 2, 3, 9], {}),
    ([1, 2, 3, 9], {"distance": "numeric"}),
    ([1, 2, 3, 9], {"bins": {"width": 3}}),
    ([1, 2, 3, 9], {"bins": 2}),
    (["u", "v", "w"], {}),
    (["u", "v", "w"], {"hierarchy": {"x": ["u", "v"], "y": ["w"]}}),
]


@FEW
@given(st.data())
def test_who_knows_all_but_one_cell_learns_no_more_than_from_the_release(data: st.DataObject) -> None:
    """All candidates for one cell are tried; those that give one release give the same papers."""
    rows = data.draw(st.integers(8, 20), "rows")
    columns: Columns = {}
    quasi, domains = [], {}
    for place in range(data.draw(st.integers(1, 2), "quasi")):
        values, ways = data.draw(st.sampled_from(SCALES))
        name = f"q{place}"
        domains[name] = values
        columns[name] = data.draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows), name)
        quasi.append(tc.Quasi(name, **data.draw(st.sampled_from(ways))))
    values, asked = data.draw(st.sampled_from(SENSITIVE))
    domains["s"] = values
    columns["s"] = data.draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows), "s")
    columns["name"] = [f"P{row}" for row in range(rows)]
    columns["gone"] = [f"G{row}" for row in range(rows)]
    domains |= {"name": ["P0", "somebody"], "gone": ["x", "y"]}
    policy = tc.Policy(
        quasi,
        {"s": {"t": data.draw(st.sampled_from([0.3, 0.6, 1])), **asked}},
        k=data.draw(st.integers(2, 4)),
        suppression=data.draw(st.sampled_from([0, 0.2])),
        n=data.draw(st.sampled_from([None, None, 4])) if all(column.recode == "range" for column in quasi) else None,
        unit="row",
        identifiers=["name"],
        drop=["gone"],
    )
    texts = isinstance(values[0], str) and not asked
    algorithm = data.draw(st.sampled_from(able(policy, equal=[texts])), "algorithm")
    name = data.draw(st.sampled_from(sorted(domains)), "column")
    row = data.draw(st.integers(0, rows - 1), "row")
    indistinct: dict[bytes, set[Papers]] = defaultdict(set)
    for candidate in domains[name]:
        release, public = papers(changed(columns, name, row, candidate), policy, algorithm=algorithm)
        indistinct[release].add(public)
    assert {len(found) for found in indistinct.values()} == {1}


INNER: dict[str, tuple[tc.Quasi, list[Any], Any, Any]] = {
    "inside a range": (tc.Quasi("q"), [1, 5, 9, 9], 5, 6),
    "inside bounds": (tc.Quasi("q", recode="bounds"), [1, 5, 9, 9], 5, 6),
    "inside a cell": (tc.Quasi("q", snap=10), [1, 5, 9, 9], 9, 2),
    "beyond the top": (tc.Quasi("q", top=50), [1, 5, 9, 9], 105, 800),
    "under a label": (tc.Quasi("q", hierarchy={"a": [1, 5, 9, 6], "b": [101, 102, 103]}), [1, 5, 9, 9], 5, 6),
    "within a prefix": (tc.Quasi("q", hierarchy="prefixes"), ["41", "45", "49", "49"], "45", "46"),
    "within a month": (
        tc.Quasi("q", hierarchy="dates"),
        [date(2024, 1, day) for day in (1, 5, 9, 9)],
        date(2024, 1, 5),
        date(2024, 1, 7),
    ),
    "within a week": (
        tc.Quasi("q", snap="month"),
        [date(2024, 1, day) for day in (1, 5, 9, 9)],
        date(2024, 1, 5),
        date(2024, 1, 30),
    ),
}


@pytest.mark.parametrize(
    "which",
    [pytest.param(which) if which in ("within a prefix", "within a month") else which for which in sorted(INNER)],
)
def test_an_inner_value_leaves_no_trace(which: str) -> None:
    quasi, values, old, new = INNER[which]
    far: Callable[[Any], Any] = {
        int: lambda value: value + 100,
        str: lambda value: f"9{value[1:]}",
        date: lambda value: value.replace(year=2031, month=6),
    }[type(old)]
    others = [far(values[0])] * 6 + [far(values[1])] * 3
    if isinstance(old, int) and quasi.hierarchy is not None:
        others = [101] * 6 + [103] * 3
    columns: Columns = {"q": [*values, *values, *others], "s": [1, 2, 3, 2] * 4 + [3]}
    row = columns["q"].index(old)
    policy = tc.Policy([quasi], {"s": 0.9}, k=8)
    release, public = papers(columns, policy)
    other, same = papers(changed(columns, "q", row, new), policy)
    assert tc.anonymize(pa.table(columns), policy).audit.classes == 2
    assert release == other
    assert public == same


@pytest.mark.parametrize("recode", ["range", "bounds", "centroid", "set", "level"])
def test_a_row_that_is_left_out_leaves_no_trace(recode: Any) -> None:
    """Nor does what it misses: neither in the release nor in the papers."""
    hierarchy: dict[str, Any] = {"hierarchy": {"x": [1, 2], "w": [5, 9, 7], "y": [100, 200]}} if recode == "level" else {}
    policy = tc.Policy([tc.Quasi("q", recode=recode, **hierarchy)], {"s": 0.3}, k=4, suppression=0.1)
    values: list[Any] = [1] * 8 + [5] * 8 + [9] * 8
    found = set()
    for candidate in (100, 200, None):
        table = pa.table({"q": pa.array([*values, candidate], pa.int64()), "s": [3, 5, 4, 6] * 6 + [4]})
        assert tc.anonymize(table, policy, algorithm="mondrian").partition[-1] == -1
        found.add(papers(table, policy, algorithm="mondrian"))
    assert len(found) == 1


def test_another_order_of_rows_leaves_no_trace() -> None:
    columns = people()
    order = sorted(range(40), key=lambda row: row * 17 % 40)
    shuffled = {name: [values[row] for row in order] for name, values in columns.items()}
    one = replace(POLICY, sensitive=POLICY.sensitive[:1], drop=["ill"])
    for algorithm in able(one):
        policy = POLICY if algorithm in able(POLICY) else one
        assert papers(columns, policy, algorithm=algorithm) == papers(shuffled, policy, algorithm=algorithm)
    assert papers(columns, POLICY, algorithm="mondrian", seed=1) == papers(columns, POLICY, algorithm="mondrian", seed=2)


# --- verify -----------------------------------------------------------------------------------------------------------


def holds(data: Path, certificate: Path) -> bool:
    """Whether verify confirms; a refusal to read is no confirmation."""
    try:
        return verify(data, certificate).holds
    except tc.TcloseError:
        return False


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("n", [None, 12])
def test_verify_needs_the_two_files_alone(suffix: str, n: int | None, tmp_path: Path) -> None:
    policy = tc.Policy(**{**POLICY.to_dict(None), "n": n} | ({"suppression": 0, "alpha": None} if n else {}))
    made = tc.anonymize(pa.table(people()), policy).write(tmp_path / f"release{suffix}")
    other = tmp_path / "elsewhere"
    other.mkdir()
    data, certificate = (path.rename(other / path.name) for path in made[:2])
    for path in made[2:]:
        path.unlink()
    found = verify(data, certificate)
    assert found.holds
    assert all(finding.holds for finding in found.findings)
    assert found.audit.satisfied


def test_regions_are_needed_and_are_found_in_the_file(tmp_path: Path) -> None:
    rows = 120
    columns = {"age": [row % 60 for row in range(rows)], "s": [row % 60 // 15 * 3 + row % 3 for row in range(rows)]}
    release = tc.anonymize(pa.table(columns), tc.Policy(["age"], {"s": 0.25}, k=4, n=40), algorithm="mondrian")
    assert any(release.audit.sensitive["s"].t_exact > limit for limit in [Fraction(1, 4)])  # the table alone would not do
    data, certificate, *_ = release.write(tmp_path / "release.csv")
    assert verify(data, certificate).holds
    said = json.loads(certificate.read_text())
    certificate.write_text(json.dumps({**said, "policy": {**said["policy"], "n": 119}}))
    assert not holds(data, certificate)


def tampered(data: Path, certificate: Path, change: Callable[[dict[str, Any]], Any]) -> bool:
    said = json.loads(certificate.read_text())
    before = copy.deepcopy(said)
    change(said)
    assert said != before
    certificate.write_text(to_json(said))
    found = holds(data, certificate)
    certificate.write_text(to_json(before))
    return found


def test_a_changed_file_is_found_out(written: tuple[Path, Path, Path]) -> None:
    data, certificate, _ = written
    lines = data.read_text().splitlines(keepends=True)
    assert verify(data, certificate).holds
    swapped = [lines[0], lines[2], lines[1], *lines[3:]]
    cell = [*lines[:5], re.sub(r",(\d),", lambda match: f",{(int(match[1]) + 1) % 5},", lines[5], count=1), *lines[6:]]
    for other in (lines[:-1], [*lines, lines[-1]], cell, swapped, [line.replace("\n", "\r\n") for line in lines]):
        assert other != lines
        data.write_text("".join(other), newline="")
        assert not holds(data, certificate)
    data.write_text("".join(lines), newline="")
    assert verify(data, certificate).holds


def test_a_changed_file_is_found_out_even_with_its_new_hash(written: tuple[Path, Path, Path]) -> None:
    """Who forges the hash too is caught by the figures, where the change moves one of them."""
    from tclose.tables.files import sha256_of

    data, certificate, _ = written
    lines = data.read_text().splitlines(keepends=True)
    data.write_text("".join(lines[:-1]))
    said = json.loads(certificate.read_text())
    said["release"]["sha256"] = sha256_of(data)
    certificate.write_text(to_json(said))
    assert not holds(data, certificate)


def set_t(name: str, key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda said: said["attained"]["sensitive"][name].update({key: value})


@pytest.mark.parametrize(
    "change",
    [
        set_t("salary", "t", 0.001),
        set_t("salary", "t_exact", "1/1000"),
        set_t("ill", "l_distinct", 3),
        set_t("salary", "share", 0.1),
        lambda said: said["attained"].update(k=400),
        lambda said: said.update(rows=said["rows"] + 1),
        lambda said: said["policy"]["sensitive"]["salary"].update(t=0.0001),
        lambda said: said["policy"].update(k=30),
        lambda said: said["policy"].update(alpha=0.1),
        pytest.param(
            lambda said: said["policy"]["quasi"].pop("age"),
        ),
        lambda said: said["columns"].reverse(),
        lambda said: said["release"].update(sha256="0" * 64),
    ],
)
def test_a_changed_certificate_is_found_out(change: Callable[[dict[str, Any]], Any], written: tuple[Path, Path, Path]) -> None:
    assert not tampered(*written[:2], change)


LOOSER: dict[str, Callable[[dict[str, Any]], Any]] = {
    "t": lambda said: said["policy"]["sensitive"]["salary"].update(t=0.9),
    "no t": lambda said: said["policy"]["sensitive"]["salary"].pop("t"),
    "beta": lambda said: said["policy"]["sensitive"]["salary"].update(beta=50),
    "l": lambda said: said["policy"]["sensitive"]["salary"].pop("l"),
    "alpha": lambda said: said["policy"].pop("alpha"),
    "k": lambda said: said["policy"].update(k=2),
}


@pytest.mark.parametrize("limit", ["k", *(pytest.param(limit) for limit in sorted(LOOSER) if limit != "k")])
def test_loosened_limits_are_found_out(limit: str, written: tuple[Path, Path, Path]) -> None:
    """The limits stand in the certificate twice: as a policy, and in the words about each column."""
    assert not tampered(*written[:2], LOOSER[limit])


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"tool": 1, "policy": 2, "attained": 3, "release": 4}', "\ufffe"])
def test_what_is_no_certificate_is_refused_in_a_sentence(text: str, written: tuple[Path, Path, Path]) -> None:
    written[1].write_text(text)
    with pytest.raises(tc.InputError, match=r"ertificate"):
        verify(*written[:2])
