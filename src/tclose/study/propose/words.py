"""Words: what the name of a column suggests. A name proves nothing, so everything here is a guess."""

from __future__ import annotations

import re

PEOPLE = frozenset({
    "person", "individual", "patient", "subject", "member", "customer", "client", "respondent", "participant", "student", "pupil",
    "employee", "worker", "user", "citizen", "insured", "applicant", "donor", "household", "resident", "proband", "kunde",
    "patientin", "mitarbeiter",
})  # fmt: skip
"""Words for a person: a column that is called so names persons."""

IDS = frozenset({"id", "ids", "pid", "uid", "uuid", "guid", "identifier", "ssn", "mrn"})
"""Words for the number of a person, unless another word says of what."""

NUMBERS = frozenset({"nr", "no", "num", "number", "code", "key"})
"""Words for a number: with a word for a person it is the number of a person."""

CONTACTS = frozenset({
    "email", "mail", "phone", "telephone", "mobile", "fax", "address", "street", "strasse", "adresse", "ssn", "iban",
    "passport", "licence", "license", "username", "login", "url", "ip", "surname", "lastname", "firstname", "forename",
    "fullname", "nachname", "vorname",
})  # fmt: skip
"""Words for what names a person, or reaches one, directly."""

ZIP = frozenset({"zip", "zipcode", "postcode", "postal", "postalcode", "plz", "postleitzahl"})
"""Words for codes of places whose first characters are larger places."""

SENSITIVE = (
    "diag", "disea", "illness", "symptom", "icd", "condition", "health", "hlth", "medic", "drug", "treatment", "therapy",
    "prescription", "cancer", "hiv", "disab", "addict", "pregnan", "psych", "mental", "suicid", "genetic", "blood",
    "salary", "income", "wage", "earning", "revenue", "wealth", "debt", "credit", "balance", "cost", "charge", "payment",
    "expense", "tax", "capital", "profit", "religi", "ethnic", "race", "politic", "party", "vote", "sexual", "orient",
    "affair", "crime", "criminal", "offen", "convict", "arrest", "fraud", "complaint", "grade", "score", "result",
    "outcome", "visit", "krankheit", "befund", "gehalt", "einkommen", "kosten", "lohn", "religion", "steuer",
    "hosp", "surg", "chronic", "doctor", "physician", "infect", "diabet", "asthma", "tumor", "tumour", "depress",
    "anxi", "smok", "alcohol", "drink", "obes", "death", "died", "mortal", "abort", "chol", "gluc", "admit", "admiss",
    "discharg",
    "paid", "loan", "mortg", "bankrupt", "claim", "insur", "pension", "welfare", "benefit", "asset", "saving", "donat",
    "opinion", "attitud", "ideolog", "belief", "union", "satisf", "violen", "abuse", "victim", "accident", "incident",
    "penalt", "absen", "meinung", "einstellung", "glaube", "schulden", "vermoegen", "medikament", "therapie", "strafe",
)  # fmt: skip
"""Beginnings, or ends, of words for what people would rather not have known."""

SHORT = frozenset({
    "dx", "rx", "bmi", "bp", "hba", "phq", "los", "inc", "hinc", "faminc", "hhinc", "sal", "pay", "gpa", "iq",
})  # fmt: skip
"""Usual abbreviations of such words: too short to be looked for inside others."""

WEAK = (
    "race", "ethnic", "grade", "score", "visit", "code", "condition", "result", "outcome", "hosp", "doctor", "physician",
    "admit", "admiss", "discharg", "union", "satisf", "opinion", "attitud", "los", "gpa", "pension", "death", "died", "insur",
    "absen",
)  # fmt: skip
"""Words that may be sensitive and may be known to others: they count only where nothing else is found."""

KNOWN = (
    "age", "agegr", "agecat", "ageband", "dob", "birth", "born", "year", "years", "yr", "yrs", "month", "date", "day", "week",
    "hour", "sex", "gender", "female", "male", "zip", "post", "city", "town", "village", "place", "region", "state", "county",
    "country", "district", "province", "area", "urban", "rural", "nation", "native", "citizen", "origin", "lang", "mother",
    "father", "parent", "child", "kid", "kids", "sibling", "spouse", "husb", "wife", "partner", "marri", "marital", "divorc",
    "family", "household", "relation", "educ", "school", "degree", "univers", "college", "occup", "profess", "job", "work",
    "employ", "industr", "sector", "position", "department", "dept", "height", "alter", "geschlecht", "beruf", "ort", "plz",
    "land", "bundesland", "wohnort", "staat", "geburt", "jahr", "familienstand", "bildung", "kreis", "kinder",
)  # fmt: skip
"""Words, or their beginnings, for what others often know about a person; one of three letters or fewer must be whole."""


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case.

    >>> parts("PatientID"), parts("date_of-birth 2")
    (['patient', 'id'], ['date', 'of', 'birth', '2'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", apart.lower())


def stem(name: str) -> str:
    """Return a name without its last word, or without its last letter if it has one word: what dummies of one variable share.

    >>> stem("race_white"), stem("raceBlack"), stem("hlthg")
    ('race', 'race', 'hlth')
    """
    *first, last = parts(name) or [""]
    return " ".join(first) or last[:-1]


def suggests_number_of_person(name: str) -> bool:
    """Whether a column is called like a number of persons: ``id``, ``patient``, ``person_no``.

    >>> [suggests_number_of_person(name) for name in ("ID", "patient", "member_no", "country_id", "age")]
    [True, True, True, False, False]
    """
    found = set(parts(name))
    return bool(found & (PEOPLE | IDS)) and found <= PEOPLE | IDS | NUMBERS


def suggests_name_of_person(name: str) -> bool:
    """Whether a column is called like the name, the address or the telephone number of persons.

    >>> [suggests_name_of_person(name) for name in ("name", "patient name", "e-mail", "last_name", "country name")]
    [True, True, True, True, False]
    """
    found = parts(name)
    whole = set(found) <= PEOPLE | {"name", "full", "first", "last", "middle", "given", "family"}
    return bool(CONTACTS & {*found, "".join(found)}) or ("name" in found and whole)


def suggests_zip(name: str) -> bool:
    """Whether a column is called like a zip code."""
    found = parts(name)
    return bool(ZIP & {*found, "".join(found)})


def suggests_sensitive(name: str) -> int:
    """Return how strongly the name of a column suggests that nobody should learn it: 0 not at all, 1 weakly, 2 strongly.

    >>> [suggests_sensitive(name) for name in ("diagnosis", "FEDTAX", "race", "age")]
    [2, 2, 1, 0]
    """
    found = parts(name)
    hits = [word for word in SENSITIVE if any(_fits(word, part) for part in found)]
    hits += [part for part in found if part.rstrip("0123456789") in SHORT]
    return 0 if not hits else 1 if all(word in WEAK for word in hits) else 2


def tells_nothing(name: str) -> bool:
    """Whether the name of a column has no word that says what it is: neither what others know, nor what nobody should learn.

    >>> [tells_nothing(name) for name in ("mdvis", "PID", "age_group", "HoursPerWeek", "diagnosis")]
    [True, True, False, False, False]
    """
    known = any(_is_known(part.rstrip("0123456789")) for part in parts(name))
    return not known and not suggests_sensitive(name) and not suggests_zip(name)


def _is_known(part: str) -> bool:
    """Whether a part of a name is, or begins with, a word for what others often know."""
    return any(part == word or (len(word) > 3 and part.startswith(word)) for word in KNOWN)


def _fits(word: str, part: str) -> bool:
    """Whether a word begins or ends a part of a name; one of five letters or more may be anywhere in it."""
    return part.startswith(word) or part.endswith(word) or (len(word) >= 5 and word in part)
