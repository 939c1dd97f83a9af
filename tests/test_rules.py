"""House rules of the tests themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.project import PROJECT


def test_what_tests_share_lies_in_support_or_naive() -> None:
    """No module imports a test module or a conftest: two tests that share a helper would hang on one another."""
    for path in sorted((PROJECT / "tests").rglob("*.py")):
        parts = {part for name in imported(path) for part in name.split(".")}
        assert not {part for part in parts if part == "conftest" or part.startswith("test_")}, path


def imported(path: Path) -> set[str]:
    """The dotted names that a module imports, wherever the import stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_the_architecture_page_names_every_file_in_its_room() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("## The tree")[2]
    named, room = set(), ""
    for line in page.splitlines():
        heading, row = re.match(r"\*\*`([a-z_/]+)/`\*\*", line), re.match(r"\| `([a-z_]+\.py)` \|", line)
        room = heading[1] if heading else room
        named |= {f"{room}/{row[1]}"} if row else set()
    package = PROJECT / "src" / "tclose"
    there = {path.relative_to(package).as_posix() for path in package.glob("*/**/*.py") if path.name != "__init__.py"}
    assert named == there
