"""The examples in README, docs and docstrings are tests too."""

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser
from tests.support.console import check_console, remove_folder

# A pattern without a folder matches files at any depth, so that no page and no docstring is missed.
_pages = Sybil(
    parsers=[PythonCodeBlockParser(), CodeBlockParser("console", check_console)], patterns=["*.md"], teardown=remove_folder
)
_docstrings = Sybil(parsers=[DocTestParser()], path="src", patterns=["*.py"], document_types={".py": PythonDocStringDocument})

pytest_collect_file = (_pages + _docstrings).pytest()
