"""Which tools go with a call: of those a model is offered, the ones to bind, and what they cost.

A tool that a request called for stays with the conversation, behind those that came before: so the
list only grows while an epoch lasts, and "Yes, please do." finds what was spoken of.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..conversation.state import SessionState
from ..recall.offering.items import CatalogItem
from ..recall.offering.tool_shapes import tool_name
from ..recall.offering.view import CalledFor, SessionContext, called_for
from ..recall.pipeline import Recall
from ..text.cleaning import one_line
from ..text.terms import content_terms
from ..tokens.prompt_counter import Measure

LOADED = 64
"""How many tools that requests called for stay with a conversation; the oldest go first, where an
epoch begins."""
LISTED = 10
"""How many tools find_tools tells of."""
SAYS_LITTLE = 3
"""With fewer words that say something, a message speaks of what was said before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTools:
    """The tools that a model is offered, and whether only some of them may be bound."""

    schemas: tuple[Any, ...] = ()
    chosen: bool = False
    """Whether the caller binds those that we name; otherwise the model is sent all of them."""
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(map(tool_name, self.schemas)))

    def sent(self, bound: Callable[[Sequence[str]], Sequence[str]]) -> tuple[str, ...]:
        """Return the names of those that the model is sent; `bound` picks some."""
        return tuple(bound(self.names)) if self.chosen else self.names

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return the schemas of these as text, in this order."""
        if not self.chosen:
            return [_json(schema) for schema in self.schemas]
        known = dict(zip(self.names, self.schemas, strict=True))
        return [_json(known[name]) for name in names if name in known]

    def tokens(self, names: Sequence[str], measure: Measure) -> int:
        """Return what these take of the model's window."""
        if not self.chosen:
            return measure.tools(self.schemas)
        known = dict(zip(self.names, self.schemas, strict=True))
        return measure.tools([known[name] for name in names if name in known])


def request_of(query: str, before: Sequence[str]) -> str:
    """Return what a request speaks of: where it says little, what was said before it as well."""
    if len(set(content_terms(query))) >= SAYS_LITTLE:
        return query
    return "\n".join([query, *reversed(before)])


def what_is_called_for(recall: Recall, context: SessionContext, request: str) -> CalledFor:
    """Return what of the catalog a request calls for."""
    view = context.view
    if not view.on_call:
        return CalledFor()
    due = recall.limit.due()
    near = partial(recall.search.near_offers, view.texts, deadline=due)
    return called_for(context, request, recall.agent_search, near)


def loaded_with(state: SessionState, context: SessionContext, called: CalledFor) -> tuple[str, ...]:
    """Return the refs of the tools that a conversation has loaded, with those called for now."""
    new = [item.ref for item in called.items if item.kind == "tool"]
    refs = dict.fromkeys((*state.loaded, *new))
    return tuple(ref for ref in refs if context.tool(ref) is not None)


def loaded_names(refs: Sequence[str], context: SessionContext) -> list[str]:
    """Return the names of loaded tools, as server:tool."""
    items = (context.tool(ref) for ref in refs)
    return [item.full_name for item in items if item is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTools:
    """What find_tools says, and the refs of the tools that it loads."""

    text: str
    load: tuple[str, ...] = ()


def found_tools(
    recall: Recall, context: SessionContext, query: str, names: Sequence[str]
) -> FoundTools:
    """Return the catalog's tools for a query, a line each, or those of these names."""
    known = [item for item in context.view.tools_on_call.values() if item.ref not in context.apart]
    if names:
        wanted = [item for item in known if not {item.full_name, item.name}.isdisjoint(names)]
        load, others = wanted, []
    else:
        policy = replace(recall.agent_search, top_k=LISTED, top_n=LISTED, min_score=0.0)
        near = partial(recall.search.near_offers, context.view.texts, deadline=recall.limit.due())
        by_ref = {item.ref: item for item in known}
        found = called_for(context, query, policy, near).items
        listed = [by_ref[item.ref] for item in found if item.ref in by_ref]
        load, others = listed[: recall.agent_search.top_n], listed[recall.agent_search.top_n :]
    if not load:
        return FoundTools(text=_nothing_found(query or ", ".join(names), known))
    lines = ["Loaded, to be called in your next step:", *map(_line, load)]
    if others:
        lines += ["More, to be loaded by name:", *map(_line, others)]
    return FoundTools(text="\n".join(lines) + "\n", load=tuple(item.ref for item in load))


def _line(item: CatalogItem) -> str:
    return f"- {item.full_name}: {one_line(item.text, 100)}"


def _nothing_found(asked: str, known: Sequence[CatalogItem]) -> str:
    servers = Counter(item.server or "no server" for item in known)
    has = ", ".join(f"{name} ({count})" for name, count in servers.most_common(12))
    return f"No tool fits {asked[:80]!r}. The catalog has tools of: {has or 'nobody'}.\n"


def _json(schema: Any) -> str:
    return json.dumps(schema, ensure_ascii=False, default=str)
