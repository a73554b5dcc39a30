"""Faults that users of other memories report, made to happen, with ctxmw beside.

Each is a function that returns what the peer did and what ctxmw does in the same place, and whether
each of them is as it should be.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.retrieval import COUNT, ENCODING
from ctxmw import Budget, ContextMiddleware

from .embedding import as_llamaindex
from .prompts import share

LIMIT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened in both, and whether it is right."""

    peer: str
    did: str
    ours: str
    peer_right: bool
    ours_right: bool


def budget_overflow(_: str) -> Outcome:
    """A tool call of several thousand tokens is not counted against LlamaIndex Memory's limit."""
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.memory import Memory

    text = "row " * 5_000
    call = ToolCallBlock(tool_call_id="c1", tool_name="insert", tool_kwargs={"rows": text})
    memory = Memory.from_defaults(session_id="s", token_limit=LIMIT)
    messages = [
        ChatMessage(role="user", content="Insert these rows."),
        ChatMessage(role="assistant", blocks=[TextBlock(text="Doing it."), call]),
    ]
    memory.put_messages(messages)
    sent = sum(COUNT(str(block)) for message in memory.get() for block in message.blocks)
    with _opened() as ctx:
        for number in range(400):
            ctx.remember(f"Fact {number}: {'the rows of the shop ' * 5}")
        chat = ctx.session("s", budget=Budget(total=LIMIT))
        used = COUNT(chat.prepare([{"role": "user", "content": "Insert these rows."}]).context.text)
    return Outcome(
        peer="LlamaIndex Memory",
        did=f"token_limit {LIMIT:,}: gives {sent:,} tokens",
        ours=f"Budget(total={LIMIT}): gives {used:,} tokens",
        peer_right=sent <= LIMIT,
        ours_right=used <= LIMIT,
    )


def orphaned_tool_message(_: str) -> Outcome:
    """Of two calls followed by two results, LangChain's summary takes one call away."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

    def call(number: int) -> AIMessage:
        asked = {"name": "look", "args": {"at": number}, "id": f"c{number}"}
        return AIMessage("", tool_calls=[asked], id=f"a{number}")

    def result(number: int) -> ToolMessage:
        said = f"Line {number}: " + "what was found there, " * 30
        return ToolMessage(said, tool_call_id=f"c{number}", id=f"r{number}")

    said: list[AnyMessage] = [
        HumanMessage("Find the bug in the parser.", id="h1"),
        AIMessage("I will look.", id="a0"),
        HumanMessage("Go on.", id="h2"),
        *(call(1), call(2), result(1), result(2)),
    ]
    middleware = SummarizationMiddleware(
        model=FakeListChatModel(responses=["They look for a bug."]),
        trigger=("messages", 5),
        keep=("messages", 2),
    )
    after = (middleware.before_model({"messages": said}, None) or {})["messages"]  # type: ignore
    theirs = _orphans(after)
    with _opened() as ctx:
        chat = ctx.session("s")
        plain = [_plain(message) for message in said]
        kept = chat.compact(plain, window=400).messages
    calls = {one["id"] for message in kept for one in message.get("tool_calls") or ()}
    mine = [m for m in kept if m["role"] == "tool" and m["tool_call_id"] not in calls]
    return Outcome(
        peer="LangChain SummarizationMiddleware",
        did=f"{len(theirs)} tool message without its call",
        ours=f"{len(mine)} tool messages without their call",
        peer_right=not theirs,
        ours_right=not mine,
    )


def leak_through_a_shared_instance(embedder: str) -> Outcome:
    """One VectorMemoryBlock for two people: the second one is given the first one's words."""
    secret = "My account number is 4471."
    got = asyncio.run(_shared_block(secret, embedder))
    with _opened(user=None) as ctx:
        ctx.session("a", user="alice").capture([{"role": "user", "content": secret}])
        chat = ctx.session("b", user="bob")
        asked = [{"role": "user", "content": "What is my account number?"}]
        mine = chat.prepare(asked).context.text
    return Outcome(
        peer="LlamaIndex VectorMemoryBlock",
        did="bob is shown alice's number" if "4471" in got else "bob is shown nothing of alice",
        ours="bob is shown alice's number" if "4471" in mine else "bob is shown nothing of alice",
        peer_right="4471" not in got,
        ours_right="4471" not in mine,
    )


def prefix_broken_every_turn(embedder: str) -> Outcome:
    """What is found for a message goes into the system prompt, and nothing after it is cached."""
    theirs, mine = share("mem0", 50, embedder), share("ctxmw", 50, embedder)
    line = "{breakpoints:.0%} from the cache, {breaks:.0f} of 49 prompts break it"
    return Outcome(
        peer="mem0, as its quickstart places memories",
        did=line.format(**theirs),
        ours=line.format(**mine),
        peer_right=theirs["breakpoints"] > 0.9,
        ours_right=mine["breakpoints"] > 0.9,
    )


FAULTS: tuple[Callable[[str], Outcome], ...] = (
    budget_overflow,
    orphaned_tool_message,
    leak_through_a_shared_instance,
    prefix_broken_every_turn,
)


def run(fault: Callable[[str], Outcome], embedder: str) -> dict[str, Any]:
    """Return the outcome of a fault as plain data."""
    return asdict(fault(embedder))


@contextmanager
def _opened(**options: Any) -> Iterator[ContextMiddleware]:
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(Path(folder) / "m.db", model=ENCODING, **options) as ctx,
    ):
        yield ctx


async def _shared_block(secret: str, embedder: str) -> str:
    import chromadb
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import VectorMemoryBlock
    from llama_index.vector_stores.chroma import ChromaVectorStore

    client = chromadb.EphemeralClient(settings=chromadb.Settings(anonymized_telemetry=False))
    store = ChromaVectorStore(chroma_collection=client.get_or_create_collection("shared"))
    block = VectorMemoryBlock(vector_store=store, embed_model=as_llamaindex(embedder))
    asked = [ChatMessage(role="user", content="What is my account number?")]
    said = ChatMessage(role="user", content=secret)
    await block.aput([said], from_short_term_memory=True, session_id="alice")
    await block.aget(asked, session_id="alice")
    return str(await block.aget(asked, session_id="bob"))


def _orphans(messages: list[Any]) -> list[Any]:
    calls = {one["id"] for message in messages for one in getattr(message, "tool_calls", ())}
    ids = [getattr(message, "tool_call_id", None) for message in messages]
    return [ref for ref in ids if ref is not None and ref not in calls]


def _plain(message: Any) -> dict[str, Any]:
    roles = {"human": "user", "ai": "assistant", "tool": "tool"}
    plain = {"role": roles[message.type], "content": message.content, "id": message.id}
    if calls := getattr(message, "tool_calls", None):
        plain["tool_calls"] = [{k: one[k] for k in ("id", "name", "args")} for one in calls]
    if ref := getattr(message, "tool_call_id", None):
        plain["tool_call_id"] = ref
    return plain
