"""What a memory adds to a LangChain call, and how long it keeps the event loop waiting.

python -m benchmarks.langchain [--memories 10000] [--rounds 200]
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

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

from benchmarks.prepare import fill_memories
from benchmarks.search import Zipf
from benchmarks.timing import percentile, report, timed
from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context

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
    bare = FakeListChatModel(responses=["Answer."])
    wrapped = with_context(bare, ctx)
    alone = _conversation(bare, rounds)
    running = _conversation(wrapped, rounds, session="running")
    first = [_first_turn(wrapped, number) for number in range(rounds)]
    streamed = [_first_chunk(wrapped, number) for number in range(rounds)]
    print(report("bare invoke", alone))
    print(report("wrapped invoke, next turn", running))
    print(report("wrapped invoke, first turn", first))
    print(report("wrapped stream, first chunk of a first turn", streamed))
    added = [percentile(running, share) - percentile(alone, share) for share in (0.5, 0.9, 0.99)]
    print(f"added to a turn: p50 {added[0]:.1f}  p90 {added[1]:.1f}  p99 {added[2]:.1f} ms")


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


async def _stalls(ctx: ContextMiddleware, rounds: int) -> None:
    bare = FakeListChatModel(responses=["Answer."])
    wrapped = with_context(bare, ctx)
    for name, model in (("bare", bare), ("wrapped", wrapped)):
        asked = [_question(Random(number)) for number in range(rounds)]
        configs: Any = [{"configurable": {"session_id": f"a{n}"}} for n in range(rounds)]
        batch = partial(model.abatch, asked, configs)
        took, gaps = await _watched(batch)
        print(report(f"event loop's delay, abatch of {rounds}, {name}", gaps))
        print(f"   longest {max(gaps):.1f} ms; {rounds} calls in {took / 1000:.1f} s")


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
