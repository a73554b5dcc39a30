"""What is known and has to do with a new statement: replaced by it, or perhaps no longer so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...protocols import Find
from ...store.journal import Journal
from ...text.cleaning import words
from ...text.lexicon import STOP_WORDS
from ...text.terms import stem
from ...values.records import Memory
from .attributes import may_differ, words_to_look_up
from .subject import Subject, subject_of, takes_the_place
from .topics import may_be_otherwise

LOOKED_FOR, LOOKED_UP = 8, 40
"""Words by which memories on the same are looked up, and how many of them are compared."""
_PEOPLE = ("user", "conversation", "model")
"""Sources whose words are a person's own."""


@dataclass(frozen=True, slots=True)
class Affected:
    """What is known and has to do with a new statement."""

    replaced: Mapping[str, str]
    """Memories whose place it takes, each with the reason."""
    unsure: tuple[str, ...] = ()
    """Memories that may say something else of the same: the later one is told apart by its day."""


def affected_by(
    journal: Journal, user: str, scope: str, subject: Subject, said: str, *, turn: str = ""
) -> Affected:
    """Return the memories of a scope that a new statement replaces, or may differ from.

    What the same sentence of the same turn says holds beside it: "I live in Bergen and work in
    Oslo."
    """
    asked = Find(types=(Memory.type,), scopes=(scope,), limit=LOOKED_UP)
    named = {word for word in words(said) if word not in STOP_WORDS}
    if not named:
        return Affected({})
    # Long words are rare: looking for all of them would find everything. What is given up, and
    # names, are looked for in any case.
    first = subject.given_up | subject.names
    rare = sorted(named, key=lambda word: (stem(word) not in first, -len(word), word))[:LOOKED_FOR]
    rows = [row for row, _ in journal.store.search(user, rare, asked)]
    spoken_of = sorted({noun for topic in subject.topics for noun in topic.nouns})
    if of_kinds := [*spoken_of, *words_to_look_up(subject.tells)]:
        rows += [row for row, _ in journal.store.search(user, of_kinds, asked)]
    if subject.key:
        rows += journal.store.query(user, Find(types=(Memory.type,), keys=(subject.key,)))
    found: dict[str, str] = {}
    unsure: list[str] = []
    for old in journal.read({row.ref: row for row in rows}.values(), Memory):
        if old.scope != scope or old.source not in _PEOPLE or old.superseded_by:
            continue
        if turn in old.derived_from and old.text.rstrip(".").casefold() in said.casefold():
            continue
        known = subject_of(old.text)
        if why := takes_the_place(subject, known):
            found[old.ref] = why
        elif _may_differ(subject, known):
            unsure.append(old.ref)
    return Affected(found, tuple(unsure))


def _may_differ(new: Subject, old: Subject) -> bool:
    """Say whether two statements may be about the same, though nothing tells of a change."""
    if may_differ(new.tells, old.tells):
        return True
    beside = new.tells.adds or new.tells.owner != old.tells.owner
    return not beside and may_be_otherwise(new.topics, old.topics)
