"""What a memory adds to a LlamaIndex chat, and how long it keeps the event loop waiting.

python -m benchmarks.llamaindex [--memories 10000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from benchmarks.prepare import fill_memories
from benchmarks.search import Zipf
from benchmarks.timing import percentile, report, timed
from ctxmw import ContextMiddleware
from ctxmw_llamaindex import with_context

TICK = 0.001

TEXT = Zipf(Random(7))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(Path(folder) / "memory.db") as ctx,
    ):
        filled = timed(partial(fill_memories, ctx, chosen.memories, TEXT, Random(7)))
        print(f"{chosen.memories} memories, remembered in {filled / 1000:.0f} s")
        _overhead(ctx, chosen.rounds)
        asyncio.run(_stalls(ctx, chosen.rounds))


def _overhead(ctx: ContextMiddleware, rounds: int) -> None:
    alone = _conversation(_engine(), rounds)
    running = _conversation(with_context(_engine(), ctx), rounds)
    wrapping = [timed(lambda: with_context(_engine(), ctx)) for _ in range(rounds)]
    first = [_first_turn(ctx, number) for number in range(rounds)]
    streamed = [_first_token(ctx, number) for number in range(rounds)]
    print(report("bare chat", alone))
    print(report("wrapped chat, next turn", running))
    print(report("wrapped chat, first turn", first))
    print(report("wrapped stream_chat, first token, first turn", streamed))
    print(report("making an engine and wrapping it", wrapping))
    added = [percentile(running, share) - percentile(alone, share) for share in (0.5, 0.9, 0.99)]
    print(f"added to a turn: p50 {added[0]:.1f}  p90 {added[1]:.1f}  p99 {added[2]:.1f} ms")


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


async def _stalls(ctx: ContextMiddleware, rounds: int) -> None:
    for name in ("bare", "wrapped"):
        made = [_engine() for _ in range(rounds)]
        engines = [with_context(engine, ctx) for engine in made] if name == "wrapped" else made
        calls = [
            partial(engine.achat, _question(Random(number)))
            for number, engine in enumerate(engines)
        ]
        took, gaps = await _watched(partial(_all, calls))
        print(report(f"event loop's delay, {rounds} achat at once, {name}", gaps))
        print(f"   longest {max(gaps):.1f} ms; {rounds} chats in {took / 1000:.1f} s")


async def _all(calls: list[Callable[[], Awaitable[Any]]]) -> None:
    await asyncio.gather(*(call() for call in calls))


async def _watched(call: Callable[[], Awaitable[Any]]) -> tuple[float, list[float]]:
    """Return how long the call took, and by how much a clock on the same loop was late."""
    gaps: list[float] = [0.0]
    done = asyncio.Event()

    async def tick() -> None:
        while not done.is_set():
            before = time.perf_counter()
            await asyncio.sleep(TICK)
            gaps.append(1000 * (time.perf_counter() - before - TICK))

    ticking = asyncio.create_task(tick())
    started = time.perf_counter()
    await call()
    took = 1000 * (time.perf_counter() - started)
    done.set()
    await ticking
    return took, gaps


def _question(random: Random) -> str:
    return f"What about {TEXT.line(4, random)}?"


if __name__ == "__main__":
    main()
