"""What is removed by age: only what was asked for, with a receipt, and in nobody's way."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Retention
from ctxmw.memory import forget, retention
from ctxmw.testing import FixedClock

ASKED = {"role": "user", "content": "Which colour has the shop?"}
SAID = [
    {"role": "user", "content": "I prefer tabs. The shop is painted in cobalt."},
    {"role": "assistant", "content": "Noted."},
]


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def opened(clock):
    made = []

    def open_with(**policy):
        made.append(
            ContextMiddleware.open(
                ":memory:", clock=clock, retention=Retention(**policy), deadline=None
            )
        )
        return made[-1]

    yield open_with
    for ctx in made:
        ctx.close()


def talked(ctx, session="old"):
    chat = ctx.session(session)
    chat.capture(SAID)
    chat.observe("The login was slow", kind="discovery")
    chat.end("We painted the shop.")
    return ctx.remember("Deploys happen daily.")


def kinds(ctx):
    return sorted({hit.record.type for hit in ctx.search("shop tabs login deploys", limit=50)})


def test_nothing_is_removed_by_age_unless_asked_for(opened, clock):
    ctx = opened()
    talked(ctx)
    clock.advance(days=36_000)
    ctx.session("new").prepare([ASKED])
    assert ctx.apply_retention() == ctx.receipts() == []
    assert kinds(ctx) == ["memory", "observation", "summary", "turn"]


async def test_what_has_come_of_age_goes_and_leaves_a_receipt(opened, clock, caplog):
    ctx = opened(turns=30, observations=timedelta(days=30))
    talked(ctx)
    learned = [memory.text for memory in ctx.memories()]
    clock.advance(days=29)
    assert await ctx.aapply_retention() == []
    clock.advance(days=2)
    ctx.session("new").capture([{"role": "user", "content": "The shop opens at nine."}])
    assert ctx.of_age() == {"turn": 2, "observation": 1}
    with caplog.at_level(logging.INFO, "ctxmw"):
        (receipt,) = await ctx.aapply_retention()
    assert receipt.removed == {"turn": 2, "observation": 1}
    assert receipt.oldest == clock.now - timedelta(days=31)
    assert len(receipt.refs) == 3
    assert "removed by age: 1 observation, 2 turns" in caplog.text
    assert ctx.stats()["retention.turn"] == 2
    assert ctx.receipts() == [receipt]
    assert ctx.of_age() == {}
    assert ctx.get(receipt.refs) == []
    assert "cobalt" not in str([hit.text for hit in ctx.search("shop cobalt", kinds=["turn"])])
    assert [memory.text for memory in ctx.memories()] == learned
    assert kinds(ctx) == ["memory", "summary", "turn"]


def test_a_call_of_another_conversation_removes_in_passing(opened, clock):
    ctx = opened(turns=30)
    talked(ctx)
    clock.advance(days=31)
    ctx.session("new").prepare([ASKED])
    assert ctx.receipts()[0].removed == {"turn": 2}
    ctx.session("other").capture([{**SAID[0], "at": clock.now - timedelta(days=40)}])
    ctx.session("new").prepare([ASKED])
    assert len(ctx.receipts()) == 1
    clock.advance(hours=1)
    ctx.sessions()
    assert len(ctx.receipts()) == 2


def test_what_fails_there_fails_nobodys_call(opened, clock, monkeypatch):
    ctx = opened(turns=30)
    talked(ctx)
    clock.advance(days=31)

    def broken(*_):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(forget, "scrubbed_blocks", broken)
    assert ctx.session("new").prepare([ASKED]).messages[-1]["role"] == "user"
    assert ctx.receipts() == []
    assert ctx.stats()["set_aside.retention.StageError"] == 1
    assert ctx.of_age() == {"turn": 2}


def test_what_is_sent_once_more_is_not_captured_again(opened, clock):
    ctx = opened(turns=30)
    chat = ctx.session("old")
    chat.capture(SAID)
    clock.advance(days=31)
    ctx.apply_retention()
    assert chat.capture([*SAID, ASKED])[0].text == ASKED["content"]
    assert len(ctx.search("shop", kinds=["turn"])) == 1


def test_no_block_keeps_showing_it(opened, clock):
    ctx = opened(turns=30)
    ctx.session("old").capture([{"role": "user", "content": "The shop has the colour cobalt."}])
    chat = ctx.session("new")
    assert "cobalt" in chat.prepare([ASKED]).context.part
    clock.advance(days=31)
    ctx.apply_retention()
    assert "cobalt" not in str(chat.history())


def test_forgetting_a_conversation_still_reaches_what_outlived_its_turns(opened, clock):
    ctx = opened(turns=30)
    ctx.session("old").capture(SAID)
    assert ctx.memories()
    clock.advance(days=31)
    ctx.apply_retention()
    ctx.forget(session="old")
    assert ctx.memories(everything=True) == []


def test_memories_go_when_they_were_not_said_again(opened, clock):
    ctx = opened(memories=30)
    old = ctx.remember("Deploys happen daily.")
    ctx.remember("Prefers tabs.")
    clock.advance(days=20)
    ctx.remember("Prefers tabs.")
    clock.advance(days=20)
    assert ctx.apply_retention()[0].refs == (old.ref,)
    assert [memory.text for memory in ctx.memories()] == ["Prefers tabs."]
    assert ctx.apply_retention(user="bob") == []


def test_much_of_it_goes_in_several_transactions(opened, clock, monkeypatch):
    monkeypatch.setattr(retention, "AT_ONCE", 10)
    ctx = opened(memories=30)
    for number in range(25):
        ctx.remember(f"Fact number {number}.")
    clock.advance(days=31)
    assert [len(receipt.refs) for receipt in ctx.apply_retention()] == [10, 10, 5]


@pytest.mark.parametrize("age", [0, -1, True, "30", timedelta(0), float("nan")])
def test_an_age_that_makes_no_sense_is_refused(age):
    with pytest.raises(InvalidValue, match=r"Retention.turns is .*: give days"):
        Retention(turns=age)


def test_a_policy_that_is_none_is_refused():
    with pytest.raises(InvalidValue, match="retention is"):
        ContextMiddleware.open(":memory:", retention=30)
