"""What a memory adds to a LlamaIndex chat, and how long it keeps the event loop waiting.

python -m benchmarks.llamaindex [--memories 10000] [--rounds 200]
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from benchmarks.prepare import fill_memories
from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf
from benchmarks.timing import percentiles, timed, watched
from ctxmw import ContextMiddleware
from ctxmw_llamaindex import with_context

TICK = 0.001

TEXT = Zipf(Random(7))


BENCHMARK = Benchmark(
    name="llamaindex", about=__doc__, data="memories of made-up words, a stand-in as model", seed=7
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
    alone = _conversation(_engine(), rounds)
    running = _conversation(with_context(_engine(), ctx), rounds)
    wrapping = [timed(lambda: with_context(_engine(), ctx)) for _ in range(rounds)]
    first = [_first_turn(ctx, number) for number in range(rounds)]
    streamed = [_first_token(ctx, number) for number in range(rounds)]
    times = {
        "bare chat": alone,
        "wrapped chat, next turn": running,
        "wrapped chat, first turn": first,
        "wrapped stream_chat, first token, first turn": streamed,
        "making an engine and wrapping it": wrapping,
    }
    for what, some in times.items():
        yield Line(what, percentiles(some), table="ms")
    before, after = percentiles(alone), percentiles(running)
    added = {name: round(after[name] - before[name], 2) for name in ("p50", "p90", "p99")}
    yield Line("added to a turn", {**added, "n": len(running)}, table="ms")


def _engine() -> Any:
    # The limit keeps about the last twenty messages.
    memory = ChatMemoryBuffer.from_defaults(token_limit=200)
    llm = MockLLM(max_tokens=8, is_chat_model=True)
    return SimpleChatEngine.from_defaults(llm=llm, memory=memory)


def _conversation(engine: Any, rounds: int) -> list[float]:
    random = Random(3)
    return [timed(partial(engine.chat, _question(random))) for _ in range(rounds)][5:]


def _first_turn(ctx: ContextMiddleware, number: int) -> float:
    engine = with_context(_engine(), ctx)
    return timed(partial(engine.chat, _question(Random(number))))


def _first_token(ctx: ContextMiddleware, number: int) -> float:
    engine = with_context(_engine(), ctx)
    asked = _question(Random(number))
    started = time.perf_counter()
    tokens = engine.stream_chat(asked).response_gen
    next(tokens)
    took = 1000 * (time.perf_counter() - started)
    for _ in tokens:
        pass
    return took


async def _stalls(ctx: ContextMiddleware, rounds: int) -> list[Line]:
    rows = []
    for name in ("bare", "wrapped"):
        made = [_engine() for _ in range(rounds)]
        engines = [with_context(engine, ctx) for engine in made] if name == "wrapped" else made
        calls = [
            partial(engine.achat, _question(Random(number)))
            for number, engine in enumerate(engines)
        ]
        took, gaps = await watched(partial(_all, calls))
        figures = {**percentiles(gaps), "longest": round(max(gaps), 1), "s": round(took / 1000, 1)}
        rows.append(Line(f"event loop's delay, achat, {name}", figures, table="ms"))
    return rows


async def _all(calls: list[Callable[[], Awaitable[Any]]]) -> None:
    await asyncio.gather(*(call() for call in calls))


def _question(random: Random) -> str:
    return f"What about {TEXT.line(4, random)}?"


if __name__ == "__main__":
    main()
