"""What people and models wrote, as Markdown: headings, lists, tables and code.

Nothing in it can leave the page. HTML stays text, and so do links and pictures: an answer may hold
an address that a stranger chose.
"""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt

from ...display.elements import Html, tag, verbatim
from ...text.cleaning import clean

LONGEST = 20_000
"""Characters; what is longer is shown as it is."""


def markdown_html(text: str) -> Html:
    """Return a text as its author meant it to look."""
    if len(text) > LONGEST:
        return verbatim(text)
    return tag("div", Html(_reader().render(clean(text))), class_="prose")


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"])
    return reader.disable(["link", "image", "autolink", "reference", "html_inline", "html_block"])
