"""What changed lately is read from the store once, and is always what the store says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware, SqliteStore
from ctxmw.code.codebase import Codebase
from ctxmw.code.files import CodeFile
from ctxmw.errors import StoreError
from ctxmw.protocols import Change, Row
from ctxmw.recall.sources.records import Memories
from ctxmw.store import journal
from ctxmw.store.journal import Feed
from ctxmw.values.records import SHARED, Memory
from ctxmw.values.situation import Situation, Weights
from tests.support.strategies import NOW

TYPES = ("memory", "turn")


class Asked(SqliteStore):
    """Counts how often its feed is read; reads no rows while it is broken."""

    reads = 0
    broken = False

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        if self.broken:
            raise StoreError("broken")
        return super().get(user, refs)

    def changes(self, user: str, since: int, types: Sequence[str] = (), /) -> list[Change]:
        self.reads += 1
        return super().changes(user, since, types)


@pytest.fixture
def store(tmp_path: Path) -> Asked:
    return Asked(tmp_path / "memory.db")


def row(ref: str, type_: str = "memory", user: str = "ada") -> Row:
    return Row(user=user, ref=ref, type=type_, at=NOW, body="{}")


def asked(of: Feed, store: Asked, since: int, types: Sequence[str] = TYPES) -> list[str]:
    return [change.ref for change in of.changes("ada", since, types, store.head("ada"))]


def test_what_was_read_once_is_not_read_again(store: Asked) -> None:
    news = Feed(store)
    began = store.head("ada")
    assert asked(news, store, began) == []
    store.put([row("m1"), row("t1", "turn"), row("c1", "context")])
    assert asked(news, store, began) == ["m1", "t1"]
    assert asked(news, store, began, ("turn",)) == ["t1"]
    assert asked(news, store, store.head("ada")) == []
    assert store.reads == 1


def test_a_row_that_changes_again_is_told_once_and_where_it_stands_now(store: Asked) -> None:
    news = Feed(store)
    assert asked(news, store, 0) == []
    store.put([row("m1"), row("m2")])
    assert asked(news, store, 0) == ["m1", "m2"]
    store.put([row("m1")])
    store.delete("ada", ["m2"])
    found = news.changes("ada", 0, TYPES, store.head("ada"))
    assert found == store.changes("ada", 0, TYPES)
    assert [(change.ref, change.gone) for change in found] == [("m1", False), ("m2", True)]


def test_what_happened_before_anybody_asked_is_read_from_the_store(store: Asked) -> None:
    store.put([row("m1"), row("m2")])
    news = Feed(store)
    assert asked(news, store, store.head("ada")) == []
    assert asked(news, store, 0) == ["m1", "m2"]


def test_it_tells_of_the_types_that_are_asked_for_or_of_all(store: Asked) -> None:
    news = Feed(store)
    assert asked(news, store, 0) == []
    store.put([row("m1"), row("c1", "context")])
    assert asked(news, store, 0, ("memory",)) == ["m1"]
    assert asked(news, store, 0, ("memory", "context")) == ["m1", "c1"]
    assert asked(news, store, 0, ()) == ["m1", "c1"]


def test_many_users_share_the_room_and_who_asked_longest_ago_is_read_again(
    store: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "TOGETHER", 5)
    news = Feed(store)

    def told(user: str) -> list[str]:
        return [change.ref for change in news.changes(user, 0, TYPES, store.head(user))]

    for user in ("ada", "bob"):
        assert told(user) == []
    store.put([row(f"m{n}", user=user) for user in ("ada", "bob") for n in range(3)])
    reads = []
    for user in ("ada", "bob", "bob", "ada", "ada"):
        before = store.reads
        assert told(user) == ["m0", "m1", "m2"]
        reads.append(store.reads - before)
    # There is room for the three of one user only: the other's are read again.
    assert reads == [1, 1, 0, 1, 1]


def test_only_the_latest_are_kept(store: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT", 3)
    news = Feed(store)
    assert asked(news, store, 0) == []
    store.put([row(f"m{n}") for n in range(5)])
    assert asked(news, store, 2) == ["m2", "m3", "m4"]
    assert store.reads == 1
    assert asked(news, store, 0) == ["m0", "m1", "m2", "m3", "m4"]
    assert store.reads == 2


def test_what_is_undone_leaves_no_trace(store: Asked) -> None:
    """Positions in the feed are given out again, to others."""
    news = Feed(store)
    assert asked(news, store, 0) == []
    with suppress(ZeroDivisionError), store.atomic("ada"):
        store.put([row("undone"), row("undone too")])
        assert asked(news, store, 0) == ["undone", "undone too"]
        raise ZeroDivisionError
    store.put([row("m1")])
    assert asked(news, store, 0) == ["m1"]
    store.put([row("m2"), row("m3")])
    assert asked(news, store, 0) == ["m1", "m2", "m3"]


def test_each_user_has_a_feed(store: Asked) -> None:
    news = Feed(store)
    assert asked(news, store, 0) == []
    store.put([row("m1"), row("b1", user="bob")])
    assert asked(news, store, 0) == ["m1"]
    assert [change.ref for change in news.changes("bob", 0, TYPES, store.head("bob"))] == ["b1"]


@given(
    st.lists(
        st.tuples(st.sampled_from("pdr"), st.integers(0, 4), st.sampled_from(("memory", "note"))),
        max_size=30,
    ),
    st.integers(1, 4),
)
def test_it_always_says_what_the_store_says(steps: list[tuple[str, int, str]], kept: int) -> None:
    store = Asked(":memory:")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "KEPT", kept)
        news, since = Feed(store), 0
        for step, number, type_ in steps:
            if step == "p":
                store.put([row(f"{type_}{number}", type_)])
            elif step == "d":
                store.delete("ada", [f"{type_}{number}"])
            else:
                head = store.head("ada")
                told = news.changes("ada", since, TYPES, head)
                assert told == store.changes("ada", since, TYPES)
                since = max(0, head - number)
    store.close()


class TestWhatIsUndoneIsNotSeenAfterwards:
    """What a transaction read and then undid is nowhere at hand."""

    @pytest.fixture
    def ctx(self, store: Asked) -> Iterator[ContextMiddleware]:
        with ContextMiddleware(store, user="ada") as ctx:
            ctx.remember("Tea is served at four.", kind="fact")
            assert ctx.search("tea")
            yield ctx

    def test_by_search(self, ctx: ContextMiddleware, store: Asked) -> None:
        with suppress(ZeroDivisionError), store.atomic("ada"):
            ctx.remember("Coffee is served at nine.", kind="fact")
            assert [hit.text for hit in ctx.search("coffee")] == ["Coffee is served at nine."]
            raise ZeroDivisionError
        ctx.remember("Cocoa is served at ten.", kind="fact")
        assert ctx.search("coffee") == []
        assert [hit.text for hit in ctx.search("cocoa")] == ["Cocoa is served at ten."]
        assert [hit.text for hit in ctx.search("tea")] == ["Tea is served at four."]

    def test_in_a_prompt(self, ctx: ContextMiddleware, store: Asked) -> None:
        asked = [{"role": "user", "content": "hello"}]
        with suppress(ZeroDivisionError), store.atomic("ada"):
            ctx.remember("Coffee is black here.", kind="preference")
            assert "Coffee" in ctx.session("a").prepare(asked).context.text
            raise ZeroDivisionError
        ctx.remember("Cocoa is hot here.", kind="preference")
        shown = ctx.session("b").prepare(asked).context.text
        assert "Coffee" not in shown
        assert "Cocoa" in shown

    def test_as_a_block_that_is_stored(self, ctx: ContextMiddleware, store: Asked) -> None:
        asked = [{"role": "user", "content": "hello"}]
        with suppress(ZeroDivisionError), store.atomic("ada"):
            ctx.session("a").prepare(asked)
            raise ZeroDivisionError
        sent = ctx.session("a").prepare(asked).context
        with ContextMiddleware(SqliteStore(store.path), user="ada") as after_a_restart:
            assert "Tea" in sent.stable
            assert after_a_restart.session("a").prepare(asked).context.stable == sent.stable

    def test_in_the_catalog(self, ctx: ContextMiddleware, store: Asked) -> None:
        with suppress(ZeroDivisionError), store.atomic(SHARED):
            ctx.catalog.add("rule", "undone", "Never mind.")
            assert [item.name for item in ctx.catalog.items()] == ["undone"]
            raise ZeroDivisionError
        ctx.catalog.add("rule", "kept", "Be brief.")
        assert [item.name for item in ctx.catalog.items()] == ["kept"]


class TestNorIsWhatWasHalfReadWhenReadingFailed:
    """The store breaks inside a transaction, which is undone, and works again."""

    def test_by_search(self, store: Asked) -> None:
        with ContextMiddleware(store, user="ada") as ctx:
            tea = ctx.remember("Tea is served at four.", kind="fact")
            assert ctx.search("tea")
            with suppress(StoreError), store.atomic("ada"):
                store.delete("ada", [tea.ref])
                ctx.remember("Coffee is served at nine.", kind="fact")
                store.broken = True
                ctx.search("tea")
            store.broken = False
            assert [hit.text for hit in ctx.search("tea")] == ["Tea is served at four."]

    def test_on_the_shelf(self, store: Asked) -> None:
        source = Memories(store)

        def listed() -> list[str]:
            here = Situation(user="ada", now=NOW)
            return [item.ref for item in source.best(here, Weights(), {"universal": 9}).items]

        def memory(ref: str) -> Row:
            return Memory(user="ada", ref=ref, at=NOW, kind="fact", text=f"Tea {ref}.").row()

        with suppress(StoreError), store.atomic("ada"):
            store.put([memory("m1"), memory("m2")])
            store.broken = True
            listed()
        store.broken = False
        store.put([memory("m3"), memory("m4")])
        assert sorted(listed()) == ["m3", "m4"]

    def test_in_code(self, store: Asked) -> None:
        codebase = Codebase(store)

        def known() -> bool:
            with codebase.use("ada", "shop") as code:
                return code is not None

        def file(ref: str) -> Row:
            made = {"root": "/shop", "path": f"{ref}.py", "language": "python", "hash": ref}
            return CodeFile(user="ada", ref=ref, at=NOW, scope="project:shop", **made).row()

        store.put([file("c1")])
        assert known()
        with suppress(StoreError), store.atomic("ada"):
            store.delete("ada", ["c1"])
            store.put([file("c2")])
            store.broken = True
            known()
        store.broken = False
        assert known()
