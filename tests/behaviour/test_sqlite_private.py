"""A memory opened with ":memory:" ends with its process, and nothing of it is found afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import HashEmbedder
from tests.support.rows import row

WORD = "quokkamarmalade"
SAYS = f"""
import sys
from ctxmw import ContextMiddleware
ctx = ContextMiddleware.open(":memory:")
ctx.remember("The password hint is {WORD}.", kind="fact")
chat = ctx.session("s")
prepared = chat.prepare([{{"role": "user", "content": "What is {WORD}?"}}])
chat.finish(prepared, "It is {WORD}.")
for n in range(300):
    ctx.session("s").capture([{{"role": "user", "content": f"{WORD} {{n}} " + "x" * 4000}}])
assert ctx.search("{WORD}")
print("told", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = SqliteStore(":memory:")
    yield store
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="open files can be deleted on POSIX systems only")
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "exit"])
def test_no_end_of_the_process_leaves_a_file(tmp_path: Path, how: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "HOME": str(tmp_path / "home")}
    child = subprocess.Popen(
        [sys.executable, "-c", SAYS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    with child:
        try:
            assert child.stdout
            assert child.stdout.readline() == "told\n"
            assert list(temporary.iterdir()) == [], "not even while it runs"
            if how != "exit":
                child.send_signal(getattr(signal, how))
            child.communicate("\n", timeout=60)
        finally:
            child.kill()
    assert list(tmp_path.rglob("*")) == [temporary]


def test_what_is_written_is_found_by_every_thread(store: SqliteStore) -> None:
    def work(n: int) -> int:
        store.put([row(f"m{n}", f"tea number{n}")])
        return len(store.search("ada", [f"number{n}"], Find()))

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(work, range(200))) == [1] * 200
    assert store.count("ada", Find()) == 200


def test_others_read_while_one_is_writing(store: SqliteStore) -> None:
    store.put([row("m1")])
    with store.atomic("ada"), ThreadPoolExecutor(1) as other:
        store.put([row("m2")])
        assert other.submit(store.count, "ada", Find()).result(timeout=20) == 1
    assert store.count("ada", Find()) == 2


def test_failed_blocks_are_undone_and_use_nothing_up(store: SqliteStore) -> None:
    def fail(n: int) -> None:
        with store.atomic("ada"):
            store.put([row(f"m{n}")])
            raise ZeroDivisionError

    for n in range(50):
        with pytest.raises(ZeroDivisionError):
            fail(n)
    store.put([row("kept")])
    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(lambda _: store.count("ada", Find()), range(50)))
    assert counts == [1] * 50


def test_closed_it_answers_no_more(store: SqliteStore) -> None:
    store.close()
    with pytest.raises(StoreError, match=r":memory: was closed\. Open the store again"):
        store.put([row()])


def test_no_two_are_taken_for_the_same(store: SqliteStore) -> None:
    other = SqliteStore(":memory:")
    assert other.path == store.path
    assert other.identity != store.identity
    other.close()


def test_an_index_that_keeps_files_is_refused() -> None:
    with pytest.raises(InvalidValue, match='index="numpy"'):
        ContextMiddleware.open(":memory:", embedder=HashEmbedder(8), index="chroma")
