"""What a memory adds to a LangChain call, and how long it keeps the event loop waiting.

python -m benchmarks.langchain [--memories 10000] [--rounds 200]
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.prepare import fill_memories
from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf
from benchmarks.timing import percentiles, timed, watched
from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context

TICK = 0.001

TEXT = Zipf(Random(7))


BENCHMARK = Benchmark(
    name="langchain", about=__doc__, data="memories of made-up words, a stand-in as model", seed=7
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen.memories, chosen.rounds), chosen)


def measured(memories: int, rounds: int) -> Iterator[Line]:
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(Path(folder) / "memory.db") as ctx,
    ):
        filled = timed(partial(fill_memories, ctx, memories, TEXT, Random(BENCHMARK.seed)))
        yield Line("filled", {"memories": memories, "s": round(filled / 1000, 1)})
        yield from _overhead(ctx, rounds)
        yield from asyncio.run(_stalls(ctx, rounds))


def _overhead(ctx: ContextMiddleware, rounds: int) -> Iterator[Line]:
    bare = FakeListChatModel(responses=["Answer."])
    wrapped = with_context(bare, ctx)
    alone = _conversation(bare, rounds)
    running = _conversation(wrapped, rounds, session="running")
    first = [_first_turn(wrapped, number) for number in range(rounds)]
    streamed = [_first_chunk(wrapped, number) for number in range(rounds)]
    times = {
        "bare invoke": alone,
        "wrapped invoke, next turn": running,
        "wrapped invoke, first turn": first,
        "wrapped stream, first chunk of a first turn": streamed,
    }
    for what, some in times.items():
        yield Line(what, percentiles(some), table="ms")
    before, after = percentiles(alone), percentiles(running)
    added = {name: round(after[name] - before[name], 2) for name in ("p50", "p90", "p99")}
    yield Line("added to a turn", {**added, "n": len(running)}, table="ms")


def _conversation(model: Any, rounds: int, session: str = "") -> list[float]:
    """Time the turns of one conversation whose history keeps its last twenty messages."""
    random, said, times = Random(3), [], []
    config: Any = {"configurable": {"session_id": session}}
    for _ in range(rounds):
        said.append(HumanMessage(_question(random)))
        times.append(timed(partial(model.invoke, list(said), config)))
        said = [*said, AIMessage("Answer.")][-20:]
    return times[5:]


def _first_turn(model: Any, number: int) -> float:
    config: Any = {"configurable": {"session_id": f"first-{number}"}}
    return timed(lambda: model.invoke(_question(Random(number)), config))


def _first_chunk(model: Any, number: int) -> float:
    config: Any = {"configurable": {"session_id": f"stream-{number}"}}
    chunks = model.stream(_question(Random(number)), config)
    took = timed(lambda: next(iter(chunks)))
    for _ in chunks:
        pass
    return took


async def _stalls(ctx: ContextMiddleware, rounds: int) -> list[Line]:
    rows = []
    bare = FakeListChatModel(responses=["Answer."])
    wrapped = with_context(bare, ctx)
    for name, model in (("bare", bare), ("wrapped", wrapped)):
        asked = [_question(Random(number)) for number in range(rounds)]
        configs: Any = [{"configurable": {"session_id": f"a{n}"}} for n in range(rounds)]
        batch = partial(model.abatch, asked, configs)
        took, gaps = await watched(batch)
        figures = {**percentiles(gaps), "longest": round(max(gaps), 1), "s": round(took / 1000, 1)}
        rows.append(Line(f"event loop's delay, abatch, {name}", figures, table="ms"))
    return rows


def _question(random: Random) -> str:
    return f"What about {TEXT.line(4, random)}?"


if __name__ == "__main__":
    main()
