"""Many conversations at once in one process, and many processes on one file.

    python -m benchmarks.load [--memories 20000] [--conversations 100] [--rates 10 25 50 100]
                              [--seconds 10] [--processes 8] [--ended 10000] [--json FILE]

Open loop: calls begin when they are due, whether or not earlier ones are done, and a call's time
counts from when it was due. A rate is held when every call was answered within the run and its p99
is below a second. The stall is how late a timer of the same event loop goes off. Under more calls
than a process can make, some go out without a search (the stable block and earlier parts alone),
then some without memory; of each, the share is told, and how many of the words said are in the
store afterwards. A fixed piece of Python is timed beside each rate: `control_ms`, its p50 alone.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, ParamSpec, TypeVar

from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf
from benchmarks.timing import control, percentile
from ctxmw import ContextMiddleware, Session, SqliteStore
from ctxmw.protocols import Find, Row
from ctxmw.values.records import utc_now

P = ParamSpec("P")
T = TypeVar("T")

TICK = 0.005
HELD_MS = 1_000
BATCH = 500
SEED, WORDS = 1, 18
"""Of what is remembered, and words of each."""
PEOPLE, WARM = 50, 500
"""Who talks when memory is measured, and how often before."""


BENCHMARK = Benchmark(
    name="load", about=__doc__, data="memories and questions of made-up words", seed=SEED
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--conversations", type=int, default=100)
    parser.add_argument("--rates", type=float, nargs="+", default=[10, 25, 50, 75, 100])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--ended", type=int, default=10_000, help="conversations opened and ended")
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(chosen), chosen)


def measured(chosen: argparse.Namespace) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        # By another process: this one opens it as a server does that starts.
        apart(fill, path, chosen.memories)
        text = after_filling(chosen.memories)
        with ContextMiddleware.open(path) as ctx:
            warm(ctx)
            for rate in chosen.rates:
                loop = open_loop(ctx, text, rate, chosen.seconds, chosen.conversations)
                yield Line(f"{rate:g} calls a second", asyncio.run(loop))
    yield Line("durable commits", durable_commits(chosen.processes, chosen.seconds))
    yield Line("conversations opened and ended", apart(resident_after, chosen.ended))


def apart(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return what the call returns in a process of its own, which has done nothing else."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, args, options)


def fill(path: Path, memories: int) -> None:
    """Remember so many facts; many in one transaction, as only the reading is measured."""
    text = Zipf(Random(SEED))
    with ContextMiddleware.open(path) as ctx:
        store = ctx.store
        for start in range(0, memories, BATCH):
            with store.atomic("local"):
                for number in range(start, min(start + BATCH, memories)):
                    ctx.remember(f"{text.line(WORDS)} n{number}.", kind="fact")


def after_filling(memories: int) -> Zipf:
    """Return the text as it goes on behind what was remembered: questions repeat none of it."""
    text = Zipf(Random(SEED))
    for _ in range(memories):
        text.line(WORDS)
    return text


def warm(ctx: ContextMiddleware) -> None:
    """Have the process make what later calls find made, and clear up."""
    ctx.search("warm")
    chat = ctx.session("warm")
    chat.finish(chat.prepare([{"role": "user", "content": "What is warm?"}]), "This is.")
    gc.collect()


async def open_loop(
    ctx: ContextMiddleware, text: Zipf, rate: float, seconds: float, conversations: int
) -> dict[str, Any]:
    """Begin `rate` calls a second, each a prepare and a finish of one of the conversations."""
    chats = [ctx.session(f"load-{rate}-{n}") for n in range(conversations)]
    histories: list[list[dict[str, Any]]] = [[] for _ in chats]
    took: list[float] = []
    stalls: list[float] = []
    without: Counter[str] = Counter()
    before, quiet = _resident(), percentile([control() for _ in range(50)], 0.5)
    ticking = asyncio.create_task(_tick(stalls))

    async def call(number: int, due: float) -> None:
        chat, history = chats[number % conversations], histories[number % conversations]
        asked = [*history, {"role": "user", "content": f"What about {text.line(4)}?"}]
        prepared = await chat.aprepare(asked)
        took.append(1000 * (time.perf_counter() - due))
        without["search" if prepared.is_recorded else "memory"] += bool(prepared.context.degraded)
        await chat.afinish(prepared, "So it is.")
        histories[number % conversations] = [*asked, {"role": "assistant", "content": "So it is."}]

    started = time.perf_counter()
    calls = []
    for number in range(int(rate * seconds)):
        due = started + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        calls.append(asyncio.create_task(call(number, due)))
    await asyncio.gather(*calls)
    spent = time.perf_counter() - started
    ticking.cancel()
    p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
    return {
        "rate": rate,
        "calls": len(took),
        "achieved": round(len(took) / spent, 1),
        "prepare_p50_ms": round(p50, 1),
        "prepare_p99_ms": round(p99, 1),
        "stall_p99.9_ms": round(percentile(stalls, 0.999), 1),
        "stall_longest_ms": round(max(stalls), 1),
        "with_memory_percent": round(100 * (1 - without.total() / len(took)), 1),
        "without_search": without["search"],
        "without_memory": without["memory"],
        "lost_words": 2 * len(took) - _said(ctx, chats),
        "grown_mb": round(_resident() - before, 1),
        "control_ms": round(quiet, 2),
        "held": p99 < HELD_MS and spent < seconds + 2,
    }


def _said(ctx: ContextMiddleware, chats: Sequence[Session]) -> int:
    """Return how many messages of the conversations are in the store."""
    asked = Find(types=("turn",), sessions=tuple(chat.id for chat in chats), limit=1_000_000)
    return len(ctx.store.query("local", asked))


async def _tick(stalls: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(TICK)
        stalls.append(max(0.0, 1000 * (time.perf_counter() - began - TICK)))


def durable_commits(processes: int, seconds: float) -> dict[str, Any]:
    """Count rows that so many processes put into one file, each in a transaction of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        SqliteStore(path).close()
        spawn = multiprocessing.get_context("spawn")
        with spawn.Pool(processes) as pool:
            pool.map(_nothing, range(processes))
            done = pool.starmap(_commit, [(str(path), n, seconds) for n in range(processes)])
    return {"processes": processes, "commits_per_second": round(sum(done) / seconds)}


def _nothing(_: int) -> None:
    # The processes are there and have imported what they need before the time starts.
    time.sleep(0.5)


def _commit(path: str, number: int, seconds: float) -> int:
    store, done = SqliteStore(path), 0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        ref = f"m{number}x{done}"
        words = f"row {number} {done}"
        row = Row(user="u", ref=ref, type="memory", at=utc_now(), body="{}", search_text=words)
        store.put([row])
        done += 1
    store.close()
    return done


def resident_after(ended: int) -> dict[str, Any]:
    """Open and end conversations, and return what the process holds before and after."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ContextMiddleware.open(Path(folder) / "memory.db") as ctx,
    ):

        def talk(first: int, n: int) -> None:
            for number in range(first, first + n):
                chat = ctx.session(f"c{number}", user=f"u{number % PEOPLE}")
                prepared = chat.prepare([{"role": "user", "content": f"Hello number {number}"}])
                chat.finish(prepared, "Hi.")
                chat.end()

        talk(0, WARM)
        before = _resident()
        talk(WARM, ended)
        after = _resident()
    return {
        "conversations": ended,
        "before_mb": before,
        "after_mb": after,
        "growth_percent": round(100 * (after / before - 1), 1),
    }


def _resident() -> float:
    """Return megabytes in memory, once what is free was given back."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


if __name__ == "__main__":
    main()
