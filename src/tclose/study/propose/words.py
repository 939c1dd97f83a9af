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
    "diagnos", "disea", "illness", "symptom", "icd", "condition", "health", "hlth", "medic", "drug", "treatment", "therapy",
    "prescription", "cancer", "hiv", "disab", "addict", "pregnan", "psych", "mental", "suicid", "genetic", "blood",
    "salary", "income", "wage", "earning", "revenue", "wealth", "debt", "credit", "balance", "cost", "charge", "payment",
    "expense", "tax", "capital", "profit", "religi", "ethnic", "race", "politic", "party", "vote", "sexual", "orient",
    "affair", "crime", "criminal", "offen", "convict", "arrest", "fraud", "complaint", "grade", "score", "result",
    "outcome", "visit", "krankheit", "befund", "gehalt", "einkommen", "kosten", "lohn", "religion", "steuer",
)  # fmt: skip
"""Beginnings, or ends, of words for what people would rather not have known."""

WEAK = ("race", "ethnic", "grade", "score", "visit", "code", "condition", "result", "outcome")
"""Beginnings of words that may be sensitive and may be known to others: they count only where nothing else is found."""


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case.

    >>> parts("PatientID"), parts("date_of-birth 2")
    (['patient', 'id'], ['date', 'of', 'birth', '2'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", apart.lower())


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
    return 0 if not hits else 1 if all(word in WEAK for word in hits) else 2


def _fits(word: str, part: str) -> bool:
    """Whether a word begins or ends a part of a name; one of five letters or more may be anywhere in it."""
    return part.startswith(word) or part.endswith(word) or (len(word) >= 5 and word in part)
