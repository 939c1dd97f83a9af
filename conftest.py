"""The examples in README, docs and docstrings are tests too."""

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser

# A pattern without a folder matches files at any depth, so that no page and no docstring is missed.
_pages = Sybil(parsers=[PythonCodeBlockParser()], patterns=["*.md"])
_docstrings = Sybil(parsers=[DocTestParser()], path="src", patterns=["*.py"], document_types={".py": PythonDocStringDocument})

pytest_collect_file = (_pages + _docstrings).pytest()
