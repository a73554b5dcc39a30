"""What `prepare`, `remember` and `open` cost as a memory grows.

    python -m benchmarks.scale [--store sqlite] [--sizes 1000 10000 100000 1000000]
        [--rounds 60] [--starts 5] [--spread 1000000] [--users 200] [--plot FILE.svg]

One user has all the records. Then a memory of the size `--spread` is shared by so many users, and
one of them asks; beside it stands a memory that has only that user's records.

Each round remembers something new, begins a conversation and goes on with it, in a process whose
index is at hand. To open is to open the memory and prepare one prompt, with the index from the copy
that is kept in the store: in a process that has only imported the package, and in one that has done
it with another memory before. CPU is that of the calling thread; of opening, that of the process.
Nothing is cut off: there is no deadline.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np

from benchmarks.prepare import KINDS, SCOPES
from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf
from benchmarks.stores import Opener, stores, take_store
from benchmarks.timing import percentile
from ctxmw import ContextMiddleware, Session
from ctxmw.protocols import Store
from ctxmw.values.records import Memory

BATCH = 2000
"""The size that the others are compared with."""
UNMEASURED = 5
"""Rounds that warm up."""
OWN_WORD = 10
"""One memory in so many has a word of its own: new words keep coming, though ever more seldom."""
DAYS = 720
"""Over how many days the memories were made."""
ODD = 387_420_489
TICKS = (1, 10, 100, 1000)
DRAWN = {
    "open, new process": "#8a45c9",
    "open, running process": "#d9822b",
    "prepare, first turn": "#2f6fde",
    "prepare, next turn": "#17845b",
    "remember": "#7c8796",
}
SIZES = (1_000, 10_000, 100_000, 1_000_000)

Cost = tuple[float, float]
"""Milliseconds by the clock on the wall, and of CPU."""
Costs = dict[str, list[Cost]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one memory costs."""

    name: str
    records: int
    costs: Costs
    resident: float
    """Megabytes of a process after its first prompt."""

    def cpu(self, what: str) -> float:
        return percentile([cpu for _, cpu in self.costs[what]], 0.5)


BENCHMARK = Benchmark(name="scale", about=__doc__, data="memories of made-up words", seed=7)


def main() -> None:
    parser = BENCHMARK.parser()
    take_store(parser)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--spread", type=int, default=1_000_000, help="0: none")
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--plot", type=Path, help="draw it, as .svg or .png")
    chosen = parser.parse_args()
    with stores(chosen.store) as opener:
        BENCHMARK.tell(grown(opener, chosen), chosen)


def grown(opener: Opener, chosen: argparse.Namespace) -> Iterator[Line]:
    """Yield a row for each call, with a column for each size, once all sizes are measured."""
    sizes = [measured(opener, size, 1, chosen) for size in chosen.sizes]
    yield from beside(sizes)
    if chosen.plot:
        plot(sizes, chosen.plot)
    if chosen.spread:
        alone = measured(opener, chosen.spread // chosen.users, 1, chosen)
        yield from beside([alone, measured(opener, chosen.spread, chosen.users, chosen)])


def measured(opener: Opener, size: int, users: int, chosen: argparse.Namespace) -> Measured:
    name = f"{size:,}" if users == 1 else f"{size // users:,} of {size:,}"
    place = f"m{size}u{users}"
    began = time.perf_counter()
    store = opener(place)
    fill(store, size, users)
    store.close()
    took = time.perf_counter() - began
    print(f"{name}: filled in {took:.0f} s", file=sys.stderr, flush=True)
    (_, made), _ = aside(start, opener, place, True)
    costs: Costs = {"index made from texts": [made]}
    starts = [aside(start, opener, place, fresh) for fresh in [True, False] * chosen.starts]
    for kind, of_kind in (("new", starts[::2]), ("running", starts[1::2])):
        parts = list(zip(*(cost for cost, _ in of_kind), strict=True))
        costs[f"open, {kind} process"] = [_both(*cost) for cost in zip(*parts, strict=True)]
        for what, part in zip(("opening", "first prompt"), parts, strict=True):
            costs[f"... {what}, {kind} process"] = list(part)
    costs["remember, no index at hand"] = aside(remembering, opener, place, chosen.rounds)
    costs |= aside(working, opener, place, chosen.rounds)
    resident = percentile([held for _, held in starts], 0.5)
    return Measured(name=name, records=size // users, costs=costs, resident=resident)


def fill(store: Store, size: int, users: int) -> None:
    """Store memories as `remember` leaves them, many at once."""
    random = Random(BENCHMARK.seed)
    text = Zipf(random)
    now = datetime.now(UTC)
    for start in range(0, size, BATCH):
        numbers = range(start, min(start + BATCH, size))
        share = [(number, DAYS * (1 - number / size)) for number in numbers]
        store.put(
            [_memory(at, users, text, random, now - timedelta(days=d)).row() for at, d in share]
        )


def _memory(number: int, users: int, text: Zipf, random: Random, at: datetime) -> Memory:
    said = text.line(random.randint(5, 20))
    return Memory(
        user=f"u{number % users}",
        ref="m" + _scattered(number),
        at=at,
        kind=random.choice(KINDS),
        scope=random.choice(SCOPES),
        text=said if number % OWN_WORD else f"{said} ticket{number}",
    )


def _scattered(number: int) -> str:
    """Return six characters, other ones for every number, in no order."""
    return np.base_repr(number * ODD % 32**6, 32).lower().zfill(6)


# --- what is measured, each in a process of its own ---


def aside(call: Callable[..., T], *arguments: object) -> T:
    """Run a call in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call, arguments)


def start(opener: Opener, place: str, fresh: bool) -> tuple[list[Cost], float]:
    """Open the memory and prepare a prompt; unless fresh, after doing so with another memory."""
    text = Zipf(Random(time.time_ns()))
    if not fresh:
        with ContextMiddleware.open(":memory:", deadline=None) as other:
            other.remember(text.line(8))
            _asked(other, text).prepare(_question(text))
    ctx, opening = _of_process(lambda: ContextMiddleware(opener(place), user="u0", deadline=None))
    chat, asked = _asked(ctx, text), _question(text)
    prepared, preparing = _of_process(partial(chat.prepare, asked))
    resident = _resident()
    chat.finish(prepared, "Fine.")
    ctx.close()
    return [opening, preparing], resident


def remembering(opener: Opener, place: str, rounds: int) -> list[Cost]:
    """Remember in a process that has never searched."""
    text = Zipf(Random(time.time_ns()))
    with ContextMiddleware(opener(place), user="u0", deadline=None) as ctx:
        costs = [_of_thread(partial(_remember, ctx, text))[1] for _ in range(rounds)]
    return costs[UNMEASURED:]


def working(opener: Opener, place: str, rounds: int) -> Costs:
    """Remember something, begin a conversation, go on with it; again and again."""
    text = Zipf(Random(time.time_ns()))
    costs: Costs = {"remember": [], "prepare, first turn": [], "prepare, next turn": []}
    with ContextMiddleware(opener(place), user="u0", deadline=None) as ctx:
        _asked(ctx, text).prepare(_question(text))
        for _ in range(rounds):
            costs["remember"].append(_of_thread(partial(_remember, ctx, text))[1])
            chat = _asked(ctx, text)
            history: list[dict[str, str]] = []
            for turn in ("first", "next"):
                history += _question(text)
                prepared, cost = _of_thread(partial(chat.prepare, list(history)))
                costs[f"prepare, {turn} turn"].append(cost)
                chat.finish(prepared, "Fine.")
                history.append({"role": "assistant", "content": "Fine."})
    return {what: each[UNMEASURED:] for what, each in costs.items()}


def _remember(ctx: ContextMiddleware, text: Zipf) -> None:
    ctx.remember(text.line(12), kind="fact", scope="project:shop")


def _asked(ctx: ContextMiddleware, text: Zipf) -> Session:
    return ctx.session(f"chat {text.line(3)}", project="shop", language="python")


def _question(text: Zipf) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"What about {text.line(4)}?"}]


def _of_process(call: Callable[[], T]) -> tuple[T, Cost]:
    return _timed(call, time.process_time)


def _of_thread(call: Callable[[], T]) -> tuple[T, Cost]:
    return _timed(call, time.thread_time)


def _timed(call: Callable[[], T], clock: Callable[[], float]) -> tuple[T, Cost]:
    wall, own = time.perf_counter(), clock()
    result = call()
    return result, (1000 * (time.perf_counter() - wall), 1000 * (clock() - own))


def _both(one: Cost, other: Cost) -> Cost:
    return one[0] + other[0], one[1] + other[1]


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# --- what is told ---


def beside(sizes: Sequence[Measured]) -> Iterator[Line]:
    """Yield the middle CPU times, by size, and how many times those of the first the last are."""
    for what in sizes[0].costs:
        spent = {one.name: round(one.cpu(what), 2) for one in sizes}
        times = round(sizes[-1].cpu(what) / max(1e-9, sizes[0].cpu(what)), 1)
        walls = [percentile([wall for wall, _ in one.costs[what]], 0.9) for one in sizes]
        note = f"wall p90 ms: {', '.join(f'{wall:.1f}' for wall in walls)}"
        yield Line(what, {**spent, "times": times}, "ms of CPU, the middle", (note,))
    yield Line(
        "after the first prompt", {one.name: round(one.resident) for one in sizes}, "MB held"
    )


def plot(grown: Sequence[Measured], file: Path) -> None:
    """Draw the middle CPU times over the number of records."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "ctxmw"  # the same picture for the same numbers
    mpl.rcParams["svg.fonttype"] = "none"
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.4, 4.0), layout="constrained")
    records = [one.records for one in grown]
    for what, colour in DRAWN.items():
        ax.plot(records, [one.cpu(what) for one in grown], marker="o", color=colour, label=what)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("records of one user")
    ax.set_ylabel("ms of CPU, the middle")
    ax.set_xticks(records, [f"{n:,}" for n in records])
    ax.set_yticks(TICKS, [f"{n:,}" for n in TICKS])
    ax.minorticks_off()
    ax.grid(axis="y", color="#e3e7ec")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, fontsize=8, loc="outside upper left", ncols=3)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)


if __name__ == "__main__":
    main()
