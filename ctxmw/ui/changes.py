"""What forms do: each one is a call of the memory's own methods, and then the page again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from ..errors import InvalidValue
from ..values.records import Memory
from .site import back_in, number_in, to

if TYPE_CHECKING:
    from .site import Site


class Changes:
    """The forms of one user's pages."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._ctx = ctx = site.ctx
        self._done_to_memories = {
            "pin": ("pinned", ctx.apin),
            "on_demand": ("on_demand", ctx.akeep_out),
            "unpin": ("unpinned", ctx.aunpin),
            "put_away": ("put_away", ctx.aput_away),
            "restore": ("restored", ctx.arestore),
        }

    async def remember(self, request: Request) -> Response:
        form = await self._site.form(request)
        kept = await self._ctx.aremember(
            form.get("text"),
            kind=form.get("kind", "fact"),
            scope=form.get("scope") or "universal",
            key=form.get("key"),
        )
        return to(f"/items/{kept.ref}", "remembered")

    async def edit(self, request: Request) -> Response:
        form = await self._site.form(request)
        new = await self._ctx.aedit(
            request.path_params["ref"],
            form.get("text"),
            kind=form.get("kind") or None,
            scope=form.get("scope") or None,
        )
        return to(f"/items/{new.ref}", "edited")

    async def pin(self, request: Request) -> Response:
        """Put an item into a conversation, take it out, or leave it to itself."""
        form = await self._site.form(request)
        ref = request.path_params["ref"]
        chat = self._ctx.session(form.get("session"))
        if form.get("neither"):
            act, done = chat.aunpin, "unpinned_there"
        elif form.get("out"):
            act, done = chat.aremove, "kept_out_there"
        else:
            act, done = chat.aadd, "pinned_there"
        await act(ref)
        return to(f"/items/{ref}", done)

    async def act(self, request: Request) -> Response:
        """Do one thing with all that is ticked; before forgetting, the reader is asked."""
        form = await self._site.form(request)
        refs, chats, do = form.every("ref"), form.every("id"), form.get("do")
        back = back_in(form, "/memories")
        if not refs and not chats:
            return to(back, "nothing")
        if do == "forget":
            named = [("ref", ref) for ref in refs] + [("id", chat) for chat in chats]
            return to(f"/forget?{urlencode(named)}")
        if do not in self._done_to_memories:
            raise InvalidValue(f"there is nothing called {do!r:.40} to do.")
        done, act = self._done_to_memories[do]
        memories = [one.ref for one in await self._ctx.aget(refs) if isinstance(one, Memory)]
        for ref in memories:
            await act(ref)
        if not memories:
            return to(back, "nothing")
        return to(back, done, len(memories) if len(memories) > 1 else None)

    async def forget(self, request: Request) -> Response:
        """Forget what the reader was asked about; what is gone already is no matter."""
        form = await self._site.form(request)
        refs, chats = form.every("ref"), form.every("id")
        there = {one.ref for one in await self._ctx.aget(refs)}
        for ref in refs:
            if ref in there:
                await self._ctx.aforget(ref)
        for chat in chats:
            await self._ctx.aforget(session=chat)
        n = len(refs) + len(chats)
        return to("/conversations" if chats else "/memories", "forgotten", n if n > 1 else None)

    async def rate(self, request: Request) -> Response:
        """Keep what the reader says of a call, of one thing in it, or of what was missing."""
        form = await self._site.form(request)
        ref, missing = request.path_params["ref"], form.get("missing").strip()
        said = form.get("value")
        value = None if missing else -1 if said == "-1" else number_in(said, "the value")
        about = form.get("about") or None
        await self._ctx.arate(ref, about, value, note=form.get("note"), missing=missing)
        return to(back_in(form, f"/records/{ref}"), "unrated" if value == 0 else "rated")
