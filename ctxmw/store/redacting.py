"""Stands in front of the store: no secret gets past, whoever writes, and in whatever field.

Secrets are taken out where text comes in (`redaction`), so that nothing else is worked with. Here
they are looked for once more in whole rows, together with what a person's own patterns name, such
as a customer's number, which only its owner knows to be secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from ..errors import InvalidValue
from ..protocols import Row, Store
from ..runtime.lru import LruCache
from ..text.cleaning import words
from ..text.secrets.redaction import redact, redact_name

MARK = "[REDACTED:own]"
_AT_HAND, _SHORT = 1024, 500
"""Texts without secrets that are kept in mind, and characters of each, at most."""


def redacting(store: Store, patterns: Sequence[str]) -> Store:
    """Return the store, writing no secret, nor what one of these regular expressions matches."""
    return cast("Store", _Redacting(bare(store), patterns))


def bare(store: Store) -> Store:
    """Return the store behind a redacting one; any other as it is."""
    return store.inner if isinstance(store, _Redacting) else store


class _Redacting:
    """A store that changes what is written, and nothing else."""

    def __init__(self, inner: Store, patterns: Sequence[str]) -> None:
        self.inner = inner
        self._patterns = tuple(_compiled(pattern) for pattern in patterns)
        self._clean_texts: LruCache[str, bool] = LruCache(_AT_HAND)

    def put(self, rows: Sequence[Row], /) -> None:
        self.inner.put([self._redacted(row) for row in rows])

    def __reduce__(self) -> tuple[Callable[..., Store], tuple[Store, tuple[str, ...]]]:
        return redacting, (self.inner, tuple(pattern.pattern for pattern in self._patterns))

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "_patterns", "_clean_texts"):  # a copy that is not made yet has none
            raise AttributeError(name)
        return getattr(self.inner, name)  # everything else is the store's own answer

    def _redacted(self, row: Row) -> Row:
        if not self._finds(row):
            return row
        body = json.loads(row.body)
        names: dict[str, Any] = {name: _named(getattr(row, name)) for name in _NAMES}
        clean = json.dumps(self._clean(body), ensure_ascii=False)
        search_text = row.search_text if row.body == clean else _search_text(row, clean)
        return replace(row, body=clean, search_text=search_text, foreign=None, **names)

    def _finds(self, row: Row) -> bool:
        # Only a person's own patterns may match what is made of our refs, hashes and figures.
        if row.foreign is not None and not self._patterns:
            return not self._is_clean(_with_names(row, row.foreign))
        text = _with_names(row, _as_read(row.body))
        return any(pattern.search(text) for pattern in self._patterns) or bool(redact(text).found)

    def _is_clean(self, text: str) -> bool:
        """Say whether there is no secret; a conversation's rows often have nothing but its name."""
        if self._clean_texts.get(text):
            return True
        clean = not redact(text).found
        if clean and len(text) <= _SHORT:
            self._clean_texts.put(text, True)
        return clean

    def _clean(self, value: Any, field: str = "") -> Any:
        if isinstance(value, str):
            own = self._own(value)
            return _named(own) if field in _NAMES else redact(own).text
        if isinstance(value, list):
            return [self._clean(one) for one in value]
        if isinstance(value, dict):
            return {redact(name).text: self._clean(one, name) for name, one in value.items()}
        return value

    def _own(self, text: str) -> str:
        for pattern in self._patterns:
            text = pattern.sub(MARK, text)
        return text


def _as_read(body: str) -> str:
    """Return everything a body says in one text, without taking it apart: most hide nothing."""
    if "\\" in body:
        if "\\u" in body:  # a control character: it may stand within a secret
            body = "\n\n".join(_texts(json.loads(body)))
        body = body.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    return body


def _with_names(row: Row, said: str) -> str:
    return "\n\n".join([said, row.session, row.key, row.digest, row.scope, row.source])


_NAMES = ("session", "key", "digest", "scope", "source")


def _named(name: str) -> str:
    """Return a name without secrets, as it was asked for too; a scope keeps its kind."""
    kind, colon, rest = name.partition(":")
    if colon and kind in ("project", "language", "tool"):
        return f"{kind}:{redact_name(rest)}"
    return redact_name(name)


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
    from ..text.patterns.ambiguity import check_paths

    try:
        found = re.compile(pattern)
    except re.error as error:
        raise InvalidValue(f"the pattern {pattern!r:.60} is not valid: {error}.") from error
    if found.match(""):
        raise InvalidValue(f"the pattern {pattern!r:.60} matches nothing at all: make it longer.")
    check_paths(pattern)
    return found
