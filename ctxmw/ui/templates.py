"""The templates, filled: whatever is not HTML of ours is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from ..conversation.record import signals_told
from ..display.elements import badge, time_html, verbatim
from ..display.found import kind_of
from ..display.records import NO_RECORD, lanes_html, mode_badge
from ..text.cleaning import clean, one_line
from ..values.records import Turn
from .parts.markdown import markdown_html


class Templates:
    """Fills templates; what every page needs is given once."""

    def __init__(self, **everywhere: object) -> None:
        self._environment = Environment(
            loader=PackageLoader(__package__ or "ctxmw.ui"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            # Invisible and bidi characters could make a page say what is not there.
            finalize=lambda value: clean(value) if type(value) is str else value,
        )
        self._environment.globals |= {
            "badge": badge,
            "kind_of": kind_of,
            "lanes": lanes_html,
            "markdown": markdown_html,
            "mode_badge": mode_badge,
            "no_record": NO_RECORD,
            "one_line": one_line,
            "query": urlencode,
            "signals": signals_told,
            "tool_calls": _tool_calls,
            "verbatim": verbatim,
            "when": time_html,
            **everywhere,
        }

    def response(self, name: str, status: int, values: Mapping[str, Any]) -> HTMLResponse:
        """Return a page."""
        template = self._environment.get_template(f"{name}.html")
        return HTMLResponse(template.render(values), status_code=status)


def _tool_calls(turn: Turn) -> list[tuple[str, str]]:
    """Return the tools that a turn calls, each with what it gives them, easy to read."""
    return [
        (name, _readable(given)) for name, given in zip(turn.calls, turn.arguments, strict=False)
    ]


def _readable(given: str) -> str:
    try:
        return json.dumps(json.loads(given), ensure_ascii=False, indent=2)
    except ValueError:
        return given
