"""A hospital that does not exist: its visits, with two sensitive attributes that go with the people as in life."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tclose.errors import OutputError
from tclose.tables.files import Together

ROWS = 10_000

# Branch of medicine, group, diagnosis, its ICD-10 code; how common it is, the age at which it is commonest, a visit's cost.
_DIAGNOSES = [
    ("respiratory", "infection", "influenza", "J11", 9, 30, 180),
    ("respiratory", "infection", "pneumonia", "J18", 4, 72, 2600),
    ("respiratory", "infection", "bronchitis", "J40", 7, 45, 240),
    ("respiratory", "chronic lung", "asthma", "J45", 6, 22, 310),
    ("respiratory", "chronic lung", "COPD", "J44", 4, 68, 1900),
    ("circulatory", "heart", "heart failure", "I50", 4, 78, 5200),
    ("circulatory", "heart", "infarction", "I21", 3, 66, 8400),
    ("circulatory", "heart", "arrhythmia", "I49", 4, 70, 2100),
    ("circulatory", "vessels", "hypertension", "I10", 10, 62, 150),
    ("circulatory", "vessels", "stroke", "I64", 2, 74, 7600),
    ("digestive", "stomach", "gastritis", "K29", 6, 40, 220),
    ("digestive", "stomach", "gastric ulcer", "K25", 3, 52, 1100),
    ("digestive", "bowel", "colitis", "K52", 3, 35, 900),
    ("digestive", "bowel", "appendicitis", "K35", 4, 20, 3100),
    ("tumour", "solid", "breast cancer", "C50", 3, 60, 9200),
    ("tumour", "solid", "colon cancer", "C18", 2, 68, 9900),
    ("tumour", "blood", "leukaemia", "C95", 1, 55, 14800),
    ("mind", "mood", "depression", "F32", 8, 38, 420),
    ("mind", "anxiety", "panic disorder", "F41", 4, 30, 260),
    ("injury", "bone", "fracture", "S82", 8, 25, 1700),
    ("injury", "joint", "sprain", "S93", 6, 28, 160),
]
# Of ICD-10 (WHO): the ranges of codes that the diagnoses are in, the names of these blocks, and of their chapters.
_BLOCKS = [
    ("C15-C26", "digestive organs", "neoplasms"),
    ("C50-C50", "breast", "neoplasms"),
    ("C81-C96", "blood and lymph", "neoplasms"),
    ("F30-F39", "mood", "mental disorders"),
    ("F40-F48", "neurotic and stress-related", "mental disorders"),
    ("I10-I15", "hypertensive", "circulatory system"),
    ("I20-I25", "ischaemic heart", "circulatory system"),
    ("I30-I52", "other heart", "circulatory system"),
    ("I60-I69", "cerebrovascular", "circulatory system"),
    ("J09-J18", "influenza and pneumonia", "respiratory system"),
    ("J40-J47", "chronic lower respiratory", "respiratory system"),
    ("K20-K31", "oesophagus, stomach and duodenum", "digestive system"),
    ("K35-K38", "appendix", "digestive system"),
    ("K50-K52", "noninfective enteritis and colitis", "digestive system"),
    ("S80-S89", "knee and lower leg", "injury"),
    ("S90-S99", "ankle and foot", "injury"),
]
_FIRST_DAY = date(2025, 1, 1)
_PROFESSIONS = ["clerk", "teacher", "nurse", "builder", "driver", "farmer", "engineer", "retired", "student"]
_TOWNS = {"476": 0.5, "479": 0.3, "480": 0.2}  # a zip code's first three digits, and the share of people who live there
_FIRST = {
    "F": ["Ada", "Bea", "Cleo", "Dora", "Edda", "Fay", "Gwen", "Hilda"],
    "M": ["Abel", "Bruno", "Carl", "Dov", "Emil", "Finn", "Gus", "Hugo"],
}
_LAST = ["Adler", "Bloom", "Castro", "Dietz", "Eriksen", "Fontane", "Garcia", "Haddad", "Ito", "Jansen", "Kaya", "Lund"]

POLICY = """\
# What the release of the hospital's visits must hold. Edit it, and run:
#   tclose audit hospital.csv -p policy.yaml
#   tclose anonymize hospital.csv -p policy.yaml -o release.csv --force
k: 5                       # at least five persons look alike
unit: patient              # the column that names the person: patients come more than once
identifiers: [patient, name]
quasi:                     # what others may know
  age: {top: 90}           # published as ranges: [25, 34]
  sex:
  zip: {hierarchy: prefixes}  # 476**
  profession:              # published as sets of values
  marital:
sensitive:
  cost: {t: 0.2, l: 2}     # a number: the ordered distance
  diagnosis:               # words with a tree over them: the hierarchical distance
    t: 0.3
    l: 2
    hierarchy: diagnosis.csv
drop: [admitted, icd10]    # not published here. To publish a day, or codes instead of words, see
                           #   tclose hierarchy hospital.csv admitted --dates month,quarter,year
                           #   tclose hierarchy hospital.csv icd10 --ranges icd10.csv
"""


def write_demo(folder: Path, *, force: bool = False) -> list[Path]:
    """Write the demo's table, its hierarchies and policy to a folder, and return their paths; files with the same content stay.

    They are the table, the hierarchy of diagnoses, the policy, and the ranges of ICD-10 codes.

    Parameters
    ----------
    force
        Whether other files of these names may be replaced.
    """
    contents = {
        "hospital.csv": _csv_text(hospital(), ","),
        "diagnosis.csv": _csv_text(diagnosis_rows(), ";"),
        "policy.yaml": POLICY,
        "icd10.csv": _csv_text([list(block) for block in _BLOCKS], ","),
    }
    paths = {folder / name: text.encode() for name, text in contents.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = {path: content for path, content in paths.items() if not path.is_file() or path.read_bytes() != content}
    except OSError as error:
        raise OutputError(f"Folder {str(folder)!r} cannot be used: {error.strerror}. Choose another with --folder.") from None
    other = next((path for path in missing if path.exists()), None)
    if other is not None and not force:
        raise OutputError(
            f"File {str(other)!r} exists and is not the demo's. Choose another folder with --folder, or replace it with --force."
        )
    if missing:
        with Together(force=force) as files:
            for path, content in missing.items():
                files.stage(path, lambda beside, content=content: beside.write_bytes(content))  # type: ignore[misc]
            files.commit()
    return list(paths)


def diagnosis_rows() -> list[list[str]]:
    """Return the hierarchy of the demo's diagnoses, one row per leaf: diagnosis, group, branch, root."""
    return [[name, group, branch, "*"] for branch, group, name, *_ in _DIAGNOSES]


def hospital(rows: int = ROWS, seed: int = 7) -> list[list[str]]:
    """Return the demo's table of hospital visits: a header and ``rows`` rows, the same for the same seed.

    A person has an age, a sex, a home, a profession that goes with the age, and a lasting tendency to some illness that goes
    with all of them. A visit is for that illness, for one of the same group, or for something else; its cost goes with both.
    """
    rng, days = np.random.default_rng(seed), np.random.default_rng((seed, 1))
    header = ["patient", "name", "age", "sex", "zip", "profession", "marital", "cost", "diagnosis", "admitted", "icd10"]
    table = [header]
    patient = 0
    while len(table) <= rows:
        patient += 1
        person = _random_person(rng, patient)
        main = int(rng.choice(len(_DIAGNOSES), p=_diagnosis_shares(person)))
        for _ in range(min(int(rng.geometric(0.6)), rows + 1 - len(table))):
            diagnosis = _random_diagnosis(rng, person, main)
            *_, name, code, _, _, price = _DIAGNOSES[diagnosis]
            base = price * (0.8 + int(person[2]) / 150)
            cost = int(round(base * float(rng.lognormal(0, 0.35)), -1))
            admitted = _FIRST_DAY + timedelta(days=int(days.integers(0, 365)))
            table.append([*person, str(cost), name, admitted.isoformat(), code])
    return table


def _random_person(rng: np.random.Generator, number: int) -> list[str]:
    """Return a random patient of the demo: number, name, age, sex, zip, profession and marital status."""
    age = int(np.clip(rng.choice([rng.normal(24, 6), rng.normal(47, 13), rng.normal(73, 8)], p=[0.25, 0.45, 0.3]), 16, 97))
    sex = str(rng.choice(["F", "M"]))
    town = str(rng.choice(list(_TOWNS), p=list(_TOWNS.values())))
    profession = "retired" if age > 66 else "student" if age < 23 and rng.random() < 0.7 else str(rng.choice(_PROFESSIONS[:7]))
    single = 0.85 if age < 27 else 0.25
    marital = str(
        rng.choice(["single", "married", "divorced", "widowed"], p=_scaled_to_one([single, 0.6, 0.12, max(age - 50, 0) / 120]))
    )
    name = f"{rng.choice(_FIRST[sex])} {rng.choice(_LAST)}"
    return [f"P{number:05d}", name, str(age), sex, f"{town}{rng.integers(0, 12):02d}", profession, marital]


def _diagnosis_shares(person: list[str]) -> NDArray[np.float64]:
    """Return the probability of each diagnosis to be a person's lasting one, by age, sex, town and profession."""
    age, sex, town, profession = int(person[2]), person[3], person[4][:3], person[5]
    weights = np.array([common * np.exp(-(((age - peak) / 22) ** 2)) for *_, common, peak, _ in _DIAGNOSES])
    for place, (branch, group, name, *_) in enumerate(_DIAGNOSES):
        if name == "breast cancer":
            weights[place] *= 1.9 if sex == "F" else 0.02
        if branch == "injury" and profession in ("builder", "farmer", "driver"):
            weights[place] *= 3
        if branch == "mind" and profession in ("nurse", "teacher", "student"):
            weights[place] *= 2
        if group == "chronic lung" and town == "480":  # where the mine is
            weights[place] *= 3
    return _scaled_to_one(weights)


def _random_diagnosis(rng: np.random.Generator, person: list[str], main: int) -> int:
    """Return the diagnosis of one visit: the lasting illness, another of its group, or any that fits the person."""
    chance = rng.random()
    if chance < 0.7:
        return main
    if chance < 0.85:
        return int(rng.choice([place for place, row in enumerate(_DIAGNOSES) if row[:2] == _DIAGNOSES[main][:2]]))
    return int(rng.choice(len(_DIAGNOSES), p=_diagnosis_shares(person)))


def _scaled_to_one(weights: list[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of random choices scaled to sum 1."""
    shares: NDArray[np.float64] = np.asarray(weights) / np.sum(weights)
    return shares


def _csv_text(rows: list[list[str]], delimiter: str) -> str:
    """Return rows of the demo as the text of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()
