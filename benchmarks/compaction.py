"""How much of the evidence is still in reach when a long conversation is cut to a fifth.

    python -m benchmarks.compaction --data DIR [--json FILE] [--most N]

Reads the same files as `benchmarks.retrieval`. Each conversation is one long history. It is cut
down to at most 20 % of its tokens in four ways; then every question is asked, and a gold message
counts when most of its words are in the history that is left, or in one 500-token answer of
`mem_search`. All ways get the same search, though only ctxmw brings it along:

ctxmw            chat.compact
summarization    LangChain's SummarizationMiddleware; its model is a stand-in that answers with the
                 sentences worth most of what it is given, as long a summary as fits
trim_messages    LangChain's, the last messages that fit
memory           LlamaIndex's Memory, its history as it is after flushing

No model is asked. Tokens are cl100k_base, of texts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from benchmarks.retrieval import COUNT, ENCODING, carried, said_at, scored
from ctxmw import ContextMiddleware, memory_tools
from ctxmw.compaction.note_lines import Salience, split_up
from ctxmw.values.messages import message_text

SHARE = 0.2
GOALS = {"locomo-dev": 84.0, "realtalk-dev": 68.0}
"""What is to be reached with search, in percent."""

Message = dict[str, Any]
Way = Callable[[ContextMiddleware, list[Message], int], list[str]]
"""Takes a history and the tokens that may be left; returns the texts that are left."""


BENCHMARK = Benchmark(
    name="compaction",
    about=__doc__,
    data="conversations with known evidence that others wrote",
    seed=None,
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, help="conversations a file, for a quick look")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    chosen = parser.parse_args()
    files = sorted(chosen.data.glob("*.jsonl"))
    rows = (
        Line(
            f"{path.stem}, {name}",
            score(path, WAYS[name], chosen.most) | {"goal": GOALS.get(path.stem)},
            table="% in reach",
        )
        for path in files
        for name in chosen.ways
    )
    BENCHMARK.tell(rows, chosen, files)


def score(path: Path, way: Way, most: int | None) -> dict[str, float]:
    """Return what is in reach on all conversations of a file, in percent."""
    history: list[float] = []
    with_search: list[float] = []
    shares: list[float] = []
    for conversation in map(json.loads, path.read_text(encoding="utf-8").splitlines()[:most]):
        for left, alone, both in reach(conversation, path.stem, way):
            shares.append(left)
            history.append(alone)
            with_search.append(both)
    return {
        "questions": len(history),
        "history": round(100 * statistics.mean(history), 1),
        "with search": round(100 * statistics.mean(with_search), 1),
        "largest share of tokens": round(100 * max(shares), 1),
    }


def reach(
    conversation: dict[str, Any], stem: str, way: Way
) -> Iterator[tuple[float, float, float]]:
    """Yield for each question: the tokens left, the evidence in the history, and with search."""
    items = {item["id"]: item for item in conversation["items"]}
    latest = max(map(said_at, items.values()))
    messages = [as_message(item) for item in conversation["items"]]
    total = sum(COUNT(message["content"]) for message in messages)
    clock = lambda: latest + timedelta(hours=1)  # noqa: E731 - a clock is one expression
    options: dict[str, Any] = {"model": ENCODING, "clock": clock, "deadline": None}
    with ContextMiddleware.open(":memory:", **options) as ctx:
        ctx.session("long").capture(messages)
        left = "\n".join(way(ctx, messages, int(SHARE * total)))
        held = {ref for ref, item in items.items() if carried(item["text"], left)}
        mem_search = memory_tools(ctx.session("long"))[0]
        for question in scored(conversation["questions"], stem):
            gold = question["evidence"]
            answer = mem_search(query=question["question"])
            found = {ref for ref in gold if ref in held or carried(items[ref]["text"], answer)}
            alone = sum(ref in held for ref in gold) / len(gold)
            yield COUNT(left) / total, alone, len(found) / len(set(gold))


def as_message(item: dict[str, Any]) -> Message:
    speaks = item["speaker"] in ("user", "assistant")
    return {
        "role": item["speaker"] if speaks else "user",
        "content": item["text"],
        "name": "" if speaks else item["speaker"],
        "id": item["id"],
        "at": said_at(item),
    }


# --- four ways ---


def with_ctxmw(ctx: ContextMiddleware, messages: list[Message], limit: int) -> list[str]:
    compacted = ctx.session("long").compact(messages, window=2 * limit)
    return [message_text(message) for message in compacted.messages]


def with_summarization(_: ContextMiddleware, messages: list[Message], limit: int) -> list[str]:
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, RemoveMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Extracts(BaseChatModel):
        """Answers with the sentences worth most of what it is given."""

        @property
        def _llm_type(self) -> str:
            return "extracts"

        def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            said = split_up("\n".join(str(message.content) for message in messages))
            best = Salience(said).best(said, limit // 2 - 50, COUNT)
            answer = AIMessage("\n".join(said[at] for at in best))
            return ChatResult(generations=[ChatGeneration(message=answer)])

    middleware = SummarizationMiddleware(
        Extracts(), trigger=("tokens", limit), keep=("tokens", limit // 2), token_counter=_counted
    )
    done = middleware.before_model({"messages": _langchain(messages)}, None)
    kept = (done or {}).get("messages", [])
    return [str(message.content) for message in kept if not isinstance(message, RemoveMessage)]


def with_trim_messages(_: ContextMiddleware, messages: list[Message], limit: int) -> list[str]:
    from langchain_core.messages import trim_messages

    kept = trim_messages(_langchain(messages), max_tokens=limit, token_counter=_counted)
    return [str(message.content) for message in kept]


def with_memory(_: ContextMiddleware, messages: list[Message], limit: int) -> list[str]:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory

    memory = Memory.from_defaults(
        token_limit=limit,
        chat_history_token_ratio=1.0,
        token_flush_size=max(1, limit // 10),
        tokenizer_fn=lambda text: [0] * COUNT(text),
    )
    for message in messages:
        memory.put(ChatMessage(role=message["role"], content=message["content"]))
    return [message.content or "" for message in memory.get()]


def _langchain(messages: Sequence[Message]) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage

    kinds = {"user": HumanMessage, "assistant": AIMessage}
    return [kinds[message["role"]](message["content"]) for message in messages]


def _counted(messages: Any) -> int:
    return sum(COUNT(str(message.content)) for message in messages)


WAYS: dict[str, Way] = {
    "ctxmw": with_ctxmw,
    "summarization": with_summarization,
    "trim_messages": with_trim_messages,
    "memory": with_memory,
}


if __name__ == "__main__":
    main()
