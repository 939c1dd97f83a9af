"""Pages of reports, as a parser reads them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "br", "img", "link"}


class Page(HTMLParser):
    """A page as a tree of tags that must be closed in order, with its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        """The text of the page, with single spaces."""
        return " ".join(" ".join(self.texts).split())
