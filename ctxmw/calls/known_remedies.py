"""What is known to help when something fails: looked up by the failure, without a model.

The failure is what a tool of the turn has just answered, or what the person reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..protocols import Find
from ..store.journal import Journal
from ..text.failures import failure_in, failure_key, failures_named
from ..values.items import Item
from ..values.messages import Message, message_text
from ..values.record_items import record_item
from ..values.records import Observation
from ..values.situation import Situation, Weights, score_all, with_match

MOST = 3
"""Remedies that are shown at once."""


def known_remedies(
    journal: Journal, situation: Situation, weights: Weights, messages: Sequence[Message]
) -> list[Item]:
    """Return what helped when the failures in a turn's messages happened before, newest first."""
    keys = dict.fromkeys(map(failure_key, _failures(messages)))
    if not keys:
        return []
    asked = Find(types=(Observation.type,), digests=tuple(keys))
    found = journal.read(journal.store.query(situation.user, asked), Observation)
    newest = {(one.fails, one.title): one for one in reversed(found)}
    items = [record_item(one) for one in reversed(newest.values())]
    return [with_match(item, 1.0) for item in score_all(items, situation, weights)][:MOST]


def _failures(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the lines that name failures: the person's words, then what tools answered."""
    for message in messages:
        text = message_text(message)
        if message["role"] == "user":
            yield from failures_named(text)
        elif message["role"] == "tool":
            line = failure_in(text, failed=message.get("status") == "error")
            yield from [line] if line else []
