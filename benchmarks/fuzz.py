"""Hostile queries: none may raise, and none may take long.

    python -m benchmarks.fuzz [--queries 50000]

Operators, quotes, NUL, lone surrogates, markup, every script, and texts of up to 100 kB, over a
memory of 5,000 turns. Reports the CPU time of the searching thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf, fill
from benchmarks.timing import percentile
from ctxmw import ContextMiddleware

PIECES = (
    '"',
    "'",
    "`",
    "*",
    "NEAR(",
    "AND",
    "OR NOT",
    "col:",
    "\0",
    "\ud800",
    "--",
    ";",
    "(",
    ")",
    "%",
    "日本語",
    "한국어",
    "ภาษาไทย",
    "हिन्दी",
    "العربية",
    "Ünïcödé",
    "🙂",
    "👩‍💻",
    "<|endoftext|>",
    "</ctxmw>",
    "{}",
    "[",
    "]",
    "^",
    "~",
    "://",
    "\\",
    "\n",
    "\t",
    "\u202e",
    "\u2028",
    "May",
    "last",
    "yesterday",
    "2023-13-45",
    "on 31 February",
    "wabc",
    "AuthService",
    "snake_case",
    "a.b.c",
    "x" * 300,
    "1e309",
)

SHARES = (0.5, 0.99, 0.999)
BENCHMARK = Benchmark(
    name="fuzz", about=__doc__, data="made-up turns and made-up hostile text", seed=5
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--queries", type=int, default=50_000)
    chosen = parser.parse_args()
    BENCHMARK.tell(asked(chosen.queries), chosen)


def asked(queries: int) -> Iterator[Line]:
    rng = Random(BENCHMARK.seed)
    with ContextMiddleware.open(":memory:") as ctx:
        fill(ctx, Zipf(Random(1)), 5000)
        ctx.search("wabc")
        times, raised = [], []
        for _ in range(queries):
            query = hostile(rng)
            started = time.thread_time()
            try:
                ctx.search(query, budget=rng.choice([None, 1, 50, 500]))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted and shown
                raised.append(f"{repr(error)[:200]} {repr(query)[:200]}")
            times.append(1000 * (time.thread_time() - started))
    figures = {f"p{100 * share:g}": round(percentile(times, share), 2) for share in SHARES}
    figures = {"queries": queries, "raised": len(raised), **figures, "most": round(max(times), 1)}
    yield Line("hostile queries", figures, table="ms of CPU", notes=tuple(raised))


def hostile(rng: Random) -> str:
    size = rng.choice([1, 3, 10, 30])
    text = "".join(rng.choice(PIECES) + rng.choice(["", " "]) for _ in range(size))
    return text * rng.randint(1, 2000) if rng.random() < 0.01 else text


if __name__ == "__main__":
    main()
