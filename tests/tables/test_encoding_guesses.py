"""The encoding of a CSV that is not UTF-8, guessed from its first bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclose.tables.encodings import encoding_of
from tclose.tables.input_file import InputFile


@pytest.mark.parametrize(
    ("content", "guess"),
    [
        ("name\nZoë\n".encode(), None),
        ("name\nZoë\n".encode("cp1252"), "cp1252"),
        ("name\nZoë\n".encode("utf-16"), "utf-16"),
        (b"name\nZo\x81\xeb\n", "latin-1"),  # 81 is no letter of cp1252
    ],
)
def test_the_guess(content: bytes, guess: str | None, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    assert encoding_of(InputFile.open(path)) == guess
