"""One function a page: what is asked for is read, and a template is filled with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from ..conversation.record import ContextRecord
from ..display.conversations import messages_html
from ..display.records import record_html
from ..errors import NotFound
from ..recall.offering.items import CatalogItem
from ..recall.outcome import ItemOutcome
from ..values.records import MEMORY_KINDS, RECORD_TYPES, TYPES_OF_KIND, Memory
from .parts.downloads import as_json, as_markdown
from .parts.thumbs import Thumbs
from .parts.timeline import timeline_of
from .reading import KINDS, LISTED, PAGE, ListRequest, facts_of, words_of
from .site import asked_for, page_in, paging

if TYPE_CHECKING:
    from ..session import Session
    from .site import Site

_LAST_TURNS = 20
_USAGE = 100


class Pages:
    """The pages of one user's memory."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._ctx = site.ctx
        self._reading = site.reading
        self._thumbs = Thumbs(site)

    # --- conversations ---

    def conversations(self, request: Request) -> Response:
        """Show the conversations of a project, or in which something was said."""
        asked = {name: request.query_params.get(name, "") for name in ("q", "project")}
        states = self._reading.states(asked["q"], asked["project"])
        about = paging(len(states), page_in(request))
        return self._site.show(
            request,
            "conversations",
            asked=asked,
            projects=self._reading.projects(),
            found=self._reading.overviews(states, about["page"]),
            **about,
        )

    def conversation(self, request: Request) -> Response:
        """Show the turns of a conversation, the last ones first."""
        chat, every = self._conversation(request)
        page = page_in(request)
        shown = every[::-1][page * _LAST_TURNS : (page + 1) * _LAST_TURNS]
        more = (page + 1) * _LAST_TURNS < len(every)
        values: dict[str, Any] = {
            "turns": shown,
            "page": page,
            "more": more,
            "thumbs": self._thumbs.of_call,
        }
        return self._site.show(request, "conversation", chat=chat, **values)

    def export(self, request: Request) -> Response:
        """Give a conversation away as a file."""
        chat, every = self._conversation(request)
        written = as_markdown if request.query_params.get("as") == "markdown" else as_json
        return written(chat.state, every)

    def record(self, request: Request) -> Response:
        """Show one call: the context as recorded, and the prompt as sent."""
        record = self._record(request.path_params["ref"])
        context = record_html(
            record,
            lambda used: _address(used, record.ref),
            controls=self._thumbs.of_items(record),
        )
        prompt = messages_html(self._ctx.session(record.session).prompt(record))
        values: dict[str, Any] = {
            "context": context,
            "prompt": prompt,
            "thumbs": self._thumbs.of_call(record),
        }
        said = self._thumbs.told(record)
        return self._site.show(request, "record", record=record, said=said, **values)

    # --- memories ---

    def memories(self, request: Request) -> Response:
        """Show what is stored of one type, or what a search finds."""
        names = ("q", "type", "kind", "scope", "state")
        asked = {name: request.query_params.get(name, "") for name in names}
        listed = ListRequest(**{name: asked[name] for name in names[1:]})
        values: dict[str, Any] = {
            "asked": asked,
            "type": listed.listed_type,
            "counts": self._reading.counts(),
            "kinds": list(TYPES_OF_KIND) if asked["q"] else KINDS[listed.listed_type],
            "memory_kinds": MEMORY_KINDS,
            "scopes": self._reading.scopes(),
            "pins": self._ctx.pins(),
            "types": LISTED,
        }
        if asked["q"].strip():
            hits = self._ctx.search(
                asked["q"],
                limit=PAGE,
                kinds=listed.searched_kinds,
                scope=asked["scope"] or None,
            )
            found = [hit for hit in hits if asked["type"] in ("", hit.record.type)]
            shown = {"hits": found, "found": [], **paging(len(found), 0)}
        else:
            rows, total, page = self._reading.records(listed, page_in(request))
            shown = {"hits": None, "found": rows, **paging(total, page)}
        return self._site.show(request, "memories", **values, **shown)

    def item(self, request: Request) -> Response:
        """Show a record of any kind: its words, what is known about it, its history.

        Coming from a call, also how it was shown there; of code and the like that is all there is.
        """
        there = self._in_call(request)
        ref = request.path_params["ref"]
        if there["used"] and self._reading.item(ref) is None:
            return self._site.show(request, "shown", **there)
        item = self._reading.item_or_raise(ref)
        memory = item if isinstance(item, Memory) else None
        own = item.type in RECORD_TYPES
        return self._site.show(
            request,
            "item",
            item=item,
            words=words_of(item),
            facts=facts_of(item),
            versions=timeline_of(self._ctx.versions(item.ref)) if memory else [],
            can_edit=memory is not None and not memory.superseded_by,
            can_forget=own,
            memory=memory,
            pin=self._ctx.pins().get(item.ref, "") if memory else "",
            pinned=self._pinned(item.ref) if own and item.trust == "trusted" else None,
            include=self._ctx.catalog.include_of(item) if isinstance(item, CatalogItem) else "",
            calls=self._ctx.calls_with(item.ref),
            kinds=MEMORY_KINDS,
            **there,
        )

    def forget_page(self, request: Request) -> Response:
        """Ask before anything is forgotten: what is ticked, or a whole conversation."""
        refs = request.query_params.getlist("ref")
        items = [self._reading.item_or_raise(ref) for ref in refs[:PAGE]]
        chats = request.query_params.getlist("id")
        kept = {item.ref: len(self._versions(item)) for item in items}
        told: dict[str, Any] = {"items": items, "words": words_of, "versions": kept, "chats": chats}
        return self._site.show(request, "forget", **told)

    # --- the rest ---

    def usage(self, request: Request) -> Response:
        """Show what prompts are spent on, what never came back first."""
        every = self._ctx.usage()
        pins = self._ctx.pins()
        shown, more = every[:_USAGE], max(0, len(every) - _USAGE)
        return self._site.show(request, "usage", found=shown, more=more, pins=pins)

    def catalog(self, request: Request) -> Response:
        items = [(item, self._ctx.catalog.include_of(item)) for item in self._reading.catalog()]
        return self._site.show(request, "catalog", items=items)

    def _conversation(self, request: Request) -> tuple[Session, list[Any]]:
        chat = self._ctx.session(asked_for(request, "id"))
        every = chat.transcript()
        if not every and not chat.state.epoch:
            raise NotFound(f"there is no conversation {chat.id!r}.")
        return chat, every

    def _record(self, ref: str) -> ContextRecord:
        record = self._ctx.why(ref)
        if record is None or record.ref != ref:
            raise NotFound(f"there is no record {ref!r}.")
        return record

    def _in_call(self, request: Request) -> dict[str, Any]:
        """Return how the call that the address names has shown the item."""
        ref, call = request.path_params["ref"], request.query_params.get("call", "")
        if not call:
            return {"used": None, "record": None, "shown": "", "thumbs": None}
        record = self._record(call)
        used = next((one for one in record.used if one.ref == ref), None)
        thumbs = self._thumbs.of_items(record)(used) if used else None
        shown = self._reading.shown_as(record, ref)
        return {"used": used, "record": record, "shown": shown, "thumbs": thumbs}

    def _versions(self, item: Any) -> list[Memory]:
        return self._ctx.versions(item.ref) if isinstance(item, Memory) else []

    def _pinned(self, ref: str) -> list[tuple[str, str]]:
        """Return the last conversations, and whether the item is in, kept out, or neither."""
        states = self._ctx.sessions()[:PAGE]
        return [
            (state.session, "in" if ref in state.added else "out" if ref in state.removed else "")
            for state in states
        ]


def _address(used: ItemOutcome, call: str) -> str:
    return f"/items/{quote(used.ref, safe='')}?call={call}"
