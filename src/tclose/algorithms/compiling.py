"""How kernels are compiled: once, kept on disk, to run without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


class _Compiler(Protocol):
    """Leaves the type of a function as it is."""

    def __call__(self, function: Function, /) -> Function: ...


_compiler: Any = njit  # its stub leaves out the wrappers, and gives another type to what it compiles


def _can_keep() -> bool:
    """Whether there is a folder for compiled kernels; without one, as in a sealed container, they are compiled each time."""
    try:
        _compiler(cache=True)(_can_keep)
    except RuntimeError:
        return False
    return True


KEPT = _can_keep()

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

once: _Compiler = _compiler(
    cache=KEPT, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False, forceinline=True
)
"""A lean part that is called from one place, and put there: each array handed over costs seven numbers on the stack."""
