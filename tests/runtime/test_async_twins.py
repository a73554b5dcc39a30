"""Async twins run in a few threads that take turns, and let others work while they wait."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest

from ctxmw import Overloaded
from ctxmw.runtime import async_twins as twins
from ctxmw.runtime.async_twins import AT_WORK, Workers
from tests.support.busy import Busy

LONG = 30


@pytest.fixture
def workers():
    made = Workers()
    yield made
    made.close()


def gathered(workers, calls):
    async def main():
        return await asyncio.gather(*map(workers.run, calls))

    return asyncio.run(main())


def test_no_more_calls_than_that_are_at_work_at_a_time(workers):
    lock, now, most = threading.Lock(), set(), []

    def work(number):
        with lock:
            now.add(number)
            most.append(len(now))
        threading.Event().wait(0.005)
        with lock:
            now.remove(number)
        return number

    calls = [lambda number=number: work(number) for number in range(20)]
    assert gathered(workers, calls) == list(range(20))
    assert max(most) == AT_WORK


def test_who_waits_for_somebody_else_lets_others_work(workers, monkeypatch):
    monkeypatch.setattr(twins, "PATIENCE", LONG)
    answer = threading.Event()

    def ask():
        workers.leave()
        return answer.wait(LONG)

    assert gathered(workers, [*[ask] * AT_WORK, answer.set]) == [*[True] * AT_WORK, None]


def test_calls_that_are_held_up_do_not_hold_up_the_others_for_ever(workers, monkeypatch):
    monkeypatch.setattr(twins, "PATIENCE", 0.01)
    answer = threading.Event()
    held_up = [lambda: answer.wait(LONG)] * AT_WORK
    assert gathered(workers, [*held_up, answer.set]) == [*[True] * AT_WORK, None]


def test_a_call_that_fails_gives_its_turn_back(workers, monkeypatch):
    monkeypatch.setattr(twins, "PATIENCE", LONG)

    async def fail():
        for _ in range(2 * AT_WORK):
            with pytest.raises(ZeroDivisionError):
                await workers.run(lambda: 1 // 0)
        return await workers.run(lambda: 42)

    assert asyncio.run(fail()) == 42


# --- more calls than can be made ---


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(twins, "PATIENCE", LONG)


async def test_a_call_that_is_not_begun_in_time_is_given_up_and_never_made(workers, patient):
    made = []
    async with Busy(workers):
        with pytest.raises(Overloaded, match="not begun within 1 ms: send fewer at once"):
            await workers.run(lambda: made.append(1), within=0.001)
    await workers.run(lambda: None)
    assert made == []


async def test_no_more_than_so_many_calls_in_haste_wait(workers, patient, monkeypatch):
    monkeypatch.setattr(twins, "WAITING", 3)
    async with Busy(workers):
        waiting = [asyncio.ensure_future(workers.run(int, within=LONG)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="3 calls wait already"):
            await workers.run(int, within=LONG)
        calm = asyncio.ensure_future(workers.run(int))
    assert await asyncio.gather(*waiting, calm) == [0, 0, 0, 0]


async def test_who_gave_up_makes_room_for_another(workers, patient, monkeypatch):
    monkeypatch.setattr(twins, "WAITING", 1)
    async with Busy(workers):
        with pytest.raises(Overloaded, match="not begun"):
            await workers.run(int, within=0.001)
        waits = asyncio.ensure_future(workers.run(int, within=LONG))
        await asyncio.sleep(0)
    assert await waits == 0


async def test_who_went_away_makes_room_for_another(workers, patient, monkeypatch):
    monkeypatch.setattr(twins, "WAITING", 1)
    async with Busy(workers):
        caller = asyncio.ensure_future(workers.run(int, within=LONG))
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        waits = asyncio.ensure_future(workers.run(int, within=LONG))
        await asyncio.sleep(0)
    assert await waits == 0


async def test_calls_that_were_given_up_leave_nothing_behind(workers, patient):
    async with Busy(workers):
        for _ in range(50):
            with pytest.raises(Overloaded, match="not begun"):
                await workers.run(int, within=0.0001)
        requests = workers._threads()._work_queue.qsize()
        waits = asyncio.ensure_future(workers.run(int))
    assert requests <= 1
    assert await waits == 0


async def test_what_must_be_made_is_made_though_its_caller_has_gone(workers, patient):
    made = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with Busy(workers):
        caller = asyncio.ensure_future(
            workers.run(lambda: loop.call_soon_threadsafe(made.set) and None)
        )
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
    await asyncio.wait_for(made.wait(), LONG)


async def test_what_is_in_haste_is_not_made_when_its_caller_has_gone(workers, patient):
    made = []
    async with Busy(workers):
        caller = asyncio.ensure_future(workers.run(lambda: made.append(1), within=LONG))
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
    await workers.run(lambda: None)
    assert made == []


async def test_neither_kind_of_call_keeps_the_other_from_being_made(workers, patient, monkeypatch):
    order = []
    async with Busy(workers):
        calls = [
            *(workers.run(lambda: order.append("patient")) for _ in range(6)),
            *(workers.run(lambda: order.append("in haste"), within=LONG) for _ in range(6)),
        ]
        tasks = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert "in haste" in order[: AT_WORK + 1]
    assert "patient" in order[: AT_WORK + 1]


async def test_a_call_knows_when_it_was_handed_in(workers, patient):
    before = time.monotonic()
    async with Busy(workers):
        asked = asyncio.ensure_future(workers.run(lambda: workers.mine.began))
        await asyncio.sleep(0)
        after = time.monotonic()
    assert before <= await asked <= after
    assert workers.mine.began is None


# --- processes ---


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_forked_process_has_threads_of_its_own(workers):
    assert asyncio.run(workers.run(lambda: 42)) == 42
    child = os.fork()
    if child == 0:
        signal.alarm(LONG)
        made = asyncio.run(workers.run(lambda: 42))
        workers.close()
        os._exit(made)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
