"""`missing: value` without an order: missing cells stand one place after the greatest value."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import ot
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tclose as tc
from tests import naive
from tests.support.examples import examples


def t_of(cells: list[Any], split: int, **setting: Any) -> Fraction:
    """t of a table whose first rows are one class and whose other rows are another."""
    table = pa.table({"q": [0] * split + [1] * (len(cells) - split), "s": cells})
    return tc.audit(table, tc.Policy(["q"], {"s": {"missing": "value", **setting}})).sensitive["s"].t_exact


def test_a_missing_cell_stands_one_place_after_the_greatest_value() -> None:
    # Places 1, 2, 3 and missing 4: one class {1, 2}, the other {3, missing}; half of all mass moves two of three places.
    assert t_of([1, 2, 3, None], 2) == Fraction(1, 3)
    # Numbers 10, 20, 60; missing stands at 60 + (60 - 10) / 2 = 85: |1/2 - 1/4| * 10 + |1 - 1/2| * 40 + |1 - 3/4| * 25, over 75.
    assert t_of([10, 20, 60, None], 2, distance="numeric") == Fraction(115, 300)


def test_numbers_one_step_apart_have_one_place_for_missing_cells_under_both_distances() -> None:
    cells = [1, 2, 3, None, 2, 2, None, 1]
    assert t_of(cells, 3) == t_of(cells, 3, distance="numeric")


def test_one_number_and_missing_cells() -> None:
    assert t_of([7, 7, None, None], 2) == t_of([7, 7, None, None], 2, distance="numeric") == Fraction(1, 2)


@settings(deadline=None, max_examples=examples(40))
@given(
    st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=2, max_size=12),
    st.integers(1, 11),
    st.sampled_from(["ordered", "numeric"]),
)
def test_agrees_with_the_naive_twin_and_with_a_linear_program(cells: list[int | None], split: int, distance: str) -> None:
    split = min(split, len(cells) - 1)
    if None not in cells or len(set(cells)) < 2:
        cells = [*cells[:-2], 3, None]
    domain = naive.with_missing(cells, distance)
    parts = [[sum(cell == value for cell in part) for value in domain] for part in (cells[:split], cells[split:])]
    whole = [a + b for a, b in zip(*parts, strict=True)]
    places = list(domain.values())
    ref = max(naive.emd_numeric(part, whole, places) for part in parts)
    assert t_of(cells, split, distance=distance) == ref
    ground = np.array([[abs(float(a - b)) for b in places] for a in places]) / float(places[-1] - places[0])
    flows = [ot.emd2(np.array(part) / sum(part), np.array(whole) / sum(whole), ground) for part in parts]
    assert max(flows) == pytest.approx(float(ref), abs=1e-9)


@pytest.mark.parametrize("setting", [{}, {"distance": "numeric"}, {"bins": {"width": 10}}], ids=str)
@pytest.mark.parametrize("algorithm", ["growth", "mondrian", "fragmentation"])
def test_a_release_with_missing_cells_satisfies_its_limits(setting: dict[str, Any], algorithm: str, tmp_path: Path) -> None:
    rows = 60
    cells = [None if row % 7 == 0 else row % 29 for row in range(rows)]
    table = pa.table({"age": [20 + row % 31 for row in range(rows)], "cost": cells})
    policy = tc.Policy(["age"], {"cost": {"t": 0.3, "missing": "value", **setting}}, k=3, suppression="1/10")
    release = tc.anonymize(table, policy, algorithm=algorithm)
    for name in ("release.csv", "release.parquet"):
        release.write(tmp_path / name)
        again = tc.audit(tmp_path / name, policy)
        assert again.satisfied
        assert tc.verify(tmp_path / name).holds
        assert "; an empty cell is a missing value. Distance" in (tmp_path / f"{name}.codebook.md").read_text()
        assert again.sensitive["cost"].t_exact == release.audit.sensitive["cost"].t_exact
    assert release.table["cost"].null_count >= 1


def test_missing_cells_without_the_setting_are_refused_with_the_way_out() -> None:
    with pytest.raises(tc.InputError) as error:
        tc.audit(pa.table({"q": [1, 1], "s": [1, None]}), tc.Policy(["q"], ["s"]))
    assert str(error.value) == (
        "Sensitive column 's' must have a value in every row for the ordered distance. Got 1 missing, the first in row 2. "
        "Fill them, leave those rows out, or add missing: value to the settings of the column, as in {missing: value}."
    )
