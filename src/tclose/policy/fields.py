"""Fields: how a single setting is read and checked, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping
from datetime import date, datetime, time
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

from tclose.distances.labelled import LabelledMatrix
from tclose.errors import HierarchyError
from tclose.values.bins import MOST_BINS, Bins
from tclose.values.builders import GROUPS, NAMED, Builder, asks_for_builder, read_builder, why_no_tree
from tclose.values.builders.dates import UNITS
from tclose.values.exact import exact
from tclose.values.hierarchy import Hierarchy, printed
from tclose.values.notation import DateForm, encoding_of

_LARGEST = 10**18
"""The largest number: more than any table has rows."""

_FINEST = 10**300
"""The largest denominator of a number: a certificate contains it, and `verify` must read it."""


def name_of(value: Any) -> Any:
    """Return the name of a column as text, also where it is given as an integer; raise ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError("the name of a column")  # noqa: TRY004 - pydantic turns ValueError into its own
    return value


def items_of(value: Any) -> list[Any]:
    """Return the items of a policy's list, tuple, index, array or series, or keys of a mapping; anything else is one item."""
    if isinstance(value, list | tuple | KeysView):
        return list(value)
    unpack = getattr(type(value), "tolist", None) or getattr(type(value), "to_list", None)  # NumPy, pandas, Arrow; polars
    items = unpack(value) if callable(unpack) else value
    return items if isinstance(items, list) else [value]


def _number_validator(requirement: str, fits: Callable[[Fraction], bool], *, optional: bool = True) -> PlainValidator:
    """Return a pydantic validator that reads an exact number and raises ``requirement`` unless it ``fits``."""

    def validate(value: Any) -> Fraction | None:
        if value is None and optional:
            return None
        try:
            number = exact(value)
        except ValueError:
            raise ValueError(requirement) from None
        if not fits(number) or number > _LARGEST:
            raise ValueError(requirement)
        if number.denominator > _FINEST:
            raise ValueError("a number of at most 300 digits")
        return number

    return PlainValidator(validate)


def _read_whole_number(value: Any) -> int | None:
    """Return a policy's setting as an integer from 1 on, or None; raise ValueError with the requirement otherwise."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= _LARGEST:
        raise ValueError("a whole number, 1 or more")
    return int(value)


def _read_given_whole_number(value: Any) -> int:
    """Return a policy's setting as an integer from 1 on; raise ValueError with the requirement otherwise."""
    number = _read_whole_number(0 if value is None else value)
    assert number is not None
    return number


def _read_hierarchy(value: Any) -> Hierarchy | Builder | None:
    """Return the hierarchy that a setting gives as an object, a path of a CSV file, a mapping or a rule; None if none."""
    if value is None or isinstance(value, Builder):
        return value
    if isinstance(value, Hierarchy):
        return value.builder or value
    if isinstance(value, str | Path):
        return Hierarchy.from_csv(value)
    if asks_for_builder(value):
        return Hierarchy.from_groups(value[GROUPS]) if GROUPS in value else read_builder(value)
    refusal = why_no_tree(value)
    if refusal is not None:
        raise HierarchyError(refusal)
    return Hierarchy.from_mapping(value)


def _read_quasi_hierarchy(value: Any) -> Hierarchy | Builder | str | None:
    """Return the hierarchy of a quasi-identifier; "prefixes" and "dates" stay the words that they are."""
    return str(value) if isinstance(value, str) and value in BUILT else _read_hierarchy(value)


def _read_sensitive_hierarchy(value: Any) -> Hierarchy | Builder | None:
    """Return the hierarchy by which the distances of a sensitive attribute are measured: a tree, or a rule with fixed levels."""
    if isinstance(value, str) and value == "prefixes":
        raise HierarchyError(
            "prefixes of a sensitive attribute must name their levels, because they are its distances: {prefixes: [3, 1]}."
        )
    return NAMED[value] if isinstance(value, str) and value in BUILT else _read_hierarchy(value)


def _read_matrix(value: Any) -> LabelledMatrix | None:
    """Return the distance matrix that a setting gives as an object, a path of a CSV file or a mapping; None if none."""
    if value is None or isinstance(value, LabelledMatrix):
        return value
    if isinstance(value, str | Path):
        return LabelledMatrix.from_csv(value)
    return LabelledMatrix.from_mapping(value)


def _read_order(value: Any) -> list[str] | None:
    """Return the policy's labels of values from least to greatest; raise ValueError unless it is a list of distinct values."""
    if value is None:
        return None
    items = [] if isinstance(value, str | Mapping) else items_of(value)
    labels = [] if any(isinstance(item, list | tuple | Mapping) for item in items) else [printed(item) for item in items]
    if len(labels) < 1 or len(set(labels)) < len(labels):
        raise ValueError("a list of distinct values, from least to greatest")
    return labels


def _read_snap(value: Any) -> Any:
    """Return the policy's grid that ranges are widened to: a number above 0, a unit of the calendar, or auto; None if none."""
    if value is None or (isinstance(value, str) and value in (AUTO, *CALENDAR)):
        return value
    try:
        if exact(value) > 0:
            return exact(value)
    except ValueError:
        pass
    raise ValueError(f"auto, a number above 0, or for dates one of {', '.join(CALENDAR)}")


def _read_end(value: Any) -> Any:
    """Return the value where top or bottom coding begins: a number, a date, or a time; None if none."""
    if value is None or isinstance(value, date | time):
        return value
    for read in (exact, date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
        try:
            return read(value)
        except (TypeError, ValueError):
            continue
    raise ValueError("a number, a date as 2024-01-31, or a time as 08:30")


def _read_delimiter(value: Any) -> Any:
    """Return the policy's character between the cells of a CSV, also from its name ("tab"); None if not given."""
    value = {"tab": "\t", "comma": ",", "semicolon": ";"}.get(value, value) if isinstance(value, str) else value
    if value is None or (isinstance(value, str) and len(value) == 1 and value in "\t,;:|!#$%&*/<=>?@^_`{}~"):
        return value
    raise ValueError("one character such as ; or tab")


def _read_decimal_mark(value: Any) -> Any:
    """Return the policy's decimal mark of the input's numbers, a point or a comma; None if not given."""
    if value in (None, ".", ","):
        return value
    raise ValueError("a point or a comma, in quotes")


def _read_encoding(value: Any) -> Any:
    """Return the policy's name of the input's text encoding; None if not given."""
    return value if value is None else encoding_of(str(value))


def _read_missing_texts(value: Any) -> list[str]:
    """Return the distinct texts that the policy's input says mean a missing cell, from one text or a list."""
    texts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(text, str | int) and not isinstance(text, bool) for text in texts):
        raise ValueError("a list of texts that mean no value, each in quotes where YAML would read something else")
    return list(dict.fromkeys(str(text) for text in texts))


def _read_date_form(value: Any) -> DateForm | None:
    """Return the form in which the policy says that dates are written; None if not given."""
    return value if value is None or isinstance(value, DateForm) else DateForm.read(str(value))


def _read_reason(value: Any) -> Any:
    """Return a policy's reason, in words, to publish a risky column; raise ValueError for an empty one; None if not given."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("a reason, in words")


def _read_truth(value: Any) -> Any:
    """Return a policy's true or false; raise ValueError for anything else, as YAML has many words for true."""
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _read_bins(value: Any) -> Bins | None:
    """Return the bins that a policy asks for in a sensitive attribute; None if none."""
    return None if value is None else Bins.read(value)


def _read_context(value: Any) -> dict[str, str] | None:
    """Return a policy's texts for the report, by topic; raise ValueError for an unknown topic, or for an empty text."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not set(value) <= set(CONTEXT):
        raise ValueError(f"a mapping from topics to texts; the topics are {', '.join(CONTEXT)}")
    if not all(isinstance(text, str) and text.strip() for text in value.values()):
        raise ValueError("a mapping from topics to texts; leave out what is not stated")
    return {topic: value[topic] for topic in CONTEXT if topic in value} or None


def _read_names(value: Any) -> list[str]:
    """Return a policy's list of column names, from one name or a list of names."""
    if isinstance(value, Mapping):
        raise ValueError("a list of names, as [age, zip], without settings")  # noqa: TRY004 - pydantic turns ValueError into its own
    return [name_of(item) for item in items_of(value)]


CONTEXT = ("purpose", "recipient", "controls", "adversaries", "thresholds", "earlier_releases", "reviewer")
"""Topics on which a policy may have a text for the report."""

SHARE = "between 0 and 1"
"""What a share must be, in an error sentence."""

BUILT = tuple(NAMED)
"""Rules for hierarchies that a policy may name by a word alone."""

CALENDAR = ("day", "week", "month", "quarter", "year")
"""Units of the calendar that ranges of dates are widened to."""

AUTO = "auto"
"""The snap that asks for a grid which is chosen from the column's values."""

NUMBERS: list[dict[str, Any]] = [{"type": "number"}, {"type": "string"}]
_NUMBER = WithJsonSchema({"anyOf": [*NUMBERS, {"type": "null"}]})
_FILE_OR_MAPPING: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]}
_LIST_OF_NUMBERS: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"anyOf": NUMBERS}}
_COUNTS: dict[str, Any] = {"type": "integer", "minimum": 1}
_UNITS: dict[str, Any] = {"type": "string", "enum": list(UNITS)}
_RULES: list[dict[str, Any]] = [
    {"type": "object", "properties": {key: given}, "required": [key], "additionalProperties": False}
    for key, given in {
        "intervals": _LIST_OF_NUMBERS,
        "rounding": _LIST_OF_NUMBERS,
        "cuts": {"anyOf": [_LIST_OF_NUMBERS, {"type": "array", "minItems": 1, "items": _LIST_OF_NUMBERS}]},
        "prefixes": {"anyOf": [_COUNTS, {"type": "array", "minItems": 1, "items": _COUNTS}]},
        "dates": {"anyOf": [_UNITS, {"type": "array", "minItems": 1, "items": _UNITS}]},
        "ranges": {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 1}}]},
        "groups": {"type": "object"},
    }.items()
]
_HIERARCHY: dict[str, Any] = {"anyOf": [{"type": "string", "enum": list(BUILT)}, *_RULES, *_FILE_OR_MAPPING["anyOf"]]}
NAME: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
Name = Annotated[str, BeforeValidator(name_of), WithJsonSchema(NAME)]
Share = Annotated[Any, _number_validator(SHARE, lambda x: 0 <= x <= 1), _NUMBER]
GivenShare = Annotated[Any, _number_validator(SHARE, lambda x: 0 <= x <= 1, optional=False), WithJsonSchema({"anyOf": NUMBERS})]
Positive = Annotated[Any, _number_validator("above 0", lambda x: x > 0), _NUMBER]
AtLeastOne = Annotated[Any, _number_validator("1 or more", lambda x: x >= 1), _NUMBER]
Weight = Annotated[Any, _number_validator("0 or more", lambda x: x >= 0, optional=False), WithJsonSchema({"anyOf": NUMBERS})]
Whole = Annotated[
    Any, PlainValidator(_read_whole_number), WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})
]
GivenWhole = Annotated[Any, PlainValidator(_read_given_whole_number), WithJsonSchema({"type": "integer", "minimum": 1})]
HierarchyField = Annotated[Any, PlainValidator(_read_sensitive_hierarchy), WithJsonSchema(_HIERARCHY)]
QuasiHierarchy = Annotated[Any, PlainValidator(_read_quasi_hierarchy), WithJsonSchema(_HIERARCHY)]
Snap = Annotated[
    Any,
    PlainValidator(_read_snap),
    WithJsonSchema({"anyOf": [{"type": "string", "enum": [AUTO, *CALENDAR]}, *NUMBERS, {"type": "null"}]}),
]
End = Annotated[Any, PlainValidator(_read_end), _NUMBER]
BinsField = Annotated[
    Any,
    PlainValidator(_read_bins),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 2, "maximum": MOST_BINS},
                {"type": "array", "minItems": 1, "items": {"anyOf": NUMBERS}},
                {
                    "type": "object",
                    "properties": {
                        "count": {"type": "integer", "minimum": 2, "maximum": MOST_BINS},
                        "width": {"anyOf": NUMBERS},
                        "edges": {"type": "array"},
                    },
                    "additionalProperties": False,
                    "maxProperties": 1,
                },
                {"type": "null"},
            ]
        }
    ),
]
Reason = Annotated[
    Any, PlainValidator(_read_reason), WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]})
]
ContextField = Annotated[
    Any,
    PlainValidator(_read_context),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {topic: {"type": "string", "minLength": 1} for topic in CONTEXT},
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        }
    ),
]
Truth = Annotated[Any, PlainValidator(_read_truth), WithJsonSchema({"type": "boolean"})]
MatrixField = Annotated[Any, PlainValidator(_read_matrix), WithJsonSchema(_FILE_OR_MAPPING)]
OrderField = Annotated[Any, PlainValidator(_read_order), WithJsonSchema({"anyOf": [{"type": "array"}, {"type": "null"}]})]
_TEXT = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})
Delimiter = Annotated[Any, PlainValidator(_read_delimiter), _TEXT]
Mark = Annotated[Any, PlainValidator(_read_decimal_mark), _TEXT]
Encoding = Annotated[Any, PlainValidator(_read_encoding), _TEXT]
DateField = Annotated[Any, PlainValidator(_read_date_form), _TEXT]
Texts = Annotated[
    Any, PlainValidator(_read_missing_texts), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": NAME}]})
]
Names = Annotated[Any, PlainValidator(_read_names), WithJsonSchema({"anyOf": [NAME, {"type": "array", "items": NAME}]})]
