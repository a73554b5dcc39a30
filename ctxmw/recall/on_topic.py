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

from ..search.question import Filter
from ..text.cleaning import fold
from ..text.patterns.late import late_pattern
from ..text.secrets.sensitive import discreet
from ..text.terms import content_terms
from ..text.topics import FIELDS, directed, nearness, topic_weights, topics_of
from ..values.items import Item, changed, is_heard
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
MOST_TOKENS = 560
"""What memories on the topic may take of a turn's part ..."""
SHARE = 0.6
"""... and of its limit."""
A_FEW_TOKENS = 280
"""What memories may take where advice is asked for, in a field that no word tells."""
_ASKS = late_pattern(
    r"""\?\s*$ | \b(?:suggest|recommend|advise|help|plan|find|book|choose|pick|ideas?|advice|tips
        |looking[ ]for|should[ ]i|what|which|where|how|can[ ]you|could[ ]you|order|buy|cook|prepare
        |i[ ](?:need|want)|i'd[ ]like)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ADVICE = late_pattern(
    r"\b(?:recommend|suggest|advise|recommendations?|suggestions?|ideas|things to do)\b",
    re.IGNORECASE,
)
_FOR_ME = late_pattern(
    r"\b(?:for (?:me|us)|(?:should|could|might|can) (?:i|we)|(?:i|we) (?:should|could|might))\b",
    re.I,
)
_SOMEWHERE = late_pattern(
    r"\b(?:in|to|around|near) (?:the )?"
    r"(?!Python|Java|Type|Rust|Ruby|Swift|Kotlin|Scala|Haskell|English|German|French|Spanish|Chinese"
    r"|Japanese)[A-Z][a-z]{2,30}\b"
)


def for_the_opening(items: Sequence[Item]) -> list[Item]:
    """Return what may stand in the stable block: nothing sensitive, little of one field of life.

    A conversation that was nothing but a statement is not told of beside it, nor where it waits
    until its field is spoken of, nor beside what took its place.
    """
    situational = [item for item in items if not item.sensitive and item.situational]
    # What was remembered by hand goes before what was heard in passing.
    best = sorted(situational, key=lambda item: (is_heard(item), -item.score))
    told = {_bare(item) for item in items if item.section == "about"}
    told |= {_as_said(found[1]) for item in items if (found := _WAS.search(item.text))}
    later = {item.ref for item in best[FEW:]}
    apart = {_bare(item) for item in items if item.section in _OF_WORK}
    return [
        _without(item, apart)
        for item in items
        if not item.sensitive
        and item.ref not in later
        and not (item.kind == "summary" and _bare(item) in told)
    ]


_OF_WORK = frozenset({"notes", "decisions", "project"})
"""Sections that tell what was done and decided, and so the summaries need not."""
_LISTED = late_pattern(
    r"[ \n]?\b(?P<what>Done|Decided): (?P<list>[^\n]+?)(?P<end>\.?)(?=$|\n| (?:Blocked|Next): )"
)


def _without(item: Item, told: Collection[str]) -> Item:
    """Return a summary without what was done or decided where that is told by itself."""
    if item.kind != "summary" or not told:
        return item

    def left(found: re.Match[str]) -> str:
        each = found["list"].split("; ")
        untold = [one for one in each if _as_said(one) not in told]
        if len(untold) == len(each):
            return found[0]
        start = found[0][: found.start("list") - found.start()]
        return f"{start}{'; '.join(untold)}{found['end']}" if untold else ""

    text = _LISTED.sub(left, item.text).strip()
    return replace(item, text=text) if text and text != item.text else item


def _bare(item: Item) -> str:
    """Return what an item says, without the dates that are told with it."""
    return _as_said(item.text.partition(" (")[0])


def _as_said(text: str) -> str:
    return fold(text).rstrip(".! ")


_WAS = late_pattern(r"\(was: ([^\n()]{1,200})[;)]")


def on_topic(recall: Recall, situation: Situation, wanted: Filter) -> list[Item]:
    """Return what the user told about what is asked for, the nearest first."""
    if not _ASKS.search(situation.query):
        return []
    asked, most = _asked_about(situation.query), MOST_TOKENS
    fields: Collection[str] = asked
    if not asked:
        # In a project, what no field is known of is about the project.
        if situation.project or not _is_advice_for_me(situation.query):
            return []
        fields, most = FIELDS, A_FEW_TOKENS
    of_memory = replace(wanted, types=(Memory.type,), own=None)
    found = recall.search.on_topics(situation, fields, LOOKED_UP, of_memory)
    told = [one for one in found if one.item.situational and one.item.trust == "trusted"]
    near = _nearest(situation.query, asked, told)
    items = [one.item for one, _ in near]
    much = {one.item.ref: match for one, match in near}
    rating = Rating.of(situation, recall.weights)
    return [
        rating.matched(item, much[item.ref], (("topic", much[item.ref]),))
        for item in _within(recall, items, min(most, int(SHARE * wanted.tokens)))
    ]


def _asked_about(query: str) -> dict[str, float]:
    """Return the fields that a question is about; whoever asks what to do somewhere travels."""
    asked = topic_weights(query)
    if not asked and _is_advice_for_me(query) and _SOMEWHERE.search(query):
        return {"travel": 1.0}
    return asked


def _is_advice_for_me(query: str) -> bool:
    return bool(_ADVICE.search(query) and _FOR_ME.search(query))


def _nearest(
    query: str, asked: Mapping[str, float], told: Sequence[ReadRecord]
) -> list[tuple[ReadRecord, float]]:
    """Return what speaks most of the same, and how much, 0 to 1: by topics, then by words.

    Of those that are as near, the order stays.
    """
    towards, terms = directed(asked), frozenset(content_terms(query))
    least = NEAR if asked else 0.0
    near = []
    for one in told:
        topics, said = one.spoken_of
        if one.item.sensitive and not _is_spoken_of(asked, topics, terms & said):
            continue
        much = 0.7 * nearness(towards, topics) + 0.15 * len(terms & said)
        if much >= least:
            near.append((one, min(1.0, much)))
    return sorted(near, key=lambda found: -found[1])[:READ]


def admitted(items: Sequence[Item], situation: Situation, *, of_turns: bool = True) -> list[Item]:
    """Return what was found without what is sensitive and not spoken of.

    Of a turn, only its sensitive parts are left out; without `of_turns`, whatever is asked.
    """
    if not any(item.sensitive for item in items):
        return list(items)
    topics, terms = topics_of(situation.query), set(content_terms(situation.query))

    def is_kept(text: str) -> bool:
        return _is_spoken_of(topics, topics_of(text), terms & set(content_terms(text)))

    found: list[Item] = []
    for item in items:
        if item.kind == "turn" and item.sensitive:
            keeps = is_kept if of_turns else _never
            text = discreet(item.text, keeps)
            if text:
                found.append(changed(item, text=text, passage=discreet(item.passage, keeps)))
        elif not item.sensitive or is_kept(item.text):
            found.append(item)
    return found


def _never(_: str) -> bool:
    return False


def _is_spoken_of(asked: Collection[str], told: Collection[str], shared: Collection[str]) -> bool:
    """Say whether a question is about something sensitive: whatever is bought is no field."""
    return bool(shared) or any(topic in told for topic in asked if topic != "shopping")


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
