"""How long `prepare` takes over many memories, and what a cold start costs.

python -m benchmarks.prepare [--memories 1000] [--rounds 200]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.search import Zipf
from benchmarks.timing import percentile, report, timed
from ctxmw import ContextMiddleware

KINDS = ("preference", "rule", "decision", "correction", "fact")
SCOPES = ("universal", "language:python", "project:shop", "language:go", "project:bank")


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
        with ContextMiddleware.open(path) as ctx:
            fill_memories(ctx, chosen.memories, text, random)
            print(f"{chosen.memories} memories")
            running = _running(ctx, chosen.rounds, text)
            fresh = _fresh(ctx, chosen.rounds, text)
        print(report("prepare, next turn of a conversation", running))
        print(report("prepare, first turn of a conversation", fresh))
        print(
            f"first turn over next turn: {percentile(fresh, 0.5) / percentile(running, 0.5):.1f} x"
        )
        _cold(path)


def fill_memories(ctx: ContextMiddleware, n: int, text: Zipf, random: Random) -> None:
    for number in range(n):
        said = text.line(random.randint(5, 20))
        kind, scope = random.choice(KINDS), random.choice(SCOPES)
        ctx.remember(f"{said} {number}", kind=kind, scope=scope)


def _running(ctx: ContextMiddleware, rounds: int, text: Zipf) -> list[float]:
    chat = ctx.session("running", project="shop", language="python")
    messages: list[dict[str, str]] = [{"role": "system", "content": "You help."}]
    times = []
    for number in range(rounds):
        asked = text.line(4)
        messages.append({"role": "user", "content": f"What about {asked}?"})
        times.append(timed(partial(chat.prepare, list(messages))))
        answer = f"Answer {number} about {asked}."
        messages.append({"role": "assistant", "content": answer})
        chat.finish(chat.prepare(messages[:-1]), answer)
        messages = [messages[0], *messages[-20:]]
    return times[5:]


def _fresh(ctx: ContextMiddleware, rounds: int, text: Zipf) -> list[float]:
    times = []
    for number in range(rounds):
        chat = ctx.session(f"fresh-{number}", project="shop", language="python")
        asked = [{"role": "user", "content": text.line(4)}]
        times.append(timed(partial(chat.prepare, asked)))
    return times[5:]


def _cold(path: Path) -> None:
    nothing = _process("pass")
    imported = _process("import ctxmw")
    code = (
        "from ctxmw import ContextMiddleware\n"
        f"ctx = ContextMiddleware.open({str(path)!r})\n"
        "ctx.session('cold', project='shop', language='python')"
        ".prepare([{'role': 'user', 'content': 'token cache'}])\n"
        "ctx.close()"
    )
    prepared = _process(code)
    print(report("python alone", nothing))
    print(report("import ctxmw (with python)", imported))
    print(report("cold start to the first prompt", prepared))


def _process(code: str) -> list[float]:
    command = [sys.executable, "-c", code]
    return [timed(lambda: subprocess.run(command, check=True)) for _ in range(5)]


if __name__ == "__main__":
    main()
