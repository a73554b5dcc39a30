"""Killed at any point of a compaction: nothing is lost, at most something is there twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from tests.support.histories import MARK, history, mark_of

ROOT = Path(__file__).parents[2]
SEED, WINDOW = 3, 400
WRITES = 9
"""How often the store is written to: turns and their number, what is learned, view and state."""

CHILDREN = """
import json, os, signal, sys
from pathlib import Path
from ctxmw import ContextMiddleware
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.tokens.counter import counter_for
from tests.support.histories import history

folder, seed, window, last = Path(sys.argv[1]), *map(int, sys.argv[2:])
count = counter_for()
count("What all of them would load is loaded once.")

def dying(method, fatal):
    writes = 0
    def write(self, *args):
        nonlocal writes
        writes += 1
        if writes == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / f"{fatal}.writes").write_text(str(writes))
        return method(self, *args)
    return write

def compact(fatal):
    SqliteStore.put = dying(SqliteStore.put, fatal)
    own = folder / str(fatal)
    own.mkdir()
    with ContextMiddleware.open(own / "memory.db", count=count) as ctx:
        made = ctx.session("s").compact(history(seed), window=window)
        assert made.archived
        # The caller goes on with what it got: from here on the rest is in the memory alone.
        (own / "kept.new").write_text(json.dumps(made.messages))
        os.replace(own / "kept.new", own / "kept.json")

for fatal in range(last + 1):
    child = os.fork()
    if not child:
        compact(fatal)
        os._exit(0)
    (folder / f"{fatal}.ended").write_text(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where processes have compacted the same, each in a folder called by its fatal write."""
    folder = tmp_path_factory.mktemp("compacted")
    command = [sys.executable, "-c", CHILDREN, *map(str, (folder, SEED, WINDOW, WRITES))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def in_reach(folder, said):
    """Return what the caller still has, and what the memory has."""
    kept = folder / "kept.json"
    messages = json.loads(kept.read_text()) if kept.exists() else said
    held = {mark_of(message) for message in messages}
    with ContextMiddleware.open(folder / "memory.db") as ctx:
        hits = ctx.search(" ".join(map(mark_of, said)), limit=200, budget=100_000)
        held |= {mark for hit in hits for mark in MARK.findall(hit.record.says())}
        again = ctx.session("s").compact(messages, window=WINDOW)
        prepared = ctx.session("s").prepare(again.messages)
    return held, again, prepared


@pytest.mark.parametrize("fatal", range(1, WRITES + 1))
def test_a_process_killed_while_it_writes_loses_nothing(folder, fatal):
    said = history(SEED)
    assert int((folder / f"{fatal}.ended").read_text()) == -signal.SIGKILL
    held, again, prepared = in_reach(folder / str(fatal), said)
    assert held >= {mark_of(message) for message in said if message["role"] != "system"}
    assert again.archived
    assert prepared.messages[0]["role"] == "system"


def test_the_kills_cover_every_write_of_a_compaction(folder):
    assert int((folder / "0.ended").read_text()) == 0
    assert int((folder / "0.writes").read_text()) == WRITES
