"""A copy of an index without what is gone: words that were forgotten are not kept again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.packing import found_under, under
from ...text.lexicon import STOP_WORDS
from ...text.terms import stem
from .columns import distinct
from .postings import Frozen
from .strings import RowNumbers, StringTable, only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Whole = NDArray[np.integer[Any]]


def purged(arrays: Arrays, about: Mapping[str, Any]) -> tuple[Arrays, dict[str, Any]]:
    """Return what an index dumps, as if only the records that are left had ever been there."""
    columns = {name: each[:-1] for name, each in found_under("column", arrays).items()}
    ends = {name: each[-1:] for name, each in found_under("column", arrays).items()}
    alive = columns["alive"] > 0
    left = np.flatnonzero(alive)
    tokens = arrays["tokens"][np.repeat(alive, columns["length"].astype(np.int64))]
    moved = np.append(np.cumsum(alive) - 1, -1)
    columns = {name: each[left] for name, each in columns.items()}
    for side in ("previous", "next"):
        columns[side] = moved[columns[side]]
    kept: Arrays = {}
    for what in ("type", "scope", "session"):
        names, columns[what] = _used(found_under(f"names.{what}", arrays), columns[what])
        kept |= under(f"names.{what}", names)
    vocabulary, tokens = _used(found_under("vocabulary", arrays), tokens)
    words = set(StringTable.of(vocabulary))
    people, columns["speaker"] = _heard(about["people"], columns["speaker"], words)
    columns["place"] = _positions(columns["session"])
    lengths = columns["length"].astype(np.int64)
    frozen = Frozen.made(tokens.astype(np.int32), lengths, len(words))
    kept |= under("frozen", {name: getattr(frozen, name) for name in Frozen.__slots__})
    kept |= under("vocabulary", vocabulary)
    kept |= under("places", RowNumbers.of(found_under("places", arrays)).only(left).arrays())
    kept |= under("session", _sessions(columns["session"], columns["length"]))
    kept |= under("column", {name: _ended(each, ends[name]) for name, each in columns.items()})
    kept["tokens"] = tokens.astype(np.int32)
    return kept, {**about, "people": people}


def _ended(values: NDArray[Any], neutral: NDArray[Any]) -> NDArray[Any]:
    """Return the values as a column keeps them: in its type, with the neutral one behind them."""
    return np.concatenate([values.astype(neutral.dtype), neutral])


def _used(arrays: Arrays, numbers: Whole) -> tuple[Arrays, Whole]:
    """Return the names that these are numbers of, without the others, and the new numbers."""
    is_used = np.zeros(len(arrays["ends"]) + 1, bool)
    is_used[numbers] = True
    is_used[-1] = False
    anew = np.where(is_used, np.cumsum(is_used) - 1, -1)
    return only(arrays, np.flatnonzero(is_used)), anew[numbers]


def _heard(
    people: Mapping[str, Any], speakers: Whole, words: Collection[str]
) -> tuple[dict[str, Any], Whole]:
    """Return who speaks in what is left, and which names occur there."""
    used = distinct(speakers)
    names = [people["speakers"][number] for number in used.tolist()]
    tallies = {
        table: {
            name: left
            for name, by in people[table].items()
            if (left := {who: times for who, times in by.items() if who in names})
            and (stem(name) in words or name in STOP_WORDS)
        }
        for table in ("called", "said")
    }
    return {**people, "speakers": names, **tallies}, np.searchsorted(used, speakers)


def _positions(sessions: Whole) -> Whole:
    """Return how many of the same session stand before each."""
    positions = np.zeros(len(sessions), np.int64)
    said = np.flatnonzero(sessions >= 0)
    order = said[np.argsort(sessions[said], kind="stable")]
    sizes = np.bincount(sessions[said])
    positions[order] = np.arange(len(said)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return positions


def _sessions(sessions: Whole, lengths: NDArray[Any]) -> Arrays:
    said = np.flatnonzero(sessions >= 0)
    sizes = np.bincount(sessions[said])
    last = np.full(len(sizes), -1, np.int32)
    np.maximum.at(last, sessions[said], said.astype(np.int32))
    terms = np.bincount(sessions[said], weights=lengths[said])
    return {
        "size": np.append(sizes, 1).astype(np.int32),
        "length": np.append(terms, 0).astype(np.float32),
        "last": np.append(last, np.int32(-1)),
    }
