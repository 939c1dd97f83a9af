"""tclose on the executors of Spark: functions that are sent there, and the package with them where it is not installed."""

from __future__ import annotations

import atexit
import hashlib
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from tclose import extras
from tclose.tables.spark_errors import Telling

_FIRST = (1980, 1, 1, 0, 0, 0)
"""The date of all files of the package: the same files make the same bytes."""


def sendable(session: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one argument as one that executors can run, whether tclose is installed there or not.

    Where it is not, or is another version, Spark brings the package to each machine. There it is unpacked into a folder that is
    named by its content, so that compiled kernels are found again. Errors of tclose come back: see `tclose.tables.spark_errors`.
    """
    payload = extras.load("pyspark.cloudpickle").dumps(Telling(function))
    name = _package_on(session)

    def run(argument: Any) -> Any:  # it travels without the module that it is from, and imports what it needs
        import pickle

        if name is not None:
            import os
            import shutil
            import sys
            import zipfile
            from importlib import import_module
            from pathlib import Path

            folder = Path.home() / ".cache" / "tclose" / name.removesuffix(".zip")
            if str(folder) not in sys.path:
                if not folder.exists():
                    beside = folder.with_name(f"{folder.name}-{os.getpid()}")
                    with zipfile.ZipFile(import_module("pyspark").SparkFiles.get(name)) as packed:
                        packed.extractall(beside)
                    try:
                        beside.rename(folder)
                    except OSError:  # another worker was first
                        shutil.rmtree(beside, ignore_errors=True)
                for module in [module for module in sys.modules if module.partition(".")[0] == "tclose"]:
                    del sys.modules[module]
                sys.path.insert(0, str(folder))
        return pickle.loads(payload)(argument)

    return run


_brought: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()
"""For each session the name of the package's file, if Spark has brought it to the executors."""


def _package_on(session: Any) -> str | None:
    """Return the name of the package's file on the executors of a session; None if they have tclose. They are asked once."""
    if session not in _brought:
        _brought[session] = _bring_package(session) if _is_missing(session) else None
    return _brought[session]


def _is_missing(session: Any) -> bool:
    """Whether the executors lack this version of tclose, asked of one of them."""
    here = version("tclose")

    def found(batches: Any) -> Any:
        from importlib import metadata, util

        for _ in batches:
            try:
                there = metadata.version("tclose") if util.find_spec("tclose") else ""
            except metadata.PackageNotFoundError:
                there = ""
            yield pa.record_batch([pa.array([there])], names=["version"])

    asked = session.range(1).mapInArrow(found, "version string").toArrow()
    return bool(asked["version"][0].as_py() != here)


def _bring_package(session: Any) -> str:
    """Let Spark bring the package to all machines, and return the name of its file."""
    packed = _package()
    session.addArtifacts(str(packed), file=True)
    return packed.name


@cache
def _package() -> Path:
    """Return a file with all files of tclose, named by their content."""
    root = Path(__file__).parents[1]
    files = {path.relative_to(root.parent).as_posix(): path.read_bytes() for path in root.rglob("*") if _is_part(path)}
    about = f"Metadata-Version: 2.1\nName: tclose\nVersion: {version('tclose')}\n"
    files[f"tclose-{version('tclose')}.dist-info/METADATA"] = about.encode()
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(content).digest())
    folder = Path(tempfile.mkdtemp(prefix="tclose-"))
    atexit.register(rmtree, folder, ignore_errors=True)  # not before: executors that start later ask for the file
    packed = folder / f"tclose-{digest.hexdigest()[:16]}.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _FIRST), content, zipfile.ZIP_DEFLATED)
    return packed


def _is_part(path: Path) -> bool:
    """Whether a path is a file of the package, and not what Python or Numba made of one."""
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".nbc"
