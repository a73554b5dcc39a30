"""Rows and questions as SQL, and what may not be stored.

Every value is bound. Lists travel as one JSON text, so their length meets no limit of SQLite.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from .errors import InvalidValue
from .protocols import Find, Row

WORDS = 64
"""Words of a search at most."""
WORD_CHARS = 200

LARGEST = 2**63 - 1

# The first of these that is asked for picks the index. Without statistics SQLite guesses, and
# prefers an index that spares it the sorting to the one that finds three rows.
_FILTERS = (
    ("key", "keys"),
    ("digest", "digests"),
    ("session", "sessions"),
    ("type", "types"),
    ("scope", "scopes"),
    ("source", "sources"),
)


def named_user(user: object) -> str:
    """Return the user's name, or raise when there is none."""
    return identifier(user, "user")


def identifier(value: object, field: str) -> str:
    """Return a text that names something, or raise when it is empty or cannot be stored."""
    text = _plain(value, field)
    if not text:
        raise InvalidValue(f"{field} is empty (''): every row belongs to a user and has a ref.")
    return text


def row_of(user: str, values: Sequence[Any]) -> Row:
    """Return the row whose columns were read."""
    ref, type_, at, body, session, key, digest, scope, source, live, search_text, seq = values
    return Row(
        user=user,
        ref=ref,
        type=type_,
        at=datetime.fromisoformat(at),
        body=body,
        session=session,
        key=key,
        digest=digest,
        scope=scope,
        source=source,
        live=bool(live),
        search_text=search_text,
        seq=seq,
    )


def values_of(row: Row) -> dict[str, Any]:
    """Return the row's columns by name, or raise when one cannot be stored."""
    return {
        "user": identifier(row.user, "user"),
        "ref": identifier(row.ref, "ref"),
        "type": _plain(row.type, "type"),
        "live": int(bool(row.live)),
        "at": moment(row.at, "at"),
        "session": _plain(row.session, "session"),
        "key": _plain(row.key, "key"),
        "digest": _plain(row.digest, "digest"),
        "scope": _plain(row.scope, "scope"),
        "source": _plain(row.source, "source"),
        "search_text": _text(row.search_text, "search_text"),
        "body": _text(row.body, "body"),
    }


def moment(at: object, field: str) -> str:
    """Return a time as text of fixed width in UTC, which sorts as the times do."""
    if not isinstance(at, datetime) or at.utcoffset() is None:
        raise InvalidValue(f"{field} must be a datetime with a time zone, not {at!r:.60}.")
    try:
        utc = at if at.tzinfo is UTC else at.astimezone(UTC)
        return utc.isoformat(timespec="microseconds")
    except OverflowError:
        raise InvalidValue(f"{field} is out of range in UTC: {at!r:.60}.") from None


def conditions(find: Find) -> tuple[list[str], list[Any]]:
    """Return what a row must fulfil, to be joined by AND, and the values to bind."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, field in _FILTERS:
        asked = getattr(find, field)
        if asked:
            clause, value = among(column, asked, field, picks=not clauses)
            clauses.append(clause)
            values.append(value)
    for compared, at, field in ((">=", find.since, "since"), ("<", find.until, "until")):
        if at is not None:
            clauses.append(f"{_time(find)} {compared} ?")
            values.append(moment(at, field))
    if find.live is not None:
        clauses.append("records.live = ?")
        values.append(int(find.live))
    return clauses, values


def order(find: Find) -> str:
    """Return how the rows are sorted."""
    way = " DESC" if find.newest_first else ""
    return f"ORDER BY {_time(find)}{way}, records.seq{way}"


def among(column: str, asked: Sequence[str], field: str, *, picks: bool) -> tuple[str, str]:
    """Return the condition that a column is one of these, and the value to bind."""
    if isinstance(asked, str):
        raise InvalidValue(f"{field} must be a sequence of texts, not one text ({asked!r:.60}).")
    sign = "" if picks else "+"
    # What cannot be stored matches nothing; SQLite's JSON would cut it at its first NUL.
    possible = [text for text in asked if _is_plain(text)]
    # Tells SQLite that the index of rows that have a value is enough.
    given = "" if "" in possible else f" AND {sign}records.{column} <> ''"
    if len(possible) == 1:
        return f"{sign}records.{column} = ?{given}", possible[0]
    # The names of columns are ours; what is asked for is bound.
    clause = f"{sign}records.{column} IN (SELECT value FROM json_each(?)){given}"  # noqa: S608
    return clause, json.dumps(possible)


def bounds(find: Find) -> list[int]:
    """Return limit and offset; SQLite takes -1 for no limit."""
    limit = -1 if find.limit is None else _natural(find.limit, "limit")
    return [limit, _natural(find.offset, "offset")]


def any_of(words: Sequence[str]) -> str:
    """Return the full-text question for rows that hold any of the words; "" when it has none.

    Each word is quoted, so nothing in it is an operator. One that falls into several tokens is
    looked for as a phrase.
    """
    if isinstance(words, str):
        raise InvalidValue(f"words must be a sequence of texts, not one text ({words!r:.60}).")
    return " OR ".join(islice(dict.fromkeys(_quoted(words)), WORDS))


def _time(find: Find) -> str:
    # SQLite would rather walk through all rows by time than find a few and sort them.
    few = find.keys or find.digests or find.sessions or len(find.types) > 1
    return "+records.at" if few else "records.at"


def _quoted(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        text = word[:WORD_CHARS].replace("\0", " ").encode(errors="replace").decode().strip()
        if text:
            yield '"' + text.replace('"', '""') + '"'


def _natural(number: object, field: str) -> int:
    if not isinstance(number, int) or number < 0:
        raise InvalidValue(f"{field} must be 0 or a larger whole number, not {number!r:.60}.")
    return min(number, LARGEST)


def _plain(value: object, field: str) -> str:
    text = _text(value, field)
    if "\0" in text:
        raise InvalidValue(f"{field} holds a NUL character ({text!r:.60}): remove it.")
    return text


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{field} must be text, not {type(value).__name__} ({value!r:.60}).")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(
            f"{field} holds half of a surrogate pair at {error.start}: remove it, or decode the "
            "text again from its bytes."
        ) from None
    return value


def _is_plain(value: object) -> bool:
    try:
        _plain(value, "value")
    except InvalidValue:
        return False
    return True
