"""Threads, tasks and processes on one store: nothing fails, nothing crosses, nothing is lost.

Every text carries a word of its own, so a word in the wrong prompt tells what crossed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import threading
from collections import ChainMap, Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from ctxmw import (
    Budget,
    ContextMiddleware,
    Session,
    current_session,
    memory_tools,
)
from ctxmw.conversation.conversation import Prepared
from ctxmw.protocols import Find, Store
from ctxmw.recall.entries import Entry
from ctxmw.tokens.counter import counter_for
from tests.support.waiting import PATIENCE

THREADS, PROCESSES = 32, 8
COUNT = counter_for()
MARK = re.compile(r"\b(?:note|fact|said)_\w+_end\b")
SYSTEM = {"role": "system", "content": "You help."}

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


@pytest.fixture
def ctx(factory):
    with ContextMiddleware(factory("memory"), user="ada") as opened:
        yield opened


def at_once(work: Callable[[int], Any], n: int = THREADS) -> list[Any]:
    """Return what each of n threads returns; they begin together, and a failure is raised."""
    ready = threading.Barrier(n)

    def start(number: int) -> Any:
        ready.wait(PATIENCE)
        return work(number)

    with ThreadPoolExecutor(n) as threads:
        return list(threads.map(start, range(n)))


def marks(prepared: Prepared) -> Counter[str]:
    """Return the words of texts that the prompt shows, apart from what the caller says."""
    shown = Counter(mark for m in prepared.messages for mark in MARK.findall(str(m["content"])))
    shown.subtract(mark for m in prepared.given for mark in MARK.findall(str(m["content"])))
    return +shown


def entries_of(ctx: ContextMiddleware, user: str, session: str) -> dict[str, Entry]:
    asked = Find(types=("entry",), sessions=(session,), live=None)
    rows = ctx.store.query(user, asked)
    return {row.ref: Entry.model_validate_json(row.body) for row in rows}


def converse(chat: Session, name: str, rounds: int) -> dict[str, str]:
    """Hold a conversation of one's own under the session's id; return the part of each record."""
    search = memory_tools(chat)[0]
    history = [SYSTEM]
    parts = {}
    for number in range(rounds):
        chat.collect("hook", f"{name} {number}", f"A note: note_{name}_{number}_end")
        history.append(user(f"What does {name} say in round {number}? said_{name}_{number}_end"))
        failed = chat.prepare(history)
        chat.finish(failed, error="timeout")
        prepared = chat.prepare(history)
        assert max(marks(prepared).values(), default=0) <= 1, f"shown twice: {marks(prepared)}"
        search(query=f"round {number}")
        chat.finish(prepared, "Fine.")
        history.append(assistant("Fine."))
        parts[prepared.context.ref] = prepared.context.part
    return parts


def check_entries(ctx: ContextMiddleware, parts: Mapping[str, str], n: int) -> None:
    """Each of Ada's n entries is committed to exactly one of the calls that showed it."""
    entries = entries_of(ctx, "ada", "busy")
    assert len(entries) == n
    for entry in entries.values():
        showed = [ref for ref, part in parts.items() if entry.text in part]
        assert entry.committed in showed, (
            f"{entry.text} was shown by {showed} and is committed to {entry.committed!r}"
        )


def drain(chat: Session) -> dict[str, str]:
    """Make a call for what still waits."""
    prepared = chat.prepare([user("Anything left?")])
    chat.finish(prepared, "No.")
    return {prepared.context.ref: prepared.context.part}


# --- threads ---


def test_many_threads_share_one_conversation(ctx):
    chat = ctx.session("busy", project="shop")
    rounds = 2
    parts = ChainMap(*at_once(lambda number: converse(chat, f"n{number}", rounds)))
    check_entries(ctx, parts | drain(chat), THREADS * rounds)
    records = chat.history()
    assert Counter(record.state for record in records) == {
        "answered": THREADS * rounds + 1,
        "failed": THREADS * rounds,
    }
    stable = {(record.epoch, record.stable) for record in records}
    assert len(stable) == len({epoch for epoch, _ in stable})


def test_threads_that_ask_the_same_at_once_get_the_same_prompt(ctx):
    chat = ctx.session("busy")
    chat.finish(chat.prepare([user("Hello there")]), "Hi.")
    ctx.remember("Zebra crossings need light.")
    chat.collect("hook", "a", "The build is red.")
    asked = [user("Hello there"), assistant("Hi."), user("What about zebra crossings?")]
    prompts = at_once(lambda _: chat.prepare(asked))
    assert "need light" in prompts[0].context.part
    assert "build is red" in prompts[0].context.part
    assert all(prompt.messages == prompts[0].messages for prompt in prompts)
    assert len({prompt.context.part_build for prompt in prompts}) == 1
    at_once(lambda number: chat.finish(prompts[number], "Yes."))
    (entry,) = entries_of(ctx, "ada", "busy").values()
    assert entry.committed in {prompt.context.ref for prompt in prompts}


def test_users_and_conversations_do_not_cross(factory):
    with ContextMiddleware(factory("memory"), user=None) as ctx:

        def work(number: int) -> tuple[str, str, set[str]]:
            name, session = f"user{number % 8}", f"s{number // 8}"
            chat = ctx.session(session, user=name, project=session)
            seen: Counter[str] = Counter()
            history = [SYSTEM]
            for turn in range(3):
                own = f"{name}_{session}_{turn}_end"
                ctx.remember(f"Zebra crossings: fact_{own}", user=name, scope=f"project:{session}")
                chat.collect("hook", f"{turn}", f"Zebra note: note_{own}")
                history.append(user(f"What about zebra crossings? said_{own}"))
                prepared = chat.prepare(history)
                seen += marks(prepared)
                seen.update(MARK.findall(memory_tools(chat)[0](query="zebra crossings")))
                seen.update(hit.text for hit in ctx.search("zebra", user=name))
                chat.finish(prepared, "Fine.")
                history.append(assistant("Fine."))
            return name, session, set(seen)

        for name, session, seen in at_once(work):
            assert any(mark.startswith("fact_") for mark in seen)
            assert all(f"_{name}_" in said for said in seen if "_end" in said), f"{name}: {seen}"
            shown = [mark for mark in seen if MARK.fullmatch(mark)]
            assert all(f"_{session}_" in mark for mark in shown), f"{session}: {shown}"


def test_no_pin_is_lost_and_no_cap_is_passed(ctx):
    chat = ctx.session("busy", project="shop")
    known = [ctx.remember(f"Gear {n} is made of brass.", scope="project:other") for n in range(8)]
    at_once(lambda number: chat.add(known[number].ref), len(known))
    chat.prepare([user("Hello there")])
    assert set(ctx.sessions()[0].added) == {memory.ref for memory in known}
    for number in range(60):
        text = f"Habit {number} is worth keeping around for a long time to come."
        ctx.remember(text, kind="preference")
    small = ctx.session("small", budget=Budget(total=200))
    small.prepare([user("Hello there")])
    ask = memory_tools(small)[2]
    answers = at_once(lambda _: ask(query="habit worth keeping"), 16)
    assert sum("used up" not in answer for answer in answers) == 2


def test_what_was_forgotten_is_in_no_prompt_that_begins_later(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", user="ada") as ctx:
        busy = ctx.session("busy")

        def work(number: int) -> None:
            chat = busy if number % 2 else ctx.session(f"own{number}")
            history = [SYSTEM]
            for turn in range(2):
                word = f"fact_{number}_{turn}_end"
                memory = ctx.remember(f"Zebra crossings: {word}", kind="rule")
                history.append(user(f"What about zebra crossings, {number} {turn}?"))
                first = chat.prepare(history)
                ctx.forget(memory.ref)
                second = chat.prepare([*history, assistant("Fine."), user("Go on")])
                assert word not in str(second.messages)
                chat.finish(first, "Fine.")
                history.append(assistant("Fine."))
                assert word not in memory_tools(chat)[0](query="zebra crossings")

        at_once(work, 12)
    left = [
        word
        for file in tmp_path.iterdir()
        for word in re.findall(rb"fact_\w+_end", file.read_bytes())
    ]
    assert left == []


def test_a_conversation_may_be_forgotten_while_it_goes_on(ctx):
    chat = ctx.session("busy")

    def work(number: int) -> None:
        if number % 4 == 0:
            for _ in range(4):
                ctx.forget(session="busy")
        else:
            converse(chat, f"n{number}", 2)

    at_once(work, 16)
    ctx.forget(session="busy")
    assert chat.history() == []
    assert chat.pending() == []


def test_each_thread_has_its_own_current_conversation(ctx):
    inner = threading.Barrier(THREADS)

    def work(number: int) -> None:
        chat, other = ctx.session(f"s{number}"), ctx.session(f"t{number}")
        assert current_session() is None
        with chat:
            inner.wait(PATIENCE)
            assert current_session() is chat
            with other:
                inner.wait(PATIENCE)
                assert current_session() is other
            assert current_session() is chat
        assert current_session() is None

    at_once(work)


# --- tasks ---


class Spy:
    """A source that notes which conversation is current where it is asked."""

    name = "spy"

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def items(self, situation):
        current = current_session()
        self.seen.append((situation.session, current.id if current else ""))
        return ()


async def test_each_task_has_its_own_current_conversation_also_off_the_loop(tmp_path):
    spy = Spy()
    with ContextMiddleware.open(tmp_path / "memory.db", user="ada", sources=[spy]) as ctx:

        async def work(number: int) -> None:
            chat = ctx.session(f"s{number}")
            with chat:
                prepared = await chat.aprepare([user(f"Question {number}")])
                assert current_session() is chat
                await chat.afinish(prepared, f"Answer {number}.")
                assert current_session() is chat
            assert current_session() is None

        await asyncio.gather(*map(work, range(THREADS)))
    # Asked for the opening and for the turn, always in its own conversation.
    assert set(spy.seen) == {(f"s{n}", f"s{n}") for n in range(THREADS)}


async def test_many_tasks_share_one_conversation(ctx):
    chat = ctx.session("busy")

    async def work(number: int) -> tuple[str, str]:
        await chat.acollect("hook", f"{number}", f"A note: note_{number}_end")
        prepared = await chat.aprepare([user(f"Question {number}?")])
        await ctx.aremember(f"Answer {number} was given: fact_{number}_end")
        await chat.afinish(prepared, f"Answer {number}.")
        return prepared.context.ref, prepared.context.part

    parts = dict(await asyncio.gather(*map(work, range(THREADS)))) | drain(chat)
    check_entries(ctx, parts, THREADS)
    shown = Counter(mark for part in parts.values() for mark in re.findall(r"note_\d+_end", part))
    assert set(shown.values()) == {1}, "an entry was shown by two calls"


# --- processes ---


def work_elsewhere(factory: Callable[[str], Store], rounds: int, number: int) -> dict[str, str]:
    with ContextMiddleware(factory("memory"), user="ada", count=COUNT) as ctx:
        chat = ctx.session("busy", project="shop")
        bob = ctx.session("busy", user="bob")
        bob.collect("hook", f"{number}", f"For Bob: note_bob_{number}_end")
        ctx.remember(f"Round trips: fact_bob_{number}_end", user="bob")
        ctx.remember(f"Round trips: fact_ada_{number}_end")
        parts = converse(chat, f"p{number}", rounds)
        bobs = bob.prepare([user(f"What about round trips, {number}?")])
        assert all("bob" in mark for mark in marks(bobs)), f"Bob is shown {marks(bobs)}"
        bob.finish(bobs, "Fine.")
    shown = [mark for part in parts.values() for mark in MARK.findall(part)]
    assert not [mark for mark in shown if "bob" in mark], f"Ada is shown {shown}"
    return parts


def work_in_processes(factory: Callable[[str], Store], rounds: int) -> list[dict[str, str]]:
    """Have processes work at once. They are forked: what all of them need is loaded before."""
    COUNT("Nothing is loaded twice.")
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("fork")) as pool:
        return list(pool.map(partial(work_elsewhere, factory, rounds), range(PROCESSES)))


def test_processes_share_one_conversation(factory):
    rounds = 3
    # This process has threads, and must not be forked: another one is, which has none.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        parts = ChainMap(*pool.submit(work_in_processes, factory, rounds).result())
    with ContextMiddleware(factory("memory"), user="ada") as ctx:
        chat = ctx.session("busy", project="shop")
        check_entries(ctx, parts | drain(chat), PROCESSES * rounds)
        records = chat.history()
        assert len(records) == 2 * PROCESSES * rounds + 1
        assert len(ctx.session("busy", user="bob").history()) == PROCESSES
        stable = {(record.epoch, record.stable) for record in records}
        assert len(stable) == len({epoch for epoch, _ in stable})
