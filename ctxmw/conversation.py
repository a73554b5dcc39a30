"""A conversation: whose it is, where it takes place, and what is remembered about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .budget import Budget
from .displayed import Displayed
from .messages import Message, Placement
from .pipeline import Setup
from .provenance import ContextRecord
from .state import SessionState, session_ref


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
    query: str = ""
    """What to look for instead of the user's last words."""
    budget: Budget = field(default_factory=Budget)
    placement: Placement = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Displayed):
    """Messages ready for a model, and the record of what we put into them."""

    messages: list[Message]
    context: ContextRecord
    given: tuple[Message, ...]
    """The caller's messages, without anything of ours."""
    tools: tuple[str, ...] = ()
    """Names of the catalog's tools to bind: always first, then what this request calls for."""


def load_state(setup: Setup, who: Identity, now: datetime) -> tuple[SessionState, int]:
    """Return the conversation's state and its version; a new state has version 0."""
    ref = session_ref(who.session)
    for row in setup.store.get(who.user, [ref]):
        # A state is read several times a call, and a long conversation's takes a while to parse.
        key = (who.user, who.session)
        known = setup.states.get(key)
        if known is None or known[0] != row.body:
            known = (row.body, SessionState.model_validate_json(row.body))
            setup.states.put(key, known)
        return known[1], row.seq
    return SessionState(user=who.user, ref=ref, at=now, session=who.session, opened=now), 0


def change_state(setup: Setup, who: Identity, **values: Any) -> SessionState:
    """Change the conversation's state and return it."""
    with setup.store.atomic(who.user):
        state, _ = load_state(setup, who, setup.clock())
        state = state.model_copy(update=values)
        setup.store.put([state.row()])
        return state


def scope_of(setup: Setup, who: Identity) -> str:
    """Return the scope of what is said here: the conversation's project, if it has one."""
    state, _ = load_state(setup, who, setup.clock())
    project = who.project or state.project
    return f"project:{project}" if project else "universal"
