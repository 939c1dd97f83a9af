"""tclose schema: the JSON Schema of a policy."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check YAML.

    \b
    Examples:
      tclose schema > policy.schema.json
    """
    import json

    from tclose.cli.screen import a_reader_may_leave
    from tclose.policy import Policy

    with a_reader_may_leave():
        typer.echo(json.dumps(Policy.json_schema(), indent=2))
