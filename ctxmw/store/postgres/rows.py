"""Rows, questions and words as Postgres takes them. Every value is bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from ...errors import InvalidValue
from ...protocols import Row
from ...text.cleaning import words
from ..rows import (
    WORD_CHARS,
    WORDS,
    Asked,
    check_texts,
    row_read,
    values_of,
)
from .stems import stored_stem

_LARGEST_VECTOR = 800_000
"""Postgres takes a megabyte of words and positions; what is beyond is not searched."""
_PLACES = 8
"""How often a word counts in one row."""


def _moment_of(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC)


row_of = partial(row_read, _moment_of)


def columns_of(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return rows column by column; of those with the same ref, the last one holds."""
    checked = [_checked(row) for row in rows]
    # Positions count from 1, and a ref that comes twice has the later one.
    places = {values["ref"]: place for place, values in enumerate(checked, start=1)}
    kept = [checked[place - 1] | {"place": place} for place in sorted(places.values())]
    return {name: [values[name] for values in kept] for name in (*checked[0], "place")}


def conditions(asked: Asked) -> tuple[str, list[Any]]:
    """Return what a row must fulfil, beginning with AND, and the values to bind."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, possible in asked.texts.items():
        clauses.append(among(column, possible))
        values.append(possible)
    for compared, at in asked.times.items():
        clauses.append(f"records.at {compared} %s")
        values.append(datetime.fromisoformat(at))
    if asked.live is not None:
        clauses.append("records.live = %s")
        values.append(bool(asked.live))
    return "".join(f" AND {clause}" for clause in clauses), values


def among(column: str, asked: Sequence[str]) -> str:
    """Return the condition that a column is one of these."""
    # Tells Postgres that the index of rows that have a value is enough.
    given = "" if "" in asked else f" AND records.{column} <> ''"
    return f"records.{column} = ANY(%s){given}"


def order(asked: Asked) -> str:
    """Return how the rows are sorted."""
    way = " DESC" if asked.newest_first else ""
    return f" ORDER BY records.at{way}, records.seq{way} LIMIT %s OFFSET %s"


def asked_words(asked: Sequence[str]) -> list[str]:
    """Return the full-text questions for these words, one for each that has letters in it.

    A word that falls into several parts is found where all of them are.
    """
    check_texts(asked, "words")
    first = [words(word[:WORD_CHARS]) for word in islice(asked, WORDS)]
    parts = (list(map(stored_stem, said)) for said in first)
    return list(dict.fromkeys(" & ".join(map(_quoted, stems)) for stems in parts if stems))


def _checked(row: Row) -> dict[str, Any]:
    values = values_of(row)
    for field in ("body", "search_text"):
        if "\0" in values[field]:
            raise InvalidValue(
                f"{field} of {row.ref!r:.60} holds a NUL character, which Postgres cannot store: "
                "escape it as JSON does."
            )
    searched = words(row.search_text) if row.live else []
    return {**values, "live": bool(row.live), "at": row.at, "words": _vector(searched)}


def _vector(searched: Sequence[str]) -> str | None:
    """Return words as Postgres reads them: each once, with the first of its places."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(searched, start=1):
        found = places.setdefault(stored_stem(word), [])
        if len(found) < _PLACES:
            found.append(place)
    written: list[str] = []
    room = _LARGEST_VECTOR
    for word, at in places.items():
        room -= len(word.encode()) + 4 + 2 * (len(at) + 1)
        if room < 0:
            break
        written.append(f"{_quoted(word)}:{','.join(map(str, at))}")
    return " ".join(written) or None


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "").replace("'", "''") + "'"
