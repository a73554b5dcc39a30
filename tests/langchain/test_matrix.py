"""Every kind of runnable, called in every way: the memory arrives once and nothing else changes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from ctxmw_langchain import with_context
from tests.langchain.conftest import KNOWN
from tests.langchain.models import RecordingModel
from tests.langchain.shapes import SHAPES, Shape

# What a call brings: the items that came out, one after the other.
Form = Callable[[Any, Any], Awaitable[list[Any]]]


async def _aiter(given):
    yield given


async def invoke(runnable, given):
    return [runnable.invoke(given)]


async def ainvoke(runnable, given):
    return [await runnable.ainvoke(given)]


async def stream(runnable, given):
    return list(runnable.stream(given))


async def astream(runnable, given):
    return [chunk async for chunk in runnable.astream(given)]


async def transform(runnable, given):
    return list(runnable.transform(iter([given])))


async def atransform(runnable, given):
    return [chunk async for chunk in runnable.atransform(_aiter(given))]


async def batch(runnable, given):
    return runnable.batch([given, given])


async def abatch(runnable, given):
    return await runnable.abatch([given, given])


async def batch_as_completed(runnable, given):
    return [answer for _, answer in runnable.batch_as_completed([given, given])]


async def abatch_as_completed(runnable, given):
    return [answer async for _, answer in runnable.abatch_as_completed([given, given])]


async def stream_events_v3(runnable, given):
    return list(runnable.stream_events(given, version="v3"))


async def astream_events_v2(runnable, given):
    return [event async for event in runnable.astream_events(given, version="v2")]


async def astream_events_v3(runnable, given):
    events = await runnable.astream_events(given, version="v3")
    brought = [event async for event in events]
    await events  # the stream's own end, callbacks included
    return brought


FORMS: dict[str, Form] = {
    form.__name__: form
    for form in (
        invoke,
        ainvoke,
        stream,
        astream,
        transform,
        atransform,
        batch,
        abatch,
        batch_as_completed,
        abatch_as_completed,
        stream_events_v3,
        astream_events_v2,
        astream_events_v3,
    )
}
TYPED = "LangChain has typed event streams for models (and what is bound to one) and graphs only"
UNSUPPORTED = {
    **{
        (shape, form): TYPED
        for shape in SHAPES.keys() - {"model", "bind", "bind_tools", "with_retry"}
        for form in ("stream_events_v3", "astream_events_v3")
    },
    ("map", "astream_events_v2"): "LangChain has no events for map()",
}
TWICE = ("batch", "abatch", "batch_as_completed", "abatch_as_completed")
CELLS = [(shape, form) for shape in SHAPES for form in FORMS]


def model_for(shape: Shape) -> RecordingModel:
    return RecordingModel(otherwise=shape.reply)


@pytest.mark.filterwarnings("ignore:.*is in beta")
@pytest.mark.parametrize(("name", "form"), [cell for cell in CELLS if cell not in UNSUPPORTED])
async def test_the_memory_arrives_once_and_nothing_else_changes(name, form, ctx):
    shape, call = SHAPES[name], FORMS[form]
    plain, model = model_for(shape), model_for(shape)
    bare = await call(shape.build(plain), copy.deepcopy(shape.given))

    original, given = shape.build(model), copy.deepcopy(shape.given)
    before = repr(original)
    chat = ctx.session("matrix")
    wrapped = with_context(with_context(original, ctx), ctx, session=chat)
    brought = await call(wrapped, given)

    times = shape.calls * (2 if form in TWICE else 1)
    assert [text.count(KNOWN) for text in model.texts()] == [1] * times
    assert [text.count(KNOWN) for text in plain.texts()] == [0] * times
    assert repr(original) == before
    assert given == shape.given
    assert list(map(said, brought)) == list(map(said, bare))
    records = chat.history()
    assert [record.state for record in records] == ["answered"] * times
    carried = [ref for item in brought for ref in refs_on(item)]
    assert set(carried) <= {record.ref for record in records}
    if isinstance(bare[0], BaseMessage):
        assert refs_on(brought[0])


@pytest.mark.filterwarnings("ignore:.*is in beta")
@pytest.mark.parametrize(("name", "form"), sorted(UNSUPPORTED))
async def test_what_langchain_itself_refuses_is_refused_the_same_way(name, form, ctx):
    shape, call = SHAPES[name], FORMS[form]
    with pytest.raises(NotImplementedError) as bare:
        await call(shape.build(model_for(shape)), shape.given)
    with pytest.raises(NotImplementedError) as wrapped:
        await call(with_context(shape.build(model_for(shape)), ctx), shape.given)
    assert str(wrapped.value) == str(bare.value)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("name", SHAPES)
def test_plain_sync_events_do_not_exist_in_langchain(name, version, ctx):
    shape = SHAPES[name]
    for runnable in (
        shape.build(model_for(shape)),
        with_context(shape.build(model_for(shape)), ctx),
    ):
        with pytest.raises(NotImplementedError, match="not supported"):
            list(runnable.stream_events(shape.given, version=version))


@pytest.mark.parametrize("name", SHAPES)
def test_schemas_and_graph_stay_the_same(name, ctx):
    original = SHAPES[name].build(model_for(SHAPES[name]))
    wrapped = with_context(original, ctx)
    assert wrapped.get_input_jsonschema() == original.get_input_jsonschema()
    assert wrapped.get_output_jsonschema() == original.get_output_jsonschema()
    assert wrapped.config_specs == original.config_specs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert wrapped.get_graph().draw_mermaid() == original.get_graph().draw_mermaid()


def said(item: Any) -> Any:
    """What an item says, without ids and what we put on it."""
    if isinstance(item, BaseMessage):
        calls = [(call["name"], call["args"]) for call in getattr(item, "tool_calls", ())]
        return item.content, calls
    if isinstance(item, dict) and "event" in item:
        return item["event"], item.get("name")
    if isinstance(item, dict):
        return {key: said(value) for key, value in item.items()}
    if isinstance(item, list):
        return list(map(said, item))
    return item


def refs_on(item: Any) -> list[str]:
    """The records named by the messages in an item."""
    if isinstance(item, BaseMessage):
        mark = item.response_metadata.get("ctxmw")
        return [mark["record"]] if mark else []
    if isinstance(item, list):
        return [ref for part in item for ref in refs_on(part)]
    if isinstance(item, dict) and "event" not in item:
        return [ref for part in item.values() for ref in refs_on(part)]
    return []
