"""A replica is what would be made anew from the store, whatever happened in between."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ctxmw import SqliteStore
from ctxmw.errors import StoreError
from ctxmw.protocols import Row, Store
from ctxmw.runtime.packing import Unpacked, unpacked
from ctxmw.store import replica
from ctxmw.store.journal import Feed
from ctxmw.store.replica import Replica, SavedProjection, SavedReplica, rows_of
from tests.support.strategies import NOW
from tests.support.waiting import PATIENCE

SPACE = ("words:2", "words:1")
UNREADABLE = "?"


class Undone(Exception):
    """Ends a transaction."""


class Breaking(SqliteStore):
    """Fails while it is broken."""

    broken = False

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        if self.broken:
            raise StoreError("broken")
        return super().get(user, refs)


class Words(SavedProjection):
    """The body of every live row, in places that are never used again, as an index has them."""

    def __init__(self, store: Store, user: str) -> None:
        super().__init__()
        self._store = store
        self._user = user
        self._places: list[str] = []
        self.said: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def dead(self) -> int:
        return len(self._places) - len(self.said)

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        for ref in (*gone, *written):
            self.said.pop(ref, None)
            self.unread.discard(ref)
        for rows in rows_of(self._store, self._user, written):
            for row in rows:
                if row.live and row.body == UNREADABLE:
                    self.unread.add(row.ref)
                elif row.live:
                    self._places.append(row.ref)
                    self.said[row.ref] = row.body

    def dump(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"none": np.zeros(0)}, {"said": self.said}

    def load(self, snapshot: Unpacked) -> None:
        self.said = dict(snapshot.about["said"])
        self._places = list(self.said)


def words_in(store: Store, **options: Any) -> Replica[Words]:
    kind = SavedReplica if "space" in options else Replica
    return kind(Feed(store), ("memory",), lambda user: Words(store, user), **options)


def said(words: Replica[Words], user: str = "ada") -> dict[str, str]:
    with words.use(user) as used:
        return dict(used.said)


def row(ref: str, body: str = "{}", user: str = "ada", type_: str = "memory") -> Row:
    return Row(user=user, ref=ref, type=type_, at=NOW, body=body, search_text=body)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Breaking]:
    store = Breaking(tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_small(monkeypatch)


def keep_small(patch: pytest.MonkeyPatch) -> None:
    """Keep snapshots of a few records, and read a few at a time."""
    patch.setattr(replica, "WORTH_KEEPING", 2)
    patch.setattr(replica, "_OFTEN", 2)
    patch.setattr(replica, "_BATCH", 2)


Writes = list[tuple[str, str | None]]
USERS, OPENINGS = st.sampled_from(("ada", "bob")), st.integers(0, 1)
REFS = st.sampled_from(("m1", "m2", "m3", "m4", "m5", "n1"))
BODIES = st.sampled_from(("tea", "coffee", UNREADABLE, None))
WRITES = st.lists(st.tuples(REFS, BODIES), min_size=1, max_size=5)
OPTIONS: tuple[dict[str, Any], ...] = ({"space": SPACE}, {"users": 1}, {"places": 3})


class Anything(RuleBasedStateMachine):
    """Two openings of one store write, undo and forget, and each of them has replicas."""

    @initialize()
    def open(self) -> None:
        self.patch = pytest.MonkeyPatch()
        keep_small(self.patch)
        self.folder = TemporaryDirectory()
        self.stores = [Breaking(Path(self.folder.name) / "memory.db") for _ in range(2)]
        self.replicas = [[words_in(store, **each) for each in OPTIONS] for store in self.stores]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for store in self.stores:
                store.close()
            self.folder.cleanup()
            self.patch.undo()

    @rule(user=USERS, writes=WRITES, opening=OPENINGS)
    def write(self, user: str, writes: Writes, opening: int) -> None:
        write(self.stores[opening], user, writes)

    @rule(user=USERS, writes=WRITES, opening=OPENINGS, looks=st.booleans())
    def undo(self, user: str, writes: Writes, opening: int, looks: bool) -> None:
        store = self.stores[opening]
        with suppress(Undone), store.atomic(user):
            for one in writes:
                write(store, user, [one])
                if looks:
                    self.are_up_to_date(opening, user)
            self.are_up_to_date(opening, user)
            raise Undone

    @rule(user=USERS, writes=WRITES, opening=OPENINGS, inside=st.booleans())
    def fail(self, user: str, writes: Writes, opening: int, inside: bool) -> None:
        """Break the store while what was written is read."""
        store = self.stores[opening]
        with suppress(Undone), store.atomic(user) if inside else nullcontext():
            write(store, user, writes)
            store.broken = True
            for words in self.replicas[opening]:
                with suppress(StoreError):
                    said(words, user)
            store.broken = False
            raise Undone

    @rule(user=USERS, opening=OPENINGS)
    def are_up_to_date(self, opening: int, user: str) -> None:
        expected = said(words_in(self.stores[opening]), user)
        for words in self.replicas[opening]:
            assert said(words, user) == expected

    @rule(user=USERS, opening=OPENINGS, which=st.integers(0, len(OPTIONS) - 1))
    def use_one(self, opening: int, user: str, which: int) -> None:
        expected = said(words_in(self.stores[opening]), user)
        assert said(self.replicas[opening][which], user) == expected

    @rule(user=USERS, opening=OPENINGS)
    def follow(self, opening: int, user: str) -> None:
        for words in self.replicas[opening]:
            words.follow(user, 3)

    @rule(opening=OPENINGS)
    def distrust(self, opening: int) -> None:
        for words in self.replicas[opening]:
            words.distrust()

    @rule(opening=OPENINGS)
    def restart(self, opening: int) -> None:
        self.replicas[opening] = [words_in(self.stores[opening], **each) for each in OPTIONS]

    @invariant()
    def a_snapshot_says_what_was_stored(self) -> None:
        for user in ("ada", "bob"):
            store = self.stores[0]
            for blob in store.get_blobs(user, SPACE[0], ["*"]).values():
                about = unpacked(BytesIO(blob)).about
                changed = {change.ref for change in store.changes(user, about["seq"])}
                then, now = about["said"], said(words_in(store), user)
                assert then.keys() - changed == now.keys() - changed
                assert all(then[ref] == now[ref] for ref in then.keys() - changed)


TestAnything = Anything.TestCase
TestAnything.settings = settings(stateful_step_count=30)


def test_what_is_forgotten_leaves_the_snapshot_and_its_next_one(
    store: Breaking, small: None
) -> None:
    words = words_in(store, space=SPACE)
    store.put([row(f"m{n}", f"tea {n}") for n in range(9)])
    said(words)
    assert store.blob_refs("ada", SPACE[0]) == ["*"]
    store.delete("ada", ["m3"])
    assert store.blob_refs("ada", SPACE[0]) == []
    said(words)
    (blob,) = store.get_blobs("ada", SPACE[0], ["*"]).values()
    assert b"tea 2" in blob
    assert b"tea 3" not in blob


def test_a_snapshot_is_not_kept_when_somebody_writes_meanwhile(
    store: Breaking, small: None
) -> None:
    words = words_in(store, space=SPACE)
    store.put([row(f"m{n}") for n in range(9)])
    with words.use("ada"):
        store.delete("ada", ["m3"])
    assert store.blob_refs("ada", SPACE[0]) == []
    assert "m3" not in said(words)
    assert store.blob_refs("ada", SPACE[0]) == ["*"]


@pytest.mark.parametrize("broken", [b"", b"{}", b"[" * 99])
def test_a_snapshot_that_cannot_be_read_is_made_anew(
    store: Breaking, small: None, caplog: pytest.LogCaptureFixture, broken: bytes
) -> None:
    store.put([row(f"m{n}") for n in range(9)])
    store.put_blobs("ada", SPACE[0], {"*": broken})
    assert len(said(words_in(store, space=SPACE))) == 9
    assert "made anew" in caplog.text


def test_what_another_version_could_not_read_is_tried_again(store: Breaking, small: None) -> None:
    store.put([row("m1", UNREADABLE), *(row(f"n{n}") for n in range(9))])
    with words_in(store, space=SPACE).use("ada") as used:
        assert used.unread == {"m1"}
    with closing(sqlite3.connect(store.path)) as file, file:  # nothing in the feed tells of it
        file.execute("UPDATE records SET body = 'tea' WHERE ref = 'm1'")
    with words_in(store, space=SPACE).use("ada") as used:
        assert used.said["m1"] == "tea"
        assert used.unread == set()


def test_who_writes_does_not_wait_for_who_reads(store: Breaking) -> None:
    words = words_in(store)
    store.put([row("m1")])
    said(words)
    using, done = threading.Event(), threading.Event()

    def use() -> None:
        with words.use("ada"):
            using.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=use)
    thread.start()
    using.wait(PATIENCE)
    store.put([row("m2")])
    words.follow("ada", 9)
    with words.at_hand("ada", 0.01) as kept:
        assert kept is None
    assert [kept.user for kept in words.idle(but="bob")] == []
    done.set()
    thread.join(PATIENCE)
    words.follow("ada", 9)
    assert words.behind("ada") == 0
    assert said(words) == {"m1": "{}", "m2": "{}"}


def test_no_more_users_are_kept_than_there_is_room_for(store: Breaking) -> None:
    users = ("ada", "bob", "eve")
    store.put([row(f"m{n}", user=user) for user in users for n in range(3)])
    few, small = words_in(store, users=2), words_in(store, places=4)
    for user in (*users, "ada"):
        for words in (few, small):
            assert len(said(words, user)) == 3
    assert [kept.user for kept in few.every()] == ["eve", "ada"]
    assert [kept.user for kept in small.every()] == ["ada"]


def write(store: SqliteStore, user: str, writes: Writes) -> None:
    for ref, body in writes:
        if body is None:
            store.delete(user, [ref])
        else:
            store.put([row(ref, body, user, "note" if ref.startswith("n") else "memory")])
