from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from ctxmw.errors import StoreError
from ctxmw.protocols import Find
from ctxmw.store.sqlite import pool as sqlite_pool
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import finish, python, row
from tests.support.waiting import PATIENCE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, synchronous="NORMAL")
    yield opened
    opened.close()


def in_child(action: Callable[[], object]) -> str:
    """Fork, run the action in the child, and return what came of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(action()).encode())
        except BaseException as error:  # noqa: BLE001 - the parent asserts what it was
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:  # noqa: PTH123 - a descriptor has no path
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text


class TestThreads:
    def test_eight_writers_lose_nothing(self, store: SqliteStore) -> None:
        def write(writer: int) -> None:
            for n in range(25):
                store.put([row(f"{writer}-{n}", "tea")])

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
        feed = [change.seq for change in store.changes("ada", 0)]
        assert feed == list(range(1, 201))
        assert len(store.search("ada", ["tea"], Find())) == 200

    def test_more_threads_than_connections_take_turns(self, store: SqliteStore) -> None:
        store.put([row("m1", "tea")])
        together = threading.Barrier(32)

        def work(n: int) -> int:
            together.wait()
            store.put([row(f"x{n}", "milk")])
            store.delete("ada", [f"x{n}"] if n % 8 == 0 else [])
            return sum(len(store.search("ada", ["tea"], Find())) for _ in range(5))

        with ThreadPoolExecutor(32) as threads:
            assert list(threads.map(work, range(32))) == [5] * 32
        assert store.count("ada", Find()) == 1 + 32 - 4
        assert len(store._connections._process.idle) <= sqlite_pool.LIMIT

    def test_one_who_waits_for_a_connection_gets_the_next_that_is_given_back(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_pool, "LIMIT", 1)
        with ThreadPoolExecutor(1) as other:
            with store.atomic("ada"):
                waiting = other.submit(store.count, "ada", Find())
                while not store._connections._process.waiting:
                    time.sleep(0.001)
                store.put([row("m1")])
            assert waiting.result(PATIENCE) == 1

    def test_another_thread_is_not_inside_the_transaction(self, store: SqliteStore) -> None:
        with ThreadPoolExecutor(1) as other, store.atomic("ada"):
            store.put([row("m1")])
            assert other.submit(store.count, "ada", Find()).result() == 0
        assert store.count("ada", Find()) == 1

    def test_a_block_joins_what_is_open_when_it_is_entered_and_not_when_it_was_made(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_pool, "WRITER_SECONDS", 0.02)
        made_outside = store.atomic("ada")
        with store.atomic("ada"):
            made_inside = store.atomic("ada")
            with made_outside, made_outside:
                store.put([row("m1")])
        with suppress(ZeroDivisionError), made_inside:
            store.put([row("m2")])
            raise ZeroDivisionError
        assert [kept.ref for kept in store.query("ada", Find())] == ["m1"]

    def test_read_then_write_is_alone_among_writers(self, store: SqliteStore) -> None:
        store.put([row("counter", "0")])

        def add(_: int) -> None:
            with store.atomic("ada"):
                (kept,) = store.get("ada", ["counter"])
                store.put([row("counter", str(int(kept.body) + 1))])

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(add, range(80)))
        assert store.get("ada", ["counter"])[0].body == "80"

    def test_a_writer_does_not_wait_for_ever(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_pool, "WRITER_SECONDS", 0.02)
        with ThreadPoolExecutor(1) as other, store.atomic("ada"):
            failed = other.submit(store.put, [row("m1")]).exception()
        assert isinstance(failed, StoreError)
        assert "Keep slow work out of atomic()" in str(failed)

    def test_closing_while_others_work_lets_them_finish(self, store: SqliteStore) -> None:
        inside, closed = threading.Event(), threading.Event()

        def work() -> None:
            with store.atomic("ada"):
                store.put([row("m1")])
                inside.set()
                closed.wait(PATIENCE)

        with ThreadPoolExecutor(1) as other:
            working = other.submit(work)
            inside.wait(PATIENCE)
            store.close()
            closed.set()
            working.result()
        again = SqliteStore(store.path)
        assert again.count("ada", Find()) == 1
        again.close()


class TestProcesses:
    def test_four_writers_lose_nothing_and_share_one_feed(self, path: Path) -> None:
        code = (
            "s = SqliteStore(sys.argv[1])\n"
            "for n in range(25):\n"
            "    before = s.head('ada'); s.put([row(f'{os.getpid()}-{n}', 'tea')])\n"
            "    (own,) = s.get('ada', [f'{os.getpid()}-{n}']); assert own.seq > before\n"
            "    with s.atomic('bob'):\n"
            "        kept = s.get('bob', ['counter'])\n"
            "        count = int(kept[0].body) + 1 if kept else 1\n"
            "        s.put([row('counter', str(count), user='bob')])\n"
        )
        for process in [python(code, path) for _ in range(4)]:
            finish(process)
        store = SqliteStore(path)
        assert store.get("bob", ["counter"])[0].body == "100"
        feed = [change.seq for change in store.changes("ada", 0)]
        assert len(feed) == len(set(feed)) == 100
        assert feed == sorted(feed)
        assert store.head("bob") <= 200
        assert len(store.search("ada", ["tea"], Find())) == 100
        store.close()

    def test_whoever_follows_the_feed_misses_nothing(self, store: SqliteStore) -> None:
        code = (
            "s = SqliteStore(sys.argv[1]); print('ready', flush=True)\n"
            "for n in range(60): s.put([row(f'p{n}')])\n"
        )
        process = python(code, store.path)
        assert process.stdout
        process.stdout.readline()
        seen: list[str] = []
        at = 0
        ended = False
        while not ended:
            ended = process.poll() is not None
            store.put([row(f"own{len(seen)}")])
            for change in store.changes("ada", at):
                assert change.seq > at
                at = change.seq
                seen.append(change.ref)
        finish(process)
        assert {f"p{n}" for n in range(60)} <= set(seen)
        assert len(seen) == len(set(seen)) == store.count("ada", Find())

    def test_a_killed_process_loses_nothing_it_was_told_is_saved(self, path: Path) -> None:
        code = (
            "s = SqliteStore(sys.argv[1])\n"
            "for n in range(1_000_000):\n"
            "    with s.atomic('ada'):\n"
            "        s.put([row(f'a{n}', 'tea')]); s.put([row(f'b{n}', 'tea')])\n"
            "    print(n, flush=True)\n"
        )
        process = python(code, path)
        assert process.stdout
        saved = [process.stdout.readline() for _ in range(20)]
        process.kill()
        saved += process.stdout.readlines()
        process.communicate()
        last = max(int(line) for line in saved if line.endswith("\n"))
        store = SqliteStore(path)
        kept = {found.ref for found in store.query("ada", Find())}
        assert {f"{half}{n}" for n in range(last + 1) for half in "ab"} <= kept
        assert {ref[1:] for ref in kept if ref[0] == "a"} == {
            ref[1:] for ref in kept if ref[0] == "b"
        }
        assert {hit.ref for hit, _ in store.search("ada", ["tea"], Find())} == kept
        store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
class TestFork:
    def test_parent_and_child_both_go_on(self, store: SqliteStore) -> None:
        store.put([row("m1")])
        assert in_child(lambda: [store.put([row("m2")]), store.count("ada", Find())][1]) == "2"
        store.put([row("m3")])
        assert store.count("ada", Find()) == 3

    def test_what_the_child_writes_survives_the_parents_closing(self, path: Path) -> None:
        store = SqliteStore(path)
        store.put([row("m1")])
        ready_reading, ready_writing = os.pipe()
        closed_reading, closed_writing = os.pipe()
        child = os.fork()
        if child == 0:
            store.put([row("m2")])
            os.write(ready_writing, b"x")
            os.read(closed_reading, 1)
            store.put([row("m3")])
            os._exit(0)
        os.read(ready_reading, 1)
        store.close()
        os.write(closed_writing, b"x")
        os.waitpid(child, 0)
        again = SqliteStore(path)
        assert {kept.ref for kept in again.query("ada", Find())} == {"m1", "m2", "m3"}
        again.close()

    def test_forking_while_other_threads_write_loses_nothing(self, store: SqliteStore) -> None:
        stop = threading.Event()
        written = []

        def write() -> None:
            while not stop.is_set():
                store.put([row(f"t{len(written)}")])
                written.append(1)

        with ThreadPoolExecutor(1) as other:
            working = other.submit(write)
            for n in range(5):
                time.sleep(0.01)
                assert in_child(lambda n=n: store.put([row(f"c{n}")])) == "None"
            stop.set()
            working.result()
        assert store.count("ada", Find()) == len(written) + 5

    def test_a_transaction_stays_with_the_parent(self, store: SqliteStore) -> None:
        with store.atomic("ada"):
            store.put([row("m1")])
            answer = in_child(lambda: store.put([row("m2")]))
        assert "forked inside atomic(). Fork before or after it." in answer
        assert [kept.ref for kept in store.query("ada", Find())] == ["m1"]

    def test_a_private_store_is_the_parents_alone(self) -> None:
        code = (
            "s = SqliteStore(':memory:'); s.put([row('m1')])\n"
            "if os.fork() == 0:\n"
            "    try: s.put([row('m2')])\n"
            "    except StoreError as error: print(error, flush=True)\n"
            "    s.close(); sys.exit()\n"
            "os.wait(); s.put([row('m3')]); print(s.count('ada', Find()))\n"
        )
        said, count = finish(python(code)).splitlines()
        assert "ends with the process that opened it, and this is another one" in said
        assert count == "2"
