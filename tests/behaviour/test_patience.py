"""Whoever connects and asks for nothing is let go of; whoever waits for an answer is not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("mcp")

import uvicorn
from starlette.responses import PlainTextResponse

import ctxmw.ui.patience
import ctxmw_mcp.patience

SOON = 0.05
STUCK = 60
"""Seconds after which a test that hangs fails."""
BOTH = pytest.mark.parametrize(
    "patient", [ctxmw.ui.patience.patient, ctxmw_mcp.patience.patient], ids=["ui", "mcp"]
)
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def answers_late(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(3 * SOON)
    await PlainTextResponse("late")(scope, receive, send)


@asynccontextmanager
async def connected(
    patient: Callable[[float], Any], seconds: float = SOON
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        answers_late, http=patient(seconds), ws="none", lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[bound]))
    async with asyncio.timeout(STUCK):
        # It listens already, and is answered once the server has started.
        reader, writer = await asyncio.open_connection(*bound.getsockname())
        yield reader, writer
        writer.close()
        server.should_exit = True
        await running


@BOTH
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local"])
def test_a_request_that_does_not_come_is_not_waited_for(patient, sent):
    async def run() -> None:
        async with connected(patient) as (reader, writer):
            writer.write(sent)
            assert await reader.read() == b""

    asyncio.run(run())


@BOTH
def test_an_answer_may_take_as_long_as_it_takes_and_the_next_request_may_not(patient):
    async def run() -> None:
        async with connected(patient) as (reader, writer):
            writer.write(WHOLE)
            assert (await reader.readuntil(b"late")).startswith(b"HTTP/1.1 200")
            writer.write(WHOLE[:-2])
            assert await reader.read() == b""

    asyncio.run(run())


@BOTH
def test_a_connection_is_used_again(patient):
    async def run() -> None:
        async with connected(patient, STUCK) as (reader, writer):
            for _ in range(2):
                writer.write(WHOLE)
                await reader.readuntil(b"late")

    asyncio.run(run())
