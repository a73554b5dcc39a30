"""What providers' clients would send: our text, the breakpoints of their caches, nothing else."""

from __future__ import annotations

import json

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI

from ctxmw_langchain import ContextAgentMiddleware, with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.shapes import QUESTION, find_file

SENT: list[dict] = []
EPHEMERAL = {"type": "ephemeral", "ttl": "5m"}


class PaperAnthropic(ChatAnthropic):
    """Writes down the payload it would send."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        SENT.append(self._get_request_payload(messages, stop=stop, **kwargs))
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Yes."))])


class PaperOpenAI(ChatOpenAI):
    """Writes down the payload it would send."""

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        SENT.append(self._get_request_payload(messages, stop=stop, **kwargs))
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Yes."))])


MODELS = {
    "anthropic": lambda: PaperAnthropic(model="claude-sonnet-4-5", api_key="none"),
    "openai": lambda: PaperOpenAI(model="gpt-4o", api_key="none"),
    "openai responses": lambda: PaperOpenAI(model="gpt-4o", api_key="none", use_responses_api=True),
}


@pytest.fixture(autouse=True)
def sent():
    SENT.clear()
    return SENT


@pytest.mark.parametrize("name", MODELS)
def test_nothing_of_ours_goes_over_the_wire_but_the_text(name, ctx, sent):
    model = with_context(MODELS[name](), ctx)
    opening = [SystemMessage("You help."), HumanMessage([{"type": "text", "text": QUESTION}])]
    ctx.session("s1").collect("editor", "cursor", "The cursor stands in auth.py.")
    config = {"configurable": {"session_id": "s1"}}
    reply = model.invoke(opening, config)
    assert reply.response_metadata["ctxmw"]["record"]
    model.invoke([*opening, reply, HumanMessage("And then?")], config)
    first, second = (json.dumps(payload, default=str) for payload in sent)
    assert first.count(KNOWN) == second.count(KNOWN) == 1
    assert first.count("The cursor stands in auth.py.") == 1
    for payload in (first, second):
        assert "ctxmw" not in payload.replace("<ctxmw>", "").replace("</ctxmw>", "")
        for word in ("origin", "synthetic", "degraded", "additional_kwargs"):
            assert f'"{word}"' not in payload


def agent(ctx, order, **options):
    ours = ContextAgentMiddleware(ctx)
    caching = AnthropicPromptCachingMiddleware()
    middleware = [ours, caching] if order == "before" else [caching, ours]
    return create_agent(MODELS["anthropic"](), [find_file], middleware=middleware, **options)


@pytest.mark.parametrize("system_prompt", [None, "You help."])
@pytest.mark.parametrize("order", ["before", "after"])
def test_the_cache_breakpoint_closes_the_stable_part(order, system_prompt, ctx, sent):
    chat = ctx.session("s1")
    chat.collect("editor", "cursor", "The cursor stands in auth.py.")
    config = {"configurable": {"session_id": "s1"}}
    running = agent(ctx, order, system_prompt=system_prompt)
    said = running.invoke({"messages": [HumanMessage(QUESTION)]}, config)["messages"]
    running.invoke({"messages": [*said, HumanMessage("And then?")]}, config)
    first, second = sent
    *_, last = first["system"]
    assert last["cache_control"] == EPHEMERAL
    assert KNOWN in json.dumps(first["system"])
    assert "The cursor stands" not in json.dumps(first["system"])
    assert "The cursor stands" in json.dumps(first["messages"])
    assert first["system"] == second["system"]
    assert first["tools"] == second["tools"]
    assert json.dumps(second["messages"]).count("The cursor stands") == 1
    assert json.dumps([first["system"], first["tools"]]).count("cache_control") <= 3


def test_a_system_prompt_given_as_text_stays_text(ctx, sent):
    model = with_context(MODELS["openai"](), ctx)
    model.invoke([SystemMessage("You help."), HumanMessage(QUESTION)])
    assert isinstance(sent[0]["messages"][0]["content"], str)
