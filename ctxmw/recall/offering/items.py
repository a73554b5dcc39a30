"""The items of a catalog: rules, references and tools, and how each comes into a conversation."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from ...search.offered import Described
from ...text.cleaning import digest
from ...values.items import Include, Item
from ...values.records import Record

CatalogKind = Literal["rule", "reference", "tool"]
CATALOG_KINDS: tuple[str, ...] = get_args(CatalogKind)
INCLUDES: tuple[str, ...] = get_args(Include)
SERVER = "server:"
"""How the refs of servers begin."""


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
    details: str = ""
    """What a tool takes, for search: names and descriptions of its parameters."""

    @property
    def full_name(self) -> str:
        """The name by which it is added and removed; a tool's begins with its server."""
        return f"{self.server}:{self.name}" if self.server else self.name

    @property
    def version(self) -> str:
        return digest(self.full_name, self.text, *filter(None, [self.details]))[:16]

    @property
    def described(self) -> Described:
        """What search knows of it."""
        tool = self.kind == "tool"
        return Described(name=self.full_name, text=self.text, details=self.details, brief=tool)

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
