"""HTML from values: every text is escaped on its way in, so stored text stays text.

Only what `tag` made passes as HTML. No script, no inline style, no address but those we make
ourselves: the same fragments go into notebooks and into a page whose policy forbids all of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ..text.cleaning import escape


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        # Template engines ask for this, and do not escape again.
        return self


Child = Html | str | int | None
"""What an element may hold; whatever is not `Html` is escaped, None is left out."""

_VOID = frozenset({"rect", "br", "input"})


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an element. "class_" is the attribute class, "view_box" is viewBox."""
    marks = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID and not children:
        return Html(f"<{name}{marks}/>")
    return Html(f"<{name}{marks}>{joined_html(children)}</{name}>")


def joined_html(children: Iterable[Child]) -> Html:
    """Return elements and texts one after the other."""
    return Html("".join(_inside(child) for child in children))


def side_by_side(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an element whose children stand side by side.

    A notebook that is not trusted has no style sheet: there the dots between them are seen.
    """
    told = [child for child in children if child not in (None, "")]
    parted = [part for child in told for part in (_DOT, child)][1:]
    return tag(name, *parted, **attributes)


def section(title: str, *children: Child, count: int | None = None, opened: bool = False) -> Html:
    """Return a part that folds away, with how many things are in it."""
    counted = tag("span", count, class_="ctx-count") if count is not None else None
    return tag("details", tag("summary", title, " ", counted), *children, open=opened)


def badge(text: str, look: str = "") -> Html:
    """Return a small label."""
    return tag("span", text, class_=f"ctx-badge ctx-{look}" if look else "ctx-badge")


def time_html(at: datetime) -> Html:
    """Return a time, to the minute; the local page puts it into the reader's own."""
    return tag("time", f"{at:%Y-%m-%d %H:%M} UTC", datetime=f"{at:%Y-%m-%dT%H:%M:%SZ}")


def table(header: Sequence[str], rows: Iterable[Sequence[Child]]) -> Html:
    """Return a table that scrolls sideways where it is too wide."""
    head = tag("tr", *(tag("th", name) for name in header))
    body = (tag("tr", *(tag("td", cell) for cell in row)) for row in rows)
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="ctx-scroll")


def verbatim(text: str, *, ours: bool = False) -> Html:
    """Return a text as it is, line by line; marked when we put it there."""
    return tag("pre", text, class_="ctx-ours" if ours else None)


_DOT = Html('<span class="ctx-sep"> · </span>')


def _inside(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Html) else escape(str(child))


_NAMES = {"class_": "class", "view_box": "viewBox", "aspect": "preserveAspectRatio"}


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = _NAMES.get(key, key.replace("_", "-"))
    if value is True:
        return f" {name}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(text, attribute=True)}"'
