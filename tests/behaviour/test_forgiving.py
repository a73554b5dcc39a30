"""A fault of ours does not stop somebody's agent, and does not go unnoticed."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading

import pytest

from ctxmw import ContextMiddleware, MissingUser, StoreError, memory_tools
from ctxmw.errors import StageError
from ctxmw.testing import FixedClock

ASKED = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Hello there"}]
FAULTS = [
    OSError("disk"),
    sqlite3.OperationalError("locked"),
    ValueError("value"),
    UnicodeError("text"),
    RecursionError("deep"),
    TimeoutError("late"),
    MemoryError("full"),
]


def degraded(ctx):
    """Return what was counted as degraded."""
    return {name: n for name, n in ctx.stats().items() if name.startswith("degraded.")}


class Broken:
    """A source that fails."""

    name = "broken"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def items(self, situation, /):
        raise self.error


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_the_messages_go_on_unchanged_and_the_fault_is_counted_logged_and_told(fault, caplog):
    told = []
    options = {"strict": False, "on_error": lambda *what: told.append(what), "clock": FixedClock()}
    with ContextMiddleware.open(":memory:", sources=[Broken(fault)], **options) as ctx:
        chat = ctx.session("s1").forgiving()
        with caplog.at_level(logging.WARNING, logger="ctxmw"):
            first, second = chat.prepare(ASKED), chat.prepare(ASKED)
        assert first.messages == ASKED
        assert first.context.degraded == f"source broken: {type(fault).__name__}"
        assert chat.finish(first, "Hi.").degraded
        assert degraded(ctx) == {f"degraded.source broken.{type(fault).__name__}": 2}
        assert told == [("source broken", fault), ("source broken", fault)]
        assert len(caplog.records) == 1
        assert second.messages == ASKED


def test_strict_raises():
    with ContextMiddleware.open(":memory:", sources=[Broken(FAULTS[0])], strict=True) as ctx:
        with pytest.raises(StageError, match="source broken failed: OSError: disk"):
            ctx.session("s1").forgiving().prepare(ASKED)


def test_the_core_raises_whether_strict_or_not():
    with ContextMiddleware.open(":memory:", sources=[Broken(FAULTS[0])], strict=False) as ctx:
        with pytest.raises(StageError, match="source broken failed: OSError: disk"):
            ctx.session("s1").prepare(ASKED)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()])
def test_a_cancellation_passes_through(stop):
    with ContextMiddleware.open(":memory:", sources=[Broken(stop)], strict=False) as ctx:
        with pytest.raises(type(stop)):
            ctx.session("s1").forgiving().prepare(ASKED)


def test_a_missing_user_is_raised_always():
    with ContextMiddleware.open(":memory:", user=None, strict=False) as ctx:
        with pytest.raises(MissingUser):
            ctx.session("s1")


def test_without_a_fault_it_is_the_same_as_the_conversation_itself():
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.remember("Answer briefly.", kind="preference")
        chat = ctx.session("s1").forgiving()
        prepared = chat.prepare(ASKED)
        chat.began(prepared)
        assert chat.finish(prepared, "Hi.").state == "answered"
        assert "Answer briefly." in prepared.context.text
        assert degraded(ctx) == {}


def test_a_tool_that_fails_is_answered_so_that_a_model_can_go_on():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        chat = ctx.session("s1").forgiving()
        mem_search, *_ = memory_tools(ctx.session("s1"))
        assert chat.ask(mem_search, query="login") == mem_search(query="login")
    assert "go on without it" in chat.ask(mem_search, query="login")
    assert sum(degraded(ctx).values()) == 1


def test_all_tools_are_bound_when_the_catalog_cannot_be_read():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        ctx.catalog.add("tool", "drop", "Drop a table.", include="agent")
        chat = ctx.session("s1").forgiving()
        tools = [{"name": "drop"}, {"name": "find"}]
        prepared = chat.prepare(ASKED, tools=tools, choose_tools=True)
        assert prepared.sent_tools(tools) == [{"name": "find"}]
    assert chat.prepare(ASKED, tools=tools, choose_tools=True).sent_tools(tools) == tools


def test_what_cannot_be_captured_does_not_stop_anybody():
    with ContextMiddleware.open(":memory:", strict=False) as ctx:
        chat = ctx.session("s1").forgiving()
        (turn,) = chat.capture(ASKED)
        assert turn.text == ASKED[-1]["content"]
    assert chat.capture(ASKED) == []
    assert sum(degraded(ctx).values()) == 1


def test_a_memory_that_was_closed_does_not_stop_an_async_call():
    async def story():
        ctx = ContextMiddleware.open(":memory:", strict=False)
        chat = ctx.session("s1").forgiving()
        first = await chat.aprepare(ASKED)
        ctx.close()
        assert (await chat.afinish(first, "Hi.")).degraded == "finish: StoreError"
        second = await chat.aprepare(ASKED)
        assert second.messages == ASKED
        assert second.context.degraded == "prepare: StoreError"

    asyncio.run(story())


def test_a_call_of_an_adapter_is_made_off_the_loop_and_after_closing_all_the_same():
    async def story():
        ctx = ContextMiddleware.open(":memory:", strict=False)
        chat = ctx.session("s1").forgiving()
        assert await chat.off_loop(threading.get_ident) != threading.get_ident()
        ctx.close()
        assert await chat.off_loop(threading.get_ident) == threading.get_ident()

    asyncio.run(story())


def test_a_call_of_an_adapter_that_fails_is_not_made_again():
    made = []

    def fail():
        made.append(1)
        raise StoreError("the disk is full.")

    async def story():
        with ContextMiddleware.open(":memory:") as ctx, pytest.raises(StoreError):
            await ctx.session("s1").forgiving().off_loop(fail)

    asyncio.run(story())
    assert made == [1]


def test_whoever_watches_a_block_is_told_of_the_error_that_ends_it():
    ended = []

    async def story():
        with ContextMiddleware.open(":memory:") as ctx:
            watched = ctx.session("s1").forgiving().watched(ended.append)
            with watched:
                pass
            async with watched:
                pass
            assert ended == []
            with pytest.raises(KeyError), watched:
                raise KeyError("sync")
            with pytest.raises(KeyError):
                async with watched:
                    raise KeyError("async")

    asyncio.run(story())
    assert [error.args for error in ended] == [("sync",), ("async",)]
