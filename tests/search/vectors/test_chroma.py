from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxmw.errors import InvalidValue, MissingPackage, StoreError
from ctxmw.protocols import Row
from ctxmw.search.vectors import chroma
from ctxmw.search.vectors.chroma import ChromaIndex, index_named
from ctxmw.search.vectors.numpy_index import NumpyIndex
from ctxmw.search.vectors.vectors import Vectors
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import HashEmbedder
from ctxmw.values.records import Memory
from tests.support.rows import python
from tests.support.waiting import PATIENCE, until

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DRINKS = {"m1": "We drink green tea.", "m2": "Coffee is for mornings.", "m3": "Water the plants."}
BINARY = Path(sysconfig.get_path("scripts")) / "chroma"


def memory(ref: str, text: str, user: str = "ada") -> Row:
    return Memory(user=user, ref=ref, at=AT, kind="fact", text=text).row()


def random_vectors(n: int, size: int = 16, seed: int = 0) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    return {f"m{i}": chance.standard_normal(size).astype(np.float32) for i in range(n)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db", synchronous="NORMAL")
    opened.put([memory(ref, text) for ref, text in DRINKS.items()])
    opened.put([memory("m1", "tea for bob", "bob")])
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory.db.chroma"


@pytest.fixture
def index(folder: Path) -> Iterator[ChromaIndex]:
    opened = ChromaIndex.folder(folder)
    yield opened
    opened.close()


def vectors_in(store: SqliteStore, folder: Path) -> Vectors:
    return Vectors(store, HashEmbedder(), ChromaIndex.folder(folder))


def assert_finds_everything(vectors: Vectors) -> None:
    for ref, text in DRINKS.items():
        hits = vectors.similar("ada", text, 3)
        assert {hit for hit, _ in hits} == {"m1", "m2", "m3"}
        assert hits[0] == (ref, pytest.approx(1, abs=1e-4))
    assert [ref for ref, _ in vectors.similar("bob", "tea", 5)] == ["m1"]


class TestIndex:
    def test_finds_what_a_scan_of_all_finds(self, index: ChromaIndex) -> None:
        given = random_vectors(300)
        exact = NumpyIndex()
        for each in (index, exact):
            each.update("ada", given, ())
            each.update("ada", {"m7": -given["m7"]}, ["m3", "m5", "none"])
        assert index.refs("ada") == exact.refs("ada")
        assert len(index.refs("ada")) == 298
        for ref in ("m0", "m7", "m299"):
            hits, expected = (each.nearest("ada", given[ref], 5) for each in (index, exact))
            assert [hit for hit, _ in hits] == [hit for hit, _ in expected]
            assert [c for _, c in hits] == pytest.approx([c for _, c in expected], abs=1e-4)

    def test_more_than_one_batch(self, index: ChromaIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        from chromadb.api.client import Client

        monkeypatch.setattr(Client, "get_max_batch_size", lambda self: 40)
        given = random_vectors(100)
        index.update("ada", given, ())
        assert index.refs("ada") == given.keys()
        index.update("ada", {}, list(given)[:90])
        assert index.refs("ada") == set(list(given)[90:])

    def test_hostile_names_stay_apart(self, index: ChromaIndex) -> None:
        names = ["u1", "u10", "u%", "u_", "U1", "u1\n", "../u1", "", "ctxmw-", "\ud800", "ü" * 999]
        for n, name in enumerate(names):
            index.update(name, {f"m{n}": np.ones(4, np.float32)}, ())
        for n, name in enumerate(names):
            assert index.refs(name) == {f"m{n}"}
            assert index.nearest(name, np.ones(4, np.float32), 9) == [(f"m{n}", pytest.approx(1))]

    def test_nothing_is_found_for_somebody_unknown(self, index: ChromaIndex) -> None:
        assert index.refs("nobody") == frozenset()
        assert index.nearest("nobody", np.ones(4, np.float32), 3) == []
        index.update("nobody", {}, ["m1"])

    def test_another_length_begins_anew(self, index: ChromaIndex) -> None:
        index.update("ada", random_vectors(3, size=4), ())
        index.update("ada", {"m9": np.ones(8, np.float32)}, ())
        assert index.refs("ada") == {"m9"}
        index.update("ada", {}, ["m9"])
        index.update("ada", random_vectors(2, size=5), ())
        assert index.refs("ada") == {"m0", "m1"}

    def test_it_is_there_after_reopening(self, index: ChromaIndex, folder: Path) -> None:
        given = random_vectors(50)
        index.update("ada", given, ())
        index.close()
        index.close()
        again = ChromaIndex.folder(folder)
        assert again.refs("ada") == given.keys()
        assert again.nearest("ada", given["m3"], 1) == [("m3", pytest.approx(1, abs=1e-4))]
        again.close()

    def test_a_closed_one_says_so(self, index: ChromaIndex) -> None:
        index.close()
        with pytest.raises(StoreError, match="closed"):
            index.refs("ada")

    def test_what_chroma_lost_is_not_held(self, index: ChromaIndex, folder: Path) -> None:
        """Refs are in its SQLite file and vectors in another; here the second is lost."""
        given = random_vectors(1_200)
        index.update("ada", given, ())
        index.close()
        (folder / "ctxmw.seal").unlink()
        for lost in folder.glob("*-*-*"):
            shutil.rmtree(lost)
        sealed = chroma.SealedFolder(folder)
        sealed._take()
        sealed.seal()
        sealed.release()
        again = ChromaIndex.folder(folder)
        held = again.refs("ada")
        assert len(held) < 1_200
        again.update("ada", {ref: given[ref] for ref in given.keys() - held}, ())
        assert again.refs("ada") == given.keys()
        again.close()


class TestHealing:
    def test_an_index_that_was_closed_is_not_built_again(
        self, store: SqliteStore, folder: Path
    ) -> None:
        first = vectors_in(store, folder)
        first.refresh("ada")
        first.refresh("bob")
        first.close()
        again = vectors_in(store, folder)
        told: list[int] = []
        with pytest.MonkeyPatch.context() as patch:
            update = ChromaIndex.update
            patch.setattr(
                ChromaIndex,
                "update",
                lambda self, user, new, gone: (
                    told.append(len(new)) or update(self, user, new, gone)
                ),
            )
            assert_finds_everything(again)
        assert sum(told) == 0
        again.close()

    def test_what_happened_meanwhile_is_made_up_for(self, store: SqliteStore, folder: Path) -> None:
        first = vectors_in(store, folder)
        first.refresh("ada")
        first.close()
        store.put([memory("m4", "Iced tea."), memory("m2", "Cocoa is for mornings.")])
        store.delete("ada", ["m1"])
        again = vectors_in(store, folder)
        again.refresh("ada")
        assert {ref for ref, _ in again.similar("ada", "tea", 9)} == {"m2", "m3", "m4"}
        assert again.similar("ada", "Cocoa is for mornings.", 1) == [("m2", pytest.approx(1))]
        again.close()

    def test_the_folder_was_deleted(self, store: SqliteStore, folder: Path) -> None:
        first = vectors_in(store, folder)
        first.refresh("ada")
        first.refresh("bob")
        first.close()
        shutil.rmtree(folder)
        assert_finds_everything(again := vectors_in(store, folder))
        again.close()

    def test_the_folder_was_deleted_while_in_use(self, store: SqliteStore, folder: Path) -> None:
        vectors = vectors_in(store, folder)
        vectors.refresh("ada")
        vectors.refresh("bob")
        shutil.rmtree(folder)
        assert_finds_everything(vectors)
        vectors.close()

    @pytest.mark.parametrize("damage", ["noise", "cut", "empty", "missing"])
    @pytest.mark.parametrize("file", ["chroma.sqlite3", "data_level0.bin", "header.bin"])
    def test_a_file_in_it_was_damaged(
        self, store: SqliteStore, folder: Path, file: str, damage: str
    ) -> None:
        """Without the seal, noise in the second and third ends the process inside Chroma."""
        filler = random_vectors(1_100, size=8)
        first = vectors_in(store, folder)
        first.refresh("ada")
        first.refresh("bob")
        first._following.index.update("filler", filler, ())
        first.close()
        damaged = list(folder.rglob(file))
        assert damaged
        for path in damaged:
            _damage(path, damage)
        assert_finds_everything(again := vectors_in(store, folder))
        again.close()

    def test_a_process_was_killed_while_indexing(self, store: SqliteStore, folder: Path) -> None:
        chance = random.Random(3)
        vocabulary = [f"word{n}" for n in range(500)]
        said = {f"n{n}": " ".join(chance.sample(vocabulary, 15)) for n in range(640)}
        store.put([memory(ref, text, "cy") for ref, text in said.items()])
        process = python(
            "from pathlib import Path; from ctxmw.search.vectors.chroma import ChromaIndex\n"
            "from ctxmw.search.vectors.vectors import Vectors\n"
            "from ctxmw.testing import HashEmbedder\n"
            "index = ChromaIndex.folder(Path(sys.argv[2]))\n"
            "vectors = Vectors(SqliteStore(sys.argv[1]), HashEmbedder(), index)\n"
            "vectors.refresh('ada'); vectors.refresh('bob')\n"
            "vectors.refresh('cy', lambda done, total: print(done, flush=True))",
            store.path,
            folder,
        )
        assert process.stdout is not None
        next(line for line in process.stdout if int(line) > 128 and int(line) < 640)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        vectors = vectors_in(store, folder)
        assert 0 < vectors.refresh("cy").embedded < 640
        assert len(vectors.similar("cy", "word1", 640)) == 640
        assert all(vectors.similar("cy", said[ref], 1)[0][0] == ref for ref in said)
        assert_finds_everything(vectors)
        vectors.close()

    def test_an_index_nobody_closed_is_sealed_when_python_ends(self, folder: Path) -> None:
        code = (
            "import numpy as np; from ctxmw.search.vectors.chroma import ChromaIndex\n"
            "index = ChromaIndex.folder(sys.argv[1])\n"
            "index.update('ada', {'m1': np.ones(4, np.float32)}, ())"
        )
        process = python(code, folder)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        again = ChromaIndex.folder(folder)
        assert again.refs("ada") == {"m1"}
        again.close()

    def test_chroma_fails_in_the_middle(
        self, store: SqliteStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from chromadb.api.models.Collection import Collection

        vectors = vectors_in(store, folder)
        vectors.refresh("ada")
        with monkeypatch.context() as patch:
            patch.setattr(Collection, "query", _raising(RuntimeError("hnsw is upset")))
            with pytest.raises(StoreError, match=r"hnsw is upset.*words alone.*built again"):
                vectors.similar("ada", "tea", 3)
        vectors.refresh("bob")
        assert_finds_everything(vectors)
        vectors.close()


class TestFolder:
    def test_is_for_one_process_and_says_so(self, index: ChromaIndex, folder: Path) -> None:
        index.update("ada", random_vectors(3), ())
        code = (
            "from ctxmw.search.vectors.chroma import ChromaIndex\n"
            "try: ChromaIndex.folder(sys.argv[1]).refs('ada')\n"
            "except StoreError as error: print(error)"
        )
        process = python(code, folder)
        printed, _ = process.communicate(timeout=PATIENCE)
        assert "in use by another process" in printed
        assert "chroma run" in printed
        assert index.refs("ada") == {"m0", "m1", "m2"}

    def test_a_second_index_in_this_process_takes_turns(
        self, index: ChromaIndex, folder: Path
    ) -> None:
        index.update("ada", random_vectors(3), ())
        second = ChromaIndex.folder(folder)
        with pytest.raises(StoreError, match="in use"):
            second.refs("ada")
        index.close()
        assert second.refs("ada") == {"m0", "m1", "m2"}
        second.close()

    def test_a_forked_child_leaves_it_alone(self, index: ChromaIndex) -> None:
        index.update("ada", random_vectors(3), ())
        child = os.fork()
        if not child:
            try:
                index.refs("ada")
            except StoreError as error:
                os._exit(0 if "forked" in str(error) else 2)
            finally:
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert index.refs("ada") == {"m0", "m1", "m2"}

    def test_what_is_not_ours_is_not_touched(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "chroma.sqlite3").write_text("somebody else's")
        index = ChromaIndex.folder(folder)
        with pytest.raises(StoreError, match=r"not an index of ctxmw.*nothing was changed"):
            index.refs("ada")
        index.close()
        assert [file.name for file in folder.iterdir()] == ["chroma.sqlite3"]

    def test_a_place_that_cannot_be_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        index = ChromaIndex.folder(tmp_path / "file" / "folder")
        with pytest.raises(StoreError, match=r"file/folder.*index=\"numpy\""):
            index.refs("ada")

    def test_no_text_is_in_it(self, store: SqliteStore, folder: Path) -> None:
        vectors = vectors_in(store, folder)
        vectors.refresh("ada")
        vectors.close()
        for path in folder.rglob("*"):
            assert not path.is_file() or b"mornings" not in path.read_bytes().lower(), path


class TestNames:
    def test_each_name_has_its_index(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        assert isinstance(index_named("numpy", path), NumpyIndex)
        for name in ("chroma", "chroma://localhost:8000", "chroma://[::1]:8000"):
            assert isinstance(index_named(name, path), ChromaIndex)
        assert list(tmp_path.iterdir()) == []

    def test_the_folder_is_beside_the_file(self, tmp_path: Path) -> None:
        index = index_named("chroma", tmp_path / "memory.db")
        index.refs("ada")
        index.close()
        assert [entry.name for entry in tmp_path.iterdir()] == ["memory.db.chroma"]

    @pytest.mark.parametrize(
        "name",
        [None, "", "faiss", "Chroma", "http://h:80", "chroma://", "chroma://host", "chroma://:80"]
        + [f"chroma://h:{port}" for port in ("x", "99999", "80/path")],
    )
    def test_other_names_are_refused(self, tmp_path: Path, name: Any) -> None:
        with pytest.raises(InvalidValue, match=r"chroma://HOST:PORT"):
            index_named(name, tmp_path / "memory.db")

    def test_the_install_line_is_told_when_chroma_is_missing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chroma, "find_spec", lambda name: None)
        with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[chroma\]"'):
            index_named("chroma", tmp_path / "memory.db")

    def test_naming_one_imports_no_chromadb(self, tmp_path: Path) -> None:
        code = (
            "import sys, pathlib, ctxmw.search.vectors.vectors\n"
            "import ctxmw.search.vectors.embedders, ctxmw.search.vectors.chroma\n"
            "ctxmw.search.vectors.chroma.index_named('chroma', pathlib.Path('x'))\n"
            "print([name for name in ('chromadb', 'wordllama') if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not BINARY.exists():
        pytest.skip(f"there is no {BINARY}")
    running = Server(tmp_path_factory.mktemp("chroma"))
    running.start()
    yield running
    running.stop()


class Server:
    """A Chroma server on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        (self._folder / "server.yaml").write_text(
            f"port: {self.port}\nlisten_address: 127.0.0.1\npersist_path: {self._folder}/data\n"
        )
        self._process = subprocess.Popen(
            [BINARY, "run", self._folder / "server.yaml"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
        )
        # Tests start it again: it is there for those that come after them too.
        self._process.outlives_the_test = True
        until(self._listens, "a Chroma server that listens")

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the Chroma server ended"
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)

    def index(self, path: Path) -> ChromaIndex:
        index = index_named(f"chroma://127.0.0.1:{self.port}", path)
        assert isinstance(index, ChromaIndex)
        return index


class TestServer:
    def test_two_processes_see_each_other(self, server: Server, store: SqliteStore) -> None:
        process = python(
            "from ctxmw.search.vectors.chroma import index_named; from pathlib import Path\n"
            "from ctxmw.search.vectors.vectors import Vectors\n"
            "from ctxmw.testing import HashEmbedder\n"
            "store = SqliteStore(sys.argv[1])\n"
            "vectors = Vectors(store, HashEmbedder(), index_named(sys.argv[2], store.path))\n"
            "vectors.refresh('ada'); vectors.refresh('bob'); vectors.close()",
            store.path,
            f"chroma://127.0.0.1:{server.port}",
        )
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        vectors = Vectors(store, HashEmbedder(), index := server.index(store.path))
        assert index.refs("8:hash:256:ada") == {"m1", "m2", "m3"}
        assert_finds_everything(vectors)
        vectors.close()

    def test_stores_that_share_a_server_stay_apart(self, server: Server, tmp_path: Path) -> None:
        one, two = (server.index(tmp_path / name) for name in ("one.db", "two.db"))
        one.update("ada", {"m1": np.ones(4, np.float32)}, ())
        assert two.refs("ada") == frozenset()
        two.update("ada", {"m2": np.ones(4, np.float32)}, ())
        assert (one.refs("ada"), two.refs("ada")) == ({"m1"}, {"m2"})
        one.close()
        two.close()

    def test_while_it_is_down_it_is_named_and_then_goes_on(
        self, server: Server, store: SqliteStore
    ) -> None:
        vectors = Vectors(store, HashEmbedder(), server.index(store.path))
        vectors.refresh("ada")
        server.stop()
        advice = rf"127\.0\.0\.1:{server.port} failed.*chroma run.*words alone"
        with pytest.raises(StoreError, match=advice):
            vectors.similar("ada", "tea", 3)
        store.put([memory("m4", "Iced tea.")])
        with pytest.raises(StoreError, match=advice):
            vectors.refresh("ada")
        server.start()
        vectors.refresh("ada")
        vectors.refresh("bob")
        assert dict(vectors.similar("ada", "Iced tea.", 1)) == {"m4": pytest.approx(1)}
        vectors.close()

    def test_a_server_that_lost_its_data_is_given_them_again(
        self, server: Server, store: SqliteStore
    ) -> None:
        vectors = Vectors(store, HashEmbedder(), server.index(store.path))
        vectors.refresh("ada")
        vectors.refresh("bob")
        other = server.index(store.path)
        with other._explained() as client:
            for collection in client.list_collections():
                client.delete_collection(collection.name)
        other.close()
        assert_finds_everything(vectors)
        vectors.close()

    def test_a_server_that_does_not_answer_is_not_waited_for(
        self, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chroma, "SECONDS", 0.2)
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            address = f"chroma://127.0.0.1:{silent.getsockname()[1]}"
            vectors = Vectors(store, HashEmbedder(), index_named(address, store.path))
            with pytest.raises(StoreError, match=r"timed out|TimeoutError"):
                vectors.refresh("ada")


def _damage(path: Path, damage: str) -> None:
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "noise":
        path.write_bytes(random.Random(1).randbytes(len(data)))
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")


def _raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail
