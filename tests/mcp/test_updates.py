"""Subscribers hear of changes, in both eras, of their own user's only."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client

from ctxmw import ContextMiddleware
from ctxmw_mcp import memory_server
from ctxmw_mcp.addresses import AUTO, FILE, SESSION
from tests.support.waiting import PATIENCE

# The client of the mcp package warns when it speaks the older protocol, as asked here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning"
)


class Heard:
    """What an older client was told, as it comes in."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._news = anyio.Event()

    async def __call__(self, message: Any) -> None:
        params = getattr(message, "params", None)
        if hasattr(params, "uri"):
            self.uris.append(str(params.uri))
            self._news.set()

    async def of(self, uri: str) -> None:
        with anyio.fail_after(PATIENCE):
            while uri not in self.uris:
                await self._news.wait()
                self._news = anyio.Event()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


async def test_an_older_client_hears_of_changes_until_it_unsubscribes(path):
    heard = Heard()
    with ContextMiddleware.open(path, strict=True) as ctx:
        server = memory_server(ctx, connection="c1")
        async with Client(server, mode="legacy", message_handler=heard) as client:
            for uri in (AUTO, SESSION, f"{FILE}src/app.py"):
                await client.subscribe_resource(uri)
            await client.call_tool("remember", {"text": "Auth uses JWT."})
            for uri in (AUTO, SESSION, f"{FILE}src/app.py"):
                await heard.of(uri)
            await client.unsubscribe_resource(AUTO)
            heard.uris.clear()
            await client.call_tool("remember", {"text": "Boats float."})
            await heard.of(SESSION)
            assert AUTO not in heard.uris


async def test_a_newer_client_hears_of_changes_while_it_listens(path):
    with ContextMiddleware.open(path, strict=True) as ctx:
        async with Client(memory_server(ctx), mode="auto") as client:
            async with client.listen(resource_subscriptions=[AUTO]) as events:
                await client.call_tool("remember", {"text": "Auth uses JWT."})
                with anyio.fail_after(PATIENCE):
                    event = await anext(aiter(events))
                assert event.uri == AUTO


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_another_process_writes_is_heard_of_too(path, mode):
    with ContextMiddleware.open(path, strict=True) as ctx, ContextMiddleware.open(path) as other:
        heard = Heard()
        server = memory_server(ctx, connection="c1")
        async with Client(server, mode=mode, message_handler=heard) as client:
            if mode == "legacy":
                await client.subscribe_resource(AUTO)
                other.remember("Auth uses JWT.")
                await heard.of(AUTO)
            else:
                async with client.listen(resource_subscriptions=[AUTO]) as events:
                    other.remember("Auth uses JWT.")
                    with anyio.fail_after(PATIENCE):
                        assert (await anext(aiter(events))).uri == AUTO


async def test_a_client_that_went_away_is_not_told_any_more(path):
    with ContextMiddleware.open(path, strict=True) as ctx:
        server = memory_server(ctx, connection="c1")
        async with Client(server, mode="legacy") as gone:
            await gone.subscribe_resource(AUTO)
        heard = Heard()
        async with Client(server, mode="legacy", message_handler=heard) as client:
            await client.subscribe_resource(SESSION)
            await client.call_tool("remember", {"text": "Auth uses JWT."})
            await heard.of(SESSION)
