"""Trails that grow: what is known of a history's beginning holds, and is not read again."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.conversation.replay.trail import Trail, Trails, trail_of

WHO = ("ada", "s1")
CALL = {"id": "c1", "name": "look_up", "args": {"of": ["zebra"]}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Where is the zebra?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": [{"type": "text", "text": "In file 7."}], "tool_call_id": "c1"},
    {"role": "assistant", "content": "In file 7."},
    {"role": "user", "content": "And the lion?"},
]

messages = st.lists(
    st.builds(
        lambda role, text, brings: {"role": role, "content": text, **brings},
        st.sampled_from(["system", "user", "assistant"]),
        st.sampled_from(["one", "two", "three"]),
        st.sampled_from([{}, {}, {"brings": ["document:handbook"]}]),
    ),
    max_size=6,
)


def read(trails: Trails, history: list[dict[str, Any]]) -> Trail:
    return trails.of(WHO, history, trails.begun(WHO, history), plain=True)


@given(st.lists(st.tuples(st.integers(0, 20), messages), min_size=1, max_size=6))
def test_a_trail_that_grew_is_that_of_the_whole_history(calls) -> None:
    trails, history = Trails(), []
    for kept, new in calls:
        history = [*history[:kept], *copy.deepcopy(new)]
        grown, whole = read(trails, history), trail_of(history)
        assert grown == whole
        for anchor in {*whole.anchors, "none"}:
            at = whole.anchors.index(anchor) if anchor in whole.anchors else None
            assert grown.place_of(anchor) == at
            ends = [at for at, own in enumerate(whole.anchors) if own == anchor]
            assert grown.end_of(anchor) == (ends[-1] if ends else None)


def test_trails_that_part_know_their_own_places_alone() -> None:
    trails = Trails()
    begun = read(trails, TALK)
    one = begun.then({"role": "assistant", "content": "In file 8."})
    other = begun.then({"role": "assistant", "content": "Nowhere."})
    assert one.place_of(one.anchors[-1]) == other.place_of(other.anchors[-1]) == len(TALK)
    assert one.place_of(other.anchors[-1]) is None
    assert begun.place_of(one.anchors[-1]) is None
    led = trail_of([*TALK, TALK[0], {"role": "assistant", "content": "In file 8."}])
    assert led.going_on_from(begun).place_of(led.anchors[-1]) == len(TALK) + 1


def test_all_that_was_there_is_known_again() -> None:
    trails = Trails()
    read(trails, TALK)
    later = [*copy.deepcopy(TALK), {"role": "assistant", "content": "In file 8."}]
    assert trails.begun(WHO, later).length == len(TALK)
    assert trails.begun(WHO, TALK[:3]).length == 3
    assert trails.begun(("bob", "s1"), later).length == 0


@pytest.mark.parametrize(
    ("at", "change"),
    [
        (1, lambda one: one.update(content="Where is the ape?")),
        (1, lambda one: one.update(author="application")),
        (2, lambda one: one["tool_calls"][0]["args"]["of"].append("lion")),
        (3, lambda one: one["content"][0].update(text="In file 8.")),
        (4, lambda one: one.update(brings=["document:handbook"])),
    ],
)
def test_a_message_that_was_changed_in_place_is_read_again(at, change) -> None:
    trails, history = Trails(), copy.deepcopy(TALK)
    read(trails, history)
    change(history[at])
    assert trails.begun(WHO, history).length == at
    assert read(trails, history) == trail_of(history)


@pytest.mark.parametrize(("before", "after"), [(1, True), (True, 1), (5, 5.0), (2.0, 2)])
def test_a_number_that_became_one_of_another_kind_is_read_again(before, after) -> None:
    trails, history = Trails(), copy.deepcopy(TALK)
    history[2]["tool_calls"][0]["args"] = {"at": [before]}
    read(trails, history)
    assert trails.begun(WHO, copy.deepcopy(history)).length == len(TALK)
    history[2]["tool_calls"][0]["args"]["at"] = [after]
    assert read(trails, history) == trail_of(history)


def test_arguments_too_deep_to_copy_are_read_every_time() -> None:
    trails, deep = Trails(), {}
    for _ in range(700):
        deep = {"in": deep}
    history = [*TALK, {"role": "assistant", "content": "", "tool_calls": [{"args": deep}]}]
    for _ in range(2):
        assert trails.begun(WHO, history).length in (0, len(TALK))
        assert read(trails, history) == trail_of(history)


def test_what_another_thread_finds_half_read_is_not_taken_for_all() -> None:
    class Interrupted(tuple):
        """Anchors; while they are gone through, another thread looks one up."""

        __slots__ = ()

        def __iter__(self):
            for at, anchor in enumerate(tuple.__iter__(self)):
                if at == 1 and not asked:
                    asked.append(anchor)
                    found.append(trail.place_of(self[-1]))
                yield anchor

    asked: list[str] = []
    found: list[int | None] = []
    whole = trail_of(TALK)
    trail = Trail(whole.prints, Interrupted(whole.anchors), whole.locals)
    assert trail.place_of(whole.anchors[-1]) == len(TALK) - 1
    assert found == [len(TALK) - 1]


class NoTruth:
    def __eq__(self, other: object) -> Any:
        raise ValueError("the truth of this is ambiguous")

    def __hash__(self) -> int:
        return 0


def test_a_message_that_cannot_be_compared_is_read_every_time() -> None:
    trails = Trails()
    odd = [*TALK, {"role": "assistant", "content": "", "tool_calls": [{"args": NoTruth()}]}]
    read(trails, odd)
    assert trails.begun(WHO, odd).length == len(TALK)
    plain = [*TALK, {"role": "assistant", "content": "", "tool_calls": [{"args": 1}]}]
    read(trails, plain)
    assert trails.begun(WHO, odd).length == 0


def test_what_is_new_or_was_changed_is_checked() -> None:
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        chat, history = ctx.session("s1"), copy.deepcopy(TALK)
        chat.finish(chat.prepare(history), "In file 8.")
        history += [{"role": "assistant", "content": "In file 8."}, {"role": "user"}]
        with pytest.raises(InvalidValue, match=r"messages\[7\] has content of type NoneType"):
            chat.prepare(history)
        history[7]["content"] = "And the ape?"
        chat.prepare(history)
        history[1]["role"] = "human"
        with pytest.raises(InvalidValue, match=r"messages\[1\] has the role 'human'"):
            chat.prepare(history)


def test_our_text_is_taken_out_wherever_it_comes_back() -> None:
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        ctx.remember("The zebra is never to be moved.", kind="decision")
        chat = ctx.session("s1")
        first = chat.prepare(TALK)
        chat.finish(first, "In file 8.")
        answered = {"role": "assistant", "content": "In file 8."}
        asked = {"role": "user", "content": "And the ape?"}
        chat.prepare([*TALK, answered, asked])
        again = chat.prepare([*first.messages, answered, asked])
        assert list(again.given) == [*TALK, answered, asked]
