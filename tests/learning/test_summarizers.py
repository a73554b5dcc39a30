"""A language model is asked within its limits, and its faults never get further than an error."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import pytest

from ctxmw import (
    ContextMiddleware,
    InvalidValue,
    SummarizerError,
    SummarizerLimits,
)
from ctxmw.learning.summarizers import AT_ONCE, MeteredSummarizer, as_summarizer
from ctxmw.runtime.telemetry import Stats
from ctxmw.testing import FixedClock
from tests.support.waiting import PATIENCE


def metered(ask: Any, clock: FixedClock | None = None, **limits: Any) -> MeteredSummarizer:
    return MeteredSummarizer(
        as_summarizer(ask),
        SummarizerLimits(**limits),
        count=lambda text: len(text.split()),
        clock=clock or FixedClock(),
        stats=Stats(),
    )


def stats_of(summarizer: MeteredSummarizer) -> dict[str, int]:
    return summarizer._stats.snapshot()


class TestShapes:
    def test_a_function(self) -> None:
        assert as_summarizer(str.upper)("tea") == "TEA"

    def test_a_langchain_chat_model(self) -> None:
        from langchain_core.language_models import FakeListChatModel

        assert as_summarizer(FakeListChatModel(responses=["We drink tea."]))("What?") == (
            "We drink tea."
        )

    def test_a_langchain_chain_that_returns_text(self) -> None:
        from langchain_core.language_models import FakeListChatModel
        from langchain_core.output_parsers import StrOutputParser

        chain = FakeListChatModel(responses=["tea"]) | StrOutputParser()
        assert as_summarizer(chain)("What?") == "tea"

    def test_a_langchain_answer_in_parts(self) -> None:
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableLambda

        parts = [{"type": "text", "text": "We"}, {"type": "text", "text": "drink"}]
        chain = RunnableLambda(lambda _: AIMessage(content=parts))
        assert as_summarizer(chain)("What?") == "We\ndrink"

    def test_a_llamaindex_model(self) -> None:
        from llama_index.core.llms import MockLLM

        assert as_summarizer(MockLLM())("Repeat this.") == "Repeat this."

    @pytest.mark.parametrize("given", [None, 3, "gpt-4o", str])
    def test_anything_else_is_refused_and_named(self, given: Any) -> None:
        with pytest.raises(InvalidValue, match="summarizer is"):
            as_summarizer(given)


class TestLimits:
    def test_an_answer_is_counted(self) -> None:
        model = metered(lambda _: "three small words")
        assert model.ask("two words") == "three small words"
        assert stats_of(model) == {"summarizer.calls": 1, "summarizer.tokens": 5}

    def test_calls_are_capped_by_the_day(self) -> None:
        clock = FixedClock()
        model = metered(lambda _: "ok", clock, calls=1)
        model.ask("one")
        with pytest.raises(SummarizerError, match="1 calls and 2 tokens today"):
            model.ask("two")
        clock.advance(days=1)
        assert model.ask("three") == "ok"

    def test_tokens_are_capped(self) -> None:
        model = metered(lambda _: "a b c", tokens=6)
        model.ask("one two")
        with pytest.raises(SummarizerError, match="has spent"):
            model.ask("three four")

    def test_a_long_prompt_is_not_sent(self) -> None:
        asked: list[str] = []
        model = metered(asked.append, prompt=2)
        with pytest.raises(SummarizerError, match="over 2"):
            model.ask("one two three")
        assert not asked


class TestFaults:
    @pytest.mark.parametrize(
        ("answer", "why"), [("", "empty"), ("  \n", "empty"), (None, "error"), (3, "error")]
    )
    def test_an_answer_that_is_none(self, answer: Any, why: str) -> None:
        model = metered(lambda _: answer)
        with pytest.raises(SummarizerError):
            model.ask("tea")
        assert stats_of(model)[f"summarizer.failed.{why}"] == 1

    def test_an_error_names_its_cause(self) -> None:
        def fails(_: str) -> str:
            raise ConnectionError("no route")

        with pytest.raises(SummarizerError, match="no route") as caught:
            metered(fails).ask("tea")
        assert isinstance(caught.value.__cause__, ConnectionError)

    def test_a_slow_one_is_not_waited_for_and_slow_ones_do_not_pile_up(self) -> None:
        ends = threading.Event()
        model = metered(lambda _: "late" if ends.wait(PATIENCE) else "")
        for _ in range(AT_ONCE):
            with pytest.raises(SummarizerError, match="no answer within"):
                model.ask("tea", timeout=0.01)
        with pytest.raises(SummarizerError, match="are waiting"):
            model.ask("tea")
        ends.set()

    def test_it_does_not_see_the_context_of_the_caller(self) -> None:
        stream: contextvars.ContextVar[str] = contextvars.ContextVar("stream", default="none")
        stream.set("somebody's answer")
        assert metered(lambda _: stream.get()).ask("tea") == "none"


def test_a_memory_is_opened_with_one_and_has_none_by_default() -> None:
    with ContextMiddleware.open(":memory:") as ctx:
        assert ctx._composition.compactor.summarizer is None
    limits = SummarizerLimits(calls=3)
    with ContextMiddleware.open(":memory:", summarizer=str.upper, summarizer_limits=limits) as ctx:
        model = ctx._composition.compactor.summarizer
        assert model is not None
        assert model.ask("tea") == "TEA"
        assert model.limits.calls == 3
        assert ctx.stats()["summarizer.calls"] == 1
    with pytest.raises(InvalidValue, match="summarizer is 7"):
        ContextMiddleware.open(":memory:", summarizer=7)
