"""What was sent: blocks and how they came about, and how much of a prompt was sent before.

The text of a block is stored once for each user, under its hash. What begins like the prompt before
is what a provider has in its cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from random import Random
from typing import Any

from ..errors import NotFound
from ..protocols import Row, Store
from ..recall.block import Block
from ..runtime.lru import LruCache
from ..values.items import long_ref
from ..values.messages import Message, message_text
from .record import Build
from .state import StoredBlock, block_ref

BuildCache = LruCache[tuple[str, str], Build]
"""Builds by user and ref; they never change, so a process may keep them."""
BlockCache = LruCache[tuple[str, str], tuple[int, Block]]
"""Blocks by user and hash, each with the position in the changes feed at which it was so."""
CHARACTERS = 4_000_000
"""How much text of blocks may be kept at hand, for all users together."""
Prints = tuple[int, ...]
"""What is equal for messages that are sent alike, message by message, in one process."""


def block_cache() -> BlockCache:
    """Return a cache of blocks that holds so much text."""
    return LruCache(1024, room=CHARACTERS, weigh=lambda kept: len(kept[1].text))


class Blocks:
    """One user's blocks and builds; `rows` is what is new and not yet written."""

    def __init__(
        self,
        store: Store,
        user: str,
        builds: BuildCache | None = None,
        kept: BlockCache | None = None,
        head: int = 0,
    ) -> None:
        """Blocks are read from the store as they are now; `kept` are those of earlier calls."""
        self._store = store
        self._user = user
        self._builds: BuildCache = LruCache(256) if builds is None else builds
        self._kept: BlockCache = LruCache(1) if kept is None else kept
        self._since = self._head = head
        self._gone: frozenset[str] = frozenset()
        self._blocks: dict[str, Block] = {"": Block()}
        self.rows: list[Row] = []

    def rely_on(self, since: int, gone: Iterable[str]) -> None:
        """Take blocks kept at `since` or later as they are, for only this has gone meanwhile.

        Forgetting is all that ever changes a block.
        """
        self._since = since
        self._gone = frozenset(gone)

    def build(self, ref: str) -> Build:
        """Return the build of that ref."""
        known = self._builds.get((self._user, ref))
        if known is None:
            rows = self._store.get(self._user, [ref])
            if not rows:
                raise NotFound(f"build {ref!r} of user {self._user!r} was forgotten meanwhile.")
            known = Build.model_validate_json(rows[0].body)
            self._builds.put((self._user, ref), known)
        return known

    def row(self, ref: str) -> Row | None:
        """Return a row of this user's, if it is there."""
        return next(iter(self._store.get(self._user, [ref])), None)

    def block(self, hash_: str) -> Block:
        """Return the block whose text had this hash when it was sent."""
        return self.blocks([hash_])[hash_]

    def blocks(self, hashes: Iterable[str]) -> dict[str, Block]:
        """Return blocks by their hashes."""
        wanted = list(dict.fromkeys(hashes))
        missing = [block_ref(hash_) for hash_ in wanted if not self._has(hash_)]
        for row in self._store.get(self._user, missing) if missing else ():
            stored = StoredBlock.model_validate_json(row.body)
            self._blocks[row.ref.removeprefix("block:")] = stored.block
        return {hash_: self._blocks.get(hash_, Block()) for hash_ in wanted}

    def keep(self, block: Block, random: Random, **fields: Any) -> Build:
        """Return the build of a block, both to be written."""
        # Made of values of ours, a hundred of them: there is nothing to check.
        build = Build.model_construct(user=self._user, ref=long_ref(Build.prefix, random), **fields)
        self._builds.put((self._user, build.ref), build)
        self.rows.append(build.row())
        self.keep_block(block, build.at)
        return build

    def keep_block(self, block: Block, at: datetime) -> None:
        """Have a block written, unless it is empty or known to be stored.

        One that lost an item to `forget` is written anew: the same words may be remembered again.
        To write one that is there is no harm, and costs no more than to look for it.
        """
        if self._has(block.hash) and self._blocks[block.hash] == block:
            return
        self._blocks[block.hash] = block
        stored = StoredBlock(user=self._user, ref=block_ref(block.hash), at=at, pieces=block.pieces)
        self.rows.append(stored.row())

    def written(self) -> None:
        """Keep the blocks for the next call, unless what was written may still be undone."""
        if self._store.in_atomic():
            return
        for hash_, block in self._blocks.items():
            self._kept.put((self._user, hash_), (self._head, block))

    def _has(self, hash_: str) -> bool:
        if hash_ in self._blocks:
            return True
        seq, block = self._kept.get((self._user, hash_)) or (-1, Block())
        if seq < self._since or not block.refs.isdisjoint(self._gone):
            return False
        self._blocks[hash_] = block
        return True


Sent = tuple[str, int]
"""What tells a piece of a prompt from another, and how many characters of it are text."""


def sent_pieces(tools: Sequence[str], prompt: Sequence[Message]) -> list[Sent]:
    """Return what a provider reads, in the order in which it does: tools, then the messages."""
    return [*((tool, len(tool)) for tool in tools), *map(_piece, prompt)]


def shared_prefix(before: Prints | None, sent: Sequence[Sent]) -> float | None:
    """Return the share of what is sent, in characters, that begins as it did the last time.

    None when this process has not seen a prompt of the conversation yet.
    """
    if before is None:
        return None
    sizes, same = [size for _, size in sent], len(sent)
    for at, pair in enumerate(zip_longest(prints_of(sent), before)):
        if pair[0] != pair[1]:
            same = at
            break
    return round(sum(sizes[:same]) / (sum(sizes) or 1), 4)


def prints_of(sent: Sequence[Sent]) -> Prints:
    """Return what tells a prompt from another, piece by piece."""
    return tuple([hash(text) for text, _ in sent])


def _piece(message: Message) -> Sent:
    content, calls = message.get("content"), message.get("tool_calls")
    shown = content if isinstance(content, str) else repr(content)
    told = repr(calls) if calls else ""
    key = repr((message["role"], shown, str(message.get("tool_call_id", "")), told))
    return key, len(message_text(message))
