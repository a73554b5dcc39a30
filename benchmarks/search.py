"""How long search and adding a record take as memory grows, for one user and for one among many.

    python -m benchmarks.search [--sizes 10000 100000] [--users 200] [--queries 200] [--cpu]

With --cpu the CPU time of the searching thread is shown instead of wall time, for busy machines.
Lexical, warm: the index is at hand. "cold" is the first search of a process, which reads the copy
of the index that is kept in the store; "from texts" makes it anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from random import Random

from benchmarks.report import Benchmark, Line
from benchmarks.timing import cpu_timed, percentiles, timed
from ctxmw import ContextMiddleware

START = datetime(2025, 1, 1, tzinfo=UTC)
TURNS = 30
"""Turns of one conversation."""


BENCHMARK = Benchmark(
    name="search", about=__doc__, data="conversations of made-up words, by frequency", seed=1
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--cpu", action="store_true")
    chosen = parser.parse_args()
    timing = cpu_timed if chosen.cpu else timed
    by_size = (one_user(size, chosen.queries, timing) for size in chosen.sizes)
    rows = chain(*by_size, many_users(chosen.users, chosen.queries, timing))
    BENCHMARK.tell(rows, chosen)


Timing = Callable[[Callable[[], object]], float]


def one_user(size: int, queries: int, timing: Timing) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        text = Zipf(Random(BENCHMARK.seed))
        with ContextMiddleware.open(path) as ctx:
            fill(ctx, text, size)
            yield _row(f"{size} records, from texts", [timing(partial(ctx.search, "wabc"))])
            yield from measure(ctx, text, queries, f"{size} records of one user", timing)
            yield _row(f"{size} records, adding one", adding(ctx, text, queries, timing))
        with ContextMiddleware.open(path) as ctx:
            yield _row(f"{size} records, cold", [timing(partial(ctx.search, "wabc"))])


def many_users(users: int, queries: int, timing: Timing) -> Iterator[Line]:
    text = Zipf(Random(2))
    with ContextMiddleware.open(":memory:", user="u0") as ctx:
        for number in range(users):
            fill(ctx, text, 500, f"u{number}")
        ctx.search("wabc")
        yield from measure(ctx, text, queries, f"500 records, one of {users} users", timing)


def measure(
    ctx: ContextMiddleware, text: Zipf, queries: int, name: str, timing: Timing
) -> Iterator[Line]:
    asked = [f"When did Ann mention {text.line(5)} in May?" for _ in range(queries)]
    for query in asked[:5]:
        ctx.search(query, budget=1000)
    listed = [timing(partial(ctx.search, query)) for query in asked]
    packed = [timing(partial(ctx.search, query, budget=1000)) for query in asked]
    yield _row(f"{name}, ten hits", listed)
    yield _row(f"{name}, 1,000 tokens", packed)


def _row(name: str, times: Sequence[float]) -> Line:
    return Line(name, percentiles(times), table="ms")


def adding(ctx: ContextMiddleware, text: Zipf, n: int, timing: Timing) -> list[float]:
    def add(line: str) -> None:
        ctx.remember(line, kind="fact")
        ctx.search("wabc")

    return [timing(partial(add, text.line(25))) for _ in range(n)]


def fill(ctx: ContextMiddleware, text: Zipf, size: int, user: str | None = None) -> None:
    for number, session in enumerate(sessions(text, size)):
        at = START + timedelta(days=number % 360)
        ctx.session(f"s{number}", user=user).capture(session, at=at)


def sessions(text: Zipf, size: int) -> Iterator[list[dict[str, str]]]:
    for start in range(0, size, TURNS):
        yield [
            {"role": "user", "name": ("Ann", "Bob")[n % 2], "content": f"I say {text.line(18)}."}
            for n in range(min(TURNS, size - start))
        ]


class Zipf:
    """Makes lines of words, a few of them often and most of them seldom."""

    def __init__(self, random: Random, words: int = 17_000) -> None:
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = [f"w{a}{b}{c}" for a in letters for b in letters for c in letters]
        random.shuffle(self._words)
        self._words = self._words[:words]
        self._sums = list(accumulate(1 / (place + 10) for place in range(len(self._words))))
        self._random = random

    def line(self, n: int, random: Random | None = None) -> str:
        chosen = (random or self._random).choices(self._words, cum_weights=self._sums, k=n)
        return " ".join(chosen)


if __name__ == "__main__":
    main()
