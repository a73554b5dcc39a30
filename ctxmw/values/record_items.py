"""Records as items: how what is stored goes through the pipeline."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import datetime, timedelta

from ..protocols import Row
from ..text.cleaning import digest, one_line
from ..text.phrases import FIRST_PERSON, WISHES
from ..text.secrets.sensitive import is_sensitive
from ..text.topics import topics_of
from .items import Item, Scope
from .records import (
    INSTRUCTING,
    LASTING,
    Derived,
    Memory,
    Note,
    Observation,
    Record,
    SessionSummary,
    Turn,
    load,
)

WAS = 80
"""Characters that are shown of what a memory took the place of."""
_LANES = {"done": "done", "decided": "decided", "blocked": "open", "next": "open"}


def row_item(row: Row) -> Item:
    """Return the record of a row as an item."""
    return record_item(load(row))


def record_item(record: Record) -> Item:
    """Return any record as an item."""
    match record:
        case Memory():
            return memory_item(record, record.session)
        case Note():
            return _item(record, kind=record.kind, lane=_LANES[record.kind], section="notes")
        case SessionSummary():
            return _item(record, kind="summary", lane="index", section="sessions")
        case Observation():
            return _item(record, kind=record.kind, lane="index", section="sessions")
        case Turn():
            return _item(record, kind="turn", lane="turn", section="sessions")
    raise TypeError(f"{record.type} records are not shown")


def memory_item(memory: Memory, session: str) -> Item:
    """Return a memory as an item of a conversation, or of none."""
    scope = Scope.parse(memory.scope)
    return Item(
        ref=memory.ref,
        kind=memory.kind,
        text=_text_of(memory),
        lane=scope.kind,
        section=_section(memory, scope),
        label="Avoid" if memory.kind == "anti_pattern" else "",
        scope=scope,
        at=memory.at,
        session=session,
        seen=memory.seen,
        ages=memory.kind not in LASTING,
        instructs=memory.kind in INSTRUCTING and not _is_taste(memory),
        trust=memory.trust,
        sensitive=memory.sensitive,
        situational=_is_situational(memory),
        because=_because(memory),
        source=memory.source,
        version=digest(memory.text, memory.was, *map(str, _ends(memory)))[:16],
        origins=memory.derived_from,
        since=memory.since,
        until=memory.until,
    )


def as_past(item: Item, now: datetime) -> Item:
    """Return an item that has run out with a mark that says so; any other as it is."""
    if item.until is None or now < item.until:
        return item
    return replace(item, label=", ".join(filter(None, ("past", item.label))))


def _section(memory: Memory, scope: Scope) -> str:
    """Return where a memory is shown; "I" stands only where it is plain that a person says it."""
    if scope.kind != "universal":
        return scope.kind
    if memory.kind == "decision":
        return "decisions"
    if FIRST_PERSON.match(memory.text) or _is_taste(memory):
        return "about"
    if memory.kind in INSTRUCTING:
        return "universal"
    return "about" if FIRST_PERSON.search(memory.text) else "facts"


def _text_of(memory: Memory) -> str:
    was = f"was: {one_line(memory.was, WAS)}" if memory.was else ""
    since, until = memory.since, memory.until
    # Where another one says almost the same, the reader is told which came later.
    unsure = memory.near and not was
    # "Last month" counts from the day on which it was said.
    dated = memory.derived_from and (unsure or _FROM_THAT_DAY.search(memory.text))
    told = [
        was,
        f"said {memory.at.date().isoformat()}" if dated else "",
        f"from {since.date().isoformat()}" if since and since > memory.said_at else "",
        f"until {_last_day(until)}" if until else "",
    ]
    about = "; ".join(filter(None, told))
    return f"{memory.text} ({about})" if about else memory.text


_FROM_THAT_DAY = re.compile(
    r"\b(?:(?:last|next|this) (?:week|weekend|month|year|spring|summer|autumn|fall|winter|"
    r"[a-z]+day)|yesterday|tomorrow|ago)\b",
    re.IGNORECASE,
)


def _ends(memory: Memory) -> tuple[datetime, ...]:
    return tuple(filter(None, (memory.since, memory.until)))


def _last_day(until: datetime) -> str:
    """Return the day on which something ends: what ends at midnight ends with the day before."""
    return (until - timedelta.resolution).date().isoformat()


def _is_taste(memory: Memory) -> bool:
    """Say whether a preference was heard that tells of somebody, and nothing of how to work."""
    if memory.kind != "preference" or not memory.derived_from:
        return False
    told = _CONDITION.sub("", memory.text) or memory.text
    return bool(FIRST_PERSON.search(told)) and not WISHES.search(memory.text)


_CONDITION = re.compile(r"\b(?:unless|if|when|whenever|until)\b.*", re.IGNORECASE | re.DOTALL)
"""Who is named there is not who is told of: "No lists unless I ask for one."."""


_OF_THEMSELVES = re.compile(r"(?:i|i'm|i've|my|we|our|due to|as an?|because)\b", re.IGNORECASE)


def _is_situational(memory: Memory) -> bool:
    # What is sensitive waits to be spoken of, of whomever it tells: "Tomas has a nut allergy."
    told = memory.kind in ("preference", "fact") and (
        memory.sensitive or _OF_THEMSELVES.match(memory.text)
    )
    return bool(told) and bool(topics_of(memory.text))


def _because(memory: Memory) -> str:
    if not (memory.supersedes and memory.because):
        return ""
    when = f" of {memory.was_at.date().isoformat()}" if memory.was_at else ""
    return f"in place of {memory.supersedes}{when}: {memory.because}"


OUTDATED = "[something that no longer holds was left out]"
"""Stands in a turn that is shown for what was said otherwise since."""


def _shown(record: Record) -> str:
    """Return the text as it is shown: of a turn, without what no longer holds."""
    text = record.says()
    for sentence in record.outdated if isinstance(record, Turn) else ():
        text = text.replace(sentence, OUTDATED)
    return text


def _item(record: Record, *, kind: str, lane: str, section: str) -> Item:
    text = _shown(record)
    return Item(
        ref=record.ref,
        kind=kind,
        text=text,
        lane=lane,
        section=section,
        label=_label(record),
        title=record.title if isinstance(record, Observation) else "",
        scope=Scope.parse(record.scope),
        at=record.at,
        session=record.session,
        trust=record.trust,
        tainted=isinstance(record, Turn) and record.tainted,
        sensitive=isinstance(record, Turn) and record.role != "tool" and is_sensitive(text),
        source=record.source,
        version=record.version if isinstance(record, Turn) else digest(text)[:16],
        group=_group(record) if isinstance(record, Turn) else "",
        group_title=_day(record),
        order=record.sequence if isinstance(record, Turn) else (),
        origins=record.derived_from if isinstance(record, Derived) else (),
    )


def _label(record: Record) -> str:
    match record:
        case Note() | Observation():
            return record.kind
        case SessionSummary():
            return _day(record)
        case Turn():
            return _speaker(record)
    return ""


def _speaker(turn: Turn) -> str:
    """Return who is named before a turn: of a person only with their own words, no other's."""
    from ..text.speech.own_words import own_words

    name = turn.speaker or turn.role
    if not turn.tainted or turn.role != "user" or turn.trust != "trusted":
        return name
    own = own_words(turn.text)
    if own == turn.text:
        return name  # somebody else's, by their own name
    return f"{name}, with pasted text" if own.strip() else f"pasted by {name}"


def _group(record: Record) -> str:
    return f"{_day(record)} {record.session}".rstrip()


def _day(record: Record) -> str:
    """Return the day of a record; what is answered after midnight was asked the day before."""
    at = record.since if isinstance(record, Turn) else record.at
    return sys.intern(at.date().isoformat())  # most items at hand are of a few days
