"""JSON values under a path and a name, beside a user's memories: what an application would keep.

They are in the same file or database, belong to the same user, and go with them: `forget`, `export`
and `migrate` take them along. Nothing of them comes into a prompt by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from ..errors import InvalidValue
from ..protocols import Clock, Find, Store
from ..text.cleaning import digest, search_text, storable
from ..values.argument_checks import check_name, check_text, whole_number
from ..values.clocks import after
from ..values.records import Moment, Record, load_all

Path = tuple[str, ...]
_PREFIX = "d"
_MOST_MINUTES = 1e9
"""Close to two thousand years."""


class KeptDocument(Record):
    """One value, under its path and name."""

    type: ClassVar[str] = "document"

    path: Path
    name: str
    value: dict[str, Any]
    created: Moment
    words: str = ""
    """What a search looks at."""
    minutes: float | None = None
    """How long it is kept after it was last written or read; None: until it is deleted."""
    expires: Moment | None = None

    def searched(self) -> str:
        return self.words

    def is_over(self, now: datetime) -> bool:
        """Say whether its time is over."""
        return self.expires is not None and self.expires <= now

    def kept_from(self, now: datetime) -> KeptDocument:
        """Return it with its time counted from now."""
        if self.minutes is None:
            return self
        return self.model_copy(update={"expires": after(now, timedelta(minutes=self.minutes))})


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSearch:
    """Which documents are looked for: below a path, of these values, about a query."""

    path: Path = ()
    filter: Mapping[str, Any] | None = None
    """Names and values that must be equal, or {"$gt": 3}, {"$ne": "x"} and the like."""
    query: str = ""
    limit: int = 10
    offset: int = 0

    def __post_init__(self) -> None:
        whole_number(self.limit, "limit")
        whole_number(self.offset, "offset")
        if not isinstance(self.query, str):
            raise InvalidValue(f"query is {self.query!r:.60}: give text.")
        if self.filter is not None and not isinstance(self.filter, Mapping):
            raise InvalidValue(
                f"filter is {self.filter!r:.60}: give names and values, such as {{'color': 'red'}}."
            )


class Documents:
    """The documents of one user."""

    def __init__(self, store: Store, user: str, clock: Clock) -> None:
        self._store = store
        self._user = user
        self._clock = clock

    def __repr__(self) -> str:
        return f"Documents(user={self._user!r})"

    def atomic(self) -> Any:
        """Make everything this thread does inside happen at once."""
        return self._store.atomic(self._user)

    def get(self, path: Path, name: str, *, refresh: bool = False) -> KeptDocument | None:
        """Return the document of that path and name; `refresh` has its time begin anew."""
        found = load_all(self._store.get(self._user, [document_ref(path, name)]), KeptDocument)
        held = self._in_time(found)
        if refresh:
            self._refresh(held)
        return held[0] if held else None

    def put(
        self,
        path: Path,
        name: str,
        value: Mapping[str, Any],
        *,
        text: str | None = None,
        minutes: float | None = None,
    ) -> KeptDocument:
        """Keep a value, in the place of what had this path and name.

        It is searched by `text`; without, by all of its words. With `minutes` it goes that long
        after it was last written or read.
        """
        check_name(check_text(name, "a document's name"), "a document's name")
        for part in path:
            check_name(part, "a part of a document's path")
        _check_minutes(minutes)
        kept = _plain(value)
        now = self._clock()
        with self.atomic():
            before = self.get(path, name)
            document = KeptDocument(
                user=self._user,
                ref=document_ref(path, name),
                at=now,
                source=path[0] if path else "",
                path=path,
                name=name,
                value=kept,
                created=before.created if before else now,
                words=search_text(_all_words(kept) if text is None else text),
                minutes=minutes,
            ).kept_from(now)
            self._store.put([document.row()])
        return document

    def delete(self, path: Path, name: str) -> bool:
        """Remove a document for good; say whether there was one."""
        return bool(self._store.delete(self._user, [document_ref(path, name)]))

    def search(
        self, asked: DocumentSearch, *, refresh: bool = False
    ) -> list[tuple[KeptDocument, float | None]]:
        """Return the documents that fit: with a query the best first, then those without a score.

        Without one, what was written last comes first.
        """
        find = Find(types=(KeptDocument.type,), sources=asked.path[:1])
        scores: dict[str, float] = {}
        if words := search_text(asked.query).split():
            scores = {row.ref: score for row, score in self._store.search(self._user, words, find)}
        found = [one for one in self._all(find) if one.path[: len(asked.path)] == asked.path]
        found = [one for one in found if fits_filter(one.value, asked.filter or {})]
        found.sort(key=lambda one: -scores.get(one.ref, 0.0))
        shown = found[asked.offset : asked.offset + asked.limit]
        if refresh:
            self._refresh(shown)
        return [(one, scores.get(one.ref)) for one in shown]

    def paths(self) -> list[Path]:
        """Return the paths that have a document, in order."""
        return sorted({one.path for one in self._all(Find(types=(KeptDocument.type,)))})

    def sweep(self) -> int:
        """Remove what is over its time; say how many there were."""
        now = self._clock()
        rows = self._store.query(self._user, Find(types=(KeptDocument.type,)))
        over = [one.ref for one in load_all(rows, KeptDocument) if one.is_over(now)]
        return self._store.delete(self._user, over) if over else 0

    def _all(self, find: Find) -> list[KeptDocument]:
        return self._in_time(load_all(self._store.query(self._user, find), KeptDocument))

    def _in_time(self, found: Sequence[KeptDocument]) -> list[KeptDocument]:
        now = self._clock()
        return [one for one in found if not one.is_over(now)]

    def _refresh(self, found: Sequence[KeptDocument]) -> None:
        now = self._clock()
        limited = [one.kept_from(now).row() for one in found if one.minutes is not None]
        if limited:
            self._store.put(limited)


def document_ref(path: Path, name: str) -> str:
    """Return the ref of the document under a path and a name."""
    return _PREFIX + digest(*path, "", name)[:24]


def fits_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether a value has all that is wanted, as LangGraph's stores compare."""
    return all(_is(value.get(name), one) for name, one in wanted.items())


def _is(own: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compares(own, how, one) for how, one in wanted.items())
        return isinstance(own, Mapping) and fits_filter(own, wanted)
    if isinstance(wanted, list | tuple):
        listed = isinstance(own, list | tuple) and len(own) == len(wanted)
        return listed and all(map(_is, own, wanted))
    return bool(own == wanted)


def _compares(own: Any, how: str, wanted: Any) -> bool:
    if how in ("$eq", "$ne"):
        return bool((own == wanted) == (how == "$eq"))
    if how not in ("$gt", "$gte", "$lt", "$lte"):
        raise InvalidValue(f"a filter has {how!r}: it takes $eq, $ne, $gt, $gte, $lt and $lte.")
    try:
        left, right = float(own), float(wanted)
    except (TypeError, ValueError):
        return False  # one document without a number must not fail the search for the others
    return {
        "$gt": left > right,
        "$gte": left >= right,
        "$lt": left < right,
        "$lte": left <= right,
    }[how]


def _check_minutes(minutes: float | None) -> None:
    number = isinstance(minutes, int | float) and not isinstance(minutes, bool)
    if minutes is not None and not (number and 0 < minutes <= _MOST_MINUTES):
        raise InvalidValue(
            f"minutes is {minutes!r:.60}: give a number above 0, or None to keep it for good."
        )


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidValue(f"a document is {value!r:.60}: give a dict that JSON can hold.")
    try:
        text = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
        return dict(json.loads(storable(text)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"a document must be a dict that JSON can hold: {error}.") from None


def _all_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(_all_words(one) for one in value.values())
    if isinstance(value, list | tuple):
        return " ".join(map(_all_words, value))
    return str(value) if isinstance(value, str | int | float) else ""
