"""HTML read back by a real parser: which elements, attributes and texts a browser would see."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = frozenset({"br", "meta", "link", "input", "img", "rect", "hr"})


class Seen(HTMLParser):
    """What a document holds; `broken` says what was closed that was not open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.broken: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.broken += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if self._open[-1:] == [tag]:
            self._open.pop()
        else:
            self.broken.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())
