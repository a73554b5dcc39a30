"""Finds the files and definitions that a message is about, in whatever words it says so.

Files are ranked by the words they hold, by those of their path, by the best definition in them, and
by the files they import or are imported by. Whether a message is about the code at all is asked
apart: small talk has words that some file holds, too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...text.terms import stem
from ...workspace.mentions import excerpt
from ..files import Definition
from .abbreviations import short_for
from .about import about_code
from .words import asked_terms, joined_terms, path_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index import ProjectCode
    from .columns import Columns

    Scores = NDArray[np.float64]

FILES = 10
"""Files that a search gives."""
_K, _B = 2.5, 0.5
"""How soon a word that is there often counts no more in a file, and how much long files pay."""
_OWN_K, _OWN_B = 2.0, 0.4
"""The same for a definition."""
_NAME, _FOLDER = 2.0, 0.8
"""What a word in a file's name counts, and in its folders."""
_BEST = 0.7
"""What the best definition of a file counts besides the file."""
_NEAR = 0.3
"""What the files count that it imports or that import it."""
_SIZE = 0.3
"""Of two files that fit alike, more is to be said about the longer."""
_PAST, _PAST_K = 0.75, 2.0
"""What a word counts in which a file was changed before, and how soon more of it counts no more."""
_ALIKE = 0.5
"""What a word counts that only begins like one of the message."""
_ASIDE = 0.4
"""What is left of the score of a test, an example and what was made, unless tests are asked for."""
_WORTH_READING = 3
"""Lines of a function that does more than call another one."""
_SHORT = 0.5
"""What a word counts that stands there in short."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a message may be about, with those of its definitions that are."""

    path: str
    score: float
    """1 for the best, less for the others."""
    definitions: tuple[tuple[Definition, float], ...]
    is_aside: bool = False
    """Whether it holds tests or examples, or was made of other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCode:
    """What a search in the code of a project found."""

    files: tuple[FoundFile, ...] = ()
    about: float = 0.0
    """How surely the message is about this code: above 0 it is."""


def search_code(code: ProjectCode, text: str, most: int = FILES) -> FoundCode:
    """Return the files a message is about, the best first, and how surely it is about any."""
    said = excerpt(text)
    view = code.columns
    asked = asked_terms(said)
    terms = _alike(view, asked) | joined_terms(said) | asked
    known = _known(view, terms)
    scores, own = _scores(view, terms, known, tests=asks_for_tests(said))
    best = _first(scores, most)
    if not len(best):
        return FoundCode(about=-math.inf)
    top = scores[best[0]]
    files = tuple(
        FoundFile(
            view.paths[file],
            float(scores[file] / top),
            _definitions(code, view, own, file),
            bool(view.aside[file]),
        )
        for file in best
    )
    held_by = {term: view.held(term)[0] for term in asked}
    return FoundCode(files=files, about=about_code(view, said, held_by))


def best_in_file(code: ProjectCode, path: str, text: str) -> Definition | None:
    """Return what in a file a message is about, besides the file's own name; None for nothing."""
    view = code.columns
    own_name, around = path_terms(path)
    asked = asked_terms(excerpt(text))
    terms = {term: worth for term, worth in asked.items() if term not in own_name | around}
    _, own = _scores(view, terms, _known(view, terms), tests=True)
    found = [
        one
        for one, _ in _definitions(code, view, own, view.paths.index(path))
        if one.entity.kind != "module"
    ]
    return first_to_read(found)


def first_to_read(found: Sequence[Definition]) -> Definition | None:
    """Return the first that has a body worth reading; a class is told by what is in it."""
    with_body = [one for one in found if one.entity.kind in ("function", "method")]
    long = (one for one in with_body if one.entity.end - one.entity.line >= _WORTH_READING)
    return next(long, next(iter(with_body or found), None))


def asks_for_tests(text: str) -> bool:
    """Say whether a message is about tests."""
    return any(stem(word.strip(".,;:!?`'\"()").lower()) == "test" for word in text.split()[:400])


def _alike(view: Columns, asked: Mapping[str, float]) -> dict[str, float]:
    """Return words of the project that stand for such as it does not have."""
    return {
        alike: _ALIKE * weight
        for term, weight in asked.items()
        if not len(view.held(term)[0])
        for alike in view.postings.beginning_alike(term)
    }


def _known(view: Columns, terms: Mapping[str, float]) -> dict[str, tuple[NDArray[np.intp], Scores]]:
    """Return where each of the words stands that the project has, also in short, and how often."""
    held = ((term, _held(view, term, terms)) for term in terms)
    return {term: found for term, found in held if len(found[0])}


def _held(view: Columns, term: str, asked: Collection[str]) -> tuple[NDArray[np.intp], Scores]:
    whole = view.held(term)
    shorts = [view.held(short) for short in short_for(term) if short not in asked]
    if not any(len(places) for places, _ in shorts):
        return whole
    found = [whole, *((places, _SHORT * often) for places, often in shorts)]
    places, at = np.unique(np.concatenate([one for one, _ in found]), return_inverse=True)
    counts = np.bincount(at, np.concatenate([often for _, often in found]))
    return places, counts.astype(np.float64)


def _scores(
    view: Columns,
    terms: Mapping[str, float],
    known: Mapping[str, tuple[NDArray[np.intp], Scores]],
    *,
    tests: bool,
) -> tuple[Scores, Scores]:
    """Return what each file scores, and what each definition does."""
    files, own = np.zeros(len(view.paths)), np.zeros(view.size)
    file_norm = view.file_norm(_B)
    for term, weight in terms.items():
        if term in known:
            places, often = known[term]
            at = view.file_of[places]
            counts = np.bincount(at, often, len(view.paths))
            worth = weight * _rarity(int(np.count_nonzero(counts)), len(view.paths))
            files += worth * _saturated(counts / file_norm, _K)
            own[places] += worth * _saturated(often / view.own_norm(_OWN_B, places), _OWN_K)
        told, times = view.told(term)
        if len(told):
            worth = weight * _rarity(len(told), len(view.paths))
            files[told] += _PAST * worth * _saturated(times, _PAST_K)
        for found, counted in ((view.named.get(term), _NAME), (view.inside.get(term), _FOLDER)):
            if found is not None:
                held = len(view.named.get(term, ())) + len(view.inside.get(term, ()))
                files[found] += weight * counted * _rarity(held, len(view.paths))
    best = np.zeros(len(view.paths))
    np.maximum.at(best, view.file_of_alive, own[view.alive])
    files += _BEST * best
    files += _NEAR * view.spread(files)
    files[files > 0] += _SIZE * np.log1p(view.lines[files > 0])
    if not tests:
        files[view.aside] *= _ASIDE
    return files, own


def _saturated(counts: Scores, k: float) -> Scores:
    return counts * (k + 1) / (counts + k)


def _rarity(held: int, of: int) -> float:
    return math.log(1 + (of - held + 0.5) / (held + 0.5))


def _first(scores: Scores, most: int) -> NDArray[np.intp]:
    order = np.argsort(-scores, kind="stable")[:most]
    return order[scores[order] > 0]


def _definitions(
    code: ProjectCode, view: Columns, own: Scores, file: int
) -> tuple[tuple[Definition, float], ...]:
    """Return what in a file fits best; a module is all that is in no definition."""
    places = code.places_in(view.paths[file])
    ranked = sorted(places, key=lambda place: -own[place])
    return tuple(
        (one, float(own[place]))
        for place in ranked[:_DEFINITIONS]
        if own[place] > 0 and (one := code.at(place)) is not None
    )


_DEFINITIONS = 8
