"""What people do with their memory from an editor: requests of the protocol, and no tools.

Pinning, editing and rating are a person's word on the memory. A tool would be offered to every
model, at a price in each of its prompts, and a model may have read what a stranger wrote: whoever
wrote that could pin it into all prompts to come. A request comes from the program that a person
sits at, and no model can make one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, RequestParams
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import ctxmw
from ctxmw import CtxmwError, NotFound, Session, StoreError

from .callers import Callers, Request
from .captured import CaptureArguments, captured
from .resources import THIS
from .shown import origin_of, shown_in
from .updates import Updates

EXTENSION = "io.github.ctxmw/memory"
PREFIX = "ctxmw/"


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    session: str | None = Field(default=None, min_length=1)


class InspectArguments(_Asked):
    """What a message would be given; without one, what matters now."""

    message: str = ""
    file: str = ""


class RememberedArguments(_Asked):
    """What a person wants to be remembered."""

    text: str
    kind: str = "fact"
    scope: str = ""
    key: str = ""


class SearchedArguments(_Asked):
    """What a person looks for."""

    query: str
    limit: int = Field(default=10, ge=1, le=100)


class RefArguments(_Asked):
    """Which record is meant."""

    ref: str = Field(min_length=1)


class EditArguments(RefArguments):
    """What is to stand there instead."""

    text: str
    kind: str | None = None
    scope: str | None = None


class WhyArguments(_Asked):
    """An answer, by its text, its id or its record's ref; or something that is remembered."""

    answer: str = ""
    ref: str = ""


class RateArguments(_Asked):
    """What a person says of what was shown: in a call, or in a look at what a message would get."""

    record: str = ""
    ref: str | None = None
    value: Literal[-1, 0, 1] | None = None
    note: str = ""
    missing: str = ""
    message: str = ""


class Given(RequestParams):
    """The arguments as they came; each request reads them itself, and says what is wrong."""

    model_config = ConfigDict(extra="allow")


Answer = dict[str, Any]
Handler = Callable[[Request, Any], Awaitable[Answer]]
Pinning = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """Answers what a person asks for."""

    callers: Callers
    updates: Updates
    trust: ctxmw.Trust

    def register(self, server: Server[Any]) -> None:
        """Have a server take the requests, and announce them."""
        ctx = self.callers.ctx
        made: dict[str, tuple[type[BaseModel], Handler]] = {
            "inspect": (InspectArguments, self._inspect),
            "remember": (RememberedArguments, self._remember),
            "search": (SearchedArguments, self._search),
            "edit": (EditArguments, self._edit),
            "forget": (RefArguments, self._forget),
            "pin": (RefArguments, partial(self._pinned, ctx.apin)),
            "unpin": (RefArguments, partial(self._pinned, ctx.aunpin)),
            "keep_out": (RefArguments, partial(self._pinned, ctx.akeep_out)),
            "why": (WhyArguments, self._why),
            "rate": (RateArguments, self._rate),
            "capture": (CaptureArguments, self._capture),
        }
        for name, (arguments, handler) in made.items():
            server.add_request_handler(PREFIX + name, Given, _reading(name, arguments, handler))
        server.extensions[EXTENSION] = {"methods": [PREFIX + name for name in made]}

    async def _inspect(self, request: Request, asked: InspectArguments) -> Answer:
        chat = self._chat(request, asked, asked.file)
        return await chat.forgiving().off_loop(
            lambda: shown_in(self.callers.ctx, _look(chat, asked.message))
        )

    async def _remember(self, request: Request, asked: RememberedArguments) -> Answer:
        user, project = self.callers.user(request), self.callers.project
        memory = await self.callers.ctx.aremember(
            asked.text,
            kind=asked.kind,
            scope=asked.scope or (f"project:{project}" if project else "universal"),
            key=asked.key,
            user=user,
            trust=None if self.trust == "trusted" else self.trust,
        )
        return await self._changed(user, memory)

    async def _search(self, request: Request, asked: SearchedArguments) -> Answer:
        user = self.callers.user(request)
        hits = await self.callers.ctx.asearch(asked.query, limit=asked.limit, user=user)
        found = [
            {"ref": hit.ref, "text": hit.text, "score": hit.score, "why": hit.why, "past": hit.past}
            | {"type": hit.record.type, "kind": getattr(hit.record, "kind", hit.record.type)}
            for hit in hits
        ]
        return {"hits": found}

    async def _edit(self, request: Request, asked: EditArguments) -> Answer:
        user = self.callers.user(request)
        memory = await self.callers.ctx.aedit(
            asked.ref, asked.text, kind=asked.kind, scope=asked.scope, user=user
        )
        return await self._changed(user, memory)

    async def _forget(self, request: Request, asked: RefArguments) -> Answer:
        user = self.callers.user(request)
        gone = await self.callers.ctx.aforget(asked.ref, user=user)
        await self.updates.publish(user)
        return {"forgotten": gone}

    async def _pinned(self, how: Pinning, request: Request, asked: RefArguments) -> Answer:
        user = self.callers.user(request)
        return await self._changed(user, await how(asked.ref, user=user))

    async def _why(self, request: Request, asked: WhyArguments) -> Answer:
        chat, ctx = self._chat(request, asked), self.callers.ctx
        if bool(asked.answer) == bool(asked.ref):
            raise NotFound("why needs an answer or a ref: give one of them.")
        if asked.ref:
            return await chat.forgiving().off_loop(lambda: origin_of(ctx, asked.ref, chat.user))
        record = await ctx.awhy(asked.answer, user=chat.user)
        if record is None:
            raise NotFound(f"no call of yours gave the answer {asked.answer[:60]!r}.")
        about = {"record": record.ref, "session": record.session, "at": record.at.isoformat()}
        shown = await chat.forgiving().off_loop(lambda: shown_in(ctx, record))
        return {**shown, **about, "explained": record.explain()}

    async def _rate(self, request: Request, asked: RateArguments) -> Answer:
        chat = self._chat(request, asked)
        said = {"note": asked.note, "missing": asked.missing, "user": chat.user}
        ctx = self.callers.ctx

        def rate() -> Answer:
            of: Any = asked.record or _look(chat, asked.message)
            about = "" if asked.record else asked.message
            rated = ctx.rate(of, asked.ref, asked.value, asked=about, **said)
            return {"rating": rated.ref, "about": rated.about, "value": rated.value}

        answer = await chat.forgiving().off_loop(rate)
        await self.updates.publish(chat.user)
        return answer

    async def _capture(self, request: Request, asked: CaptureArguments) -> Answer:
        chat = self.callers.conversation(request, asked.session)
        kept = await captured(chat, asked, self.trust)
        await self.updates.publish(chat.user)
        return {"captured": kept, "session": chat.id}

    def _chat(self, request: Request, asked: _Asked, file: str = "") -> Session:
        return self.callers.conversation(request, asked.session, files=[file] if file else [])

    async def _changed(self, user: str, memory: Any) -> Answer:
        await self.updates.publish(user)
        told = {"text": memory.text, "kind": memory.kind, "scope": memory.scope}
        return {"ref": memory.ref, **told, "seen": memory.seen}


async def told_plainly(ctx: Request, call_next: CallNext) -> HandlerResult:
    """Have a client told what is wrong with its request, instead of a traceback in our log."""
    try:
        return await call_next(ctx)
    except CtxmwError as error:
        code = INTERNAL_ERROR if isinstance(error, StoreError) else INVALID_PARAMS
        raise MCPError(code, str(error)) from error


def _look(chat: Session, message: str) -> ctxmw.ContextRecord:
    return chat.peek([{"role": "user", "content": message or THIS}]).context


def _reading(
    name: str, arguments: type[BaseModel], handler: Handler
) -> Callable[[Request, Given], Awaitable[Answer]]:
    async def read(request: Request, given: Given) -> Answer:
        try:
            asked = arguments.model_validate(given.model_extra or {})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "its arguments"
            takes = ", ".join(arguments.model_fields)
            raise MCPError(
                INVALID_PARAMS, f"{PREFIX}{name}: {place}: {first['msg']}. It takes: {takes}."
            ) from None
        return await handler(request, asked)

    return read
