"""How long `prepare` takes over many memories, by turn of a conversation, and what a start costs.

python -m benchmarks.prepare [--memories 1000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from random import Random

from benchmarks.search import Zipf
from benchmarks.timing import control, keeps_compiled, percentile, report
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--words", type=int, default=17_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        random = Random(7)
        text = Zipf(random, chosen.words)
        store = SqliteStore(path)
        with ContextMiddleware(store) as ctx:
            # One commit for many: only filling is hurried.
            with store.atomic("local") if chosen.memories > 1000 else nullcontext():
                fill_memories(ctx, chosen.memories, text, random)
            print(f"{chosen.memories} memories")
            _warm(ctx, chosen.rounds, text)
        _cold(path, Path(folder))


def fill_memories(ctx: ContextMiddleware, n: int, text: Zipf, random: Random) -> None:
    for number in range(n):
        said = text.line(random.randint(5, 20))
        kind, scope = random.choice(KINDS), random.choice(SCOPES)
        ctx.remember(f"{said} {number}", kind=kind, scope=scope)


def _warm(ctx: ContextMiddleware, rounds: int, text: Zipf) -> None:
    short, controls = [], []
    for n in range(rounds):
        short.append(list(_conversation(_chat(ctx, f"short-{n}"), 2, text)))
        controls.append(control())
    many = max(UNMEASURED + 1, rounds // 4)
    long = [list(_conversation(_chat(ctx, f"long-{n}"), LONG, text)) for n in range(many)]
    _report("first turn of a conversation", [turns[0] for turns in short])
    _report("next turn", [turns[1] for turns in short])
    _report(f"turn {LONG}", [turns[-1] for turns in long])
    print(report("control, a fixed piece of Python", controls))


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


def _report(name: str, costs: list[Cost]) -> None:
    walls, own = zip(*costs[UNMEASURED:], strict=True)
    print(f"{report(f'prepare, {name}', walls)}, CPU p50 {percentile(own, 0.5):.2f} ms")


def _cold(path: Path, folder: Path) -> None:
    """Print what a process costs that starts, prepares one prompt and ends.

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
        walls, own = zip(*(_of_process(start) for _ in range(STARTS)), strict=True)
        print(f"{report(f'cold start, {name}', walls)}, CPU p50 {percentile(own, 0.5):.0f} ms")


def _of_process(start: Callable[[], None]) -> Cost:
    wall, own = time.perf_counter(), _children()
    start()
    return 1000 * (time.perf_counter() - wall), _children() - own


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
