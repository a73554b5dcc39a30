"""Async twins run in a few threads that take turns, and let others work while they wait."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ctxmw import twins
from ctxmw.twins import AT_WORK, Workers

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


def test_no_more_than_two_calls_are_at_work_at_a_time(workers):
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
