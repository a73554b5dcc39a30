"""How a block is printed: Markdown, XML or compact, inside one frame. Escaping lives only here.

Stored text is data. Whatever it holds, a block has exactly one opening and one closing frame, and
a line of stored text never looks like a heading of ours. A stranger's text is marked on each of
its lines: none of them stands there as if we had written it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from unicodedata import combining

from ..protocols import Renderer
from ..text.cleaning import escape, first_sentence, one_line
from ..text.lines import as_said
from ..values.budget import Arriving
from ..values.items import Item, Shown
from ..values.situation import Situation

if TYPE_CHECKING:
    from ..tokens.prompt_counter import PromptCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How blocks are printed and counted."""

    renderer: Renderer
    count: PromptCounter
    title: Callable[[str], str]
    arriving: Arriving = field(default_factory=Arriving)
    """How many summaries and index lines there may be."""
    fetches: bool = True
    """Whether the model can fetch what is listed or shown in part; else no id is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printer:
    """Renders items, and counts what that takes."""

    renderer: Renderer
    count: PromptCounter
    arriving: Arriving
    """What comes by itself, and how many lines of it."""

    def layout(self, situation: Situation) -> Layout:
        """Return how blocks are printed for this situation."""
        title = partial(title_of, project=situation.project, language=situation.language)
        return Layout(
            renderer=self.renderer,
            count=self.count,
            title=title,
            arriving=self.arriving,
            fetches=situation.fetches,
        )


SECTIONS = (
    "notices",
    "universal",
    "about",
    "language",
    "project",
    "facts",
    "decisions",
    "notes",
    "sessions",
    "code",
    "files",
    "rules",
    "references",
    "index",
)
"""Every section a block can have, in the order in which they are printed: what waited to be said
comes first, as it is new."""

TIMELINES = frozenset({"notes", "sessions"})
"""Sections that tell how things went: by time, whatever the scores are."""

_TITLES = {
    "universal": "Instructions",
    "about": "About the User, in Their Words",
    "facts": "Facts",
    "decisions": "Recent Decisions",
    "notes": "Session Notes",
    "sessions": "Recent Sessions",
    "code": "Related Code",
    "files": "File Context",
    "rules": "Rules",
    "references": "References",
    "notices": "Notices",
    "index": "Index",
}
# An arrow or a comparison inside of a line of code closes no tag: no "<" is ever left to close.
_COMPARED = re.compile(r"(?<=[\w\])\"'][ ])&gt;(?==?[ ])|(?<=[ )][-=])&gt;(?=[ ])")
_LANGUAGES = {
    "cpp": "C++",
    "csharp": "C#",
    "css": "CSS",
    "html": "HTML",
    "javascript": "JavaScript",
    "php": "PHP",
    "sql": "SQL",
    "typescript": "TypeScript",
}
_HINT = "Remembered from earlier work. mem_search finds more, mem_get brings an id in full.\n"
_BRIEF = 160
_TITLE = 72
# Whatever is a "!" before a "[", also after a compatible normalisation (NFKC).
# The look-behind makes it linear: a run of marks is tried once, not from each mark of it.
_IMAGE = re.compile(
    r"(?<![!\ufe15\ufe57\uff01\u203c\u2048])[!\ufe15\ufe57\uff01\u203c\u2048]++(?=[\[\ufe47\uff3b])"
)


def title_of(section: str, *, project: str | None, language: str | None) -> str:
    """Return the heading of a section, with the language or the project named in it."""
    if section == "language":
        name = language or ""
        return f"{_LANGUAGES.get(name, name[:1].upper() + name[1:])} Preferences"
    if section == "project":
        name = project or ""
        return f"{name[:1].upper() + name[1:]} Decisions"
    return _TITLES[section]


class Markdown:
    """Headings and bullets; what most models read best."""

    name = "markdown"

    def frame(self, *, hint: bool) -> tuple[str, str]:
        return "<ctxmw>\n" + (_HINT if hint else ""), "</ctxmw>\n"

    def heading(self, title: str) -> tuple[str, str]:
        return f"## {_line(title)}\n", ""

    def group(self, title: str) -> str:
        return f"### {_line(title)}\n"

    def item(self, item: Item, shown: Shown, cost: int) -> str:
        if shown == "index":
            return f"- {_index_line(item, cost)}\n"
        return f"- {_indented(_by_line(item, shown))}{_more(item, shown, cost)}\n"


class Xml:
    """One element an item; for models and tools that want structure."""

    name = "xml"

    def frame(self, *, hint: bool) -> tuple[str, str]:
        return "<ctxmw>\n" + (f"<hint>{_HINT.strip()}</hint>\n" if hint else ""), "</ctxmw>\n"

    def heading(self, title: str) -> tuple[str, str]:
        return f'<section title="{_attribute(title)}">\n', "</section>\n"

    def group(self, title: str) -> str:
        return f'<group title="{_attribute(title)}"/>\n'

    def item(self, item: Item, shown: Shown, cost: int) -> str:
        if shown == "full":
            return f'<item kind="{_attribute(item.kind)}">{_inside(_by_line(item, shown))}</item>\n'
        about = {"id": item.ref, "kind": item.kind, "date": _date(item), "tokens": str(cost)}
        if not cost:
            about |= {"id": "", "tokens": ""}
        marks = "".join(f' {name}="{_attribute(value)}"' for name, value in about.items() if value)
        text = _index_title(item) if shown == "index" else _by_line(item, shown)
        return f'<item shown="{shown}"{marks}>{_inside(text)}</item>\n'


class Compact:
    """One short line an item and no hint; for small windows."""

    name = "compact"

    def frame(self, *, hint: bool) -> tuple[str, str]:
        return "<ctxmw>\n", "</ctxmw>\n"

    def heading(self, title: str) -> tuple[str, str]:
        return f"# {_line(title)}\n", ""

    def group(self, title: str) -> str:
        return f"## {_line(title)}\n"

    def item(self, item: Item, shown: Shown, cost: int) -> str:
        if shown == "index":
            return f"* {_index_line(item, cost)}\n"
        return f"* {' '.join(_body(item, shown).split())}{_more(item, shown, cost)}\n"


def has_brief(item: Item) -> bool:
    """Say whether showing the item briefly shows less than all of it."""
    return bool(item.passage) or (item.trust == "trusted" and len(item.text) > 2 * _BRIEF)


def _by_line(item: Item, shown: Shown) -> str:
    """Return the text where its lines are kept; those of a stranger each with a mark."""
    body = _body(item, shown)
    if item.trust == "trusted":
        return body
    first, *others = body.splitlines() or [""]
    return "\n".join([first, *(f"> {line.rstrip()}" for line in others if line.strip())])


def _body(item: Item, shown: Shown) -> str:
    text = _brief(item) if shown == "brief" else item.text
    body = _labelled(item, as_said(text) if item.group else text)
    if item.trust == "untrusted":
        # An image of a stranger's is fetched by whatever shows the answer, with what its address
        # carries; without the exclamation mark it is only a link.
        return _IMAGE.sub("", f"[{_origin(item)}] {body}")
    return body


def _brief(item: Item) -> str:
    return item.passage or first_sentence(item.text, _BRIEF)


def _labelled(item: Item, text: str) -> str:
    body = escape(text).strip()
    body = _COMPARED.sub(">", body)
    label = _line(item.label) if item.label else ""
    if item.section == "notes" and item.label == item.kind:
        label = f"{_date(item)} {label}".strip()
    if not label or body.lower().startswith((f"{label.lower()} ", f"{label.lower()}:")):
        return body
    return f"{label}: {body}"


def _more(item: Item, shown: Shown, cost: int) -> str:
    """Return where the rest of it is; nothing where it cannot be fetched, and costs nothing."""
    return f" ({_line(item.ref)}, {cost} tokens in full)" if shown == "brief" and cost else ""


def _index_line(item: Item, cost: int) -> str:
    about = _line(" ".join(filter(None, (item.ref, item.kind, _date(item)))))
    return f"{about}: {_index_title(item)} ({cost} tokens)"


def _index_title(item: Item) -> str:
    # A stranger's words in an index line would stand among ours, without their marks.
    if item.trust == "untrusted":
        return _origin(item)
    return _line(one_line(item.title or item.text, _TITLE))


def _origin(item: Item) -> str:
    return f"untrusted, from {_line(one_line(item.source or 'unknown', _TITLE))}"


def _date(item: Item) -> str:
    return item.at.date().isoformat() if item.at else ""


def _line(text: str) -> str:
    return " ".join(escape(text).split())


def _attribute(text: str) -> str:
    return " ".join(escape(text, attribute=True).split())


def _inside(text: str) -> str:
    # A mark right after ">" may be composed with it (NFC) into a sign that closes no tag.
    return f" {text}" if combining(text[:1] or " ") else text


def _indented(text: str) -> str:
    lines = [line.rstrip() for line in text.split("\n")]
    return "\n  ".join(line for line in lines if line)
