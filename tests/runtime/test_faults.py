"""Every stage of the pipeline broken in every way: the core says so, and nobody's call stops.

A stage is broken inside the real thing: one method of the store, of search or of the renderer
raises. What the model is sent then is what the caller gave.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import sqlite3
from collections.abc import Callable

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

import ctxmw_langchain
import ctxmw_llamaindex
from ctxmw import ContextMiddleware, CtxmwError, Markdown
from ctxmw.errors import StageError
from ctxmw.recall.surroundings import Surroundings
from ctxmw.search.search import Search
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for

ASKED = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Which port?"}]
KINDS = (
    OSError,
    sqlite3.OperationalError,
    ValueError,
    UnicodeError,
    RecursionError,
    TimeoutError,
    MemoryError,
)
by_name = pytest.mark.parametrize("fault", KINDS, indirect=True)


@pytest.fixture
def fault(request):
    return request.param("broken")


def missed(stage: str) -> dict[str, int]:
    """What an adapter's call counts: where nothing can be written, nothing said is kept either."""
    stages = (stage, "capture") if stage == "write" else (stage,)
    return {f"degraded.{one}.OSError": 1 for one in stages}


def degraded(ctx):
    """Return what was counted as degraded."""
    return {name: n for name, n in ctx.stats().items() if name.startswith("degraded.")}


def raising(fault: Exception) -> Callable[..., object]:
    def broken(*_: object, **__: object) -> object:
        raise fault

    return broken


def break_search(ctx, patch, fault):
    patch.setattr(Search, "find", raising(fault))


def break_rendering(ctx, patch, fault):
    patch.setattr(Markdown, "item", raising(fault))


def break_placing(ctx, patch, fault):
    patch.setattr("ctxmw.calls.prompt.place", raising(fault))


def break_recording(ctx, patch, fault):
    patch.setattr("ctxmw.calls.prompt.shared_prefix", raising(fault))


def break_reading(ctx, patch, fault):
    patch.setattr(ctx.store, "head", raising(fault))


def break_writing(ctx, patch, fault):
    patch.setattr(ctx.store, "put", raising(fault))


def break_triggers(ctx, patch, fault):
    patch.setattr(Surroundings, "look", raising(fault))


STAGES = {
    "surroundings": break_triggers,
    "search": break_search,
    "select": break_rendering,
    "place": break_placing,
    "record": break_recording,
    "prepare": break_reading,
    "write": break_writing,
}
by_stage = pytest.mark.parametrize("stage", STAGES)


@pytest.fixture(scope="module")
def count():
    """The token table is loaded once, not for each of the memories."""
    return counter_for()


@pytest.fixture
def ctx(count):
    options = {"strict": False, "clock": FixedClock(), "count": count}
    with ContextMiddleware.open(":memory:", **options) as opened:
        opened.remember("The port is 8080.", kind="decision")
        yield opened


@by_stage
@by_name
def test_the_core_raises_an_error_of_ours_that_names_the_stage(ctx, monkeypatch, stage, fault):
    with monkeypatch.context() as patch:
        STAGES[stage](ctx, patch, fault)
        with pytest.raises(CtxmwError) as raised:
            ctx.session("s").prepare(ASKED)
    assert isinstance(raised.value, StageError)
    assert (raised.value.stage, raised.value.cause) == (stage, fault)
    assert raised.value.__cause__ is fault
    # The next call finds everything as it was.
    assert "8080" in ctx.session("s").prepare(ASKED).context.text


@by_stage
@by_name
def test_a_forgiven_call_goes_on_and_says_where_it_failed(ctx, monkeypatch, caplog, stage, fault):
    STAGES[stage](ctx, monkeypatch, fault)
    with caplog.at_level(logging.INFO, logger="ctxmw"):
        prepared = ctx.session("s").forgiving().prepare(ASKED)
    assert prepared.messages == ASKED
    assert prepared.context.degraded == f"{stage}: {type(fault).__name__}"
    assert degraded(ctx) == {f"degraded.{stage}.{type(fault).__name__}": 1}
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@by_stage
def test_a_chain_is_answered_as_it_would_be_without_us(ctx, monkeypatch, stage):
    STAGES[stage](ctx, monkeypatch, OSError("broken"))
    seen: list[object] = []

    class Listening(FakeListChatModel):
        def _generate(self, messages, *args, **options):
            seen.extend(messages)
            return super()._generate(messages, *args, **options)

    chain = ctxmw_langchain.with_context(Listening(responses=["8080."]), ctx)
    asked = [SystemMessage("You help."), HumanMessage("Which port?")]
    assert chain.invoke(asked).content == "8080."
    assert [(one.type, one.content) for one in seen] == [(one.type, one.content) for one in asked]
    assert degraded(ctx) == missed(stage)


@by_stage
def test_a_chat_engine_is_answered_as_it_would_be_without_us(ctx, monkeypatch, stage):
    STAGES[stage](ctx, monkeypatch, OSError("broken"))
    bare = SimpleChatEngine.from_defaults(llm=MockLLM(is_chat_model=True))
    engine = ctxmw_llamaindex.with_context(
        SimpleChatEngine.from_defaults(llm=MockLLM(is_chat_model=True)), ctx
    )
    assert str(engine.chat("Which port?")) == str(bare.chat("Which port?"))
    assert degraded(ctx) == missed(stage)


@by_name
def test_remember_tells_the_truth(ctx, monkeypatch, fault):
    with monkeypatch.context() as patch:
        break_writing(ctx, patch, fault)
        with pytest.raises(CtxmwError, match="remember failed"):
            ctx.remember("The host is example.")
    assert ctx.search("host example") == []


@by_name
def test_an_answer_that_cannot_be_kept_does_not_stop_the_call(ctx, monkeypatch, fault):
    chat = ctx.session("s").forgiving()
    prepared = chat.prepare(ASKED)
    with monkeypatch.context() as patch:
        break_writing(ctx, patch, fault)
        chat.began(prepared)
        record = chat.finish(prepared, "8080.")
    assert record.degraded == f"capture: {type(fault).__name__}"
    assert ctx.session("s").history()[-1].state == "built"
    assert chat.finish(prepared, "8080.").state == "answered"


@by_stage
@pytest.mark.parametrize("stop", [KeyboardInterrupt, asyncio.CancelledError])
def test_a_cancellation_passes_through(ctx, monkeypatch, stage, stop):
    STAGES[stage](ctx, monkeypatch, stop())
    with pytest.raises(stop):
        ctx.session("s").forgiving().prepare(ASKED)
    assert degraded(ctx) == {}


def test_the_error_survives_a_trip_to_another_process():
    error = pickle.loads(pickle.dumps(StageError("search", OSError("disk"))))
    assert (error.stage, str(error)) == ("search", "search failed: OSError: disk")
