"""The examples in README, docs and docstrings are tests too."""

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser

_pages = Sybil(parsers=[PythonCodeBlockParser()], patterns=["README.md", "docs/*.md"])
_docstrings = Sybil(
    parsers=[DocTestParser()],
    patterns=["src/tclose/*.py", "src/tclose/*/*.py", "src/tclose/*/*/*.py"],
    document_types={".py": PythonDocStringDocument},
)

pytest_collect_file = (_pages + _docstrings).pytest()
