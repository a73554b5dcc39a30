"""Which records say almost the same as a text, by the words they share."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from ..lexical.columns import distinct
from ..lexical.index import Bools, Ints, LexicalIndex


def shared(one: Collection[str], other: Collection[str]) -> float:
    """Return the share of their terms, taken together, that two texts have in common."""
    mine, theirs = set(one), set(other)
    return len(mine & theirs) / len(mine | theirs)


def alike(
    index: LexicalIndex, terms: Collection[str], least: float, *, kind: str, scope: str
) -> dict[str, float]:
    """Return the records of a type and scope that share so much with these terms, by ref."""
    asked = set(terms)
    numbers = index.term_ids(asked)
    places = _holding(index, numbers, len(asked), least)
    places = places[_fits(index, places, kind, scope)]
    if not len(places):
        return {}
    held, owner = index.token_runs(places)
    owners, terms_held = np.divmod(
        distinct(owner.astype(np.int64) * len(index.vocabulary) + held), len(index.vocabulary)
    )
    is_asked = np.zeros(len(index.vocabulary), bool)
    is_asked[numbers] = True
    sizes = np.bincount(owners, minlength=len(places))
    common = np.bincount(owners[is_asked[terms_held]], minlength=len(places))
    shares = common / (sizes + len(asked) - common)
    near = np.flatnonzero(shares >= least)
    found = zip(places[near].tolist(), shares[near].tolist(), strict=True)
    return {index.ref(place): share for place, share in found}


def _holding(index: LexicalIndex, numbers: list[int], size: int, least: float) -> Ints:
    """Return the places that can be near: those that hold one of the rarest terms.

    Whoever shares `least` of a text's terms can miss only the rest, so it holds at least one of
    any that are more than the rest; terms that do not occur are the rarest.
    """
    more_than_the_rest = size - math.ceil(least * size) + 1
    lists = sorted((places for places, _ in index.postings(numbers)), key=len)
    rarest = lists[: max(0, more_than_the_rest - (size - len(numbers)))]
    return distinct(np.concatenate([np.zeros(0, np.int32), *rarest]))


def _fits(index: LexicalIndex, places: Ints, kind: str, scope: str) -> Bools:
    fits: Bools = index.columns["alive"].all[places] > 0
    for what, name in (("type", kind), ("scope", scope)):
        fits &= index.columns[what].all[places] == index.numbers(what, [name])
    return fits
