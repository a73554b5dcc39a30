"""One function a page: what is asked for is read, and a template is filled with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..conversation.record import ContextRecord
from ..display.conversations import messages_html, prepared_html
from ..display.records import record_html
from ..errors import CtxmwError, InvalidValue, NotFound
from ..recall.offering.items import CatalogItem
from ..recall.outcome import ItemOutcome
from ..values.budget import Budget
from ..values.items import names_stored
from ..values.messages import Message
from ..values.records import MEMORY_KINDS, RECORD_TYPES, Memory
from .guard import body_of, form_mark, read_form
from .reading import PAGE, Reading, facts_of, pages_of, words_of
from .templates import Templates

if TYPE_CHECKING:
    from ..middleware import ContextMiddleware

_LAST_TURNS = 40


class Pages:
    """The pages of one user's memory."""

    def __init__(self, ctx: ContextMiddleware, token: str) -> None:
        self._ctx = ctx
        self._token = token
        self._reading = Reading(ctx)
        self._templates = Templates(user=self._reading.user, mark=form_mark(token))

    # --- conversations ---

    def conversations(self, request: Request) -> Response:
        page = _page(request)
        found, total = self._reading.conversations(page)
        return self._show("conversations", found=found, **_paging(total, page))

    def conversation(self, request: Request) -> Response:
        """Show the turns of a conversation, the last ones first."""
        chat = self._ctx.session(_asked(request, "id"))
        every = chat.transcript()[::-1]
        if not every and not chat.state.epoch:
            raise NotFound(f"there is no conversation {chat.id!r}.")
        page = _page(request)
        shown = every[page * _LAST_TURNS : (page + 1) * _LAST_TURNS]
        more = (page + 1) * _LAST_TURNS < len(every)
        return self._show("conversation", chat=chat, turns=shown, page=page, more=more)

    def record(self, request: Request) -> Response:
        """Show one call: the context as recorded, and the prompt as sent."""
        record = self._record(request.path_params["ref"])
        context = record_html(record, lambda used: _address(used, record.ref))
        prompt = messages_html(self._ctx.session(record.session).prompt(record))
        return self._show("record", record=record, context=context, prompt=prompt)

    # --- memories ---

    def memories(self, request: Request) -> Response:
        """Show what was remembered, or what a search finds."""
        asked = {name: request.query_params.get(name, "") for name in ("q", "kind", "scope")}
        page = _page(request)
        if asked["q"].strip():
            hits = self._ctx.search(
                asked["q"],
                limit=PAGE,
                kinds=[asked["kind"]] if asked["kind"] else (),
                scope=asked["scope"] or None,
            )
            return self._memories(asked, hits=hits, found=[], **_paging(len(hits), 0))
        found, total = self._reading.memories(asked["kind"], asked["scope"], page)
        return self._memories(asked, hits=None, found=found, **_paging(total, page))

    async def remember(self, request: Request) -> Response:
        form = await self._form(request)
        kept = await self._ctx.aremember(
            form.get("text", ""),
            kind=form.get("kind", "fact"),
            scope=form.get("scope") or "universal",
            key=form.get("key", ""),
        )
        return _to(f"/items/{kept.ref}")

    def item(self, request: Request) -> Response:
        """Show a record of any kind: its words, what is known about it, its history.

        Coming from a call, also how it was shown there; of code and the like that is all there is.
        """
        there = self._in_call(request)
        if there["used"] and self._reading.item(request.path_params["ref"]) is None:
            return self._show("shown", **there)
        item = self._item(request)
        memory = item if isinstance(item, Memory) else None
        own = item.type in RECORD_TYPES
        return self._show(
            "item",
            item=item,
            words=words_of(item),
            facts=facts_of(item),
            versions=self._ctx.versions(item.ref) if memory else [],
            can_edit=memory is not None and not memory.superseded_by,
            can_forget=own,
            pinned=self._pinned(item.ref) if own and item.trust == "trusted" else None,
            include=self._ctx.catalog.include_of(item) if isinstance(item, CatalogItem) else "",
            kinds=MEMORY_KINDS,
            **there,
        )

    async def edit(self, request: Request) -> Response:
        form = await self._form(request)
        new = await self._ctx.aedit(
            request.path_params["ref"],
            form.get("text", ""),
            kind=form.get("kind"),
            scope=form.get("scope"),
        )
        return _to(f"/items/{new.ref}")

    async def pin(self, request: Request) -> Response:
        """Put an item into a conversation, take it out, or leave it to itself."""
        form = await self._form(request)
        ref = request.path_params["ref"]
        chat = self._ctx.session(form.get("session", ""))
        out = chat.aremove if form.get("out") else chat.aadd
        await (chat.aunpin if form.get("neither") else out)(ref)
        return _to(f"/items/{ref}")

    def forget_page(self, request: Request) -> Response:
        """Ask before anything is forgotten."""
        item = self._item(request)
        versions = self._ctx.versions(item.ref) if isinstance(item, Memory) else []
        return self._show("forget", item=item, words=words_of(item), versions=versions)

    async def forget(self, request: Request) -> Response:
        await self._form(request)
        await self._ctx.aforget(request.path_params["ref"])
        return _to("/memories")

    # --- the rest ---

    def catalog(self, _: Request) -> Response:
        items = [(item, self._ctx.catalog.include_of(item)) for item in self._reading.catalog()]
        return self._show("catalog", items=items)

    def inspector(self, _: Request) -> Response:
        return self._inspect({"message": "", "project": "", "language": "", "session": ""}, None)

    async def inspect(self, request: Request) -> Response:
        """Show what a message would bring, or the code it is about; nothing is written."""
        form = await self._form(request)
        names = ("message", "project", "language", "session", "total")
        asked = {name: form.get(name, "").strip() for name in names}
        budget = Budget(total=_number(asked["total"], "the budget")) if asked["total"] else Budget()
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
            return self._inspect(asked, None, found)
        said = _said(await chat.atranscript()) if asked["session"] else []
        message: Message = {"role": "user", "content": asked["message"]}
        prepared = await chat.apeek([*said, message])
        title = "This would go along"
        return self._inspect(asked, prepared_html(prepared, _stored_address, title=title))

    async def problem(self, request: Request, error: Exception) -> Response:
        """Say what did not work, and go on."""
        status = 404 if isinstance(error, NotFound) else 400
        if not isinstance(error, CtxmwError):
            status, error = 404, NotFound(f"there is no page {request.url.path!r}.")
        return self._show("problem", status=status, message=str(error))

    def _show(self, name: str, *, status: int = 200, **values: Any) -> Response:
        return self._templates.response(name, status, values)

    def _memories(self, asked: dict[str, str], **values: Any) -> Response:
        scopes = self._reading.scopes()
        return self._show("memories", asked=asked, kinds=MEMORY_KINDS, scopes=scopes, **values)

    def _inspect(self, asked: dict[str, str], shown: object, code: str = "") -> Response:
        sessions = [state.session for state in self._ctx.sessions()[:PAGE]]
        return self._show("inspector", asked=asked, shown=shown, code=code, sessions=sessions)

    def _record(self, ref: str) -> ContextRecord:
        record = self._ctx.why(ref)
        if record is None or record.ref != ref:
            raise NotFound(f"there is no record {ref!r}.")
        return record

    def _in_call(self, request: Request) -> dict[str, Any]:
        """Return how the call that the address names has shown the item."""
        ref, call = request.path_params["ref"], request.query_params.get("call", "")
        if not call:
            return {"used": None, "record": None, "shown": ""}
        record = self._record(call)
        used = next((one for one in record.used if one.ref == ref), None)
        return {"used": used, "record": record, "shown": self._reading.shown_as(record, ref)}

    def _item(self, request: Request) -> Any:
        ref = request.path_params["ref"]
        item = self._reading.item(ref)
        if item is None:
            raise NotFound(f"{ref!r} was forgotten, or comes from a source of your own.")
        return item

    def _pinned(self, ref: str) -> list[tuple[str, str]]:
        """Return the last conversations, and whether the item is in, kept out, or neither."""
        states = self._ctx.sessions()[:PAGE]
        return [
            (state.session, "in" if ref in state.added else "out" if ref in state.removed else "")
            for state in states
        ]

    async def _form(self, request: Request) -> dict[str, str]:
        return read_form(await body_of(request), self._token)


def _address(used: ItemOutcome, call: str) -> str:
    return f"/items/{quote(used.ref, safe='')}?call={call}"


def _stored_address(used: ItemOutcome) -> str:
    # Nothing is written by the inspector: what is not in the store has no page.
    return f"/items/{used.ref}" if names_stored(used.ref) else ""


def _to(path: str) -> Response:
    return RedirectResponse(path, status_code=303)


def _asked(request: Request, name: str) -> str:
    value = request.query_params.get(name, "")
    if not value:
        raise NotFound(f"the address names no {name}.")
    return value


def _page(request: Request) -> int:
    return _number(request.query_params.get("page", "0"), "the page")


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InvalidValue(f"{what} is {text!r:.40}: give a whole number.")
    return int(text)


def _paging(total: int, page: int) -> dict[str, Any]:
    return {"total": total, "page": page, "pages": pages_of(total, page)}


def _said(exchanges: Any) -> list[Message]:
    turns = [turn for one in exchanges for turn in (one.asked, *one.said) if turn is not None]
    return [{"role": turn.role, "content": turn.text} for turn in turns if turn.role != "tool"]
