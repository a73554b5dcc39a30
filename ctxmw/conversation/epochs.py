"""When a conversation's stable block is made anew: an epoch ends, and the next one begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from ..recall.catalog import Catalog
from ..store.journal import Journal
from ..values.items import Item
from ..values.record_items import row_item
from ..values.situation import Situation
from .record import Build
from .state import SessionState

IDLE = timedelta(minutes=30)
"""After this long without a call a conversation has ended, and the provider's cache is cold."""
SHOWN_TYPES = ("memory", "note", "summary", "observation", "turn")
"""Records that a block may show."""


def why_new(state: SessionState, situation: Situation, outdated: set[str], now: datetime) -> str:
    """Return why a new epoch begins; "" when it does not."""
    reasons: Mapping[str, bool] = {
        "start": state.epoch == 0,
        state.stale: bool(state.stale),
        "reopened": state.ended,
        "project": situation.project != state.project,
        "language": situation.language != state.language,
        "changed": bool(outdated),
        "idle": now - state.at >= IDLE,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def outdated_in(
    journal: Journal, catalog: Catalog, state: SessionState, stable: Build, changed: Iterable[str]
) -> set[str]:
    """Return what the conversation shows in another version than it has now, of what changed."""
    touched = frozenset(changed)
    shown: dict[str, str] = {}
    if touched:
        parts = [versions for part in state.parts for versions in (part.shows, part.mentions)]
        for versions in (stable.shown, *parts):
            if not touched.isdisjoint(versions):
                shown |= {ref: versions[ref] for ref in touched & versions.keys()}
    now = _versions(journal, catalog, state.user, shown) if shown else {}
    return {ref for ref, version in shown.items() if now.get(ref) != version}


def offers_more(stable: Build, pinned: Sequence[Item]) -> bool:
    """Say whether the catalog has something for the conversation that its stable block has not."""
    known = {used.ref for used in (*stable.used, *stable.tools)}
    return any(item.ref not in known for item in pinned)


def _versions(
    journal: Journal, catalog: Catalog, user: str, refs: Collection[str]
) -> dict[str, str]:
    """Return the version each of these records has now; those that are gone have none."""
    rows = journal.store.get(user, sorted(refs))
    items = journal.faults.read([row for row in rows if row.live], row_item)
    found = {item.ref: item.version for item in items}
    offered = {item.ref: item.version for item in catalog.items()}
    return found | {ref: offered[ref] for ref in refs if ref in offered}
