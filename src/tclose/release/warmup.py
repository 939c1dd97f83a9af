"""Warm-up: every kernel compiled before it is needed, and kept on the disk."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import pyarrow as pa

from tclose.errors import OutputError
from tclose.jobs import announce
from tclose.make.registry import ALGORITHMS
from tclose.policy import Policy, Quasi, Sensitive
from tclose.release.anonymize import anonymize

ROWS = 48
TREE = {"north": ["Aachen", "Bonn"], "south": ["Calw", "Ulm"]}
TOWNS = [town for towns in TREE.values() for town in towns]
APART = {town: {other: int(town != other) for other in TOWNS} for town in TOWNS}


@dataclass(frozen=True)
class Warmth:
    """What a warm-up did.

    Attributes
    ----------
    compiled : int
        Kernels, and parts of them, that were not on the disk.
    seconds : float
    folder : str
        Where they are kept.
    """

    compiled: int
    seconds: float
    folder: str


def warm_up() -> Warmth:
    """Compile every kernel that is not on the disk, by helpers on all cores and small releases; return what was done.

    Kernels are compiled for types of arrays, not for policies. So two policies are enough, the simplest and one that asks for
    something of every kind: then every part of an algorithm is run. An algorithm may refuse one of them.
    """
    from tclose.make.kernels.ahead import compile_ahead, wait_for
    from tclose.make.kernels.compiling import FOLDER, teller
    from tclose.make.kernels.rehearsing import KERNELS

    if FOLDER is None:
        raise OutputError("There is no folder to keep compiled kernels in. Set NUMBA_CACHE_DIR to one that can be written.")
    before, begun = teller.compiled, time.monotonic()
    announce("Compiling for")
    compile_ahead(KERNELS)
    ahead = wait_for()
    for algorithm in ALGORITHMS.values():
        if algorithm.several:  # it runs the kernels of others
            continue
        for policy in (_simplest_policy(), _fullest_policy()):
            if not algorithm.refuses(policy, None):
                anonymize(_warmup_table(), policy, algorithm=algorithm.name)
    anonymize(_warmup_table(), replace(_fullest_policy(), n=ROWS // 2), algorithm="mondrian")
    return Warmth(ahead + teller.compiled - before, time.monotonic() - begun, FOLDER)


def _warmup_table() -> pa.Table:
    """Return a small table with a column for every kind of quasi-identifier and distance."""
    rows = range(ROWS)
    towns = [TOWNS[row * row % 7 % 4] for row in rows]
    return pa.table(
        {
            "who": [row // 2 for row in rows],
            "age": [row * 11 % 31 for row in rows],
            "town": [TOWNS[row * 5 % 13 % 4] for row in rows],
            "job": [f"job {row % 3}" for row in rows],
            "ordered": [row * row % 5 for row in rows],
            "numeric": [row * 7 % 11 % 4 for row in rows],
            "equal": towns,
            "hierarchical": towns,
            "matrix": towns,
        }
    )


def _simplest_policy() -> Policy:
    """Return a policy with one quasi-identifier that has a hierarchy, and one sensitive attribute that has a t."""
    return Policy(quasi=[Quasi("town", hierarchy=TREE)], sensitive={"ordered": 0.9}, k=3, other="drop")


def _fullest_policy() -> Policy:
    """Return a policy with every kind of quasi-identifier, distance and limit."""
    return Policy(
        quasi=["age", Quasi("town", hierarchy=TREE), "job"],
        sensitive=[
            Sensitive("ordered", t=0.5, l=3),
            Sensitive("numeric", t=0.5, distance="numeric", l=2, l_kind="entropy"),
            Sensitive("equal", t=0.5, distance="equal", beta=4, delta=3, delta_kind="lenient"),
            Sensitive("hierarchical", t=0.5, hierarchy=TREE),
            Sensitive("matrix", t=0.5, matrix=APART),
        ],
        unit="who",
        k=3,
        suppression=0.1,
    )
