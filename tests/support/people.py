"""Small tables of people, as rows."""

from __future__ import annotations

YEARS = [(20 + person // 2 + year, person % 7, person % 5, person % 3) for person in range(40) for year in range(3)]
"""Three years of each of 40 persons, whom no column names: only the age changes from one row of a person to the next."""
