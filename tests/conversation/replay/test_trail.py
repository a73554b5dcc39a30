from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware
from ctxmw.conversation.replay.trail import (
    KNOWN_TURNS,
    Parts,
    Places,
    find_places,
    first_stood,
    over_cap,
    trail_of,
    with_stood,
)
from ctxmw.conversation.state import PartRef
from ctxmw.testing import FixedClock
from ctxmw.values.messages import Message

SYSTEM = {"role": "system", "content": "You are helpful."}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


TALK = [user("one"), answer("1"), user("two"), answer("2"), user("three")]


def part(messages: Sequence[Message], shows: str = "", order: int = 0, tokens: int = 10) -> PartRef:
    """Return a part that was built for the last user message of this history."""
    trail = trail_of(messages)
    assert trail.last is not None
    return PartRef(
        anchor=trail.turn,
        local=trail.locals[trail.last],
        build=f"b{order}",
        hash=f"hash{order}",
        tokens=tokens,
        shows=dict.fromkeys(shows.split(), "v1"),
        order=order,
    )


def places(parts: Sequence[PartRef], messages: Sequence[Message]) -> dict[int, list[str]]:
    found = find_places(parts, trail_of(messages))
    return {at: [one.build for one in stand] for at, stand in found.items()}


# --- the trail of a history ---


def test_all_calls_of_a_turn_share_its_hash() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "look"}]}
    result = {"role": "tool", "content": "a cat", "tool_call_id": "c1"}
    turn = trail_of(TALK).turn
    assert trail_of([*TALK, call]).turn == turn
    assert trail_of([*TALK, call, result]).turn == turn


def test_another_question_is_another_turn_and_so_is_the_same_one_asked_again() -> None:
    assert trail_of([*TALK, user("four")]).turn != trail_of(TALK).turn
    assert trail_of([*TALK, answer("3"), user("three")]).turn != trail_of(TALK).turn
    assert trail_of([user("zero"), *TALK[1:]]).turn != trail_of(TALK).turn


def test_system_messages_make_no_difference() -> None:
    plain, led = trail_of(TALK), trail_of([SYSTEM, *TALK, SYSTEM])
    assert led.turn == plain.turn
    assert led.anchors[1:-1] == plain.anchors
    assert led.locals[1:-1] == plain.locals
    assert led.last == 5


def test_a_history_without_user_or_without_anything_has_a_turn_too() -> None:
    assert trail_of([]).turn == trail_of([SYSTEM]).turn == ""
    assert trail_of([answer("hello")]).turn != ""


# --- where parts stand ---


def test_parts_are_found_at_their_messages_though_the_caller_sends_none_of_them() -> None:
    parts = [part(TALK[:1], order=1), part(TALK[:3], order=2), part(TALK, order=3)]
    assert places(parts, TALK) == {0: ["b1"], 2: ["b2"], 4: ["b3"]}
    assert places(parts, [SYSTEM, *TALK]) == {1: ["b1"], 3: ["b2"], 5: ["b3"]}
    assert places(parts, TALK[:3]) == {0: ["b1"], 2: ["b2"]}


def test_parts_of_one_message_stand_in_the_order_in_which_they_were_made() -> None:
    parts = [part(TALK, order=1), part(TALK, order=2)]
    assert places(parts, TALK) == {4: ["b1", "b2"]}


def test_an_edited_message_loses_its_part_and_keeps_those_before() -> None:
    parts = [part(TALK[:1], order=1), part(TALK[:3], order=2)]
    edited = [*TALK[:2], user("two, or rather three"), answer("3"), user("four")]
    assert places(parts, edited) == {0: ["b1"]}


def test_branches_of_a_conversation_keep_their_own_parts() -> None:
    left, right = [*TALK, answer("left"), user("x")], [*TALK, answer("right"), user("x")]
    parts = [part(TALK, order=1), part(left, order=2), part(right, order=3)]
    assert places(parts, left) == {4: ["b1"], 6: ["b2"]}
    assert places(parts, right) == {4: ["b1"], 6: ["b3"]}


def test_where_the_beginning_was_cut_off_parts_are_found_by_their_neighbourhood() -> None:
    parts = [part(TALK[:1], order=1), part(TALK[:3], order=2)]
    assert places(parts, [*TALK[1:], answer("3"), user("four")]) == {1: ["b2"]}


def test_a_repeated_question_is_a_new_one() -> None:
    asked = [answer("again?"), user("yes")]
    history = [*TALK, *asked, answer("again?")]
    parts = [part([*TALK, *asked], order=1)]
    assert places(parts, [*history, user("yes")]) == {6: ["b1"]}
    # Cut off before the first "yes", the one being answered is not taken for it.
    assert places(parts, [answer("again?"), user("yes")]) == {}


def test_a_neighbourhood_that_occurs_twice_is_no_place() -> None:
    asked = [answer("again?"), user("yes")]
    parts = [part([*TALK, *asked], order=1)]
    assert places(parts, [*asked, *asked, answer("ok"), user("next")]) == {}


def test_no_item_comes_back_twice_when_cut_history_becomes_whole_again() -> None:
    whole = [*TALK, answer("3"), user("four")]
    cut = whole[3:]
    parts = [part(TALK, shows="m1", order=1), part(cut, shows="m1 m2", order=2)]
    later = [answer("4"), user("five")]
    assert places(parts, [*whole, *later]) == {4: ["b1"]}
    assert places(parts, [*cut, *later]) == {3: ["b2"]}


messages = st.lists(
    st.builds(
        lambda role, text: {"role": role, "content": text},
        st.sampled_from(["user", "assistant", "system"]),
        st.sampled_from("ab"),
    ),
    max_size=8,
)


@given(history=messages, more=messages)
def test_a_part_stands_at_its_message_as_long_as_what_comes_before_is_the_same(
    history: list[Message], more: list[Message]
) -> None:
    asked = [*history, user("now")]
    assert places([part(asked)], [*asked, *more]) == {len(history): ["b0"]}


# --- the law ---


class Conversation:
    """Calls of one conversation, of which each may bring any item that is not in view."""

    def __init__(self) -> None:
        self.parts: Parts = ()
        self.answered: set[str] = set()
        self.histories: list[list[Message]] = [[]]
        self.stood: dict[str, tuple[str, ...]] = {}

    def call(self, messages: Sequence[Message], item: str) -> None:
        trail = trail_of(messages)
        before = places(self.parts, messages)
        by_build = {one.build: one for one in self.parts}
        in_view = {
            ref for builds in before.values() for one in builds for ref in by_build[one].shows
        }
        build = next((one.build for one in self.parts if self._goes_on(one, trail.turn)), "")
        if not build:
            new = part(messages, "" if item in in_view else item, order=len(self.parts) + 1)
            self.parts, build = (*self.parts, new), new.build
        found = find_places(self.parts, trail)
        self.check(messages, found)
        self.parts = with_stood(self.parts, build, first_stood(self.parts, found, trail))
        last = {trail.last: [one.build for one in found[trail.last]]}
        assert places(self.parts, messages) == before | last

    def _goes_on(self, one: PartRef, turn: str) -> bool:
        return one.anchor == turn and one.build not in self.answered

    def check(self, messages: Sequence[Message], found: Places) -> None:
        items = [ref for stand in found.values() for one in stand for ref in one.shows]
        assert len(items) == len(set(items))
        users = [at for at, message in enumerate(messages) if message["role"] == "user"]
        for at, after in pairwise(users):
            stands = tuple(one.build for one in found.get(at, ()))
            assert self.stood.setdefault(str(messages[:after]), stands) == stands

    def answer(self, messages: Sequence[Message], text: str) -> None:
        self.answered |= {one.build for one in self.parts}
        self.histories.append([*messages, answer(text)])


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.sampled_from(("go on", "go on", "cut", "back", "edit", "again")),
            st.integers(0, 9),
            st.sampled_from("ab"),
            st.sampled_from("xy"),
            st.sampled_from(("", "m1", "m2", "m3")),
            st.booleans(),
        ),
        max_size=25,
    )
)
def test_turns_that_two_calls_share_are_sent_alike(calls: list[tuple]) -> None:
    talk = Conversation()
    for pick, how, place, question, reply, item, answered in calls:
        history = talk.histories[-1 - pick % len(talk.histories)]
        at = place % (len(history) or 1)
        if how == "cut":
            history = history[at:]
        elif how == "back":
            history = history[:at]
        elif how == "edit" and history:
            history = [*history[:at], {**history[at], "content": reply}, *history[at + 1 :]]
        messages = [*history, user(question)]
        if how == "again" and any(message["role"] == "user" for message in history):
            messages = history[: 1 + (trail_of(history).last or 0)]
        talk.call(messages, item)
        if answered:
            talk.answer(messages, reply)


def test_what_is_known_of_turns_is_limited_and_the_newest_is_kept() -> None:
    parts: Parts = ()
    for order in range(1, 60):
        parts = (*parts, part(TALK, order=order))
        parts = with_stood(parts, f"b{order}", {f"{order}-{turn}": () for turn in range(50)})
        assert sum(len(one.stood) for one in parts) <= KNOWN_TURNS
        assert len(parts[-1].stood) == 50
    more = {str(turn): () for turn in range(2 * KNOWN_TURNS)}
    parts = with_stood((*parts, part(TALK, order=60)), "b60", more)
    assert [len(one.stood) for one in parts] == [0] * 59 + [2 * KNOWN_TURNS]


# --- in a conversation ---


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=FixedClock()) as opened:
        yield opened


@pytest.fixture
def chat(ctx):
    return ctx.session("s1")


def say(chat, history, text, reply="Fine."):
    """Ask and answer once; return what was sent and the history that follows."""
    prepared = chat.prepare([*history, user(text)])
    chat.finish(prepared, reply)
    return prepared.messages, [*history, user(text), answer(reply)]


def shown(sent: Sequence[Message], words: str) -> int:
    return sum(message["content"].count(words) for message in sent)


def test_a_part_that_moved_along_stays_when_its_question_is_asked_again(ctx, chat) -> None:
    _, history = say(chat, [SYSTEM], "one")
    ctx.remember("Zebra crossings need light.")
    _, history = say(chat, history, "zebra crossings")
    third, cut = say(chat, [SYSTEM, *history[2:]], "three")
    say(chat, cut[:2], "zebra crossings")
    fifth, _ = say(chat, cut, "five")
    assert shown(third, "need light") == 1
    assert fifth[: len(third)] == third


def test_a_question_asked_again_changes_nothing_where_the_same_answer_was_sent_on(chat) -> None:
    _, history = say(chat, [SYSTEM], "one")
    before, _ = say(chat, history, "two")
    chat.collect("hook", "build", "The build is red.")
    again, _ = say(chat, [SYSTEM], "one")
    after, _ = say(chat, history, "three")
    assert shown(again, "red") == 1
    assert after[:3] == before[:3]


def test_a_question_asked_again_goes_on_with_what_it_brought(chat) -> None:
    say(chat, [SYSTEM], "one", "Fine.")
    chat.collect("hook", "build", "The build is red.")
    again, history = say(chat, [SYSTEM], "one", "Fine.")
    after, _ = say(chat, history, "two")
    assert shown(again, "red") == 1
    assert after[: len(again)] == again


def test_two_calls_at_the_same_time_agree_on_what_stands_where(ctx, tmp_path) -> None:
    meanwhile = []

    class Slow:
        name = "slow"

        def items(self, situation):
            while meanwhile:
                meanwhile.pop()()
            return ()

    _, history = say(ctx.session("s1"), [SYSTEM], "one")
    with ContextMiddleware.open(
        tmp_path / "memory.db", clock=FixedClock(), sources=[Slow()]
    ) as other:
        chat, sent = ctx.session("s1"), []

        def ask_again() -> None:
            chat.collect("hook", "build", "The build is red.")
            say(chat, [SYSTEM], "one")
            sent.append(say(chat, history, "two")[0])

        meanwhile.append(ask_again)
        after = other.session("s1").prepare([*history, user("three")]).messages
    assert shown(sent[0][:3], "red") == 1
    assert after[:3] == sent[0][:3]


def test_a_conversation_that_an_earlier_version_stored_goes_on(ctx, chat, tmp_path) -> None:
    _, history = say(chat, [SYSTEM], "one")
    ctx.remember("Zebra crossings need light.")
    second, history = say(chat, history, "zebra crossings")
    _, longer = say(chat, history, "three")
    with sqlite3.connect(tmp_path / "memory.db") as file:
        rows = file.execute("SELECT ref, body FROM records WHERE type = 'part'").fetchall()
        for ref, body in rows:
            stored = json.loads(body)
            del stored["part"]["stood"]
            stored["part"]["passed"] = ["a" * 64]
            file.execute("UPDATE records SET body = ? WHERE ref = ?", (json.dumps(stored), ref))
    file.close()
    assert len(rows) == 3
    with ContextMiddleware.open(tmp_path / "memory.db", clock=FixedClock()) as opened:
        after, _ = say(opened.session("s1"), longer, "four")
        cut, _ = say(opened.session("s1"), [SYSTEM, *longer[2:]], "five")
    assert after[: len(second)] == second
    assert shown(cut, "need light") == 1


# --- the cap ---


def standing(*tokens: int) -> Places:
    return {at: (part(TALK, order=at, tokens=cost),) for at, cost in enumerate(tokens)}


@pytest.mark.parametrize(
    ("tokens", "dropped"),
    [
        ((), set()),
        ((40, 30, 30), set()),
        ((40, 30, 31), {"b0", "b1"}),
        ((101,), {"b0"}),
        ((10, 10, 10, 10, 70), {"b0", "b1", "b2", "b3", "b4"}),
        ((90, 10, 10), {"b0"}),
    ],
)
def test_over_the_cap_the_oldest_go_at_once_down_to_half_of_it(
    tokens: tuple[int, ...], dropped: set[str]
) -> None:
    assert over_cap(standing(*tokens), 100, keep=()) == dropped


def test_the_part_of_the_turn_itself_is_kept() -> None:
    assert over_cap(standing(10, 10, 90), 100, keep={"b2"}) == {"b0", "b1"}


@given(tokens=st.lists(st.integers(1, 50), max_size=30), cap=st.integers(0, 300))
def test_dropping_ends_under_half_the_cap_and_drops_no_more_than_it_must(
    tokens: list[int], cap: int
) -> None:
    dropped = over_cap(standing(*tokens), cap, keep=())
    kept = tokens[len(dropped) :]
    assert dropped == {f"b{at}" for at in range(len(dropped))}
    if dropped:
        assert sum(kept) <= cap // 2 < sum(tokens[len(dropped) - 1 :])
    else:
        assert sum(tokens) <= cap
