"""Everything arrives, whichever way it is moved, wherever it was stopped."""

from __future__ import annotations

import sqlite3
from functools import partial

import pytest

from ctxmw import ContextMiddleware
from ctxmw.cli.main import main
from ctxmw.errors import StoreError
from ctxmw.protocols import Find
from ctxmw.store.migration import contents, migrate
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.testing.case import found, row
from tests.support.stores import postgres_in, sqlite_in


@pytest.fixture
def source(tmp_path):
    store = SqliteStore(tmp_path / "source.db")
    yield store
    store.close()


@pytest.fixture
def target(factory):
    store = factory("target")
    yield store
    store.close()


def lived_in(store) -> None:
    """Leave behind what a memory has after a while: versions, conversations, vectors, gaps."""
    ctx = ContextMiddleware(
        store, user=None, clock=FixedClock(), embedder=HashEmbedder(32), deadline=None
    )
    for user in ("ada", "bob"):
        for number in range(12):
            ctx.remember(f"Gear {number} of {user} is brass.", key=f"gear{number}", user=user)
        ctx.remember(f"Gear 3 of {user} is steel.", key="gear3", user=user)
        ctx.forget(ctx.remember("A secret.", user=user).ref, user=user)
        chat = ctx.session("s1", user=user, project="shop")
        chat.collect("hook", "a", "The build is red.")
        chat.finish(chat.prepare([{"role": "user", "content": "Which gear is steel?"}]), "Three.")
        ctx.search("gear", user=user)
    ctx.catalog.add("rule", "style", "Be brief.", include="always")


def assert_equal(source, target) -> None:
    assert target.users() == source.users()
    for user in source.users():
        assert contents(target, user) == contents(source, user)


def test_everything_arrives_and_comes_back(source, target, tmp_path):
    lived_in(source)
    moved = migrate(source, target)
    assert (moved.users, moved.copied) == (3, moved.rows)
    assert moved.blobs > 20
    assert_equal(source, target)
    back = SqliteStore(tmp_path / "back.db")
    assert migrate(target, back).hash == moved.hash
    assert_equal(source, back)
    back.close()


def test_moving_again_moves_nothing(source, target):
    lived_in(source)
    first = migrate(source, target)
    again = migrate(source, target)
    assert (again.copied, again.hash) == (0, first.hash)


def test_it_goes_on_where_it_was_stopped(source, target, monkeypatch):
    monkeypatch.setattr("ctxmw.store.migration.BATCH", 5)
    lived_in(source)
    total = sum(source.count(user, Find(live=None)) for user in source.users())
    told: list[tuple[int, int]] = []

    def stop(done: int, of: int) -> None:
        told.append((done, of))
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(source, target, stop)
    assert len(told) > 3
    assert {of for _, of in told} == {total}
    moved = migrate(source, target)
    assert moved.copied == total - told[-1][0]
    assert moved.rows == total
    assert_equal(source, target)


def test_what_changed_meanwhile_is_brought_after(source, target):
    source.put([row(f"m{n}", f"tea {n}") for n in range(6)])
    migrate(source, target)
    source.put([row("m1", "coffee"), row("m9", "milk")])
    source.delete("ada", ["m2", "m3"])
    source.put([row("m3", "back again")])
    assert migrate(source, target).copied == 3
    assert_equal(source, target)
    assert (found(target, "coffee"), found(target, "back")) == (["m1"], ["m3"])
    target.put([row("new")])
    assert target.changes("ada", source.head("ada"))[-1].ref == "new"


def test_a_conversation_goes_on_in_the_other_store(source, target):
    clock = FixedClock()
    here = ContextMiddleware(source, user="ada", clock=clock)
    here.remember("Zebra crossings need light.", kind="rule", key="zebra")
    asked = [{"role": "user", "content": "What about zebra crossings?"}]
    before = here.session("s1").prepare(asked)
    here.session("s1").finish(before, "Light.")
    migrate(source, target)
    there = ContextMiddleware(target, user="ada", clock=clock)
    more = [*asked, {"role": "assistant", "content": "Light."}, {"role": "user", "content": "So?"}]
    after = there.session("s1").prepare(more)
    assert after.context.stable == before.context.stable
    assert after.messages[1:3] == [*before.messages[1:2], more[1]]
    there.remember("Zebra crossings need paint.", kind="rule", key="zebra")
    edited = there.session("s1").prepare(
        [*more, {"role": "assistant", "content": "Yes."}, asked[0]]
    )
    assert "need paint" in edited.context.stable
    assert edited.context.epoch == after.context.epoch + 1


def test_a_target_with_something_else_in_it_is_left_alone(source, target):
    source.put([row("m1", "tea")])
    target.put([row("x1", "theirs")])
    with pytest.raises(StoreError, match=r"the target has 1 record of user 'ada'.*'x1'"):
        migrate(source, target)
    assert target.count("ada", Find(live=None)) == 1


def test_a_difference_is_noticed(source, target, monkeypatch):
    source.put([row("m1", "tea")])
    monkeypatch.setattr(type(target), "restore", lambda *_: None)
    monkeypatch.setattr("ctxmw.store.migration._brought", lambda *_: iter(()))
    with pytest.raises(StoreError, match="source and target differ for user 'ada': 1 and 0"):
        migrate(source, target)


class TestCommand:
    def test_it_moves_and_says_what_it_moved(self, source, tmp_path, postgres, capsys, monkeypatch):
        lived_in(source)
        opened = partial(postgres_in, postgres, "cli", tmp_path.name)
        monkeypatch.setattr("ctxmw.store.postgres.store.PostgresStore", lambda _: opened())
        assert main(["migrate", str(source.path), postgres]) == 0
        printed = capsys.readouterr().out
        assert "3 users," in printed
        assert "are equal in both stores" in printed
        monkeypatch.undo()
        store = opened()
        assert_equal(source, store)
        store.close()

    def test_json_is_for_programs(self, source, tmp_path, capsys):
        source.put([row("m1", "tea")])
        assert main(["migrate", str(source.path), str(tmp_path / "new.db"), "--json"]) == 0
        assert '"rows": 1' in capsys.readouterr().out
        assert sqlite_in(str(tmp_path), "new").count("ada", Find()) == 1

    def test_a_source_that_is_not_there_is_not_made(self, tmp_path, capsys):
        missing = tmp_path / "missing.db"
        assert main(["migrate", str(missing), str(tmp_path / "new.db")]) != 0
        assert "there is no store at" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_a_file_of_another_program_is_left_alone(self, tmp_path, capsys):
        with sqlite3.connect(tmp_path / "other.db") as connection:
            connection.execute("CREATE TABLE theirs (n)")
        connection.close()
        assert main(["migrate", str(tmp_path / "other.db"), str(tmp_path / "new.db")]) == 1
        assert "of another program" in capsys.readouterr().err
