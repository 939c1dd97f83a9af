"""Entries of a JSON file that tclose wrote and reads again: each must be there, with its type, in its range.

Between the two the file was somebody's: it may be cut, edited, or of another version. A form says what each entry must be, once,
so that no reader of a file meets a text where it counts. What a form does not name is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tclose.errors import InputError
from tclose.release.claims import LONGEST_NAME, read_json
from tclose.values.visible import visible

Count = Annotated[int, Field(ge=0, le=10**15)]
Share = Annotated[float, Field(ge=0, le=1.000001)]
"""Sums of shares may exceed 1 by what rounding adds."""
Error = Annotated[float, Field(ge=0, le=10**15)]
"""A relative error: it has no other limit than that of counts."""
Difference = Annotated[float, Field(ge=-10, le=10)]
"""Of two shares, or an end of its interval, which may lie beyond 1."""

_NEEDED = {
    "float": "a number",
    "int": "a whole number",
    "string": "text",
    "bool": "true or false",
    "list": "a list",
    "too": "a list of another length",
    "dict": "a mapping",
    "model": "a mapping",
    "greater": "a larger number",
    "less": "a smaller number",
    "finite": "a number",
}
"""What is needed instead, by the first word of the kind of pydantic's finding."""


class Entry(BaseModel):
    """A mapping of a file, with the entries that are read."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)


Form = TypeVar("Form", bound=Entry)


def read_entries(path: Path, form: type[Form], what: str, remedy: str) -> Form:
    """Return the content of a JSON file in a form.

    Parameters
    ----------
    what
        What the file should be, for the sentence of an error: "the output of 'tclose attack --json'".
    remedy
        What to do about a file that is not, as a sentence.

    Raises
    ------
    InputError
        The file cannot be read, or an entry is missing or odd; one sentence names the file and the entry.
    """
    return entries_of(read_json(path, "File"), form, path.name, what, remedy)


def entries_of(found: Any, form: type[Form], name: str, what: str, remedy: str) -> Form:
    """Return the content of a JSON file, which was read already, in a form; ``name`` is that of the file."""
    try:
        return form.model_validate(found)
    except ValidationError as error:
        finding = error.errors(include_url=False, include_context=False, include_input=False)[0]
    wrong = _in_words(finding["loc"], finding["type"], finding["msg"])
    raise InputError(f"File {name!r} is damaged, or not {what}: {wrong}. {remedy}")


def _in_words(place: Sequence[int | str], kind: str, message: str) -> str:
    """Return what is wrong with one entry, in words."""
    if not place and kind != "value_error":
        return "it is no mapping"
    shown = visible(".".join(map(str, place)))
    shown = repr(shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}...")
    if kind == "missing":
        return f"it has no {shown}"
    if kind == "value_error":
        return f"{f'at {shown} ' if place else ''}{message.removeprefix('Value error, ')}"
    needed = _NEEDED.get(kind.partition("_")[0])
    return f"{shown} is odd" if needed is None else f"{shown} must be {needed}"
