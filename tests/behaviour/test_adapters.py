"""What holds for every adapter, told once: the same memory arrives, whichever framework asks.

The memory is in SQLite and in Postgres in turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages import SystemMessage as LangchainSystem
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer

import ctxmw_langchain
import ctxmw_llamaindex
from ctxmw import ContextMiddleware, MissingUser, Session
from ctxmw.protocols import Store
from tests.langchain.models import RecordingModel
from tests.llamaindex.models import RecordingLLM

KNOWN = "Sign every token with RS256."
ASKED = "How do we sign tokens?"
REPLY = "With RS256."
SYSTEM = "You help."
Said = list[tuple[str, str]]


@dataclass(frozen=True)
class Adapter:
    """One framework: make a wrapped chat over a scripted model, ask it, and see what was sent."""

    name: str
    make: Callable[..., Any]
    ask: Callable[[Any, Said], Any]
    aask: Callable[[Any, Said], Any]
    stream: Callable[[Any, Said], Any]
    sent: Callable[[Any], list[list[tuple[str, str]]]]
    mark: Callable[[Any], dict[str, Any]]
    tools: Callable[[Any], list[Any]]
    call_tool: Callable[[Any, dict[str, Any]], str]


def _to_langchain(said: Said) -> list[Any]:
    kinds = {"system": LangchainSystem, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[role](text) for role, text in said]


def _langchain_model(*script: Any) -> Any:
    return RecordingModel(script=list(script), otherwise=REPLY)


def _langchain_sent(model: Any) -> list[list[tuple[str, str]]]:
    roles = {"system": "system", "human": "user", "ai": "assistant"}
    return [[(roles[one.type], str(one.text)) for one in prompt] for prompt in model.prompts]


async def _langchain_aask(chain: Any, said: Said) -> Any:
    return await chain.ainvoke(_to_langchain(said))


def _langchain_stream(chain: Any, said: Said) -> Any:
    chunks = list(chain.stream(_to_langchain(said)))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


LANGCHAIN = Adapter(
    name="langchain",
    make=lambda ctx, *script, **where: _made(
        _langchain_model(*script), lambda model: ctxmw_langchain.with_context(model, ctx, **where)
    ),
    ask=lambda chain, said: chain.invoke(_to_langchain(said)),
    aask=_langchain_aask,
    stream=_langchain_stream,
    sent=_langchain_sent,
    mark=lambda answer: answer.response_metadata["ctxmw"],
    tools=ctxmw_langchain.memory_tools,
    call_tool=lambda tool, arguments: str(tool.invoke(arguments)),
)


def _to_llamaindex(said: Said) -> tuple[str, list[ChatMessage]]:
    *before, (_, asked) = said
    return asked, [
        ChatMessage(role=role, content=text) for role, text in before if role != "system"
    ]


def _engine(llm: RecordingLLM) -> Any:
    memory = ChatMemoryBuffer.from_defaults(token_limit=50_000)
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt=SYSTEM)


async def _llamaindex_aask(engine: Any, said: Said) -> Any:
    return await engine.achat(*_to_llamaindex(said))


def _llamaindex_stream(engine: Any, said: Said) -> Any:
    response = engine.stream_chat(*_to_llamaindex(said))
    assert "".join(response.response_gen)
    return response


def _llamaindex_sent(llm: Any) -> list[list[tuple[str, str]]]:
    return [[(one.role.value, one.content or "") for one in prompt] for prompt in llm.prompts]


LLAMAINDEX = Adapter(
    name="llamaindex",
    make=lambda ctx, *script, **where: _made(
        RecordingLLM(list(script), otherwise=REPLY),
        lambda llm: ctxmw_llamaindex.with_context(_engine(llm), ctx, **where),
    ),
    ask=lambda engine, said: engine.chat(*_to_llamaindex(said)),
    aask=_llamaindex_aask,
    stream=_llamaindex_stream,
    sent=_llamaindex_sent,
    mark=lambda answer: answer.metadata["ctxmw"],
    tools=ctxmw_llamaindex.memory_tools,
    call_tool=lambda tool, arguments: tool(**arguments).content,
)

ADAPTERS = [LANGCHAIN, LLAMAINDEX]


def _made(model: Any, wrap: Callable[[Any], Any]) -> tuple[Any, Any]:
    return wrap(model), model


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return request.param


@pytest.fixture
def ctx(factory: Callable[[str], Store]) -> Iterator[ContextMiddleware]:
    with ContextMiddleware(factory("memory"), strict=True) as memory:
        memory.remember(KNOWN, kind="decision")
        yield memory


@pytest.fixture
def chat(ctx: ContextMiddleware) -> Session:
    return ctx.session("s1")


def told(*said: str) -> Said:
    """A system prompt, then the user and the assistant in turn."""
    return [("system", SYSTEM), *zip(("user", "assistant") * len(said), said, strict=False)]


@pytest.mark.parametrize("form", ["ask", "stream"])
def test_the_block_opens_the_one_system_message_and_the_rest_is_as_it_was(adapter, ctx, chat, form):
    wrapped, model = adapter.make(ctx, session=chat)
    getattr(adapter, form)(wrapped, told(ASKED))
    (sent,) = adapter.sent(model)
    (role, system), *rest = sent
    assert role == "system"
    assert system.startswith("<ctxmw>\n")
    assert KNOWN in system
    assert system.endswith(SYSTEM)
    assert rest == [("user", ASKED)]


@pytest.mark.parametrize("form", ["ask", "stream"])
def test_the_answer_carries_its_record(adapter, ctx, chat, form):
    wrapped, _ = adapter.make(ctx, session=chat)
    mark = adapter.mark(getattr(adapter, form)(wrapped, told(ASKED)))
    (record,) = chat.history()
    assert mark == {
        "record": record.ref,
        "summary": record.summary(),
        "tokens": record.tokens,
        "degraded": "",
    }
    assert record.state == "answered"
    assert ctx.why(REPLY).ref == record.ref


async def test_the_async_twin_does_the_same(adapter, ctx, chat):
    wrapped, model = adapter.make(ctx, session=chat)
    answer = await adapter.aask(wrapped, told(ASKED))
    assert KNOWN in adapter.sent(model)[0][0][1]
    assert adapter.mark(answer)["record"] == chat.history()[-1].ref


def test_question_and_answer_are_kept_and_nothing_of_ours(adapter, ctx, chat):
    wrapped, _ = adapter.make(ctx, session=chat)
    adapter.ask(wrapped, told(ASKED))
    said = {hit.text for hit in ctx.search("sign tokens RS256", kinds=["turn"])}
    assert said == {ASKED, REPLY}


def test_the_stable_block_stays_to_the_byte_and_parts_stay_at_their_messages(adapter, ctx, chat):
    ctx.session("earlier").capture([{"role": "user", "content": "The keys rotate weekly."}])
    wrapped, model = adapter.make(ctx, session=chat)
    first = told("How often do the keys rotate?")
    adapter.ask(wrapped, first)
    adapter.ask(wrapped, [*first, ("assistant", REPLY), ("user", "Thanks!")])
    one, two = adapter.sent(model)
    assert "The keys rotate weekly." in one[1][1]
    assert two[: len(one)] == one


def test_a_failed_call_is_raised_and_what_waited_waits_again(adapter, ctx, chat):
    chat.collect("lint", "1", "Line 4 is too long.")
    wrapped, model = adapter.make(ctx, ValueError("no quota"), session=chat)
    with pytest.raises(ValueError, match="no quota"):
        adapter.ask(wrapped, told(ASKED))
    assert chat.history()[-1].state == "failed"
    assert len(chat.pending()) == 1
    adapter.ask(wrapped, told(ASKED))
    assert chat.pending() == []
    assert "Line 4 is too long." in adapter.sent(model)[-1][-1][1]
    assert len({record.part_build for record in chat.history()}) == 1


def test_with_chat_says_which_conversation_it_is(adapter, ctx):
    wrapped, _ = adapter.make(ctx)
    with ctx.session("entered") as entered:
        adapter.ask(wrapped, told(ASKED))
    assert len(entered.history()) == 1


def test_with_chat_of_another_memory_says_nothing(adapter, ctx):
    wrapped, model = adapter.make(ctx)
    named, _ = adapter.make(ctx, session=ctx.session("named"))
    with ContextMiddleware.open(":memory:", strict=True) as other:
        other.remember("The tokens of the other one are blue.", kind="decision")
        with other.session("entered") as entered:
            adapter.ask(wrapped, told(ASKED))
            adapter.ask(named, told(ASKED))
        assert entered.history() == []
        assert other.sessions() == []
    assert KNOWN in adapter.sent(model)[0][0][1]
    assert "blue" not in adapter.sent(model)[0][0][1]
    assert len(ctx.session("named").history()) == 1
    assert "entered" not in {state.session for state in ctx.sessions()}


def test_a_wrapper_without_a_conversation_has_one_of_its_own(adapter, ctx):
    wrapped, _ = adapter.make(ctx)
    adapter.ask(wrapped, told("One."))
    adapter.ask(wrapped, told("Two."))
    assert len(ctx.sessions()) == 1
    assert len(ctx.session(ctx.sessions()[0].session).history()) == 2


def test_a_server_must_be_told_who_it_is_for_even_when_it_forgives(adapter):
    with ContextMiddleware.open(":memory:", user=None, strict=False) as server:
        wrapped, model = adapter.make(server)
        with pytest.raises(MissingUser):
            adapter.ask(wrapped, told(ASKED))
        assert model.prompts == []


async def test_concurrent_requests_of_several_users_never_cross(adapter):
    with ContextMiddleware.open(":memory:", user=None, strict=True) as server:
        for user in ("ada", "bob"):
            server.remember(f"The colour of {user} is {user}-blue.", kind="fact", user=user)
        wrapped, model = adapter.make(server)

        async def request(user: str) -> None:
            with server.session("c1", user=user):
                await adapter.aask(wrapped, told(f"What is my colour? I am {user}."))

        await asyncio.gather(*(request(user) for user in ("ada", "bob") * 4))
        for prompt in adapter.sent(model):
            text = "\n".join(line for _, line in prompt)
            assert ("ada" in text) is not ("bob" in text)
        for user, other in (("ada", "bob"), ("bob", "ada")):
            said = [hit.text for hit in server.search("what is my colour", user=user, limit=50)]
            assert said
            assert not any(other in text for text in said)


def test_a_broken_memory_does_not_stop_a_call_and_says_so(adapter, caplog):
    stages: list[str] = []
    with ContextMiddleware.open(":memory:", on_error=lambda stage, _: stages.append(stage)) as ctx:
        wrapped, model = adapter.make(ctx, session=ctx.session("s1"))
        ctx.store.close()
        answer = adapter.ask(wrapped, told(ASKED))
        assert adapter.sent(model) == [told(ASKED)]
        assert adapter.mark(answer)["degraded"].startswith("prepare: ")
        # Nothing could be prepared, and what was said could not be kept either.
        assert stages == ["prepare", "capture"]
        assert sum("goes on without memory" in record.message for record in caplog.records) == 2
        assert any(name.startswith("degraded.prepare.") for name in ctx.stats())


def test_a_strict_memory_raises_what_is_wrong_with_it(adapter, ctx, chat):
    wrapped, model = adapter.make(ctx, session=chat)
    ctx.store.close()
    with pytest.raises(Exception, match="closed"):
        adapter.ask(wrapped, told(ASKED))
    assert model.prompts == []


def test_the_tools_search_the_conversation_they_are_called_in(adapter, ctx, chat):
    ctx.session("earlier").capture([{"role": "user", "content": "The keys rotate weekly."}])
    for given in (ctx, chat):
        search, *others = adapter.tools(given)
        assert {tool.metadata.name if adapter is LLAMAINDEX else tool.name for tool in others} == {
            "mem_get",
            "memory_context",
            "remember",
            "forget",
        }
        with chat:
            found = adapter.call_tool(search, {"query": "how often do keys rotate"})
        assert "The keys rotate weekly." in found


@pytest.mark.parametrize(("writer", "reader"), [ADAPTERS, ADAPTERS[::-1]], ids=lambda a: a.name)
def test_what_one_framework_hears_arrives_through_the_other(ctx, writer, reader):
    heard, _ = writer.make(ctx, "Noted.", session=ctx.session("monday"))
    writer.ask(heard, told("The courier deadline is 16:00."))
    asked, model = reader.make(ctx, session=ctx.session("tuesday"))
    answer = reader.ask(asked, told("When is the courier deadline?"))
    assert "The courier deadline is 16:00." in reader.sent(model)[0][-1][1]
    assert "The courier deadline is 16:00." in ctx.why(reader.mark(answer)["record"]).part


@pytest.mark.parametrize(("first", "second"), [ADAPTERS, ADAPTERS[::-1]], ids=lambda a: a.name)
def test_one_conversation_goes_on_in_the_other_framework(ctx, chat, first, second):
    ctx.session("earlier").capture([{"role": "user", "content": "The keys rotate weekly."}])
    began, one = first.make(ctx, session=chat)
    goes_on, two = second.make(ctx, session=chat)
    opening = told("How often do the keys rotate?")
    first.ask(began, opening)
    second.ask(goes_on, [*opening, ("assistant", REPLY), ("user", "And on which day?")])
    (before,), (after,) = first.sent(one), second.sent(two)
    assert "The keys rotate weekly." in before[-1][1]
    assert after[: len(before)] == before
    records = chat.history()
    assert [record.state for record in records] == ["answered", "answered"]
    assert records[0].epoch == records[1].epoch
    assert records[1].replayed_tokens > 0
    said = [
        turn.text for turn in (hit.record for hit in ctx.search("keys rotate day", kinds=["turn"]))
    ]
    assert said.count("How often do the keys rotate?") == 1
