"""Every chat engine, called in every way: the memory arrives once and nothing else changes."""

from __future__ import annotations

import json

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from ctxmw import ContextMiddleware
from ctxmw_llamaindex import with_context
from tests.llamaindex.conftest import KNOWN
from tests.llamaindex.engines import ENGINES, FORMS
from tests.llamaindex.models import REPLY, RecordingLLM

ASKED = "How does {AuthService} check a token?"
LATER = "And which keys are used for {it}?"


def systems(messages: list[ChatMessage]) -> list[str]:
    return [message.content or "" for message in messages if message.role == MessageRole.SYSTEM]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
async def test_a_wrapped_engine_gets_one_block_first_and_literally_and_leaves_its_record(
    ctx: ContextMiddleware, make, form
):
    model, bare = RecordingLLM(), RecordingLLM()
    plain, engine = make(bare), make(model)
    wrapped = with_context(engine, ctx, session="s1")
    for asked in (ASKED, LATER):
        response = await form(wrapped, asked)
        await form(plain, asked)

        sent = model.prompts[-1]
        (system,) = systems(sent)
        assert system.startswith("<ctxmw>\n")
        assert KNOWN in system
        assert system.count("<ctxmw>\n") == 1
        own = systems(bare.prompts[-1])
        assert system.endswith("".join(own))
        if make.__name__ != "condense_question":
            assert any(asked in (message.content or "") for message in sent)

        record = ctx.session("s1").history()[-1]
        about = response.metadata["ctxmw"]
        assert about == {
            "record": record.ref,
            "summary": record.summary(),
            "tokens": record.tokens,
            "degraded": "",
        }
        assert json.loads(json.dumps(about)) == about
        assert record.state == "answered"
        assert str(response) == REPLY
        assert ctx.why(about["record"]).ref == record.ref

    assert len(model.prompts) == len(bare.prompts)
    assert model.completed == bare.completed
    assert [str(message) for message in wrapped.chat_history] == [
        str(message) for message in plain.chat_history
    ]
    assert not any("ctxmw" in str(message) for message in wrapped.chat_history)
    said = [hit.text for hit in ctx.search("AuthService verifies token keys", kinds=["turn"])]
    assert {ASKED, REPLY} <= set(said)
    assert not any("A note." in text for text in said)
    assert engine.chat_history == wrapped.chat_history
    assert wrapped.unwrap() is engine


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("make", ENGINES, ids=lambda make: make.__name__)
async def test_the_stable_block_does_not_change_from_turn_to_turn(ctx, make, form):
    model = RecordingLLM()
    wrapped = with_context(make(model), ctx)
    for asked in (ASKED, LATER, "Thanks!"):
        await form(wrapped, asked)
    # Prompts without a system message condense a question: nothing of ours is in those.
    openings = [system for prompt in model.prompts for system in systems(prompt)]
    assert len(openings) == 3
    assert len({opening.partition("</ctxmw>")[0] for opening in openings}) == 1
    condensing = [prompt for prompt in model.prompts if not systems(prompt)]
    assert not any("ctxmw" in str(message) for prompt in condensing for message in prompt)
