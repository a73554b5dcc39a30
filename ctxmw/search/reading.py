"""Records that search has read, kept at hand with what is worked out once for each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from ..protocols import Store, TokenCounter
from ..runtime.faults import Faults
from ..values.items import Item
from ..values.record_items import record_item
from ..values.records import Record, load
from .passages import Clause, clauses, passage

AT_HAND = 12_000
"""How many records of a user are kept at hand once they were read."""
OVERHEAD = 1_000
"""Characters that a record takes besides its text."""
LONG = 200
"""Records of more tokens are shown as a passage ..."""
PASSAGE = 0.5
"""... of at most this share of their tokens."""


class ReadRecord:
    """One record, read."""

    # Thousands are kept at hand: without a dict, each takes less room and less time to collect.
    __slots__ = ("_count", "_sentences", "item", "plain")

    def __init__(self, record: Record, count: TokenCounter) -> None:
        self.item: Item = record_item(record)
        self.plain = " ".join(self.item.text.casefold().split())
        """Equal for two records that say the same."""
        self._count = count
        self._sentences: tuple[Clause, ...] = ()

    @property
    def size(self) -> int:
        return len(self.item.text) + OVERHEAD

    def passage(self, worth: Mapping[str, float]) -> str:
        """Return what the text is shown as when it is long; "" for one that is short enough."""
        text = self.item.text
        if len(text) <= LONG:  # a character is at least a byte, and a token at least that
            return ""
        tokens = self._count(text)
        if tokens <= LONG:
            return ""
        self._sentences = self._sentences or clauses(text, self._count)
        return passage(self._sentences, worth, tokens * PASSAGE)


class Readings:
    """The records of one user that were read and have not changed since."""

    def __init__(self) -> None:
        self._read: dict[str, ReadRecord] = {}
        self.size = 0
        """Characters of what is kept at hand."""

    def forget(self, refs: Iterable[str]) -> None:
        """Let go of records that changed or are gone."""
        for ref in refs:
            if (reading := self._read.pop(ref, None)) is not None:
                self.size -= reading.size

    def clear(self) -> None:
        """Let go of everything."""
        self._read, self.size = {}, 0

    def read(
        self,
        store: Store,
        user: str,
        refs: Sequence[str],
        count: TokenCounter,
        faults: Faults | None = None,
    ) -> list[ReadRecord]:
        """Return the records of these refs that exist and can be read, in this order."""
        if len(self._read) > AT_HAND:
            self.forget(list(itertools.islice(self._read, AT_HAND // 2)))
        missing = [ref for ref in refs if ref not in self._read]
        rows = store.get(user, missing) if missing else []
        for reading in (faults or Faults()).read(rows, lambda row: ReadRecord(load(row), count)):
            self._read[reading.item.ref] = reading
            self.size += reading.size
        return [self._read[ref] for ref in refs if ref in self._read]
