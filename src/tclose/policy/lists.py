"""Lists: the columns of one role, read from a list of names, settings and objects, or from a mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from tclose.errors import PolicyError, got
from tclose.policy.columns import Input, Keep, Quasi, Sensitive
from tclose.policy.fields import items_of
from tclose.policy.settings import Settings

BARE = ("snap", "type", "recode")
"""Settings of a quasi-identifier of which a value may stand without its name, by mistake: the first that it fits is meant."""


def _fits(kind: type[Any], name: Any, setting: str, value: Any) -> bool:
    """Whether a value is one that a setting of a column may have."""
    try:
        kind(name, **{setting: value})
    except PolicyError:
        return False
    return True


def _columns_validator(kind: type[Any], bare: str | None = None) -> Callable[[Any], Any]:
    """Return a validator that reads the columns of a role: a list of names, settings and objects, or a mapping.

    ``bare`` is the field that a setting without a name stands for: the t in ``{salary: 0.2}``.
    """

    def one(name: Any, settings: Any) -> Any:
        """Return one column of a policy, from its name and its settings: a mapping, a bare setting, or None."""
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
            meant = next((f" Write {{{setting}: {settings}}}." for setting in BARE if _fits(kind, name, setting, settings)), "")
            raise PolicyError(f"The settings of {name!r} must be a mapping. Got {got(settings)}.{meant}")
        return kind(name, **{bare: settings})

    def read(value: Any) -> Any:
        """Return the columns that a policy lists in one role."""
        if isinstance(value, Mapping):
            return [one(name, settings) for name, settings in value.items()]
        columns = []
        for item in [] if value is None else items_of(value):  # YAML: a role with nothing below it
            if isinstance(item, kind):
                columns.append(item)
            elif isinstance(item, Settings):
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


def _read_input(value: Any) -> Any:
    """Return the settings of how the input is written, from a mapping or an object; None if not given."""
    if value is None or isinstance(value, Input):
        return value
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ValueError("a mapping with settings such as decimal, missing or dates")
    return Input(**value)


_LIST: dict[str, Any] = {"anyOf": [{"type": "array"}, {"type": "object"}]}
InputField = Annotated[Any, PlainValidator(_read_input), WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "null"}]})]
QuasiColumns = Annotated[Any, PlainValidator(_columns_validator(Quasi)), WithJsonSchema(_LIST)]
KeptColumns = Annotated[Any, PlainValidator(_columns_validator(Keep, bare="despite")), WithJsonSchema(_LIST)]
SensitiveColumns = Annotated[Any, PlainValidator(_columns_validator(Sensitive, bare="t")), WithJsonSchema(_LIST)]
