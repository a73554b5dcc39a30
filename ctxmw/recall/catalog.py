"""Rules, references and tools an application offers, and how each comes into a conversation.

`always`: with every conversation. `manual`: when somebody adds it. `agent`: when search finds it
relevant to a request. A tool's own mode wins over its server's; without either it is `always`.
The catalog belongs to the application: every user of a memory shares it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from ..errors import InvalidValue, NotFound
from ..protocols import Clock, Find, Row, Store
from ..runtime.telemetry import Faults
from ..search.ranking.term_match import matcher
from ..store.journal import Feed, Journal
from ..store.replica import Projection, Replica, rows_of
from ..text.cleaning import digest, search_text
from ..text.secrets.redaction import redact, redact_name
from ..values.argument_checks import check_kind, check_name, check_text
from ..values.items import Include, Item, short_refs
from ..values.records import SHARED, Record, load_as
from ..values.situation import with_match

CatalogKind = Literal["rule", "reference", "tool"]
CATALOG_KINDS: tuple[str, ...] = get_args(CatalogKind)
INCLUDES: tuple[str, ...] = get_args(Include)
SERVER = "server:"
"""How the refs of servers begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSearch:
    """How many `agent` items a request may bring."""

    top_k: int = 20
    """Candidates looked at, best match first."""
    top_n: int = 5
    """Items brought at most."""
    min_score: float = 0.5
    """Half match, half 0.7, must reach this."""


class Offer(BaseModel):
    """A rule, a reference or a tool of an application that keeps its own list of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: CatalogKind
    """rule, reference or tool."""
    name: str = Field(min_length=1)
    """What it is called; with its server, for a tool."""
    content: str = ""
    """What it says; a tool may go by its name alone."""
    include: Include | None = None
    """always, manual or agent; without, as the server says, else always."""
    enabled: bool = True
    """Whether it is offered."""
    server: str = ""
    """The server a tool is on."""


class CatalogItem(Record):
    """A rule, a reference or a tool."""

    type: ClassVar[str] = "catalog"
    prefix: ClassVar[str] = "r"

    kind: CatalogKind
    name: str = Field(min_length=1)
    text: str
    include: Include | None = None
    """None: as its server says."""
    enabled: bool = True
    server: str = ""

    @property
    def full_name(self) -> str:
        """The name by which it is added and removed; a tool's begins with its server."""
        return f"{self.server}:{self.name}" if self.server else self.name

    @property
    def version(self) -> str:
        return digest(self.full_name, self.text)[:16]

    def says(self) -> str:
        return f"{self.full_name}\n{self.text}"

    def item(self, include: Include) -> Item:
        """Return it as an item, as it came in."""
        return Item(
            ref=self.ref,
            kind=self.kind,
            text=self.text or self.full_name,
            lane="pinned",
            section="references" if self.kind == "reference" else "rules",
            label=self.full_name,
            title=self.full_name,
            include=include,
            source=self.source,
            version=self.version,
            score=0.7,
        )

    @property
    def key(self) -> str:
        """Equal for two that have the same kind, server and name."""
        return digest(self.kind, self.server, self.name)[:32]

    def _columns(self) -> dict[str, Any]:
        return {"key": self.key}


class CatalogServer(Record):
    """How the tools of one server come in unless they say otherwise."""

    type: ClassVar[str] = "server"

    name: str
    include: Include

    def _columns(self) -> dict[str, Any]:
        return {"key": self.name}


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
        self._store = journal.store
        self._clock = journal.clock
        self._random = journal.random
        self._offered = [_offered(offer, journal.clock) for offer in offers]
        self._servers = {redact_name(name): include for name, include in (servers or {}).items()}
        make = partial(_Stored, journal.store, journal.faults)
        types = (CatalogItem.type, CatalogServer.type)
        self._stored = Replica(feed, types, make, users=1)

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
        with self._store.atomic(SHARED):
            item = CatalogItem(
                user=SHARED,
                ref=short_refs(self._store, SHARED, self._random)(CatalogItem.prefix),
                at=self._clock(),
                kind=kind,
                name=redact_name(check_text(name, "a catalog name")),
                text=redact(content).text,
                include=include,
                enabled=enabled,
                server=redact_name(server),
            )
            old = self._store.query(SHARED, Find(types=("catalog",), keys=(item.row().key,)))
            item = item.model_copy(update={"ref": old[0].ref}) if old else item
            self._store.put([item.row()])
        return item

    def add_server(self, name: str, *, include: Include) -> None:
        """Say how the tools of a server come in unless they say otherwise."""
        check_kind(include, INCLUDES, "include")
        name = redact_name(check_text(name, "a server"))
        ref = f"{SERVER}{name}"
        server = CatalogServer(user=SHARED, ref=ref, at=self._clock(), name=name, include=include)
        self._store.put([server.row()])

    def remove(self, name: str) -> None:
        """Offer it no longer."""
        item = self.find(name)
        if item in self._offered:
            raise InvalidValue(f"{name!r} stands in the settings: take it out there.")
        self._store.delete(SHARED, [item.ref])

    def items(self, head: int | None = None) -> list[CatalogItem]:
        """Return everything on offer and enabled, in the order in which it was added.

        `head` is where the changes feed of what is shared stands, when that is known.
        """
        return [item for item in self._all(head) if item.enabled]

    def _all(self, head: int | None = None) -> list[CatalogItem]:
        with self._stored.use(SHARED, head) as read:
            stored = sorted(read.items.values(), key=lambda item: item.at)
        # What the settings say takes the place of what the store has under the same name.
        own = {item.key for item in self._offered}
        return [*(item for item in stored if item.key not in own), *self._offered]

    def bound(self, names: Sequence[str], called: Sequence[str]) -> list[str]:
        """Return which of an agent's tools to bind to a request, by name.

        First those the catalog does not know, as they come; then those of the request
        (`Prepared.tools`), in its order. A tool of the catalog may go by its name without server.
        """
        known = {name for item in self._all() if item.kind == "tool" for name in _tool_names(item)}
        wanted = [name for full in called for name in (full, full.rpartition(":")[2])]
        free = [name for name in names if name not in known]
        return [*free, *dict.fromkeys(name for name in wanted if name in known & set(names))]

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

    def include_of(self, item: CatalogItem, head: int | None = None) -> Include:
        """Return how the item comes in: its own mode, else its server's, else always."""
        if item.include is not None:
            return item.include
        if item.server in self._servers:
            return self._servers[item.server]
        with self._stored.use(SHARED, head) as read:
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

    def take_in(self, written: Sequence[str], gone: Collection[str]) -> None:
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


def _offered(offer: Offer, clock: Clock) -> CatalogItem:
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


def _tool_names(item: CatalogItem) -> tuple[str, str]:
    return item.full_name, item.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """The catalog as one conversation sees it."""

    pinned: tuple[Item, ...]
    """Always or added, and not removed."""
    on_call: tuple[CatalogItem, ...]
    """What search may bring."""

    def names(self, kind: CatalogKind) -> list[str]:
        """Return the names of what is in, by kind."""
        return [item.title for item in self.pinned if item.kind == kind]


def session_context(
    catalog: Catalog, added: Collection[str], removed: Collection[str], head: int | None = None
) -> SessionContext:
    """Return what is in a conversation, and what search may bring to a request."""
    pinned, on_call = [], []
    for item in catalog.items(head):
        mode = catalog.include_of(item, head)
        if item.ref in removed:
            continue
        if item.ref in added:
            pinned.append(item.item("manual"))
        elif mode == "always":
            pinned.append(item.item("always"))
        elif mode == "agent":
            on_call.append(item)
    return SessionContext(pinned=tuple(pinned), on_call=tuple(on_call))


def called_for(items: Sequence[CatalogItem], query: str, policy: AgentSearch) -> list[Item]:
    """Return the `agent` items that a request calls for, best first."""
    if not items:
        return []
    texts = {item.ref: frozenset(search_text(item.says()).split()) for item in items}
    match = matcher(query, texts.values())
    if match is None:
        return []
    rated = [with_match(item.item("agent"), match(texts[item.ref])) for item in items]
    # Those that match as well come in the order in which they were added.
    best = sorted(rated, key=lambda item: -item.score)[: policy.top_k]
    return [item for item in best if item.match and item.score >= policy.min_score][: policy.top_n]
