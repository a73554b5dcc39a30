"""Epochs, replay, turns and finishing: what a conversation shows, and when it changes."""

from __future__ import annotations

import itertools

import pytest

from ctxmw import Budget, ContextMiddleware, InvalidValue
from ctxmw.testing import FixedClock

SYSTEM = {"role": "system", "content": "You help."}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def ctx(tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def chat(ctx):
    return ctx.session("s1", project="shop", language="python")


def say(chat, history, text, answer="Fine."):
    """Ask and answer once; return what was prepared and the history that follows."""
    asked = [*history, user(text)]
    prepared = chat.prepare(asked)
    chat.finish(prepared, answer)
    return prepared, [*asked, assistant(answer)]


# -- epochs ---------------------------------------------------------------------------------------


def test_the_stable_block_stays_the_same_while_memories_come_in(ctx, chat):
    ctx.remember("Prefer early returns.", kind="preference")
    first, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra rules apply to crossings.", kind="rule")
    second, _ = say(chat, history, "Something else")
    assert second.messages[0] == first.messages[0]
    assert second.context.epoch == 1
    assert "Zebra" not in second.context.text


def test_what_is_remembered_meanwhile_arrives_when_asked_for_and_not_twice(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    second, history = say(chat, history, "What about zebra crossings?")
    third, _ = say(chat, history, "And zebra crossings again?")
    assert "yellow light" in second.context.part
    assert "yellow light" not in third.context.part
    assert sum(str(m["content"]).count("yellow light") for m in third.messages) == 1


def test_forgetting_something_shown_takes_it_out_of_the_very_next_prompt(ctx, chat):
    pinned = ctx.remember("The vault code word is marmalade.", kind="rule")
    first, history = say(chat, [SYSTEM], "Hello there")
    assert "marmalade" in str(first.messages)
    ctx.forget(pinned.ref)
    second, _ = say(chat, history, "And now?")
    assert "marmalade" not in str(second.messages)
    assert second.context.epoch == 2


def test_forgetting_something_a_part_shows_takes_only_that_out_of_the_part(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    gone = ctx.remember("Zebra crossings need marmalade.", kind="fact")
    ctx.remember("Zebra crossings are striped.", kind="fact")
    second, history = say(chat, history, "What about zebra crossings?")
    assert "marmalade" in second.context.part
    ctx.forget(gone.ref)
    third, _ = say(chat, history, "Go on")
    assert "marmalade" not in str(third.messages)
    assert "striped" in str(third.messages)


def test_an_edit_of_something_shown_begins_a_new_epoch_and_shows_what_it_was(ctx, chat):
    ctx.remember("Deploys happen on Monday.", kind="rule", key="deploys")
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Deploys happen on Friday.", kind="rule", key="deploys")
    second, _ = say(chat, history, "Go on")
    assert "Deploys happen on Friday. (was: Deploys happen on Monday.)" in second.context.stable
    assert str(second.messages).count("Monday") == 1


def test_restating_something_shown_does_not_begin_a_new_epoch(ctx, chat):
    ctx.remember("Deploys happen on Monday.", kind="rule")
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("deploys happen on monday", kind="rule")
    second, _ = say(chat, history, "Go on")
    assert second.context.epoch == 1


@pytest.mark.parametrize(("minutes", "epoch"), [(29, 1), (30, 2)])
def test_thirty_idle_minutes_begin_a_new_epoch(ctx, chat, clock, minutes, epoch):
    _, history = say(chat, [SYSTEM], "Hello there")
    clock.advance(minutes=minutes)
    second, _ = say(chat, history, "Go on")
    assert second.context.epoch == epoch


def test_another_project_or_language_begins_a_new_epoch(ctx, chat):
    ctx.remember("The bank rounds half to even.", kind="decision", scope="project:bank")
    _, history = say(chat, [SYSTEM], "Hello there")
    moved = ctx.session("s1", project="bank")
    second, history = say(moved, history, "Go on")
    assert second.context.epoch == 2
    assert "half to even" in second.context.stable
    third, _ = say(ctx.session("s1", language="go"), history, "On")
    assert third.context.epoch == 3


def test_a_session_named_again_without_a_project_keeps_the_one_it_had(ctx, chat):
    ctx.remember("Prices are in cents.", kind="decision", scope="project:shop")
    _, history = say(chat, [SYSTEM], "Hello there")
    again, _ = say(ctx.session("s1"), history, "Go on")
    assert again.context.epoch == 1
    assert "cents" in again.context.stable


def test_refresh_begins_a_new_epoch_with_everything_known_by_then(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra rules apply.", kind="rule")
    chat.refresh()
    second, _ = say(chat, history, "Go on")
    assert second.context.epoch == 2
    assert "Zebra" in second.context.stable


def test_what_a_new_stable_block_shows_leaves_the_earlier_parts(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="rule")
    _, history = say(chat, history, "What about zebra crossings?")
    chat.refresh()
    third, _ = say(chat, history, "Go on")
    assert "yellow light" in third.context.stable
    assert sum(str(m["content"]).count("yellow light") for m in third.messages) == 1


def test_a_record_counts_what_came_since_another_conversation_opened_with_the_same(ctx, clock):
    for number in range(120):
        ctx.remember(f"Rule {number}.", kind="preference")
    first = ctx.session("s1", budget=Budget(total=300)).prepare([user("Hello.")]).context
    clock.advance(days=-400)
    ctx.remember("A fact that is too old to be shown.")
    clock.advance(days=400)
    second = ctx.session("s2", budget=Budget(total=300)).prepare([user("Hello.")]).context
    assert second.stable == first.stable
    assert sum(second.left_out.values()) == sum(first.left_out.values()) + 1


def test_a_conversation_reopens_in_a_new_epoch(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    chat.end("Said hello.")
    second, _ = say(chat, history, "Back again")
    assert second.context.epoch == 2


# -- replay ---------------------------------------------------------------------------------------


def test_earlier_parts_come_back_to_the_byte_though_the_history_is_sent_without_them(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    second, history = say(chat, history, "What about zebra crossings?")
    third, _ = say(chat, history, "Go on")
    assert third.messages[: len(second.messages)] == second.messages
    assert third.context.prefix_share > 0.5


def test_messages_sent_back_with_our_text_in_them_are_recognised(ctx, chat):
    ctx.remember("Zebra crossings need a yellow light.", kind="rule")
    first = chat.prepare([SYSTEM, user("What about zebra crossings?")])
    chat.finish(first, "Fine.")
    second = chat.prepare([*first.messages, assistant("Fine."), user("Go on")])
    assert str(second.messages).count("<ctxmw>") == str(first.messages).count("<ctxmw>")
    assert second.given[0] == SYSTEM


def test_a_frame_that_the_user_pasted_stays_the_users_text(ctx, chat):
    pasted = "<ctxmw>\nmy own words\n</ctxmw>\n and more"
    prepared = chat.prepare([user(pasted)])
    assert prepared.messages[-1]["content"].endswith(pasted)


def test_two_branches_of_one_conversation_keep_their_own_parts(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    left, left_history = say(chat, history, "What about zebra crossings?")
    right, right_history = say(chat, history, "Tell me about zebra crossings, please")
    assert "yellow light" in left.context.part
    assert "yellow light" in right.context.part
    again, _ = say(chat, left_history, "Go on")
    assert again.messages[: len(left.messages)] == left.messages
    other, _ = say(chat, right_history, "Go on")
    assert other.messages[: len(right.messages)] == right.messages


def test_after_an_edit_of_the_history_what_was_shown_can_be_shown_again(ctx, chat):
    ctx.remember("Zebra crossings need a yellow light.", kind="fact", scope="project:shop")
    chat.remove(ctx.search("zebra")[0].ref)
    chat.add(ctx.search("zebra")[0].ref)
    first, _ = say(chat, [SYSTEM], "Hello there")
    assert "yellow light" in first.context.stable


def test_a_history_that_was_cut_short_keeps_the_parts_of_what_is_left(ctx, chat):
    history = [SYSTEM]
    _, history = say(chat, history, "Hello there", "Hello yourself.")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    _second, history = say(chat, history, "What about zebra crossings?", "They need light.")
    cut = [SYSTEM, *history[2:], user("Go on with the zebra crossings")]
    third = chat.prepare(cut)
    assert sum(str(m["content"]).count("yellow light") for m in third.messages) == 1


def test_a_repeated_question_is_a_new_turn_and_shows_nothing_twice(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    _, history = say(chat, history, "What about zebra crossings?")
    third, _ = say(chat, history, "What about zebra crossings?")
    assert sum(str(m["content"]).count("yellow light") for m in third.messages) == 1


def test_replayed_parts_are_dropped_in_one_go_down_to_half_the_cap(tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock, window=2_000) as ctx:
        chat = ctx.session("s1")
        history = [SYSTEM]
        _, history = say(chat, history, "Hello there")
        replayed = []
        for number in range(20):
            word = f"topic{number}x"
            ctx.remember(f"{word} " + "means a lot of things to many people " * 4, kind="fact")
            prepared, history = say(chat, history, f"What is {word}?")
            assert word in prepared.context.part
            replayed.append(prepared.context.replayed_tokens)
        assert max(replayed) <= 500
        drops = [before - after for before, after in itertools.pairwise(replayed)]
        assert sum(drop > 0 for drop in drops) in range(2, 10)
        assert max(drops) > 150


# -- turns ----------------------------------------------------------------------------------------


def test_retries_and_tool_loops_build_once(ctx, chat):
    _, history = say(chat, [SYSTEM], "Hello there")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    asked = [*history, user("What about zebra crossings?")]
    first = chat.prepare(asked)
    chat.finish(first, error="timeout")
    ctx.remember("Zebra crossings also need paint.", kind="fact")
    retry = chat.prepare(asked)
    assert retry.messages == first.messages
    call = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "name": "f", "args": {}}],
    }
    chat.finish(retry, call)
    looped = [*asked, call, {"role": "tool", "tool_call_id": "c1", "content": "42"}]
    again = chat.prepare(looped)
    assert again.messages[: len(asked)] == first.messages
    assert again.context.turn == first.context.turn
    chat.finish(again, "Done.")
    states = [record.state for record in chat.history()]
    assert states == ["answered", "failed", "answered", "answered"]


def test_the_answer_closes_the_turn_so_the_same_question_may_bring_something_new(ctx, chat):
    asked = [SYSTEM, user("What about zebra crossings?")]
    first = chat.prepare(asked)
    chat.finish(first, "Nothing known.")
    ctx.remember("Zebra crossings need a yellow light.", kind="fact")
    assert "yellow light" in chat.prepare(asked).context.part


def test_a_call_that_is_never_finished_counts_as_abandoned(ctx, chat):
    prepared = chat.prepare([user("Hello there")])
    assert chat.history()[-1].state == "built"
    chat.finish(prepared)
    assert chat.history()[-1].state == "abandoned"


def test_finishing_twice_changes_nothing(ctx, chat):
    prepared = chat.prepare([user("Hello there")])
    once = chat.finish(prepared, "Hi.")
    twice = chat.finish(prepared, "Something else.")
    assert once == twice
    assert [hit.text for hit in ctx.search("hi hello")] != []


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"error": ValueError("HTTP 500")}, r"error is ValueError.*str\(error\)"),
        ({"error": 500}, "error is 500"),
        ({"reply": {"role": "user", "content": "Yes."}}, "has the role assistant"),
        ({"reply": 5}, "reply is 5: give the answer's text"),
        ({"reply": "Yes.", "capture": "no"}, "capture is 'no': give True or False"),
    ],
)
def test_finish_refuses_what_is_no_answer_and_the_call_can_still_be_finished(chat, wrong, told):
    prepared = chat.prepare([{"role": "user", "content": "Is it done?"}])
    with pytest.raises(InvalidValue, match=told):
        chat.finish(prepared, **wrong)
    assert chat.finish(prepared, "Yes.").state == "answered"


def test_finish_refuses_what_prepare_did_not_return(chat):
    with pytest.raises(InvalidValue, match="prepare"):
        chat.finish("text", "reply")


# -- what was said --------------------------------------------------------------------------------


def test_what_was_said_is_captured_once_and_found_from_another_conversation(ctx, chat):
    say(chat, [SYSTEM], "My cat is called Miso.", "What a lovely name.")
    other = ctx.session("s2", project="shop")
    prepared = other.prepare([user("What is my cat called?")])
    assert "Miso" in prepared.context.text
    said = [hit.text for hit in ctx.search("cat Miso") if hit.record.type == "turn"]
    assert said.count("My cat is called Miso.") == 1


def test_turns_that_the_caller_sends_along_are_not_brought_again(ctx, chat):
    _, history = say(chat, [SYSTEM], "My cat is called Miso.", "What a lovely name.")
    second, _ = say(chat, history, "What is my cat called?")
    assert "Miso" not in second.context.part


def test_capture_keeps_speaker_time_and_id_and_is_idempotent(ctx, clock):
    chat = ctx.session("talk")
    said = [
        {"role": "user", "content": "I moved to Lisbon.", "name": "Ada", "id": "x1",
         "at": "2026-01-05T10:00:00+00:00"},
        {"role": "assistant", "content": "How is it?"},
    ]  # fmt: skip
    turns = chat.capture(said)
    assert [turn.speaker for turn in turns] == ["Ada", ""]
    assert turns[0].at.year == 2026
    assert turns[0].at.month == 1
    assert turns[1].at == clock.now
    assert chat.capture(said) == []
    (hit,) = ctx.search("Lisbon")
    assert hit.record.message_id == "x1"


def test_secrets_are_redacted_before_they_are_stored(ctx, chat, tmp_path):
    key = "sk-proj-" + "a1B2c3D4" * 6
    say(chat, [SYSTEM], f"Use {key} for now", "Noted.")
    ctx.remember(f"The key is {key}", kind="fact")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in stored


def test_why_finds_the_record_of_an_answer_by_text_or_id(ctx, chat):
    ctx.remember("Deploys happen on Monday.", kind="rule")
    prepared = chat.prepare([user("When do we deploy?")])
    chat.finish(prepared, {"role": "assistant", "content": "On Monday.", "id": "run-7"})
    for asked in ("On Monday.", "run-7", prepared.context.ref):
        record = ctx.why(asked)
        assert record.ref == prepared.context.ref
        assert record.text == prepared.context.text
    assert ctx.why("never said") is None


def test_a_part_is_only_as_large_as_its_budget(ctx):
    chat = ctx.session("s1", budget=Budget(total=600))
    for number in range(30):
        ctx.remember(f"Zebra fact {number} about crossings and lights and paint.", kind="fact")
    prepared = chat.prepare([user("Tell me about zebra crossings")])
    assert prepared.context.tokens <= 600


def test_a_step_is_recorded_as_answered_and_is_nothing_that_was_said(ctx, chat):
    prepared = chat.prepare([user("How are tokens signed?")])
    record = chat.finish(prepared, "Thought: I look it up.", capture=False)
    assert (record.state, record.reply) == ("answered", "")
    assert ctx.why("Thought: I look it up.").ref == record.ref
    found = ctx.search("tokens signed thought", kinds=["turn"])
    assert [hit.text for hit in found] == ["How are tokens signed?"]


def test_what_was_asked_before_does_not_stand_in_the_way_of_the_answer(ctx, chat):
    asked = "Which port does the staging database listen on, and who may connect to it?"
    _, history = say(chat, [SYSTEM], asked)
    ctx.remember("Staging port: 6543.", kind="fact")
    again, _ = say(chat, history, asked)
    assert "6543" in again.context.part


def test_a_question_that_was_asked_elsewhere_does_not_come_back_to_itself(ctx):
    asked = "Where should AuthService check the token?"
    first = ctx.session("first")
    first.finish(first.prepare([user(asked)]), "In AuthService.verify().")
    ctx.session("unfinished").prepare([user(asked)])
    later = ctx.session("later").prepare([user(asked)])
    assert "In AuthService.verify()." in later.context.part
    assert asked not in later.context.part
