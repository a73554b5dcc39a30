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

CHILD = """
import json, os, signal, sys
from pathlib import Path
from ctxmw import ContextMiddleware
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.histories import history

path, file, seed, window, fatal = sys.argv[1:]
writes = 0

def dying(method):
    def write(self, *args):
        global writes
        writes += 1
        if writes == int(fatal):
            os.kill(os.getpid(), signal.SIGKILL)
        return method(self, *args)
    return write

SqliteStore.put = dying(SqliteStore.put)
with ContextMiddleware.open(path) as ctx:
    made = ctx.session("s").compact(history(int(seed)), window=int(window))
    assert made.archived
    # The caller goes on with what it got: from here on the rest is in the memory alone.
    Path(file + ".new").write_text(json.dumps(made.messages))
    os.replace(file + ".new", file)
    print(writes)
"""


def compacted_by_a_child(folder, fatal):
    command = [sys.executable, "-c", CHILD, str(folder / "memory.db"), str(folder / "kept.json")]
    command += [str(SEED), str(WINDOW), str(fatal)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


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
def test_a_process_killed_while_it_writes_loses_nothing(tmp_path, fatal):
    said = history(SEED)
    killed = compacted_by_a_child(tmp_path, fatal)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    held, again, prepared = in_reach(tmp_path, said)
    assert held >= {mark_of(message) for message in said if message["role"] != "system"}
    assert again.archived
    assert prepared.messages[0]["role"] == "system"


def test_the_kills_cover_every_write_of_a_compaction(tmp_path):
    whole = compacted_by_a_child(tmp_path, 0)
    assert whole.returncode == 0, whole.stderr
    assert int(whole.stdout) == WRITES
