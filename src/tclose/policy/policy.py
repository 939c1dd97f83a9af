"""Policy: what the user asks for. Columns in their roles, limits, and how the input is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from tclose.errors import PolicyError, got, listed, raising_alone
from tclose.policy.columns import Input, Keep, Quasi, Sensitive
from tclose.policy.fields import NAME, NUMBERS, ContextField, GivenShare, GivenWhole, Name, Names, Share, Truth, Whole
from tclose.policy.lists import InputField, KeptColumns, QuasiColumns, SensitiveColumns
from tclose.policy.sentences import NEEDED, in_one_sentence, policy_hint
from tclose.policy.settings import CONFIG, Settings, plain_settings
from tclose.policy.yaml import anchored, read_yaml, yaml_text
from tclose.tables.files import check_target, write_whole

_ROLES = {"quasi": Quasi, "sensitive": Sensitive, "keep": Keep}


@in_one_sentence(owner="", hint=lambda unknown: policy_hint(unknown, [setting.name for setting in fields(Sensitive)]))
@dataclass(config=CONFIG, repr=False)
class Policy(Settings):
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
    edges : int
        An end of a published range that fewer persons of the class attain is moved outward to a grid: each end is attained by
        nobody in the class, or by at least so many persons.
    suppression : number in [0, 1]
        The largest share of rows that a release may leave out.
    identifiers, drop : list of names
        Never published.
    keep : list of names, or mapping from names to settings
        Published as they are. A column that is nearly unique, or free text, needs a reason: ``{despite: reason}``.
    other : {"drop", "keep"}, optional
        What becomes of columns without a role. Without it a release refuses them; an audit ignores them.
    small_cells : int
        Public reports mask smaller counts of rows, and enough others that no sum gives them back.
    formula_guard : bool
        Text cells of a CSV that a spreadsheet could take for a formula get a leading ``'``.
    context : mapping from topics to texts, optional
        Free text for the report: ``purpose``, ``recipient``, ``controls``, ``adversaries``, ``thresholds``,
        ``earlier_releases``, ``reviewer``. It is not judged, and public reports show it.

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
    edges: GivenWhole = 1
    identifiers: Names = field(default_factory=list)
    drop: Names = field(default_factory=list)
    keep: KeptColumns = field(default_factory=list)
    other: Literal["drop", "keep"] | None = None
    small_cells: GivenWhole = 5
    formula_guard: Truth = True
    context: ContextField = None

    @classmethod
    @raising_alone
    def load(cls, path: str | Path) -> Policy:
        """Return the policy in a YAML file; paths of hierarchies and matrices in it start at the file's own folder."""
        settings = read_yaml(Path(path))
        for role in {"quasi", "sensitive"} & settings.keys():
            settings[role] = anchored(settings[role], Path(path).parent)
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
        text = yaml_text(self.to_dict(Path(path).parent))
        check_target(Path(path), force=force, inputs=files_of(self))
        write_whole(Path(path), lambda beside: beside.write_text(text, encoding="utf-8"), force=force)

    def to_dict(self, folder: str | Path | None = ".") -> dict[str, Any]:
        """Return the policy's settings that are not at their defaults, in plain types, as its YAML file has them.

        Files of hierarchies and matrices are named relative to a folder; with None their content is written out.
        """
        settings = plain_settings(self, folder if folder is None else Path(folder))
        for role in ("quasi", "sensitive", "keep"):
            columns = [plain_settings(column, folder if folder is None else Path(folder)) for column in getattr(self, role)]
            if columns:
                settings[role] = {column.pop("name"): column or None for column in columns}
        if self.input is not None:
            settings["input"] = plain_settings(self.input, None)
        return settings

    def _repr_html_(self) -> str:
        """Return the policy as a small table for a notebook: its columns by their roles, and its limits."""
        from tclose.report.summaries import policy_html

        return policy_html(self)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of a policy's YAML file, for editors that complete and check it."""
        columns = {role: TypeAdapter(kind).json_schema() for role, kind in _ROLES.items()}
        schema = TypeAdapter(Policy).json_schema()
        schema["properties"]["input"] = {"anyOf": [TypeAdapter(Input).json_schema(), {"type": "null"}]}
        for role, column in columns.items():
            properties = {key: value for key, value in column["properties"].items() if key != "name"}
            bare = {"sensitive": NUMBERS, "keep": [{"type": "string", "minLength": 1}]}.get(role, [])
            settings = {**column, "required": [], "properties": properties}
            mapping = {"type": "object", "additionalProperties": {"anyOf": [settings, {"type": "null"}, *bare]}}
            one = {"anyOf": [NAME, column, {**mapping, "maxProperties": 1}]}
            schema["properties"][role] = {"anyOf": [NAME, {"type": "array", "items": one}, mapping]}
        return schema

    def _check(self) -> None:
        """Refuse a policy without columns, with a column in two roles, or with limits that lack what they need."""
        for role, needed in NEEDED.items():
            if not getattr(self, role):
                raise PolicyError(f"{role} names no column. {needed}")
        if self.n is not None and all(column.t is None for column in self.sensitive):
            raise PolicyError("n asks for (n,t)-closeness and needs a t for a sensitive attribute. Got none.")
        if all(column.weight == 0 for column in self.quasi):
            raise PolicyError("weight must be above 0 for some quasi-identifier. Got 0 for all.")
        roles: dict[str, str] = {}
        twice: dict[str, list[str]] = {}
        for role, names in (
            ("quasi", [column.name for column in self.quasi]),
            ("sensitive", [column.name for column in self.sensitive]),
            ("identifiers", self.identifiers),
            ("drop", self.drop),
            ("keep", [column.name for column in self.keep]),
        ):
            for name in names:
                if name in roles:
                    where = f"twice in {role}" if roles[name] == role else f"in {roles[name]} and in {role}"
                    twice.setdefault(where, []).append(name)
                roles.setdefault(name, role)
        if twice:
            found = ", and ".join(f"{listed(names)} {where}" for where, names in twice.items())
            raise PolicyError(f"A column must have one role. Got {found}. Take its line, or its name, away in one of the two.")
        if self.unit != "row" and self.unit in roles and roles[self.unit] in ("quasi", "sensitive", "keep"):
            raise PolicyError(f"unit must name a person, not a {roles[self.unit]} column. Got {self.unit!r}.")


def files_of(policy: Policy) -> list[Path]:
    """Return the paths of the hierarchy and matrix files that a policy names: nothing may be written over them."""
    given = [column.hierarchy for column in (*policy.quasi, *policy.sensitive)] + [column.matrix for column in policy.sensitive]
    return [Path(part.file) for part in given if getattr(part, "file", None) is not None]


def check_policy(policy: Any) -> None:
    """Raise PolicyError for an object that is not a Policy, and say how to make one of it."""
    if isinstance(policy, Policy):
        return
    how = ""
    if isinstance(policy, Mapping):
        how = " Write tclose.Policy(**policy)."
    elif isinstance(policy, str | Path):
        how = " Read the file with tclose.Policy.load(path)."
    raise PolicyError(f"policy must be a Policy. Got {type(policy).__name__}.{how}")
