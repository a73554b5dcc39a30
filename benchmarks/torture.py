"""Processes that write to one memory and are killed without warning; then everything is checked.

    python -m benchmarks.torture [--seconds 30] [--processes 8] [--seed 1] [--json FILE]

Every process remembers, captures, collects, prepares, finishes and searches. Whatever a call has
returned is written to a list beside the store. A process is killed every 10 to 150 ms, wherever
it is, and another takes its place. At the end: nothing that a call returned may be missing, the
file must be sound, search and vectors must hold what the records say, and each entry must have
arrived in exactly one answered call or still wait.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware
from ctxmw.cli.commands.until_told import until_told
from ctxmw.cli.doctor import look_at_store
from ctxmw.protocols import Find, TokenCounter
from ctxmw.recall.entries import Entry
from ctxmw.testing import HashEmbedder
from ctxmw.tokens.counter import counter_for

USERS = ("ann", "bob")
SESSIONS = ("s0", "s1", "s2")
PAUSE = (0.010, 0.150)
"""Seconds between two kills."""
SAMPLE = 300
"""How many of the texts are looked for by search at the end; all are looked for by ref."""


@dataclass
class Verdict:
    """What a run found. `faults` is empty when everything is as promised."""

    seconds: float = 0.0
    kills: int = 0
    acknowledged: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    locked: int = 0
    errors: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def well(self) -> bool:
        return not (self.lost or self.locked or self.errors or self.faults)

    def row(self) -> Line:
        counted = {
            "seconds": self.seconds,
            "kills": self.kills,
            "acknowledged": sum(self.acknowledged.values()),
            "lost": len(self.lost),
            "locked": self.locked,
            "errors": len(self.errors),
            "faults": len(self.faults),
        }
        kinds = [f"{what}: {n:,} acknowledged" for what, n in self.acknowledged.items()]
        return Line(
            "writes under kills", counted, "", (*kinds, *self.lost, *self.errors, *self.faults)
        )


BENCHMARK = Benchmark(
    name="torture", about=__doc__, data="what the processes write themselves", seed=1
)


def main() -> int:
    parser = BENCHMARK.parser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=BENCHMARK.seed)
    chosen = parser.parse_args()
    with until_told(), tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        verdict = torture(
            Path(folder),
            lambda _: time.monotonic() - started > chosen.seconds,
            chosen.processes,
            chosen.seed,
        )
    BENCHMARK.tell([verdict.row()], chosen)
    return 0 if verdict.well else 1


def torture(folder: Path, enough: Callable[[int], bool], processes: int, seed: int) -> Verdict:
    """Let processes write and be killed until so many kills are enough; check what they left."""
    count = counter_for()
    _warmed(count)
    with _opened(folder, count):
        pass
    started = time.monotonic()
    kills = _run(folder, enough, processes, random.Random(seed), count)
    verdict = Verdict(seconds=round(time.monotonic() - started, 1), kills=kills)
    _read_errors(folder, verdict)
    check(folder, verdict, count)
    return verdict


# --- the processes ---


def _run(
    folder: Path,
    enough: Callable[[int], bool],
    processes: int,
    chance: random.Random,
    count: TokenCounter,
) -> int:
    alive: set[int] = set()
    kills = born = 0
    try:
        while not enough(kills):
            while len(alive) < processes:
                alive.add(_start(folder, born, count))
                born += 1
            time.sleep(chance.uniform(*PAUSE))
            victim = chance.choice(sorted(alive))
            kills += _kill(victim)
            alive.remove(victim)
    finally:
        # Whatever ends it, nobody is left behind.
        kills += sum(map(_kill, alive))
    return kills


def _kill(pid: int) -> bool:
    """Kill a process; return whether it still ran."""
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def _start(folder: Path, number: int, count: TokenCounter) -> int:
    """Return the id of a new process. Forked: what is imported already is not imported again."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        _work(folder, number, count)
    except BaseException:  # noqa: BLE001 - whatever it is, the parent has to see it
        with (folder / f"errors-{number}").open("a") as errors:
            errors.write(traceback.format_exc() + "\0")
    finally:
        os._exit(0)
    raise AssertionError("a child never comes here")


def _work(folder: Path, number: int, count: TokenCounter) -> None:
    """Do one thing after the other until killed; say what was done once it is done."""
    said = os.open(folder / f"said-{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(what: str, user: str, ref: str, word: str) -> None:
        os.write(said, f"{what} {user} {ref} {word}\n".encode())

    chance, parent = random.Random(number), os.getppid()
    with _opened(folder, count) as ctx:
        for step in range(1_000_000):
            if os.getppid() != parent:
                return  # nobody is there to kill it any more
            word = f"word{number}x{step}"
            act = chance.choice(_ACTS)
            act(ctx, chance.choice(USERS), chance.choice(SESSIONS), word, say)


Say = Callable[[str, str, str, str], None]


def _remember(ctx: ContextMiddleware, user: str, _: str, word: str, say: Say) -> None:
    memory = ctx.remember(f"The code of this release is {word}.", user=user)
    say("memory", user, memory.ref, word)


def _capture(ctx: ContextMiddleware, user: str, _: str, word: str, say: Say) -> None:
    messages = [{"role": "user", "content": f"{part} about {word}"} for part in ("one", "two")]
    for turn in ctx.session(f"own-{word}", user=user).capture(messages):
        say("turn", user, turn.ref, word)


def _collect(ctx: ContextMiddleware, user: str, session: str, word: str, say: Say) -> None:
    entry = ctx.session(session, user=user).collect("hook", word, f"A note: {word}")
    say("entry", user, entry.ref, word)


def _converse(ctx: ContextMiddleware, user: str, session: str, word: str, say: Say) -> None:
    chat = ctx.session(session, user=user)
    prepared = chat.prepare([{"role": "user", "content": f"What is the code {word}?"}])
    record = chat.finish(prepared, f"It is {word}.")
    say("record", user, record.ref, word)


def _search(ctx: ContextMiddleware, user: str, _: str, word: str, __: Say) -> None:
    ctx.search(f"code of the release {word}", user=user)


_ACTS = (_remember, _remember, _capture, _collect, _converse, _search)


# --- what they left ---


def check(folder: Path, verdict: Verdict, count: TokenCounter) -> None:
    """Compare what was said to be done with what is there."""
    said = list(said_in(folder))
    verdict.acknowledged = dict(Counter(what for what, *_ in said))
    with sqlite3.connect(folder / "memory.db") as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    if sound != "ok":
        verdict.faults.append(f"integrity_check: {sound}")
    with _opened(folder, count) as ctx:
        for user in USERS:
            _check_refs(ctx, user, said, verdict)
            _check_entries(ctx, user, verdict)
            _check_search(ctx, user, said, verdict)
        ctx.close()
    verdict.faults += [
        f"{finding.about}: {finding.says}"
        for finding in look_at_store(folder / "memory.db")
        if finding.level != "good"
    ]


def _check_refs(
    ctx: ContextMiddleware, user: str, said: list[tuple[str, str, str, str]], verdict: Verdict
) -> None:
    refs = [ref for _, whose, ref, _ in said if whose == user]
    there = {row.ref for row in ctx.store.get(user, refs)}
    verdict.lost += [ref for ref in refs if ref not in there]


def _check_entries(ctx: ContextMiddleware, user: str, verdict: Verdict) -> None:
    """Each entry waits, or was committed to one call, and no other answered call has it."""
    store = ctx.store
    entries = [
        Entry.model_validate_json(row.body)
        for row in store.query(user, Find(types=("entry",), live=None))
    ]
    shown: Counter[str] = Counter()
    for session in SESSIONS:
        for record in ctx.session(session, user=user).history():
            if record.state == "answered":
                shown.update(record.entries.keys())
    for entry in entries:
        expected = 1 if entry.committed else 0
        if shown[entry.ref] != expected:
            times = f"is in {shown[entry.ref]} answered calls, not {expected}"
            verdict.faults.append(f"entry {entry.ref} {times}")


def _check_search(
    ctx: ContextMiddleware, user: str, said: list[tuple[str, str, str, str]], verdict: Verdict
) -> None:
    told = [(ref, word) for what, whose, ref, word in said if whose == user and what == "memory"]
    for ref, word in random.Random(0).sample(told, min(SAMPLE, len(told))):
        found = [hit.ref for hit in ctx.search(word, user=user, limit=5)]
        if ref not in found:
            verdict.faults.append(f"search for {word} does not find {ref}")
    if ctx._learner.dense is not None:
        ctx._learner.dense.vectors.refresh(user)


def _read_errors(folder: Path, verdict: Verdict) -> None:
    for path in folder.glob("errors-*"):
        for text in path.read_text().split("\0"):
            if "locked" in text:
                verdict.locked += 1
            elif text.strip():
                verdict.errors.append(text.strip().splitlines()[-1])


def said_in(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    for path in sorted(folder.glob("said-*")):
        # A line that was cut by the kill was not said.
        for line in path.read_text().split("\n")[:-1]:
            what, user, ref, word = line.split(" ")
            yield what, user, ref, word


def _opened(folder: Path, count: TokenCounter) -> ContextMiddleware:
    options: dict[str, Any] = {"user": None, "embedder": HashEmbedder(64), "count": count}
    return ContextMiddleware.open(folder / "memory.db", **options)


def _warmed(count: TokenCounter) -> None:
    # Loaded once before the processes are forked, so that they begin writing at once.
    count("warm")


if __name__ == "__main__":
    sys.exit(main())
