"""A folder of files appears as a whole, or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tclose as tc
from tclose.tables.files import check_new_folder, new_folder, sha256_of_folder


def write(folder: Path, text: str) -> None:
    folder.mkdir()
    (folder / "part.parquet").write_text(text)


def test_a_folder_appears_when_it_is_committed(tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    with new_folder(target) as folder:
        write(folder.path, "new")
        assert not target.exists()
        folder.retire()
        folder.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]
    assert (target / "part.parquet").read_text() == "new"


@pytest.mark.parametrize("retired", [False, True])
def test_a_folder_that_is_not_committed_leaves_the_older_one(tmp_path: Path, retired: bool) -> None:
    target = tmp_path / "release.parquet"
    write(target, "old")
    with new_folder(target) as folder:
        write(folder.path, "new")
        if retired:
            folder.retire()
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]
    assert (target / "part.parquet").read_text() == "old"


def test_an_older_folder_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    write(target, "old")
    with new_folder(target) as folder:
        write(folder.path, "new")
        folder.retire()
        assert not target.exists()  # no older data beside newer papers
        folder.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["release.parquet"]
    assert (target / "part.parquet").read_text() == "new"


def test_a_folder_that_cannot_be_written_is_told_beforehand(tmp_path: Path) -> None:
    older, file = tmp_path / "older.parquet", tmp_path / "file.parquet"
    write(older, "old")
    file.touch()
    with pytest.raises(tc.OutputError, match="exists"):
        check_new_folder(older, force=False)
    with pytest.raises(tc.OutputError, match="read as an input"):
        check_new_folder(older, force=True, inputs=[older])
    with pytest.raises(tc.OutputError, match="is a file"):
        check_new_folder(file, force=True)
    with pytest.raises(tc.OutputError, match="does not exist"):
        check_new_folder(tmp_path / "nowhere" / "new.parquet", force=False)
    check_new_folder(older, force=True)
    check_new_folder(tmp_path / "new.parquet", force=False)


def test_the_sum_of_a_folder_is_that_of_sha256sum(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet"):
        (tmp_path / name).write_text(name)
    printed = subprocess.run("sha256sum * | sha256sum", shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert sha256_of_folder(tmp_path) == printed.stdout.split()[0]
