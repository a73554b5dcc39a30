"""What strangers said in a conversation, as it was kept: a caller's history may leave it out."""

from __future__ import annotations

from ..protocols import Find
from ..store.journal import Journal
from ..values.records import Turn
from .conversation import Identity

LAST, LOOKED_AT = 16, 200
"""Turns of a conversation that are looked at for taint, and for strangers' words."""


def follows_strangers(journal: Journal, who: Identity) -> bool:
    """Say whether strangers' words are among the last that were kept of a conversation.

    An answer after them is kept as tainted itself, so a few of the last tell it of all.
    """
    turns = _last_turns(journal, who, LAST)
    return any(_is_strange(turn) or turn.tainted for turn in turns if not turn.rejected)


def strangers_kept(journal: Journal, who: Identity) -> list[Turn]:
    """Return the turns of a conversation that are strangers', or that something came along with."""
    return [turn for turn in _last_turns(journal, who, LOOKED_AT) if _is_strange(turn)]


def _is_strange(turn: Turn) -> bool:
    return turn.trust == "untrusted" or bool(turn.brings)


def _last_turns(journal: Journal, who: Identity, most: int) -> list[Turn]:
    asked = Find(types=(Turn.type,), sessions=(who.session,), limit=most)
    return journal.read(journal.store.query(who.user, asked), Turn)
