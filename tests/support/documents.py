"""Records as search sees them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ctxmw.search.lexical.index import Document, LexicalIndex
from ctxmw.text.cleaning import words
from tests.support.rows import NOW


def document(ref: str, text: str, session: str = "", **values: Any) -> Document:
    """Return what somebody said; it stands alone unless a session is named."""
    told = {"type": "turn", "scope": "universal", "speaker": "", "at": NOW} | values
    return Document(ref=ref, text=text, words=words(text), session=session, **told)


def index_of(documents: Iterable[Document]) -> LexicalIndex:
    """Return an index of these."""
    index = LexicalIndex()
    index.add(list(documents))
    return index
