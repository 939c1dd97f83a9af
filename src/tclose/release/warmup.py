"""Warm-up: kernels, of all algorithms or of one, compiled before they are needed, and kept on the disk."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from tclose.errors import OutputError
from tclose.jobs import announce
from tclose.make.registry import Algorithm, find_algorithm, list_algorithms
from tclose.policy import Policy, Quasi, Sensitive
from tclose.release.anonymize import anonymize
from tclose.tables.folder_lock import locked

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


def warm_up(algorithm: str | None = None) -> Warmth:
    """Compile every kernel that is not on the disk, by helpers on all cores and small releases; return what was done.

    Parameters
    ----------
    algorithm
        The name of the algorithm whose kernels are compiled; without one, those of all algorithms are.

    Raises
    ------
    PolicyError
        There is no algorithm with that name.
    OutputError
        There is no folder to keep kernels in.
    """
    from tclose.make.kernels.ahead import compile_ahead, wait_for
    from tclose.make.kernels.compiling import FOLDER, teller
    from tclose.make.kernels.rehearsing import KERNELS

    chosen = None if algorithm is None else find_algorithm(algorithm)
    if FOLDER is None:
        raise OutputError("There is no folder to keep compiled kernels in. Set NUMBA_CACHE_DIR to one that can be written.")
    before, begun = teller.compiled, time.monotonic()
    announce("Compiling for")
    if chosen is None:
        compile_ahead(KERNELS)
    else:
        chosen.compile_ahead()
    ahead = wait_for()
    for each, policy in _all_releases() if chosen is None else _releases_of(chosen):
        if not each.refuses(policy, None):
            accept = {"intersection": "accept"} if each.several else {}
            anonymize(_warmup_table(), policy, algorithm=each.name, options=accept)
    return Warmth(ahead + teller.compiled - before, time.monotonic() - begun, FOLDER)


def warm_up_once(algorithm: str) -> None:
    """Compile the kernels of an algorithm once on this machine: a process that comes while another compiles them waits for it."""
    from tclose.make.kernels.compiling import FOLDER

    if FOLDER is None:  # they are compiled by each process, when they are called
        return
    folder = Path(FOLDER)
    done = folder / f"warm-{algorithm}-{sys.implementation.cache_tag}"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent):
            if not done.exists():
                warm_up(algorithm)
                done.touch()


def _all_releases() -> Iterator[tuple[Algorithm, Policy]]:
    """Yield algorithms with policies that together run every kernel.

    Kernels are compiled for types of arrays, not for policies. So two policies are enough, the simplest and one that asks for
    something of every kind: then every part of an algorithm is run. An algorithm may refuse one of them. Checks of
    (n,t)-closeness are the same for all.
    """
    for algorithm in list_algorithms():
        if not algorithm.several:  # it runs the kernels of others
            yield algorithm, _simplest_policy()
            yield algorithm, _fullest_policy()
    yield find_algorithm("mondrian"), replace(_fullest_policy(), n=ROWS // 2)


def _releases_of(algorithm: Algorithm) -> Iterator[tuple[Algorithm, Policy]]:
    """Yield an algorithm with policies that run its kernels; where it takes one sensitive column alone, other limits too."""
    everything = _fullest_policy()
    one_column = replace(everything, sensitive=everything.sensitive[:1], other="drop")
    for policy in (_simplest_policy(), everything, one_column, replace(one_column, n=ROWS // 2)):
        yield algorithm, policy


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
