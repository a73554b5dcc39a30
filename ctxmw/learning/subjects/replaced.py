"""Which memories a new statement takes the place of."""

from __future__ import annotations

from ...protocols import Find
from ...store.journal import Journal
from ...text.cleaning import words
from ...text.lexicon import STOP_WORDS
from ...values.records import Memory
from .subject import Subject, subject_of, takes_the_place

LOOKED_FOR, LOOKED_UP = 8, 40
"""Words by which memories on the same are looked up, and how many of them are compared."""
_PEOPLE = ("user", "conversation", "model")
"""Sources whose words are a person's own."""


def replaced_by(
    journal: Journal, user: str, scope: str, subject: Subject, said: str
) -> dict[str, str]:
    """Return the memories of a scope whose place a new statement takes, each with the reason."""
    asked = Find(types=(Memory.type,), scopes=(scope,), limit=LOOKED_UP)
    named = {word for word in words(said) if word not in STOP_WORDS}
    if not named:
        return {}
    # Long words are rare: looking for all of them would find everything.
    rare = sorted(named, key=lambda word: (-len(word), word))[:LOOKED_FOR]
    rows = [row for row, _ in journal.store.search(user, rare, asked)]
    if subject.key:
        rows += journal.store.query(user, Find(types=(Memory.type,), keys=(subject.key,)))
    found: dict[str, str] = {}
    for old in journal.read(rows, Memory):
        own = old.scope == scope and old.source in _PEOPLE and not old.superseded_by
        if own and (why := takes_the_place(subject, subject_of(old.text))):
            found[old.ref] = why
    return found
