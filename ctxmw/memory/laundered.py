"""Copies of strangers' words under other names: what an assistant had from a tool or a document.

Whoever forgets a source wants its words gone, also where an assistant repeated them or put them in
words of its own. What merely was said after them, and is about something else, stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from ..protocols import Find
from ..store.journal import Journal
from ..text.terms import repeats
from ..values.records import Derived, Observation, SessionSummary, Turn

FORGOTTEN = "[forgotten]"
"""Stands in a turn for the sentence that was forgotten."""


def brought_along(journal: Journal, user: str, source: str) -> list[Turn]:
    """Return the turns that words of this source came along with, which are no turns themselves."""
    rows = journal.store.query(user, Find(types=(Turn.type,)))
    turns = journal.read([row for row in rows if _BRINGS in row.body], Turn)
    return [turn for turn in turns if source in turn.brings]


_BRINGS = '"brings":["'


def laundered(
    journal: Journal,
    user: str,
    derived: Iterable[Derived],
    gone: Sequence[Turn],
    along: Sequence[Turn] = (),
) -> set[str]:
    """Return what was had from strangers' turns that are forgotten: notes, memories, observations.

    An observation of a tool's calls goes with the last of its outputs. What came `along` with turns
    was not kept: all goes that was learned from them, but for what the person said.
    """
    words = {turn.ref: turn.says() for turn in gone}
    known = {turn.ref for turn in along}
    copies = set()
    for one in derived:
        if one.trust == "untrusted" and not known.isdisjoint(one.derived_from):
            copies.add(one.ref)
            continue
        lost = words.keys() & set(one.derived_from)
        if not lost or isinstance(one, SessionSummary):
            continue
        if isinstance(one, Observation):
            left = [ref for ref in one.derived_from if ref not in lost]
            is_copy = not _has_output(journal, user, left)
        else:
            is_copy = any(repeats(one.says(), words[ref]) for ref in lost)
        if is_copy:
            copies.add(one.ref)
    return copies


def _has_output(journal: Journal, user: str, refs: Sequence[str]) -> bool:
    rows = [row for row in journal.store.get(user, refs) if row.type == Turn.type]
    return any(turn.role == "tool" for turn in journal.read(rows, Turn))


def answers_without(
    journal: Journal,
    user: str,
    gone: Sequence[Turn],
    forgotten: Collection[str],
    scrubbed: Sequence[Turn],
) -> list[Turn]:
    """Return turns as they stay, and answers that repeat strangers' turns which are forgotten.

    Of these the sentences that do are left out; of an answer that strangers' words came along
    with, all of it.
    """
    changed = {turn.ref: turn for turn in scrubbed}
    for turn in gone:
        if turn.brings and turn.role == "assistant" and turn.ref not in forgotten:
            update = {"text": FORGOTTEN, "redacted": turn.redacted + 1}
            changed[turn.ref] = turn.model_copy(update=update)
    for session in sorted({turn.session for turn in gone}):
        asked = Find(types=("turn",), sessions=(session,))
        turns = journal.read(journal.store.query(user, asked), Turn)
        own = [turn for turn in gone if turn.session == session]
        first, words = min(turn.sequence for turn in own), "\n".join(turn.says() for turn in own)
        answers = [turn for turn in turns if turn.role == "assistant" and turn.sequence > first]
        for turn in (changed.get(turn.ref, turn) for turn in answers if turn.ref not in forgotten):
            text = _without_copies(turn.text, words)
            if text != turn.text:
                update = {"text": text, "redacted": turn.redacted + 1}
                changed[turn.ref] = turn.model_copy(update=update)
    return list(changed.values())


def _without_copies(text: str, words: str) -> str:
    return _SENTENCE.sub(lambda said: FORGOTTEN if repeats(said[0], words) else said[0], text)


_SENTENCE = re.compile(r"\S(?:[^.!?\n]|[.!?](?=\S))*[.!?]*")
