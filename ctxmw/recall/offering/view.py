"""The catalog as it is at one time, as one conversation sees it, and what a request calls for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...search.offered import ADMITTED, Nearness, OfferedIndex, name_words
from ...values.items import Include, Item
from ...values.situation import with_match
from .items import CatalogItem, CatalogKind
from .tool_shapes import spellings

WEAK = "matches the request too little"
ENOUGH_CAME = "others match better"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSearch:
    """How many `agent` items a request may bring."""

    top_k: int = 20
    """Candidates looked at, best match first."""
    top_n: int = 5
    """Items brought at most."""
    min_score: float = 0.5
    """Half match, half 0.7, must reach this."""


@dataclass(frozen=True, kw_only=True)
class CatalogView:
    """Everything on offer at one time."""

    items: tuple[CatalogItem, ...] = ()
    """In the order in which it was added."""
    modes: Mapping[str, Include] = field(default_factory=dict)
    """How each comes in, by ref."""
    every: tuple[CatalogItem, ...] = ()
    """What is disabled too."""

    @cached_property
    def always(self) -> tuple[Item, ...]:
        """What every conversation has."""
        return tuple(item.item("always") for item in self.items if self._comes(item, "always"))

    @cached_property
    def on_call(self) -> tuple[CatalogItem, ...]:
        """What search may bring."""
        return tuple(item for item in self.items if self._comes(item, "agent"))

    @cached_property
    def tools_on_call(self) -> Mapping[str, CatalogItem]:
        """The tools among that, by ref."""
        return {item.ref: item for item in self.on_call if item.kind == "tool"}

    @cached_property
    def index(self) -> OfferedIndex:
        """Finds what search may bring."""
        return OfferedIndex([item.described for item in self.on_call])

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What a model of meaning reads of it."""
        return tuple(
            f"{' '.join(name_words(item.full_name))}: {item.text}" for item in self.on_call
        )

    @cached_property
    def spelled(self) -> Mapping[str, tuple[str, ...]]:
        """The tools that a model may know by a name: those of several servers may have one."""
        found: dict[str, tuple[str, ...]] = {}
        for item in self.every:
            if item.kind == "tool":
                for way in spellings(item.server, item.name):
                    found[way] = (*found.get(way, ()), item.full_name)
        return found

    def _comes(self, item: CatalogItem, mode: Include) -> bool:
        return self.modes[item.ref] == mode


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """The catalog as one conversation sees it."""

    view: CatalogView
    pinned: tuple[Item, ...]
    """Always or added, and not removed."""
    apart: frozenset[str] = frozenset()
    """Refs that search does not bring: they are in already, or were removed."""

    def names(self, kind: CatalogKind) -> list[str]:
        """Return the names of what is in, by kind."""
        return [item.title for item in self.pinned if item.kind == kind]

    def tool(self, ref: str) -> CatalogItem | None:
        """Return a tool that search may bring, by its ref."""
        return None if ref in self.apart else self.view.tools_on_call.get(ref)


def context_in(
    view: CatalogView, added: Collection[str], removed: Collection[str]
) -> SessionContext:
    """Return what is in a conversation, and what search may bring to a request."""
    if not added and not removed:
        return SessionContext(view=view, pinned=view.always)
    pinned = []
    for item in view.items:
        if item.ref in removed:
            continue
        if item.ref in added:
            pinned.append(item.item("manual"))
        elif view.modes[item.ref] == "always":
            pinned.append(item.item("always"))
    apart = frozenset(removed).union(added)
    return SessionContext(view=view, pinned=tuple(pinned), apart=apart)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledFor:
    """What a request calls for, and what was looked at beside."""

    items: tuple[Item, ...] = ()
    """Best first."""
    declined: Mapping[str, str] = field(default_factory=dict)
    """Why something was not brought, by ref."""
    others: tuple[Item, ...] = ()
    """What was not."""


def called_for(
    context: SessionContext, request: str, policy: AgentSearch, near: Nearness | None = None
) -> CalledFor:
    """Return the `agent` items that a request calls for."""
    view = context.view
    if not view.on_call or not request.strip():
        return CalledFor()
    least = max(2 * policy.min_score - _OWN, 0.0)
    found = view.index.called_for(request, policy.top_k, near, least)
    brought: list[Item] = []
    others: list[Item] = []
    declined: dict[str, str] = {}
    for one in found:
        item = with_match(view.on_call[one.place].item("agent"), one.match)
        if item.ref in context.apart:
            continue
        comes = one.match > 0 and (one.match >= least or one.beside)
        if comes and len(brought) < policy.top_n:
            brought.append(item)
        else:
            others.append(item)
            declined[item.ref] = ENOUGH_CAME if comes else WEAK
    return CalledFor(items=tuple(brought), declined=declined, others=tuple(others))


_OWN = 2 * AgentSearch().min_score - ADMITTED
"""The score that an offer has by itself."""
