"""The index of words is right whatever happened to the process that made it."""

from __future__ import annotations

import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.search.per_user import SPACE
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import python
from tests.support.waiting import PATIENCE

NOW = datetime(2024, 3, 14, 12, tzinfo=UTC)
RECORDS = 4_500

INDEXING = """
from ctxmw import ContextMiddleware
from ctxmw.search.lexical.index import LexicalIndex

def stop():
    print("here", flush=True)
    time.sleep(3600)

def stopping(call, times):
    calls = []
    def called(*args):
        calls.append(1)
        result = call(*args)
        if len(calls) == times:
            stop()
        return result
    return called

where, times = sys.argv[2], int(sys.argv[3])
if where == "reading":
    LexicalIndex.add = stopping(LexicalIndex.add, times)
if where == "sorting":
    LexicalIndex.freeze = stopping(LexicalIndex.freeze, times)
with ContextMiddleware.open(sys.argv[1]) as ctx:
    store = ctx.store
    if where == "keeping":
        store.put_blobs = stopping(store.put_blobs, times)
    ctx.search("gear")
    if where == "kept":
        stop()
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "memory.db"
    with ContextMiddleware.open(path) as ctx:
        lines = [{"role": "user", "content": f"Gear n{n} is brass."} for n in range(RECORDS)]
        ctx.session("s1").capture(lines, at=NOW)
    return path


def kept(path: Path) -> bool:
    store = SqliteStore(path)
    try:
        return bool(store.get_blobs("local", SPACE, ["*"]))
    finally:
        store.close()


@pytest.mark.parametrize(
    ("where", "times", "copied"),
    [
        ("reading", 1, False),
        ("reading", 3, False),
        ("sorting", 1, False),
        ("keeping", 1, False),
        ("kept", 1, True),
    ],
)
def test_a_process_is_killed_while_it_indexes(
    filled: Path, tmp_path: Path, where: str, times: int, copied: bool
) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(filled, path)
    process = python(INDEXING, path, where, times)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert kept(path) is copied
    for _ in range(2):
        with ContextMiddleware.open(path) as ctx:
            for n in (0, 1_999, 2_000, RECORDS - 1):
                assert ctx.search(f"n{n}")[0].text == f"Gear n{n} is brass."
        assert kept(path)


def test_what_was_read_for_others_makes_room(monkeypatch):
    monkeypatch.setattr("ctxmw.search.per_user.READ", 2_500)
    with ContextMiddleware.open(":memory:", user=None) as ctx:
        users = ctx._recall.search._indexes._users
        for user in ("ada", "bob"):
            for drink in ("tea", "coffee"):
                ctx.remember(f"{user} drinks {drink}.", user=user)
        for user in ("ada", "bob", "ada"):
            found = ctx.search("who drinks tea or coffee", user=user)
            assert {hit.text for hit in found} == {f"{user} drinks {d}." for d in ("tea", "coffee")}
            assert [kept.readings.size > 0 for kept in users.values()][-1]
            assert sum(kept.readings.size for kept in users.values()) <= 2_500


def test_a_large_index_makes_others_go():
    with ContextMiddleware.open(":memory:", user=None) as ctx:
        users = ctx._recall.search._indexes._users
        users._room = 3
        for user in ("ada", "bob"):
            for n in range(3):
                ctx.remember(f"Fact {n} about {user}.", user=user)
        for user in ("ada", "bob", "ada"):
            assert len(ctx.search(f"fact about {user}", user=user)) == 3
            assert list(users._kept) == [user]
