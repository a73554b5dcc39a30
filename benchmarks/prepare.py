"""How long `prepare` takes over many memories, by turn of a conversation, and what a start costs.

python -m benchmarks.prepare [--memories 1000] [--rounds 200]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random

from benchmarks.report import Benchmark, Line
from benchmarks.search import Zipf
from benchmarks.timing import control, keeps_compiled, percentile, percentiles
from ctxmw import ContextMiddleware, Session, SqliteStore

KINDS = ("preference", "rule", "decision", "correction", "fact")
SCOPES = ("universal", "language:python", "project:shop", "language:go", "project:bank")
UNMEASURED = 5
"""Conversations that warm up."""
LONG = 20
"""Turns of a long conversation."""
STARTS = 5

Cost = tuple[float, float]
"""Milliseconds by the clock on the wall, and of this thread's own."""


BENCHMARK = Benchmark(
    name="prepare", about=__doc__, data="memories of made-up words, by frequency", seed=7
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--words", type=int, default=17_000)
    chosen = parser.parse_args()
    BENCHMARK.tell(_measured(chosen.memories, chosen.rounds, chosen.words), chosen)


def _measured(memories: int, rounds: int, words: int) -> Iterator[Line]:
    """Yield what prompts cost in a running process, then what a start costs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        random = Random(BENCHMARK.seed)
        text = Zipf(random, words)
        store = SqliteStore(path)
        with ContextMiddleware(store) as ctx:
            # One commit for many: only filling is hurried.
            with store.atomic("local") if memories > 1000 else nullcontext():
                fill_memories(ctx, memories, text, random)
            yield from _warm(ctx, rounds, text)
        yield from _cold(path, Path(folder))


def fill_memories(ctx: ContextMiddleware, n: int, text: Zipf, random: Random) -> None:
    for number in range(n):
        said = text.line(random.randint(5, 20))
        kind, scope = random.choice(KINDS), random.choice(SCOPES)
        ctx.remember(f"{said} {number}", kind=kind, scope=scope)


def _warm(ctx: ContextMiddleware, rounds: int, text: Zipf) -> Iterator[Line]:
    short, controls = [], []
    for n in range(rounds):
        short.append(list(_conversation(_chat(ctx, f"short-{n}"), 2, text)))
        controls.append(control())
    many = max(UNMEASURED + 1, rounds // 4)
    long = [list(_conversation(_chat(ctx, f"long-{n}"), LONG, text)) for n in range(many)]
    measured = {
        "prepare, first turn of a conversation": [turns[0] for turns in short[UNMEASURED:]],
        "prepare, next turn": [turns[1] for turns in short[UNMEASURED:]],
        f"prepare, turn {LONG}": [turns[-1] for turns in long[UNMEASURED:]],
        "control, a fixed piece of Python": [(one, one) for one in controls],
    }
    for name, costs in measured.items():
        yield _row(name, costs)
    middle = percentile([wall for wall, _ in measured["prepare, next turn"]], 0.5)
    times = round(middle / percentile(controls, 0.5), 2)
    yield Line("next turn, times the control", {"p50": times})


def _chat(ctx: ContextMiddleware, name: str) -> Session:
    return ctx.session(name, project="shop", language="python")


def _conversation(chat: Session, turns: int, text: Zipf) -> Iterator[Cost]:
    """Have a conversation of so many turns, and yield what each `prepare` cost."""
    messages: list[dict[str, str]] = [{"role": "system", "content": "You help."}]
    for number in range(turns):
        asked = text.line(4)
        messages.append({"role": "user", "content": f"What about {asked}?"})
        wall, own = time.perf_counter(), time.thread_time()
        prepared = chat.prepare(list(messages))
        yield 1000 * (time.perf_counter() - wall), 1000 * (time.thread_time() - own)
        answer = f"Answer {number} about {asked}."
        chat.finish(prepared, answer)
        messages.append({"role": "assistant", "content": answer})


def _row(name: str, costs: Sequence[Cost]) -> Line:
    walls, own = zip(*costs, strict=True)
    return Line(name, {**percentiles(walls), "CPU p50": round(percentile(own, 0.5), 2)}, table="ms")


def _cold(path: Path, folder: Path) -> Iterator[Line]:
    """Yield what a process costs that starts, prepares one prompt and ends.

    Its modules are compiled already, as they are after any first start.
    """
    code = (
        "from ctxmw import ContextMiddleware\n"
        f"ctx = ContextMiddleware.open({str(path)!r})\n"
        "ctx.session('cold', project='shop', language='python')"
        ".prepare([{'role': 'user', 'content': 'token cache'}])\n"
        "ctx.close()"
    )
    compiled = keeps_compiled(folder)
    starts = {"python alone": "pass", "import ctxmw": "import ctxmw", "to the first prompt": code}
    for name, program in starts.items():
        command = [sys.executable, "-c", program]

        def start(command: list[str] = command) -> None:
            subprocess.run(command, check=True, env=os.environ | compiled)

        start()
        yield _row(f"cold start, {name}", [_of_process(start) for _ in range(STARTS)])


def _of_process(start: Callable[[], None]) -> Cost:
    wall, own = time.perf_counter(), _children()
    start()
    return 1000 * (time.perf_counter() - wall), _children() - own


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
