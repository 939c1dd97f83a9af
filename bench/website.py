"""What mkdocs.yml adds to the pages of docs/: the project's papers that lie elsewhere, notebooks, and a reference made from the code.

    pip install -e '.[docs]'; mkdocs serve

Links between pages are those of the repository, so that they work where the files are read as files. A link to a paper that lies outside docs/,
or to a notebook, is turned into one to its page on the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from typer.main import get_command
from typer.testing import CliRunner

import tclose as tc
from tclose.cli import app

PROJECT = Path(__file__).parent.parent
PAPERS = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "bench/RESULTS.md": "project/results.md",
}
"""Pages that lie outside docs/, and where they stand on the site."""
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add pages that are no files of docs/."""
    for path, page in PAPERS.items():
        files.append(File.generated(config, page, abs_src_path=str(PROJECT / path)))
    for stored in sorted((PROJECT / "docs" / "notebooks").glob("*.ipynb")):
        for name, content in notebook(stored).items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for name, text in {"commands": commands(), **names()}.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links of the repository into links of the site."""
    place = page.file.src_uri
    home = next((path for path, other in PAPERS.items() if other == place), f"docs/{place}")
    return LINK.sub(lambda link: f"]({moved(link[1], home, place)}{link[2] or ''})", markdown)


def moved(target: str, home: str, place: str) -> str:
    """Return a link as it is from a page of the site, for the target that it has from the page's file in the repository."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(home), target))
    path = "docs/index.md" if path == "README.md" else path
    found = PAPERS.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
    found = found and found.replace(".ipynb", ".md")
    return target if found is None else posixpath.relpath(found, posixpath.dirname(place) or ".")


def notebook(path: Path) -> dict[str, str | bytes]:
    """Return the page of a notebook, as it is stored with what it shows, and its pictures, by their names."""
    text, resources = MarkdownExporter().from_filename(
        str(path), resources={"unique_key": path.stem, "output_files_dir": path.stem}
    )
    title, _, rest = text.partition("\n")
    download = f'<a href="../{path.name}" download>Download the notebook</a>, with <a href="../visits.csv" download>visits.csv</a> and <a href="../diagnosis.csv" download>diagnosis.csv</a>.'
    return {f"{path.stem}.md": f"{title}\n\n{download}\n{rest}", **resources["outputs"]}


def names() -> dict[str, str]:
    """Return the pages of public names, whose text mkdocstrings takes from their docstrings."""
    public = sorted(name for name in tc.__all__ if not name.startswith("_"))
    errors = [name for name in public if name.endswith(("Error", "Warning"))]
    functions = [name for name in public if name.islower()]
    objects = [name for name in public if name not in {*errors, *functions}]
    return {
        "functions": listing("Functions", "What `import tclose as tc` offers to call.", functions),
        "objects": listing("Objects", "What you hand over and what you get back.", objects),
        "errors": listing("Errors and warnings", "Each error is one or two sentences: what was found, and what to do.", errors),
    }


def listing(title: str, opening: str, names: list[str]) -> str:
    return f"# {title}\n\n{opening}\n\n" + "\n\n".join(f"::: tclose.{name}" for name in names) + "\n"


def commands() -> str:
    """Return the page of commands: what `--help` prints of each."""
    helps = (f"## tclose {name}\n\n```text\n{helped(name)}\n```\n" for name in sorted(get_command(app).commands))  # type: ignore[attr-defined]
    return "# Commands\n\nWhat `tclose COMMAND --help` prints.\n\n" + "\n".join(helps)


def helped(name: str) -> str:
    printed = (
        CliRunner()
        .invoke(app, [name, "--help"], prog_name="tclose", env={"COLUMNS": "100", "NO_COLOR": "1"}, catch_exceptions=False)
        .output
    )
    return "\n".join(line.rstrip() for line in printed.strip().splitlines())
