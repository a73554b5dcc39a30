from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.store.sqlite import schema as sqlite_schema
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import finish, python, row

SPACE = "vector:test"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db", synchronous="NORMAL")
    yield opened
    opened.close()


@pytest.fixture
def filled(store: SqliteStore) -> SqliteStore:
    """Two rows with a blob each, and one of all rows."""
    store.put([row("m1", "tea"), row("m2", "coffee")])
    store.put_blobs("ada", SPACE, {"m1": b"one", "m2": b"two", "*": b"all"})
    return store


class TestKeeping:
    def test_blobs_come_back_exactly(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea"), row("m2", "coffee")])
        blobs = {"m1": bytes(range(256)), "m2": b"", "*": b"\0" * 100_000}
        store.put_blobs("ada", SPACE, blobs)
        assert store.get_blobs("ada", SPACE, ["m2", "m1", "*", "none"]) == blobs
        assert store.blob_refs("ada", SPACE) == ["*", "m1", "m2"]

    def test_a_blob_is_replaced(self, filled: SqliteStore) -> None:
        filled.put_blobs("ada", SPACE, {"m1": b"new"})
        assert filled.get_blobs("ada", SPACE, ["m1", "m2"]) == {"m1": b"new", "m2": b"two"}

    def test_spaces_are_apart(self, filled: SqliteStore) -> None:
        filled.put_blobs("ada", "other", {"m1": b"other"})
        assert filled.blob_spaces("ada") == ["other", SPACE]
        filled.drop_blobs("ada", SPACE)
        assert filled.blob_spaces("ada") == ["other"]
        assert filled.blob_refs("ada", SPACE) == []
        assert filled.get_blobs("ada", "other", ["m1"]) == {"m1": b"other"}

    def test_a_blob_without_a_row_is_not_kept(self, filled: SqliteStore) -> None:
        """Its row was forgotten while the blob was made."""
        filled.put([row("m4", "tea", user="bob")])
        filled.put_blobs("ada", SPACE, {"m1": b"new", "m3": b"three", "m4": b"four"})
        assert filled.get_blobs("ada", SPACE, ["m1", "m3", "m4"]) == {"m1": b"new"}

    def test_another_process_sees_them(self, filled: SqliteStore) -> None:
        code = "print(SqliteStore(sys.argv[1]).get_blobs('ada', 'vector:test', ['m1', '*']))"
        assert finish(python(code, filled.path)).strip() == "{'*': b'all', 'm1': b'one'}"

    def test_what_is_kept_for_all_rows_is_read_as_a_transaction_sees_it(
        self, filled: SqliteStore
    ) -> None:
        with filled.atomic("ada"):
            filled.put_blobs("ada", SPACE, {"*": b"new"})
            assert filled.get_blobs("ada", SPACE, ["*"]) == {"*": b"new"}
        filled.drop_blobs("ada", SPACE)
        assert filled.get_blobs("ada", SPACE, ["*"]) == {}

    def test_they_are_no_changes_of_rows(self, filled: SqliteStore) -> None:
        head = filled.head("ada")
        filled.put_blobs("ada", SPACE, {"m1": b"new"})
        filled.drop_blobs("ada", SPACE)
        assert filled.head("ada") == head


class TestGoing:
    def test_with_a_deleted_row(self, filled: SqliteStore) -> None:
        filled.put_blobs("ada", "other", {"m1": b"one", "*": b"all"})
        filled.delete("ada", ["m1"])
        assert filled.blob_refs("ada", SPACE) == ["m2"]
        assert filled.blob_refs("ada", "other") == []

    def test_with_changed_text(self, filled: SqliteStore) -> None:
        filled.put([row("m1", "green tea")])
        assert filled.blob_refs("ada", SPACE) == ["m2"]

    def test_with_a_row_that_something_newer_replaced(self, filled: SqliteStore) -> None:
        filled.put([row("m1", "tea", live=False)])
        assert filled.blob_refs("ada", SPACE) == ["*", "m2"]

    def test_not_with_a_row_that_still_says_the_same(self, filled: SqliteStore) -> None:
        filled.put([row("m1", "tea", body="tea, seen twice", key="drink")])
        assert filled.blob_refs("ada", SPACE) == ["*", "m1", "m2"]

    def test_rows_that_cannot_be_searched_are_no_part_of_the_whole(
        self, filled: SqliteStore
    ) -> None:
        filled.put([row("e1", search_text="", body="state")])
        filled.put_blobs("ada", SPACE, {"e1": b"own"})
        filled.delete("ada", ["e1"])
        assert filled.blob_refs("ada", SPACE) == ["*", "m1", "m2"]

    def test_in_the_same_transaction(self, filled: SqliteStore) -> None:
        with suppress(RuntimeError), filled.atomic("ada"):
            filled.delete("ada", ["m1"])
            assert filled.blob_refs("ada", SPACE) == ["m2"]
            raise RuntimeError
        assert filled.blob_refs("ada", SPACE) == ["*", "m1", "m2"]

    def test_no_bytes_are_left(self, filled: SqliteStore) -> None:
        mark, large = b"zebrafish-bytes", b"whalefish-bytes" * 10_000
        filled.put([row("e1", search_text="", body="state")])
        filled.put_blobs("ada", SPACE, {"m1": mark, "e1": mark, "m2": large})
        filled.put_blobs("ada", SPACE, {"*": mark + large})
        filled.delete("ada", ["m1", "m2", "e1"])
        for file in filled.path.parent.iterdir():
            assert b"zebrafish" not in file.read_bytes(), file
            assert b"whalefish" not in file.read_bytes(), file

    def test_no_bytes_are_left_of_a_row_without_search_text(self, store: SqliteStore) -> None:
        """Cells that move leave copies behind, which only a rewritten file has not."""
        rows = [row(f"e{n}", search_text="", body="x") for n in range(300)]
        store.put(rows)
        for n in range(300):
            store.put_blobs("ada", SPACE, {f"e{n}": b"zebrafish%d" % n * (n % 7 * 20 + 1)})
        store.delete("ada", [each.ref for each in rows])
        for file in store.path.parent.iterdir():
            assert b"zebrafish" not in file.read_bytes(), file


class TestAllOrNothing:
    def test_one_bad_blob_keeps_all_out(self, store: SqliteStore) -> None:
        with pytest.raises(InvalidValue, match="must be bytes"):
            store.put_blobs("ada", SPACE, {"m1": b"one", "m2": "two"})  # type: ignore[dict-item]
        assert store.blob_refs("ada", SPACE) == []

    def test_an_exception_undoes_them(self, store: SqliteStore) -> None:
        with suppress(RuntimeError), store.atomic("ada"):
            store.put([row("m1", "tea")])
            store.put_blobs("ada", SPACE, {"m1": b"one"})
            raise RuntimeError
        assert store.blob_refs("ada", SPACE) == []

    def test_a_closed_store_says_so(self, store: SqliteStore) -> None:
        store.close()
        with pytest.raises(StoreError, match="closed"):
            store.put_blobs("ada", SPACE, {"m1": b"one"})


class TestUsers:
    NAMES = ("u1", "u10", "u%", "u_", "U1", "u1\n", "*")

    def test_no_name_is_another(self, store: SqliteStore) -> None:
        for name in self.NAMES:
            store.put([row("m1", "tea", user=name)])
            store.put_blobs(name, SPACE, {"m1": name.encode(), "*": name.encode()})
        store.delete("u1", ["m1"])
        store.drop_blobs("u%", SPACE)
        for name in self.NAMES:
            kept = {} if name in ("u1", "u%") else {"m1": name.encode(), "*": name.encode()}
            assert store.get_blobs(name, SPACE, ["m1", "*"]) == kept
            assert store.blob_refs(name, SPACE) == sorted(kept)

    @pytest.mark.parametrize("user", ["", "a\0b", None])
    def test_every_call_names_its_user(self, store: SqliteStore, user: str) -> None:
        for call in (
            lambda: store.put_blobs(user, SPACE, {"m1": b""}),
            lambda: store.get_blobs(user, SPACE, ["m1"]),
            lambda: store.blob_refs(user, SPACE),
            lambda: store.blob_spaces(user),
            lambda: store.drop_blobs(user, SPACE),
        ):
            with pytest.raises(InvalidValue, match="user"):
                call()

    def test_spaces_and_refs_have_names(self, store: SqliteStore) -> None:
        with pytest.raises(InvalidValue, match="space is empty"):
            store.put_blobs("ada", "", {"m1": b""})
        with pytest.raises(InvalidValue, match="ref is empty"):
            store.put_blobs("ada", SPACE, {"": b""})
        assert store.get_blobs("ada", SPACE, ["\0", "\ud800", "'; DROP TABLE blobs"]) == {}


class TestMigration:
    def test_a_file_of_number_two_keeps_everything(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with pytest.MonkeyPatch.context() as patch:
            before = {number: sqlite_schema.MIGRATIONS[number] for number in (1, 2)}
            patch.setattr(sqlite_schema, "MIGRATIONS", before)
            patch.setattr(sqlite_schema, "LATEST", 2)
            older = SqliteStore(path)
            older.put([row("m1", "tea"), row("m2", "coffee", live=False), row("m3", "water")])
            older.delete("ada", ["m3"])
            rows, changes = older.query("ada", Find(live=None)), older.changes("ada", 0)
            older.close()
        store = SqliteStore(path)
        assert store.query("ada", Find(live=None)) == rows
        assert store.changes("ada", 0) == changes
        assert [hit.ref for hit, _ in store.search("ada", ["tea"], Find())] == ["m1"]
        store.put_blobs("ada", SPACE, {"m1": b"one"})
        store.delete("ada", ["m1"])
        assert store.blob_refs("ada", SPACE) == []
        store.close()
        file = sqlite3.connect(path)
        assert file.execute("PRAGMA user_version").fetchone() == (sqlite_schema.LATEST,)
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        file.close()


@settings(max_examples=30)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "edit", "retire", "delete", "blob"]),
            st.sampled_from(["ada", "bob"]),
            st.sampled_from(["m1", "m2"]),
        ),
        max_size=12,
    )
)
def test_a_blob_is_there_exactly_while_its_row_says_what_it_said(
    steps: list[tuple[str, str, str]],
) -> None:
    store = SqliteStore(":memory:")
    texts: dict[tuple[str, str], tuple[str, bool]] = {}
    kept: dict[tuple[str, str], bytes] = {}
    for n, (step, user, ref) in enumerate(steps):
        at = (user, ref)
        before = texts.get(at)
        if step == "blob" and before:
            kept[at] = b"%d" % n
            store.put_blobs(user, SPACE, {ref: kept[at]})
            continue
        if step == "delete":
            store.delete(user, [ref])
            texts.pop(at, None)
            kept.pop(at, None)
        elif step != "blob":
            text = f"text {n}" if step == "edit" or not before else before[0]
            texts[at] = (text, step != "retire")
            store.put([row(ref, text, user=user, live=step != "retire")])
            if before and (before[0] != text or (before[1] and step == "retire")):
                kept.pop(at, None)
    for user in ("ada", "bob"):
        mine = {ref: blob for (owner, ref), blob in kept.items() if owner == user}
        assert store.get_blobs(user, SPACE, ["m1", "m2"]) == mine
    store.close()
