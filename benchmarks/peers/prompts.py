"""How much of each prompt a provider finds in its cache, with each system's own way of placing.

The conversation and the model of a cache are those of `benchmarks.prefix`.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.prefix import Cache, Message, Talk
from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock

from .embedding import as_llamaindex
from .lists import LangGraphStore, Mem0
from .systems import System

FOUND = 600
"""Tokens a recall may bring into a system prompt."""


class Known:
    """Keeps what a conversation's memory knows, for systems that are filled by hand."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def remember(self, text: str) -> None:
        self.texts.append(text)


def ours(turns: int, _: str) -> Iterator[list[Message]]:
    """By `prepare`: a stable block, and parts that stay where they were."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(
            Path(folder) / "memory.db", clock=FixedClock(), random=Random(1)
        ) as ctx,
    ):
        talk = Talk(turns, Random(7)).remembered_by(ctx)
        chat = ctx.session("long", project="shop")
        for messages, answer in zip(talk.histories(), talk.answers, strict=True):
            prepared = chat.prepare(messages)
            yield [dict(message) for message in prepared.messages]
            chat.finish(prepared, answer)


def mem0(turns: int, embedder: str) -> Iterator[list[Message]]:
    """As mem0's quickstart does it: what is found for the message goes into the system prompt."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _in_system(Mem0(Path(folder), embedder), turns)


def langgraph(turns: int, embedder: str) -> Iterator[list[Message]]:
    """As LangGraph's memory guide does it: what is found goes into the system prompt."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _in_system(LangGraphStore(Path(folder), embedder), turns)


def llamaindex(turns: int, embedder: str) -> Iterator[list[Message]]:
    """By `Memory.get()`: its vector block goes into the system message, as it does by default."""
    import chromadb
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory, VectorMemoryBlock
    from llama_index.vector_stores.chroma import ChromaVectorStore

    client = chromadb.EphemeralClient(settings=chromadb.Settings(anonymized_telemetry=False))
    turns_kept = client.get_or_create_collection("talk", metadata={"hnsw:space": "cosine"})
    store = ChromaVectorStore(chroma_collection=turns_kept)
    block = VectorMemoryBlock(
        vector_store=store, embed_model=as_llamaindex(embedder), similarity_top_k=8
    )
    talk = _filled(Known(), turns)
    loop = asyncio.new_event_loop()
    for text in talk[1]:
        message = ChatMessage(role="user", content=text)
        loop.run_until_complete(
            block.aput([message], from_short_term_memory=True, session_id="talk")
        )
    memory = Memory.from_defaults(
        session_id="talk", token_limit=200_000, memory_blocks=[block], async_database_uri=None
    )
    opening = ChatMessage(role="system", content=talk[0].system)
    for question, answer in zip(talk[0].questions, talk[0].answers, strict=True):
        loop.run_until_complete(memory.aput(ChatMessage(role="user", content=question)))
        got = loop.run_until_complete(memory.aget())
        yield _with_opening(opening, got)
        loop.run_until_complete(memory.aput(ChatMessage(role="assistant", content=answer)))
    client.delete_collection("talk")
    loop.close()


WAYS = {
    "ctxmw": ours,
    "mem0": mem0,
    "LangGraph store": langgraph,
    "LlamaIndex Memory": llamaindex,
}


def share(name: str, turns: int, embedder: str) -> dict[str, float]:
    """Return how much of all prompts the cache served, by both ways of caching."""
    cache = Cache()
    for prompt in WAYS[name](turns, embedder):
        cache.send(prompt)
    return cache.figures()


def _in_system(system: System, turns: int) -> Iterator[list[Message]]:
    talk, known = _filled(Known(), turns)
    items = [{"id": f"i{n}", "speaker": "user", "text": text} for n, text in enumerate(known)]
    system.add(items)
    for messages in talk.histories():
        found = system.recall(messages[-1]["content"], FOUND).text
        opening = f"{talk.system}\nUser memories:\n{found}"
        yield [{"role": "system", "content": opening}, *messages[1:]]
    system.close()


def _filled(known: Known, turns: int) -> tuple[Talk, list[str]]:
    talk = Talk(turns, Random(7)).remembered_by(known)  # type: ignore[arg-type]
    return talk, known.texts


def _with_opening(opening: Any, got: list[Any]) -> list[Message]:
    """Return the prompt a chat engine makes: its system prompt, then what the memory gave."""
    return [{"role": one.role.value, "content": one.content or ""} for one in (opening, *got)]
