"""What a notebook shows: tables of objects, in which every value is harmless, and charts of them."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tclose as tc
from tclose.report.figures import distances
from tclose.report.svg import draw_inline
from tclose.study.compare.cell import Cell, Figures, Result
from tclose.study.compare.comparison import Comparison

HOSTILE = "<script>alert('1')</script>" + "\u202e" + "x" * 10_000


def people(name: str = "kept") -> pa.Table:
    ages, pay = [20 + row * 7 % 30 for row in range(60)], [row * 11 % 13 for row in range(60)]
    return pa.table({"age": ages, "pay": pay, "ill": ["cold", "flu", "gout"] * 20, name: ["a", "b"] * 30})


def policy(name: str = "kept", **settings: Any) -> tc.Policy:
    return tc.Policy(["age"], {"pay": 0.4, "ill": 0.5}, k=4, keep=[name], **settings)


@pytest.fixture(scope="module")
def release() -> tc.Release:
    return tc.anonymize(people(), policy(), algorithm="mondrian")


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.replace("<wbr>", ""))).strip()


def title_of(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["text"])


def test_an_audit_says_what_was_asked_and_attained() -> None:
    shown = text_of(tc.audit(people(), policy())._repr_html_())
    assert shown.startswith("Audit: 60 rows in 30 classes ✗ The policy is not satisfied.")
    assert "k, rows in the smallest class 2 4 or more 30 classes" in shown
    assert "0.4 or less" in shown


def test_an_audit_without_limits_shows_what_was_measured() -> None:
    shown = text_of(tc.audit(people(), tc.Policy(["age"], ["pay"]))._repr_html_())
    assert "No limit was asked for" in shown
    assert "not limited" in shown


def test_a_release_says_what_it_cost_and_that_this_is_internal(release: tc.Release) -> None:
    shown = text_of(release._repr_html_())
    assert f"Release: 60 rows in {release.audit.classes} classes ✓ It satisfies its policy" in shown
    assert "information loss" in shown
    assert "internal" in shown


def test_a_policy_lists_columns_and_limits() -> None:
    tree = tc.Hierarchy.from_mapping({"*": ["a", "b"]})
    quasi = [tc.Quasi("age", snap=5), tc.Quasi("city", hierarchy=tree)]
    asked = tc.Policy(quasi, {"pay": 0.4, "ill": None}, k=4, unit="id", suppression=0.05, identifiers=["id"], drop=["note"])
    shown = text_of(asked._repr_html_())
    assert "For every class: k = 4, at most 5% of the rows suppressed, persons are named by id." in shown
    assert "quasi-identifier age snap: 5" in shown
    assert "city hierarchy: 2 values on 2 levels" in shown
    assert "pay t at most 0.4" in shown
    assert "ill measured, not limited" in shown
    assert "dropped note" in shown


def test_a_verification_shows_what_is_wrong_first(release: tc.Release, tmp_path: Path) -> None:
    path = release.write(tmp_path / "release.csv")[0]
    assert "✓ release.csv is as certified." in text_of(tc.verify(path)._repr_html_())
    path.write_text(path.read_text().replace("cold", "flu", 1))
    shown = tc.verify(path)._repr_html_()
    assert "✗ release.csv is not as certified." in text_of(shown)
    assert next(cell for cell in re.findall(r"<td[^>]*>([^<]*)</td>", shown) if cell in ("yes", "NO")) == "NO"
    assert "Not checked, the publisher&#x27;s word" in shown


def test_every_value_is_shown_harmlessly(tmp_path: Path) -> None:
    made = tc.anonymize(people(HOSTILE), policy(HOSTILE), algorithm="mondrian")
    verified = tc.verify(made.write(tmp_path / "release.parquet")[0])
    for shown in (policy(HOSTILE), tc.audit(people(HOSTILE), tc.Policy([HOSTILE], ["pay"])), made, verified):
        html = shown._repr_html_()
        assert "<script" not in html
        assert "\u202e" not in html
        assert len(html) < 20_000
    assert r"&lt;script&gt;" in policy(HOSTILE)._repr_html_()
    for chart in (tc.audit(people(HOSTILE), tc.Policy(["age"], [HOSTILE])).plot_emd(HOSTILE), made.plot_attribute("ill")):
        assert "<script" not in draw_inline(chart.to_dict())


def test_tables_need_no_extra_and_charts_name_the_missing_one(monkeypatch: pytest.MonkeyPatch, release: tc.Release) -> None:
    for name in ("altair", "jinja2", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("tclose.extras.find_spec", lambda name: None)
    assert "Release" in release._repr_html_()
    with pytest.raises(tc.MissingExtraError, match=r"This needs Altair, which is not installed: pip install 'tclose\[report\]'"):
        release.audit.plot_class_sizes()


def test_plots_of_an_audit(release: tc.Release) -> None:
    audit = tc.audit(people(), policy())
    assert title_of(audit.plot_class_sizes()) == "30 classes of 2 rows each"
    assert re.match(r"ill: \d+ of 30 classes are farther from the table than t = 0.5", title_of(audit.plot_emd("ill")))
    assert "classes are within t = 0.5 of the table" in title_of(release.audit.plot_emd("ill"))
    with pytest.raises(tc.ColumnError, match=r"Column 'il' is not sensitive in the policy. Did you mean 'ill'\?"):
        audit.plot_emd("il")


def test_class_sizes_are_persons_where_they_are_judged() -> None:
    table = people().append_column("id", [[row // 2 for row in range(60)]])
    chart = tc.audit(table, tc.Policy(["ill"], ["pay"], k=4, unit="id")).plot_class_sizes()
    assert "persons" in title_of(chart)


def test_no_limit_is_drawn_where_t_is_not_judged() -> None:
    # (n,t)-closeness takes the limit for itself: a class may be farther from the table than t.
    audit = tc.audit(people(), tc.Policy(["age"], {"pay": 0.2}, n=20))
    assert "the distance of 30 classes from the table is at most" in title_of(audit.plot_emd("pay"))


@pytest.mark.parametrize("name", ["pay", "ill"])
def test_the_plan_of_a_class_costs_its_distance(release: tc.Release, name: str) -> None:
    for number in (0, release.audit.classes - 1):
        chart = release.plot_transport(name, number).to_dict()
        title = " ".join(chart["title"]["text"])
        found = re.search(r"EMD ([\d.]+)", title)
        attained = float(release.audit.sensitive[name].verdicts["t"].values[number])
        assert (float(found[1]) if found else 0.0) == pytest.approx(attained, abs=1e-3)
        assert f"class {number}" in title


def test_an_attribute_is_counted_in_the_class_that_is_named(release: tc.Release) -> None:
    number = release.audit.sensitive["ill"].worst_class
    assert release.plot_attribute("ill").to_dict() == release.plot_attribute("ill", number).to_dict()
    chart = release.plot_attribute("ill", 0).to_dict()
    assert f"class 0 ({release.audit.sizes[0]} rows)" in " ".join(chart["title"]["text"])
    shown = {bar["value"]: bar["share"] for bar in next(iter(chart["datasets"].values())) if bar["of"] == "class 0"}
    ages = release.audit.quasi["age"][0].as_py()
    own = [row["ill"] for row in release.table.to_pylist() if row["age"] == ages]
    assert shown == {value: pytest.approx(own.count(value) / len(own)) for value in ("cold", "flu", "gout")}
    with pytest.raises(tc.ColumnError, match=r"The release has classes 0 to \d+. Got -1."):
        release.plot_attribute("ill", -1)


def test_plots_of_hierarchies_and_fragmentations() -> None:
    assert title_of(tc.Hierarchy.from_prefixes(["476", "479"]).plot()) == "A hierarchy of 2 values on 4 levels"
    found = tc.find_fragmentation(np.arange(12).reshape(3, 4), t=(Fraction(1, 5), Fraction(1, 5)))
    chart = found.plot(["pay", "ill"]).to_dict()
    assert " ".join(chart["title"]["text"]).endswith("fragments: boxes of pay and ill")
    assert chart["title"]["subtitle"][0].startswith("INTERNAL")
    assert "attribute 2" in title_of(found.plot())
    with pytest.raises(tc.PolicyError, match=r"names must name each of the 2 attributes. Got 1."):
        found.plot(["pay"])


def compared(*found: tuple[str, float, float, float]) -> Comparison:
    """A comparison of algorithms, each with its asked t, attained t and loss; and a cell that was refused."""
    done = [
        Result(
            Cell(name, asked, 5, 0),
            "done",
            figures=Figures({"pay": t}, 9, 0, 3, gcp, 0.2, 0.25, 0.04, (0.0, 0.1), "skewness, pay", 1.0),
        )
        for name, asked, t, gcp in found
    ]
    return Comparison([*done, Result(Cell("codip", 0.1, 5, 0), "refused", f"It cannot: {HOSTILE}.")], 0.2)


def test_a_comparison_shows_its_frontier() -> None:
    found = compared(("growth", 0.1, 0.09, 0.3), ("growth", 0.2, 0.19, 0.2), ("mondrian", 0.2, 0.2, 0.4))
    html = found._repr_html_()
    shown = text_of(html)
    assert shown.startswith("Comparison, INTERNAL At t = 0.2, growth (k = 5) loses least")
    assert "mondrian 0.2 5 0.2000 +4.0 - 0.400 25.0% yes" in shown
    assert "<script" not in html
    chart = found.plot_frontier()
    assert title_of(chart) == "2 of 3 releases are beaten by no other: growth"
    assert chart.to_dict()["title"]["subtitle"][0].startswith("INTERNAL")
    assert "median error of COUNT queries" in str(found.plot_frontier("query_error", "excess").to_dict())
    with pytest.raises(tc.PolicyError, match=r"A measure must be one of t, excess, .*. Got 'size'."):
        found.plot_frontier("size")
    assert "Nothing was made" in text_of(compared()._repr_html_())
    with pytest.raises(tc.PolicyError, match="nothing to draw"):
        compared().plot_frontier()


def test_a_report_of_a_release_with_sensitive_numbers(release: tc.Release) -> None:
    assert "pay" in release.to_html()


def test_reports_draw_no_limit_where_t_is_not_judged() -> None:
    audit = tc.audit(people(), tc.Policy(["age"], {"pay": 0.2}, n=20))
    assert "the distance of 30 classes from the table is at most" in distances(audit, "pay").svg
