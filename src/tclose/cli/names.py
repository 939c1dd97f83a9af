"""Names of columns that a command takes: separated by commas, or the option several times."""

from __future__ import annotations

import csv


def parse_names(options: list[str]) -> list[str]:
    """Return column names from options that separate them by commas; a name with a comma is quoted, as in CSV.

    >>> parse_names(["age, zip", '"cost, total"'])
    ['age', 'zip', 'cost, total']
    """
    from tclose.errors import PolicyError

    try:
        return [name.rstrip() for row in csv.reader(options, skipinitialspace=True) for name in row]
    except csv.Error:
        raise PolicyError("The names of columns cannot be read. Separate them by commas, or name them in a policy.") from None
