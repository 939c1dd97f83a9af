"""YAML: the file of a policy, read within limits of its size, and written."""

from __future__ import annotations

import io
import os
import re
import warnings
from pathlib import Path
from typing import Any

from tclose.errors import HierarchyError, PolicyError, got
from tclose.policy.fields import BUILT, CONTEXT
from tclose.values.bounded import FileTooLargeError, read_at_most
from tclose.values.builders import Ranges

MOST_BYTES = 10_000_000
"""The largest policy file, in bytes."""

MOST_PARTS = 1_000_000
"""Names and values in a policy file, at most."""


def read_yaml(path: Path) -> dict[Any, Any]:
    """Return the settings in a policy's YAML file; raise PolicyError, in one sentence, if it cannot be read."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import YAMLError

    text = ""
    try:
        text = read_at_most(path, MOST_BYTES).decode("utf-8-sig")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they quote the file: one is about an anchor that is used twice, which is allowed
            settings = YAML(typ="safe", pure=True).load(text)
    except FileTooLargeError:
        raise PolicyError(f"Policy file {path.name!r} must have at most {MOST_BYTES:,} bytes. Got more.") from None
    except OSError:
        raise PolicyError(f"Policy file {str(path)!r} cannot be read. Check its path.") from None
    except UnicodeDecodeError:
        raise PolicyError(f"Policy file {path.name!r} is not UTF-8. Save it as UTF-8.") from None
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1
        raise PolicyError(f"Policy file {path.name!r} names a key twice, the second time in line {line}. Keep one.") from None
    except YAMLError as error:
        raise PolicyError(f"Policy file {path.name!r} is not YAML{_what_is_wrong(error, text)}") from None
    except TypeError:  # a list as a key
        raise PolicyError(f"Policy file {path.name!r} has a key that is no name. Write names before the colons.") from None
    except RecursionError:
        raise PolicyError(f"Policy file {path.name!r} must not be nested as deeply as it is. Keep the tree in a file.") from None
    except ValueError:  # text that looks like a number or a date but is none: 2024-13-45, or thousands of digits
        raise PolicyError(f"Policy file {path.name!r} has a number or a date that cannot be read. Write it in quotes.") from None
    _check_size(settings, path)
    if settings is None:
        raise PolicyError(f"Policy file {path.name!r} is empty. Let 'tclose init DATA -o {path.name}' propose a policy.")
    if not isinstance(settings, dict):
        raise PolicyError(f"Policy file {path.name!r} must be a mapping with 'quasi' and 'sensitive'. Got something else.")
    return settings


_OPENED = {
    "while scanning a simple key": "A colon may be missing there.",
    "while scanning a quoted scalar": "A text in quotes begins there, and does not end.",
    "while parsing a flow mapping": "A bracket opens there, and does not close, or a comma is missing after it.",
    "while parsing a flow sequence": "A bracket opens there, and does not close, or a comma is missing after it.",
}
"""What is wrong where something begins that YAML cannot read to its end, by what the parser was doing. It notices later."""


_BARE = re.compile(r"\s*[^-\s:\[\]{},][^:\[\]{},]*")
"""A line that is neither a setting, an item of a list nor part of a bracket."""


def _what_is_wrong(error: Any, text: str) -> str:
    """Return the end of a sentence: the line that is likely to be wrong, and what may be wrong there; no cell of it is quoted."""
    begun, noticed = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None))
    if begun is not None and error.context in _OPENED:
        return f" at line {begun.line + 1}. {_OPENED[error.context]}"
    if noticed is None:
        return ". Mend it."
    if "\\t" in problem:
        return f" at line {noticed.line + 1}. Mend it there; tabs cannot indent."
    if problem.endswith("found '-'"):
        return f" at line {noticed.line + 1}. It begins with a hyphen, as in a list, and the lines above it do not: take it away."
    above = _line_above(text, noticed.line)
    lines = text.splitlines()
    here = lines[noticed.line].partition(":")[0].strip() if noticed.line < len(lines) else ""
    if here in CONTEXT and not any(line.startswith("context:") for line in lines):
        return f" at line {noticed.line + 1}. {here} is a topic of context: take '# ' away before context:, too."
    if above is not None and _BARE.fullmatch(text.splitlines()[above]):
        return f" at line {above + 1}. A colon may be missing there."
    before = "" if above is None else ", or in the line above it" if above == noticed.line - 1 else f", or in line {above + 1}"
    if problem.startswith("mapping values"):
        return f" at line {noticed.line + 1}. Mend it there{before}: it may be indented too far, or have a colon too many."
    return f" at line {noticed.line + 1}. Mend it there{before}."


def _line_above(text: str, line: int) -> int | None:
    """Return the last line above one that is neither blank nor a comment; lines are numbered from 0."""
    lines = [part.strip() for part in text.splitlines()[:line]]
    return next((number for number in reversed(range(len(lines))) if lines[number] and not lines[number].startswith("#")), None)


def yaml_text(settings: dict[str, Any]) -> str:
    """Return the settings of a policy as YAML text, in the order of the fields, one a line."""
    from ruamel.yaml import YAML

    text = io.StringIO()
    YAML().dump(settings, text)
    return text.getvalue()


def _check_size(settings: Any, path: Path) -> None:
    """Refuse a YAML file with more than `MOST_PARTS` names and values, counting parts that it repeats by reference."""
    sizes: dict[int, int] = {}

    def size(part: Any) -> int:
        if not isinstance(part, dict | list | tuple):
            return 1
        if id(part) not in sizes:
            sizes[id(part)] = MOST_PARTS  # its size where it contains itself
            inside = [*part.keys(), *part.values()] if isinstance(part, dict) else part
            sizes[id(part)] = 1 + sum(map(size, inside))
        return sizes[id(part)]

    if size(settings) > MOST_PARTS:
        raise PolicyError(f"Policy file {path.name!r} must have at most {MOST_PARTS:,} names and values. Got more.")


def anchored(columns: Any, folder: Path) -> Any:
    """Return the settings of columns with the paths of their hierarchy and matrix files joined to a folder."""

    def at(path: str, name: Any) -> str:
        """Return a path from the folder; raise HierarchyError, which says where it starts, if nothing is there."""
        if not Path(path).is_absolute() and not os.path.exists(folder / path):  # noqa: PTH110 - it takes any text for a path
            raise HierarchyError(
                f"Column {got(name)}: file {str(folder / path)!r} does not exist. The policy names it {path!r}, and a path in a "
                "policy starts at the folder of the policy's file."
            )
        return str(folder / path)

    def settings(given: Any, name: Any) -> Any:
        if not isinstance(given, dict):
            return given
        paths = {key: given[key] for key in ("hierarchy", "matrix") if isinstance(given.get(key), str)}
        found = {**given, **{key: at(path, name) for key, path in paths.items() if path not in BUILT}}
        rule = given.get("hierarchy")
        if isinstance(rule, dict) and list(rule) == [Ranges.key] and isinstance(rule[Ranges.key], str):
            found["hierarchy"] = {Ranges.key: at(rule[Ranges.key], name)}
        return found

    def mapping(given: dict[Any, Any]) -> dict[Any, Any]:
        return {name: settings(column, name) for name, column in given.items()}

    if isinstance(columns, dict):
        return mapping(columns)
    if isinstance(columns, list):
        return [
            item if not isinstance(item, dict) else settings(item, item["name"]) if "name" in item else mapping(item)
            for item in columns
        ]
    return columns
