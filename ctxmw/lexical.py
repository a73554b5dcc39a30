"""The words of one user's records, in memory: postings, neighbours, speakers, times.

Records are added in the order in which they were written. Most of the index is frozen: posting
lists in one block, quick to read and to keep in the store. What came since is a small rest beside
it, merged when it has grown. Everything here can be made again from the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column
from .items import Item
from .people import People
from .phrases import (
    ANSWER_SHAPES,
    FIRST_PERSON,
    PREFERENCE,
    SECOND_PERSON,
    STANDING_INSTRUCTION,
)
from .terms import content_terms

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

FLAGS = ("first", "second", "instruction", "preference", "user", *ANSWER_SHAPES)
_INTS = ("session", "speaker", "day", "month", "year", "previous", "next", "type", "scope")
_FLOATS = ("length", "cost", "place", "alive", *FLAGS)
_NEUTRAL = {"speaker": -1, "previous": -1, "next": -1, "cost": 1}
_CHARS_PER_TOKEN = 4.2
_SMALLEST_REST = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A record as search sees it."""

    ref: str
    type: str
    scope: str
    session: str
    """Records of one session stand next to each other; others stand alone."""
    speaker: str
    """A name, or "user" and "assistant" where only roles are known; "" for nobody."""
    text: str
    at: datetime


class LexicalIndex:
    """Everything the lexical leg of search needs to know of one user's records."""

    def __init__(self) -> None:
        self.refs: list[str] = []
        self.people = People()
        self.vocabulary: dict[str, int] = {}
        self.places: dict[str, int] = {}
        """Where each live ref stands."""
        self.read: dict[str, Item] = {}
        """Records that were read from the store for an answer, and have not changed since."""
        self._names: dict[str, dict[str, int]] = {"type": {}, "scope": {}, "session": {}}
        self._columns = {name: Column(np.zeros(0, np.int32), _neutral(name)) for name in _INTS}
        self._columns |= {name: Column(np.zeros(0, np.float32), _neutral(name)) for name in _FLOATS}
        self._session_size = Column(np.zeros(0, np.int32))
        self._session_length = Column(np.zeros(0, np.float32))
        self._session_last = Column(np.zeros(0, np.int32), -1)
        self._tokens = Column(np.zeros(0, np.int32))
        self._starts = Column(np.zeros(0, np.int64))
        self._frozen = _Postings.empty()
        self._rest: dict[int, tuple[list[int], list[int]]] = {}
        self._frozen_size = 0

    def __len__(self) -> int:
        return len(self.refs)

    @property
    def dead(self) -> int:
        """How many places hold a record that is gone."""
        return len(self.refs) - len(self.places)

    def add(self, document: Document) -> None:
        """Take in a record; one of the same ref is taken out first."""
        self.remove(document.ref)
        place = len(self.refs)
        terms = content_terms(document.text)
        self.refs.append(document.ref)
        self.places[document.ref] = place
        self._add_terms(place, terms)
        self._add_place(place, document, len(terms))
        values = {
            "speaker": self.people.hear(document.speaker, document.text),
            "type": self._number("type", document.type),
            "scope": self._number("scope", document.scope),
            "day": document.at.toordinal(),
            "month": document.at.month,
            "year": document.at.year,
            "length": len(terms),
            "cost": 4 + len(document.text) / _CHARS_PER_TOKEN,
            "alive": 1,
            **_flags(document),
        }
        for name, value in values.items():
            self._columns[name].append(value)
        if len(self.refs) - self._frozen_size > max(_SMALLEST_REST, self._frozen_size // 8):
            self.freeze()

    def remove(self, ref: str) -> None:
        """Let go of a record; its neighbours become each other's."""
        place = self.places.pop(ref, None)
        self.read.pop(ref, None)
        if place is None:
            return
        before, after = (int(self._columns[side].own[place]) for side in ("previous", "next"))
        if before >= 0:
            self._columns["next"][before] = after
        if after >= 0:
            self._columns["previous"][after] = before
        session = int(self._columns["session"].own[place])
        if self._session_last.own[session] == place:
            self._session_last[session] = before
        self._columns["alive"][place] = 0

    def column(self, name: str) -> NDArray[Any]:
        """Return a property of every place, and behind them that of "no such record"."""
        return self._columns[name].all

    def number(self, what: str, name: str) -> int:
        """Return the number of a type, scope or session; -1 when there is none of that name."""
        return self._names[what].get(name, -1)

    def term_ids(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of those terms that occur."""
        return [self.vocabulary[t] for t in dict.fromkeys(terms) if t in self.vocabulary]

    def postings(self, term: int) -> tuple[Ints, Floats]:
        """Return the places that hold a term, and how often each does."""
        places, counts = self._frozen.of(term)
        rest = self._rest.get(term)
        if rest is None:
            return places, counts
        more, times = np.array(rest[0], np.int32), np.array(rest[1], np.float32)
        return np.concatenate([places, more]), np.concatenate([counts, times])

    def rarity(self, term: int) -> float:
        """Return the inverse document frequency of BM25."""
        held = self._frozen.count(term) + len(self._rest.get(term, ((), ()))[0])
        return math.log(1 + (len(self) - held + 0.5) / (held + 0.5))

    def session_sizes(self) -> tuple[Ints, Floats]:
        """Return how many records, and how many terms, each session has."""
        return self._session_size.own, self._session_length.own

    def token_runs(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the terms of these places, and for each which of the places it belongs to."""
        starts = self._starts.own[places]
        lengths = self.column("length")[places].astype(np.int64)
        owner = np.repeat(np.arange(len(places)), lengths)
        offset = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self._tokens.own[np.repeat(starts, lengths) + offset], owner.astype(np.int32)

    def freeze(self) -> None:
        """Merge the rest into the frozen posting lists."""
        lengths = self._columns["length"].own.astype(np.int64)
        self._frozen = _Postings.made(self._tokens.own, lengths, len(self.vocabulary))
        self._rest = {}
        self._frozen_size = len(self.refs)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the index as arrays, and the names in it as JSON can keep them."""
        arrays = {f"column.{name}": column.own for name, column in self._columns.items()}
        arrays |= {f"session.{name}": column.own for name, column in self._by_session().items()}
        arrays |= {"tokens": self._tokens.own, "starts": self._starts.own}
        arrays |= {name: getattr(self._frozen, name) for name in ("offsets", "places", "counts")}
        names = {
            "refs": self.refs,
            "vocabulary": list(self.vocabulary),
            "names": {what: list(names) for what, names in self._names.items()},
            "people": self.people.dump(),
        }
        return arrays, names

    @classmethod
    def load(cls, arrays: dict[str, NDArray[Any]], names: dict[str, Any]) -> LexicalIndex:
        """Return the index that `dump` gave."""
        index = cls()
        index.refs = names["refs"]
        index.vocabulary = _numbered(names["vocabulary"])
        index._names = {what: _numbered(known) for what, known in names["names"].items()}
        index.people = People.load(names["people"])
        for name in index._columns:
            index._columns[name] = Column(arrays[f"column.{name}"], _neutral(name))
        index._session_size = Column(arrays["session.size"])
        index._session_length = Column(arrays["session.length"])
        index._session_last = Column(arrays["session.last"], -1)
        index._tokens, index._starts = Column(arrays["tokens"]), Column(arrays["starts"])
        index._frozen = _Postings(arrays["offsets"], arrays["places"], arrays["counts"])
        index._frozen_size = len(index.refs)
        alive = np.flatnonzero(index._columns["alive"].own)
        index.places = {index.refs[place]: int(place) for place in alive}
        return index

    def _by_session(self) -> dict[str, Column]:
        return {
            "size": self._session_size,
            "length": self._session_length,
            "last": self._session_last,
        }

    def _add_terms(self, place: int, terms: Sequence[str]) -> None:
        self._starts.append(self._tokens.size)
        times: dict[int, int] = {}
        for term in terms:
            number = self.vocabulary.setdefault(term, len(self.vocabulary))
            self._tokens.append(number)
            times[number] = times.get(number, 0) + 1
        for number, count in times.items():
            places, counts = self._rest.setdefault(number, ([], []))
            places.append(place)
            counts.append(count)

    def _add_place(self, place: int, document: Document, length: int) -> None:
        session = self._number("session", document.session or document.ref)
        if session == self._session_size.size:
            self._session_size.append(0)
            self._session_length.append(0)
            self._session_last.append(-1)
        before = int(self._session_last.own[session])
        if before >= 0:
            self._columns["next"][before] = place
        position = int(self._session_size.own[session])
        values = {"session": session, "previous": before, "next": -1, "place": position}
        for name, value in values.items():
            self._columns[name].append(value)
        self._session_size[session] = position + 1
        self._session_length[session] = float(self._session_length.own[session]) + length
        self._session_last[session] = place

    def _number(self, what: str, name: str) -> int:
        names = self._names[what]
        return names.setdefault(name, len(names))


@dataclass(frozen=True, slots=True)
class _Postings:
    """Posting lists of all terms, one behind the other."""

    offsets: NDArray[np.int64]
    places: Ints
    counts: Floats

    @classmethod
    def empty(cls) -> _Postings:
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))

    @classmethod
    def made(cls, tokens: Ints, lengths: NDArray[np.int64], terms: int) -> _Postings:
        """Sort the terms of all places into posting lists."""
        size = max(1, len(lengths))
        owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        keys, counts = np.unique(tokens.astype(np.int64) * size + owner, return_counts=True)
        offsets = np.searchsorted(keys // size, np.arange(terms + 1))
        return cls(offsets, (keys % size).astype(np.int32), counts.astype(np.float32))

    def of(self, term: int) -> tuple[Ints, Floats]:
        if term + 1 >= len(self.offsets):
            return self.places[:0], self.counts[:0]
        run = slice(self.offsets[term], self.offsets[term + 1])
        return self.places[run], self.counts[run]

    def count(self, term: int) -> int:
        if term + 1 >= len(self.offsets):
            return 0
        return int(self.offsets[term + 1] - self.offsets[term])


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _neutral(name: str) -> int:
    return _NEUTRAL.get(name, 0)


def _flags(document: Document) -> dict[str, bool]:
    text, person = document.text, document.speaker not in ("assistant", "tool")
    return {
        "first": bool(FIRST_PERSON.search(text)),
        "second": bool(SECOND_PERSON.search(text)),
        "instruction": person and bool(STANDING_INSTRUCTION.search(text)),
        "preference": person and bool(PREFERENCE.search(text)),
        "user": document.speaker == "user",
        **{name: bool(holds.search(text)) for name, (_, holds) in ANSWER_SHAPES.items()},
    }
