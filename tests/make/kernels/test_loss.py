"""The losses of ranges: computed ahead where there are few codes, else when they are asked for; the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tclose.make.kernels import loss as module
from tclose.make.kernels.loss import loss_table, losses_of_ranges
from tclose.make.scales import Widths
from tclose.values.arrays import Floats


@st.composite
def widths(draw: st.DrawFn) -> Widths:
    """A line or a tree of some codes, the last of which may stand for missing cells."""
    size = draw(st.integers(1, 7))
    share = st.floats(0, 1)
    own, lows = (np.array(draw(st.lists(share, min_size=size, max_size=size))) for _ in range(2))
    highs = lows.max() + np.array(draw(st.lists(share, min_size=size, max_size=size)))
    depth = draw(st.integers(0, 3))
    nodes = np.array([[draw(st.integers(-1 if level else 0, level * size)) for _ in range(size)] for level in range(depth)])
    charges = np.array(draw(st.lists(share, min_size=depth * size + 1, max_size=depth * size + 1)))
    return Widths(own, lows, highs, draw(st.booleans()), nodes.reshape(depth, size).astype(np.int32), charges)


def losses_of_all(given_widths: Sequence[Widths], weights: Sequence[float], few: int) -> list[Floats]:
    """The losses of all ranges of each quasi-identifier, if those of at most ``few`` codes are computed ahead."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", few)
        table = loss_table(given_widths, weights)
    found = []
    for number, width in enumerate(given_widths):
        low, high = np.array(list(combinations_with_replacement(range(len(width.own)), 2))).T
        found.append(losses_of_ranges(table, number, low, high))
    return found


@settings(max_examples=100, deadline=None)
@given(st.lists(widths(), min_size=1, max_size=3), st.integers(0, 7), st.sampled_from([1.0, 0.3, 7.0]))
def test_losses_computed_ahead_are_the_same(given_widths: list[Widths], few: int, weight: float) -> None:
    weights = [weight, 1.0, 2.5][: len(given_widths)]
    ref, comp = (losses_of_all(given_widths, weights, number) for number in (0, few))
    assert [losses.tolist() for losses in comp] == [losses.tolist() for losses in ref]
