"""How a table is read is said aloud: the policy's `input`, and a sentence for every column."""

from __future__ import annotations

import json
import random
import warnings
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tclose as tc


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def quiet(table: Any, policy: tc.Policy) -> tc.Audit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tc.ReadingWarning)
        return tc.audit(table, policy)


def sentence(table: Any, **settings: Any) -> str:
    return quiet(table, tc.Policy(quasi=["q"], sensitive=["s"], **settings)).readings["q"].sentence


def column(tmp_path: Path, cells: list[str]) -> Path:
    return write(tmp_path / "t.csv", "q;s\n" + "".join(f"{cell};1\n" for cell in cells))


# --- a sentence for every column --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], "q: whole numbers, taken as ordered; `type: category` if they are codes"),
        (["1.5", "2"], "q: numbers"),
        (["2024-01-31", "2024-02-01"], "q: dates"),
        (["2024-01-31T08:30Z", "2024-02-01T09:00Z"], "q: timestamps written as 2024-02-01T08:30Z"),
        (["a", "b"], "q: text"),
        (["04711", "12345"], "q: text"),
        (["1"] * 9 + ["NA"], "q: text, because 1 of 10 cells is no number; `input: {missing: [NA]}` reads it"),
        (["1", "2", "3", "?", "null"], 'q: text, because 2 of 5 cells are no numbers; `input: {missing: ["?", "null"]}` reads them'),
        (
            ["1"] * 19 + ["Smith"],
            "q: text, because 1 of 20 cells is no number, in row 20; mend it, or name its text in `input: {missing: [...]}`",
        ),
        (["12,5", "7"], "q: text; its cells look like numbers with a decimal comma; `input: {decimal: ','}` reads them"),
        (
            ["12,5", "7,25", "NA"],
            "q: text, because 1 of 3 cells is no number; its other cells look like numbers with a decimal comma; "
            "`input: {decimal: ',', missing: [NA]}` reads it",
        ),
        (["31.01.2024", "01.02.2024"], "q: text; its cells look like dates as 01.02.2024; `input: {dates: DD.MM.YYYY}` reads them"),
        (["1/31/2024", "2/1/2024"], "q: text; its cells look like dates as 2/1/2024; `input: {dates: M/D/YYYY}` reads them"),
        (
            ["01/02/2024", "03/04/2024"],
            "q: text; its cells look like dates as 01/02/2024; `input: {dates: DD/MM/YYYY}` reads them; "
            "or `dates: MM/DD/YYYY`, where the month comes first",
        ),
        (
            ["2024-01-31 08:30", "2024-01-31 08:30Z"],
            "q: text; its timestamps are written in 2 forms, or with 2 distances from UTC. Write them in one",
        ),
        (["2024-02-28", "2024-02-30"] * 5, "q: text"),
        (["1.5", "1.50"], "q: text, because numbers are written in two ways, as 1.5 and 1.50, or have too many digits"),
        (["[1, 2]"] + ["3"] * 30, "q: text"),  # a release
    ],
)  # fmt: skip
def test_how_a_column_was_read(tmp_path: Path, cells: list[str], expected: str) -> None:
    assert sentence(column(tmp_path, cells)) == expected


def test_a_sensitive_column_has_its_own_remedy(tmp_path: Path) -> None:
    found = tc.audit(column(tmp_path, ["1", "2"]), tc.Policy(["q"], ["s"])).readings["s"]
    assert found == tc.Reading(
        "s", "integer", "s: whole numbers, taken as ordered; `distance: equal` if they are codes", "distance: equal"
    )


def test_what_is_nearly_numbers_warns_unless_the_policy_says_what_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "q,s\n" + "1,1\n" * 9 + "NA,NA\n")
    with pytest.warns(tc.ReadingWarning) as found:
        tc.audit(path, tc.Policy(["q"], ["s"]))
    assert [str(warning.message).partition(":")[0] for warning in found] == ["Column q", "Column s"]
    assert Path(found[0].filename).name == "test_reading.py"
    tc.audit(path, tc.Policy([tc.Quasi("q", type="text")], [tc.Sensitive("s", distance="equal")]))
    tc.audit(path, tc.Policy(["q"], [tc.Sensitive("s", missing="value")], input={"missing": ["NA"]}))


def test_an_order_that_is_asked_for_says_what_is_in_the_way(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "q,s\n" + "1,1\n" * 9 + "1,NA\n")
    with pytest.raises(
        tc.PolicyError, match=r"Column s: text, because 1 of 10 cells is no number; `input: \{missing: \[NA\]\}` reads it"
    ):
        tc.audit(path, tc.Policy(["q"], {"s": {"distance": "ordered"}}))


def test_text_of_a_frame_is_text_and_its_sentence_says_how_it_would_be_read() -> None:
    assert sentence(pd.DataFrame({"q": ["1", "2"], "s": [1, 1]})) == (
        "q: text, by its type; its cells are numbers, and `input: {decimal: '.'}` reads them"
    )
    frame = pd.DataFrame({"q": ["1,5", "2", "NA"], "s": [1, 1, 1]})
    assert sentence(frame) == (
        "q: text, because 1 of 3 cells is no number; its other cells look like numbers with a decimal comma; "
        "`input: {decimal: ',', missing: [NA]}` reads it"
    )
    assert sentence(frame, input={"decimal": ",", "missing": "NA"}) == "q: numbers with a decimal comma"
    dates = pd.DataFrame({"q": ["31.01.2024", "01.02.2024"], "s": [1, 1]})
    assert sentence(dates, input={"dates": "%d.%m.%Y"}) == "q: dates written as DD.MM.YYYY"


def test_readings_are_in_the_json_and_in_the_record_and_not_in_the_certificate(tmp_path: Path) -> None:
    policy = tc.Policy(["q"], ["s"], k=2, input={"missing": ["NA"]})
    path = column(tmp_path, ["1", "1", "2", "2", "NA", "NA"])
    line = "q: whole numbers, taken as ordered; `type: category` if they are codes"
    assert json.loads(tc.audit(path, policy).to_json())["readings"]["q"] == {
        "kind": "integer", "sentence": line, "remedy": "type: category", "doubtful": False,
    }  # fmt: skip
    release = tc.anonymize(path, policy)
    assert release.readings["q"].sentence == line
    assert release.record["readings"]["q"]["sentence"] == line
    assert release.record["policy"]["input"] == {"missing": ["NA"]}
    assert "input" not in release.certificate["policy"]
    assert "readings" not in json.dumps(release.certificate)


# --- input ------------------------------------------------------------------------------------------------------------

GERMAN = "Ort;Aufnahme;Größe\n" + "".join(
    f"{town};{day:02d}.0{month}.2024;{size},{size % 4 * 25:02d}\n"
    for day, month, size, town in ((d, 1 + d % 3, 150 + 7 * d % 40, ("Köln", "Berlin")[d % 2]) for d in range(1, 25))
)
SETTINGS: dict[str, Any] = {"delimiter": ";", "decimal": ",", "dates": "DD.MM.YYYY", "missing": ["NA", ""]}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "iso-8859-15", "mac-roman"])
def test_from_a_file_in_another_form_to_a_release_that_is_audited_with_the_same_policy(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path / "in.csv", GERMAN, encoding)
    policy = tc.Policy(["Ort", "Aufnahme"], {"Größe": 0.4}, k=3, input={**SETTINGS, "encoding": encoding})
    policy.save(tmp_path / "policy.yaml")
    policy = tc.Policy.load(tmp_path / "policy.yaml")
    before = tc.audit(path, policy)
    assert {name: reading.kind for name, reading in before.readings.items()} == {
        "Ort": "text",
        "Aufnahme": "date",
        "Größe": "decimal",
    }
    assert before.sensitive["Größe"].distance == "ordered"
    release = tc.anonymize(path, policy)
    # A Parquet or Arrow file has no encoding, so one policy that names another is enough for these.
    for name in ("out.csv", "out.parquet", "out.arrow") if encoding == "utf-16" else ("out.csv",):
        release.write(tmp_path / name)
        again = tc.audit(tmp_path / name, policy)
        assert again.satisfied
        assert (again.rows, again.classes) == (release.audit.rows, release.audit.classes)
        assert again.sensitive["Größe"].t_exact == release.audit.sensitive["Größe"].t_exact
        assert tc.verify(tmp_path / name, tmp_path / f"{name}.certificate.json").holds
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert "Köln" in text and "150,25" not in text and ";" not in text  # noqa: PT018


def test_a_comma_file_with_decimal_commas_in_quotes_is_told_from_its_release(tmp_path: Path) -> None:
    path = write(tmp_path / "in.csv", "q,s\n" + "".join(f'{row % 2},"{row},5"\n' for row in range(8)))
    policy = tc.Policy(["q"], {"s": {"t": 0.5, "distance": "numeric"}}, k=2, input={"decimal": ","})
    release = tc.anonymize(path, policy)
    release.write(tmp_path / "out.csv")
    assert tc.audit(tmp_path / "out.csv", policy).sensitive["s"].t_exact == release.audit.sensitive["s"].t_exact
    odd = write(tmp_path / "odd.csv", "q,s\n1,1.234\n1,5.678\n")
    with pytest.raises(tc.ColumnError, match=r"Column 's' has cells as 1\.234, which may be decimals or thousands"):
        tc.audit(odd, policy)


def test_texts_that_mean_no_value_are_missing_in_every_column(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "q,s\n1,a\n-99,NA\n2,b\n,a\n")
    audit = tc.audit(path, tc.Policy(["q"], ["s"], input={"missing": ["NA", -99]}))
    assert audit.class_table()["q"].to_pylist() == [1, 2, None]
    assert audit.sensitive["s"].l_distinct == 1
    typed = tc.audit(
        pa.table({"q": [1, -99, None], "s": ["a", "NA", "b"]}), tc.Policy(["q"], ["s"], input={"missing": ["NA", -99]})
    )
    assert typed.class_table()["q"].to_pylist() == [1, None]


@pytest.mark.parametrize(
    ("kind", "values", "word", "kept"),
    [
        (pa.int64(), [2**53, 2**53 + 1], 2**53, [2**53 + 1]),
        (pa.int8(), [99, 1], 300, [1, 99]),
        (pa.int8(), [99, 1], "99.0", [1]),
        (pa.int8(), [99, 1], "98.5", [1, 99]),
        (pa.float32(), [99.5, 1.5], "99.5", [1.5]),
        (pa.float32(), [0.1, 1.5], "0.1", [1.5]),
        (pa.decimal128(5, 1), [Decimal("99.9"), Decimal("1.5")], "99.90", [Decimal("1.5")]),
        (pa.decimal128(5, 1), [Decimal("99.9"), Decimal("1.5")], "99.94", [Decimal("1.5"), Decimal("99.9")]),
        (pa.decimal128(38, 1), [Decimal("9" * 36), Decimal("1.5")], "9" * 36, [Decimal("1.5")]),
        (pa.decimal128(5, 1), [Decimal("99.9"), Decimal("1.5")], "9" * 40, [Decimal("1.5"), Decimal("99.9")]),
    ],
)
def test_a_number_that_means_no_value_is_that_number_exactly(kind: Any, values: list[Any], word: Any, kept: list[Any]) -> None:
    table = pa.table({"q": pa.array(values, kind), "s": [1, 2]})
    found = tc.audit(table, tc.Policy(["q"], ["s"], input={"missing": [word]})).class_table()["q"].to_pylist()
    assert [value for value in found if value is not None] == kept


def test_a_text_that_means_no_value_must_not_be_published(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "zip,s\n123,1\n456,2\n")
    policy = tc.Policy([tc.Quasi("zip", hierarchy={"*": ["123", "456"]})], ["s"], k=2, input={"missing": ["*"]})
    with pytest.raises(tc.PolicyError, match=r"missing of input has '\*', which the release would publish in 'zip'"):
        tc.anonymize(path, policy)


def test_a_number_that_means_no_value_must_not_be_published_as_a_mean() -> None:
    table = pa.table({"age": [6, 8, 7, 7], "s": [1, 2, 1, 2]})
    policy = tc.Policy([tc.Quasi("age", recode="centroid")], ["s"], k=2, input={"missing": [7]})
    with pytest.raises(tc.PolicyError, match="missing of input has '7', which the release would publish in 'age'"):
        tc.anonymize(table, policy)


def test_a_date_beside_the_same_date_or_missing_is_another_label(tmp_path: Path) -> None:
    """The engine takes both for a date, and whatever else begins with one."""
    policy = tc.Policy([tc.Quasi("d", type="date")], {"s": 0.5}, k=2)
    release = write(tmp_path / "t.csv", "d,s\n2023-12-31,1\n2023-12-31 or missing,2\n2023-12-31,2\n2023-12-31 or missing,1\n")
    audit = tc.audit(release, policy)
    assert audit.class_table()["d"].to_pylist() == ["2023-12-31", "2023-12-31 or missing"]
    odd = write(tmp_path / "odd.csv", "d,s\n2023-12-31,1\n2023-12-30 or so,2\n")
    with pytest.raises(tc.ColumnError, match="Got 'date', and 1 cell that is none in row 2"):
        tc.audit(odd, policy)
    clocks = write(tmp_path / "clocks.csv", "d,s\n2023-12-31 00:00:00,1\n2023/1/5,2\n")
    assert [str(day) for day in tc.audit(clocks, policy).class_table()["d"].to_pylist()] == ["2023-01-05", "2023-12-31"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"decimal": ";"}, "decimal of input must be a point or a comma, in quotes. Got ';'."),
        ({"delimiter": ";;"}, "delimiter of input must be one character such as ; or tab. Got ';;'."),
        ({"encoding": "klingon"}, "encoding of input must be one of utf-8, utf-16, latin-1, cp1252, iso-8859-2, iso-8859-15, cp1250, cp1251, cp437, cp850, mac-roman. Got 'klingon'."),
        ({"dates": "DD.MM.YY"}, "dates of input must be a form such as DD.MM.YYYY, MM/DD/YYYY or DD.MM.YYYY hh:mm, with a year of four digits. Got 'DD.MM.YY'."),
        ({"dates": "YYYY-DD-MM"}, "dates of input must be a form such as DD.MM.YYYY, MM/DD/YYYY or DD.MM.YYYY hh:mm, with a year of four digits. Got 'YYYY-DD-MM'."),
        ({"missing": [None]}, "missing of input must be a list of texts that mean no value, each in quotes where YAML would read something else. Got list."),
        ({"delimeter": ";"}, "'delimeter' of input is not a setting of Input. Did you mean 'delimiter'?"),
        ("NA", "input must be a mapping with settings such as decimal, missing or dates. Got 'NA'."),
    ],
)  # fmt: skip
def test_mistakes_in_the_input(settings: Any, expected: str) -> None:
    with pytest.raises(tc.PolicyError) as error:
        tc.Policy(["q"], ["s"], input=settings)
    assert str(error.value) == expected


def test_what_describes_a_csv_does_not_go_with_another_table() -> None:
    table = pa.table({"q": [1, 1], "s": [1, 2]})
    policy = tc.Policy(["q"], ["s"], k=2, input={"delimiter": ";"})
    with pytest.raises(tc.PolicyError) as error:
        tc.anonymize(table, policy)
    assert str(error.value) == "delimiter of input says how a CSV is written. The table is none. Leave it out."
    assert tc.audit(table, policy).k == 2  # it may be a release


def test_a_file_that_is_not_in_its_encoding_is_refused_without_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xff\xfeq\x00,\x00s\x00\n\x00\x00\xd8A\x00")  # half of a pair
    with pytest.raises(tc.InputError) as error:
        tc.audit(path, tc.Policy(["q"], ["s"], input={"encoding": "utf-16"}))
    assert str(error.value) == "File 't.csv' is not utf-16, in line 1 or after it. Name its encoding in input: encoding."
    assert error.value.__context__ is None


def test_input_is_in_the_schema() -> None:
    schema = tc.Policy.json_schema()["properties"]["input"]["anyOf"][0]
    assert set(schema["properties"]) == {"delimiter", "decimal", "encoding", "missing", "dates"}
    assert tc.Policy(["q"], ["s"], input=tc.Input(dates="%d.%m.%Y")).to_dict()["input"] == {"dates": "DD.MM.YYYY"}


@pytest.mark.parametrize(
    ("words", "strftime"),
    [
        ("DD.MM.YYYY", "%d.%m.%Y"),
        ("MM/DD/YYYY", "%m/%d/%Y"),
        ("YYYYMMDD", "%Y%m%d"),
        ("D.M.YYYY", "%-d.%-m.%Y"),
        ("%Y/%m/%d", "%Y/%m/%d"),
    ],
)
def test_dates_are_read_as_python_reads_them(tmp_path: Path, words: str, strftime: str) -> None:
    draw = random.Random(words)
    days = {date(1904, 2, 29), date(2024, 12, 31), *(date(1900, 1, 1) + timedelta(draw.randrange(60_000)) for _ in range(200))}
    path = column(tmp_path, [day.strftime(strftime) for day in days])
    audit = tc.audit(path, tc.Policy(["q"], ["s"], input={"dates": words}))
    assert audit.class_table()["q"].to_pylist() == sorted(days)
    moments = column(tmp_path, [f"{day.strftime(strftime)} 08:{day.day:02d}" for day in days])
    audit = tc.audit(moments, tc.Policy(["q"], ["s"], input={"dates": f"{words} hh:mm"}))
    assert audit.class_table()["q"].to_pylist() == sorted(datetime(day.year, day.month, day.day, 8, day.day) for day in days)


def test_a_day_that_is_not_in_the_calendar_makes_the_column_text(tmp_path: Path) -> None:
    path = column(tmp_path, ["29.02.2023", "01.03.2023"])
    assert quiet(path, tc.Policy(["q"], ["s"], input={"dates": "DD.MM.YYYY"})).readings["q"].kind == "text"
