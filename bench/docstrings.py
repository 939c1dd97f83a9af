"""Examples in docstrings as blocks of code on the docs site: mkdocstrings sees them as code only below a heading "Examples"."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Examples(Extension):
    """Fences each example: the lines from ``>>>`` to the next empty one."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples of an object that was read."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
