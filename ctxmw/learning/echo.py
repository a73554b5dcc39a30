"""Whether what was shown was of use: its own words come back in the answer.

A rough sign, and a cheap one: a word counts that an item has, the question has not, and the answer
says.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.record import ContextRecord
from ..text.terms import content_terms
from ..values.messages import Message, message_text


def recurring(
    record: ContextRecord, given: Sequence[Message], answer: Message
) -> tuple[int, int] | None:
    """Return how many items of this turn's part were looked at, and how many the answer echoes.

    None when nothing is known of their words: the part was built by another process.
    """
    shown = [
        used
        for build in record.builds
        for used in build.used
        if build.kind == "turn" and used.shown in ("full", "brief") and used.words
    ]
    if not shown:
        return None
    asked = {term for message in given if message["role"] == "user" for term in _terms(message)}
    said = set(_terms(answer)) - asked
    looked_at = shown[:: -(-len(shown) // _ITEMS)]
    echoed = sum(not said.isdisjoint(content_terms(used.words[:_READ])) for used in looked_at)
    return len(looked_at), echoed


_ITEMS = 12
"""Items that are looked at, spread over all of them."""
_READ = 2_000
"""Characters of a text that are looked at."""


def _terms(message: Message) -> list[str]:
    return content_terms(message_text(message)[: 4 * _READ])
