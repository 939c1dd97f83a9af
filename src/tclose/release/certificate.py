"""The papers of a release: a public certificate, an internal record, and a codebook.

The certificate says what anyone can recompute from the release. What would help to undo it is in the record alone: the seed,
the number of suppressed rows, figures against the input, and a commitment to the input that only its key opens. A plain hash of
the input would let anyone who knows all but one cell try the rest.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tclose.judge.parts import Figures
from tclose.judge.result import Audit
from tclose.make.algorithm import Settings
from tclose.policy import Policy, Quasi, Sensitive
from tclose.policy.models import MODELS, SETTINGS
from tclose.tables.readings import Reading
from tclose.values.exact import float_up, number_of, plain
from tclose.values.hierarchy import OF_PUBLISHER, above, printed

SENTENCE = "{what} verified for these quasi-identifiers; not a legal determination"
INTERNAL = "INTERNAL. Do not publish: with the release it helps to find out what the release hides."
SEVERAL_COLUMNS = ("bounds", "centroid")
"""Ways to recode that publish several columns for one quasi-identifier: a reader must know them to find the columns."""
STATED = "edges"
"""The setting of a policy that nobody can check from a release: the publisher's word."""
CERTIFICATE, RECORD, CODEBOOK = ".certificate.json", ".private.json", ".codebook.md"
"""The endings of the names of a release's papers, after the name of the release."""
ENDS = "A range [a, b] has both of its ends; a range [a, b) has a, and not b. "
"""How a codebook explains ranges, where there may be some of both kinds."""
_HALF_OPEN = re.compile("widened to a grid|is moved outward|interval", re.IGNORECASE)
"""What the description of a column says if its ranges may be open at the upper end."""
DECIMALS = "Numbers of a sensitive column are all written with as many decimals as the longest: 0.0 beside 1.25 is 0.00. "
"""How a codebook explains zeros that the input does not have."""
_NUMBERS = re.compile(r"^The values of the input\b.*\bDistance: (ordered|numeric)\b")
"""What the description of a sensitive column says that may hold numbers."""
LABELS = (
    "What each label of a publisher's hierarchy stands for is in that hierarchy, which the publisher can hand out with the "
    "release."
)
"""How codebook and report explain labels that a reader cannot look up in any paper of the release."""
_LABELS = re.compile(OF_PUBLISHER)
DEPENDENCIES = ("duckdb", "ibis-framework", "numba", "numpy", "pyarrow")


@dataclass(frozen=True)
class PublicFacts:
    """What a certificate says of a release besides its audit.

    Attributes
    ----------
    loss : mapping
        What anyone can recompute of the information loss.
    columns : sequence of mapping
        Name, role and content of each published column.
    unique : int
        Rows that differ from all others in some published column.
    order : str
        Of the rows: "sorted" or "input".
    counted : str
        What k and l count: "rows" or "persons". The figures are those of rows, which is what a reader can count.
    promised : mapping
        The largest distance from the table that a class could have, as was known before the rows were chosen; empty where it was
        not known.
    tables : mapping or None
        Where several tables are published: the ``number`` of this one, ``of`` how many, and the least number of rows, or of
        persons where they are counted, that are together in a class of each.
    """

    loss: Mapping[str, Any]
    columns: Sequence[Mapping[str, str]]
    unique: int
    order: str
    counted: str
    promised: Mapping[str, Fraction]
    tables: Mapping[str, int] | None = None


@dataclass(frozen=True)
class PrivateFacts:
    """What the record says of a release besides its policy.

    Attributes
    ----------
    settings : Settings
        How it was made.
    course : mapping
        How the run of the algorithm went.
    commitment : mapping
        To the input; see `Commitment`.
    against_input : Audit or Figures
        Of the release, compared with the input.
    suppressed : int
        The number of rows of the input that are not published.
    loss : mapping
        The information loss against the input.
    readings : mapping of Reading
        How the columns of the input were read.
    joined : mapping or None
        Where several tables are published: the number of this one, and what joining them shows.
    grids : mapping
        The snap, top and bottom that ``snap: auto`` chose, by the name of the quasi-identifier.
    edge_grids : mapping
        The grid to which ends of ranges are moved (``edges``), where the quasi-identifier has no snap.
    """

    settings: Settings
    course: Mapping[str, Any]
    commitment: Mapping[str, str]
    against_input: Audit | Figures
    suppressed: int
    loss: Mapping[str, Any]
    readings: Mapping[str, Reading]
    joined: Mapping[str, Any] | None = None
    grids: Mapping[str, Any] = field(default_factory=dict)
    edge_grids: Mapping[str, Any] = field(default_factory=dict)


def certificate(audit: Audit | Figures, facts: PublicFacts) -> dict[str, Any]:
    """Return the certificate, the public paper: what the release contains, what was asked, and what it attains.

    Parameters
    ----------
    audit
        By the policy that a reader can judge the release by, with each distance decided.
    """
    policy = audit.policy
    return {
        "statement": statement(policy),
        "tool": "tclose",
        "version": version("tclose"),
        "rows": audit.rows,
        "classes": audit.classes,
        "row_order": facts.order,
        "columns": list(facts.columns),
        "policy": public_policy(policy, audit),
        "counted": facts.counted,
        "attained": {
            "k": audit.k,
            "homogeneous": audit.homogeneous,
            "sensitive": figures(audit),
        },
        **({"promised": _promised_and_attained(facts.promised, audit)} if facts.promised else {}),
        **({"tables": dict(facts.tables)} if facts.tables else {}),
        "unique_rows": facts.unique,
        "loss": dict(facts.loss),
    }


def _promised_and_attained(promised: Mapping[str, Fraction], audit: Audit | Figures) -> dict[str, dict[str, float]]:
    """Return the bound on t that was promised for each sensitive attribute, and the t that it attains."""
    return {
        name: {"t": float_up(bound), "t_attained": float_up(audit.sensitive[name].t_judged)} for name, bound in promised.items()
    }


def statement(policy: Policy) -> str:
    """Return the first sentence of a certificate, which names what was verified: t-closeness, (n,t)-closeness or k-anonymity."""
    asked = "t-closeness" if policy.n is None else "(n,t)-closeness"
    return SENTENCE.format(what=asked if any(column.t is not None for column in policy.sensitive) else "k-anonymity")


def figures(audit: Audit | Figures) -> dict[str, dict[str, Any]]:
    """Return what a release attains of each model for each sensitive attribute, which every reader can recompute."""
    elsewhere = ("worst_class", "limit", "divergences")
    return {
        name: {key: value for key, value in attribute.to_dict().items() if key not in elsewhere}
        for name, attribute in audit.sensitive.items()
    }


def public_policy(policy: Policy, audit: Audit | Figures) -> dict[str, Any]:
    """Return the part of a policy that is needed to audit the release again: columns, limits and sensitive hierarchies.

    Under (n,t)-closeness also what the labels of quasi-identifiers stand for, as far as they are published.
    """
    settings = policy.to_dict(None)
    names = [column.name for column in policy.quasi]
    quasi = {
        name: {
            key: value
            for key, value in (settings["quasi"][name] or {}).items()
            if key in ("type", "weight") or value in SEVERAL_COLUMNS
        }
        for name in names
    }
    if policy.n is not None and isinstance(audit, Audit):  # figures of parts are judged against the whole table
        for column in policy.quasi:
            quasi[column.name] |= _public_hierarchy(column, audit)
    read = [setting.name for setting in SETTINGS if setting.of == "policy"]
    limits: dict[str, Any] = {key: value for key, value in settings.items() if key in (*read, STATED)}
    return {"quasi": {name: found or None for name, found in quasi.items()}, "sensitive": settings["sensitive"], **limits}


def _public_hierarchy(column: Quasi, audit: Audit) -> dict[str, Any]:
    """Return the setting of a quasi-identifier's hierarchy, cut to the published labels; an empty mapping if none are."""
    if column.hierarchy is None:
        return {}
    if column.builder is not None:
        return {"hierarchy": column.builder.setting()}
    assert column.tree is not None
    labels = audit.quasi[column.name].to_pylist()
    return {"hierarchy": above(column.tree, map(printed, labels)).to_mapping()}


def record(policy: Policy, facts: PrivateFacts) -> dict[str, Any]:
    """Return the record, the internal paper: all that is needed to make the release again and to prove its input."""
    settings, audit = facts.settings, facts.against_input
    return {
        "internal": INTERNAL,
        "tool": "tclose",
        "version": version("tclose"),
        "algorithm": settings.algorithm.name,
        "options": dict(settings.options),
        "seed": settings.seed,
        "effort": settings.effort,
        "course": dict(facts.course),
        "policy": policy.to_dict(None),
        **({"grids": dict(facts.grids)} if facts.grids else {}),
        **({"edge_grids": dict(facts.edge_grids)} if facts.edge_grids else {}),
        "input": {"rows": audit.rows + facts.suppressed, **facts.commitment},
        "suppressed": facts.suppressed,
        "attained_against_input": {
            name: {"t": attribute.t, "t_exact": str(attribute.t_exact)} for name, attribute in audit.sensitive.items()
        },
        "loss": dict(facts.loss),
        **({"tables": dict(facts.joined)} if facts.joined else {}),
        "readings": {name: reading.to_dict() for name, reading in facts.readings.items()},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in DEPENDENCIES}},
    }


class Commitment:
    """A keyed commitment to a table: HMAC-SHA256 with a fresh key over the file's hash, if it is one, and over the columns with a
    role, as `tclose.make.encode.encode` feeds them.

    A person who has the key and the table can show that the release was made from it; without the key no guess can be confirmed.
    """

    def __init__(self, key: bytes | None = None) -> None:
        """Start a commitment with a fresh key, or with the key from a record."""
        self._key = secrets.token_bytes(32) if key is None else key
        self._digest = hmac.new(self._key, digestmod=hashlib.sha256)

    def update(self, part: bytes) -> None:
        """Add a part of the input table to the keyed commitment."""
        self._digest.update(len(part).to_bytes(8, "little") + part)

    def update_file(self, path: Path) -> None:
        """Add the hash of the input's file to the keyed commitment."""
        with path.open("rb") as file:
            self._digest.update(hashlib.file_digest(file, "sha256").digest())

    def to_dict(self) -> dict[str, str]:
        """Return the key and the commitment in hexadecimal, for the record."""
        return {"hmac_sha256": self._digest.hexdigest(), "hmac_key": self._key.hex()}


def codebook(title: str, certificate: Mapping[str, Any], sha256: str | None = None) -> str:
    """Return the codebook in Markdown: what each published column contains; its last line has the sha256 of the release."""
    lines = [f"# {title}", "", f"{number_of(certificate['rows'], 'row')}; {certificate['statement']}.", ""]
    lines += ["| column | role | what it holds |", "|---|---|---|"]
    lines += [
        "| " + " | ".join(_markdown_cell(column[key]) for key in ("name", "role", "holds")) + " |"
        for column in certificate["columns"]
    ]
    closing = "".join(
        words
        for found_by, words in ((_HALF_OPEN, ENDS), (_NUMBERS, DECIMALS), (_LABELS, f"{LABELS} "))
        if _is_said(found_by, certificate["columns"])
    )
    closing += (
        f"Rows that agree in all quasi-identifiers form a class: there are {certificate['classes']:,}, "
        f"the smallest of {number_of(certificate['attained']['k'], 'row')}. How near the sensitive values of each class are to "
        "those of the whole table, and how that was measured, is in the certificate."
    )
    tables = certificate.get("tables")
    closing += f" {of_several(**tables, counted=certificate['counted'])}" if tables else ""
    which = [] if sha256 is None else [f"sha256 of the release: {sha256}", ""]
    return "\n".join([*lines, "", closing, "", *which])


def labels_in_words(columns: Sequence[Mapping[str, str]]) -> str:
    """Return a sentence on where to find what the labels of hierarchies stand for; "" if no published column has any."""
    return LABELS if _is_said(_LABELS, columns) else ""


def _is_said(what: re.Pattern[str], columns: Sequence[Mapping[str, str]]) -> bool:
    """Whether the description of some published column says something."""
    return any(what.search(column["holds"]) for column in columns)


def edges_in_words(edges: int) -> str:
    """Return what the setting ``edges`` of a policy promises, as a clause."""
    return f"each end of a published range is attained by nobody in its class, or by at least {edges} persons"


def of_several(number: int, of: int, smallest_intersection: int, counted: str) -> str:
    """Return a sentence on what one of several tables does not promise."""
    return (
        f"This is table {number} of {of} of the same people: k and every other limit are satisfied by each table by itself. "
        "Someone who joins the tables by the quasi-identifiers of a person may be left with "
        f"{number_of(smallest_intersection, counted.removesuffix('s'))}."
    )


def _markdown_cell(text: str) -> str:
    """Return a text of the codebook as a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def to_json(paper: Mapping[str, Any]) -> str:
    """Return a certificate or record as JSON text: the same text for the same content."""
    return json.dumps(paper, indent=2, ensure_ascii=False) + "\n"


def describe_sensitive(column: Sensitive, distance: str, policy: Policy) -> str:
    """Return the codebook's description of a sensitive column: what it contains, its distance, and its limits."""
    what = (
        "Intervals: a value at an edge belongs to the one above it"
        if column.bins and not column.publish
        else "The values of the input"
    )
    what += "; an empty cell is a missing value" if column.missing else ""
    limits = ", ".join(_limits_in_papers(column, policy))
    asked = f"; limits {limits}" if limits else "; measured, not limited"
    return f"{what}. Distance: {distance}{asked}."


def _limits_in_papers(column: Sensitive, policy: Policy) -> list[str]:
    """Return the limits of a sensitive column as papers write them: its own first, those of the whole policy last."""
    found = []
    for model in MODELS.values():
        if model.limit(policy, column) is not None:
            given = {setting.name: setting.value(policy, column) for setting in model.settings}
            values = {name: plain(value) if isinstance(value, Fraction) else value for name, value in given.items()}
            of_policy = model.limit_from is not None and model.limit_from.of == "policy"
            found += [(of_policy, place, text.format(**values)) for place, text in enumerate(model.in_papers)]
    return [text for *_, text in sorted(found, key=lambda part: part[:2])]
