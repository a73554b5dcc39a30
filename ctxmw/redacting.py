"""Takes out what a person's own patterns name, wherever it would be written.

Secrets of well-known forms are taken out where text comes in (`redaction`). What only its owner
knows, such as a customer's number, is taken out here, in front of the store: whoever writes, and
whatever, it does not reach the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from .errors import InvalidValue
from .pattern_paths import check_paths
from .protocols import Row, Store
from .text import words

MARK = "[REDACTED:own]"


def redacting(store: Store, patterns: Sequence[str]) -> Store:
    """Return the store, writing nothing that one of these regular expressions matches."""
    inner = store.inner if isinstance(store, _Redacting) else store
    return cast("Store", _Redacting(inner, patterns)) if patterns else inner


class _Redacting:
    """A store that changes what is written, and nothing else."""

    def __init__(self, inner: Store, patterns: Sequence[str]) -> None:
        self.inner = inner
        self._patterns = tuple(_compiled(pattern) for pattern in patterns)

    def put(self, rows: Sequence[Row], /) -> None:
        self.inner.put([self._redacted(row) for row in rows])

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "_patterns"):  # a copy that is not made yet has neither
            raise AttributeError(name)
        return getattr(self.inner, name)

    def _redacted(self, row: Row) -> Row:
        body = json.dumps(self._clean(json.loads(row.body)), ensure_ascii=False)
        if body == json.dumps(json.loads(row.body), ensure_ascii=False):
            return row
        return replace(row, body=body, search_text=_search_text(row, body))

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            for pattern in self._patterns:
                value = pattern.sub(MARK, value)
            return value
        if isinstance(value, list):
            return [self._clean(one) for one in value]
        if isinstance(value, dict):
            return {name: self._clean(one) for name, one in value.items()}
        return value


def _search_text(row: Row, body: str) -> str:
    """Return the words a row is found by, without those that are no longer in it."""
    if row.type == "block":  # found by the refs it shows, not by words of its text
        return row.search_text
    left = set(words(" ".join(_texts(json.loads(body)))))
    return " ".join(word for word in row.search_text.split() if word in left)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise InvalidValue(f"the pattern {pattern!r:.60} is not valid: {error}.") from error
    if found.match(""):
        raise InvalidValue(f"the pattern {pattern!r:.60} matches nothing at all: make it longer.")
    check_paths(pattern)
    return found
