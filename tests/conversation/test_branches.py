"""An answer that was rejected was not said: it is marked, and nobody is told of it later."""

from __future__ import annotations

from typing import Any

import pytest

from ctxmw import ContextMiddleware, Session
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock
from ctxmw.values.records import Turn, load_all

PORT = "Which port does the staging server use?"
WRONG, RIGHT = "The staging server uses port 9000.", "The staging server uses port 8443."
Message = dict[str, Any]


@pytest.fixture
def ctx() -> Any:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def talk(chat: Session, *texts: str, reply: str) -> str:
    """Send a history whose last message is a question; return what came with it."""
    roles = (user, assistant)
    prepared = chat.prepare([roles[at % 2](text) for at, text in enumerate(texts)])
    chat.finish(prepared, reply)
    return prepared.context.text


def rejected(ctx: ContextMiddleware) -> set[str]:
    turns = load_all(ctx.store.query("local", Find(types=("turn",))), Turn)
    return {turn.text for turn in turns if turn.rejected}


def found(ctx: ContextMiddleware) -> str:
    hits = "\n".join(hit.text for hit in ctx.search(PORT))
    return hits + ctx.session("later").peek([user(PORT)]).context.text


def test_an_answer_that_is_asked_for_again_does_not_come_back_to_its_question(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=WRONG)
    assert WRONG not in talk(chat, PORT, reply=RIGHT)


def test_the_answer_that_another_took_the_place_of_is_rejected(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=WRONG)
    talk(chat, PORT, reply=RIGHT)
    assert rejected(ctx) == {WRONG}
    assert (WRONG in found(ctx), RIGHT in found(ctx)) == (False, True)


def test_one_that_failed_the_second_time_stays(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=RIGHT)
    chat.finish(chat.prepare([user(PORT)]), error="500")
    assert rejected(ctx) == set()
    assert RIGHT in found(ctx)


def test_all_answers_behind_the_point_that_was_gone_back_to_are_rejected(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=WRONG)
    for number in range(6):
        before = [text for n in range(number) for text in (f"Question {n}?", f"Reply {n}.")]
        talk(chat, PORT, WRONG, *before, f"Question {number}?", reply=f"Reply {number}.")
    talk(chat, PORT, reply=RIGHT)
    assert rejected(ctx) == {WRONG, *(f"Reply {number}." for number in range(6))}


def test_a_question_in_other_words_leaves_the_answer_to_the_first(ctx):
    chat = ctx.session("s")
    talk(chat, "Hello there.", reply="Hi.")
    talk(chat, "Hello there.", "Hi.", PORT, reply=WRONG)
    talk(chat, "Hello there.", "Hi.", f"{PORT} The new one.", reply=RIGHT)
    assert rejected(ctx) == {WRONG}


def test_who_goes_on_with_the_first_answer_has_it_back(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=RIGHT)
    talk(chat, PORT, reply=WRONG)
    talk(chat, PORT, RIGHT, "Thanks.", reply="You are welcome.")
    assert rejected(ctx) == {WRONG}
    assert RIGHT in found(ctx)


def test_what_was_learned_from_a_rejected_answer_goes_with_it(ctx):
    chat = ctx.session("s")
    done = "I've deployed the staging server to port 9000."
    talk(chat, "Deploy the staging server.", reply=done)
    assert ctx.store.query("local", Find(types=("note",)))
    talk(chat, "Deploy the staging server.", reply="I have no access.")
    assert ctx.store.query("local", Find(types=("note",))) == []
    chat.end()
    assert "9000" not in ctx.session("next").peek([user("Hello")]).context.text


def test_what_a_person_said_on_a_branch_was_said(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=WRONG)
    talk(chat, PORT, WRONG, "I prefer tea.", reply="Noted.")
    talk(chat, PORT, reply=RIGHT)
    assert [hit.text for hit in ctx.search("tea", kinds=["preference"])] == ["I prefer tea."]


@pytest.mark.parametrize(
    "before",
    [(), ("Answer like this.", "Like this.")],
    ids=["no history", "the same examples each time"],
)
def test_questions_that_have_no_history_reject_nothing(ctx, before):
    chat = ctx.session("s")
    for number in range(3):
        talk(chat, *before, f"Question {number}?", reply=f"Reply {number}.")
    assert rejected(ctx) == set()


def test_an_answer_that_looks_different_in_the_history_is_not_rejected(ctx):
    chat = ctx.session("s")
    talk(chat, PORT, reply=RIGHT)
    talk(chat, PORT, RIGHT.upper(), "Thanks.", reply="You are welcome.")
    assert rejected(ctx) == set()


def test_an_ordinary_conversation_rejects_nothing(ctx):
    chat = ctx.session("s")
    said: list[str] = []
    for number in range(8):
        said.append(f"Question {number}?")
        talk(chat, *said, reply=f"Reply {number}.")
        said.append(f"Reply {number}.")
    assert rejected(ctx) == set()
