"""Rows as every store takes them: what can be kept, and what was read back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from ..errors import InvalidValue
from ..protocols import Find, Row

WORDS = 64
"""Words of a search at most."""
WORD_CHARS = 200

LARGEST = 2**63 - 1

T = TypeVar("T")
RowsDone = Callable[[int, int], None]
"""Told how many rows are done, and of how many."""


def batches(many: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most this size."""
    left = iter(many)
    while batch := list(islice(left, size)):
        yield batch


def named_user(user: object) -> str:
    """Return the user's name, or raise when there is none."""
    return identifier(user, "user")


def identifier(value: object, field: str) -> str:
    """Return a text that names something, or raise when it is empty or cannot be stored."""
    text = _plain(value, field)
    if not text:
        raise InvalidValue(f"{field} is empty (''): every row belongs to a user and has a ref.")
    return text


def row_read(moment_of: Callable[[Any], datetime], user: str, values: Sequence[Any]) -> Row:
    """Return the row whose columns were read; `moment_of` knows how the store writes a time."""
    ref, type_, at, body, session, key, digest, scope, source, live, search_text, seq = values
    return Row(
        user=user,
        ref=ref,
        type=type_,
        at=moment_of(at),
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
    if not _is_ordinary(row):
        _check(row)
    return {
        "user": row.user,
        "ref": row.ref,
        "type": row.type,
        "live": int(bool(row.live)),
        "at": moment(row.at, "at"),
        "session": row.session,
        "key": row.key,
        "digest": row.digest,
        "scope": row.scope,
        "source": row.source,
        "search_text": row.search_text,
        "body": row.body,
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


def natural(number: object, field: str) -> int:
    """Return a whole number that SQL can hold, or raise when it is none."""
    if not isinstance(number, int) or number < 0:
        raise InvalidValue(f"{field} must be 0 or a larger whole number, not {number!r:.60}.")
    return min(number, LARGEST)


def check_texts(asked: object, field: str) -> None:
    """Raise when one text is given where many are asked for."""
    if isinstance(asked, str):
        raise InvalidValue(f"{field} must be a sequence of texts, not one text ({asked!r:.60}).")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for, checked: every database asks for it in its own words."""

    texts: dict[str, list[str]]
    """For each column that is asked for, which of the texts asked for a row can have at all."""
    times: dict[str, str]
    """The earliest time by ">=", and the first that is too late by "<", as a row has them."""
    live: bool | None
    newest_first: bool
    limit: int | None
    offset: int

    @classmethod
    def by(cls, find: Find) -> Asked:
        """Return what a query asks for, or raise when that cannot be."""
        many = (find.keys, find.digests, find.sessions, find.types, find.scopes, find.sources)
        texts = zip(_ASKED, many, strict=True)
        times = ((">=", find.since, "since"), ("<", find.until, "until"))
        return cls(
            texts={field: possible_texts(asked, f"{field}s") for field, asked in texts if asked},
            times={sign: moment(at, field) for sign, at, field in times if at is not None},
            live=find.live,
            newest_first=find.newest_first,
            limit=None if find.limit is None else natural(find.limit, "limit"),
            offset=natural(find.offset, "offset"),
        )


# The first of these that is asked for picks SQLite's index. Without statistics it guesses, and
# prefers an index that spares it the sorting to the one that finds three rows. The index by
# session goes on with the type.
_ASKED = ("key", "digest", "session", "type", "scope", "source")


def possible_texts(asked: Sequence[str], field: str) -> list[str]:
    """Return those of the texts that a row can have at all; no other can be found."""
    check_texts(asked, field)
    return [text for text in asked if _is_plain(text)]


def _is_plain(value: object) -> bool:
    if isinstance(value, str) and value.isascii():
        return "\0" not in value
    try:
        _plain(value, "value")
    except InvalidValue:
        return False
    return True


_NAMED = ("user", "ref")
_PLAIN = ("type", "session", "key", "digest", "scope", "source")
_TEXTS = ("search_text", "body")


def _is_ordinary(row: Row) -> bool:
    """Say at a glance that a row can be stored: most rows are of ASCII texts."""
    named = (row.user, row.ref)
    plain = (row.type, row.session, row.key, row.digest, row.scope, row.source)
    try:
        glance = "".join((*named, *plain))
        return (
            all(named)
            and glance.isascii()
            and "\0" not in glance
            and str.isascii(row.search_text)
            and str.isascii(row.body)
        )
    except TypeError:  # one of them is no text
        return False


def _check(row: Row) -> None:
    for field in _NAMED:
        identifier(getattr(row, field), field)
    for field in _PLAIN:
        _plain(getattr(row, field), field)
    for field in _TEXTS:
        _text(getattr(row, field), field)


def _plain(value: object, field: str) -> str:
    text = _text(value, field)
    if "\0" in text:
        raise InvalidValue(f"{field} holds a NUL character ({text!r:.60}): remove it.")
    return text


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{field} must be text, not {type(value).__name__} ({value!r:.60}).")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue(
            f"{field} holds half of a surrogate pair at {error.start}: remove it, or decode the "
            "text again from its bytes."
        ) from None
    return value
