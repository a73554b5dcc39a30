"""What is acknowledged is on the disk: a store whose files were taken away says so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.errors import StoreError
from ctxmw.protocols import Find
from ctxmw.session import Session
from ctxmw.store.sqlite.store import SqliteStore
from tests.support.rows import row

pytestmark = pytest.mark.skipif(os.name != "posix", reason="open files cannot be taken away")
LONG = [
    {"role": role, "content": f"{n} " + "words about the harbour and its cranes " * 30}
    for n in range(20)
    for role in ("user", "assistant")
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def ctx(path: Path) -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Tea is at four.", kind="fact")
        yield ctx


def delete(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)


def delete_the_file_alone(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    SqliteStore(other).close()
    delete(path)
    other.rename(path)


def restore_a_copy(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def delete_the_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def delete_the_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def finish(ctx: ContextMiddleware) -> Callable[[], object]:
    chat = ctx.session("s")
    prepared = chat.prepare([{"role": "user", "content": "When is tea?"}])
    return lambda: chat.finish(prepared, "At four.")


WRITES: dict[str, Callable[[ContextMiddleware, Session], Callable[[], object]]] = {
    "remember": lambda ctx, chat: lambda: ctx.remember("Milk first.", kind="preference"),
    "prepare": lambda ctx, chat: lambda: chat.prepare([{"role": "user", "content": "Tea?"}]),
    "finish": lambda ctx, chat: finish(ctx),
    "capture": lambda ctx, chat: lambda: chat.capture([{"role": "user", "content": "Hello."}]),
    "compact": lambda ctx, chat: lambda: chat.compact(LONG, window=4_000),
    "note": lambda ctx, chat: lambda: chat.note("done", "The kettle is on."),
    "end": lambda ctx, chat: lambda: chat.end("All about tea."),
    "forget": lambda ctx, chat: lambda: ctx.forget(source="user"),
}


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_acknowledged_once_the_file_was_deleted(
    ctx: ContextMiddleware, path: Path, write: str
) -> None:
    begun = WRITES[write](ctx, ctx.session("s"))
    delete(path)
    with pytest.raises(StoreError, match=r"was deleted or moved .* nothing was saved\. Put the"):
        begun()
    assert not path.exists()


@pytest.mark.parametrize(
    ("take_away", "says"),
    [
        (delete_the_file_alone, "was deleted or moved"),
        (delete_the_folder, "was deleted or moved"),
        (replace, "was replaced by another file .* open it again"),
        (restore_a_copy, "was replaced by another file"),
        (delete_the_log, r"memory\.db-wal was deleted or replaced"),
    ],
)
def test_whatever_was_taken_away_is_noticed(
    ctx: ContextMiddleware, path: Path, take_away: Callable[[Path], None], says: str
) -> None:
    take_away(path)
    for _ in range(3):
        with pytest.raises(StoreError, match=says):
            ctx.remember("Milk first.", kind="preference")


def test_a_file_that_comes_back_is_written_to_again(ctx: ContextMiddleware, path: Path) -> None:
    away = path.with_name("away.db")
    path.rename(away)
    with pytest.raises(StoreError, match="was deleted or moved"):
        ctx.remember("Milk first.", kind="preference")
    away.rename(path)
    ctx.remember("Sugar last.", kind="preference")
    assert told(path) == ["Sugar last.", "Tea is at four."]


def test_opened_again_it_goes_on_with_the_file_that_is_there(path: Path) -> None:
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Tea is at four.", kind="fact")
        replace(path)
        with pytest.raises(StoreError):
            ctx.remember("Milk first.", kind="preference")
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Sugar last.", kind="preference")
    assert told(path) == ["Sugar last."]


def test_a_file_that_goes_within_a_transaction_takes_nothing(path: Path) -> None:
    store = SqliteStore(path)

    def write() -> None:
        with store.atomic("ada"):
            store.put([row("m1")])
            delete(path)

    with pytest.raises(StoreError, match="was deleted or moved"):
        write()
    store.close()


def test_no_connection_is_opened_to_another_file(path: Path) -> None:
    store = SqliteStore(path)
    store.put([row("m1")])
    store._connections.pause_for_fork()  # which closes those that are open
    store._connections.go_on()
    replace(path)
    with pytest.raises(StoreError, match="was replaced by another file"):
        store.count("ada", Find())
    store.close()


def test_a_store_behind_a_link_is_written_to(tmp_path: Path, path: Path) -> None:
    SqliteStore(path).close()
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    store = SqliteStore(link)
    store.put([row("m1")])
    store.delete("ada", ["m1"])
    link.unlink()
    with pytest.raises(StoreError, match="was deleted or moved"):
        store.put([row("m2")])
    store.close()


def test_other_processes_come_and_go_without_disturbing(path: Path) -> None:
    store = SqliteStore(path)
    for n in range(5):
        other = SqliteStore(path)
        other.put([row(f"o{n}", "tea")])
        other.delete("ada", [f"o{n}"])  # which rewrites the file
        other.close()
        store.put([row(f"m{n}")])
    assert store.count("ada", Find()) == 5
    store.close()


def test_a_lost_log_loses_nothing_that_was_acknowledged(path: Path) -> None:
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Tea is at four.", kind="fact")
        delete_the_log(path)
        with pytest.raises(StoreError):
            ctx.remember("Milk first.", kind="preference")
    assert told(path) == ["Tea is at four."]


def told(path: Path) -> list[str]:
    with ContextMiddleware.open(path) as ctx:
        return sorted(hit.text for hit in ctx.search("tea milk sugar four first last"))
