from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.messages import Message
from ctxmw.replay import Places, find_places, over_cap, trail_of
from ctxmw.state import PartRef

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
    found = find_places(parts, messages, trail_of(messages))
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
    parts = [part(TALK, order=2), part(TALK, order=1)]
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
