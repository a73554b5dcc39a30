"""A call fits the model's window, and what that takes is done once."""

from __future__ import annotations

from collections import Counter

import pytest

from ctxmw import Budget, Compaction, ContextMiddleware, memory_tools
from ctxmw.calls import prompt
from ctxmw.compaction import compact
from ctxmw.learning.policy import Learning
from ctxmw.search.search import Search
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure

MEASURE = Measure(counter_for())
WORK = [
    ("search", Search, "find"),
    ("stable", prompt, "build_stable"),
    ("stable", compact, "build_stable"),
    ("part", prompt, "build_part"),
]
ONCE = {"search": 1, "stable": 1, "part": 1}


def talk(turns):
    said = [{"role": "user", "content": "Plan the move to Oslo."}]
    for at in range(turns):
        said.append(
            {"role": "assistant", "content": f"Box {at} goes to shelf {at}. " + "Ok. " * 60}
        )
        said.append({"role": "user", "content": f"Question {at}: what about box {at}?"})
    return said


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", clock=FixedClock(), deadline=None) as opened:
        for number in range(30):
            opened.remember(f"Box {number} holds {number} masks of the zebra.", kind="fact")
        yield opened


@pytest.fixture
def done(monkeypatch):
    """Count how often the expensive work of a call is done."""
    counted = Counter()

    def counting(name, work):
        def count(*args, **options):
            counted[name] += 1
            return work(*args, **options)

        return count

    for name, owner, function in WORK:
        monkeypatch.setattr(owner, function, counting(name, getattr(owner, function)))
    return counted


def test_a_first_call_that_has_to_be_compacted_searches_and_chooses_once(ctx, done):
    prepared = ctx.session("s").prepare(talk(60), window=4_000)
    assert prepared.context.view
    assert done == ONCE


def test_a_later_call_that_has_to_be_compacted_searches_and_chooses_once(ctx, done):
    chat = ctx.session("s")
    chat.finish(chat.prepare(talk(3), window=4_000), "Fine.")
    done.clear()
    prepared = chat.prepare(talk(60), window=4_000)
    assert prepared.context.view
    assert prepared.context.epoch == 2
    assert done == ONCE


def test_a_call_within_a_turn_is_compacted_without_any_search(ctx, done):
    chat = ctx.session("s")
    given = talk(30)
    first = chat.prepare(given, window=8_000)
    assert not first.context.view
    done.clear()
    step = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "look"}]}
    output = {"role": "tool", "tool_call_id": "c", "content": "A line of it.\n" * 800}
    again = chat.prepare([*given, step, output], window=8_000)
    assert again.context.view
    assert again.context.part == first.context.part
    assert done == {"stable": 1}


def test_sources_of_ones_own_are_asked_once_in_a_call_that_is_compacted():
    asked = []

    class Asked:
        name = "tickets"

        def items(self, situation, /):
            asked.append(situation.query)
            return []

    with ContextMiddleware.open(":memory:", sources=[Asked()], deadline=None) as ctx:
        assert ctx.session("s").prepare(talk(60), window=4_000).context.view
    assert len(asked) == 1


def test_a_prompt_is_compacted_from_the_very_token_on_at_which_it_is_over_the_trigger(ctx, done):
    given = talk(200)
    size = MEASURE.messages(ctx.session("a").prepare(given).messages)
    policy = Compaction()
    fits = next(w for w in range(size, 2 * size) if int(policy.trigger * w) >= size)
    assert not ctx.session("b").prepare(given, window=fits).context.view
    done.clear()
    over = next(w for w in range(fits, 0, -1) if int(policy.trigger * w) < size)
    prepared = ctx.session("c").prepare(given, window=over)
    assert prepared.context.view, "only the part of the turn tips the scale"
    assert done["search"] == done["part"] == 2
    assert MEASURE.messages(prepared.messages) <= over


def test_no_token_is_over_a_window_that_may_be_filled_to_the_last():
    with ContextMiddleware.open(
        ":memory:", clock=FixedClock(), deadline=None, compaction=Compaction(trigger=1.0)
    ) as ctx:
        for number in range(30):
            ctx.remember(f"Box {number} holds {number} masks of the zebra.", kind="fact")
        given = talk(60)
        # Without a system prompt of the caller's, ours is a message more.
        size = MEASURE.messages(ctx.session("whole").prepare(given).messages)
        for window in range(size - 8, size + 1):
            prepared = ctx.session(f"in {window}").prepare(given, window=window)
            assert MEASURE.messages(prepared.messages) <= window
            assert bool(prepared.context.view) is (window < size)


def test_what_fits_is_planned_once(ctx, done):
    assert not ctx.session("s").prepare(talk(5), window=8_000).context.view
    assert done == ONCE


@pytest.mark.parametrize("window", [1_200, 2_000, 4_000, 8_000])
def test_a_conversation_that_grows_turn_by_turn_always_fits(ctx, window):
    chat = ctx.session("s", budget=Budget(total=1_000))
    given = talk(0)
    for at in range(40):
        prepared = chat.prepare(given, window=window)
        assert MEASURE.messages(prepared.messages) <= window
        reply = f"Box {at} goes to shelf {at}. " + "Ok. " * 90
        chat.finish(prepared, reply)
        given = [*given, {"role": "assistant", "content": reply}]
        given.append({"role": "user", "content": f"Question {at}: what about box {at}?"})
    assert ctx.stats()["compactions"] >= 1


@pytest.mark.parametrize("change", ["forget", "edit"])
def test_what_is_forgotten_or_edited_while_a_call_is_compacted_is_not_shown_as_it_was(change):
    changes = []

    def summarizer(prompt):
        while changes:
            changes.pop()()
        return "They pack."

    options = {"summarizer": summarizer, "deadline": None, "learn": Learning(summaries=False)}
    with ContextMiddleware.open(":memory:", **options) as ctx:
        kept = ctx.remember("Only Leonie has the code of the alarm.", kind="rule")
        gone, edited = (lambda: ctx.forget(kept.ref)), (lambda: ctx.edit(kept.ref, "Ask Ann."))
        changes.append(gone if change == "forget" else edited)
        prepared = ctx.session("s").prepare(talk(60), window=4_000)
        assert prepared.context.view
        assert not changes, "the note was made while it happened"
        assert "Leonie" not in str(prepared.messages)
        assert ("Ask Ann." in prepared.context.stable) == (change == "edit")


LONG = "The courier deadline is 16:00. " + "Parcels go by van to the depot in town. " * 40
GET = {"type": "function", "function": {"name": "mem_get", "parameters": {}}}
ASK = {"role": "user", "content": "When is the courier deadline?"}


@pytest.mark.parametrize(
    ("tools", "system", "told"),
    [
        (None, "", False),
        ([], "", False),
        ([{"name": "find_file"}], "", False),
        ([GET], "", True),
        ([{"name": "ctxmw_mem_search", "input_schema": {}}], "", True),
        ([], "You may call: mem_get(ids), find_file(name).", True),
    ],
)
def test_only_a_model_that_can_fetch_is_told_of_ids(tools, system, told):
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        (kept,) = ctx.session("old").capture([{"role": "user", "content": LONG}])
        said = [{"role": "system", "content": system}] if system else []
        chat = ctx.session("s1")
        context = chat.prepare([*said, ASK], tools=tools).context
        text = context.stable + context.part
        assert "16:00" in text
        assert (kept.ref in text) == told
        assert ("mem_search finds more" in text) == told


def test_where_no_tools_are_named_those_that_were_given_out_count():
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        (kept,) = ctx.session("old").capture([{"role": "user", "content": LONG}])
        memory_tools(ctx.session("s1"))
        assert kept.ref in ctx.session("s2").prepare([ASK]).context.part
        assert kept.ref in ctx.session("s2").peek([ASK]).context.part
        assert kept.ref not in ctx.session("s3").prepare([ASK], tools=[]).context.part


def test_a_prompt_that_cannot_be_made_to_fit_the_window_is_told_of_before_it_is_sent(caplog):
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        chat = ctx.session("s1")
        asked = [{"role": "user", "content": "word " * 900}]
        over = chat.prepare(asked, window=600).context
        assert over.over_window > 200
        assert chat.history()[-1].over_window == over.over_window
        assert f"over the model's window by {over.over_window} tokens" in over.explain()
        assert "over the model's window of 600" in caplog.text
        caplog.clear()
        assert ctx.session("s2").prepare(asked, window=2_000).context.over_window == 0
        assert caplog.text == ""
