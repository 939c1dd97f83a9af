"""How kernels are compiled: once, kept on disk, to run without the GIL and without counting references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeVar

import numba.core.typing.arraydecl  # noqa: F401 - loads what is explained below
from numba import config, njit, typeof
from numba.core import event
from numba.core.cgutils import unpack_tuple
from numba.core.errors import TypingError
from numba.core.types import StarArgTuple
from numba.extending import intrinsic

from tclose.errors import InputError
from tclose.jobs import COMPILING, report
from tclose.make.kernels.keeping import Kept

# Numba asks the modules that declare what an index into something means in the order in which they were loaded. It loads that of
# arrays first when it compiles, but last when it looks for a kept kernel first: then each index into an array is asked of texts,
# lists and dictionaries before, and compiling takes a tenth longer. Hence the import above.
Function = TypeVar("Function", bound=Callable[..., Any])


class _Compiler(Protocol):
    """Leaves the type of a function as it is."""

    def __call__(self, function: Function, /) -> Function: ...


_compiler: Any = njit  # its stub leaves out the wrappers, and gives another type to what it compiles
_events: Any = event  # without types
_intrinsic: Any = intrinsic
_typeof: Any = typeof
_unpacked: Any = unpack_tuple
_Arguments: Any = StarArgTuple

_config: Any = config

if _config.DISABLE_JIT:
    raise InputError("NUMBA_DISABLE_JIT is set, and what makes releases must be compiled. Unset it.")


def _folder() -> str | None:
    """The folder for compiled kernels; without one, as in a sealed container, they are compiled each time."""
    try:
        return str(Kept(_folder).cache_path)
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

_ALL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Kernels and their parts neither make an array nor give one back, and so need not count references to those that they read:
in a part as short as `kernels.loss.loss`, which reads its arrays out of a tuple, counting takes twenty times as long as the rest.
They divide without a check for 0, and C code, which would need a wrapper, does not call them."""


def _kept(**settings: bool) -> _Compiler:
    """Compile, and keep what was compiled where there is a folder for it."""

    def compile_and_keep(function: Function) -> Function:
        compiled: Any = _compiler(**settings, **_ALL)(function)
        if KEPT:
            compiled._cache = Kept(function)
        return compiled  # type: ignore[no-any-return]

    return compile_and_keep


kernel = _kept()
"""A kernel that Python calls. All arrays that it fills or works with are handed over."""

lean = _kept(no_cpython_wrapper=True)
"""A part that only kernels call. It gets no way in for Python, which takes about as long to compile as the part itself."""

once: _Compiler = _compiler(no_cpython_wrapper=True, inline="always", **_ALL)
"""A small part that is called from one place, or a few, and put there: each array handed over costs seven numbers on the stack.

It is kept with its caller, not by itself. A large one takes longer to put there, with the square of its length, than to compile.
"""


def apart(result: Any, *arguments: Any) -> Callable[[Function], Any]:
    """A large part that many kernels call: compiled once, for arguments like these, and called through its address.

    Whatever a kernel calls is optimised with that kernel, and again with each other one. Such a part is not: a kernel is given
    its address, which ``address()`` finds, and hands it over as the first argument of the part.
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
            if given != types:  # it would read something else than it was given
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
    """A kernel was compiled, and not run."""


rehearsing = False
"""Whether kernels are only compiled, as in a process that does nothing else; see `rehearsing.py`."""


def rehearse(compiled: Any, *args: Any) -> NoReturn:
    """Compile a kernel for such arguments, and leave whatever called it."""
    compiled.compile(tuple(_typeof(argument) for argument in args))
    raise RehearsedError
