"""What of that which was shown came back in the answer.

A rough sign, and a cheap one. A word of an item's own is one that it has and the question has not.
When an answer says one, the item may have been of use; when it says two, or a name, a number or an
id, it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from ..conversation.record import READ, ContextRecord
from ..recall.outcome import ItemOutcome
from ..text.terms import content_terms
from ..values.messages import Message, message_text

_ITEMS = 60
"""Items that are looked at, spread over all of them."""
_QUESTIONS = 10
"""The latest messages of the person whose words are nobody's own: a conversation may be long."""
_ENOUGH = 2
"""Words of its own that have to come back, where none of them is a name or a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoes:
    """What an answer took up."""

    looked_at: int
    """Items of this turn's part that were looked at."""
    recurring: int
    """How many of them have a word of their own in the answer."""
    came_back: tuple[str, ...]
    """Refs of all that came back: of the turn's part, and of what opened the conversation."""


def echoes_in(
    record: ContextRecord, given: Sequence[Message], answer: Message | None
) -> Echoes | None:
    """Return what the answer took up; None when nothing is known of the items' words.

    So it is where the part was built by another process.
    """
    shown = [used for used in record.used if used.shown in ("full", "brief") and used.words]
    if answer is None or not shown:
        return None
    told = islice((one for one in reversed(given) if one["role"] == "user"), _QUESTIONS)
    asked = {term for message in told for term in _terms(_said(message))}
    text = _said(answer)
    said = set(_terms(text)) - asked
    looked_at = shown[:: -(-len(shown) // _ITEMS)]
    # What opens a conversation is the same at every answer: its build knows its terms.
    known: dict[tuple[str, str], frozenset[str]]
    known = {(build.kind, ref): own for build in record.builds for ref, own in build.terms.items()}
    own = {used.ref: said.intersection(_terms_of(used, known)) for used in looked_at}
    part = [used.ref for used in looked_at if used.block == "turn"]
    return Echoes(
        looked_at=len(part),
        recurring=sum(bool(own[ref]) for ref in part),
        came_back=tuple(
            used.ref for used in looked_at if used.ref in text or _is_enough(used, own[used.ref])
        ),
    )


def _terms_of(used: ItemOutcome, known: Mapping[tuple[str, str], frozenset[str]]) -> frozenset[str]:
    own = known.get((used.block, used.ref))
    return frozenset(content_terms(used.words[:READ])) if own is None else own


def _is_enough(used: ItemOutcome, back: set[str]) -> bool:
    if not back or len(back) >= _ENOUGH:
        return bool(back)
    _, *later = used.words[:READ].split() or [""]
    names = content_terms(" ".join(word for word in later if word[0].isupper()))
    return any(not term.isalpha() for term in back) or not back.isdisjoint(names)


def _said(message: Message) -> str:
    """Return the words of a message, and what it calls tools with."""
    called = message.get("tool_calls")
    return message_text(message) + (" " + json.dumps(called, default=str) if called else "")


def _terms(text: str) -> list[str]:
    return content_terms(text[: 4 * READ])
