"""The words of one user's records, in memory: postings, neighbours, speakers, times.

Records are added in the order in which they were written. Everything here can be made again from
the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.packing import Unpacked, found_under, under
from .columns import Column, Grown, runs, small
from .people import People
from .postings import Frozen, Postings, Vocabulary
from .purge import purged
from .strings import RowNumbers, StringTable
from .traits import TRAITS, Speech, traits

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

_KINDS = {
    **dict.fromkeys(("session", "speaker", "previous", "next", "type", "scope"), "i4"),
    **dict.fromkeys(("day", "month", "year"), "i4"),
    **dict.fromkeys(("length", "cost", "place"), "f4"),
    "until": "f8",
    **dict.fromkeys(("alive", *TRAITS), "u1"),
}
_BY_SESSION = {"size": "i4", "length": "f4", "last": "i4"}
_NEUTRAL: dict[str, float] = {"session": -1, "speaker": -1, "previous": -1, "next": -1, "cost": 1}
_NEUTRAL |= {"until": math.inf}
_NEUTRAL |= {"size": 1, "last": -1}
_NAMED = ("type", "scope", "session")
_FROZEN = ("offsets", "places", "counts")
_CHARS_PER_TOKEN = 4.2
_SMALLEST_REST = 64


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
    words: Sequence[str]
    """The search words of the text, in order."""
    at: datetime
    until: datetime | None = None
    """When it runs out; None: never."""


class LexicalIndex:
    """Everything the lexical leg of search needs to know of one user's records."""

    def __init__(self) -> None:
        self.people = People()
        self.vocabulary = Vocabulary()
        self.terms_in_all = 0
        """How many terms all records have together."""
        self._names = {what: StringTable() for what in _NAMED}
        self.columns = {name: _column(name, kind) for name, kind in _KINDS.items()}
        """What is known of every place, and behind them of "no such record"."""
        self._by_session = {name: _column(name, kind) for name, kind in _BY_SESSION.items()}
        self._places = RowNumbers()
        self._tokens = Grown()
        self._starts = Column("i8")
        self._postings = Postings()
        self._pending: list[list[int]] = []
        """Terms of the last records, which no posting list has yet."""

    def __len__(self) -> int:
        return self.columns["alive"].size

    @property
    def dead(self) -> int:
        """How many places hold a record that is gone."""
        return self._places.dead

    def ref(self, place: int) -> str:
        """Return the ref of the record at a place."""
        return self._places.ref(place)

    def refs(self, places: Ints) -> list[str]:
        """Return the refs of the records at these places."""
        return self._places.refs(places)

    def place(self, ref: str) -> int:
        """Return where the live record of a ref stands; -1 when there is none."""
        return self._places.find(ref)

    def places(self, refs: Iterable[str]) -> Ints:
        """Return where the live record of each ref stands; -1 when there is none."""
        return self._places.find_all(refs)

    def add(self, documents: Sequence[Document]) -> None:
        """Take in records of different refs; those that were here under a ref are taken out."""
        for document in documents:
            self.remove(document.ref)
        first = len(self)
        terms = [self.vocabulary.take_in(document.words) for document in documents]
        self._add_terms(terms)
        self._add_places(first, documents, terms)
        self._places.add([d.ref for d in documents])
        columns: dict[str, Sequence[float]] = {
            "speaker": [self.people.hear(d.speaker, d.text) for d in documents],
            "type": [self._number("type", d.type) for d in documents],
            "scope": [self._number("scope", d.scope) for d in documents],
            "day": [d.at.toordinal() for d in documents],
            "month": [d.at.month for d in documents],
            "year": [d.at.year for d in documents],
            "length": [len(held) for held in terms],
            "cost": [4 + len(d.text) / _CHARS_PER_TOKEN for d in documents],
            "until": [d.until.timestamp() if d.until else math.inf for d in documents],
            "alive": [1] * len(documents),
            **traits([Speech(d.speaker, d.text, frozenset(d.words)) for d in documents]),
        }
        for name, values in columns.items():
            self.columns[name].extend(values)

    def remove(self, ref: str) -> None:
        """Let go of a record; its neighbours become each other's."""
        place = self._places.remove(ref)
        if place < 0:
            return
        before, after = (int(self.columns[side].own[place]) for side in ("previous", "next"))
        if before >= 0:
            self.columns["next"][before] = after
        if after >= 0:
            self.columns["previous"][after] = before
        session = int(self.columns["session"].own[place])
        if session >= 0 and self._by_session["last"].own[session] == place:
            self._by_session["last"][session] = before
        self.columns["alive"][place] = 0

    def numbers(self, what: str, names: Iterable[str]) -> list[int]:
        """Return the numbers of types, scopes or sessions; -1 when there is none of a name."""
        return [self._names[what].find(name) for name in names]

    def term_ids(self, terms: Iterable[str]) -> list[int]:
        """Return the numbers of those terms that occur."""
        return list(self.vocabulary.known(terms).values())

    def postings(self, terms: Iterable[int]) -> list[tuple[Ints, Floats]]:
        """Return, for each term, the places that hold it, and how often each does."""
        if self._pending:
            self._settle()
        return [self._postings.of(term) for term in terms]

    def session_sizes(self) -> tuple[Ints, Floats]:
        """Return how many records and how many terms each session has; last, "no session"."""
        return self._by_session["size"].all, self._by_session["length"].all

    def token_runs(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the terms of these places, and for each which of the places it belongs to."""
        starts = self._starts.all[places]
        lengths = self.columns["length"].all[places].astype(np.int64)
        owner = np.repeat(np.arange(len(places), dtype=np.int32), lengths)
        return self._tokens.take(runs(starts, lengths)), owner

    def freeze(self) -> None:
        """Merge all there is into the frozen posting lists."""
        lengths = self.columns["length"].own[self._postings.size :].astype(np.int64)
        tokens = self._tokens.last(int(lengths.sum()))
        self._postings.freeze(tokens, lengths, len(self.vocabulary))
        self._pending = []
        self.vocabulary.settle()
        self._places.settle()
        for names in self._names.values():
            names.settle()

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the index as arrays, and what JSON can keep; without anything that is gone."""
        self.freeze()
        frozen = self._postings.frozen
        arrays = under("column", {name: column.all for name, column in self.columns.items()})
        arrays |= under("session", {name: each.all for name, each in self._by_session.items()})
        arrays |= under("places", self._places.arrays())
        arrays |= {"tokens": self._tokens.all()}
        arrays |= under("frozen", {name: getattr(frozen, name) for name in _FROZEN})
        arrays |= under("vocabulary", self.vocabulary.names.arrays())
        for what, names in self._names.items():
            arrays |= under(f"names.{what}", names.arrays())
        about = {"people": self.people.dump()}
        arrays, about = purged(arrays, about) if self.dead else (arrays, about)
        grow = ("column.", "session.", "tokens")
        return {
            name: small(array) if name.startswith(grow) else array for name, array in arrays.items()
        }, about

    @classmethod
    def load(cls, kept: Unpacked) -> LexicalIndex:
        """Return the index that `dump` gave."""
        index = cls()
        about, arrays, whole = kept
        for what in _NAMED:
            index._names[what] = StringTable.of(found_under(f"names.{what}", arrays))
        index.vocabulary = Vocabulary(StringTable.of(found_under("vocabulary", arrays)))
        index.people = People.load(about["people"])
        for name, kind in _KINDS.items():
            index.columns[name] = _kept_column(kept, "column", name, kind)
        for name, kind in _BY_SESSION.items():
            index._by_session[name] = _kept_column(kept, "session", name, kind)
        index._places = RowNumbers.of(found_under("places", arrays), found_under("places", whole))
        index._tokens = Grown(arrays["tokens"])
        lengths = index.columns["length"].all.astype(np.int64)
        index._starts = Column.over(np.cumsum(lengths) - lengths, "i8")
        frozen = Frozen(*(arrays[f"frozen.{name}"] for name in _FROZEN))
        index._postings = Postings(frozen, len(index))
        index.terms_in_all = len(index._tokens)
        return index

    def _add_terms(self, terms: list[list[int]]) -> None:
        lengths = np.array([len(held) for held in terms], np.int64)
        self._starts.extend(len(self._tokens) + np.cumsum(lengths) - lengths)
        self._tokens.extend(np.fromiter(chain.from_iterable(terms), np.int32, lengths.sum()))
        self.terms_in_all = len(self._tokens)
        self._pending += terms

    def _settle(self) -> None:
        """Give the last records to the posting lists."""
        rest = len(self) - self._postings.size
        if rest > max(_SMALLEST_REST, self._postings.size // 8):
            self.freeze()
            return
        for place, held in enumerate(self._pending, len(self) - len(self._pending)):
            self._postings.add(place, held)
        self._pending = []

    def _add_places(
        self, first: int, documents: Sequence[Document], terms: Sequence[Sequence[int]]
    ) -> None:
        """Put records behind the last of their sessions."""
        numbers = [self._number("session", d.session) if d.session else -1 for d in documents]
        size, length, last = (self._by_session[name] for name in _BY_SESSION)
        for column, value in ((size, 0), (length, 0), (last, -1)):
            column.extend([value] * (len(self._names["session"]) - column.size))
        # Numbers of numpy are slow one by one: those of the sessions at hand are taken out.
        touched = list(dict.fromkeys(number for number in numbers if number >= 0))
        sizes, lengths, lasts = (
            dict(zip(touched, column.own[touched].tolist(), strict=True))
            for column in (size, length, last)
        )
        before, position = [], []
        for place, (session, held) in enumerate(zip(numbers, terms, strict=True), first):
            before.append(lasts.get(session, -1))
            position.append(sizes.get(session, 0))
            if session >= 0:
                lasts[session] = place
                sizes[session] += 1
                lengths[session] += len(held)
        for column, known in ((size, sizes), (length, lengths), (last, lasts)):
            column[touched] = list(known.values())
        following = self.columns["next"]
        following.extend([-1] * len(documents))
        linked = [
            (previous, place) for place, previous in enumerate(before, first) if previous >= 0
        ]
        for previous, place in linked:
            following[previous] = place
        for name, values in (("session", numbers), ("previous", before), ("place", position)):
            self.columns[name].extend(values)

    def _number(self, what: str, name: str) -> int:
        return self._names[what].add(name)


def _column(name: str, kind: str) -> Column:
    return Column(kind, _NEUTRAL.get(name, 0))


def _kept_column(kept: Unpacked, of: str, name: str, kind: str) -> Column:
    array, whole = (arrays[f"{of}.{name}"] for arrays in (kept.arrays, kept.whole))
    return Column.over(array, kind, _NEUTRAL.get(name, 0), whole=whole)
