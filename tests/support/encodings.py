"""tiktoken's encodings, made of the tables that are on this machine."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ctxmw.tokens.tables import TABLES, default_cache_dir, find_table, load_encoding

if TYPE_CHECKING:
    import tiktoken


@cache
def encoding_of(name: str) -> tiktoken.Encoding:
    content = find_table(TABLES[name], default_cache_dir())
    assert content is not None
    return load_encoding(name, TABLES[name], content)
