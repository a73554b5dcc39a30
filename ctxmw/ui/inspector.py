"""The inspector: what a message would bring, or the code it is about; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from ..conversation.history import Exchange
from ..display.conversations import prepared_html
from ..recall.outcome import ItemOutcome
from ..values.budget import Budget
from ..values.items import names_stored
from ..values.messages import Message
from .reading import PAGE
from .site import number_in

if TYPE_CHECKING:
    from .site import Site

_FIELDS = ("message", "project", "language", "session", "total")


class Inspector:
    """Asks one user's memory what it would do."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._ctx = site.ctx

    def page(self, request: Request) -> Response:
        return self._show(request, dict.fromkeys(_FIELDS, ""), None)

    async def inspect(self, request: Request) -> Response:
        form = await self._site.form(request)
        asked = {name: form.get(name).strip() for name in _FIELDS}
        budget = (
            Budget(total=number_in(asked["total"], "the budget")) if asked["total"] else Budget()
        )
        chat = self._ctx.session(
            asked["session"] or None,
            project=asked["project"] or None,
            language=asked["language"] or None,
            budget=budget,
        )
        if form.get("find") == "code":
            found = await self._ctx.workers.run(
                lambda: chat.on_demand.code(asked["message"], counted=False)
            )
            return self._show(request, asked, None, found)
        said = _said(await chat.atranscript()) if asked["session"] else []
        message: Message = {"role": "user", "content": asked["message"]}
        prepared = await chat.apeek([*said, message])
        title = "This would go along"
        return self._show(request, asked, prepared_html(prepared, _address, title=title))

    def _show(
        self, request: Request, asked: dict[str, str], shown: object, code: str = ""
    ) -> Response:
        sessions = [state.session for state in self._ctx.sessions()[:PAGE]]
        values: dict[str, Any] = {
            "asked": asked,
            "shown": shown,
            "code": code,
            "sessions": sessions,
        }
        return self._site.show(request, "inspector", **values)


def _address(used: ItemOutcome) -> str:
    # Nothing is written by the inspector: what is not in the store has no page.
    return f"/items/{used.ref}" if names_stored(used.ref) else ""


def _said(exchanges: Iterable[Exchange]) -> list[Message]:
    turns = [turn for one in exchanges for turn in (one.asked, *one.said) if turn is not None]
    return [{"role": turn.role, "content": turn.text} for turn in turns if turn.role != "tool"]
