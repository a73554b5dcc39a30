from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.errors import InvalidValue
from ctxmw.values.messages import (
    PLACEMENTS,
    Message,
    check_messages,
    fingerprint,
    last_user,
    message_text,
    place,
    take_out,
)
from tests.support.strategies import texts

STABLE = "<ctxmw>\n## Universal Rules\n- Prefer early returns.\n</ctxmw>\n"
PART = "<ctxmw>\n## Shop Decisions\n- Auth uses JWT.\n</ctxmw>\n"
EARLIER = "<ctxmw>\n## Notices\n- build is red\n</ctxmw>\n"
SYSTEM = {"role": "system", "content": "You are helpful."}
USER = {"role": "user", "content": "How does login work?"}
ANSWER = {"role": "assistant", "content": "With a token."}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


# --- what is accepted ---


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hello", "must be a list of dicts, not str"),
        (b"hello", "not bytes"),
        ({"role": "user", "content": "x"}, "not dict"),
        (None, "not NoneType"),
        (iter([USER]), "not list_iterator"),
        ([], "messages is empty"),
        ([USER, "hello"], r"messages\[1\] is str"),
        (
            [{"role": "human", "content": "x"}],
            "'human'. Allowed: system, user, assistant, tool",
        ),
        ([{"content": "x"}], "role None"),
        ([{"role": "user"}], r"messages\[0\] has content of type NoneType"),
        ([{"role": "user", "content": 7}], "content of type int"),
        ([{"role": "system", "content": None}], "content of type NoneType"),
        ([{"role": "tool", "content": {"a": 1}}], "content of type dict"),
    ],
)
def test_messages_of_the_wrong_shape_are_an_error_that_names_the_first(
    wrong: Any, said: str
) -> None:
    with pytest.raises(InvalidValue, match=said):
        check_messages(wrong)


def test_messages_of_every_role_are_accepted_as_they_are() -> None:
    calls = [{"id": "c1", "name": "look", "args": {}}]
    messages = [
        SYSTEM,
        {"role": "user", "content": [text_part("Look at this"), IMAGE]},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "a cat", "tool_call_id": "c1"},
        {"role": "user", "content": ""},
        {"role": "user", "content": []},
    ]
    assert check_messages(tuple(messages)) == messages


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([text_part("one"), IMAGE, text_part("two")], "one\ntwo"),
        (["one", text_part("")], "one"),
        ([], ""),
        (None, ""),
        ([IMAGE, 7, {"text": 7}], ""),
        ([{"type": "text-plain", "text": "a"}], "<document>\na\n</document>"),
    ],
)
def test_the_text_of_a_message_is_its_text_parts(content: Any, text: str) -> None:
    assert message_text({"role": "assistant", "content": content}) == text


def test_the_last_user_message_is_found() -> None:
    assert last_user([USER, ANSWER, USER, ANSWER]) == 2
    assert last_user([SYSTEM, ANSWER]) is None
    assert last_user([]) is None


def test_messages_a_model_cannot_tell_apart_have_the_same_fingerprint() -> None:
    named = {**USER, "id": "x1", "at": "2026-03-02T12:00:00Z"}
    assert fingerprint(USER) == fingerprint(named)


CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "f", "args": {}}]}


@pytest.mark.parametrize(
    "other",
    [
        {**CALL, "content": " "},
        {**CALL, "role": "user"},
        {**CALL, "tool_calls": []},
        {**CALL, "tool_calls": [{"id": "c2", "name": "f", "args": {}}]},
        {**CALL, "tool_calls": [{"id": "c1", "name": "g", "args": {}}]},
        {**CALL, "tool_calls": [{"id": "c1", "name": "f", "args": {"a": 1}}]},
        {**CALL, "tool_call_id": "c1"},
    ],
)
def test_messages_that_differ_have_different_fingerprints(other: Message) -> None:
    assert fingerprint(other) != fingerprint(CALL)


# --- placing ---


def test_the_stable_block_opens_the_system_prompt_and_the_part_the_users_text() -> None:
    assert place([SYSTEM, USER], STABLE, {1: PART}) == [
        {"role": "system", "content": f"{STABLE}\nYou are helpful."},
        {"role": "user", "content": f"{PART}\nHow does login work?"},
    ]


def test_without_a_system_message_one_is_made() -> None:
    placed = place([USER, ANSWER, USER], STABLE, {2: PART})
    assert [message["role"] for message in placed] == ["system", "user", "assistant", "user"]
    assert placed[0] == {"role": "system", "content": STABLE}
    assert placed[1] is USER
    assert placed[3]["content"] == f"{PART}\nHow does login work?"


def test_of_several_system_messages_the_first_one_takes_it() -> None:
    second = {"role": "system", "content": "Be brief."}
    placed = place([USER, SYSTEM, second], STABLE, {})
    assert placed[1]["content"] == f"{STABLE}\nYou are helpful."
    assert placed[2] is second


def test_a_list_of_parts_gets_a_part_of_ours_right_before_the_text() -> None:
    asked = {"role": "user", "content": [IMAGE, text_part("What is it?"), text_part("Well?")]}
    system = {"role": "system", "content": [text_part("You are helpful.")]}
    placed = place([system, asked], STABLE, {1: PART})
    assert placed[0]["content"] == [text_part(STABLE), text_part("You are helpful.")]
    assert placed[1]["content"] == [
        IMAGE,
        text_part(PART),
        text_part("What is it?"),
        text_part("Well?"),
    ]


def test_a_message_without_any_text_gets_our_part_too() -> None:
    placed = place([{"role": "user", "content": [IMAGE]}], "", {0: PART})
    assert placed == [{"role": "user", "content": [IMAGE, text_part(PART)]}]
    assert place([{"role": "user", "content": ""}], "", {0: PART})[0]["content"] == PART


def test_tool_messages_stay_where_and_what_they_are() -> None:
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "look"}]}
    result = {"role": "tool", "content": "a cat", "tool_call_id": "c1"}
    placed = place([SYSTEM, USER, calls, result], STABLE, {1: PART})
    assert placed[2] is calls
    assert placed[3] is result


def test_an_empty_history_gets_the_stable_block_alone() -> None:
    assert place([], STABLE, {}) == [{"role": "system", "content": STABLE}]
    assert place([], "", {}) == []


def test_nothing_to_place_leaves_every_message_as_it_is() -> None:
    for placement in PLACEMENTS:
        placed = place([SYSTEM, USER], "", {1: ""}, placement=placement)
        assert all(mine is given for mine, given in zip(placed, [SYSTEM, USER], strict=True))


def test_at_the_systems_end_the_stable_block_closes_the_system_prompt() -> None:
    placed = place([SYSTEM, USER], STABLE, {1: PART}, placement="system_end")
    assert placed[0]["content"] == f"You are helpful.\n{STABLE}"
    assert placed[1]["content"] == f"{PART}\nHow does login work?"


def test_all_in_the_system_prompt_leaves_users_messages_alone() -> None:
    placed = place([SYSTEM, USER, USER], STABLE, {1: EARLIER, 2: PART}, placement="all_system")
    assert placed[0]["content"] == f"You are helpful.\n{STABLE}{EARLIER}{PART}"
    assert placed[1] is placed[2] is USER


contents = st.one_of(
    texts,
    st.just(""),
    st.lists(st.one_of(texts, texts.map(text_part), st.just(IMAGE)), max_size=4),
)
histories = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user", "assistant", "tool"]),
        contents,
    ),
    max_size=6,
)
placements = st.sampled_from(PLACEMENTS)


def parts_of(messages: list[Message]) -> dict[int, str]:
    """Return a part for every user message; the first has two, one after the other."""
    users = [at for at, message in enumerate(messages) if message["role"] == "user"]
    return {at: PART if n else EARLIER + PART for n, at in enumerate(users)}


def shifted(parts: Mapping[int, str], by: int) -> dict[int, str]:
    return {at + by: part for at, part in parts.items()}


@given(messages=histories, placement=placements)
def test_placing_twice_is_placing_once(messages: list[Message], placement: Any) -> None:
    parts = parts_of(messages)
    once = place(messages, STABLE, parts, placement=placement)
    made = len(once) - len(messages)
    assert place(once, STABLE, shifted(parts, made), placement=placement) == once


@given(messages=histories, placement=placements)
def test_the_callers_messages_are_not_changed(messages: list[Message], placement: Any) -> None:
    before = deepcopy(messages)
    placed = place(messages, STABLE, parts_of(messages), placement=placement)
    assert messages == before
    for message in placed:
        if STABLE not in str(message_text(message)) and PART not in message_text(message):
            assert any(message is given for given in messages)


@given(messages=histories, placement=placements)
def test_taking_out_what_was_placed_gives_back_the_callers_messages(
    messages: list[Message], placement: Any
) -> None:
    placed = place(messages, STABLE, parts_of(messages), placement=placement)
    taken = [
        message
        for message in map(without_ours, placed)
        if not (message["role"] == "system" and message["content"] == "")
    ]
    kept = [
        message
        for message in messages
        if not (message["role"] == "system" and message["content"] == "")
    ]
    assert taken == kept


def without_ours(message: Message) -> Message:
    for block in (STABLE, EARLIER, *[PART] * 6):
        message = take_out(message, block)
    return message


@pytest.mark.parametrize(
    "content",
    [
        f"What is this?\n\n{PART} It was in my prompt.",
        f"{PART}is what I saw",
        f"I saw {PART}",
        PART.replace("JWT", "cookies"),
        [text_part(f"see {PART}")],
    ],
)
def test_what_the_user_pasted_into_a_sentence_is_not_ours_to_take_out(content: Any) -> None:
    message = {"role": "user", "content": content}
    assert take_out(message, PART) == message


def test_a_framework_that_turns_text_into_parts_does_not_hide_what_is_ours() -> None:
    (placed,) = place([USER], "", {0: PART})
    as_parts = {"role": "user", "content": [text_part(placed["content"])]}
    assert take_out(as_parts, PART)["content"] == [text_part("How does login work?")]
