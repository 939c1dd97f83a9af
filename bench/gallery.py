"""Write the reports of docs/gallery: of the demo's hospital and of Adult.

    pip install tclose[report,ml,bench]; python bench/gallery.py [measure]
    tclose compare ../shared/data/adult.csv -p POLICY --seconds 200 -o bench/comparison.json      the policy of scenarios.py, hours-per-week

measure attacks the demo, measures what is kept and compares thresholds anew, which takes some minutes, and writes gallery.json, from which the internal report is made. Adult is looked for in TCLOSE_DATA, else in ../shared/data. An internal report shows rows of the raw table: there is one of the demo alone, whose people do not exist.
The same versions write the same bytes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import tclose as tc
from scenarios import DATA, HERE, policy_of
from tclose.release.hospital import write_demo
from tclose.report.papers import papers_beside
from tclose.report.report import internal_report, public_report

GALLERY = HERE.parent / "docs" / "gallery"
MEASURED = HERE / "gallery.json"
COMPARED = HERE / "comparison.json"
HOSPITAL = {
    "purpose": "Research on what visits to the hospital cost, and for whom.",
    "recipient": "The institute of health economics of the university.",
    "controls": "A contract forbids to look for persons. The file stays on the institute's server.",
    "adversaries": "Employees of the institute who know a patient: neighbours, colleagues, relatives.",
    "thresholds": "k = 5 and t = .2 are what the hospital's ethics board asks for; diagnoses are grouped in a tree, and t = .3 there.",
    "earlier_releases": "None of these visits.",
    "reviewer": "Not reviewed yet: this hospital does not exist.",
}
ADULT = {
    "purpose": "To show what a report of a well-known table looks like.",
    "recipient": "Everybody who reads these pages.",
    "controls": "None: the table is public, and so is this report.",
    "adversaries": "Somebody who knows age, education, marital status, race, sex, country of birth and kind of employer of a person.",
}
ALGORITHMS = ["growth", "mondrian"]
LIMITS = [0.1, 0.2, 0.3]


def main() -> None:
    GALLERY.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:] == ["measure"]:
            measure(Path(folder))
        hospital(Path(folder))
        adult(Path(folder))
    comparison()


def measure(folder: Path) -> None:
    """Write what attacks, queries and the comparison find in the demo to gallery.json."""
    data, _, file, _ = write_demo(folder)
    policy = tc.Policy.load(file)
    found = {
        "attacks": tc.attack(data, policy).to_dict(),
        "utility": tc.utility(data, policy).to_dict(),
        "comparison": tc.compare(data, policy, algorithms=ALGORITHMS, t=LIMITS, effort="fast").to_dict(),
    }
    MEASURED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def hospital(folder: Path) -> None:
    """Write the public and the internal report of the demo."""
    data, _, file, _ = write_demo(folder)
    policy = replace(tc.Policy.load(file), context=HOSPITAL)
    release = tc.anonymize(data, policy)
    path = release.write(folder / "hospital-release.csv")[0]
    papers = papers_beside(path)
    save("hospital.html", public_report(papers))
    save("hospital.internal.html", internal_report(papers, data, **json.loads(MEASURED.read_text(encoding="utf-8"))))
    save("hospital-audit.internal.html", tc.audit(data, policy).to_html(name=data.name))


def adult(folder: Path) -> None:
    """Write the public report of a release of Adult."""
    policy = replace(policy_of(("hours-per-week", "occupation"), 0.2), context=ADULT)
    path = tc.anonymize(DATA / "adult.csv", policy).write(folder / "adult-release.csv")[0]
    save("adult.html", public_report(papers_beside(path)))


def comparison() -> None:
    """Write the page of a comparison of all algorithms on Adult, from what was measured."""
    found = tc.Comparison.from_dict(json.loads(COMPARED.read_text(encoding="utf-8")))
    results = sorted(found, key=lambda one: (one.cell.t or 0, one.cell.algorithm))
    save("adult-comparison.internal.html", replace(found, results=results).to_html(name="adult.csv"))


def save(name: str, page: str) -> None:
    (GALLERY / name).write_text(page, encoding="utf-8")
    print(f"{name}: {len(page.encode()):,} bytes")


if __name__ == "__main__":
    main()
