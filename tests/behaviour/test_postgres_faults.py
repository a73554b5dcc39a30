"""Postgres in trouble: connections that are lost, writers that clash, a server that is killed."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from langchain_core.language_models import FakeListChatModel

from ctxmw import ContextMiddleware
from ctxmw.errors import StoreError
from ctxmw.protocols import Find
from ctxmw.store.postgres.pool import Limits
from ctxmw.store.postgres.store import PostgresStore
from ctxmw.testing.case import at_once, found, refs, row
from ctxmw_langchain import with_context
from tests.support.postgres_server import Server
from tests.support.postgres_workers import ANYTHING, WORKERS, count_up_in_threads
from tests.support.waiting import PATIENCE, until


@pytest.fixture
def schema() -> str:
    return f"t{os.urandom(5).hex()}"


@pytest.fixture
def store(postgres: str, schema: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(postgres, schema=schema)
    yield opened
    opened.close()


def end_connections(dsn: str) -> int:
    """End every connection of stores, as a server that restarts would; return how many."""
    ending = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND application_name = 'ctxmw'"
    )
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(ending).fetchone()[0]


class TestLostConnections:
    def test_a_call_goes_on_with_another_connection(self, store, postgres):
        at_once(lambda n: store.put([row(f"m{n}", "tea")]), 6)
        assert end_connections(postgres)
        store.put([row("m9", "tea")])
        assert end_connections(postgres)
        assert store.count("ada", ANYTHING) == 7
        assert end_connections(postgres)
        with store.atomic("ada"):
            store.put([row("m10", "tea")])
        assert store.delete("ada", ["m9"]) == 1

    def test_one_that_is_lost_inside_a_block_keeps_nothing_of_it(self, store, postgres):
        def interrupted() -> None:
            with store.atomic("ada"):
                store.put([row("m1", "tea")])
                end_connections(postgres)
                store.put([row("m2", "tea")])

        with pytest.raises(StoreError, match=r"terminating connection|server closed|lost"):
            interrupted()
        assert store.count("ada", ANYTHING) == 0
        store.put([row("m3", "tea")])
        assert refs(store.query("ada", Find())) == ["m3"]

    def test_writers_never_notice(self, store, postgres):
        written: list[str] = []

        def write(number: int) -> None:
            if not number:
                for more in (5, 10, 15, 20):
                    until(lambda more=more: len(written) >= more)
                    end_connections(postgres)
                return
            for turn in range(20):
                ref = f"m{number}-{turn}"
                store.put([row(ref, "tea")])
                assert refs(store.get("ada", [ref]))
                written.append(ref)

        at_once(write, 4)
        assert store.count("ada", ANYTHING) == len(written) == 60

    def test_a_server_that_is_away_is_named_after_a_while(self, postgres, schema):
        store = PostgresStore(postgres, schema=schema, limits=Limits(patience=0.3))
        store.transactions._lending._address.dsn = "postgresql://app@127.0.0.1:9/app"
        with pytest.raises(StoreError, match="The server cannot be reached"):
            store.put([row("m1")])
        store.close()


class TestClashes:
    def test_a_deadlock_between_users_ends_one_block_and_leaves_none_half_done(self, store):
        ready = threading.Barrier(2)
        failed: list[str] = []

        def cross(number: int) -> None:
            mine, theirs = ("ada", "bob") if number else ("bob", "ada")
            try:
                with store.atomic(mine):
                    store.put([row(f"own{number}", user=mine)])
                    ready.wait(PATIENCE)
                    store.put([row(f"other{number}", user=theirs)])
            except StoreError as error:
                failed.append(str(error))

        at_once(cross, 2)
        assert len(failed) == 1
        assert "deadlock detected" in failed[0]
        assert sum(store.count(user, ANYTHING) for user in ("ada", "bob")) == 2

    def test_rows_of_many_users_written_at_once_do_not_deadlock(self, store):
        users = [f"u{n}" for n in range(6)]

        def write(number: int) -> None:
            for turn in range(5):
                turned = users[number:] + users[:number]
                store.put([row(f"m{number}-{turn}", user=user) for user in turned])

        at_once(write, 6)
        assert [store.count(user, ANYTHING) for user in users] == [30] * 6

    def test_a_writer_who_waits_too_long_is_told_so(self, store, postgres, schema):
        hasty = PostgresStore(postgres, schema=schema, limits=Limits(statement_seconds=0.2))
        with store.atomic("ada"):
            with pytest.raises(StoreError, match="longer than statement_timeout"):
                hasty.put([row("m1")])
            # Whoever is not kept waiting is in time, though a busy machine may need some tries.
            until(lambda: not _fails(lambda: hasty.put([row("m1", user="bob")])))
        until(lambda: not _fails(lambda: hasty.put([row("m1")])))
        hasty.close()

    def test_a_server_that_is_strict_by_default_loses_nothing(self, postgres_server, schema, store):
        with psycopg.connect(postgres_server.dsn("postgres"), autocommit=True) as admin:
            level = "default_transaction_isolation TO serializable"
            admin.execute(f"ALTER ROLE app SET {level}")
        try:
            strict = PostgresStore(postgres_server.dsn(), schema=schema)
            strict.put([row("count", "0")])

            def add(_: int) -> None:
                for _ in range(5):
                    with strict.atomic("ada"):
                        (now,) = strict.get("ada", ["count"])
                        strict.put([row("count", str(int(now.body) + 1))])

            at_once(add, 6)
            assert strict.get("ada", ["count"])[0].body == "30"
            strict.close()
        finally:
            with psycopg.connect(postgres_server.dsn("postgres"), autocommit=True) as admin:
                admin.execute("ALTER ROLE app RESET default_transaction_isolation")


class TestForks:
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_parent_and_child_use_the_store_after_a_fork(self, store):
        store.put([row("m1", "tea")])
        pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                store.put([row("child", "tea")])
                os._exit(0 if len(found(store, "tea")) == 2 else 1)
            os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert sorted(found(store, "tea")) == ["child", "m1"]


def test_thirty_two_workers_lose_no_update_and_see_nobody_elses_rows(postgres, schema):
    store = PostgresStore(postgres, schema=schema)
    store.put([row("count", "0", user="shared")])
    rounds = 8
    # Four processes of eight threads each: processes are dear on a small machine.
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        tasks = [(postgres, schema, group, rounds) for group in range(4)]
        results = pool.starmap(count_up_in_threads, tasks, chunksize=1)
    assert [crossed for result in results for _, crossed in result] == [[]] * WORKERS
    assert store.get("shared", ["count"])[0].body == str(WORKERS * rounds)
    assert [store.count(f"user{n}", ANYTHING) for n in range(WORKERS)] == [rounds] * WORKERS
    store.close()


@pytest.fixture(scope="module")
def mortal() -> Iterator[Server]:
    """A server for those who kill it."""
    started = Server()
    yield started
    started.stop()


class TestAServerThatIsKilled:
    def test_acknowledged_writes_are_there_and_writers_go_on(self, mortal, schema):
        store = PostgresStore(mortal.dsn(), schema=schema, limits=Limits(patience=1.0))
        acknowledged: list[str] = []
        done = threading.Event()

        def write(number: int) -> None:
            for turn in range(10_000):
                if done.is_set():
                    return
                ref = f"m{number}-{turn}"
                with suppress(StoreError):
                    store.put([row(ref, "tea")])
                    acknowledged.append(ref)

        writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        for _ in range(2):
            _wait_for_more(acknowledged)
            mortal.kill()
            time.sleep(0.3)
            mortal.start()
        _wait_for_more(acknowledged)
        done.set()
        for writer in writers:
            writer.join(PATIENCE)
        kept = set(refs(store.query("ada", ANYTHING)))
        assert set(acknowledged) <= kept
        assert {change.ref for change in store.changes("ada", 0)} == kept
        store.close()

    def test_an_agent_goes_on_without_memory_and_has_it_back_afterwards(self, mortal, schema):
        store = PostgresStore(mortal.dsn(), schema=schema, limits=Limits(patience=0.5))
        ctx = ContextMiddleware(store, user="ada", strict=False)
        ctx.remember("Auth uses JWT with RS256.", kind="decision")
        model = FakeListChatModel(responses=["Fine."])
        chain = with_context(model, ctx)
        before = chain.invoke("How does auth work?")
        assert not before.response_metadata["ctxmw"]["degraded"]
        mortal.kill()
        during = chain.invoke("How does auth work?")
        assert during.content == "Fine."
        assert ctx.stats()["degraded.prepare.StoreError"] == 1
        with pytest.raises(StoreError, match="The server cannot be reached"):
            ctx.remember("Never said to be saved.")
        mortal.start()
        until(lambda: not _fails(lambda: ctx.search("jwt")))
        assert [hit.text for hit in ctx.search("jwt")] == ["Auth uses JWT with RS256."]
        after = chain.invoke("How does auth work?")
        assert not after.response_metadata["ctxmw"]["degraded"]
        assert ctx.stats()["degraded.prepare.StoreError"] == 1
        ctx.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_that_is_forked_inside_a_block_leaves_the_parents_connection_alone(store):
    with store.atomic("ada"):
        store.put([row("m1", "tea")])
        pid = os.fork()
        if pid == 0:
            code = 1
            with suppress(BaseException):
                store.transactions._lending.give_back(_lent(store))
                try:
                    store.put([row("child", "tea")])
                except StoreError as error:
                    code = 0 if "forked inside atomic" in str(error) else 3
            os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        store.put([row("m2", "tea")])
    assert sorted(found(store, "tea")) == ["m1", "m2"]


def _lent(store: PostgresStore):
    return store.transactions._thread.transaction.connection


def _wait_for_more(grows: list[str]) -> None:
    before = len(grows)
    until(lambda: len(grows) >= before + 20)


def _fails(call) -> bool:
    try:
        call()
    except StoreError:
        return True
    return False
