"""LlamaIndex's messages as dicts and back."""

from __future__ import annotations

import copy
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.llms.types import (
    ChatMessage,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from ctxmw import ContextMiddleware
from ctxmw_llamaindex.convert import convert, reply_of
from tests.llamaindex.engines import PIXEL

IMAGE = ImageBlock(image=PIXEL.encode())


def test_roles_calls_and_results_are_translated():
    call = ToolCallBlock(tool_call_id="c1", tool_name="add", tool_kwargs='{"a": 1}')
    about = {"tool_call_id": "c1", "name": "add"}
    messages = [
        ChatMessage(role="developer", content="Rules."),
        ChatMessage(role="user", content="1 + 1?"),
        ChatMessage(role="model", blocks=[ThinkingBlock(content="Hm."), call]),
        ChatMessage(role="function", content="2", additional_kwargs=about),
    ]
    plain = [
        {key: value for key, value in given.items() if key != "llamaindex_place"}
        for given in convert(messages).dicts
    ]
    assert plain == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "1 + 1?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "add", "args": {"a": 1}}],
        },
        {"role": "tool", "content": "2", "tool_call_id": "c1", "name": "add"},
    ]


def test_a_result_has_the_name_of_the_tool_that_was_called():
    call = ToolCallBlock(tool_call_id="c1", tool_name="mem_search", tool_kwargs={})
    answer = ChatMessage(role="tool", content="4711", additional_kwargs={"tool_call_id": "c1"})
    *_, given = convert([ChatMessage(role="assistant", blocks=[call]), answer]).dicts
    assert given["name"] == "mem_search"
    *_, given = convert([answer]).dicts
    assert "name" not in given


def test_an_observation_has_the_name_of_the_action_before_it():
    messages = [
        ChatMessage(role="user", content="Why?"),
        ChatMessage(content="Thought: I ask.\nAction: mem_get\nAction Input: {}", role="assistant"),
        ChatMessage(role="user", content="Observation: Because."),
    ]
    *_, given = convert(messages, asked="Why?").dicts
    assert (given["role"], given["name"]) == ("tool", "mem_get")
    assert "name" not in convert(messages).dicts[-1]


def test_tool_calls_of_older_integrations_are_read_too():
    function = {"name": "add", "arguments": "not json"}
    kwargs = {"tool_calls": [{"id": "c1", "function": function}]}
    reply = reply_of(ChatMessage(role="assistant", content=None, additional_kwargs=kwargs))
    assert reply["tool_calls"] == [{"id": "c1", "name": "add", "args": "not json"}]


def test_an_image_stays_and_is_known_by_its_hash():
    message = ChatMessage(role="user", blocks=[IMAGE, TextBlock(text="What is it?")])
    conversion = convert([message])
    (given,) = conversion.dicts
    assert PIXEL not in str(given)
    part = {"type": "text", "text": "<part>"}
    changed = {**given, "content": [given["content"][0], part, given["content"][1]]}
    (back,) = conversion.back([changed])
    assert back.blocks == [IMAGE, TextBlock(text="<part>"), TextBlock(text="What is it?")]
    assert message.blocks == [IMAGE, TextBlock(text="What is it?")]


@pytest.mark.parametrize("blocks", [[], [IMAGE]], ids=["text", "with an image"])
def test_a_template_around_the_question_goes_to_the_model_and_the_question_to_the_memory(blocks):
    text = "Context: {notes}\nQuery: Why purple?\nAnswer:"
    message = ChatMessage(role="user", blocks=[*blocks, TextBlock(text=text)])
    conversion = convert([message], asked="Why purple?")
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        chat = ctx.session("s1")
        chat.collect("lint", "1", "Line 4 is too long.")
        prepared = chat.prepare(conversion.dicts)
        chat.finish(prepared, "Because.")
        assert [hit.text for hit in ctx.search("purple", kinds=["turn"])] == ["Why purple?"]
    (back,) = [each for each in conversion.back(prepared.messages) if each.role == "user"]
    assert back.content.endswith(text)
    assert "Line 4 is too long." in back.content
    assert [block for block in back.blocks if block.block_type == "image"] == blocks


def test_what_follows_the_question_is_a_tools_word():
    messages = [
        ChatMessage(role="user", content="Why?"),
        ChatMessage(role="assistant", content="Thought: I ask."),
        ChatMessage(role="user", content="Observation: Because."),
    ]
    roles = [given["role"] for given in convert(messages, asked="Why?").dicts]
    assert roles == ["user", "assistant", "tool"]
    assert [given["role"] for given in convert(messages).dicts] == ["user", "assistant", "user"]


ROLES = st.sampled_from([role.value for role in MessageRole])
TEXTS = st.text(string.printable, max_size=30)
WORDS = TEXTS.map(lambda text: TextBlock(text=text))
BLOCKS = st.lists(st.one_of(WORDS, st.just(IMAGE)), max_size=3)
MESSAGES = st.lists(
    st.builds(lambda role, blocks: ChatMessage(role=role, blocks=blocks), ROLES, BLOCKS),
    min_size=1,
    max_size=6,
)


@given(MESSAGES, TEXTS)
def test_what_is_not_changed_comes_back_as_the_same_object(messages, asked):
    before = copy.deepcopy(messages)
    conversion = convert(messages, asked=asked)
    back = conversion.back(conversion.dicts)
    assert all(one is other for one, other in zip(back, messages, strict=True))
    assert messages == before


@given(MESSAGES, TEXTS)
def test_text_that_is_put_first_stands_first_and_nothing_is_lost(messages, asked):
    conversion = convert(messages, asked=asked)
    for at, given_ in enumerate(conversion.dicts):
        content = given_["content"]
        if isinstance(content, str):
            changed = {**given_, "content": f"<part>\n{content}"}
        else:
            changed = {**given_, "content": [{"type": "text", "text": "<part>"}, *content]}
        (back,) = conversion.back([changed])
        assert back.content.startswith("<part>")
        assert back.content.endswith(messages[at].content or "")
        assert back.role == messages[at].role
