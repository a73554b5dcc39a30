"""Which rows of an index a filter allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...values.items import Scope
from ...values.situation import Situation
from ..filter import SEARCHED, Filter
from ..lexical.index import Bools, LexicalIndex


def rows_allowed(index: LexicalIndex, situation: Situation, wanted: Filter) -> Bools:
    """Say of every place whether it may be found."""
    found: Bools = index.column("alive")[:-1] > 0
    if wanted.types != SEARCHED:
        found &= _one_of(index, "type", wanted.types)
    scopes = _scopes(situation) if wanted.scopes is None else wanted.scopes
    if scopes:
        found &= _one_of(index, "scope", scopes)
    if wanted.since is not None:
        found &= index.column("day")[:-1] >= wanted.since.toordinal()
    if wanted.own is not None:
        session, sent = wanted.own
        number = index.number("session", session)
        own = (found & (index.column("session")[:-1] == number)).nonzero()[0]
        if number >= 0 and len(own) <= sent:
            found[own] = False
    found[index.places(wanted.without)] = False
    return found


def _one_of(index: LexicalIndex, what: str, names: Sequence[str]) -> Bools:
    column = index.column(what)[:-1]
    found = np.zeros(len(column), bool)
    for name in names:
        found |= column == index.number(what, name)
    return found


def _scopes(situation: Situation) -> tuple[str, ...]:
    scopes = [Scope()]
    if situation.project:
        scopes.append(Scope("project", situation.project))
    if situation.language:
        scopes.append(Scope("language", situation.language))
    return tuple(map(str, scopes))
