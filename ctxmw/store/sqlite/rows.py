"""Rows and questions as SQLite takes them.

Every value is bound. Lists travel as one JSON text, so their length meets no limit of SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from ..rows import WORD_CHARS, WORDS, Asked, check_texts, row_read

row_of = partial(row_read, datetime.fromisoformat)


def conditions(asked: Asked) -> tuple[str, list[Any]]:
    """Return what a row must fulfil, beginning with AND, and the values to bind."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, possible in asked.texts.items():
        picks = not clauses or (column == "type" and "session" in asked.texts and len(clauses) == 1)
        clause, value = among(column, possible, picks=picks)
        clauses.append(clause)
        values.append(value)
    for compared, at in asked.times.items():
        clauses.append(f"{_time(asked)} {compared} ?")
        values.append(at)
    if asked.live is not None:
        clauses.append("records.live = ?")
        values.append(int(asked.live))
    return "".join(f" AND {clause}" for clause in clauses), values


def order(asked: Asked) -> str:
    """Return how the rows are sorted."""
    way = " DESC" if asked.newest_first else ""
    return f" ORDER BY {_time(asked)}{way}, records.seq{way} LIMIT ? OFFSET ?"


def among(column: str, possible: Sequence[str], *, picks: bool = True) -> tuple[str, str]:
    """Return the condition that a column is one of these, and the value to bind.

    They are `possible_texts`: SQLite's JSON would cut others at their first NUL.
    """
    sign = "" if picks else "+"
    # Tells SQLite that the index of rows that have a value is enough.
    given = "" if "" in possible else f" AND {sign}records.{column} <> ''"
    if len(possible) == 1:
        return f"{sign}records.{column} = ?{given}", possible[0]
    # The names of columns are ours; what is asked for is bound.
    clause = f"{sign}records.{column} IN (SELECT value FROM json_each(?)){given}"  # noqa: S608
    return clause, json.dumps(possible)


def bounds(asked: Asked) -> list[int]:
    """Return limit and offset; SQLite takes -1 for no limit."""
    return [-1 if asked.limit is None else asked.limit, asked.offset]


def any_of(words: Sequence[str]) -> str:
    """Return the full-text question for rows that hold any of the words; "" when it has none.

    Each word is quoted, so nothing in it is an operator. One that falls into several tokens is
    looked for as a phrase.
    """
    check_texts(words, "words")
    return " OR ".join(islice(dict.fromkeys(_quoted(words)), WORDS))


def _time(asked: Asked) -> str:
    # SQLite would rather walk through all rows by time than find a few and sort them.
    few = not asked.texts.keys().isdisjoint(("key", "digest", "session"))
    return "+records.at" if few or len(asked.texts.get("type", ())) > 1 else "records.at"


def _quoted(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        text = word[:WORD_CHARS].replace("\0", " ").encode(errors="replace").decode().strip()
        if text:
            yield '"' + text.replace('"', '""') + '"'
