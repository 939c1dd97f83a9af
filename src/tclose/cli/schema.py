"""tclose schema: print the JSON Schema of a policy."""

from __future__ import annotations


def schema() -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check YAML.

    \b
    Examples:
      tclose schema > policy.schema.json
    """
    import json

    from tclose.cli.printing import a_reader_may_leave, echo_json
    from tclose.policy import Policy

    with a_reader_may_leave():
        echo_json(json.dumps(Policy.json_schema(), indent=2))
