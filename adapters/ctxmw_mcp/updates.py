"""Tells subscribers of a resource that it has changed, in both eras of the protocol.

Older clients subscribe with `resources/subscribe` and keep a connection; newer ones hold a
`subscriptions/listen` request open. Each user's subscribers hear of that user's changes only:
those made here at once, those of other processes within a second.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from .addresses import AUTO, FILE, SESSION, changes_with
from .callers import Callers, Request

log = logging.getLogger("ctxmw")
SECONDS = 1.0
"""How often the store is asked what other processes have done, while somebody listens."""
_MOST = 256
"""Subscriptions of one connection."""


class Updates:
    """Who listens to what."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._buses: dict[str, InMemorySubscriptionBus] = defaultdict(InMemorySubscriptionBus)
        self._listening: dict[str, Counter[str]] = defaultdict(Counter)
        self._connected: dict[str, dict[tuple[str, str], Any]] = defaultdict(dict)
        """Sessions of older clients, by user, then by connection and URI."""
        self._positions: dict[str, int] = {}

    async def listen(
        self, request: Request, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a newer client for as long as it listens."""
        user = self._callers.user(request)
        wanted = params.notifications.resource_subscriptions or []
        await self._begin(user)
        self._listening[user].update(wanted)
        try:
            return await ListenHandler(self._buses[user])(request, params)
        finally:
            self._listening[user].subtract(wanted)
            self._listening[user] += Counter()
            self._tidy(user)

    async def subscribe(self, request: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Have an older client told about a resource; about one that is not there, never."""
        user, uri = self._callers.user(request), str(params.uri)
        await self._begin(user)
        connected = self._connected[user]
        connection = self._callers.connection_of(request)
        while sum(key[0] == connection for key in connected) >= _MOST:
            del connected[next(key for key in connected if key[0] == connection)]
        connected[connection, uri] = request.session
        return EmptyResult()

    async def unsubscribe(self, request: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        """Tell an older client no more."""
        user = self._callers.user(request)
        key = (self._callers.connection_of(request), str(params.uri))
        self._connected[user].pop(key, None)
        self._tidy(user)
        return EmptyResult()

    async def publish(self, user: str, path: str = "") -> None:
        """Tell a user's subscribers that something changed; with a path, about that file alone."""
        if not self._has_subscribers(user):
            return
        touched = (AUTO, SESSION, f"{FILE}{path}") if path else ()
        uris = self._subscribed(user)
        await self._tell(user, [uri for uri in uris if not path or changes_with(uri) in touched])
        # What was told now need not be told again when the store is asked.
        self._positions[user] = await self._callers.ctx.aposition(user=user)

    @asynccontextmanager
    async def following(self, _: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Look for what other processes have done, for as long as the server runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow)
            try:
                yield {}
            finally:
                tasks.cancel_scope.cancel()

    async def _follow(self) -> None:
        while True:
            await anyio.sleep(SECONDS)
            for user in [*self._positions]:
                try:
                    await self._look(user)
                except Exception:
                    log.warning("could not look for changes of the memory", exc_info=True)

    async def _look(self, user: str) -> None:
        before = self._positions[user]
        now = await self._callers.ctx.aposition(after=before, user=user)
        if now != before and user in self._positions:
            self._positions[user] = now
            await self._tell(user, self._subscribed(user))

    async def _tell(self, user: str, uris: Iterable[str]) -> None:
        for uri in uris:
            await self._buses[user].publish(ResourceUpdated(uri=uri))
            for key, session in list(self._connected[user].items()):
                if key[1] == uri:
                    await self._send(user, key, session)

    async def _send(self, user: str, key: tuple[str, str], session: Any) -> None:
        try:
            await session.send_resource_updated(key[1])
        except Exception:  # noqa: BLE001 - the client is gone: whatever its transport says to that
            self._connected[user].pop(key, None)
            self._tidy(user)

    async def _begin(self, user: str) -> None:
        if user not in self._positions:
            self._positions[user] = await self._callers.ctx.aposition(user=user)

    def _subscribed(self, user: str) -> list[str]:
        older = [uri for _, uri in self._connected[user]]
        return [*dict.fromkeys([*self._listening[user], *older])]

    def _has_subscribers(self, user: str) -> bool:
        return user in self._positions

    def _tidy(self, user: str) -> None:
        """Keep nothing of a user whom nobody listens for any more."""
        if not self._listening[user] and not self._connected[user]:
            for kept in (self._buses, self._listening, self._connected, self._positions):
                kept.pop(user, None)
