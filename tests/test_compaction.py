"""Compaction: what stays in view, what is archived, and that nothing is ever lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw import ContextMiddleware, memory_tools
from ctxmw.testing import FixedClock
from tests.histories import MARK, histories, mark_of

WINDOWS = st.integers(300, 2_000)


def quick(text: str) -> int:
    """Count without a tokenizer; sums of parts are not exact, and need not be."""
    return (len(text) + 3) // 4


class Conversations:
    """A memory, and a new conversation for every case."""

    def __init__(self) -> None:
        self.ctx = ContextMiddleware.open(":memory:", user=None, count=quick, clock=FixedClock())
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


@settings(max_examples=3_000)
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
        assert r.status == ("unchanged" if under else "over_target")
        return
    assert r.tokens_after < r.tokens_before
    assert (r.tokens_after <= window // 2) == (r.status == "compacted")
    assert_calls_and_results_stay_together(r.messages, x)
    assert_what_must_stay_stays(r, x)
    assert_nothing_is_lost(records_of(conversations, chat), r, x)
    again = chat.compact(r.messages, window=window)
    assert again.messages == r.messages, "compacting twice is compacting once"
    assert again.archived == r.archived
    whole = chat.compact(x, window=window)
    assert whole.messages == r.messages, "the view of the whole history is kept"


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
    kept = [message for message in r.messages if message["role"] != "system"]
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


def records_of(conversations, chat):
    return lambda refs: conversations.ctx.get(refs, user=chat.user)


def assert_nothing_is_lost(get, r, x):
    kept = {mark_of(message) for message in r.messages}
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
    search, get, _ = memory_tools(chat)
    for record in records_of(conversations, chat)([*r.archived[:3], *r.cleared[:2]]):
        rare = MARK.findall(record.says())[-1]
        assert rare in get(ids=[record.ref])
        answer = search(query=rare)
        assert rare in answer.replace("…", "") or record.ref in answer or rare in r.note


@settings(max_examples=150)
@given(x=histories, window=WINDOWS)
def test_between_two_compactions_the_beginning_of_the_prompt_does_not_change(
    conversations, x, window
):
    chat = conversations.new()
    r = chat.compact(x, window=window)
    grown = [*x, {"role": "assistant", "content": "Done."}]
    whole = chat.compact(grown, window=window)
    if not r.archived or whole.archived != r.archived:
        return
    assert whole.messages == [*r.messages, grown[-1]]
    continued = chat.compact([*r.messages, grown[-1]], window=window)
    assert continued.messages == whole.messages
