"""Chroma as a vector index: nearest neighbours of many vectors, in a folder or on a server.

It is never the only copy: only vectors and refs are in it, no text, and what it lacks it is given
again from the store. This is the only file that imports chromadb.
"""

from __future__ import annotations

import http.client
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlsplit

import numpy as np

from ...errors import CtxmwError, InvalidValue, MissingPackage, StoreError
from ...protocols import VectorIndex
from .chroma_folder import SealedFolder
from .numpy_index import NumpyIndex

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from ...protocols import FloatArray

SECONDS = 10.0
"""How long a server may take to answer."""


def index_named(name: str, store_path: Path, *, space: str | None = None) -> VectorIndex:
    """Return the index that is called so.

    "numpy"; "chroma", in a folder beside the store's file; "chroma://HOST:PORT", a server, where
    `space` (the file's path unless given) tells the store from others.
    """
    if name == "numpy":
        return NumpyIndex()
    if name == "chroma":
        return ChromaIndex.folder(store_path.with_name(store_path.name + ".chroma"))
    if isinstance(name, str) and name.startswith("chroma://"):
        host, port = _address(name)
        return ChromaIndex.server(host, port, space=space or str(store_path.absolute()))
    raise InvalidValue(
        f'index is {name!r:.80}. Allowed: "numpy", "chroma", "chroma://HOST:PORT", "pgvector" on '
        "Postgres, or an object with update, nearest, refs and close."
    )


class ChromaIndex:
    """A vector index in Chroma, one collection a user. Any thread may use it.

    In a folder it is for one process at a time, the only one that writes and searches there; for
    several, run a server (`chroma run`). Close it: a folder that was not closed, because the
    process was killed, is built again from the store at the next use (3 seconds for 10,000
    records). Chroma may keep the numbers of vectors that are gone in its files until then.
    """

    name = "chroma"

    def __init__(self, place: _Place, space: str) -> None:
        if find_spec("chromadb") is None:
            raise MissingPackage('index="chroma" needs a package: pip install "ctxmw[chroma]"')
        self._place = place
        self._space = space
        self._lock = threading.RLock()
        self._collections: dict[str, Collection] = {}
        # Also runs when the index is collected or the interpreter ends.
        self._let_go = weakref.finalize(self, place.close)

    @classmethod
    def folder(cls, path: str | Path) -> Self:
        """Return an index in this folder, which is made at the first use."""
        return cls(_Folder(Path(path).absolute()), "")

    @classmethod
    def server(cls, host: str, port: int, *, space: str = "") -> Self:
        """Return an index on a Chroma server.

        Stores that share a server need a `space` each, the same in all processes: without it,
        users of one name would share a collection.
        """
        return cls(_Server(host, port), space)

    def update(self, user: str, vectors: Mapping[str, FloatArray], gone: Sequence[str], /) -> None:
        """Take in new or changed vectors and let go of those that are gone."""
        with self._explained() as client:
            most = client.get_max_batch_size()
            if gone and (collection := self._existing(client, user)):
                _delete(collection, [ref for ref in gone if ref not in vectors], most)
                if not vectors and not collection.count():
                    self._drop(client, user)
            if vectors:
                self._upsert(client, user, vectors, most)

    def nearest(self, user: str, vector: FloatArray, n: int, /) -> list[tuple[str, float]]:
        """Return refs and cosines, the nearest first; it may miss one of a hundred."""
        with self._explained() as client:
            collection = self._existing(client, user)
            return _nearest(collection, vector, n) if collection and n > 0 else []

    def refs(self, user: str, /) -> frozenset[str]:
        """Return what it holds and can find.

        Chroma knows refs in one place and vectors in another, and either may lack some. What is
        not found when everything is asked for is removed, so that it can be given again.
        """
        with self._explained() as client:
            collection = self._existing(client, user)
            if collection is None:
                return frozenset()
            known = set(collection.get(include=[])["ids"])
            anything = np.ones(_size(collection), np.float32)
            found = {ref for ref, _ in _nearest(collection, anything, max(len(known), 1))}
            _delete(collection, sorted(known - found), client.get_max_batch_size())
            return frozenset(known & found)

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        with self._lock:
            self._collections.clear()
            self._let_go()

    @contextmanager
    def _explained(self) -> Iterator[ClientAPI]:
        """Lend the client; when anything fails, begin anew with the next call."""
        with self._lock:
            if not self._let_go.alive:
                raise StoreError("the Chroma index was closed. Open the memory again to use it.")
            try:
                yield self._place.client()
            except BaseException as error:
                if not _is_fault(error):
                    raise
                self._collections.clear()
                self._place.give_up()
                if isinstance(error, CtxmwError):
                    raise
                raise StoreError(self._place.explain(error)) from error

    def _existing(self, client: ClientAPI, user: str) -> Collection | None:
        from chromadb.errors import NotFoundError

        name = self._named(user)
        if name not in self._collections:
            try:
                found = client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return None
            self._collections[name] = found
        return self._collections[name]

    def _upsert(
        self, client: ClientAPI, user: str, vectors: Mapping[str, FloatArray], most: int
    ) -> None:
        refs, rows = list(vectors), np.stack(list(vectors.values()))
        collection = self._existing(client, user)
        if collection is not None and _size(collection) != rows.shape[1]:
            # A collection keeps the length it began with.
            self._drop(client, user)
            collection = None
        if collection is None:
            # Kept: when it is gone from Chroma some day, using it fails, and is not just empty.
            collection = self._collections[self._named(user)] = client.get_or_create_collection(
                self._named(user),
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
                metadata={"size": rows.shape[1]},
            )
        for start in range(0, len(refs), most):
            end = start + most
            collection.upsert(ids=refs[start:end], embeddings=rows[start:end])

    def _drop(self, client: ClientAPI, user: str) -> None:
        self._collections.pop(self._named(user), None)
        client.delete_collection(self._named(user))

    def _named(self, user: str) -> str:
        # Names of collections are short and plain; those of users are not.
        data = f"{len(self._space)}:{self._space}:{user}".encode(errors="surrogatepass")
        return "ctxmw-" + sha256(data).hexdigest()[:40]


class _Place(Protocol):
    """Where an index is."""

    def client(self) -> ClientAPI: ...

    def give_up(self) -> None: ...

    def explain(self, error: BaseException) -> str: ...

    def close(self) -> None: ...


class _Folder:
    def __init__(self, path: Path) -> None:
        self._folder = SealedFolder(path)
        self._client: ClientAPI | None = None

    def client(self) -> ClientAPI:
        if self._client is None:
            self._folder.open()
            from chromadb import PersistentClient

            self._client = PersistentClient(path=self._folder.path, settings=_settings())
        self._folder.check()
        return self._client

    def give_up(self) -> None:
        """Leave the folder unsealed: whoever opens it next finds it empty."""
        self._let_go()
        self._folder.release()

    def explain(self, error: BaseException) -> str:
        return (
            f"{self._folder.path}: Chroma failed: {error!r:.200}. Search goes on by words alone; "
            "the index is built again from the store at the next use."
        )

    def close(self) -> None:
        if self._client is not None:
            self._let_go()
            self._folder.seal()
        self._folder.release()

    def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._folder.is_mine():
            _close(client)


class _Server:
    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._client: ClientAPI | None = None

    def client(self) -> ClientAPI:
        if self._client is None:
            from chromadb import HttpClient

            # The client of Chroma waits for ever for a server that does not answer.
            _heartbeat(self._host, self._port)
            self._client = HttpClient(host=self._host, port=self._port, settings=_settings())
            for session in _sessions(self._client):
                session.timeout = SECONDS
        return self._client

    def give_up(self) -> None:
        self.close()

    def explain(self, error: BaseException) -> str:
        return (
            f"Chroma at {self._host}:{self._port} failed: {error!r:.200}. Start it (`chroma run "
            f"--host {self._host} --port {self._port}`) or check the address; search goes on by "
            "words alone meanwhile."
        )

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            # Its own closing leaves the connections open.
            sessions = _sessions(client)
            _close(client)
            for session in sessions:
                session.close()


def _delete(collection: Collection, refs: Sequence[str], most: int) -> None:
    for start in range(0, len(refs), most):
        # Reading is cheap, and deleting what is not there is as dear as writing.
        there = collection.get(ids=list(refs[start : start + most]), include=[])["ids"]
        if there:
            collection.delete(ids=there)


def _nearest(collection: Collection, vector: FloatArray, n: int) -> list[tuple[str, float]]:
    found = collection.query(query_embeddings=vector[None], n_results=n, include=["distances"])
    distances = found["distances"] or [[]]
    return [
        (ref, min(max(1.0 - float(distance), -1.0), 1.0))
        for ref, distance in zip(found["ids"][0], distances[0], strict=True)
    ]


def _size(collection: Collection) -> int:
    return int((collection.metadata or {}).get("size") or 0)


def _settings() -> Any:
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False)


def _sessions(client: Any) -> list[Any]:
    """Return the HTTP sessions of a client; it has no public way to bound or close them."""
    clients = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(each, "_server", None), "_session", None) for each in clients]
    return [session for session in sessions if session is not None]


def _heartbeat(host: str, port: int) -> None:
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("GET", "/api/v2/heartbeat")
        connection.getresponse().read()
    finally:
        connection.close()


def _is_fault(error: BaseException) -> bool:
    # What fails inside Chroma's Rust code arrives as a BaseException of this name.
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _close(client: Any) -> None:
    try:
        client.close()
    except BaseException as error:
        if not _is_fault(error):
            raise


def _address(name: str) -> tuple[str, int]:
    try:
        parts = urlsplit(name)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.path not in ("", "/"):
        raise InvalidValue(f'index is {name!r:.80}: write it as "chroma://HOST:PORT".')
    return host, port
