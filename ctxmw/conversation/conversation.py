"""A conversation: whose it is, where it takes place, and what is remembered about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ..protocols import Find, Row
from ..recall.pipeline import Setup
from ..runtime.displayed import Displayed
from ..values.budget import Budget
from ..values.messages import Message, Placement
from ..values.records import load_all, load_as
from .record import ContextRecord
from .replay.trail import Trail
from .state import (
    GoneSession,
    PartRef,
    SessionState,
    StoredPart,
    gone_ref,
    session_ref,
    state_rows,
)

OURS = 4
"""One part in so many of the model's window may be new text of ours, and another one replayed."""
REPLAYED = 16_000
"""Tokens that replayed parts may take where the window is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose conversation it is, which one, and where it takes place. None: as it was before."""

    user: str
    session: str
    project: str | None = None
    language: str | None = None
    task: str | None = None
    files: tuple[str, ...] = ()
    """Paths in play."""
    cwd: Path | None = None
    """The folder it takes place in, and the project's folder around it."""
    root: Path | None = None
    query: str = ""
    """What to look for instead of the user's last words."""
    budget: Budget = field(default_factory=Budget)
    placement: Placement = "split"
    replayed: int = REPLAYED
    """Tokens that replayed parts may take together."""

    def in_window(self, tokens: int | None) -> Identity:
        """Return it as it is with a model of that window, in which our text has its share."""
        if tokens is None:
            return self
        share = tokens // OURS
        return replace(self, budget=self.budget.within(share), replayed=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Displayed):
    """Messages ready for a model, and the record of what we put into them."""

    messages: list[Message]
    context: ContextRecord
    given: tuple[Message, ...]
    """The caller's messages, without anything of ours."""
    trail: Trail = field(default_factory=Trail)
    """The hashes of these."""
    capture: bool = True
    """Whether what is said in the call is kept."""
    tools: tuple[str, ...] = ()
    """Names of the catalog's tools to bind: always first, then what this request calls for."""

    @property
    def is_recorded(self) -> bool:
        """Whether the memory has a record of the call: it has none of one that went without it."""
        return bool(self.context.stable_build)


def load_state(setup: Setup, who: Identity, now: datetime) -> SessionState:
    """Return the conversation's state with its parts; that of a new one begins now."""
    ref = session_ref(who.session)
    for row in setup.store.get(who.user, [ref]):
        # A state is read several times a call, and a long conversation's takes a while to parse.
        known = setup.states.get((who.user, who.session))
        if known is None or known[0] != row.body:
            state = load_as(row, SessionState)
            state = state.model_copy(update={"parts": _stored_parts(setup, who)})
            keep_state(setup, row, state)
            return state
        return known[1]
    new = SessionState(user=who.user, ref=ref, at=now, session=who.session, opened=now)
    for gone in load_all(setup.store.get(who.user, [gone_ref(who.session)]), GoneSession):
        return new.model_copy(update={"captured": gone.captured, "heard": gone.heard})
    return new


def keep_state(setup: Setup, row: Row, state: SessionState) -> None:
    """Keep at hand what a row holds. A row that is never committed is never read either."""
    setup.states.put((state.user, state.session), (row.body, state))


def change_state(setup: Setup, who: Identity, **values: Any) -> SessionState:
    """Change the conversation's state and return it."""
    with setup.store.atomic(who.user):
        return put_state(setup, load_state(setup, who, setup.clock()), **values)


def put_state(setup: Setup, before: SessionState, **values: Any) -> SessionState:
    """Write the state with other values, in the transaction in which it was read."""
    values = {"stamp": setup.random.getrandbits(48), **values}
    after = before.model_copy(update=values)
    rows = state_rows(before, after)
    setup.store.put(rows)
    keep_state(setup, rows[0], after)
    return after


def let_go(setup: Setup, user: str, session: str) -> None:
    """Keep nothing at hand of a conversation that has ended; if it goes on, it is read again."""
    known = setup.states.get((user, session))
    if known is not None:
        state = known[1]
        stable = (user, state.stable_build)
        opening = setup.builds.get(stable)
        hashes = [*([opening.hash] if opening else ()), *(part.hash for part in state.parts)]
        setup.builds.let_go([stable, *((user, part.build) for part in state.parts)])
        setup.blocks.let_go((user, hash_) for hash_ in hashes)
    setup.states.let_go([(user, session)])
    setup.prefixes.let_go(user, session)
    setup.search.let_go(user)


def scope_of(who: Identity, state: SessionState) -> str:
    """Return the scope of what is said here: the conversation's project, if it has one."""
    project = who.project or state.project
    return f"project:{project}" if project else "universal"


def _stored_parts(setup: Setup, who: Identity) -> tuple[PartRef, ...]:
    asked = Find(types=(StoredPart.type,), sessions=(who.session,))
    parts = [stored.part for stored in load_all(setup.store.query(who.user, asked), StoredPart)]
    return tuple(sorted(parts, key=lambda part: part.order))
