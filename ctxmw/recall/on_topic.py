"""What people told about a field of life comes where that field is spoken of, and not before.

Ten preferences in food are of use in a question about dinner, though none has a word in common with
it, and of none in one about code. A few stand in the stable block all the same; what is sensitive
(health, faith, sexuality) never does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..search.filter import Filter
from ..text.terms import content_terms
from ..text.topics import directed, nearness, topic_weights, topics_of
from ..values.items import Item, is_heard
from ..values.records import Memory
from ..values.situation import Rating, Situation

if TYPE_CHECKING:
    from ..search.reading import ReadRecord
    from .pipeline import Recall

FEW = 5
"""How many memories of a field of life stand in the stable block whatever is asked."""
NEAR = 0.15
"""How near to what is asked a memory must be."""
LOOKED_UP, READ = 160, 48
"""How many memories on a topic are looked at, and how many are read."""
MOST_TOKENS = 480
"""What memories on the topic may take of a turn's part ..."""
SHARE = 0.6
"""... and of its limit."""
_ASKS = re.compile(
    r"""\?\s*$ | \b(?:suggest|recommend|advise|help|plan|find|book|choose|pick|ideas?|advice|tips
        |looking[ ]for|should[ ]i|what|which|where|how|can[ ]you|could[ ]you|order|buy|cook|prepare
        |i[ ](?:need|want)|i'd[ ]like)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def for_the_opening(items: Sequence[Item]) -> list[Item]:
    """Return what may stand in the stable block: nothing sensitive, little of one field of life."""
    situational = [item for item in items if not item.sensitive and item.situational]
    # What was remembered by hand goes before what was heard in passing.
    best = sorted(situational, key=lambda item: (is_heard(item), -item.score))
    later = {item.ref for item in best[FEW:]}
    return [item for item in items if not item.sensitive and item.ref not in later]


def on_topic(recall: Recall, situation: Situation, wanted: Filter) -> list[Item]:
    """Return what the user told about what is asked for, the nearest first."""
    asked = topic_weights(situation.query)
    if not asked or not _ASKS.search(situation.query):
        return []
    of_memory = replace(wanted, types=(Memory.type,), own=None)
    found = recall.search.on_topics(situation, asked, LOOKED_UP, of_memory)
    told = [one for one in found if one.item.situational and one.item.trust == "trusted"]
    near = _nearest(situation.query, asked, told)
    items = [one.item for one, _ in near]
    much = {one.item.ref: match for one, match in near}
    rating = Rating.of(situation, recall.weights)
    return [
        rating.matched(item, much[item.ref], (("topic", much[item.ref]),))
        for item in _within(recall, items, min(MOST_TOKENS, int(SHARE * wanted.tokens)))
    ]


def _nearest(
    query: str, asked: Mapping[str, float], told: Sequence[ReadRecord]
) -> list[tuple[ReadRecord, float]]:
    """Return what speaks most of the same, and how much, 0 to 1: by topics, then by words.

    Of those that are as near, the order stays.
    """
    towards, terms = directed(asked), frozenset(content_terms(query))
    near = []
    for one in told:
        topics, said = one.spoken_of
        much = 0.7 * nearness(towards, topics) + 0.15 * len(terms & said)
        if much >= NEAR:
            near.append((one, min(1.0, much)))
    return sorted(near, key=lambda found: -found[1])[:READ]


def admitted(items: Sequence[Item], situation: Situation) -> list[Item]:
    """Return what was found without what is sensitive and not spoken of."""
    if not any(item.sensitive for item in items):
        return list(items)
    topics, terms = topics_of(situation.query), set(content_terms(situation.query))
    return [
        item
        for item in items
        if not item.sensitive
        or topics & topics_of(item.text)
        or terms & set(content_terms(item.text))
    ]


def _within(recall: Recall, items: Sequence[Item], tokens: int) -> list[Item]:
    kept = []
    for item in items:
        tokens -= recall.printer.count(item.text) + 3
        if tokens < 0:
            break
        kept.append(item)
    return kept


def apart_from(items: Sequence[Item], shown: Sequence[Item]) -> list[Item]:
    """Return hits without those that are shown already, as they are or as the turn that said it."""
    refs: Collection[str] = {ref for item in shown for ref in (item.ref, *item.origins)}
    return [item for item in items if item.ref not in refs]
