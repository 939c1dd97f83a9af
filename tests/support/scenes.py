"""Scenes: people and a release of some of them with given classes, as an attack finds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

import tclose as tc
from tclose.make.edges import with_edges
from tclose.make.encode import encode
from tclose.make.registry import settings_of
from tclose.release.opened import open_input
from tclose.study.scene import Scene
from tclose.values.arrays import Ints


def scene_of(table: pa.Table, policy: tc.Policy, labels: Sequence[int]) -> tuple[Scene, Ints]:
    """The scene of a table whose rows have given classes, and the row of the table that each row of the scene comes from."""
    opened = open_input(table, policy, settings_of(None, 0, "balanced", None).algorithm)
    encoded = encode(opened.source, policy, opened.unit, opened.roles.kept, lambda _: None)
    encoded = with_edges(encoded, policy)
    return Scene(policy, encoded, np.array(labels, dtype=np.int64)[encoded.order]), encoded.order
