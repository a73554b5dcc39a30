"""Hostile queries: none may raise, and none may take long.

    python -m benchmarks.fuzz [--queries 50000]

Operators, quotes, NUL, lone surrogates, markup, every script, and texts of up to 100 kB, over a
memory of 5,000 turns. Reports the CPU time of the searching thread.
"""

from __future__ import annotations

import argparse
import time
from random import Random

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--queries", type=int, default=50_000)
    chosen = parser.parse_args()
    rng = Random(5)
    with ContextMiddleware.open(":memory:") as ctx:
        fill(ctx, Zipf(Random(1)), 5000)
        ctx.search("wabc")
        times, raised = [], 0
        for _ in range(chosen.queries):
            query = hostile(rng)
            started = time.thread_time()
            try:
                ctx.search(query, budget=rng.choice([None, 1, 50, 500]))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted and shown
                raised += 1
                print(repr(error)[:200], repr(query)[:200])
            times.append(1000 * (time.thread_time() - started))
    shares = {share: round(percentile(times, share), 2) for share in (0.5, 0.99, 0.999)}
    print(
        f"{chosen.queries} queries, {raised} raised; "
        f"thread CPU in ms at {shares}, at most {max(times):.1f}"
    )


def hostile(rng: Random) -> str:
    size = rng.choice([1, 3, 10, 30])
    text = "".join(rng.choice(PIECES) + rng.choice(["", " "]) for _ in range(size))
    return text * rng.randint(1, 2000) if rng.random() < 0.01 else text


if __name__ == "__main__":
    main()
