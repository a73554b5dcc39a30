"""What an application does about compaction: it is told, it cuts, and it asks in its own words."""

from __future__ import annotations

import pytest

from ctxmw import Compaction, CompactionHooks, ContextMiddleware, InvalidValue

GOAL = "Fix the login. Never touch the schema."


def history(turns=20):
    said = [{"role": "user", "content": GOAL}, {"role": "assistant", "content": "Yes."}]
    for at in range(turns):
        said.append({"role": "user", "content": f"Question {at}. " + "More words here. " * 20})
        said.append({"role": "assistant", "content": f"Answer {at}. " + "And more of it. " * 20})
    return [*said, {"role": "user", "content": "And now?"}]


def opened(hooks, **options):
    return ContextMiddleware.open(":memory:", compaction_hooks=hooks, window=2_000, **options)


def texts(prepared):
    return [str(message["content"]) for message in prepared.messages]


def test_hooks_are_told_before_and_after():
    told = []
    hooks = CompactionHooks(before_compaction=told.append, after_compaction=told.append)
    with opened(hooks) as ctx:
        prepared = ctx.session("s").prepare(history())
        before, after = told
        assert before.leaving[0]["content"] == "Yes."
        assert (before.view, before.archived) == ("", ())
        assert before.tokens > 2_000 > after.tokens
        assert (after.session, after.user, after.view) == ("s", "local", prepared.context.view)
        assert len(after.archived) == len(before.leaving)
        assert ctx.get(after.archived)[0].text == "Yes."
        assert after.note in texts(prepared)[0] + texts(prepared)[1]
        assert prepared.compaction == after
        again = ctx.session("s").prepare(history())
        assert again.compaction is None
        assert len(told) == 2


def test_what_has_left_does_not_leave_again_and_is_not_put_to_a_cutter():
    told, put = [], []

    def the_older_half(messages, _):
        put.append([message["content"] for message in messages])
        return range(1, len(messages) // 2)

    hooks = CompactionHooks(before_compaction=told.append, cutter=the_older_half)
    with opened(hooks) as ctx:
        chat, given = ctx.session("s"), history(40)
        chat.prepare(given[:23])
        chat.prepare(given)
    first, *later = ([message["content"] for message in event.leaving] for event in told)
    assert later
    assert set(first).isdisjoint(*later)
    assert "Yes." in put[0]
    assert not any(text in put[-1] for text in first)


def test_a_hook_that_fails_stops_nothing_and_is_told():
    def fail(_):
        raise OSError("the disk is full")

    errors = []
    hooks = CompactionHooks(before_compaction=fail, after_compaction=fail, cutter=lambda *_: 1 / 0)
    with opened(hooks, on_error=lambda stage, error: errors.append((stage, str(error)))) as ctx:
        assert ctx.session("s").prepare(history()).context.view
    assert errors.count(("compaction", "the disk is full")) == 2
    assert ("compaction", "division by zero") in errors


def test_a_cutter_of_ones_own_says_what_leaves():
    def without_answers(messages, room):
        assert room < 2_000
        return [at for at, message in enumerate(messages) if message["role"] == "assistant"]

    policy = Compaction(trigger=0.9, target=0.8)
    with opened(CompactionHooks(cutter=without_answers), compaction=policy) as ctx:
        shown = texts(ctx.session("s").prepare(history(12)))
    assert not any(text.startswith("Answer") for text in shown)
    assert sum(text.startswith("Question") for text in shown) == 12


def test_a_cutter_tears_no_call_from_its_result_and_drops_nothing_that_must_stay():
    call = {"id": "c", "name": "look", "args": {}}
    given = history(12)
    given[4:4] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "seen"},
    ]
    with opened(CompactionHooks(cutter=lambda messages, _: range(len(messages)))) as ctx:
        compacted = ctx.session("s").compact(given)
    roles = [message["role"] for message in compacted.messages]
    assert "tool" not in roles
    assert compacted.messages[0]["content"].endswith(GOAL)
    assert compacted.messages[-1]["content"] == "And now?"


@pytest.mark.parametrize("chosen", [[99], ["0"], None])
def test_what_a_cutter_cannot_mean_is_not_done(chosen):
    with opened(CompactionHooks(cutter=lambda *_: chosen)) as ctx:
        assert ctx.session("s").compact(history()).status == "compacted"


def test_the_summarizer_is_asked_in_ones_own_words():
    asked = []

    def model(prompt):
        asked.append(prompt)
        return "They fixed the login."

    prompt = "Three lines at most, {words} words. Goal: {goal}\n{said}"
    with opened(CompactionHooks(summary_prompt=prompt), summarizer=model) as ctx:
        note = ctx.session("s").compact(history()).note
    assert asked[0].startswith("Three lines at most")
    assert f"Goal: {GOAL}" in asked[0]
    assert "They fixed the login." in note


@pytest.mark.parametrize(
    "wrong", [{"summary_prompt": "No place."}, {"summary_prompt": "{said} {else}"}, {"cutter": 3}]
)
def test_what_cannot_be_a_hook_is_refused(wrong):
    with pytest.raises(InvalidValue, match=next(iter(wrong))):
        CompactionHooks(**wrong)
