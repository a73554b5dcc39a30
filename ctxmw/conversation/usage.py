"""What is shown how often, and how much of it comes back in answers: what could be kept out.

Suggestions for a person to read; nothing acts on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ..protocols import Find
from ..recall.outcome import ItemOutcome
from ..runtime.displayed import Displayed
from ..search.feedback import Feedback
from ..store.journal import Journal
from ..values.records import INSTRUCTING
from .blocks import Blocks
from .history import record_of, records_among
from .record import ContextRecord

CALLS = 1_000
"""The last so many calls are looked at."""
OFTEN = 5
"""From so many calls on it says something that none of their answers took a thing up."""
Suggestion = Literal["", "on demand", "keep out", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUsage(Displayed):
    """What became of one thing over many calls."""

    ref: str
    kind: str
    title: str
    calls: int
    """Calls that showed it in words, and were answered."""
    came_back: int
    """How many of their answers took it up."""
    tokens: int
    """What it cost in all of them."""
    helped: int = 0
    """How often it was said to have helped ..."""
    did_not: int = 0
    """... and to have not."""

    @property
    def suggestion(self) -> Suggestion:
        """What a person could do about it; "" where nothing speaks for that.

        What says how to work shapes answers without coming back in them, and is left alone until
        somebody says that it does not help.
        """
        if self.came_back or self.helped >= max(1, self.did_not):
            return ""
        if self.did_not:
            return "forget" if self.did_not > 1 else "keep out"
        return "on demand" if self.calls >= OFTEN and self.kind not in INSTRUCTING else ""


def usage_of(journal: Journal, user: str, since: datetime | None = None) -> list[ItemUsage]:
    """Return what the last calls showed, what cost most and never came back first."""
    asked = Find(types=(ContextRecord.type,), since=since, limit=CALLS)
    records = [
        record for record in records_among(journal, user, asked) if record.state == "answered"
    ]
    last: dict[str, ItemOutcome] = {}
    calls: Counter[str] = Counter()
    back: Counter[str] = Counter()
    cost: Counter[str] = Counter()
    for record in reversed(records):
        shown = {used.ref: used for used in record.used if used.shown in ("full", "brief")}
        last |= shown
        calls.update(shown.keys())
        back.update(ref for ref in record.came_back if ref in shown)
        cost.update({ref: used.tokens for ref, used in shown.items()})
    rated = journal.read(journal.store.query(user, Find(types=(Feedback.type,))), Feedback)
    helped, did_not = (_counted(rated, value) for value in (1, -1))
    found = [
        ItemUsage(
            ref=ref,
            kind=used.kind,
            title=used.title,
            calls=calls[ref],
            came_back=back[ref],
            tokens=cost[ref],
            helped=helped[ref],
            did_not=did_not[ref],
        )
        for ref, used in last.items()
        if used.since != "gone"
    ]
    return sorted(found, key=lambda one: (one.came_back > 0, -one.tokens, one.ref))


def calls_with(journal: Journal, user: str, ref: str, most: int) -> list[ContextRecord]:
    """Return the last calls that showed something in their own blocks, the newest first."""
    asked = Find(types=(ContextRecord.type,), limit=CALLS)
    archive = Blocks(journal.store, user)
    found: list[ContextRecord] = []
    for record in journal.read(journal.store.query(user, asked), ContextRecord):
        builds = [archive.known_build(build) for build in (record.stable_build, record.part_build)]
        if len(found) == most:
            break
        if any(ref in build.shown for build in builds if build):
            whole = record_of(journal, user, record.ref)
            found += [whole] if whole else []
    return found


def _counted(rated: Iterable[Feedback], value: int) -> Counter[str]:
    return Counter(one.about for one in rated if one.value == value and one.about)
