"""What a search found, as HTML and as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..text.cleaning import one_line
from ..values.records import Memory, Record
from .elements import Child, Html, badge, side_by_side, tag, time_html, verbatim

if TYPE_CHECKING:
    from ..memory.hits import Hit

_LINE = 140


def hits_html(hits: Sequence[Hit]) -> Html:
    """Return what was found, the best first."""
    if not hits:
        return tag("p", "Nothing was found.", class_="ctx-none")
    title = tag("div", f"{len(hits)} found", class_="ctx-title")
    rows = tag("ul", *map(_row, hits), class_="ctx-items")
    return tag("div", title, rows)


def hit_html(hit: Hit) -> Html:
    """Return one thing found: its text, its score and why."""
    title = _title(hit.record, badge(f"{hit.score:.2f}", "agent"))
    return tag("div", title, verbatim(hit.text), tag("p", hit.why, class_="ctx-dim"))


def hits_text(hits: Sequence[Hit]) -> str:
    """Return one line for each thing found."""
    lines = [f"{hit.score:.2f}  {hit.ref}  {one_line(hit.text, 90)}" for hit in hits]
    return "\n".join(lines) or "Nothing was found."


def memory_html(memory: Memory) -> Html:
    """Return a memory: its text, and what is known about it."""
    return tag("div", _title(memory), verbatim(memory.text))


def memory_text(memory: Memory) -> str:
    """Return a memory in one line."""
    return f"{memory.ref} {memory.kind} ({memory.scope}): {one_line(memory.text, 120)}"


def kind_of(record: Record) -> str:
    """Return what kind of record it is."""
    return str(getattr(record, "kind", record.type))


def _row(hit: Hit) -> Html:
    return side_by_side(
        "li",
        tag("span", one_line(hit.text, _LINE), class_="ctx-says"),
        badge(kind_of(hit.record)),
        badge("past") if hit.past else None,
        badge("untrusted", "untrusted") if hit.record.trust == "untrusted" else None,
        badge(f"{hit.score:.2f}", "agent"),
        tag("span", f"{hit.record.at:%Y-%m-%d}", class_="ctx-cost"),
        tag("span", hit.ref, class_="ctx-ref"),
        tag("span", hit.why, class_="ctx-why"),
    )


def _title(record: Record, *marks: Child) -> Html:
    about = (f"{record.scope} · ", time_html(record.at), f" · {record.source}")
    told = tag("span", *about, class_="ctx-dim")
    return side_by_side("div", record.ref, badge(kind_of(record)), *marks, told, class_="ctx-title")
