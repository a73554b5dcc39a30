"""Turns and summaries that say what no longer holds: the sentence is marked.

A turn is not recalled as it was, and a summary tells it.

The turn keeps its words. What answered it may repeat them: a sentence of the same conversation that
gives the same quoted values, or nearly all of the same words, is marked as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..protocols import Find, Store
from ..text.terms import content_terms, stems
from ..values.records import Memory, SessionSummary, Turn, load_all

NO_LONGER = "(no longer so)"
"""What stands behind a sentence of a summary that something else took the place of."""

REPEATED = 0.75
"""The share of a statement's words that another sentence has when it says the same."""
SAYS_MORE = 2
"""Words with which a sentence says other things beside what no longer holds."""
AFTER, BEFORE = 1_000, 100
"""Turns of a conversation that are looked at, after a statement was made and before it."""
_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s|$)[^\n.!?]*)*[.!?]?[\"')\]]*")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,60})'(?!\w)|\"([^\"\n]{1,60})\"|`([^`\n]{1,60})`")


def outdated_turns(store: Store, user: str, replaced: Iterable[Memory]) -> list[Turn]:
    """Return the turns that said what was replaced, with those sentences marked as outdated."""
    marked: dict[str, Turn] = {}
    for memory in replaced:
        if not memory.derived_from:
            continue
        for stored in _saying(store, user, memory):
            turn = marked.get(stored.ref, stored)
            said = [one for one in _sentences(turn.text) if _says(one, memory)]
            found = [_just_what_says_it(one, memory) for one in said]
            new = tuple(one for one in found if one not in turn.outdated)
            if new:
                update = {"outdated": (*turn.outdated, *new)}
                marked[turn.ref] = turn.model_copy(update=update)
    return list(marked.values())


def outdated_summaries(store: Store, user: str, replaced: Iterable[Memory]) -> list[SessionSummary]:
    """Return the summaries that say what was replaced, with a word on it behind those sentences."""
    marked: dict[str, SessionSummary] = {}
    for memory in replaced:
        sources = [
            row for row in store.get(user, list(memory.derived_from)) if row.type == Turn.type
        ]
        sessions = tuple(sorted({row.session for row in sources}))
        if not sessions:
            continue
        asked = Find(types=(SessionSummary.type,), sessions=sessions)
        for stored in load_all(store.query(user, asked), SessionSummary):
            summary = marked.get(stored.ref, stored)
            said = [one for one in _sentences(summary.text) if _says(one, memory)]
            new = [one for one in said if f"{one} {NO_LONGER}" not in summary.text]
            if not new:
                continue
            text = summary.text
            for one in new:
                text = text.replace(one, f"{one} {NO_LONGER}", 1)
            marked[stored.ref] = summary.model_copy(update={"text": text})
    return list(marked.values())


def _saying(store: Store, user: str, memory: Memory) -> Sequence[Turn]:
    """Return the turns it was learned from, and those around them that may repeat it."""
    rows = [row for row in store.get(user, list(memory.derived_from)) if row.type == Turn.type]
    sessions = tuple({row.session for row in rows})
    if not sessions:
        return []
    first = min(row.at for row in rows)
    asked = Find(types=(Turn.type,), sessions=sessions)
    after = replace(asked, since=first, newest_first=False, limit=AFTER)
    around = [
        *store.query(user, after),
        *store.query(user, replace(asked, until=first, limit=BEFORE)),
    ]
    wanted = _wanted(memory)
    # A long conversation has many turns, and next to none of them repeats it.
    rows += [row for row in around if _may_say(row.search_text, wanted)]
    return load_all({row.ref: row for row in rows}.values(), Turn)


def _wanted(memory: Memory) -> frozenset[str]:
    """Return stems of what a sentence must have for it to say what the memory does."""
    values = _values(memory.text)
    said = " ".join(values) if values else memory.said or memory.text
    return frozenset(content_terms(said))


def _may_say(search_text: str, wanted: frozenset[str]) -> bool:
    # What is found by its ref alone has no words to look at.
    held = stems(search_text.split())
    return not search_text or len(wanted.intersection(held)) >= REPEATED * len(wanted)


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        if sentence := found[0].strip():
            yield sentence


def _says(sentence: str, memory: Memory) -> bool:
    """Say whether a sentence states what the memory does."""
    values = _values(memory.text)
    if values:
        return values <= _values(sentence)
    wanted = _wanted(memory)
    return bool(wanted) and len(wanted & set(content_terms(sentence))) >= REPEATED * len(wanted)


def _just_what_says_it(sentence: str, memory: Memory) -> str:
    """Return the words of a sentence that the memory repeats, where it says other things too."""
    told = (memory.said or memory.text).rstrip(" .!?")
    start = sentence.casefold().find(told.casefold())
    part = sentence[start : start + len(told)]
    if start < 0 or part.casefold() != told.casefold():
        return sentence
    others = content_terms(f"{sentence[:start]} {sentence[start + len(told) :]}")
    return part if len(others) >= SAYS_MORE else sentence


def _values(sentence: str) -> set[str]:
    return {value for found in _QUOTED.finditer(sentence) for value in found.groups() if value}
