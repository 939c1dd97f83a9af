"""The public report: what it says, that every value in it is harmless, and that the same release gives the same bytes."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import tclose as tc
from tclose.cli.commands import app
from tclose.policy.proposed import without_review
from tests.support.pages import Page

HEADINGS = [
    "Identity and versions", "Context of the release and recipient", "Adversaries", "Persons and rows", "Variables and their roles",
    "Method, thresholds, and why", "Risk before, threshold, risk after", "Singling out, linkability, inference", "Attacks tried",
    "Transformations and suppression", "Utility", "Earlier releases", "What is not promised", "How to check and to reproduce it", "Review",
]  # fmt: skip


def release(**settings: Any) -> tc.Release:
    """A release of 60 people, of whom 3 have a rare disease."""
    ill = ["cold"] * 27 + ["flu"] * 20 + ["cough"] * 10 + ["gout"] * 3
    columns = {"age": [20 + number for number in range(60)], "ill": [ill[7 * number % 60] for number in range(60)]}
    policy = tc.Policy(["age"], {"ill": 0.5}, k=5, **settings)
    return tc.anonymize(pa.table(columns), policy, algorithm="mondrian")


def test_every_heading_of_a_report_for_a_board_is_there_in_order() -> None:
    page = Page(release().to_html())
    assert [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)][:3] == [1, 2, 2]
    assert [text.partition(". ")[2] for text in page.texts if re.match(r"\d+\. ", text)] == HEADINGS
    assert page.text.count("not stated") >= 7
    assert "t-closeness verified for these quasi-identifiers; not a legal determination." in page.text


def test_nothing_is_said_of_closeness_that_no_limit_asks_for() -> None:
    table = pa.table({"age": [*range(40)], "ill": ["a", "b"] * 20, "pay": [*range(40)]})
    text = Page(tc.anonymize(table, tc.Policy(["age"], {"ill": None, "pay": 0.9}, k=2), algorithm="mondrian").to_html()).text
    assert (
        text.count("In each class the sensitive values of pay differ from those in the whole table by at most the limit t.") == 2
    )
    assert text.count("How the values of ill are distributed in a class has no such limit.") == 2
    regions = tc.Policy(["age"], {"pay": 0.9}, k=2, n=20, other="drop")
    text = Page(tc.anonymize(table, regions, algorithm="mondrian").to_html()).text
    assert "differ from those among the people with similar quasi-identifiers by at most the limit t" in text
    assert "limit 0.9" not in text


def visits() -> tc.Release:
    """A release of 40 people with two rows each, counted as persons, eight or more in each class."""
    ill = ["flu", "gout", "cold", "cough"] * 20
    columns = {"who": [f"P{row // 2}" for row in range(80)], "age": [20 + row // 16 for row in range(80)], "ill": ill}
    return tc.anonymize(pa.table(columns), tc.Policy(["age"], {"ill": 0.5}, k=8, unit="who", identifiers=["who"]))


def test_persons_are_said_where_persons_were_counted() -> None:
    text = Page(visits().to_html()).text
    assert "k, persons in the smallest class; larger is safer 8 or more 8 or more" in text
    assert (
        "That 8 persons or more are in each class is the publisher's word: a reader can check only that each class has at least 16 "
        "rows." in text
    )
    assert "k: at least this many persons of each class look alike in all quasi-identifiers." in text
    assert "look alike, at least (k; larger is safer) 8 persons" in text
    assert "Asked: 8 persons or more (the line)." in text
    assert "took each row as one person" not in text
    for wrong in ("rows in the smallest class", "at least this many rows", "Asked: 8 rows"):
        assert wrong not in text


def test_what_is_promised_of_persons_is_said_of_one_row_of_theirs() -> None:
    text = Page(visits().to_html()).text
    assert (
        "has 8 persons or more to choose from if they know one row of the person. The chance to pick the right one is then at most "
        "1 in 8. Somebody who knows the quasi-identifiers of several rows of a person can combine the classes of these rows, and "
        "may have fewer to choose from: 1 in 8 is not promised then." in text
    )
    assert "All of this is about one row of a person. Somebody who knows several can combine their classes; see" in text
    assert (
        "Several rows of one person. Each limit is about the class of one row of a person. Somebody who knows the "
        "quasi-identifiers of several rows of a person can combine their classes. If a column is the same in all rows of a person, "
        "as an income may be, that may leave one value of it, which is then the person's." in text
    )
    assert "one row a person has to be published, or a summary of their rows" in text
    text = Page(release().to_html()).text  # of rows that are persons
    assert "rows or more to choose from. The chance to pick the right one is at most 1 in " in text
    for wrong in ("several rows of a person", "one row of a person", "Several rows of one person"):
        assert wrong not in text


def test_rows_are_persons_by_the_word_of_the_publisher() -> None:
    text = Page(release().to_html()).text
    assert "The release has 60 rows. The publisher took each row as one person." in text
    assert "k, rows in the smallest class; larger is safer 5 or more" in text
    assert "publisher's word" not in text


@pytest.mark.parametrize("internal", [False, True])
def test_a_policy_that_nobody_confirmed_has_no_green_page(internal: bool) -> None:
    confirmed = tc.Policy(["age"], {"ill": 0.5}, k=2, context={"reviewer": "The board"})
    table = pa.table({"age": [20] * 20, "ill": ["flu", "gout"] * 10})

    def page(policy: tc.Policy) -> Page:
        return Page(tc.anonymize(table, policy).to_html(internal=internal))

    for proposed in (without_review(confirmed), without_review(replace(confirmed, context=None))):
        found = page(proposed)
        said = found.text.index("NOT CONFIRMED. Nobody has checked which columns others may know")
        assert said < found.text.index("t-closeness verified")
        assert [given["class"] for _, given in found.tags if "verdict" in given.get("class", "")] == ["verdict broken"]
        assert "not stated: review" not in found.text
    found = page(confirmed)
    assert "NOT CONFIRMED" not in found.text
    assert [given["class"] for _, given in found.tags if "verdict" in given.get("class", "")] == ["verdict"]


def test_why_small_counts_are_masked_is_said_where_some_are() -> None:
    why = "Small counts are masked on this page, because it may reach more people than the file"
    made = release()
    assert why in Page(made.to_html()).text
    assert why not in Page(made.to_html(internal=True)).text
    assert why not in Page(release(small_cells=1).to_html()).text


def test_an_end_of_a_range_that_proves_a_class_is_explained_by_an_example() -> None:
    text = Page(release().to_html()).text
    assert "An example: a class has the ages 31 to 47." in text
    assert "it may be proven" not in text


def test_what_the_context_says_is_shown_in_its_place() -> None:
    context = {"purpose": "Costs of care.\nSecond line.", "reviewer": "The board, 2026-03-01", "adversaries": "Neighbours" * 100}
    text = Page(release(context=context).to_html()).text
    assert "is that of 10% to 50% of a class." in text  # a sentence of ours is not cut
    assert "Purpose Costs of care. Second line. Recipient not stated" in text
    assert "Neighbours" * 100 in text
    assert text.index("Reviewed by The board, 2026-03-01") > text.index("15. Review")


def test_a_long_text_of_the_context_is_cut_with_a_count() -> None:
    text = Page(release(context={"purpose": "a" * 15_000 + "\n" + "b" * 7_345, "reviewer": "c" * 20_000}).to_html()).text
    assert "b" * 4_999 + " ... 2,346 more characters are not shown. Recipient" in text
    assert "c" * 20_000 in text
    assert text.count("not shown.") == 1


def test_a_page_needs_nothing_else() -> None:
    page = Page(release().to_html())
    assert not {"script", "link", "iframe", "img", "object"} & {tag for tag, _ in page.tags}
    assert not [
        value for _, given in page.tags for key, value in given.items() if key in {"src", "srcset"} or key.startswith("on")
    ]
    assert all(given["href"].startswith("#") for tag, given in page.tags if tag == "a")
    assert {given["href"][1:] for tag, given in page.tags if tag == "a"} <= {given.get("id") for _, given in page.tags}


def test_tables_have_headers_and_regions_names() -> None:
    page = Page(release().to_html())
    assert all("scope" in given for tag, given in page.tags if tag == "th")
    assert [tag for tag, _ in page.tags].count("table") == [tag for tag, _ in page.tags].count("caption") > 4
    assert all(given.get("aria-label") for tag, given in page.tags if given.get("role") == "region")


def test_a_table_of_values_does_not_show_again_what_its_heading_says() -> None:
    """The caption is there for who hears the page, or goes from table to table; a table without such a heading shows its own."""
    page = Page(release().to_html())
    heard = [given.get("class") == "heard" for tag, given in page.tags if tag == "caption"]
    assert sum(heard) == page.text.count("in the release value rows share") == 2
    assert not all(heard)


def test_small_counts_are_masked_with_another_unless_the_policy_says_otherwise() -> None:
    masked = Page(release().to_html()).text
    assert "gout masked masked" in masked
    assert "The rows of 2 values are masked: small counts, and others so that sums do not tell them." in masked
    assert "gout 3 5.0%" in Page(release(small_cells=1).to_html()).text


def test_what_nobody_stated_is_told_at_the_top_with_links() -> None:
    html = release(context={"purpose": "Costs", "reviewer": "The board"}).to_html()
    text = Page(html).text.replace(" ,", ",").replace(" .", ".")
    said = "Not stated by the publisher: recipient, controls, adversaries, why these limits, earlier releases."
    assert text.index(said) < text.index("1. Identity and versions")
    assert '<a href="#earlier">earlier releases</a>' in html
    topics = ("purpose", "recipient", "controls", "adversaries", "thresholds", "earlier_releases", "reviewer")
    assert "Not stated by the publisher" not in Page(release(context=dict.fromkeys(topics, "It is.")).to_html()).text


def test_how_coarse_the_release_is_and_what_it_is_good_for_stand_in_words() -> None:
    text = Page(release().to_html()).text
    widths = [
        (high - low, count)
        for value, count in Counter(release().table["age"].to_pylist()).items()
        for low, high in [[int(end) for end in re.findall(r"\d+", value)]]
    ]
    mean = sum(width * count for width, count in widths) / 60
    assert f"age : in ranges {mean:.3g} wide on average" in text
    assert "How often each value of ill occurs among all rows: published as in the table." in text
    assert "What sets small groups apart in ill: the limit t asks that every class is like the whole table." in text
    assert "global certainty penalty" in text


def test_one_name_for_the_detail_that_is_lost_and_weights_only_where_there_are_some() -> None:
    people = pa.table({"age": list(range(20)), "size": list(range(20)), "ill": ["flu", "gout"] * 10})

    def section(*quasi: Any) -> str:
        text = Page(tc.anonymize(people, tc.Policy(list(quasi), {"ill": 0.5}, k=5)).to_html()).text
        return text.partition("10. Transformations and suppression What")[2].partition("11. Utility")[0]

    plain, weighted = section("age", "size"), section(tc.Quasi("age", weight=3), "size")
    assert "weights" not in plain
    assert "together, by their weights:" in weighted
    assert "detail lost (GCP; 0%: none, 100%: all)" in plain
    assert "information" not in plain
    assert "as a share of all that is published. Any reader can compute it." in plain
    tree = tc.Quasi("age", hierarchy={"low": list(range(10)), "high": list(range(10, 20))})
    told = (
        "as a share of all that is published, or of the whole hierarchy. Any reader can compute it; of a column with a hierarchy,"
    )
    assert f"{told} whoever has the hierarchy." in section(tree, "size")


def test_sentences_name_all_columns_in_the_order_of_the_policy() -> None:
    """Ten quasi-identifiers, and eight sensitive columns that the table has in another order than the policy."""
    quasi, sensitive = [f"q{number}" for number in range(10)], [f"s{number}" for number in range(8)]
    columns = {name: [row % 4 for row in range(40)] for name in reversed(sensitive)}
    table = pa.table({**columns, **{name: list(range(40)) for name in quasi}})
    text = Page(tc.anonymize(table, tc.Policy(quasi, dict.fromkeys(sensitive, 0.5), k=5)).to_html()).text
    all_sensitive, all_quasi = (f"{', '.join(names[:-1])} and {names[-1]}" for names in (sensitive, quasi))
    assert f"In each class the sensitive values of {all_sensitive} differ" in text
    assert f"the quasi-identifiers and all of {all_sensitive}" in text
    assert f"How often each value of {all_sensitive} occurs" in text
    assert f"who wants to learn {' or '.join(sensitive)}." in text
    assert f"Somebody who knows one of {', '.join(sensitive)} of a person" in text
    assert f"Questions finer than the published values of {all_quasi}. How each is published is in section 10." in text
    assert f"Counts over ranges of {all_quasi} that are much wider than those that are published. How wide these" in text
    assert "2 more" not in text
    assert "))" not in text


def test_published_quasi_identifiers_are_counted_and_masked_as_small_cells_asks() -> None:
    counts = Counter(release().table["age"].to_pylist())
    text = Page(release().to_html()).text
    assert all(f"{value} {count}" in text for value, count in counts.items())
    masked = Page(release(small_cells=30).to_html()).text
    assert not any(f"{value} {count}" in masked for value, count in counts.items())


def test_words_that_a_reader_may_not_know_are_explained_on_the_page() -> None:
    text = Page(release().to_html()).text
    words = text[text.index("Words on this page") :]
    assert "k The rows, or persons, of the smallest class. Larger is safer." in words
    assert "Smaller is safer." in words
    assert "Cramér" not in words  # is not on this page


def test_a_context_changes_neither_the_release_nor_its_certificate() -> None:
    plain, stated = release(), release(context={"purpose": "Costs"}, small_cells=9)
    assert plain.table == stated.table
    assert plain.certificate == stated.certificate


def test_the_same_bytes_from_memory_and_again(tmp_path: Path) -> None:
    made = release()
    path = made.write(tmp_path / "release.csv")[0]
    pages = [tmp_path / f"{number}.html" for number in range(2)]
    for page in pages:
        result = CliRunner().invoke(app, ["report", str(path), "-o", str(page)])
        assert (result.exit_code, result.stdout) == (0, f"Wrote {page}, a public report.\n"), result.stderr
    assert pages[0].read_bytes() == pages[1].read_bytes()
    in_memory = made.to_html()
    assert made.to_html() == in_memory
    differs = [line for line in pages[0].read_text().splitlines() if line not in in_memory.splitlines()]
    assert all("release.csv" in line or "sha256" in line or "<code>" in line or "verified" in line for line in differs), differs


HOSTILE = [
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}",
    "x" * 10_000,
    "שלום עולם a\u202eb\u2066c",
    "\x00\x1b[2J\x7f&lt;b&gt;</style></svg>",
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_is_shown_harmlessly(value: str) -> None:
    """As a name of a column, as a value, as a label of a quasi-identifier, and in the context."""
    quasi, sensitive = f"who{value}"[:9000], f"ill{value}"[:9000]
    table = pa.table({quasi: [value, "b"] * 10, sensitive: [value, value, "c", "d"] * 5, f"kept{value}": ["k"] * 20})
    policy = tc.Policy([quasi], {sensitive: 1}, k=2, keep=[f"kept{value}"], context={"purpose": f"Why {value}"}, small_cells=1)
    html = tc.anonymize(table, policy, algorithm="mondrian").to_html()
    page = Page(html)  # all tags are closed in order
    assert not {"script", "img", "b"} & {tag for tag, _ in page.tags}
    assert not [key for _, given in page.tags for key in given if key.startswith("on")]
    assert all(char.isprintable() or char == "\n" for char in html)
    assert "49" not in re.findall(r"who(\d+)", html)
    assert len(html) < 100_000


def test_200_classes_of_one_row() -> None:
    table = pa.table({"who": [f"p{number}" for number in range(200)], "ill": ["a", "b"] * 100})
    html = tc.anonymize(table, tc.Policy([tc.Quasi("who", despite="a test")], {"ill": 0.9}, k=1), algorithm="mondrian").to_html()
    assert "200" in Page(html).text
    assert len(html) < 100_000


def test_a_release_that_is_not_as_certified_has_no_report(tmp_path: Path) -> None:
    path = release().write(tmp_path / "release.csv")[0]
    path.write_text(path.read_text().replace("flu", "gout", 1))
    result = CliRunner().invoke(app, ["report", str(path)])
    assert result.exit_code == 2
    assert (
        result.stderr
        == "Error: release.csv is not as certified, and has no report: The file is the one that was certified? No. Try 'tclose verify'.\n"
    )
    assert not list(tmp_path.glob("*.html"))


def test_the_name_of_a_report(tmp_path: Path) -> None:
    made = release()
    with pytest.raises(tc.OutputError, match=r"must end in \.html"):
        made.to_html(tmp_path / "report.pdf")
    with pytest.raises(tc.OutputError, match="is public, and its name says that it is internal"):
        made.to_html(tmp_path / "internal.html")
    made.to_html(tmp_path / "report.html")
    with pytest.raises(tc.OutputError, match="exists"):
        made.to_html(tmp_path / "report.html")
    assert made.to_html(tmp_path / "report.html", force=True) == (tmp_path / "report.html").read_text()


def test_a_missing_extra_is_named_before_the_work_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)  # as if it were not installed
    (tmp_path / "people.csv").write_text("age,ill\n1,a\n2,b\n")
    tc.Policy(["age"], {"ill": 1}, k=2).save(tmp_path / "policy.yaml")
    files = ("people.csv", "-p", "policy.yaml", "-o", "release.csv", "--report", "report.html")
    done = CliRunner().invoke(app, ["anonymize", *(str(tmp_path / one) if "." in one else one for one in files)])
    assert (done.exit_code, done.stderr) == (
        2,
        "Error: This needs vl-convert, which is not installed: pip install 'tclose[report]'.\n",
    )
    assert not (tmp_path / "release.csv").exists()


def test_the_policy_of_the_page_measures_the_release_under_a_name_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publisher who follows the page in the folder of the release keeps the policy that made it."""
    monkeypatch.chdir(tmp_path)
    made = release()
    made.write("release.csv")
    html = made.to_html()
    command = "tclose audit release -p published-policy.yaml"
    assert f"Saved as <code>published-policy.yaml</code>, <code>{command}</code>" in html
    policy = re.search(r'aria-label="Policy of the release"[^>]*><pre><code>(.*?)</code>', html, re.DOTALL)
    assert policy is not None
    Path("published-policy.yaml").write_text(unescape(policy[1]))
    assert CliRunner().invoke(app, command.replace("release ", "release.csv ").split()[1:]).exit_code == 0
