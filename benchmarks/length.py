"""What a turn costs late in a long conversation, beside what it costs early.

    python -m benchmarks.length [--turns 200 2000] [--window 8000] [--json FILE]

Conversations under a window that they fill many times over, tools called in every third turn; the
caller sends its whole history with every call. Measured is processor time, prepare and finish
together, of the last 60 turns of each: the median turn, and the mean, in which the compactions are.
All of them end side by side, each with a memory of its own, so that ratios hold whatever else the
machine does: at most 1.5 is aimed at, from the first length to the last.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.prefix import WORDS
from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware

CHAT = Path(__file__).parent / "data" / "ordinary_chat.txt"
LAST = 60
GOAL = "Plan the move of our bakery to Fuller Street. Never order anything without asking me."


BENCHMARK = Benchmark(
    name="length", about=__doc__, data="benchmarks/data/ordinary_chat.txt, tools made up", seed=26
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--turns", type=int, nargs="+", default=[200, 2_000])
    parser.add_argument("--window", type=int, default=8_000)
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(sorted(chosen.turns), chosen.window), chosen)


def measured(lengths: Sequence[int], window: int) -> Iterator[Line]:
    times = held(lengths, window)
    first: dict[str, float] = {}
    for turns in lengths:
        last = times[turns]
        figures = {"median ms": statistics.median(last), "mean ms": statistics.mean(last)}
        first = first or figures
        ratios = {f"{name[:-3]} ratio": figures[name] / first[name] for name in figures}
        yield Line(f"{turns:,} turns", {**figures, **ratios})


def held(lengths: Sequence[int], window: int) -> dict[int, list[float]]:
    """Hold a conversation of each length; return the milliseconds that its last turns took.

    All of them end together, turn by turn: a machine that is busy with something else is so for
    each.
    """
    longest = max(lengths)
    talks = {turns: conversation(turns, window) for turns in lengths}
    times: dict[int, list[float]] = {turns: [] for turns in lengths}
    for at in range(longest):
        for turns, talk in talks.items():
            if at >= longest - turns:
                times[turns].append(next(talk))
    return {turns: took[-LAST:] for turns, took in times.items()}


def conversation(turns: int, window: int) -> Iterator[float]:
    """Hold a conversation; yield the milliseconds of processor time that each turn took."""
    random, chat = Random(26), CHAT.read_text(encoding="utf-8").splitlines()
    messages: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        path = Path(folder, "memory.db")
        with ContextMiddleware.open(path, window=window, deadline=None) as ctx:
            session = ctx.session("long")
            for at in range(turns):
                asked = chat[random.randrange(len(chat))] if at else GOAL
                messages.append({"role": "user", "content": f"{asked} ({at})"})
                began = time.process_time()
                for reply in _replies(at, random):
                    prepared = session.prepare(messages)
                    session.finish(prepared, reply[0])
                    messages += reply
                yield 1000 * (time.process_time() - began)


def _replies(at: int, random: Random) -> list[list[dict[str, Any]]]:
    """Return what the model says in a turn, each with what tools answered."""
    said = {"role": "assistant", "content": " ".join(random.choices(WORDS, k=60))}
    if at % 3:
        return [[said]]
    call = {"id": f"c{at}", "name": "look_up", "args": {"subject": f"record {at}"}}
    text = "\n".join(" ".join(random.choices(WORDS, k=8)) for _ in range(30))
    return [
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "name": "look_up", "content": text},
        ],
        [said],
    ]


if __name__ == "__main__":
    main()
