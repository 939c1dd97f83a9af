"""How kernels are compiled: once, kept on disk, without the GIL."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, nogil=True)
"""A kernel that Python calls."""

inner = njit(cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A part that only kernels call: it needs no way in for Python, which takes as long to compile as the part itself."""
