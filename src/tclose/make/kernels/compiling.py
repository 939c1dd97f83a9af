"""Compilation of kernels: once, kept on the disk, to run without the GIL and without counting references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeVar

import numba.core.typing.arraydecl  # noqa: F401 - see the comment below
from numba import config, njit, typeof
from numba.core import event
from numba.core.cgutils import unpack_tuple
from numba.core.errors import TypingError
from numba.core.types import StarArgTuple
from numba.extending import intrinsic

from tclose.errors import InputError
from tclose.jobs import COMPILING, report
from tclose.make.kernels.keeping import Kept

# Numba resolves an index by asking the modules that declare one, in the order in which they were loaded. It loads the module
# for arrays first when it compiles, but last when it looks for a kernel on the disk first. Then texts, lists and dictionaries
# are tried before arrays, and compiling takes a tenth longer. Hence the import above.
Function = TypeVar("Function", bound=Callable[..., Any])


class _Compiler(Protocol):
    """A decorator that leaves the type of a function as it is."""

    def __call__(self, function: Function, /) -> Function: ...


_compiler: Any = njit  # its stub lacks the options for wrappers, and changes the type of the function
_events: Any = event  # without types
_intrinsic: Any = intrinsic
_typeof: Any = typeof
_unpacked: Any = unpack_tuple
_Arguments: Any = StarArgTuple

_config: Any = config

if _config.DISABLE_JIT:
    raise InputError("NUMBA_DISABLE_JIT is set, and what makes releases must be compiled. Unset it.")


def _folder() -> str | None:
    """Return the folder for compiled kernels; without one, as in a sealed container, they are compiled each time."""
    try:
        return str(Kept(_folder).cache_path)
    except RuntimeError:
        return None


FOLDER = _folder()
KEPT = FOLDER is not None
HOW_OFTEN = (
    "once on this machine, which may take a minute"
    if KEPT
    else "each time, which may take a minute; set NUMBA_CACHE_DIR to a folder to keep it in"
)


class _Teller(event.Listener):
    """Reports to listeners that kernels are being compiled, which takes seconds; not that they are read from the disk."""

    def __init__(self) -> None:
        self.compiled = 0
        self._depth = 0  # nesting of kernels and their parts; Numba compiles in one thread at a time

    def on_start(self, _: event.Event) -> None:
        """Report it, once for a kernel and its parts."""
        if self._depth == 0:
            report(f"{COMPILING}, {HOW_OFTEN}")
        self._depth += 1

    def on_end(self, _: event.Event) -> None:
        """Withdraw the report: compiling is done, or has failed."""
        self._depth -= 1
        self.compiled += 1
        if self._depth == 0:
            report("")


teller = _Teller()
_events.register("numba:compile", teller)

_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Options of all kernels and their parts. They create and return no arrays, so they need not count references: in a part as
short as `kernels.loss.loss`, which reads its arrays from a tuple, counting takes twenty times as long as the rest. They divide
without a check for 0. They get no wrapper for C, because no C code calls them."""


def _kept(**settings: bool) -> _Compiler:
    """Return a decorator that compiles a function, and keeps the result if there is a folder for it."""

    def compile_and_keep(function: Function) -> Function:
        compiled: Any = _compiler(**settings, **_ALL)(function)
        if KEPT:
            compiled._cache = Kept(function)
        return compiled  # type: ignore[no-any-return]

    return compile_and_keep


kernel = _kept()
"""A kernel that Python calls. All arrays that it fills or works with are arguments."""

lean = _kept(no_cpython_wrapper=True)
"""A part that only kernels call. It gets no wrapper for Python, which takes about as long to compile as the part itself."""

once: _Compiler = _compiler(no_cpython_wrapper=True, inline="always", **_ALL)
"""A small part that is called from one function, or a few, and inlined there: each array argument costs seven numbers on the
stack.

It is kept with its caller, not by itself. Inlining takes time with the square of a part's length, so a large part is better
compiled.
"""


def apart(result: Any, *arguments: Any) -> Callable[[Function], Any]:
    """Return a decorator for a large part that many kernels call: compiled once, for arguments like these, and called by its
    address.

    A part that kernels call is usually optimised again with each kernel. This one is not: a kernel gets its address, which
    ``address()`` returns, and passes it as the first argument of the part.
    """
    types = tuple(_typeof(argument) for argument in arguments)

    def compile_apart(function: Function) -> Any:
        part: Any = lean(function)

        def compile_now() -> None:
            part.compile(types)

        def address() -> int:
            if rehearsing:
                return 0
            compile_now()
            found = part.overloads[types]
            return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))

        @_intrinsic
        def call(_: Any, address: Any, *given: Any) -> Any:
            if given != types:  # it would misread its arguments
                raise TypingError(f"{function.__name__} is compiled for {types}. Got {given}.")

            def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
                convention = context.call_conv
                pointer = builder.inttoptr(values[0], convention.get_function_type(result, types).as_pointer())
                return convention.call_function(builder, pointer, result, types, _unpacked(builder, values[1]))[1]

            return result(address, _Arguments(types)), generate

        call.compile, call.address = compile_now, address
        return call

    return compile_apart


class RehearsedError(Exception):
    """A kernel was compiled but not run."""


rehearsing = False
"""Whether kernels are compiled but not run, as in a helper process; see `rehearsing.py`."""


def rehearse(compiled: Any, *args: Any) -> NoReturn:
    """Compile a kernel for such arguments, and raise an error so that its caller ends."""
    compiled.compile(tuple(_typeof(argument) for argument in args))
    raise RehearsedError
