"""Columns: the roles that a policy gives to columns, and how the cells of its input are written."""

from __future__ import annotations

from dataclasses import field
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic.dataclasses import dataclass

from tclose.distances.choose import KINDS
from tclose.errors import PolicyError
from tclose.policy.fields import (
    AUTO,
    CALENDAR,
    AtLeastOne,
    BinsField,
    DateField,
    Delimiter,
    Encoding,
    End,
    HierarchyField,
    Mark,
    MatrixField,
    Name,
    OrderField,
    Positive,
    QuasiHierarchy,
    Reason,
    Share,
    Snap,
    Texts,
    Weight,
)
from tclose.policy.sentences import column_hint, in_one_sentence
from tclose.policy.settings import CONFIG, Settings, readable
from tclose.values.builders import NAMED, Builder
from tclose.values.exact import plain
from tclose.values.hierarchy import Hierarchy

if TYPE_CHECKING:
    DistanceName = str
else:
    DistanceName = Literal[("auto", *KINDS)]


@in_one_sentence(hint=column_hint)
@dataclass(config=CONFIG, repr=False)
class Quasi(Settings):
    """A quasi-identifier: a column that others may know about a person.

    Parameters
    ----------
    name : str
    type : {"auto", "integer", "decimal", "date", "text", "category"}
        How the column's cells are read; ``auto`` looks at all of them. ``category``: codes without an order, such as 1, 2, 3 for
        the marital status; a class is published as the set of its codes, or as a label of the hierarchy, never as a range.
    hierarchy : path, mapping or Hierarchy, optional
        A tree over the column's values, or a rule that makes one: ``"prefixes"`` (``476**``) or ``{"prefixes": [4, 3]}``,
        ``"dates"`` (month, quarter, year) or ``{"dates": ["week"]}``, for numbers ``{"intervals": [5, 10, 20]}`` (``[20, 24]``,
        ``[20, 29]``, ``[20, 39]``), ``{"rounding": [10, 100]}`` or ``{"cuts": [18, 65]}``, for codes ``{"ranges": "icd10.csv"}``;
        ``{"groups": {"low": [...], "high": [...]}}`` is a tree of one level.
    recode : {"range", "bounds", "centroid", "level", "set"}
        How a class is published. ``range``: ``[25, 34]`` for numbers and dates, the label of the lowest common node with a
        hierarchy (``level`` says the same), else the set of values. ``bounds``: two columns, ``age.min`` and ``age.max``.
        ``centroid``: the mean. ``set``: the values that occur.
    snap : number, or {"day", "week", "month", "quarter", "year", "auto"}, optional
        Widen ranges to a grid. ``auto`` chooses the finest one of round numbers, or of the calendar, with at least k persons in
        each cell, and makes ``top`` and ``bottom`` where cells at the ends have fewer.
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
        """The hierarchy that the policy gives for the quasi-identifier; None if none, or if it is made from the table."""
        return self.hierarchy if isinstance(self.hierarchy, Hierarchy) else None

    @property
    def builder(self) -> Builder | None:
        """The rule that makes the quasi-identifier's hierarchy from its values; None if it has none."""
        if isinstance(self.hierarchy, str):
            return NAMED[self.hierarchy]
        return self.hierarchy if isinstance(self.hierarchy, Builder) else None

    @property
    def read_as(self) -> str:
        """The type that the quasi-identifier's cells are read as: "auto" for categories, so that numbers sort as numbers."""
        return "auto" if self.type == "category" else self.type

    def _check(self) -> None:
        """Refuse settings of a quasi-identifier that contradict one another."""
        if self.recode == "level" and self.hierarchy is None:
            raise PolicyError(f"recode: level of {self.name!r} needs a hierarchy. Got none.")
        if self.hierarchy is not None and self.recode in ("bounds", "centroid", "set"):
            raise PolicyError(f"recode: {self.recode} of {self.name!r} goes without a hierarchy. Leave one of them out.")
        for setting in ("snap", "top", "bottom"):
            if getattr(self, setting) is not None and (self.hierarchy is not None or self.recode in ("level", "set")):
                raise PolicyError(f"{setting} of {self.name!r} goes with ranges, bounds and centroids. Got a hierarchy or a set.")
        if self.type == "category" and self.recode in ("bounds", "centroid"):
            raise PolicyError(f"recode: {self.recode} of {self.name!r} needs an order. Got type: category, which has none.")
        for setting in ("snap", "top", "bottom"):
            if self.type == "category" and getattr(self, setting) is not None:
                raise PolicyError(f"{setting} of {self.name!r} needs an order. Got type: category, which has none.")
        fitting = {"dates": ("auto", "date", "text"), "numbers": ("auto", "integer", "decimal", "text")}
        if self.builder is not None and self.type not in fitting.get(self.builder.needs, (self.type,)):
            raise PolicyError(
                f"hierarchy: {self.builder.key} of {self.name!r} needs {self.builder.needs}. Got type: {self.type}."
            )
        given = next((end for end in ("top", "bottom") if getattr(self, end) is not None), None)
        if self.snap == AUTO and given is not None:
            raise PolicyError(f"snap: auto of {self.name!r} makes its top and bottom itself. Leave {given} out, or give a grid.")
        self._check_ends()

    def _check_ends(self) -> None:
        """Refuse a top, bottom or snap that does not fit the others, or the type that the policy gives."""
        kinds = {"integer": (Fraction, "a number"), "decimal": (Fraction, "a number"), "date": (date, "a date")}
        if self.type in kinds:  # a release has text, whatever it was made from
            kind, needed = kinds[self.type]
            for setting in ("top", "bottom"):
                given = getattr(self, setting)
                if given is not None and not isinstance(given, kind):
                    raise PolicyError(
                        f"{setting} of {self.name!r} must be {needed} for type: {self.type}. Got {readable(given)}."
                    )
            if self.snap not in (None, AUTO) and (self.snap in CALENDAR) != (self.type == "date"):
                needed = f"one of {', '.join(CALENDAR)}" if self.type == "date" else needed
                raise PolicyError(f"snap of {self.name!r} must be {needed} for type: {self.type}. Got {readable(self.snap)}.")
        if self.top is not None and self.bottom is not None and not _is_below(self.bottom, self.top):
            ends = f"{readable(self.bottom)} and {readable(self.top)}"
            raise PolicyError(f"bottom of {self.name!r} must be below its top. Got {ends}.")


def _is_below(low: Any, high: Any) -> bool:
    """Whether a policy's bottom is below its top; False if they cannot be compared, as a number and a date."""
    try:
        return bool(low < high)
    except TypeError:  # a number and a date, or a date and a time
        return False


@in_one_sentence(owner=" of input")
@dataclass(config=CONFIG, repr=False)
class Input(Settings):
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


@in_one_sentence()
@dataclass(config=CONFIG, repr=False)
class Keep(Settings):
    """A column that is published as it is.

    Parameters
    ----------
    name : str
    despite : str, optional
        Why it is published although its values are nearly unique, or free text.
    """

    name: Name
    despite: Reason = None


@in_one_sentence(hint=column_hint)
@dataclass(config=CONFIG, repr=False)
class Sensitive(Settings):
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
        A tree over the values, or a rule with fixed levels, as of a quasi-identifier: ``{"ranges": "icd10.csv"}``.
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
    distance: DistanceName = "auto"
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
        """The name of the distance that the policy asks for; "auto" if the column's type decides."""
        if self.distance != "auto":
            return self.distance
        for kind, given in (("hierarchical", self.hierarchy), ("matrix", self.matrix), ("ordered", self.order)):
            if given is not None:
                return kind
        return "auto"

    def _check(self) -> None:
        """Refuse settings of a sensitive attribute that contradict one another."""
        needs = "order" if self.kind == "auto" else KINDS[self.kind].needs
        for given in ("hierarchy", "matrix", "order"):
            if getattr(self, given) is not None and needs != given:
                fitting = " or ".join(name for name, kind in KINDS.items() if kind.needs == given)
                raise PolicyError(f"{given} of {self.name!r} goes with distance: {fitting}. Got distance: {self.kind}.")
            if needs == given != "order" and getattr(self, given) is None:
                raise PolicyError(f"distance: {self.kind} of {self.name!r} needs a {given}. Got none.")
        if self.bins is not None and needs not in ("", "order"):
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
