"""A notebook: the library in a real kernel, where an event loop runs, output is no terminal, and ipywidgets is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("warm")

# In a process of its own: what the kernel's libraries warn of is not ours to mend. Whoever has ipywidgets is made to do without.
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient

cells = [nbformat.v4.new_code_cell(source) for source in ["import sys; sys.modules['ipywidgets'] = None", *json.load(sys.stdin)]]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, timeout=600, kernel_name="python3", allow_errors=True).execute(cwd=sys.argv[1])
print(json.dumps([[dict(output) for output in cell.outputs] for cell in notebook.cells[1:]]))
"""

PEOPLE = """
import pandas as pd
import tclose as tc
people = pd.DataFrame({"id": range(40), "age": [20 + row * 7 % 30 for row in range(40)], "disease": ["flu", "cold"] * 20})
policy = tc.Policy(quasi=["age"], sensitive={"disease": 0.2}, identifiers=["id"], k=4)
"""


def shown_by(folder: Path, *cells: str) -> list[str]:
    """What each cell of a notebook shows, as text: what it printed, its value, or the name of its error."""
    command = [sys.executable, "-c", RUN, str(folder)]
    done = subprocess.run(command, input=json.dumps(cells), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    of_cells = json.loads(done.stdout.splitlines()[-1])
    return [
        "".join(output.get("text") or output.get("ename") or output["data"]["text/plain"] for output in of) for of in of_cells
    ]


def test_a_notebook_audits_and_makes_a_release(tmp_path: Path) -> None:
    shown = shown_by(
        tmp_path,
        PEOPLE,
        "tc.audit(people, policy)",
        "release = tc.anonymize(people, policy)\nrelease",
        "release.write('release.csv')[0].name",
        "tc.audit('release.csv', policy)",
        "release.table.num_rows, len(release.to_pandas()), release.loss['gcp'] < 1",
        "formats = get_ipython().display_formatter.format\nall({*formats(one)[0]} == {'text/html', 'text/plain'} for one in (policy, release))",
    )
    assert shown[0] == ""  # nothing prints that was not asked
    assert shown[1].startswith("<Audit: 40 rows in 30 classes, k=1; disease t=0.5")
    assert shown[2].startswith("<Release: 40 rows in ")
    assert shown[3] == "'release.csv'"
    assert shown[4].startswith("<Audit: 40 rows in ")
    assert shown[4].endswith("; satisfied>")
    assert shown[5] == "(40, 40, True)"
    assert shown[6] == "True"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to one process")
def test_an_interrupted_cell_ends_and_the_next_one_works(tmp_path: Path) -> None:
    # The signal comes from inside, so no clock decides what is tested: while the table is counted, while classes grow, and while
    # they are refined with effort "best", which goes on with what is there.
    shown = shown_by(
        tmp_path,
        PEOPLE,
        """
import os, signal
from tclose.jobs import Job
def interrupt_at(wanted):
    return Job(lambda stage, figure: os.kill(os.getpid(), signal.SIGINT) if (stage, bool(figure)) == wanted else None)
import tclose.tables.table as table
counted, table.Cells = table.Cells, lambda *_: os.kill(os.getpid(), signal.SIGINT)
tc.audit(people, policy)
""",
        "table.Cells = counted\nwith interrupt_at(('Growing classes of', False)):\n    tc.anonymize(people, policy)",
        "with interrupt_at(('Refining', True)):\n    ended = tc.anonymize(people, policy, effort='best').record['course']['ended']\nended",
        "tc.anonymize(people, policy)",
    )
    assert shown[1:4] == ["KeyboardInterrupt", "KeyboardInterrupt", "'interrupt'"]
    assert shown[4].startswith("<Release: 40 rows in ")


def test_a_notebook_says_why_the_first_call_waits(tmp_path: Path) -> None:
    line = "compiling, once on this machine"
    assert shown_by(tmp_path, f"from tclose.jobs import report\nreport({line!r})\nreport({line!r})") == [f"tclose is {line}.\n"]
