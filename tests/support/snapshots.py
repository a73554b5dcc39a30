"""What is kept of an index in the store, and read by the next process."""

from __future__ import annotations

from io import BytesIO

from ctxmw.runtime.packing import packed, unpacked
from ctxmw.search.lexical.index import LexicalIndex


def restored(snapshot: bytes) -> LexicalIndex:
    """Return the index that a snapshot holds."""
    return LexicalIndex.load(unpacked(BytesIO(snapshot)))


def restarted(index: LexicalIndex) -> LexicalIndex:
    """Return the index as the next process reads it."""
    arrays, about = index.dump()
    return restored(packed(about, arrays))
