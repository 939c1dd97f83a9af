"""Sentences: what is wrong with a setting, said in one sentence, and which setting may be meant instead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import fields
from fractions import Fraction
from numbers import Number
from typing import Any, TypeVar

from pydantic import ValidationError

from tclose.errors import PolicyError, got, nearest
from tclose.policy.fields import CONTEXT, SHARE
from tclose.values.exact import as_text, exact

Class = TypeVar("Class", bound=type)

_LISTS = ("bins", "order")
"""Settings that may be lists. Where another one is a list, it may be a column of a table."""

LEAST_PERCENT = Fraction(2, 100)
"""A number from 2 on that stands where a share must is likely to be a percentage; 1.2 may as well be a slip."""

LONGEST_PERCENT = 20
"""Characters of a percentage for which it is said how it is written."""

NEEDED = {
    "quasi": "Name at least one column that others may know.",
    "sensitive": "Name at least one column that nobody should learn.",
}
"""What to do where a policy lacks the columns of a role."""

_ALIASES = {
    "quasi": ("qi", "qis", "qid", "qids", "quasi_identifier", "quasi_identifiers", "quasi_attributes", "quasi_columns", "keys"),
    "sensitive": ("sa", "sas", "sensitives", "sensitive_attribute", "sensitive_attributes", "sensitive_columns", "confidential"),
    "identifiers": ("id", "ids", "identifier", "identifying", "direct_identifier", "direct_identifiers", "explicit_identifiers"),
    "keep": ("insensitive", "insensitive_attributes", "non_sensitive", "nonsensitive", "kept"),
    "drop": ("remove", "exclude", "dropped"),
    "suppression": ("suppression_limit", "suppress", "max_suppression"),
    "unit": ("person", "persons", "patient", "subject"),
}
"""What other tools call the settings of a policy."""


def in_one_sentence(owner: str | None = None, hint: Callable[[str], str] | None = None) -> Callable[[Class], Class]:
    """Return a class decorator: wrong settings raise PolicyError in one sentence, not pydantic's list of findings.

    Parameters
    ----------
    owner
        What a sentence says that the setting is of; by default the column's name.
    hint
        From the name of an unknown setting to a sentence that says which one is meant, or to an empty text.
    """

    def decorate(cls: Class) -> Class:
        """Return the class with a constructor that raises PolicyError in one sentence."""
        validate = cls.__init__  # type: ignore[misc]  # of this very class, not of a subclass

        def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
            try:
                validate(self, *args, **settings)
            except ValidationError as error:  # it holds all arguments, which may be a table: the error raised must not keep it
                name = settings.get("name", args[0] if args else None)
                refusal = _sentence_on_error(cls, name, of(name) if owner is None else owner, hint, error)
            else:
                return
            kind, sentence = refusal
            raise kind(sentence)

        cls.__init__ = functools.update_wrapper(__init__, validate)  # type: ignore[misc]
        return cls

    return decorate


def of(name: Any) -> str:
    """Return " of NAME", to put a column's name into an error sentence; an empty text if there is no name."""
    return "" if name is None else f" of {got(name)}"


_OF_QUASI = ("snap", "top", "bottom", "recode", "type")
_OF_SENSITIVE = ("t", "l", "beta", "delta", "bins", "matrix", "publish")
_OF_POLICY = ("k", "alpha", "n", "edges", "suppression", "unit", "small_cells")


def policy_hint(unknown: str, of_sensitive: Collection[str]) -> str:
    """Return a hint for an unknown setting: how tclose calls it, or that a sensitive column has it; else an empty text."""
    word = unknown.lower().replace("-", "_").replace(" ", "_")
    alias = next((setting for setting, words in _ALIASES.items() if word in words), None)
    if alias is not None:
        return f" Did you mean {alias!r}?"
    if unknown in of_sensitive:
        return f" It is a setting of a sensitive column, as in sensitive: {{salary: {{{unknown}: ...}}}}."
    return ""


def column_hint(unknown: str) -> str:
    """Return a hint for an unknown setting of a column: that columns of the other role have it, or the whole policy; else ""."""
    for settings, role in ((_OF_QUASI, "quasi-identifiers"), (_OF_SENSITIVE, "sensitive columns")):
        if unknown in settings:
            codes = " For codes without an order write distance: equal." if unknown == "type" else ""
            return f" It is a setting of {role}: take it away here.{codes}"
    return f" It is a setting of the whole policy, beside k: {unknown}: ..." if unknown in _OF_POLICY else ""


def _colon_hint(unknown: str, known: Collection[str]) -> str:
    """Return a hint for a setting that YAML reads with its value as one name: a colon or the blank after it is missing; else "".

    >>> _colon_hint("t 0.2", ["t"]), _colon_hint("t:0.2", ["t"])
    (' A colon is missing: write t: 0.2.', ' A blank is missing after the colon: write t: 0.2.')
    >>> _colon_hint("t=0.2", ["t"])
    ' A colon and a blank stand between a name and its value: write t: 0.2.'
    """
    marks = {
        ":": "A blank is missing after the colon",
        "=": "A colon and a blank stand between a name and its value",
        " ": "A colon is missing",
    }
    for mark, what in marks.items():
        name, found, value = unknown.partition(mark)
        if found and value and name.strip() in known:
            return f" {what}: write {name.strip()}: {value.strip()}."
    return ""


def _sentence_on_error(
    cls: type, name: Any, owner: str, hint: Callable[[str], str] | None, error: ValidationError
) -> tuple[type[PolicyError], str]:
    """Return the kind of PolicyError to raise, and one sentence that says which setting is wrong and why."""
    unknown = ("unexpected_keyword_argument", "extra_forbidden")
    finding = min(error.errors(), key=lambda found: found["type"] not in unknown)  # a misspelt key is told before the missing one
    cause = finding.get("ctx", {}).get("error")
    location = finding["loc"][0] if finding["loc"] else ""
    field = fields(cls)[location].name if isinstance(location, int) else location  # the index of a positional argument
    if isinstance(cause, PolicyError):
        return type(cause), f"Column {got(name)}: {cause}" if field and owner else str(cause)
    if finding["type"] in unknown:
        known = [item.name for item in fields(cls)]
        meant = _colon_hint(field, known) or (hint(field) if hint is not None else "") or nearest(field, known)
        return PolicyError, f"{field!r}{owner} is not a setting of {cls.__name__}.{meant}"
    if finding["type"] in ("missing", "missing_argument"):
        return PolicyError, f"{cls.__name__}{owner} needs {field!r}. {NEEDED.get(field, 'Got none.')}"
    if cause is not None:
        requirement = str(cause)
    elif finding["type"] == "literal_error":
        requirement = "one of " + finding["ctx"]["expected"]
    else:
        requirement = finding["msg"][0].lower() + finding["msg"][1:]
    given = finding["input"]
    more = percent_hint(given) if requirement == SHARE else ""
    if cls.__name__ == "Sensitive" and isinstance(name, str) and name in CONTEXT and isinstance(given, str):
        more = f" {name} is a topic of context, and stands among the sensitive columns: take '# ' away before context:, too."
    return PolicyError, f"{field}{owner} must be {requirement}. Got {got(given, setting=field in _LISTS)}.{more}"


def percent_hint(given: Any) -> str:
    """Return how a percentage is written that was given for a share; "" for anything else.

    >>> percent_hint(20), percent_hint("12.5 %"), percent_hint(1.2), percent_hint("high")
    (' 20% is written 0.2.', ' 12.5% is written 0.125.', '', '')
    """
    if not isinstance(given, str | Number) or len(str(given)) > LONGEST_PERCENT:
        return ""
    text = str(given).strip()
    percents = text.removesuffix("%").strip()
    try:
        share = exact(percents) / 100
    except ValueError:
        return ""
    meant = text.endswith("%") or share >= LEAST_PERCENT
    return f" {percents}% is written {as_text(share)}." if meant and 0 <= share <= 1 and "/" not in percents else ""
