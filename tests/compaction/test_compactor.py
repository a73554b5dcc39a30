"""Compaction: what stays in view, what is archived, and that nothing is ever lost."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw import (
    Budget,
    Compaction,
    ContextMiddleware,
    InvalidValue,
    memory_tools,
)
from ctxmw.learning.policy import Learning
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure
from ctxmw.values.messages import BRIDGE
from tests.support.exploring import cases
from tests.support.histories import MARK, histories, mark_of

WINDOWS = st.integers(300, 2_000)


def quick(text: str) -> int:
    """Count without a tokenizer; sums of parts are not exact, and need not be."""
    return (len(text) + 3) // 4


class Conversations:
    """A memory, and a new conversation for every case."""

    def __init__(self) -> None:
        nothing = Learning(statements=False, observations=False, summaries=False)
        options = {"count": quick, "clock": FixedClock(), "learn": nothing, "deadline": None}
        self.ctx = ContextMiddleware.open(":memory:", user=None, **options)
        self._made = 0

    def new(self):
        self._made += 1
        return self.ctx.session("s", user=f"u{self._made}")


@pytest.fixture(scope="module")
def conversations():
    made = Conversations()
    yield made
    made.ctx.close()


@pytest.fixture
def chat(conversations):
    return conversations.new()


# -- invariants -----------------------------------------------------------------------------------


@settings(max_examples=cases(500, explored=3_000))
@given(x=histories, window=WINDOWS)
def test_every_invariant_holds_for_any_history(conversations, x, window):
    chat = conversations.new()
    r = chat.compact(x, window=window)
    changed = bool(r.archived or r.cleared)
    under = r.tokens_before <= int(0.85 * window)
    assert not (under and changed), "a history that fits is left alone"
    if not changed:
        assert r.messages == x
        assert r.tokens_after == r.tokens_before
        over = "over_window" if r.tokens_after > window else "over_target"
        assert r.status == ("unchanged" if under else over)
        return
    assert r.tokens_after < r.tokens_before
    assert (r.tokens_after <= window // 2) == (r.status == "compacted")
    assert (r.tokens_after > window) == (r.status == "over_window")
    assert_compaction_makes_no_neighbours_of_one_role(r.messages, x)
    assert_calls_and_results_stay_together(r.messages, x)
    assert_what_must_stay_stays(r, x)
    assert_nothing_is_lost(records_of(conversations, chat), r, x)
    again = chat.compact(r.messages, window=window)
    assert again.messages == r.messages, "compacting twice is compacting once"
    assert again.archived == r.archived
    whole = chat.compact(x, window=window)
    assert whole.messages == r.messages, "the view of the whole history is kept"


def assert_compaction_makes_no_neighbours_of_one_role(kept, x):
    said = [message for message in kept if message["role"] != "system"]
    theirs = [mark_of(message) for message in x if message["role"] != "system"]
    for one, next_ in pairwise(said):
        if one["role"] == next_["role"] != "tool":
            at = theirs.index(mark_of(one))
            assert theirs[at + 1] == mark_of(next_), "the caller had them so"


def assert_calls_and_results_stay_together(kept, x):
    called = [call["id"] for message in kept for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in kept if message["role"] == "tool"]
    waiting = {call["id"] for message in x for call in message.get("tool_calls", ())} - {
        message["tool_call_id"] for message in x if message["role"] == "tool"
    }
    assert set(answered) <= set(called), "no result without its call"
    assert set(called) - set(answered) <= waiting, "no call without its result"
    assert waiting <= set(called), "a call that waits for its result is not touched"


def assert_what_must_stay_stays(r, x):
    kept = [message for message in said_in(r) if message["role"] != "system"]
    users = [message for message in x if message["role"] == "user"]
    first_pin = next((m for m in x if m["role"] != "system" and m.get("pinned")), None)
    if first_pin is None:
        assert kept[0]["role"] == "user"
    goal = next(message for message in kept if message["role"] == "user")
    assert goal["content"] == f"{r.note}\n{users[0]['content']}"
    if len(users) > 1:
        assert users[-1] in kept
    assert [m for m in r.messages if m["role"] == "system"] == [
        m for m in x if m["role"] == "system"
    ]
    marks = [mark_of(message) for message in kept]
    for message in x:
        if message.get("pinned") and message is not users[0]:
            assert message in kept
    order = [mark_of(message) for message in x if mark_of(message) in marks]
    assert marks == order


def said_in(r):
    return [message for message in r.messages if message["content"] != BRIDGE]


def records_of(conversations, chat):
    return lambda refs: conversations.ctx.get(refs, user=chat.user)


def assert_nothing_is_lost(get, r, x):
    kept = {mark_of(message) for message in said_in(r)}
    archived = [MARK.findall(record.says())[-1] for record in get(r.archived)]
    everything = [mark_of(message) for message in x]
    assert sorted([*kept, *archived]) == sorted(everything), "kept or archived, and never both"
    cleared = {MARK.findall(record.says())[-1]: record for record in get(r.cleared)}
    for message in x:
        if message["role"] == "tool" and message not in r.messages and mark_of(message) in kept:
            assert cleared[mark_of(message)].text == message["content"]
    assert not any("<ctxmw>" in record.says() for record in get(r.archived))


@settings(max_examples=60)
@given(x=histories, window=WINDOWS)
def test_what_was_archived_is_found_by_its_id_and_by_a_rare_word(conversations, x, window):
    chat = conversations.new()
    r = chat.compact(x, window=window)
    search, get, *_ = memory_tools(chat)
    for record in records_of(conversations, chat)([*r.archived[:3], *r.cleared[:2]]):
        rare = MARK.findall(record.says())[-1]
        assert rare in get(ids=[record.ref])
        answer = search(query=rare)
        # What is cut down may be in view but for a line.
        shown = [r.note, *(message["content"] for message in said_in(r))]
        assert rare in answer.replace("…", "") or record.ref in answer or rare in str(shown)


@settings(max_examples=150)
@given(x=histories, window=WINDOWS)
def test_between_two_compactions_the_beginning_of_the_prompt_does_not_change(
    conversations, x, window
):
    chat = conversations.new()
    r = chat.compact(x, window=window)
    grown = [*x, {"role": "assistant", "content": "Done."}]
    whole = chat.compact(grown, window=window)
    if not r.archived or whole.archived != r.archived or r.status == "over_window":
        return  # what is over the window is made smaller as soon as it can be
    assert whole.messages == [*r.messages, grown[-1]]
    continued = chat.compact([*r.messages, grown[-1]], window=window)
    assert continued.messages == whole.messages


# -- what a caller sees ---------------------------------------------------------------------------


def talk(turns, size=60):
    """A conversation without tools: so many questions and answers after the goal."""
    said = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Plan the move to Oslo. Never book flights on Sundays."},
        {"role": "assistant", "content": "Gladly."},
    ]
    for at in range(turns):
        said.append({"role": "user", "content": f"Question {at}: what about box {at}?"})
        said.append(
            {"role": "assistant", "content": f"Box {at} goes to shelf {at}. " + "Ok. " * size}
        )
    return said


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def test_prepare_compacts_by_itself_when_the_window_is_known_and_sends_the_same_view_again(ctx):
    chat = ctx.session("s")
    prepared = chat.prepare([*talk(60), {"role": "user", "content": "Go on."}], window=4_000)
    assert len(prepared.messages) < 40
    assert prepared.context.view
    chat.finish(prepared, "Fine.")
    longer = [*prepared.given, {"role": "assistant", "content": "Fine."}]
    again = chat.prepare([*longer, {"role": "user", "content": "And now?"}], window=4_000)
    assert again.messages[: len(prepared.messages) - 1] == prepared.messages[:-1]
    assert again.context.view == prepared.context.view
    assert again.context.prefix_share > 0.9
    assert ctx.stats()["compactions"] == 1


def test_a_compaction_begins_a_new_epoch_and_drops_earlier_parts(ctx):
    ctx.remember("Box 3 holds the zebra mask.", kind="fact")
    chat = ctx.session("s")
    history = [*talk(5), {"role": "user", "content": "Where is the zebra mask?"}]
    first = chat.prepare(history)
    chat.finish(first, "In box 3.")
    longer = [*history, {"role": "assistant", "content": "In box 3."}, *talk(60)[2:]]
    second = chat.prepare([*longer, {"role": "user", "content": "Go on."}], window=4_000)
    assert second.context.epoch == first.context.epoch + 1
    assert second.context.replayed_tokens == 0


def test_a_full_memory_leaves_a_small_window_to_the_conversation(ctx):
    for number in range(120):
        ctx.remember(f"Box {number} is kept by Ann and holds {number} books on ships.", kind="rule")
    chat, measure = ctx.session("s"), Measure(counter_for())
    assert chat.prepare([{"role": "user", "content": "Hello."}]).context.tokens > 1_000
    history = []
    for question in (f"Question {at}: who keeps box {at}, and what is in it?" for at in range(20)):
        history.append({"role": "user", "content": question})
        prepared = chat.prepare(history, window=2_000)
        assert prepared.context.tokens <= prepared.context.limit == 500
        assert prepared.context.replayed_tokens <= 500
        assert measure.messages(prepared.messages) < 2_000
        chat.finish(prepared, "Ann does. " + "Ok. " * 40)
        history.append({"role": "assistant", "content": "Ann does. " + "Ok. " * 40})


def test_automatic_compaction_can_be_switched_off():
    off = Compaction(automatic=False)
    with ContextMiddleware.open(":memory:", window=4_000, compaction=off) as ctx:
        given = [*talk(60), {"role": "user", "content": "Go on."}]
        assert len(ctx.session("s").prepare(given).messages) == len(given)


def test_the_tools_on_offer_count(ctx):
    given = talk(40)
    schema = {"name": "book", "description": "Book a van. " * 400}
    size = ctx.session("a").compact(given, window=100_000).tokens_before
    window = int(size / 0.8)
    assert ctx.session("b").compact(given, window=window).status == "unchanged"
    assert ctx.session("c").compact(given, window=window, tools=[schema]).status == "compacted"


def test_going_on_with_the_compacted_messages_and_compacting_again_keeps_all_ids(ctx):
    chat = ctx.session("s")
    first = chat.compact(talk(60), window=4_000)
    grown = [*first.messages, *talk(60)[3:]]
    second = chat.compact(grown, window=4_000)
    assert second.archived[: len(first.archived)] == first.archived
    assert second.messages[1]["content"].count("<ctxmw>") == 1
    said = {record.says() for record in ctx.get(second.archived)}
    assert {message["content"] for message in grown if message not in second.messages} <= said | {
        first.messages[1]["content"]
    }
    assert "Box 0 goes to shelf 0." in chat.on_demand.get([second.archived[2]])


def test_forgetting_an_archived_turn_takes_its_line_out_of_the_note(ctx):
    chat = ctx.session("s")
    given = talk(60)
    given[3] = {"role": "user", "content": "We decided that Leonie carries the piano."}
    compacted = chat.compact(given, window=4_000)
    assert "Leonie carries the piano" in compacted.note
    [ref] = [r.ref for r in ctx.get(compacted.archived) if "Leonie" in r.says()]
    ctx.forget(ref)
    prepared = chat.prepare(compacted.messages)
    assert "Leonie" not in str(prepared.messages)
    again = chat.prepare(list(prepared.messages))
    assert again.messages == prepared.messages


def test_what_was_forgotten_does_not_come_back_though_the_caller_still_sends_it(ctx):
    chat = ctx.session("s")
    given = talk(60)
    given[3] = {"role": "user", "content": "Leonie carries the piano."}
    [turn] = [turn for turn in chat.capture(given) if "Leonie" in turn.says()]
    ctx.forget(turn.ref)
    compacted = chat.compact(given, window=4_000)
    assert compacted.archived
    assert "Leonie" not in str(compacted.messages)
    assert not any("Leonie" in record.says() for record in ctx.get(compacted.archived))


def test_the_memory_adds_a_little_that_the_stable_block_does_not_show(ctx):
    for number in range(30):
        earlier = ctx.session(f"earlier{number}")
        earlier.capture([{"role": "user", "content": f"Box {number} of the move to Oslo."}])
        earlier.end(f"Packed box {number} for the move to Oslo. " + "It took a while. " * 8)
    chat = ctx.session("s", budget=Budget(total=800))
    prepared = chat.prepare([*talk(60), {"role": "user", "content": "Go on."}], window=6_000)
    note = chat.compact(prepared.messages, window=6_000).note
    stable = prepared.context.stable
    shown = [number for number in range(30) if f"Packed box {number} for" in note]
    assert 0 < len(shown) <= 13, "three summaries and ten lines of an index"
    assert not any(f"Packed box {number} for" in stable for number in shown)


def test_the_archive_is_read_page_by_page_under_one_id(ctx):
    chat = ctx.session("s")
    compacted = chat.compact(talk(60), window=4_000)
    ref = chat.prepare(compacted.messages).context.view
    page = chat.on_demand.get([ref])
    assert "Gladly." in page
    assert "There is more: mem_get" in page


def test_a_summary_opens_the_note_and_is_capped():
    asked = []

    def summarizer(prompt):
        asked.append(prompt)
        return "They pack boxes for Oslo. " * 2_000

    with ContextMiddleware.open(":memory:", summarizer=summarizer) as ctx:
        compacted = ctx.session("s").compact(talk(60), window=4_000)
        assert "Summary: They pack boxes for Oslo." in compacted.note
        assert compacted.tokens_after <= 2_000
        assert "Plan the move to Oslo." in asked[0]


def test_secrets_do_not_reach_the_archive(ctx):
    given = talk(60)
    given[5] = {"role": "user", "content": "The key is sk-abcdefghijklmnopqrstuvwxyz123456."}
    compacted = ctx.session("s").compact(given, window=4_000)
    assert "sk-abc" not in compacted.note
    assert not any("sk-abc" in record.says() for record in ctx.get(compacted.archived))


def test_other_branches_do_not_get_the_view(ctx):
    chat = ctx.session("s")
    chat.compact(talk(60), window=4_000)
    branch = [*talk(1), {"role": "user", "content": "Something else."}]
    assert "archived" not in str(chat.prepare(branch).messages)


@pytest.mark.parametrize("window", [0, -1, 2.5, True, "8k"])
def test_a_window_that_is_none_is_refused(ctx, window):
    with pytest.raises(InvalidValue, match="window is"):
        ctx.session("s").compact(talk(1), window=window)


def test_without_a_window_compact_says_what_to_give(ctx):
    with pytest.raises(InvalidValue, match="give window="):
        ctx.session("s").compact(talk(1))


@pytest.mark.parametrize("given_", [{"target": 0.9}, {"trigger": 1.5}, {"note": -1}])
def test_shares_that_make_no_sense_are_refused(given_):
    with pytest.raises(InvalidValue, match="Compaction has"):
        Compaction(**given_)


# -- small windows --------------------------------------------------------------------------------


def called(*outputs):
    """A question, and tools that were called at once for it."""
    calls = [{"id": f"c{at}", "name": "look", "args": {}} for at in range(len(outputs))]
    return [
        {"role": "user", "content": "Look at all of them."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": f"c{at}", "name": "look", "content": text}
            for at, text in enumerate(outputs)
        ),
    ]


def test_outputs_that_were_not_read_yet_share_the_room_that_is_free(chat):
    outputs = [f"begin {at}\n" + "word and word\n" * 450 for at in range(6)]
    compacted = chat.compact(called("short", *outputs), window=8_000)
    assert compacted.tokens_before > 8_000
    assert 6_000 < compacted.tokens_after <= 8_000
    short, *cut = [m["content"] for m in compacted.messages if m["role"] == "tool"]
    assert short == "short"
    assert max(map(len, cut)) < 1.1 * min(map(len, cut))
    assert all(f"begin {at}" in text for at, text in enumerate(cut))


def test_one_line_of_json_fills_the_room_and_stays_json(chat):
    orders = {"status": "ok", "orders": [{"id": at, "buyer": f"B{at}"} for at in range(2_000)]}
    compacted = chat.compact(called(json.dumps(orders)), window=8_000)
    left = json.loads(compacted.messages[-1]["content"])
    assert left["status"] == "ok"
    assert left["orders"][:100] == orders["orders"][:100]
    assert f'mem_get with ids ["{compacted.cleared[0]}"]' in left["..."]
    assert 5_000 < compacted.tokens_after <= 8_000


def test_what_was_read_gives_way_to_what_was_not(chat):
    old, *rest = called("old\n" * 900)
    answer = {"role": "assistant", "content": "I have read it."}
    history = [old, *rest, answer, *called("new word\n" * 2_000)[1:]]
    for message in history[-2:]:
        message["tool_call_id"] = "d"
    history[-2] = {**history[-2], "tool_calls": [{"id": "d", "name": "look", "args": {}}]}
    compacted = chat.compact(history, window=4_000)
    assert compacted.messages[-1]["content"].count("new word") > 500


def test_a_prompt_that_cannot_fit_is_told_before_it_is_sent(chat, caplog):
    history = [
        {"role": "user", "content": "word " * 3_000},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "And now?"},
    ]
    assert chat.compact(history, window=2_000).status == "over_window"
    assert "more than the window of 2000 tokens" in caplog.text


@pytest.mark.parametrize("alternate", [True, False])
def test_two_questions_that_became_neighbours_have_a_line_between_them_unless_told(alternate):
    policy = Compaction(alternate=alternate)
    history = [
        {"role": role, "content": f"{role} {at} " + "word " * 60}
        for at in range(20)
        for role in ("user", "assistant")
    ]
    history.append({"role": "user", "content": "The last one. " + "word " * 200})
    with ContextMiddleware.open(":memory:", count=quick, compaction=policy, window=900) as ctx:
        sent = ctx.session("s").prepare(history).messages
        again = ctx.session("s").prepare(sent).messages
    roles = [message["role"] for message in sent if message["role"] != "system"]
    assert any(one == other for one, other in pairwise(roles)) is not alternate
    assert again == sent


@pytest.mark.parametrize("goes_on_with", ["the whole history", "what was sent"])
def test_a_question_put_in_other_words_has_the_line_before_it_too(goes_on_with):
    asked = {"role": "user", "content": "Where is the zebra?"}
    called = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "read"}]}
    output = {"role": "tool", "tool_call_id": "c", "content": "grass " * 900}
    told = {"role": "assistant", "content": "In none of them. " * 20}
    history = [asked, called, output, told, {"role": "user", "content": "And the lion? " * 60}]
    with ContextMiddleware.open(":memory:", count=quick, window=900) as ctx:
        chat = ctx.session("s")
        sent = chat.prepare(history).messages
        assert [one["role"] for one in sent] == ["user", "assistant", "user"]
        begun = sent if goes_on_with == "what was sent" else history
        edited = [*begun[:-1], {"role": "user", "content": "Or the ape? " * 60}]
        again = chat.prepare(edited).messages
    assert [one["role"] for one in again] == ["user", "assistant", "user"]
    assert again[1] == sent[1]
