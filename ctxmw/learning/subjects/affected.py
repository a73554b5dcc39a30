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
from .replacing import SURE, UNSURE, Told, gives_another_value, likelihood_of_replacing
from .subject import Subject, is_of_another, subject_of, takes_the_place
from .topics import may_be_otherwise

LOOKED_FOR, LOOKED_FOR_OF_ALL, LOOKED_UP = 8, 24, 40
"""Words of a statement, and of a message, by which memories on the same are looked up, and how many
of them are compared."""
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


def told_otherwise(
    journal: Journal, user: str, scope: str, told: Told, *, turn: str
) -> tuple[Memory | None, tuple[str, ...]]:
    """Return what a message as a whole replaces, and the memories that it may differ from.

    One message takes back one thing: the likeliest.
    """
    asked = Find(types=(Memory.type,), scopes=(scope,), limit=LOOKED_UP)
    said = {word for word in words(told.text) if stem(word) in told.terms}
    rare = sorted(said, key=lambda word: (stem(word) not in told.subject.names, -len(word), word))
    rows = [row for row, _ in journal.store.search(user, rare[:LOOKED_FOR_OF_ALL], asked)]
    judged = []
    for old in journal.read(rows, Memory):
        known = subject_of(old.text)
        apart = old.scope != scope or turn in old.derived_from or known.quotes
        if apart or old.source not in _PEOPLE or _is_of_another(told.subject, known):
            continue
        judged.append((likelihood_of_replacing(told, old.said or old.text), old))
    judged.sort(key=lambda one: (-one[0], one[1].ref))
    likely = [old for much, old in judged if much >= UNSURE and _may_be_given_up(told, old)]
    much = {old.ref: much for much, old in judged}
    first = likely[0] if likely and much[likely[0].ref] >= SURE else None
    return first, tuple(old.ref for old in likely if old is not first)


def _may_be_given_up(told: Told, old: Memory) -> bool:
    """Say whether a memory may go though no sentence names it: something must tell of a change.

    No allergy goes without a word of it, and a liking or a rule only where words say so.
    """
    new = told.subject
    if subject_of(old.text).is_medical:
        return new.clears
    says_so = new.changes or bool(new.given_up) or new.alters
    return says_so or (old.kind != "preference" and gives_another_value(told, old.text))


def _is_of_another(new: Subject, old: Subject) -> bool:
    """Say whether a message tells of somebody else, or of another case, than what is known."""
    other = is_of_another(new, old)
    if other or new.changes or new.given_up:
        return other
    return bool(new.tells.case and old.tells.case and not new.tells.case & old.tells.case)


def _may_differ(new: Subject, old: Subject) -> bool:
    """Say whether two statements may be about the same, though nothing tells of a change."""
    if may_differ(new.tells, old.tells):
        return True
    beside = new.tells.adds or new.tells.owner != old.tells.owner
    return not beside and may_be_otherwise(new.topics, old.topics)
