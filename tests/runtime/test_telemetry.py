"""What an operator sees of a memory at work: counts, times, and spans when they are asked for."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ctxmw import ContextMiddleware, NotFound, Tracing
from ctxmw.runtime.telemetry import RECENT, Stats
from ctxmw.tokens.counter import counter_for

COUNT = counter_for()
ASKED = [{"role": "user", "content": "Which database do we use?"}]


def opened(**options):
    return ContextMiddleware.open(":memory:", count=COUNT, **options)


@pytest.fixture
def spans(monkeypatch):
    """What OpenTelemetry is given, with a provider of its own for each test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def test_calls_are_counted_and_timed():
    with opened() as ctx:
        ctx.remember("The database is Postgres.")
        ctx.search("database")
        chat = ctx.session("s")
        chat.finish(chat.prepare(ASKED), "Postgres.")
        seen = ctx.stats()
    for name in ("prepare", "finish", "remember", "search"):
        assert seen[f"{name}.calls"] == 1
        assert 0 < seen[f"{name}.ms.p50"] <= seen[f"{name}.ms.p99"]


def test_tokens_are_counted_by_lane():
    with opened() as ctx:
        ctx.remember("Answer briefly.", kind="preference")
        context = ctx.session("s").prepare(ASKED).context
        spent, _ = context.lanes["instructions"]
        assert ctx.stats()["tokens.instructions"] == spent > 0


@pytest.mark.parametrize(
    ("reply", "share"), [("We use Postgres.", 1.0), ("No idea.", 0.0), ("Which database?", 0.0)]
)
def test_what_was_of_use_is_told_by_words_that_come_back(reply, share):
    with opened() as ctx:
        ctx.session("earlier").capture([{"role": "user", "content": "The database is Postgres."}])
        chat = ctx.session("s")
        prepared = chat.prepare(ASKED)
        assert "Postgres" in prepared.context.part
        chat.finish(prepared, reply)
        assert ctx.stats()["items.share_recurring"] == share


def test_percentiles_are_of_recent_calls():
    stats = Stats()
    for number in range(3 * RECENT):
        stats.took("prepare", 1000.0 if number < RECENT else float(number % 100))
    seen = stats.snapshot()
    assert (seen["prepare.calls"], seen["prepare.ms.p50"]) == (3 * RECENT, 50.0)
    assert seen["prepare.ms.p99"] >= 98.0


def test_spans_have_the_names_of_the_conventions_and_no_content(spans):
    with opened(tracing=Tracing()) as ctx:
        memory = ctx.remember("The database is Postgres.")
        ctx.search("database please")
        chat = ctx.session("chat-7")
        chat.finish(chat.prepare(ASKED), "Postgres.")
        ctx.forget(memory.ref)
    made = {span.name: dict(span.attributes) for span in spans.get_finished_spans()}
    assert set(made) >= {
        *("create_memory", "search_memory", "delete_memory"),
        *("ctxmw.prepare", "ctxmw.finish"),
    }
    assert made["search_memory"]["gen_ai.operation.name"] == "search_memory"
    assert made["search_memory"]["gen_ai.memory.record.count"] == 1
    assert made["ctxmw.prepare"]["gen_ai.conversation.id"] == "chat-7"
    assert 0 < made["ctxmw.prepare"]["ctxmw.budget.used"] <= 4000
    assert "Postgres" not in str(made)
    assert "please" not in str(made)


def test_content_is_told_only_when_asked_for(spans):
    with opened(tracing=Tracing(content=True)) as ctx:
        ctx.search("database please")
    (span,) = spans.get_finished_spans()
    assert span.attributes["gen_ai.memory.query.text"] == "database please"


def test_a_failure_is_told_by_its_type_alone(spans):
    class Broken:
        name = "broken"

        def items(self, situation, /):
            raise ValueError("quokka words of somebody")

    with opened(tracing=Tracing(), sources=[Broken()], strict=False) as ctx:
        ctx.session("s").forgiving().prepare(ASKED)
        with pytest.raises(NotFound):
            ctx.forget("mnobody")
    (span,) = spans.get_finished_spans()
    assert span.attributes["error.type"] == "StageError"
    assert not span.events
    assert "quokka" not in span.to_json()


def test_nothing_is_traced_unless_asked_for(spans):
    with opened() as ctx:
        ctx.search("database")
    assert spans.get_finished_spans() == ()


def test_a_compaction_is_an_event_of_the_span_it_happened_in(spans):
    long = [
        {"role": role, "content": f"{role} {at}: " + "word " * 90}
        for at in range(20)
        for role in ("user", "assistant")
    ]
    with opened(tracing=Tracing(), window=2_000) as ctx:
        ctx.session("s").prepare([*long, *ASKED])
    span = next(one for one in spans.get_finished_spans() if one.name == "ctxmw.prepare")
    (event,) = span.events
    assert event.name == "ctxmw.compaction"
    assert event.attributes["ctxmw.compaction.archived"] > 0
    assert event.attributes["gen_ai.conversation.id"] == "s"
