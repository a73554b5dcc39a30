"""LangChain's messages to plain dicts and back."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue

from ctxmw_langchain.convert import Given, as_dict, messages_of
from ctxmw_langchain.nesting import carried_over

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
CALL = {"name": "find", "args": {"name": "a"}, "id": "c1"}
CASES = [
    (HumanMessage("Hi", id="m1", name="ada"), {"role": "user", "id": "m1", "name": "ada"}),
    (SystemMessage("Hi"), {"role": "system"}),
    (AIMessage("Hi"), {"role": "assistant"}),
    (AIMessageChunk("Hi"), {"role": "assistant"}),
    (AIMessage("", tool_calls=[CALL]), {"role": "assistant", "tool_calls": [CALL]}),
    (ToolMessage("Hi", tool_call_id="c1"), {"role": "tool", "tool_call_id": "c1"}),
    (FunctionMessage("Hi", name="f"), {"role": "tool", "name": "f"}),
    (ChatMessage("Hi", role="developer"), {"role": "system"}),
    (ChatMessage("Hi", role="assistant"), {"role": "assistant"}),
    (ChatMessage("Hi", role="critic"), {"role": "user"}),
    (HumanMessage([{"type": "text", "text": "Hi"}, PICTURE]), {"role": "user"}),
]


@pytest.mark.parametrize(("message", "expected"), CASES, ids=lambda case: str(case)[:40])
def test_a_message_becomes_a_dict_with_what_is_known(message, expected):
    assert as_dict(message) == {"content": message.content, **expected}


def test_a_tools_output_is_given_the_name_of_the_call_before_it():
    again = {**CALL, "name": "search"}
    said = [
        ToolMessage("unknown", tool_call_id="c1"),
        AIMessage("", tool_calls=[CALL]),
        ToolMessage("found", tool_call_id="c1"),
        ToolMessage("named", tool_call_id="c1", name="mine"),
        AIMessage("", tool_calls=[again]),
        ToolMessage("searched", tool_call_id="c1"),
    ]
    given = Given(said)
    names = [plain.get("name") for plain in given.dicts]
    assert names == [None, None, "find", "mine", None, "search"]
    assert given.back(given.dicts) == said


def test_untouched_messages_come_back_as_the_same_objects():
    messages = [message for message, _ in CASES]
    given = Given(messages)
    assert all(
        back is message for back, message in zip(given.back(given.dicts), messages, strict=True)
    )


def test_a_touched_message_comes_back_as_a_copy_and_a_new_one_is_made():
    message = HumanMessage("Hi", id="m1", additional_kwargs={"mine": 1})
    given = Given([message])
    placed = [{"role": "system", "content": "Block"}, {**given.dicts[0], "content": "Part\nHi"}]
    system, question = given.back(placed)
    assert system == SystemMessage("Block")
    assert question == HumanMessage("Part\nHi", id="m1", additional_kwargs={"mine": 1})
    assert message.content == "Hi"


def test_every_kind_of_model_input_is_read():
    assert messages_of("Hi") == [HumanMessage("Hi")]
    assert messages_of(StringPromptValue(text="Hi")) == [HumanMessage("Hi")]
    assert messages_of(ChatPromptValue(messages=[AIMessage("Hi")])) == [AIMessage("Hi")]
    assert messages_of([("system", "Be kind."), "Hi", {"role": "assistant", "content": "Yes"}]) == [
        SystemMessage("Be kind."),
        HumanMessage("Hi"),
        AIMessage("Yes"),
    ]


@given(said=st.text(), before=st.text(), after=st.text(), other=st.text())
def test_what_was_added_to_the_words_is_added_to_what_is_shown(said, before, after, other):
    block = f"<ctxmw>\n{before}\n</ctxmw>\n"
    shown = carried_over(said, f"{block}\n{said}", f"{other}{said}{after}")
    assert shown.endswith(f"{other}{said}{after}")
    assert shown.startswith(block)
    assume(not block.endswith(said))  # said or ours: it cannot be told apart
    closed = carried_over(said, f"{said}\n{block}", f"{other}{said}{after}")
    assert closed == f"{other}{said}{after}\n{block}"
