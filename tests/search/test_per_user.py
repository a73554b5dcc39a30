"""The index of words is right whatever happened to the process that made it."""

from __future__ import annotations

import shutil
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.search.per_user import SPACE, Indexes
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.values.records import Memory
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


def facts(store: SqliteStore, *users: str) -> None:
    for user in users:
        about = {"user": user, "at": NOW, "kind": "fact"}
        store.put(
            [Memory(ref=f"m{n}", text=f"Fact {n} about {user}.", **about).row() for n in range(3)]
        )


def test_what_was_read_for_others_makes_room(monkeypatch):
    monkeypatch.setattr("ctxmw.search.per_user.READ", 4_000)
    store = SqliteStore(":memory:")
    facts(store, "ada", "bob")
    indexes = Indexes(store)
    for user in ("ada", "bob", "ada"):
        with indexes.use(user) as found:
            read = found.readings.read(store, user, ["m0", "m1", "m2"], len)
        assert [each.item.text for each in read] == [f"Fact {n} about {user}." for n in range(3)]
        assert found.readings.weight == indexes.read_size() <= 4_000
    store.close()


def test_a_large_index_makes_others_go(monkeypatch):
    monkeypatch.setattr("ctxmw.search.per_user.RECORDS", 3)
    store = SqliteStore(":memory:")
    facts(store, "ada", "bob")
    indexes = Indexes(store)
    for user, other in (("ada", "bob"), ("bob", "ada"), ("ada", "bob")):
        with indexes.use(user) as found:
            assert len(found) == 3
        with indexes.at_hand(user) as mine, indexes.at_hand(other) as theirs:
            assert mine is not None
            assert theirs is None
    store.close()
