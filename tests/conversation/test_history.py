"""A conversation as it went, and the prompt of a call put together again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ctxmw import ContextMiddleware, Session
from ctxmw.testing import FixedClock
from ctxmw.values.messages import message_text


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        ctx.remember("Zebra crossings need a yellow light.", kind="preference", scope="universal")
        yield ctx


def talk(chat: Session, history: list[dict[str, Any]], words: str, reply: str) -> Any:
    history.append({"role": "user", "content": words})
    prepared = chat.prepare(history)
    chat.finish(prepared, reply)
    history.append({"role": "assistant", "content": reply})
    return prepared


def test_every_turn_has_what_was_asked_what_was_said_and_its_calls(ctx: ContextMiddleware) -> None:
    chat, history = ctx.session("s"), []
    talk(chat, history, "What needs a light?", "Zebra crossings.")
    talk(chat, history, "Which colour?", "Yellow.")
    first, second = chat.transcript()
    assert (first.asked.text, [turn.text for turn in first.said]) == (
        "What needs a light?",
        ["Zebra crossings."],
    )
    assert [record.state for record in second.records] == ["answered"]
    assert second.records[0].text == chat.history()[1].text


def test_calls_of_one_turn_stand_together(ctx: ContextMiddleware) -> None:
    chat = ctx.session("s")
    asked = [{"role": "user", "content": "Hello"}]
    chat.finish(chat.prepare(asked), error="timeout")
    chat.finish(chat.prepare(asked), "Hi.")
    [turn] = chat.transcript()
    assert [record.state for record in turn.records] == ["failed", "answered"]


def test_a_call_that_failed_is_there_with_what_was_asked(ctx: ContextMiddleware) -> None:
    chat = ctx.session("s")
    chat.finish(chat.prepare([{"role": "user", "content": "Hello"}]), error="timeout")
    [turn] = chat.transcript()
    assert turn.asked is not None
    assert (turn.asked.text, turn.said, turn.records[0].state) == ("Hello", (), "failed")


def test_what_was_captured_without_a_call_has_no_record(ctx: ContextMiddleware) -> None:
    chat = ctx.session("s")
    chat.capture([{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Hello"}])
    first, second = chat.transcript()
    assert (first.asked, [turn.text for turn in first.said]) == (None, ["Hi."])
    assert (second.asked.text, second.records) == ("Hello", ())


def test_the_prompt_of_a_call_comes_back_with_earlier_parts_in_their_places(
    ctx: ContextMiddleware,
) -> None:
    earlier, past = ctx.session("past"), []
    talk(earlier, past, "Where does AuthService check the token?", "In verify().")
    talk(earlier, past, "How are prices stored?", "As integers in cents.")
    chat, history = ctx.session("now"), []
    talk(chat, history, "Where does AuthService check a token?", "In verify().")
    last = talk(chat, history, "And how are prices stored by AuthService?", "In cents.")
    said = chat.prompt(chat.history()[-1])
    sent = [(message["role"], message_text(message)) for message in last.messages]
    # Our text opens a message; placing put one empty line between it and the caller's.
    again = [(one.role, "\n".join(filter(None, (one.ours, one.theirs)))) for one in said]
    assert last.context.replayed_tokens > 0
    assert [text.replace("\n\n", "\n").strip() for _, text in again] == [
        text.replace("\n\n", "\n").strip() for _, text in sent
    ]
    assert [role for role, _ in again] == [role for role, _ in sent]


def test_the_prompt_of_a_call_that_is_not_of_this_conversation_is_empty(
    ctx: ContextMiddleware,
) -> None:
    other = ctx.session("other").prepare([{"role": "user", "content": "Hello"}]).context
    assert ctx.session("s").prompt(other.model_copy(update={"session": "s"})) == []


def test_the_prompt_of_a_compacted_conversation_has_the_note_instead_of_what_left() -> None:
    with ContextMiddleware.open(":memory:", clock=FixedClock(), window=600) as ctx:
        chat, history = ctx.session("long"), []
        for n in range(20):
            last = talk(chat, history, f"Look at box {n} in the attic.", f"Box {n} has maps. " * 5)
        assert last.context.view
        said = chat.prompt(chat.history()[-1])
        assert "are archived" in said[0].ours
        assert [one.role for one in said] == [m["role"] for m in last.messages]
        assert all(one.exact for one in said)
        assert said[-1].theirs == "Look at box 19 in the attic."
