"""What people see: values as HTML for notebooks and the local page, and as plain text.

Nothing here is needed to build a prompt; it is loaded when something is looked at.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeGuard

from ..compaction.compactor import Compacted
from ..conversation.conversation import Prepared
from ..conversation.record import ContextRecord
from ..memory.hits import Hit, Hits
from ..values.budget import Budget
from ..values.records import Memory
from .bars import budget_html, budget_text
from .conversations import compacted_html, compacted_text, prepared_html, session_html, session_text
from .elements import Html, tag
from .found import hit_html, hits_html, hits_text, memory_html, memory_text
from .records import record_html

if TYPE_CHECKING:
    from ..session import Session


def html_of(value: object) -> str:
    """Return what a notebook shows of a value, its style included.

    Jupyter takes the style sheet out of a notebook that is not trusted: it reads well without.
    """
    return tag("div", tag("style", Html(style())), _fragment(value), class_="ctxmw")


def text_of(value: object) -> str:
    """Return the same in plain text."""
    match value:
        case ContextRecord():
            return value.display()
        case Prepared():
            return value.context.display()
        case Hits():
            return hits_text(value)
        case Memory():
            return memory_text(value)
        case Compacted():
            return compacted_text(value)
        case Budget():
            return budget_text(value)
    return session_text(value) if _is_session(value) else repr(value)


@cache
def style() -> str:
    """Return the style sheet; the local page serves the same."""
    return (files(__name__) / "style.css").read_text(encoding="utf-8")


def _fragment(value: object) -> Html:
    match value:
        case ContextRecord():
            return record_html(value)
        case Prepared():
            return prepared_html(value)
        case Hits():
            return hits_html(value)
        case Hit():
            return hit_html(value)
        case Memory():
            return memory_html(value)
        case Compacted():
            return compacted_html(value)
        case Budget():
            return budget_html(value)
    if _is_session(value):
        return session_html(value)
    raise TypeError(f"there is no display of {type(value).__name__}")


def _is_session(value: object) -> TypeGuard[Session]:
    # Whoever has one has loaded it; to show a budget or a record nobody needs to.
    from ..session import Session

    return isinstance(value, Session)
