"""More calls than can be answered go out with less and say so; nothing that was said is lost."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from ctxmw import ContextMiddleware, Overloaded, SqliteStore
from ctxmw.protocols import Find
from ctxmw.runtime import async_twins as twins
from ctxmw.runtime.deadline import Deadline, TimeLimit
from ctxmw.values.records import Turn, load_all
from tests.support.busy import Busy

LONG = 60.0
SAID = "I prefer window seats."
ASKED = [{"role": "user", "content": SAID}]


@pytest.fixture(autouse=True)
def all_wait_their_turn(monkeypatch):
    monkeypatch.setattr(twins, "PATIENCE", LONG)


def wait_for(deadline):
    while deadline.left():
        time.sleep(deadline.left())


def said_in(ctx, session):
    asked = Find(types=("turn",), sessions=(session,))
    turns = load_all(ctx.store.query(ctx.user, asked), Turn)
    return [turn.text for turn in sorted(turns, key=lambda turn: turn.position)]


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", deadline=1) as opened:
        yield opened


@pytest.mark.parametrize("forgiving", [False, True])
async def test_a_call_that_cannot_be_begun_goes_out_as_given_and_its_words_are_kept(ctx, forgiving):
    chat = ctx.session("s1")
    call = chat.forgiving() if forgiving else chat
    async with Busy(ctx.workers):
        prepared = await call.aprepare(ASKED)
    assert prepared.messages == ASKED
    assert prepared.context.degraded == "prepare: Overloaded"
    assert ctx.stats()["degraded.prepare.Overloaded"] == 1
    assert (await call.afinish(prepared, "Noted.")).state == "answered"
    assert said_in(ctx, "s1") == [SAID, "Noted."]
    assert [memory.text for memory in ctx.search("window seats", kinds=["preference"])] == [SAID]


async def test_a_strict_memory_raises_instead(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", deadline=1, strict=True) as ctx:
        async with Busy(ctx.workers):
            with pytest.raises(Overloaded):
                await ctx.session("s1").aprepare(ASKED)


async def test_waiting_for_a_thread_counts_as_time_of_the_call(ctx, monkeypatch):
    monkeypatch.setattr(TimeLimit, "patience", LONG)
    ctx.remember("Answer briefly.", kind="preference")
    ctx.session("before").capture([{"role": "user", "content": "Gears are made of brass."}])
    ctx.search("gears")
    asked = [{"role": "user", "content": "What are gears made of?"}]
    async with Busy(ctx.workers) as busy:
        late = asyncio.ensure_future(ctx.session("s1").aprepare(asked))
        await asyncio.sleep(0)
        passed = Deadline.within(1)
        await asyncio.get_running_loop().run_in_executor(None, wait_for, passed)
        busy.let.set()
        prepared = await late
    assert prepared.context.degraded == "words: deadline"
    assert "Answer briefly." in prepared.context.stable
    assert "brass" not in prepared.context.text


async def test_without_a_deadline_every_call_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(twins, "WAITING", 1)
    with ContextMiddleware.open(tmp_path / "memory.db", deadline=None) as ctx:
        chats = [ctx.session(f"s{n}") for n in range(5)]
        async with Busy(ctx.workers) as busy:
            calls = [asyncio.ensure_future(chat.aprepare(ASKED)) for chat in chats]
            await asyncio.sleep(0)
            busy.let.set()
            prepared = await asyncio.gather(*calls)
    assert [one.context.degraded for one in prepared] == [""] * 5


async def test_of_very_many_calls_at_once_nothing_that_was_said_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(twins, "WAITING", 4)
    with ContextMiddleware.open(tmp_path / "memory.db", deadline=200) as ctx:

        async def talk(number):
            chat = ctx.session(f"s{number}")
            prepared = await chat.aprepare([{"role": "user", "content": f"Word{number} is here."}])
            await chat.afinish(prepared, f"Answer{number}.")
            return prepared.context.degraded

        async with Busy(ctx.workers) as busy:
            calls = [asyncio.ensure_future(talk(number)) for number in range(40)]
            await asyncio.sleep(0)
            busy.let.set()
            ends = await asyncio.gather(*calls)
        assert ends.count("prepare: Overloaded") >= 36
        for number in range(40):
            assert said_in(ctx, f"s{number}") == [f"Word{number} is here.", f"Answer{number}."]


def test_where_the_store_is_a_server_more_threads_work_at_a_time(tmp_path):
    class Remote(SqliteStore):
        remote = True

    with ContextMiddleware(Remote(tmp_path / "memory.db")) as ctx:
        together = threading.Barrier(2)

        async def main():
            meet = [ctx.workers.run(lambda: together.wait(LONG)) for _ in range(2)]
            return await asyncio.gather(*meet)

        assert sorted(asyncio.run(main())) == [0, 1]
