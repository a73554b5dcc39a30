"""Postgres beside SQLite: single operations as a memory grows, and many workers at once.

    python -m benchmarks.machines [--stores sqlite postgres] [--sizes 1000 10000 100000]
        [--queries 100] [--workers 32] [--seconds 10] [--vectors 384]

One user has all the records. "cold" is the first search of a process, which reads the copy of the
index that is kept in the store. Workers are threads in four processes; each has a user of its own,
and asks, answers and remembers as fast as it can.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from random import Random
from typing import Any

import numpy as np

from benchmarks.report import Benchmark, Line
from benchmarks.search import START, TURNS, Zipf
from benchmarks.stores import Opener, server_cpu, stores
from benchmarks.timing import percentiles, timed
from ctxmw import ContextMiddleware
from ctxmw.protocols import Store, VectorIndex
from ctxmw.search.vectors.follow import owner_of, space_of
from ctxmw.search.vectors.numpy_index import NumpyIndex
from ctxmw.search.vectors.pgvector import PgvectorIndex
from ctxmw.store.postgres.store import PostgresStore
from ctxmw.testing.case import row
from ctxmw.values.records import Turn

PROCESSES = 4
BATCH = 500
DIRECTIONS = 32
NEAREST = 10


BENCHMARK = Benchmark(
    name="machines", about=__doc__, data="turns of made-up words, by frequency", seed=1
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--stores", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--workers", type=int, default=32, help="0: none")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--vectors", type=int, default=0, help="time vectors of this length instead"
    )
    chosen = parser.parse_args()
    BENCHMARK.tell((row for kind in chosen.stores for row in of_kind(kind, chosen)), chosen)


def of_kind(kind: str, chosen: Any) -> Iterator[Line]:
    with stores(kind) as opener:
        for size in chosen.sizes:
            if chosen.vectors:
                yield from vectors(opener, kind, size, chosen.vectors, chosen.queries)
            else:
                yield from one_user(opener, kind, size, chosen.queries)
        if chosen.workers:
            yield many_workers(opener, kind, chosen.workers, chosen.seconds)


def one_user(opener: Opener, kind: str, size: int, queries: int) -> Iterator[Line]:
    name, text = f"{kind} {size}", Zipf(Random(BENCHMARK.seed))
    store = opener(f"s{size}")
    began = time.perf_counter()
    fill(store, text, size)
    rate = size / (time.perf_counter() - began)
    yield Line(f"{name}, filled", {"records a second": round(rate)})
    with ContextMiddleware(store, deadline=None) as ctx:
        ctx.search("wabc")
        refs = [f"t{number}" for number in range(queries)]
        one = count()
        calls: dict[str, list[Callable[[], object]]] = {
            "head": [partial(store.head, "local") for _ in refs],
            "get one": [partial(store.get, "local", [ref]) for ref in refs],
            "put one": [lambda: _put(store, text, next(one)) for _ in refs],
            "search, 1,000 tokens": _searches(ctx, text, queries),
            "prepare and finish": _calls(ctx, text, queries),
        }
        for what, each in calls.items():
            yield measured(store, f"{name}, {what}", each)
    with ContextMiddleware(opener(f"s{size}"), deadline=None) as ctx:
        cold = [partial(ctx.search, "wabc")]
        yield measured(ctx.store, f"{name}, cold search", cold, warm=False)


def measured(
    store: Store, name: str, calls: Sequence[Callable[[], object]], *, warm: bool = True
) -> Line:
    """Return how long calls take, and how much of two processors they use, ours and the server's.

    On a machine that others use too, only the second is worth comparing.
    """
    if warm:
        calls[0]()
    ours, theirs = time.process_time(), server_cpu(store)
    times = [timed(call) for call in calls]
    here = 1000 * (time.process_time() - ours) / len(calls)
    there = 1000 * (server_cpu(store) - theirs) / len(calls)
    cpu = {"CPU here": round(here, 2), "CPU server": round(there, 2)}
    return Line(name, {**percentiles(times), **cpu}, table="ms")


def fill(store: Store, text: Zipf, size: int) -> None:
    for start in range(0, size, BATCH):
        numbers = range(start, min(start + BATCH, size))
        store.put([_turn(number, text).row() for number in numbers])


def _turn(number: int, text: Zipf) -> Turn:
    session, position = divmod(number, TURNS)
    return Turn(
        user="local",
        ref=f"t{number}",
        at=START + timedelta(days=session % 360, minutes=position),
        session=f"s{session}",
        role="user",
        text=f"I say {text.line(18)}.",
        speaker=("Ann", "Bob")[number % 2],
        position=position,
    )


def _put(store: Store, text: Zipf, number: int) -> None:
    store.put([row(f"x{number}", text.line(18), user="local", type="benchmark")])


def _searches(ctx: ContextMiddleware, text: Zipf, n: int) -> list[Callable[[], object]]:
    asked = [f"When did Ann mention {text.line(5)}?" for _ in range(n)]
    return [partial(ctx.search, query, budget=1000) for query in asked]


def _calls(ctx: ContextMiddleware, text: Zipf, n: int) -> list[Callable[[], object]]:
    chat = ctx.session("now", project="shop")
    history: list[dict[str, str]] = []

    def call() -> None:
        history.append({"role": "user", "content": f"What about {text.line(6)}?"})
        chat.finish(chat.prepare(history), "Fine.")
        history.append({"role": "assistant", "content": "Fine."})

    return [call] * n


# --- vectors ---


def vectors(opener: Opener, kind: str, size: int, length: int, queries: int) -> Iterator[Line]:
    """Time the index, and count what it finds of the nearest.

    The vectors have as many numbers as asked for, but vary in fewer directions, as those of texts.
    """
    store, random = opener(f"v{size}"), np.random.default_rng(3)
    directions = random.standard_normal((DIRECTIONS, length)).astype(np.float32)
    matrix = random.standard_normal((size, DIRECTIONS)).astype(np.float32) @ directions
    refs = [f"m{number}" for number in range(size)]
    owner, exact = owner_of("local", "random"), NumpyIndex()
    index: VectorIndex = PgvectorIndex(store) if isinstance(store, PostgresStore) else NumpyIndex()
    began = time.perf_counter()
    for start in range(0, size, 500):
        some = dict(zip(refs[start : start + 500], matrix[start : start + 500], strict=True))
        store.put([row(ref, user="local", type="benchmark") for ref in some])
        blobs = {ref: vector.tobytes() for ref, vector in some.items()}
        store.put_blobs("local", space_of("random"), blobs)
        index.update(owner, some, [])
        exact.update(owner, some, [])
    took = time.perf_counter() - began
    # Questions near to something that is there, as questions are.
    noise = random.standard_normal((queries, DIRECTIONS)).astype(np.float32) @ directions
    asked = matrix[random.integers(0, size, queries)] + noise / 2
    hits = 0
    for vector in asked:
        best = {ref for ref, _ in exact.nearest(owner, vector, NEAREST)}
        hits += len(best & {ref for ref, _ in index.nearest(owner, vector, NEAREST)})
    name = f"{kind} {size}"
    calls = [partial(index.nearest, owner, vector, NEAREST) for vector in asked]
    yield measured(store, f"{name}, nearest 10, {index.name}", calls)
    share = round(100 * hits / (NEAREST * queries), 1)
    found = {"% of the nearest 10": share, "added a second": round(size / took)}
    yield Line(f"{name}, {index.name}", found)
    store.close()


# --- workers ---


def many_workers(opener: Opener, kind: str, workers: int, seconds: float) -> Line:
    opener("workers").close()
    tasks = [(opener, group, max(1, workers // PROCESSES), seconds) for group in range(PROCESSES)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        results = pool.starmap(_work_in_threads, tasks, chunksize=1)
    times = [value for result, _ in results for value in result]
    failures = sum(failed for _, failed in results)
    figures = {"turns a second": round(len(times) / seconds), "failed": failures}
    return Line(f"{kind}, {workers} workers, one turn", {**percentiles(times), **figures}, "ms")


def _work_in_threads(
    opener: Opener, group: int, threads: int, seconds: float
) -> tuple[list[float], int]:
    times: list[float] = []
    failures: list[Exception] = []
    with ContextMiddleware(opener("workers"), user=None, deadline=None) as ctx:
        ready = threading.Barrier(threads)

        def work(number: int) -> None:
            ready.wait(60)
            try:
                _converse(ctx, f"user{group}-{number}", time.monotonic() + seconds, times)
            except Exception as error:  # noqa: BLE001 - a benchmark counts failures
                failures.append(error)

        running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return times, len(failures)


def _converse(ctx: ContextMiddleware, user: str, until: float, times: list[float]) -> None:
    text = Zipf(Random(user))
    chat = ctx.session("s1", user=user)
    history: list[dict[str, str]] = []
    while time.monotonic() < until:
        del history[:-6]
        history.append({"role": "user", "content": f"What about {text.line(6)}?"})
        times.append(timed(lambda: chat.finish(chat.prepare(history), text.line(12))))
        history.append({"role": "assistant", "content": "Fine."})
        if len(history) % 3 == 0:
            ctx.remember(text.line(8), user=user)


if __name__ == "__main__":
    main()
