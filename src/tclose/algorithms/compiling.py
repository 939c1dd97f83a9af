"""How kernels are compiled: once, kept on disk, to run without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numba import njit
from numba.core import event

from tclose._progress import COMPILING, report

Function = TypeVar("Function", bound=Callable[..., Any])


class _Compiler(Protocol):
    """Leaves the type of a function as it is."""

    def __call__(self, function: Function, /) -> Function: ...


_compiler: Any = njit  # its stub leaves out the wrappers, and gives another type to what it compiles
_events: Any = event  # without types


def _folder() -> str | None:
    """The folder for compiled kernels; without one, as in a sealed container, they are compiled each time."""
    try:
        return str(_compiler(cache=True)(_folder).stats.cache_path)
    except RuntimeError:
        return None


FOLDER = _folder()
KEPT = FOLDER is not None
HOW_OFTEN = "once on this machine" if KEPT else "each time: set NUMBA_CACHE_DIR to a folder to keep it in"


class _Teller(event.Listener):
    """Tells whoever listens that kernels are being compiled: really, not read from the disk. It takes seconds."""

    def __init__(self) -> None:
        self.compiled = 0
        self._depth = 0  # kernels whose compilation waits for that of their parts; Numba compiles in one thread at a time

    def on_start(self, _: event.Event) -> None:
        """Say so, once for a kernel and its parts."""
        if self._depth == 0:
            report(f"{COMPILING}, {HOW_OFTEN}")
        self._depth += 1

    def on_end(self, _: event.Event) -> None:
        """Take it back: it is done, or has failed."""
        self._depth -= 1
        self.compiled += 1
        if self._depth == 0:
            report("")


teller = _Teller()
_events.register("numba:compile", teller)

kernel: _Compiler = _compiler(cache=KEPT, nogil=True)
"""A kernel that Python calls."""

inner: _Compiler = _compiler(cache=KEPT, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A part that only kernels call. It gets no way in for Python, which takes about as long to compile as the part itself."""

lean: _Compiler = _compiler(
    cache=KEPT, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
)
"""An inner part that neither makes an array nor gives one back, and so need not count references to those that it reads.

In a part as short as `widths.loss`, which reads its arrays out of a tuple, counting takes twenty times as long as the rest.
"""
