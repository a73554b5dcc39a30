"""A conversation as a file: to read (Markdown), or for a program (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from starlette.responses import Response

from ...conversation.history import Exchange
from ...conversation.state import SessionState
from ...values.records import Turn

_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


def as_json(state: SessionState, exchanges: Sequence[Exchange]) -> Response:
    """Return every message, and the refs of the calls that answered it."""
    told = {
        "conversation": state.session,
        "project": state.project or "",
        "opened": state.opened.isoformat(),
        "messages": [_message(turn) for one in exchanges for turn in _turns(one)],
        "calls": [record.told() for one in exchanges for record in one.records],
    }
    text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    return _file(text, state.session, "json", "application/json")


def as_markdown(state: SessionState, exchanges: Sequence[Exchange]) -> Response:
    """Return every message under who said it and when."""
    parts = [f"# {state.session}"]
    for turn in (turn for one in exchanges for turn in _turns(one)):
        parts += [f"## {turn.speaker or turn.role}, {turn.at:%Y-%m-%d %H:%M} UTC", turn.says()]
    return _file("\n\n".join(parts) + "\n", state.session, "md", "text/markdown")


def _turns(exchange: Exchange) -> Iterator[Turn]:
    yield from filter(None, (exchange.asked, *exchange.said))


def _message(turn: Turn) -> dict[str, Any]:
    calls = [
        {"name": name, "arguments": given}
        for name, given in zip(turn.calls, turn.arguments, strict=False)
    ]
    said = {"role": turn.role, "content": turn.text, "at": turn.at.isoformat(), "ref": turn.ref}
    return {**said, "tool_calls": calls} if calls else said


def _file(text: str, name: str, ending: str, media_type: str) -> Response:
    # A name of letters, digits, dots and dashes needs no quoting in any browser.
    safe = _UNSAFE.sub("-", name).strip("-.")[:60] or "conversation"
    headers = {"content-disposition": f'attachment; filename="{safe}.{ending}"'}
    return Response(text, media_type=media_type, headers=headers)
