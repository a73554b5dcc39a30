"""A chat model with a memory: every call of it is prepared first and kept afterwards.

The wrapper stands around the model and not inside: LangChain's cache is keyed by what the model is
really sent, and no run is added to a trace. Every way of calling comes down to `invoke`, `ainvoke`,
`stream`, `astream` and the typed event streams.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import ensure_config, merge_configs
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec
from pydantic import ConfigDict

from .authors import Authors
from .call import ModelCall, NewCall
from .conversations import Conversations
from .convert import KEY, messages_of
from .room import room_of
from .said import spoken
from .templates import Upstream
from .typed_stream import AsyncWatch, Watch


class ContextModel(RunnableSerializable[LanguageModelInput, AIMessage]):
    """A chat model whose prompts bring what matters. Made by `with_context`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bound: BaseChatModel
    conversations: Conversations
    upstream: Upstream = Upstream()
    """What stands before it in the chain that it was wrapped in."""

    def invoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        call = self._new_call(input, config, kwargs).begin()
        with call.watched:
            reply = self.bound.invoke(call.messages, _traced(config, call), **_bound(kwargs, call))
        answer: AIMessage = call.answered(reply)
        return answer

    async def ainvoke(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        call = await self._new_call(input, config, kwargs).abegin()
        async with call.watched:
            reply = await self.bound.ainvoke(
                call.messages, _traced(config, call), **_bound(kwargs, call)
            )
        answer: AIMessage = await call.off_loop(call.answered, reply)
        return answer

    def stream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[AIMessage]:
        call = self._new_call(input, config, kwargs).begin()
        chunks: list[AIMessage] = []
        with call.watched:
            for chunk in self.bound.stream(
                call.messages, _traced(config, call), **_bound(kwargs, call)
            ):
                chunks.append(chunk)
                yield chunk if len(chunks) > 1 else call.began(chunk)
        call.streamed(chunks)

    async def astream(
        self, input: LanguageModelInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessage]:
        call = await self._new_call(input, config, kwargs).abegin()
        chunks: list[AIMessage] = []
        async with call.watched:
            async for chunk in self.bound.astream(
                call.messages, _traced(config, call), **_bound(kwargs, call)
            ):
                chunks.append(chunk)
                yield chunk if len(chunks) > 1 else await call.off_loop(call.began, chunk)
        await call.off_loop(call.streamed, chunks)

    def stream_events(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        version: str = "v2",
        **kwargs: Any,
    ) -> Any:
        """Return the events; "v3" returns LangChain's typed stream, and keeps what it brings."""
        if version != "v3":
            return super().stream_events(input, config, version=version, **kwargs)  # type: ignore[call-overload]
        call = self._new_call(input, config, kwargs).begin()
        watched = merge_configs(_traced(config, call), {"callbacks": [Watch(call)]})
        return self.bound.stream_events(
            call.messages, watched, version="v3", **_bound(kwargs, call)
        )

    def astream_events(  # type: ignore[override]
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        version: str = "v2",
        **kwargs: Any,
    ) -> AsyncIterator[Any] | Awaitable[Any]:
        """Async twin of `stream_events`."""
        if version != "v3":
            return super().astream_events(input, config, version=version, **kwargs)  # type: ignore[call-overload,no-any-return]
        return self._typed_stream(input, config, **kwargs)

    async def _typed_stream(
        self, input: LanguageModelInput, config: RunnableConfig | None, **kwargs: Any
    ) -> Any:
        call = await self._new_call(input, config, kwargs).abegin()
        watched = merge_configs(_traced(config, call), {"callbacks": [AsyncWatch(call)]})
        return await self.bound.astream_events(
            call.messages, watched, version="v3", **_bound(kwargs, call)
        )

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Return the model with tools bound, and with its memory."""
        return self._around(self.bound.bind_tools(tools, **kwargs))

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        """Return the model with structured output, and with its memory."""
        return self._around(self.bound.with_structured_output(schema, **kwargs))

    def __getattr__(self, name: str) -> Any:
        # What describes the model is the model's; what would call it past the memory is not.
        value = None if name.startswith("_") else getattr(self.bound, name, None)
        if value is None or callable(value):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return value

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return self.bound.get_name(suffix, name=name)

    @property
    def InputType(self) -> Any:
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:
        return self.bound.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return self.bound.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self.bound.get_graph(config)

    def _new_call(
        self, given: LanguageModelInput, config: RunnableConfig | None, kwargs: Mapping[str, Any]
    ) -> NewCall:
        chat = self.conversations.of(config)
        messages, said, told = spoken(messages_of(given))
        authors = Authors(config, self.upstream, given=given, said=told)
        room = room_of(self.bound, kwargs.get("tools") or (), kwargs.get("tool_choice"))
        return NewCall(chat, messages, said, room=room, authors=authors)

    def _around(self, runnable: Runnable[LanguageModelInput, Any]) -> Any:
        from .runnable import Wrapping

        return Wrapping(self.conversations).around(runnable, self.upstream)


_ABOUT_TOOLS = ("tools", "tool_choice", "parallel_tool_calls")


def _bound(kwargs: Mapping[str, Any], call: ModelCall) -> dict[str, Any]:
    """Return the arguments of a call with those of its tools that go with it."""
    tools = kwargs.get("tools")
    if not isinstance(tools, list | tuple) or not tools:
        return dict(kwargs)
    bound = list(call.bound(tools))
    if bound:
        return {**kwargs, "tools": bound}
    # Providers refuse an empty list of tools, and what is said about its use.
    return {name: value for name, value in kwargs.items() if name not in _ABOUT_TOOLS}


def _traced(config: RunnableConfig | None, call: ModelCall) -> RunnableConfig:
    """Return the config with the record's id in its metadata, for traces and event streams."""
    about: RunnableConfig = {"metadata": {KEY: call.ref}} if call.ref else {}
    return merge_configs(ensure_config(config), about)
