"""Claims: what a certificate says, read from a file that is not trusted.

A certificate may come from anywhere. It is accepted in one form only, the one that a release is written with: every key is known,
occurs once and has its type, every hierarchy and every matrix is written out, and no file is named. Everything that could be made
large has a limit; exceeding it is an error in one sentence.
"""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError

from tclose.errors import InputError, TcloseError
from tclose.policy import Policy
from tclose.policy.models import SETTINGS
from tclose.tables.input_file import MOST_COLUMNS

LARGEST_FILE = 100_000_000
"""The largest certificate, in bytes. A hierarchy of a million values fits."""

DEEPEST = 120
"""Levels of mappings and lists inside one another, at most; a hierarchy may have a few levels less."""

LONGEST_NUMBER = 620
"""Characters of a number, or of a fraction written as text, at most: every number of a policy fits."""

LONGEST_NAME = 40
"""Characters of an entry's name that an error shows, at most."""

LONGEST_REASON = 300
"""Characters of the reason why a policy cannot be read that an error shows, at most."""

INTERNAL = "internal"
"""The key that only a private record has."""


def _check_few(given: Any) -> Any:
    """Return a mapping or list; refuse one with more entries than a release may have columns."""
    if isinstance(given, dict | list) and len(given) > MOST_COLUMNS:
        raise PydanticCustomError("too_many", "too many")
    return given


def _check_written_out(given: dict[str, Any]) -> dict[str, Any]:
    """Return a hierarchy's setting; refuse a rule that names a file."""
    if any(isinstance(inside, str) for inside in given.values()):
        raise ValueError("a hierarchy that is written out")
    return given


Few = BeforeValidator(_check_few)
WrittenOut = Annotated[dict[str, Any], AfterValidator(_check_written_out)]
Number = int | float | Annotated[str, Field(max_length=LONGEST_NUMBER)]
FAIL_FAST = Field(fail_fast=True)
Edges = Annotated[list[Number], Few]
Part = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Claim(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ColumnClaim(_Claim):
    """One published column."""

    name: str
    role: Literal["quasi", "sensitive", "kept"]
    holds: str


class QuasiClaim(_Claim):
    """A quasi-identifier, as a release has it: text, in one column or in those of `bounds` or `centroid`.

    Under (n,t)-closeness with its hierarchy, as far as its labels are published: it says which classes are near one another.
    """

    type: Literal["text"]
    weight: Number = 1
    recode: Literal["bounds", "centroid"] | None = None
    hierarchy: Literal["prefixes", "dates"] | WrittenOut | None = None


def _limits_claim(owner: str) -> Any:
    """Return a pydantic model with the settings of all privacy models that a policy, or a sensitive column, has."""
    kinds: dict[type, Any] = {int: (int | None, None), Fraction: (Number | None, None), str: (str, "")}
    settings = {setting.name: kinds[setting.value_type] for setting in SETTINGS if setting.of == owner}
    return create_model(f"limits of {owner}", __base__=_Claim, **settings)


class SensitiveClaim(_limits_claim("sensitive")):  # type: ignore[misc]  # a class that is made when it is asked for
    """A sensitive column: the settings of `tclose.Sensitive`, with its hierarchy or matrix written out."""

    distance: str = "auto"
    hierarchy: Literal["dates"] | WrittenOut | None = None
    matrix: Annotated[dict[str, Annotated[dict[str, Number], Few]], Few] | None = None
    order: Annotated[list[str | None], FAIL_FAST] | None = None
    bins: int | Edges | dict[str, Number | Edges] | None = None
    publish: str | None = None
    missing: str | None = None


class PolicyClaim(_limits_claim("policy")):  # type: ignore[misc]
    """What was asked of the release."""

    edges: Annotated[int, Field(ge=1)] = 1
    quasi: Annotated[dict[str, QuasiClaim], Few]
    sensitive: Annotated[dict[str, SensitiveClaim | None], Few]


class FileClaim(_Claim):
    """The release."""

    file: str
    sha256: Digest


class HomogeneousClaim(_Claim):
    """Classes in which some sensitive column has one value only, and their rows."""

    classes: int
    rows: int


class AttainedClaim(_Claim):
    """What the release attains."""

    k: int
    homogeneous: HomogeneousClaim
    sensitive: Annotated[dict[str, dict[str, Any]], Few]


class PromiseClaim(_Claim):
    """The bound on t that was known before rows were chosen, and what is attained."""

    t: float
    t_attained: float


class TablesClaim(_Claim):
    """Which one of several tables of the same people a release is."""

    number: int
    of: int
    smallest_intersection: int


class LossByAttribute(_Claim):
    """The information loss of each quasi-identifier."""

    gcp: Annotated[dict[str, Part], Few] = {}
    precision: Annotated[dict[str, Part], Few] = {}


class LossClaim(_Claim):
    """The information loss of the release."""

    dm: int
    c_avg: float | None = None
    gcp: Part | None = None
    precision: Part | None = None
    by_attribute: LossByAttribute = LossByAttribute()


class Certificate(_Claim):
    """Everything a certificate may say. Unknown entries are refused: they could not be checked."""

    tool: Literal["tclose"]
    statement: str
    version: str
    release: FileClaim
    rows: int
    classes: int
    row_order: Literal["sorted", "input"]
    columns: Annotated[list[ColumnClaim], Few]
    policy: PolicyClaim
    counted: Literal["rows", "persons"]
    attained: AttainedClaim
    unique_rows: int
    loss: LossClaim
    promised: Annotated[dict[str, PromiseClaim], Few] = {}
    tables: TablesClaim | None = None


def read_certificate(path: Path) -> Certificate:
    """Return a certificate read from its file; raise InputError for an entry that tclose cannot check."""
    found = read_json(path, "Certificate")
    try:
        return Certificate.model_validate(found)
    except ValidationError as error:
        if isinstance(found, dict) and INTERNAL in found:
            raise InputError(f"File {path.name!r} is the INTERNAL record, not the certificate. Keep it to yourself.") from None
        findings = error.errors(include_url=False, include_context=False, include_input=False)
        finding = min(findings, key=lambda found: found["type"] not in _TOLD)
    raise _error_on_entry(path.name, [str(part) for part in finding["loc"]], finding["type"])


_TOLD = ("extra_forbidden", "string_too_long", "too_many")
"""Kinds of findings that have a sentence of their own; one of them is told before any other."""


def _error_on_entry(name: str, place: list[str], kind: str) -> InputError:
    """Return the error that says what is wrong with one entry of a certificate."""
    shown = ".".join(place)[:LONGEST_NAME] or "tool"
    if kind == "extra_forbidden":
        return InputError(
            f"Certificate {name!r} says more than this version of tclose can check: {shown!r}. Verify it with the version that "
            "wrote it, and ask the publisher if none did."
        )
    if kind == "string_too_long":
        return InputError(
            f"Certificate {name!r} has a number of more than {LONGEST_NUMBER} characters at {shown!r}, which no certificate has."
        )
    if kind == "too_many":
        return InputError(f"Certificate {name!r} has more than {MOST_COLUMNS:,} entries at {shown!r}, which no certificate has.")
    if {"hierarchy", "matrix"} & set(place[3:4]):
        return InputError(
            f"Certificate {name!r} does not write out the {place[3]} of a column. A certificate must hold it; a file that it "
            "names is not opened."
        )
    return InputError(f"File {name!r} is no certificate of a release: it has no {shown!r}, or an odd one.")


def policy_of(said: Certificate, name: str) -> Policy:
    """Return the policy in a certificate, by which its release is judged; ``name`` is the certificate's, for errors."""
    try:
        return Policy(**said.policy.model_dump(exclude_unset=True))
    except (TypeError, ValueError, OverflowError, ArithmeticError, RecursionError) as error:
        reason = f" {error}" if isinstance(error, TcloseError) else ""
        reason = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]} ..."
    raise InputError(f"Certificate {name!r} has no policy that tclose can read.{reason}")


def read_json(path: Path, what: str) -> Any:
    """Return the content of a certificate or record, which is not trusted: small, each key once, numbers of few digits."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)  # a pipe would be waited for
        if regular:
            with path.open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InputError(f"{what} {str(path)!r} does not exist. Put it beside the release, or give its path.") from None
    except OSError as error:
        raise InputError(f"{what} {str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError:  # a null character in the name
        raise InputError(f"{what} {str(path)!r} cannot be read. Check its name.") from None
    if not regular:
        raise InputError(f"{what} {str(path)!r} is no regular file. Name the file itself.")
    return parse_json(content, f"{what} {path.name!r}")


def parse_json(content: bytes, title: str) -> Any:
    """Return the content of JSON text within the limits of this module; ``title`` begins the sentence of an error."""
    if len(content) > LARGEST_FILE:
        raise InputError(f"{title} has more than {LARGEST_FILE // 1_000_000} MB, which no certificate has.")
    try:
        found = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_mapping_without_repeats,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except _OddError as odd:
        reason = str(odd)
    except RecursionError:
        reason = _TOO_DEEP
    except ValueError:  # UnicodeDecodeError and JSONDecodeError are values that cannot be read
        reason = "is not JSON. Check how it was copied"
    else:
        if not _is_too_deep(found):
            return found
        reason = _TOO_DEEP
    raise InputError(f"{title} {reason}.")  # outside of the except clauses: an error's context would keep the text


_TOO_DEEP = f"has lists or mappings inside one another, more than {DEEPEST} of them, which no certificate has"


class _OddError(Exception):
    """Something that JSON allows but no certificate has."""


def _mapping_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of a certificate's JSON object; raise an error if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _OddError("names a key twice, and different readers would take different ones of the two")
    return found


def _parse_integer(text: str) -> int:
    """Return an integer of a certificate's JSON; raise an error if it has too many digits."""
    if len(text) > LONGEST_NUMBER:
        raise _OddError(f"has a number of more than {LONGEST_NUMBER} characters, which no certificate has")
    return int(text)


def _parse_float(text: str) -> float:
    """Return a float of a certificate's JSON; raise an error if it is infinite or has too many digits."""
    if len(text) > LONGEST_NUMBER or not math.isfinite(float(text)):
        raise _OddError(f"has a number that is too large, or of more than {LONGEST_NUMBER} characters")
    return float(text)


def _refuse_constant(_: str) -> NoReturn:
    """Raise an error for NaN or Infinity in a certificate's JSON."""
    raise _OddError("has NaN or Infinity, which are no numbers of JSON")


def _is_too_deep(found: Any) -> bool:
    """Whether mappings and lists are nested more than `DEEPEST` levels, found by a loop, as recursion would be as deep."""
    level = [found]
    for _ in range(DEEPEST):
        level = [item for part in level if isinstance(part, dict | list) for item in _items_inside(part)]
        if not level:
            return False
    return True


def _items_inside(part: Mapping[str, Any] | list[Any]) -> Any:
    """Return the values of a certificate's mapping, or the items of its list."""
    return part.values() if isinstance(part, Mapping) else part
