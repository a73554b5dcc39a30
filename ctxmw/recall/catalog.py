"""Rules, references and tools an application offers, and how each comes into a conversation.

`always`: with every conversation. `manual`: when somebody adds it. `agent`: when search finds it
relevant to a request. A tool's own mode wins over its server's; without either it is `always`.
The catalog belongs to the application: every user of a memory shares it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InvalidValue, NotFound
from ..protocols import Clock, Find, Row, Store
from ..runtime.lru import LruCache
from ..runtime.telemetry import Faults
from ..store.journal import Feed, Journal
from ..store.replica import Projection, Replica, rows_of
from ..text.secrets.redaction import redact, redact_name
from ..values.argument_checks import check_kind, check_name, check_text
from ..values.items import Include, short_refs
from ..values.records import SHARED, load_as
from .offering.items import (
    CATALOG_KINDS,
    INCLUDES,
    SERVER,
    CatalogItem,
    CatalogKind,
    CatalogServer,
    Offer,
)
from .offering.view import CatalogView
from .sources.skills import Skills


class Catalog:
    """What the application offers."""

    def __init__(
        self,
        journal: Journal,
        feed: Feed,
        *,
        offers: Sequence[Offer] = (),
        servers: Mapping[str, Include] | None = None,
    ) -> None:
        """Offer what the store has, and these: they are as good, but not written to it."""
        self.skills = Skills()
        """Agent Skills, of the application and of folders."""
        self._store = journal.store
        self._clock = journal.clock
        self._random = journal.random
        self._offered = [_offered_item(offer, journal.clock) for offer in offers]
        self._servers = {redact_name(name): include for name, include in (servers or {}).items()}
        make = partial(_Stored, journal.store, journal.faults)
        types = (CatalogItem.type, CatalogServer.type)
        self._stored = Replica(feed, types, make, users=1)
        self._views: LruCache[object, CatalogView] = LruCache(2)

    def add(
        self,
        kind: CatalogKind,
        name: str,
        content: str = "",
        *,
        include: Include | None = None,
        enabled: bool = True,
        server: str = "",
    ) -> CatalogItem:
        """Offer a rule, reference or tool; the same kind, server and name again replaces it."""
        check_kind(kind, CATALOG_KINDS, "catalog")
        if include is not None:
            check_kind(include, INCLUDES, "include")
        if not isinstance(enabled, bool):
            raise InvalidValue(f"enabled is {enabled!r:.60}: give True or False.")
        check_name(server, "server")
        if server and kind != "tool":
            raise InvalidValue(f"server is {server!r} for a {kind}: only tools have a server.")
        if kind != "tool":
            check_text(content, f"the content of {name!r}")
        item = self._new(kind, name, content, include=include, enabled=enabled, server=server)
        return self._put([item])[0]

    def add_tools(
        self, tools: Any, *, server: str = "", include: Include | None = "agent"
    ) -> list[CatalogItem]:
        """Offer tools as a framework has them, for requests that call for them.

        Takes tools of LangChain and LlamaIndex, an MCP session's (`await session.list_tools()`),
        and JSON schemas. A model is still given the tools themselves: of those it is given, the
        ones that a request calls for are bound.
        """
        from .offering.tool_shapes import read_tools, without_server

        if include is not None:
            check_kind(include, INCLUDES, "include")
        check_name(server, "server")
        made = [
            self._new(
                "tool",
                without_server(server, tool.name),
                tool.description,
                include=include,
                server=server,
                details=redact(tool.parameters).text,
            )
            for tool in read_tools(tools)
        ]
        return self._put(made)

    def _new(
        self, kind: CatalogKind, name: str, content: str, *, server: str, **values: Any
    ) -> CatalogItem:
        return CatalogItem(
            user=SHARED,
            ref="",
            at=self._clock(),
            kind=kind,
            name=redact_name(check_text(name, "a catalog name")),
            text=redact(content).text,
            server=redact_name(server),
            **values,
        )

    def _put(self, items: Sequence[CatalogItem]) -> list[CatalogItem]:
        """Write items, each in the place of the one that has its kind, server and name."""
        with self._store.atomic(SHARED):
            keys = tuple(item.key for item in items)
            old = self._store.query(SHARED, Find(types=("catalog",), keys=keys)) if keys else []
            known = {row.key: row.ref for row in old}
            new_ref = short_refs(self._store, SHARED, self._random)
            named = {}
            for item in items:
                ref = known.get(item.key) or new_ref(CatalogItem.prefix)
                known[item.key] = ref
                named[ref] = item.model_copy(update={"ref": ref})
            self._store.put([item.row() for item in named.values()])
        return list(named.values())

    def add_server(self, name: str, *, include: Include) -> None:
        """Say how the tools of a server come in unless they say otherwise."""
        check_kind(include, INCLUDES, "include")
        name = redact_name(check_text(name, "a server"))
        ref = f"{SERVER}{name}"
        server = CatalogServer(user=SHARED, ref=ref, at=self._clock(), name=name, include=include)
        self._store.put([server.row()])

    def add_skills(self, folder: str | Path) -> list[str]:
        """Offer the Agent Skills of a folder (SKILL.md files) in this process; return their names.

        A request that calls for one is told its name and description; mem_get brings the rest.
        A name that was added before is replaced, with a warning where another folder had it.
        """
        return self.skills.add(folder)

    def remove(self, name: str) -> None:
        """Offer it no longer."""
        item = self.find(name)
        if item in self._offered:
            raise InvalidValue(f"{name!r} stands in the settings: take it out there.")
        self._store.delete(SHARED, [item.ref])

    def items(self) -> list[CatalogItem]:
        """Return everything on offer and enabled, in the order in which it was added."""
        return list(self.view().items)

    def _all_of(self, read: _Stored) -> list[CatalogItem]:
        stored = sorted(read.items.values(), key=lambda item: item.at)
        # What the settings say takes the place of what the store has under the same name.
        own = {item.key for item in self._offered}
        return [*(item for item in stored if item.key not in own), *self._offered]

    def view(self, head: int | None = None) -> CatalogView:
        """Return everything on offer and enabled, as of now or of this position of the feed."""
        with self._stored.use(SHARED, head) as read:
            known = self._views.get(read.state)
            if known is None:
                every = self._all_of(read)
                items = [item for item in every if item.enabled]
                modes = {item.ref: self._include(item, read) for item in items}
                known = CatalogView(items=tuple(items), modes=modes, every=tuple(every))
                self._views.put(read.state, known)
            return known

    def bound(self, names: Sequence[str], called: Sequence[str]) -> list[str]:
        """Return which of an agent's tools to bind to a request, by name.

        First those the catalog does not know, as they come; then those of the request
        (`Prepared.tools`), in its order. A tool of the catalog may go by its name without server,
        or with it as adapters of MCP servers write it: github_search_code.
        """
        ways = self.view().spelled
        free = [name for name in names if name not in ways]
        places = {full: at for at, full in enumerate(called)}
        wanted = {
            name: min(places[full] for full in ways[name] if full in places)
            for name in names
            if not places.keys().isdisjoint(ways.get(name, ()))
        }
        return [*free, *sorted(wanted, key=wanted.__getitem__)]

    def find(self, name: str) -> CatalogItem:
        """Return the item of that name or ref, or raise an error that names the nearest."""
        items, name = self.items(), redact_name(name)
        exact = [i for i in items if name in (i.ref, f"{i.kind}:{i.full_name}")]
        called = exact or [item for item in items if item.full_name == name]
        if len(called) > 1:
            ways = " or ".join(f"{item.kind}:{item.full_name}" for item in called)
            raise InvalidValue(f"the catalog has more than one {name!r}: say {ways}.")
        if called:
            return called[0]
        near = get_close_matches(name, [item.full_name for item in items], n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}?" if near else "List what it has, or add it."
        raise NotFound(f"the catalog has no {name!r}. {hint}")

    def include_of(self, item: CatalogItem) -> Include:
        """Return how the item comes in: its own mode, else its server's, else always."""
        with self._stored.use(SHARED) as read:
            return self._include(item, read)

    def _include(self, item: CatalogItem, read: _Stored) -> Include:
        if item.include is not None:
            return item.include
        if item.server in self._servers:
            return self._servers[item.server]
        server = read.servers.get(f"{SERVER}{item.server}")
        return server.include if server else "always"


class _Stored(Projection):
    """What the store has of the catalog."""

    def __init__(self, store: Store, faults: Faults, user: str) -> None:
        super().__init__()
        self._store = store
        self._faults = faults
        self._user = user
        self.items: dict[str, CatalogItem] = {}
        """By ref, in the order in which they were written."""
        self.servers: dict[str, CatalogServer] = {}
        """By ref."""
        self.state = object()
        """Another one after each change."""

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
        if written or gone:
            self.state = object()
        for ref in (*gone, *written):
            self.items.pop(ref, None)
            self.servers.pop(ref, None)
        for rows in rows_of(self._store, self._user, written):
            self._faults.read([row for row in rows if row.live], self._read)

    def _read(self, row: Row) -> None:
        if row.type == CatalogItem.type:
            self.items[row.ref] = load_as(row, CatalogItem)
        else:
            self.servers[row.ref] = load_as(row, CatalogServer)


def _offered_item(offer: Offer, clock: Clock) -> CatalogItem:
    if offer.server and offer.kind != "tool":
        raise InvalidValue(
            f"server is {offer.server!r} for a {offer.kind}: only tools have a server."
        )
    if offer.kind != "tool":
        check_text(offer.content, f"the content of {offer.name!r}")
    item = CatalogItem(
        user=SHARED,
        ref="",
        at=clock(),
        kind=offer.kind,
        name=redact_name(offer.name),
        text=redact(offer.content).text,
        include=offer.include,
        enabled=offer.enabled,
        server=redact_name(offer.server),
        source="settings",
    )
    # Made from its name, so that it is the same in every process.
    return item.model_copy(update={"ref": f"{CatalogItem.prefix}-{item.key[:10]}"})
