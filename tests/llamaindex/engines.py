"""The six chat engines, each over the same small retriever, and the four ways to chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.chat_engine.multi_modal_condense_plus_context import (
    MultiModalCondensePlusContextChatEngine,
)
from llama_index.core.chat_engine.multi_modal_context import MultiModalContextChatEngine
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import ImageNode, NodeWithScore, TextNode

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

OWN = "You are a careful assistant."
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


class Notes(BaseRetriever):
    """Always finds the same notes."""

    def __init__(self, *texts: str, image: bool = False) -> None:
        super().__init__()
        self._nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in texts]
        if image:
            self._nodes.append(NodeWithScore(node=ImageNode(image=PIXEL), score=1.0))

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return self._nodes


def simple(llm: LLM) -> Any:
    return SimpleChatEngine.from_defaults(llm=llm, system_prompt=OWN)


def context(llm: LLM) -> Any:
    return ContextChatEngine.from_defaults(retriever=Notes("A note."), llm=llm, system_prompt=OWN)


def condense_plus_context(llm: LLM) -> Any:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=Notes("A note."), llm=llm, system_prompt=OWN
    )


def condense_question(llm: LLM) -> Any:
    synthesizer = get_response_synthesizer(llm=llm)
    query_engine = RetrieverQueryEngine(Notes("A note."), response_synthesizer=synthesizer)
    return CondenseQuestionChatEngine.from_defaults(query_engine=query_engine, llm=llm)


def multi_modal_context(llm: LLM) -> Any:
    return MultiModalContextChatEngine.from_defaults(
        retriever=Notes("A note.", image=True), multi_modal_llm=llm, system_prompt=OWN
    )


def multi_modal_condense_plus_context(llm: LLM) -> Any:
    return MultiModalCondensePlusContextChatEngine.from_defaults(
        retriever=Notes("A note.", image=True), multi_modal_llm=llm, system_prompt=OWN
    )


ENGINES: list[Callable[[LLM], Any]] = [
    simple,
    context,
    condense_plus_context,
    condense_question,
    multi_modal_context,
    multi_modal_condense_plus_context,
]


async def chat(engine: Any, message: str) -> Any:
    return engine.chat(message)


async def achat(engine: Any, message: str) -> Any:
    return await engine.achat(message)


async def stream_chat(engine: Any, message: str) -> Any:
    response = engine.stream_chat(message)
    assert "".join(response.response_gen)
    return response


async def astream_chat(engine: Any, message: str) -> Any:
    response = await engine.astream_chat(message)
    assert "".join([token async for token in response.async_response_gen()])
    return response


FORMS = [chat, achat, stream_chat, astream_chat]
