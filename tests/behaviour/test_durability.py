"""When the disk is full, the log is torn or the clock goes back: a clear error, nothing lost."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from tests.support.waiting import PATIENCE

COUNT = counter_for()

# Files of this process can grow no further than that: to SQLite, the disk is full.
FULL = """
import resource, signal, sys
from ctxmw import ContextMiddleware, CtxmwError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ctx = ContextMiddleware.open(sys.argv[1], count=len)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
for number in range(100_000):
    try:
        ctx.remember(f"Fact {number}: " + "words of some length " * 20)
    except CtxmwError as error:
        print("error", type(error).__name__, error)
        break
    print("kept", number)
"""
KILLED = """
import os, sys
from ctxmw import ContextMiddleware
ctx = ContextMiddleware.open(sys.argv[1], count=len)
for number in range(40):
    ctx.remember(f"Fact number{number} is kept.")
os._exit(9)
"""


def opened(path: Path, **options: object) -> ContextMiddleware:
    return ContextMiddleware.open(path, count=COUNT, **options)


def run(code: str, path: Path) -> list[str]:
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout.splitlines()


def is_sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    (said,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    return said == "ok"


def test_a_full_disk_is_said_and_what_was_acknowledged_is_there(tmp_path):
    path = tmp_path / "memory.db"
    *kept, last = run(FULL, path)
    assert last.startswith("error StoreError")
    assert "memory.db" in last
    assert len(kept) > 20
    with opened(path) as ctx:
        found = ctx.search("fact words", limit=10_000)
        assert len(found) >= len(kept)
        ctx.remember("There is room again.")
    assert is_sound(path)


@pytest.mark.parametrize("seed", range(6))
def test_a_torn_log_loses_nothing_but_its_tail(tmp_path, seed):
    path, log = tmp_path / "memory.db", tmp_path / "memory.db-wal"
    run(KILLED, path)
    chance = random.Random(seed)
    whole = log.read_bytes()
    cut = chance.randrange(len(whole) // 4, len(whole))
    log.write_bytes(whole[:cut] + (chance.randbytes(700) if seed % 2 else b""))
    (tmp_path / "memory.db-shm").unlink(missing_ok=True)
    with opened(path) as ctx:
        found = {int(hit.text.split("number")[1].split()[0]) for hit in every(ctx)}
        # What is left is what was written first, without a gap.
        assert found == set(range(len(found)))
        ctx.remember("Fact number1000 is kept.")
        assert any("number1000" in hit.text for hit in every(ctx))
    assert is_sound(path)


def every(ctx):
    return ctx.search("fact number is kept", limit=1000)


def test_a_copy_of_a_killed_store_is_a_store(tmp_path):
    run(KILLED, tmp_path / "memory.db")
    (tmp_path / "copy").mkdir()
    for one in tmp_path.glob("memory.db*"):
        shutil.copy(one, tmp_path / "copy")
    with opened(tmp_path / "copy" / "memory.db") as ctx:
        assert len(every(ctx)) == 40


def test_a_clock_that_jumps_back_loses_nothing(tmp_path):
    clock = FixedClock()
    with opened(tmp_path / "memory.db", clock=clock) as ctx:
        chat = ctx.session("s")
        ctx.remember("The port is 8080.", key="port")
        first = chat.prepare([{"role": "user", "content": "Which port?"}])
        chat.finish(first, "8080.")
        clock.advance(days=-2)
        newest = ctx.remember("The port is 9090.", key="port")
        chat.collect("hook", "build", "The build is green.")
        asked = [*first.given, {"role": "assistant", "content": "8080."}]
        second = chat.prepare([*asked, {"role": "user", "content": "And now, which port?"}])
        assert "9090" in second.context.text
        assert "The build is green." in second.context.text
        record = chat.finish(second, "9090.")
        assert record.state == "answered"
        assert [one.state for one in chat.history()] == ["answered", "answered"]
        assert chat.pending() == []
        clock.advance(days=4)
        assert [one.text for one in ctx.versions(newest.ref)] == [
            "The port is 9090.",
            "The port is 8080.",
        ]
