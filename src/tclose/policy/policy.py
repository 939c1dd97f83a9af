"""Policy: what the user asks for. Columns in their roles, limits, and how they are read from YAML."""

from __future__ import annotations

import functools
import io
import os
import warnings
from collections.abc import Callable, KeysView, Mapping
from dataclasses import MISSING, field, fields
from datetime import date, datetime, time
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, PlainValidator, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.dataclasses import dataclass

from tclose.distances.labelled import LabelledMatrix
from tclose.errors import PolicyError, got, nearest, raising_alone
from tclose.tables.files import FileTooLargeError, check_target, read_at_most, write_whole
from tclose.values.bins import MOST_BINS, Bins
from tclose.values.exact import exact, plain
from tclose.values.hierarchy import Hierarchy, printed
from tclose.values.notation import DateForm, encoding_of

_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True, validate_default=False)


_LARGEST = 10**18
"""More than any table has rows."""

_FINEST = 10**300
"""The largest denominator of a number: a certificate must hold it, and whoever verifies a release must read it."""

_MOST_BYTES = 10_000_000
"""Bytes of a policy's file."""

_MOST_PARTS = 1_000_000
"""Names and values in a policy's file."""


def _name(value: Any) -> Any:
    """A column's name; integers name columns too."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError("the name of a column")  # noqa: TRY004 - pydantic turns ValueError into its own
    return value


def _items(value: Any) -> list[Any]:
    """What a list, a tuple, an index, an array or a series holds, or the keys of a mapping; anything else is one item."""
    if isinstance(value, list | tuple | KeysView):
        return list(value)
    unpack = getattr(type(value), "tolist", None) or getattr(type(value), "to_list", None)  # NumPy, pandas, Arrow; polars
    items = unpack(value) if callable(unpack) else value
    return items if isinstance(items, list) else [value]


def _number(requirement: str, fits: Callable[[Fraction], bool], *, optional: bool = True) -> PlainValidator:
    """Reads an exact number and checks a condition on it."""

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


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= _LARGEST:
        raise ValueError("a whole number, 1 or more")
    return int(value)


def _hierarchy(value: Any) -> Hierarchy | None:
    if value is None or isinstance(value, Hierarchy):
        return value
    if isinstance(value, str | Path):
        return Hierarchy.from_csv(value)
    return Hierarchy.from_mapping(value)


def _quasi_hierarchy(value: Any) -> Hierarchy | str | None:
    return str(value) if isinstance(value, str) and value in BUILT else _hierarchy(value)


def _matrix(value: Any) -> LabelledMatrix | None:
    if value is None or isinstance(value, LabelledMatrix):
        return value
    if isinstance(value, str | Path):
        return LabelledMatrix.from_csv(value)
    return LabelledMatrix.from_mapping(value)


def _order(value: Any) -> list[str] | None:
    if value is None:
        return None
    items = [] if isinstance(value, str | Mapping) else _items(value)
    labels = [] if any(isinstance(item, list | tuple | Mapping) for item in items) else [printed(item) for item in items]
    if len(labels) < 1 or len(set(labels)) < len(labels):
        raise ValueError("a list of distinct values, from least to greatest")
    return labels


def _snap(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value in CALENDAR):
        return value
    try:
        if exact(value) > 0:
            return exact(value)
    except ValueError:
        pass
    raise ValueError(f"a number above 0, or for dates one of {', '.join(CALENDAR)}")


def _end(value: Any) -> Any:
    """Where top or bottom coding begins: a number, a date, or a time."""
    if value is None or isinstance(value, date | time):
        return value
    for read in (exact, date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
        try:
            return read(value)
        except (TypeError, ValueError):
            continue
    raise ValueError("a number, a date as 2024-01-31, or a time as 08:30")


def _delimiter(value: Any) -> Any:
    value = {"tab": "\t", "comma": ",", "semicolon": ";"}.get(value, value) if isinstance(value, str) else value
    if value is None or (isinstance(value, str) and len(value) == 1 and value in "\t,;:|!#$%&*/<=>?@^_`{}~"):
        return value
    raise ValueError("one character such as ; or tab")


def _decimal(value: Any) -> Any:
    if value in (None, ".", ","):
        return value
    raise ValueError("a point or a comma, in quotes")


def _encoding(value: Any) -> Any:
    return value if value is None else encoding_of(str(value))


def _texts(value: Any) -> list[str]:
    texts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(text, str | int) and not isinstance(text, bool) for text in texts):
        raise ValueError("a list of texts that mean no value, each in quotes where YAML would read something else")
    return list(dict.fromkeys(str(text) for text in texts))


def _dates(value: Any) -> DateForm | None:
    return value if value is None or isinstance(value, DateForm) else DateForm.read(str(value))


def _reason(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("a reason, in words")


def _truth(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _bins(value: Any) -> Bins | None:
    return None if value is None else Bins.read(value)


BUILT = ("prefixes", "dates")
"""Hierarchies that are made from the values of the table."""

CALENDAR = ("day", "week", "month", "quarter", "year")
"""What dates snap to."""

_NUMBERS: list[dict[str, Any]] = [{"type": "number"}, {"type": "string"}]
_NUMBER = WithJsonSchema({"anyOf": [*_NUMBERS, {"type": "null"}]})
_FILE_OR_MAPPING: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "null"}]}
_NAME: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema(_NAME)]
Share = Annotated[Any, _number("between 0 and 1", lambda x: 0 <= x <= 1), _NUMBER]
GivenShare = Annotated[
    Any, _number("between 0 and 1", lambda x: 0 <= x <= 1, optional=False), WithJsonSchema({"anyOf": _NUMBERS})
]
Positive = Annotated[Any, _number("above 0", lambda x: x > 0), _NUMBER]
AtLeastOne = Annotated[Any, _number("1 or more", lambda x: x >= 1), _NUMBER]
Weight = Annotated[Any, _number("0 or more", lambda x: x >= 0, optional=False), WithJsonSchema({"anyOf": _NUMBERS})]
Whole = Annotated[Any, PlainValidator(_whole), WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]})]
HierarchyField = Annotated[Any, PlainValidator(_hierarchy), WithJsonSchema(_FILE_OR_MAPPING)]
QuasiHierarchy = Annotated[
    Any,
    PlainValidator(_quasi_hierarchy),
    WithJsonSchema({"anyOf": [{"type": "string", "enum": list(BUILT)}, *_FILE_OR_MAPPING["anyOf"]]}),
]
Snap = Annotated[
    Any,
    PlainValidator(_snap),
    WithJsonSchema({"anyOf": [{"type": "string", "enum": list(CALENDAR)}, *_NUMBERS, {"type": "null"}]}),
]
End = Annotated[Any, PlainValidator(_end), _NUMBER]
BinsField = Annotated[
    Any,
    PlainValidator(_bins),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 2, "maximum": MOST_BINS},
                {"type": "array", "minItems": 1, "items": {"anyOf": _NUMBERS}},
                {
                    "type": "object",
                    "properties": {
                        "count": {"type": "integer", "minimum": 2, "maximum": MOST_BINS},
                        "width": {"anyOf": _NUMBERS},
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
    Any, PlainValidator(_reason), WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]})
]
Truth = Annotated[Any, PlainValidator(_truth), WithJsonSchema({"type": "boolean"})]
MatrixField = Annotated[Any, PlainValidator(_matrix), WithJsonSchema(_FILE_OR_MAPPING)]
OrderField = Annotated[Any, PlainValidator(_order), WithJsonSchema({"anyOf": [{"type": "array"}, {"type": "null"}]})]

# Fields of the contract that no part of tclose obeys yet. They are refused: a setting that is silently ignored would make a
# reader believe in a protection that is not there.
_NOT_YET = ("small_cells",)

_LISTS = ("bins", "order")
"""Settings that may be lists. Where another one is a list, it may be a column of a table."""


class _Checked:
    """What the parts of a policy share: they refuse what is not supported yet, and print what is set."""

    def __post_init__(self) -> None:
        for setting in fields(self):  # type: ignore[arg-type]  # each subclass is a dataclass
            given, default = getattr(self, setting.name), _default(setting)
            if setting.name in _NOT_YET and not (type(given) is type(default) and given == default):
                raise PolicyError(f"{setting.name}{_of(getattr(self, 'name', None))} is not supported yet. Leave it out.")
        self._check()

    def _check(self) -> None:
        """Conditions that involve several fields."""

    def __repr__(self) -> str:
        """The settings that are not at their defaults."""
        shown = {setting.name: getattr(self, setting.name) for setting in fields(self)}  # type: ignore[arg-type]
        changed = [s for s in fields(self) if shown[s.name] != _default(s)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{s.name}={_readable(shown[s.name])!r}' for s in changed)})"


@dataclass(config=_CONFIG, repr=False)
class Quasi(_Checked):
    """A quasi-identifier: a column that others may know about a person.

    Parameters
    ----------
    name : str
    type : {"auto", "integer", "decimal", "date", "text", "category"}
        How the column's cells are read; ``auto`` looks at all of them. ``category``: codes without an order, such as 1, 2, 3 for
        the marital status; a class is published as the set of its codes, or as a label of the hierarchy, never as a range.
    hierarchy : path, mapping or Hierarchy, optional
        A tree over the column's values; ``"prefixes"`` (``476**``) or ``"dates"`` (month, quarter, year) makes one from them.
    recode : {"range", "bounds", "centroid", "level", "set"}
        How a class is published. ``range``: ``[25, 34]`` for numbers and dates, the label of the lowest common node with a
        hierarchy (``level`` says the same), else the set of values. ``bounds``: two columns, ``age.min`` and ``age.max``.
        ``centroid``: the mean. ``set``: the values that occur.
    snap : number, or {"day", "week", "month", "quarter", "year"}, optional
        Widen ranges to a grid.
    top, bottom : number, date or time, optional
        Values from here on, or up to here, are one: "90 or more".
    weight : number
        What a loss in this column counts for.
    despite : str, optional
        Why it is published although its values are nearly unique and it has no hierarchy: a release lists them in sets.
    """

    name: Name
    type: Literal["auto", "integer", "decimal", "date", "text", "category"] = "auto"
    hierarchy: QuasiHierarchy = None
    recode: Literal["range", "bounds", "centroid", "level", "set"] = "range"
    snap: Snap = None
    top: End = None
    bottom: End = None
    weight: Weight = Fraction(1)
    despite: Reason = None

    @property
    def tree(self) -> Hierarchy | None:
        """The hierarchy that was given; None also where it is made from the table."""
        return self.hierarchy if isinstance(self.hierarchy, Hierarchy) else None

    @property
    def read_as(self) -> str:
        """How cells are read: codes of categories as they come, so that a set lists them in the order of their numbers."""
        return "auto" if self.type == "category" else self.type

    def _check(self) -> None:
        if self.recode == "level" and self.hierarchy is None:
            raise PolicyError(f"recode: level of {self.name!r} needs a hierarchy. Got none.")
        if self.hierarchy is not None and self.recode in ("bounds", "centroid"):
            raise PolicyError(f"recode: {self.recode} of {self.name!r} goes without a hierarchy. Leave one of them out.")
        for setting in ("snap", "top", "bottom"):
            if getattr(self, setting) is not None and (self.hierarchy is not None or self.recode in ("level", "set")):
                raise PolicyError(f"{setting} of {self.name!r} goes with ranges, bounds and centroids. Got a hierarchy or a set.")
        if self.type == "category" and self.recode in ("bounds", "centroid"):
            raise PolicyError(f"recode: {self.recode} of {self.name!r} needs an order. Got type: category, which has none.")
        for setting in ("snap", "top", "bottom"):
            if self.type == "category" and getattr(self, setting) is not None:
                raise PolicyError(f"{setting} of {self.name!r} needs an order. Got type: category, which has none.")
        if self.hierarchy == "dates" and self.type not in ("auto", "date", "text"):
            raise PolicyError(f"hierarchy: dates of {self.name!r} needs dates. Got type: {self.type}.")
        self._check_ends()

    def _check_ends(self) -> None:
        """Top, bottom and snap must fit each other, and a type that was asked for."""
        kinds = {"integer": (Fraction, "a number"), "decimal": (Fraction, "a number"), "date": (date, "a date")}
        if self.type in kinds:  # text is what a release holds, whatever it was made from
            kind, needed = kinds[self.type]
            for setting in ("top", "bottom"):
                given = getattr(self, setting)
                if given is not None and not isinstance(given, kind):
                    raise PolicyError(
                        f"{setting} of {self.name!r} must be {needed} for type: {self.type}. Got {_readable(given)}."
                    )
            if self.snap is not None and (self.snap in CALENDAR) != (self.type == "date"):
                needed = f"one of {', '.join(CALENDAR)}" if self.type == "date" else needed
                raise PolicyError(f"snap of {self.name!r} must be {needed} for type: {self.type}. Got {_readable(self.snap)}.")
        if self.top is not None and self.bottom is not None and not _is_below(self.bottom, self.top):
            ends = f"{_readable(self.bottom)} and {_readable(self.top)}"
            raise PolicyError(f"bottom of {self.name!r} must be below its top. Got {ends}.")


_TEXT = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]})
Delimiter = Annotated[Any, PlainValidator(_delimiter), _TEXT]
Mark = Annotated[Any, PlainValidator(_decimal), _TEXT]
Encoding = Annotated[Any, PlainValidator(_encoding), _TEXT]
DateField = Annotated[Any, PlainValidator(_dates), _TEXT]
Texts = Annotated[Any, PlainValidator(_texts), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": _NAME}]})]


@dataclass(config=_CONFIG, repr=False)
class Input(_Checked):
    """How the cells of the input are written, so that a run can be repeated; what is not named is found out, or as in a release.

    It describes the input, not the release: a file that is evidently in the form of a release (commas, UTF-8, decimal points,
    dates as 2024-01-31) is read as one.

    Parameters
    ----------
    delimiter : str, optional
        What separates the cells of a CSV: one character, or ``tab``.
    decimal : {".", ","}, optional
        What separates the decimals of a number.
    encoding : str, optional
        Of the letters of a CSV: ``latin-1``, ``cp1252``, ``utf-16``, ...
    missing : list of str
        Texts that mean "no value", in any column: ``["NA", "?"]``. An empty cell always does.
    dates : str, optional
        How dates are written: ``DD.MM.YYYY``, ``D/M/YYYY``, ``DD.MM.YYYY hh:mm``, or ``%d.%m.%Y``.

    Examples
    --------
    >>> Input(decimal=",", dates="%d.%m.%Y", missing="NA")
    Input(decimal=',', missing=['NA'], dates='DD.MM.YYYY')
    """

    delimiter: Delimiter = None
    decimal: Mark = None
    encoding: Encoding = None
    missing: Texts = field(default_factory=list)
    dates: DateField = None


@dataclass(config=_CONFIG, repr=False)
class Keep(_Checked):
    """A column that is published as it is.

    Parameters
    ----------
    name : str
    despite : str, optional
        Why it is published although its values are nearly unique, or free text.
    """

    name: Name
    despite: Reason = None


@dataclass(config=_CONFIG, repr=False)
class Sensitive(_Checked):
    """A sensitive attribute: a column that nobody should learn about a person.

    Parameters
    ----------
    name : str
    t : number in [0, 1], optional
        Each class must be within this earth mover's distance of the table. A float means the decimal that is written:
        0.3 is 3/10. Text such as ``"4/15"`` is a fraction.
    distance : {"auto", "ordered", "numeric", "equal", "hierarchical", "matrix"}
        ``auto``: hierarchical with a hierarchy, matrix with a matrix, ordered for numbers, dates, ordered categories and with an
        ``order``, else equal.
    hierarchy : path, mapping or Hierarchy, optional
    matrix : path or mapping, optional
        A distance between 0 and 1 for each pair of values.
    order : list, optional
        The values from least to greatest.
    bins : count, list of edges, or {"width": number}, optional
        Numbers are put together; the limits apply to the bins, and their labels are published.
    publish : {"value"}, optional
        With bins: publish the values all the same; the limits then apply to the values.
    missing : {"value"}, optional
        A missing cell is a value of its own. In the ordered distance it stands one place after the greatest value; in the numeric
        distance as far after it as values are from one another on average. An ``order``, a hierarchy and a matrix say themselves
        where it stands (null). Otherwise a missing cell is a value for the equal distance, and an error for the others.
    l, l_kind, c
        At least l values in each class: ``distinct``, ``entropy`` or ``recursive`` (then with c).
    beta, beta_kind
        No value's share may rise by more than this, relative to the table: ``basic`` or ``enhanced``.
    delta, delta_kind
        No value's share may change by this factor's logarithm or more: ``strict``, or ``lenient`` about absent values.
    """

    name: Name
    t: Share = None
    distance: Literal["auto", "ordered", "numeric", "equal", "hierarchical", "matrix"] = "auto"
    hierarchy: HierarchyField = None
    matrix: MatrixField = None
    order: OrderField = None
    bins: BinsField = None
    publish: Literal["value"] | None = None
    missing: Literal["value"] | None = None
    l: AtLeastOne = None  # noqa: E741 - the name of the model, and of the contract
    l_kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: Positive = None
    beta: Positive = None
    beta_kind: Literal["basic", "enhanced"] = "basic"
    delta: Positive = None
    delta_kind: Literal["strict", "lenient"] = "strict"

    @property
    def kind(self) -> str:
        """The distance asked for; "auto" when the column's type decides."""
        if self.distance != "auto":
            return self.distance
        for kind, given in (("hierarchical", self.hierarchy), ("matrix", self.matrix), ("ordered", self.order)):
            if given is not None:
                return kind
        return "auto"

    def _check(self) -> None:
        needs = {"hierarchical": "hierarchy", "matrix": "matrix"}
        for kind, given in (*needs.items(), ("ordered", "order")):
            if getattr(self, given) is not None and self.kind != kind:
                raise PolicyError(f"{given} of {self.name!r} goes with distance: {kind}. Got distance: {self.kind}.")
            if self.distance == kind and given in needs.values() and getattr(self, given) is None:
                raise PolicyError(f"distance: {kind} of {self.name!r} needs a {given}. Got none.")
        if self.bins is not None and self.kind not in ("auto", "ordered", "equal"):
            raise PolicyError(f"bins of {self.name!r} go with the ordered and the equal distance. Got {self.kind}.")
        if self.bins is not None and self.order is not None:
            raise PolicyError(f"bins of {self.name!r} have an order of their own. Leave its order out.")
        if self.publish is not None and self.bins is None:
            raise PolicyError(f"publish of {self.name!r} goes with bins. Got none.")
        if (self.c is not None) != (self.l_kind == "recursive"):
            raise PolicyError(f"c of {self.name!r} goes with l_kind: recursive, and l_kind: recursive needs a c.")
        if self.l_kind != "distinct" and self.l is None:
            raise PolicyError(f"l_kind of {self.name!r} needs an l. Got none.")
        if self.l is not None and self.l_kind != "entropy" and self.l.denominator != 1:
            raise PolicyError(f"l of {self.name!r} must be a whole number unless l_kind is entropy. Got {plain(self.l)}.")


def _columns(kind: type[Any], bare: str | None = None) -> Callable[[Any], Any]:
    """Reads a list of names, settings and objects, or a mapping from names to settings; a bare setting stands for one field."""

    def one(name: Any, settings: Any) -> Any:
        if settings is None:
            return kind(name)
        if isinstance(settings, Mapping):
            unknown = next((key for key in settings if not isinstance(key, str)), None)
            if unknown is not None:
                raise PolicyError(
                    f"The settings of {name!r} must have names. Got {got(unknown)}. Decimals have a point, not a comma."
                )
            if "name" in settings:
                raise PolicyError(f"A column must have one name. Got {got(name)} and {got(settings['name'])}.")
            return kind(name, **settings)
        if bare is None:
            raise PolicyError(f"The settings of {name!r} must be a mapping. Got {got(settings)}.")
        return kind(name, **{bare: settings})

    def read(value: Any) -> Any:
        if isinstance(value, Mapping):
            return [one(name, settings) for name, settings in value.items()]
        columns = []
        for item in _items(value):
            if isinstance(item, kind):
                columns.append(item)
            elif isinstance(item, _Checked):
                found = f"{type(item).__name__} {getattr(item, 'name', '')!r}"
                raise PolicyError(f"A list of {kind.__name__} columns must hold nothing else. Got {found}.")
            elif isinstance(item, list | tuple | set | frozenset):
                wanted = "Columns must be a list of names, or a mapping from names to settings."
                raise PolicyError(f"{wanted} Got {type(item).__name__}.")
            elif not isinstance(item, Mapping):
                columns.append(kind(item))
            elif "name" in item:
                columns.append(one(item["name"], {key: setting for key, setting in item.items() if key != "name"}))
            elif len(item) == 1:  # YAML: "- salary: {t: 0.2}"
                columns.append(one(*next(iter(item.items()))))
            else:
                raise PolicyError("A column in a list must be a name, or settings with a 'name'. Got settings without.")
        return columns

    return read


def _names(value: Any) -> list[str]:
    """One name, or a list of names."""
    return [_name(item) for item in _items(value)]


_LIST: dict[str, Any] = {"anyOf": [{"type": "array"}, {"type": "object"}]}


def _input(value: Any) -> Any:
    if value is None or isinstance(value, Input):
        return value
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError("a mapping with settings such as decimal, missing or dates")
    return Input(**value)


InputField = Annotated[Any, PlainValidator(_input), WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "null"}]})]
QuasiColumns = Annotated[Any, PlainValidator(_columns(Quasi)), WithJsonSchema(_LIST)]
KeptColumns = Annotated[Any, PlainValidator(_columns(Keep, bare="despite")), WithJsonSchema(_LIST)]
SensitiveColumns = Annotated[Any, PlainValidator(_columns(Sensitive, bare="t")), WithJsonSchema(_LIST)]
Names = Annotated[Any, PlainValidator(_names), WithJsonSchema({"anyOf": [_NAME, {"type": "array", "items": _NAME}]})]


@dataclass(config=_CONFIG, repr=False)
class Policy(_Checked):
    """What a table must hold: its columns in their roles, and limits.

    Parameters
    ----------
    quasi : list of names or Quasi, or mapping from names to settings
    sensitive : list of names or Sensitive, or mapping from names to settings; a bare number is t
    k : int, optional
        Rows (or persons, with ``unit``) in each class, at least.
    unit : str, optional
        The column that names the person: k and l count persons. ``"row"`` says that each row is one.
    input : Input or mapping, optional
        How the cells of the input are written: its delimiter, decimals, encoding, dates, and texts that mean "no value".
    alpha : number in [0, 1], optional
        The largest share that any sensitive value may have in a class.
    n : int, optional
        (n,t)-closeness instead of t: close to a surrounding region of at least n rows.
    suppression : number in [0, 1]
        The largest share of rows that a release may leave out.
    identifiers, drop : list of names
        Never published.
    keep : list of names, or mapping from names to settings
        Published as they are. A column that is nearly unique, or free text, needs a reason: ``{despite: reason}``.
    other : {"drop", "keep"}, optional
        What becomes of columns without a role. Without it a release refuses them; an audit ignores them.
    formula_guard : bool
        Text cells of a CSV that a spreadsheet could take for a formula get a leading ``'``.

    Examples
    --------
    >>> Policy(quasi=["age"], sensitive={"salary": 0.2}, k=5).sensitive[0].t
    Fraction(1, 5)
    """

    quasi: QuasiColumns
    sensitive: SensitiveColumns
    k: Whole = None
    unit: Name | None = None
    input: InputField = None
    suppression: GivenShare = Fraction(0)
    alpha: Share = None
    n: Whole = None
    identifiers: Names = field(default_factory=list)
    drop: Names = field(default_factory=list)
    keep: KeptColumns = field(default_factory=list)
    other: Literal["drop", "keep"] | None = None
    small_cells: Any = 5
    formula_guard: Truth = True

    @classmethod
    @raising_alone
    def load(cls, path: str | Path) -> Policy:
        """Read a YAML file. Paths of hierarchies and matrices in it start at the file's own folder."""
        settings = _read_yaml(Path(path))
        for role in {"quasi", "sensitive"} & settings.keys():
            settings[role] = _anchored(settings[role], Path(path).parent)
        unknown = next((key for key in settings if not isinstance(key, str)), None)
        if unknown is not None:
            raise PolicyError(f"The keys of a policy must be names. Got {got(unknown)}.")
        return cls(**settings)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write a YAML file that `load` reads back to an equal policy.

        Parameters
        ----------
        force
            Whether a file that exists may be replaced; never a hierarchy or a matrix of the policy.
        """
        from ruamel.yaml import YAML

        text = io.StringIO()
        YAML().dump(self.to_dict(Path(path).parent), text)  # in the order of the fields, one a line
        check_target(Path(path), force=force, inputs=files_of(self))
        write_whole(Path(path), lambda beside: beside.write_text(text.getvalue(), encoding="utf-8"), force=force)

    def to_dict(self, folder: str | Path | None = ".") -> dict[str, Any]:
        """The policy in plain types, without defaults; files are named relative to a folder, or written out with None."""
        settings = _settings(self, folder if folder is None else Path(folder))
        for role in ("quasi", "sensitive", "keep"):
            columns = [_settings(column, folder if folder is None else Path(folder)) for column in getattr(self, role)]
            if columns:
                settings[role] = {column.pop("name"): column or None for column in columns}
        if self.input is not None:
            settings["input"] = _settings(self.input, None)
        return settings

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of the YAML file, for editors that complete and check it."""
        columns = {role: TypeAdapter(kind).json_schema() for role, kind in _ROLES.items()}
        schema = TypeAdapter(Policy).json_schema()
        for name in _NOT_YET:  # what is refused is not offered
            del schema["properties"][name]
        schema["properties"]["input"] = {"anyOf": [TypeAdapter(Input).json_schema(), {"type": "null"}]}
        for role, column in columns.items():
            properties = {key: value for key, value in column["properties"].items() if key != "name"}
            bare = {"sensitive": _NUMBERS, "keep": [{"type": "string", "minLength": 1}]}.get(role, [])
            settings = {**column, "required": [], "properties": properties}
            mapping = {"type": "object", "additionalProperties": {"anyOf": [settings, {"type": "null"}, *bare]}}
            one = {"anyOf": [_NAME, column, {**mapping, "maxProperties": 1}]}
            schema["properties"][role] = {"anyOf": [_NAME, {"type": "array", "items": one}, mapping]}
        return schema

    def _check(self) -> None:
        if not self.quasi:
            raise PolicyError("A policy must name at least one quasi-identifier. Got none.")
        if not self.sensitive:
            raise PolicyError("A policy must name at least one sensitive attribute. Got none.")
        if self.n is not None and all(column.t is None for column in self.sensitive):
            raise PolicyError("n asks for (n,t)-closeness and needs a t for a sensitive attribute. Got none.")
        if all(column.weight == 0 for column in self.quasi):
            raise PolicyError("weight must be above 0 for some quasi-identifier. Got 0 for all.")
        roles: dict[str, str] = {}
        for role, names in (
            ("quasi", [column.name for column in self.quasi]),
            ("sensitive", [column.name for column in self.sensitive]),
            ("identifiers", self.identifiers),
            ("drop", self.drop),
            ("keep", [column.name for column in self.keep]),
        ):
            for name in names:
                if name in roles:
                    twice = f"twice in {role}" if roles[name] == role else f"in {roles[name]} and in {role}"
                    raise PolicyError(f"A column must have one role. Got {name!r} {twice}.")
                roles[name] = role
        if self.unit != "row" and self.unit in roles and roles[self.unit] in ("quasi", "sensitive", "keep"):
            raise PolicyError(f"unit must name a person, not a {roles[self.unit]} column. Got {self.unit!r}.")


def files_of(policy: Policy) -> list[Path]:
    """The hierarchies and matrices that a policy names: they are read, and nothing may be written over them."""
    given = [column.hierarchy for column in (*policy.quasi, *policy.sensitive)] + [column.matrix for column in policy.sensitive]
    return [Path(part.file) for part in given if getattr(part, "file", None) is not None]


def check_policy(policy: Any) -> None:
    """Refuse what is no Policy, and say how to make one of it."""
    if isinstance(policy, Policy):
        return
    how = ""
    if isinstance(policy, Mapping):
        how = " Write tclose.Policy(**policy)."
    elif isinstance(policy, str | Path):
        how = " Read the file with tclose.Policy.load(path)."
    raise PolicyError(f"policy must be a Policy. Got {type(policy).__name__}.{how}")


def _in_one_sentence(cls: Any) -> None:
    """Let a policy class raise PolicyError, in one sentence, instead of pydantic's list of findings."""
    validate = cls.__init__

    def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
        try:
            validate(self, *args, **settings)
        except ValidationError as error:  # it holds all that was given, which may be a table: what is raised must not keep it
            refusal = _sentence(cls, settings.get("name", args[0] if args else None), error)
        else:
            return
        kind, sentence = refusal
        raise kind(sentence)

    cls.__init__ = functools.update_wrapper(__init__, validate)


_ROLES = {"quasi": Quasi, "sensitive": Sensitive, "keep": Keep}

for _cls in (*_ROLES.values(), Input, Policy):
    _in_one_sentence(_cls)


def _sentence(cls: type, name: Any, error: ValidationError) -> tuple[type[PolicyError], str]:
    """What is wrong, and the kind of error that it is."""
    unknown = ("unexpected_keyword_argument", "extra_forbidden")
    finding = min(error.errors(), key=lambda found: found["type"] not in unknown)  # a misspelt key before the one it should be
    cause = finding.get("ctx", {}).get("error")
    place = finding["loc"][0] if finding["loc"] else ""
    field = fields(cls)[place].name if isinstance(place, int) else place  # a number where the argument had no name
    owner = " of input" if cls is Input else _of(name if cls is not Policy else None)
    if isinstance(cause, PolicyError):
        return type(cause), f"Column {got(name)}: {cause}" if field and owner else str(cause)
    if finding["type"] in unknown:
        return PolicyError, f"{field!r}{owner} is not a setting of {cls.__name__}.{_meant(cls, field)}"
    if finding["type"] in ("missing", "missing_argument"):
        return PolicyError, f"{cls.__name__}{owner} needs {field!r}. Got none."
    if cause is not None:
        requirement = str(cause)
    elif finding["type"] == "literal_error":
        requirement = "one of " + finding["ctx"]["expected"]
    else:
        requirement = finding["msg"][0].lower() + finding["msg"][1:]
    return PolicyError, f"{field}{owner} must be {requirement}. Got {got(finding['input'], setting=field in _LISTS)}."


def _meant(cls: type, unknown: str) -> str:
    """A hint: which setting is meant by a name that is none. Other tools call some of them otherwise."""
    if cls is Policy:
        word = unknown.lower().replace("-", "_").replace(" ", "_")
        alias = next((setting for setting, words in _ALIASES.items() if word in words), None)
        if alias is not None:
            return f" Did you mean {alias!r}?"
        if unknown in {item.name for item in fields(Sensitive)}:
            return f" It is a setting of a sensitive column, as in sensitive: {{salary: {{{unknown}: ...}}}}."
    return nearest(unknown, [item.name for item in fields(cls)])


_ALIASES = {
    "quasi": ("qi", "qis", "qid", "qids", "quasi_identifier", "quasi_identifiers", "quasi_attributes", "quasi_columns", "keys"),
    "sensitive": ("sa", "sas", "sensitives", "sensitive_attribute", "sensitive_attributes", "sensitive_columns", "confidential"),
    "identifiers": ("id", "ids", "identifier", "identifying", "direct_identifier", "direct_identifiers", "explicit_identifiers"),
    "keep": ("insensitive", "insensitive_attributes", "non_sensitive", "nonsensitive", "kept"),
    "drop": ("remove", "exclude", "dropped"),
    "suppression": ("suppression_limit", "suppress", "max_suppression"),
    "unit": ("person", "persons", "patient", "subject"),
}


def _is_below(low: Any, high: Any) -> bool:
    try:
        return bool(low < high)
    except TypeError:  # a number and a date, or a date and a time
        return False


def _of(name: Any) -> str:
    return "" if name is None else f" of {got(name)}"


def _readable(value: Any) -> Any:
    if isinstance(value, DateForm):
        return value.words
    return plain(value) if isinstance(value, Fraction) else value


def _default(setting: Any) -> Any:
    return setting.default_factory() if setting.default_factory is not MISSING else setting.default


def _settings(owner: Any, folder: Path | None) -> dict[str, Any]:
    """The fields that are not at their defaults, in plain types."""

    def simple(value: Any) -> Any:
        if isinstance(value, Fraction):
            return plain(value)
        if isinstance(value, Bins):
            return value.setting()
        if isinstance(value, DateForm):
            return value.words
        if isinstance(value, date | time):
            return value.isoformat()
        if isinstance(value, Hierarchy | LabelledMatrix):
            return os.path.relpath(value.file, folder) if value.file and folder is not None else value.to_mapping()
        return value

    return {f.name: simple(getattr(owner, f.name)) for f in fields(owner) if getattr(owner, f.name) != _default(f)}


def _read_yaml(path: Path) -> dict[Any, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import YAMLError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they quote the file: an anchor that is used twice, say, which YAML allows
            settings = YAML(typ="safe", pure=True).load(read_at_most(path, _MOST_BYTES).decode("utf-8-sig"))
    except FileTooLargeError:
        raise PolicyError(f"Policy file {path.name!r} must have at most {_MOST_BYTES:,} bytes. Got more.") from None
    except OSError:
        raise PolicyError(f"Policy file {str(path)!r} cannot be read. Check its path.") from None
    except UnicodeDecodeError:
        raise PolicyError(f"Policy file {path.name!r} is not UTF-8. Save it as UTF-8.") from None
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1
        raise PolicyError(f"Policy file {path.name!r} names a key twice, the second time in line {line}. Keep one.") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise PolicyError(f"Policy file {path.name!r} is not YAML{where}. Mend it there; tabs cannot indent.") from None
    except TypeError:  # a list as a key
        raise PolicyError(f"Policy file {path.name!r} has a key that is no name. Write names before the colons.") from None
    except RecursionError:
        raise PolicyError(f"Policy file {path.name!r} must not be nested as deeply as it is. Keep the tree in a file.") from None
    except ValueError:  # of numbers and dates that look like some and are none: 2024-13-45, or thousands of digits
        raise PolicyError(f"Policy file {path.name!r} has a number or a date that cannot be read. Write it in quotes.") from None
    _check_size(settings, path)
    if not isinstance(settings, dict):
        raise PolicyError(f"Policy file {path.name!r} must be a mapping with 'quasi' and 'sensitive'. Got something else.")
    return settings


def _check_size(settings: Any, path: Path) -> None:
    """Refuse a file of some lines that stands for billions: in YAML a part can be repeated by its name, or hold itself."""
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, dict | list | tuple):
            return 1
        if id(part) not in sizes:
            sizes[id(part)] = _MOST_PARTS  # what it counts for inside itself
            inside = [*part.keys(), *part.values()] if isinstance(part, dict) else part
            sizes[id(part)] = 1 + sum(map(size, inside))
        return sizes[id(part)]

    if size(settings) > _MOST_PARTS:
        raise PolicyError(f"Policy file {path.name!r} must have at most {_MOST_PARTS:,} names and values. Got more.")


def _anchored(columns: Any, folder: Path) -> Any:
    """The columns' settings with the paths of their files joined to a folder."""

    def settings(given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        paths = {key: given[key] for key in ("hierarchy", "matrix") if isinstance(given.get(key), str)}
        return {**given, **{key: str(folder / path) for key, path in paths.items() if path not in BUILT}}

    def mapping(given: dict[Any, Any]) -> dict[Any, Any]:
        return {name: settings(column) for name, column in given.items()}

    if isinstance(columns, dict):
        return mapping(columns)
    if isinstance(columns, list):
        return [item if not isinstance(item, dict) else settings(item) if "name" in item else mapping(item) for item in columns]
    return columns
