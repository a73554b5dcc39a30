from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ctxmw.protocols import Find
from ctxmw.store.sqlite import pool as sqlite_pool
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import row


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db", synchronous="NORMAL")
    yield opened
    opened.close()


def files_with(store: SqliteStore, text: str) -> list[str]:
    """Return the store's files that hold these bytes, in any case."""
    return sorted(
        entry.name
        for entry in store.path.parent.iterdir()
        if text.lower().encode() in entry.read_bytes().lower()
    )


def unswept(store: SqliteStore) -> bool:
    """Say whether the file itself tells that there is something left to sweep."""
    with closing(sqlite3.connect(store.path)) as file:
        return file.execute("SELECT unswept FROM state").fetchone() == (1,)


class TestDelete:
    def test_the_text_is_in_the_files_before_and_not_after(self, store: SqliteStore) -> None:
        store.put([row("m1", "the zebrafish password"), row("m2", "tea")])
        assert files_with(store, "zebrafish")
        store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []
        assert files_with(store, "password") == []
        assert [hit.ref for hit, _ in store.search("ada", ["tea"], Find())] == ["m2"]

    def test_nothing_but_the_ref_and_the_type_is_left(self, store: SqliteStore) -> None:
        names = {name: f"{name}marker" for name in ("session", "key", "digest", "scope", "source")}
        store.put([row("m1", "bodymarker", **names)])
        store.delete("ada", ["m1"])
        assert files_with(store, "marker") == []
        assert [change.ref for change in store.changes("ada", 0)] == ["m1"]

    def test_long_texts_go_too(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish " * 20_000), row("m2", "tea")])
        store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []

    def test_text_that_is_not_searched_goes_too(self, store: SqliteStore) -> None:
        store.put([row("e1", body="zebrafish", search_text=""), row("m2", "tea")])
        store.delete("ada", ["e1"])
        assert files_with(store, "zebrafish") == []

    def test_history_goes_too(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish")])
        store.put([row("m1", "zebrafish", live=False), row("m2", "zebra")])
        store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []
        assert files_with(store, "zebra")

    def test_what_comes_and_goes_in_one_block_goes(self, store: SqliteStore) -> None:
        with store.atomic("ada"):
            store.put([row("m1", "zebrafish")])
            store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []

    def test_what_is_replaced_beside_a_delete_goes(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish"), row("block", body="shows zebrafish", search_text="m1")])
        with store.atomic("ada"):
            store.put([row("block", body="shows nothing", search_text="")])
            store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []

    def test_other_connections_in_the_pool_do_not_keep_it(self, store: SqliteStore) -> None:
        other = SqliteStore(store.path)
        store.put([row("m1", "zebrafish")])
        assert len(other.search("ada", ["zebrafish"], Find())) == 1
        store.delete("ada", ["m1"])
        assert files_with(store, "zebrafish") == []
        assert other.search("ada", ["zebrafish"], Find()) == []
        other.close()

    @pytest.mark.parametrize("seed", [4, 10, 20])
    def test_no_copy_of_a_row_stays_where_it_once_stood(
        self, store: SqliteStore, seed: int
    ) -> None:
        """SQLite moves cells between pages; with these seeds it leaves a copy in a gap."""
        chance = random.Random(seed)
        living: dict[str, str] = {}
        dead = []
        for n in range(150):
            ref, mark = f"m{n}", f"mark{n:06}x"
            living[ref] = mark
            store.put([row(ref, mark, body=mark + "y" * chance.choice([0, 10, 300, 900, 2_000]))])
            for grown in chance.sample(sorted(living), 2) if n % 2 else ():
                body = living[grown] + "z" * chance.choice([0, 500, 1_500])
                store.put([row(grown, living[grown], body=body)])
            if n % 4 == 3:
                gone = chance.sample(sorted(living), 2)
                dead += [living.pop(ref) for ref in gone]
                store.delete("ada", gone)
        data = store.path.read_bytes() + Path(f"{store.path}-wal").read_bytes()
        assert [mark for mark in dead if mark.encode() in data] == []
        assert all(mark.encode() in data for mark in living.values())

    def test_while_somebody_reads_it_waits_for_the_next_write(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_pool, "SWEEP_SECONDS", 0.02)
        store.put([row("m1", "zebrafish")])
        reader = sqlite3.connect(store.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        assert store.delete("ada", ["m1"]) == 1
        assert files_with(store, "zebrafish") != []
        reader.close()
        store.put([row("m2", "tea")])
        assert files_with(store, "zebrafish") == []

    def test_a_sweep_that_fails_is_told_and_done_later(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        store.put([row("m1", "zebrafish"), row("m2", "tea")])

        # An authorizer stands in for a disk too full for a copy of the file.
        (connection,) = store._connections._process.idle
        connection.set_authorizer(lambda action, *_: int(action == sqlite3.SQLITE_ATTACH))
        with caplog.at_level(logging.WARNING, "ctxmw"):
            assert store.delete("ada", ["m1"]) == 1
        assert "deleted text may still be in the file" in caplog.text
        connection.set_authorizer(None)
        assert unswept(store)
        store.delete("ada", ["m2"])
        assert not unswept(store)


class TestReplace:
    def test_replaced_text_is_gone_after_the_next_delete(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish"), row("e1", body="x", search_text="")])
        store.put([row("m1", "tea")])
        store.delete("ada", ["e1"])
        assert files_with(store, "zebrafish") == []

    def test_replaced_text_is_gone_after_closing(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish"), row("m2", "tea")])
        store.put([row("m1", "milk")])
        store.close()
        assert files_with(store, "zebrafish") == []
        assert files_with(store, "milk") == ["memory.db"]

    def test_it_is_gone_even_if_another_process_closes(self, store: SqliteStore) -> None:
        store.put([row("m1", "zebrafish")])
        store.put([row("m1", "milk")])
        SqliteStore(store.path).close()
        assert files_with(store, "zebrafish") == []
