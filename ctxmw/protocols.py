"""The seams: everything that can be replaced, on one page.

Each is one or two methods taking a value that can grow. `Store` is the exception: it is the whole
contract of a system of record, and still small because it knows rows, not kinds of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .runtime.packing import Reads
    from .values.items import Item, Shown
    from .values.messages import Message
    from .values.situation import Situation

    FloatArray = NDArray[np.float32]

T = TypeVar("T")
Clock = Callable[[], datetime]
"""Returns the present as an aware datetime in UTC."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


class Source(Protocol):
    """Turns a situation into items. Never changes messages; the pipeline does that."""

    name: str

    def items(self, situation: Situation, /) -> Sequence[Item]: ...


class Renderer(Protocol):
    """Prints a block: a frame, headings, and one piece of text an item.

    Every piece ends in a newline and begins with a fixed mark that is not blank: that makes token
    counts of pieces add up. Escaping happens here and nowhere else.
    """

    name: str

    def frame(self, *, hint: bool) -> tuple[str, str]:
        """Return what opens and closes a block; `hint` says that there is more to search for."""
        ...

    def heading(self, title: str) -> tuple[str, str]:
        """Return what opens and closes a section."""
        ...

    def group(self, title: str) -> str:
        """Return the sub-heading of a group of items."""
        ...

    def item(self, item: Item, shown: Shown, cost: int) -> str:
        """Return the item shown in full, briefly or as an index line (`cost`: of the full text)."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose cosine tells how near their meanings are."""

    name: str
    """Changes when the vectors do: another model, another size. Vectors are kept under it."""

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector for each text, all of one length."""
        ...

    def embed_query(self, text: str, /) -> Sequence[float]:
        """Return the vector of a question; the same space, though some models treat it apart."""
        ...


class Summarizer(Protocol):
    """Answers a prompt in words; a language model does. Asked in a thread of its own."""

    def __call__(self, prompt: str, /) -> str: ...


class Cutter(Protocol):
    """Chooses which messages leave the view when a conversation is compacted."""

    def __call__(self, messages: Sequence[Message], room: int, /) -> Collection[int]:
        """Return the places of the messages to leave out; the rest has `room` tokens or less.

        The messages are those in view: what left it before is not among them.

        Whatever it says: system messages, the first and the last of the user's, pinned messages
        and calls that wait for results stay; a call and its results stay or go together.
        """
        ...


class VectorIndex(Protocol):
    """Finds the nearest vectors of one user. Can always be built again from the store."""

    name: str

    def update(self, user: str, vectors: Mapping[str, FloatArray], gone: Sequence[str], /) -> None:
        """Take in new or changed vectors and let go of those that are gone."""
        ...

    def nearest(self, user: str, vector: FloatArray, n: int, /) -> list[tuple[str, float]]:
        """Return refs and cosines, the nearest first."""
        ...

    def refs(self, user: str, /) -> frozenset[str]:
        """Return what it holds, to see whether it is behind."""
        ...

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a store keeps: one record of any type, with the columns that are asked for."""

    user: str
    ref: str
    type: str
    at: datetime
    body: str
    """The record as JSON."""
    session: str = ""
    key: str = ""
    """What the caller calls it; the newest live row of a key is the one that holds."""
    digest: str = ""
    """Equal for records that say the same."""
    scope: str = ""
    source: str = ""
    live: bool = True
    """False once something newer took its place: kept as history, no longer found."""
    search_text: str = ""
    """What full-text search sees; the writer fills it, identifiers already split."""
    seq: int = 0
    """Position in the changes feed; the store gives it."""
    foreign: str | None = field(default=None, compare=False, repr=False)
    """What of the body others wrote, where its writer knows that: only there may a secret be. No
    store keeps it. None: anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """Which rows are asked for. Everything given must hold; empty means any."""

    types: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    since: datetime | None = None
    """At or after."""
    until: datetime | None = None
    """Before."""
    live: bool | None = True
    """None: history too."""
    newest_first: bool = True
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the changes feed: this row was written, or is gone."""

    seq: int
    ref: str
    type: str
    gone: bool


class Store(Protocol):
    """The system of record. The user is part of every call and compared by equality."""

    @property
    def path(self) -> Path | None:
        """The file it is in; None where it is none of this machine's."""
        ...

    @property
    def identity(self) -> str | None:
        """Tells it from every other store where the path does not: a server's has one."""
        ...

    @property
    def remote(self) -> bool:
        """Whether a call is mostly waiting for a server: then more threads work at a time."""
        ...

    def put(self, rows: Sequence[Row], /) -> None:
        """Write all rows or none, durably; a row of the same (user, ref) is replaced."""
        ...

    def get(self, user: str, refs: Sequence[str], /) -> list[Row]:
        """Return the rows that exist, history included, in the order asked for."""
        ...

    def query(self, user: str, find: Find, /) -> list[Row]:
        """Return the rows that fit, ordered by time, then by when they were written."""
        ...

    def count(self, user: str, find: Find, /) -> int:
        """Return how many rows fit, whatever the limit."""
        ...

    def search(self, user: str, words: Sequence[str], find: Find, /) -> list[tuple[Row, float]]:
        """Return rows that hold any of the words, best first, each with a score above zero."""
        ...

    def delete(self, user: str, refs: Sequence[str], /) -> int:
        """Remove rows so that their text is gone from the store's files; say how many there were.

        The changes feed keeps that they are gone.
        """
        ...

    def changes(self, user: str, since: int, types: Sequence[str] = (), /) -> list[Change]:
        """Return what happened to the user's rows after `since`, oldest first, one entry a row."""
        ...

    def head(self, user: str, /) -> int:
        """Return the position of the user's newest change; 0 when there is none."""
        ...

    def put_blobs(self, user: str, space: str, blobs: Mapping[str, bytes], /) -> None:
        """Keep bytes that can be made again from a row, under its ref: vectors, or an index.

        The ref "*" is for what is made from all of the user's rows. When a row goes, or its search
        text changes, the blobs under its ref and under "*" go in the same transaction; when it
        becomes history, only those under its ref.
        """
        ...

    def get_blobs(self, user: str, space: str, refs: Sequence[str], /) -> dict[str, bytes]:
        """Return the blobs that exist, by ref."""
        ...

    def read_blob(self, user: str, space: str, take: Callable[[Reads], T], /) -> T | None:
        """Return what `take` reads from the blob under "*" as from a file; None: no blob.

        It may be large: a store that can does not hold it as a whole.
        """
        ...

    def blob_refs(self, user: str, space: str, /) -> list[str]:
        """Return the refs that have a blob in this space."""
        ...

    def blob_spaces(self, user: str, /) -> list[str]:
        """Return the spaces in which the user has blobs."""
        ...

    def drop_blobs(self, user: str, space: str, /) -> None:
        """Forget every blob of this space."""
        ...

    def users(self) -> list[str]:
        """Return everybody who has something in the store, in order."""
        ...

    def restore(self, user: str, rows: Sequence[Row], gone: Sequence[Change], /) -> None:
        """Write rows, and that others are gone, as another store had them, positions included.

        What is written afterwards comes after all of them in the feed.
        """
        ...

    def atomic(self, user: str, /) -> AbstractContextManager[object]:
        """Make everything this thread does inside happen at once, alone among writers.

        An exception inside undoes all of it.
        """
        ...

    def in_atomic(self) -> bool:
        """Say whether this thread is inside `atomic`: what it reads may never be committed."""
        ...

    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""
        ...
