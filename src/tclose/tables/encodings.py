"""Files in other encodings than UTF-8: a copy in UTF-8, made as a stream, in a folder that only its owner can read."""

from __future__ import annotations

import codecs
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from tclose.errors import InputError
from tclose.jobs import check
from tclose.tables.csv import packing_of, unpacked
from tclose.tables.input_file import InputFile

_BLOCK = 1 << 24


def is_utf8(file: InputFile) -> bool:
    """Whether all bytes of a file are text in UTF-8, without NUL: letters of UTF-16 have NUL bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with unpacked(file) as source:
        try:
            while block := source.read(_BLOCK):
                check()
                if b"\0" in block:
                    return False
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def encoding_of(file: InputFile) -> str | None:
    """Return a guess at the encoding of a CSV that is not UTF-8, by its first bytes; None for UTF-8."""
    if is_utf8(file):
        return None
    with unpacked(file) as source:
        block = source.read(_BLOCK)
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        block.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def in_utf8(file: InputFile, encoding: str, owner: Any) -> InputFile:
    """Return a copy of a file in UTF-8 that is removed with its owner; the file itself if it is UTF-8, as a release is."""
    with file.read_as("a CSV"):
        if is_utf8(file):
            return file
    name, line = file.path.name if packing_of(file.path) is None else file.path.stem, 1
    folder = Path(tempfile.mkdtemp(prefix="tclose-"))  # readable by its owner only
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    decoder = codecs.getincrementaldecoder(encoding)()
    with file.read_as("a CSV"), unpacked(file) as source, (folder / name).open("wb") as target:
        try:
            while block := source.read(_BLOCK):
                check()
                text = decoder.decode(block)
                line += text.count("\n")
                target.write(text.encode())
            target.write(decoder.decode(b"", final=True).encode())
            readable = True
        except UnicodeError:  # a lone surrogate of UTF-16 cannot be encoded either
            readable = False
    if not readable:
        raise InputError(
            f"File {file.path.name!r} is not {encoding}, in line {line:,} or after it. Name its encoding in input: encoding."
        )
    return InputFile.open(folder / name)
