"""Run the example notebooks of docs/notebooks, and write what they show into them.

    pip install -e '.[test]'; python bench/notebooks.py            # all of them, after a change
    python bench/notebooks.py first-audit --check                  # as the tests do: what it shows must be what is written in it

They run in a copy of their folder, so that what they write stays nowhere.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    for path in [FOLDER / f"{name}.ipynb" for name in given.names] or sorted(FOLDER.glob("*.ipynb")):
        written = nbformat.read(path, as_version=4)
        fresh = run(nbformat.read(path, as_version=4))
        if not given.check:
            nbformat.write(fresh, path)
        for number, (old, new) in enumerate(zip(written.cells, fresh.cells, strict=True), 1):
            if given.check and shown(old) != shown(new):
                sys.exit(f"{path.name}, cell {number}: shows {shown(new)}, and has written {shown(old)}. Run bench/notebooks.py.")


def run(notebook: Any) -> Any:
    """Run a notebook in a copy of its folder; what depends on the machine or the moment is not kept."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False)
        client.execute(cwd=folder)
    notebook.metadata = nbformat.from_dict(KERNEL)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not output.get("text", "").startswith("tclose is compiling")]
    return notebook


def shown(cell: Any) -> list[Any]:
    """Return what a cell shows, without pictures: their last digits are those of a machine."""
    return [
        output.get("text") or {kind: text for kind, text in output.get("data", {}).items() if kind != "image/svg+xml"}
        for output in cell.get("outputs", [])
    ]


if __name__ == "__main__":
    main()
