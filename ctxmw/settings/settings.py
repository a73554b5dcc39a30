"""Settings from a file, the environment and arguments: later ones win, key by key.

The file is `ctxmw.toml`, or `[tool.ctxmw]` in `pyproject.toml`, in the current folder or the
nearest one above; what such a file may set is told in `trusting`. `CTXMW_MAX_TOKENS=2000` sets
`max_tokens`, `CTXMW_BUDGET__TURN=600` sets `turn` in `[budget]`. A key that is not known is an
error, in a file as in an argument.
"""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from ..compaction.compactor import Compaction
from ..errors import InvalidValue
from ..protocols import Renderer
from ..recall.offering.items import Offer
from ..recall.offering.view import AgentSearch
from ..recall.render import Compact, Markdown, Xml
from ..search.vectors.embedders import embedder_at
from ..text.cleaning import clean
from ..values.budget import Appetite, Arriving, Budget, OnDemand
from ..values.items import Include
from ..values.messages import Placement
from ..values.retention import Retention
from ..values.situation import Floors, Weights
from ..workspace.triggers import Triggers
from .file import settings_file
from .trust import allowed

if TYPE_CHECKING:
    from ..composition import Options
    from ..middleware import ContextMiddleware

log = logging.getLogger("ctxmw")

PREFIX = "CTXMW_"
_NOT_SETTINGS = frozenset({"CTXMW_HOME", "CTXMW_STRICT", "CTXMW_TOKEN"})


class ServerSettings(BaseModel):
    """How the tools of one server come in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: Include
    """For tools that say nothing themselves: always, manual or agent."""


Switch = bool | Annotated[float, Field(ge=0, le=1)]


class TriggerSettings(BaseModel):
    """What brings context by itself, and for how long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file_open: Switch = True
    """A file opened in an editor."""
    file_edit: Switch = True
    """A file edited in an editor, with what changed in it."""
    symbol_hover: Switch = True
    """A name looked at in an editor."""
    session_start: Switch = True
    """Work begun in an editor."""
    symbol_mention: Switch = True
    """A name of the code in a message."""
    file_mention: Switch = True
    """A file in a message."""
    stack_trace: Switch = True
    """A stack trace in a message."""
    implicit_queries: Switch = True
    """What a question is about."""
    minutes: float = Field(default=15, ge=0)
    """How long a trigger lasts."""
    turns: int = Field(default=3, ge=0)
    """For how many more messages it lasts."""
    decay: float = Field(default=0.85, ge=0, le=1)
    """What is left of its weight with each of them."""
    hits: int = Field(default=3, ge=0)
    """Definitions a name brings at most."""
    tokens: int = Field(default=1000, ge=0)
    """Tokens of code context for one message."""
    related: int = Field(default=5, ge=0)
    """Neighbours named with a definition."""


_LASTING = ("minutes", "turns", "decay", "hits", "tokens", "related")
_TRIGGERS = {
    "file_open": "open",
    "file_edit": "edit",
    "symbol_hover": "hover",
    "session_start": "session_start",
    "symbol_mention": "symbol",
    "file_mention": "path",
    "stack_trace": "trace",
    "implicit_queries": "message",
}


class RedactionSettings(BaseModel):
    """What is never written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    patterns: tuple[str, ...] = ()
    """Regular expressions, such as "ACME-[0-9]{6}"; what they match is taken out.
    One that could take for ever, such as "(a+)+$", is refused."""


class Settings(BaseModel):
    """Everything that can be set without writing code."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: str | None = None
    """The memory's file. A relative path counts from the folder of the file it stands in.
    Without: memory.db in the data folder (CTXMW_HOME moves it)."""
    user: str = Field(default="local", min_length=1)
    """Whose memory it is."""
    project: str | None = None
    """The project at hand. Without: found from the current folder."""
    language: str | None = None
    """The language at hand. Without: found from the current folder."""

    enabled: bool = True
    """Whether anything is put into prompts. Tools and commands work without."""
    max_tokens: int | None = Field(default=None, ge=0)
    """New tokens a request may cost; the same as total in [budget]."""
    max_context_tokens: int | None = Field(default=None, ge=0)
    """Tokens of the block that opens the system prompt; this turn's part keeps its own."""
    min_relevance: float | None = Field(default=None, ge=0, le=1)
    """The score that something must reach for a message to bring anything; the same as query in
    [floors]."""
    include_decisions: bool = True
    """Whether decisions come into prompts by themselves."""
    include_session_history: bool = True
    """Whether what was said and noted in earlier conversations comes in by itself."""
    recent_sessions: int = Field(default=5, ge=0)
    """Summaries of the last conversations at most."""
    max_index_entries: int | None = Field(default=None, ge=0)
    """Lines of a block's index at most. Without: as many as fit."""
    appetite: Appetite = "balanced"
    """When a turn's part stops: lean soon, balanced when the next hit is hardly worth its tokens,
    full when the budget is spent."""
    placement: Placement = "split"
    """Where blocks go: split (system prompt and before the user's text), system_end, all_system."""
    renderer: Literal["markdown", "xml", "compact"] = "markdown"
    """How blocks are written."""

    model: str | None = None
    """The model that reads the prompts; decides how tokens are counted."""
    window: int | None = Field(default=None, ge=1)
    """The model's context window in tokens."""
    embedder: str | None = None
    """Finds by meaning too: wordllama, minilm, or MODULE:NAME of an embedder (not in a file that
    was only found, as importing runs the module). Without: by words."""
    index: str | None = None
    """Where vectors are searched: numpy, chroma or chroma://HOST:PORT."""
    deadline: float | None = Field(default=None, ge=0)
    """Milliseconds that the search for a turn's part may take; 0 waits for everything. Without:
    200."""
    strict: bool | None = None
    """Whether adapters raise what fails at run time, instead of going on without memory."""

    index_folders: bool = True
    """Whether the code of the project at hand is indexed by itself, in the background."""
    max_sections: int = Field(default=10, ge=0)
    """Pieces of code context a message brings at most."""
    triggers: TriggerSettings = TriggerSettings()
    """What brings code and files by itself: true, false, or a weight from 0 to 1."""
    redaction: RedactionSettings = RedactionSettings()
    """What is never written, beside secrets of well-known forms."""
    budget: Budget = Budget()
    """The tokens of a request, and the lanes that share them."""
    on_demand: OnDemand = OnDemand()
    """What the agent may fetch by itself."""
    weights: Weights = Weights()
    """What each signal of a score counts; together 1."""
    floors: Floors = Floors()
    """The score an item must reach to be shown."""
    agent_search: AgentSearch = AgentSearch()
    """How many rules, references and tools with include = "agent" a request may bring."""
    compaction: Compaction = Compaction()
    """When a long conversation is compacted, and how far."""
    retention: Retention = Retention()
    """How many days records are kept. Without: until they are forgotten."""
    catalog: tuple[Offer, ...] = ()
    """Rules, references and tools on offer wherever these settings hold."""
    servers: dict[str, ServerSettings] = Field(default_factory=dict)
    """How the tools of a server come in, by its name."""

    _without: str = PrivateAttr(default="")

    @classmethod
    def load(
        cls,
        folder: str | Path | None = None,
        *,
        file: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
        **arguments: Any,
    ) -> Self:
        """Return the settings that hold in a folder: its file, then the environment, then these.

        Without a folder the current one is meant. An argument that is None says nothing. A file
        that was found, and that nobody named or trusted, sets what is harmless: see `trusting`.
        """
        environ = os.environ if environ is None else environ
        own = settings_file(Path(folder or Path.cwd()), file, environ)
        given = [
            _from_environment(environ),
            {name: value for name, value in arguments.items() if value is not None},
        ]
        layers = [dict(own.content) if own else {}, *given]
        told = (str(own.path) if own else "", "the environment", "the arguments")
        for where, layer in zip(told, layers, strict=True):
            cls._checked(layer, where)
        without = ""
        if own:
            layers[0], without = allowed(own, {key for layer in given for key in layer})
        merged: dict[str, Any] = {}
        for layer in layers:
            merged = _merged(merged, layer)
        settings = cls._checked(merged, " and ".join(_used(told, layers)))
        settings._without = without
        return settings

    @property
    def without(self) -> str:
        """What was left out of a file that was only found, and how to allow it; "" for nothing."""
        return self._without

    def open(self, **options: Any) -> ContextMiddleware:
        """Open the memory; an option given here wins over the settings."""
        # Whoever only reads settings, such as the command, need not load everything else.
        from ..middleware import ContextMiddleware

        return ContextMiddleware.open(settings=self, **options)

    def options(self) -> Options:
        """Return what a memory is opened with."""
        if self._without:
            log.warning(clean(self._without))
        given: Options = {
            "user": self.user,
            "project": self.project,
            "language": self.language,
            "model": self.model,
            "window": self.window,
            "embedder": None if self.embedder is None else embedder_at(self.embedder),
            "budget": self._budget(),
            "arriving": Arriving(
                decisions=self.include_decisions,
                session_history=self.include_session_history,
                recent_sessions=self.recent_sessions,
                index_entries=self.max_index_entries,
                appetite=self.appetite,
            ),
            "on_demand": self.on_demand,
            "weights": self.weights,
            "floors": self._floors(),
            "agent_search": self.agent_search,
            "compaction": self.compaction,
            "retention": self.retention,
            "placement": self.placement,
            "triggers": self._triggers(),
            "index_folders": self.index_folders,
            "redact": self.redaction.patterns,
            "renderer": _RENDERERS[self.renderer](),
            "offers": self.catalog,
            "servers": {name: server.include for name, server in self.servers.items()},
        }
        if self.index is not None:
            given["index"] = self.index
        if self.deadline is not None:
            given["deadline"] = self.deadline or None
        if self.strict is not None:
            given["strict"] = self.strict
        return given

    def _budget(self) -> Budget:
        budget = self.budget
        if self.max_tokens is not None:
            budget = replace(budget, total=self.max_tokens)
        if self.max_context_tokens is not None:
            budget = budget.with_stable_limit(self.max_context_tokens)
        return budget if self.enabled else replace(budget, total=0)

    def _floors(self) -> Floors:
        if self.min_relevance is None:
            return self.floors
        return replace(self.floors, query=self.min_relevance)

    def _triggers(self) -> Triggers:
        chosen = self.triggers
        given: dict[str, Any] = {
            name: getattr(Triggers(), name) if value is True else float(value)
            for key, name in _TRIGGERS.items()
            for value in [getattr(chosen, key)]
        }
        given |= {name: getattr(chosen, name) for name in _LASTING}
        return Triggers(sections=self.max_sections, **given)

    @classmethod
    def _checked(cls, values: Mapping[str, Any], where: str) -> Self:
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = [_problem(cls, each) for each in error.errors(include_url=False)]
            raise InvalidValue(f"{where}: {' '.join(problems)}") from error


_RENDERERS: dict[str, type[Renderer]] = {"markdown": Markdown, "xml": Xml, "compact": Compact}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what variables set; those that are no setting of ours are left alone."""
    found: dict[str, Any] = {}
    for name, value in environ.items():
        key, *below = name.removeprefix(PREFIX).lower().split("__")
        if not name.startswith(PREFIX) or name in _NOT_SETTINGS or key not in Settings.model_fields:
            continue
        table = found
        for part in below:
            table = table.setdefault(key, {})
            key = part
        table[key] = _value(name, value)
    return found


def _value(name: str, text: str) -> Any:
    """Return a list or table where one is written, else the text: its field knows what it is."""
    if not text.startswith(("[", "{")):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue(f"{name} is {text!r:.60}, which is not valid TOML: {error}.") from error


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, table by table; lists are not joined."""
    both = dict(under)
    for key, value in over.items():
        known = both.get(key)
        tables = isinstance(known, Mapping) and isinstance(value, Mapping)
        both[key] = _merged(known, value) if tables else value  # type: ignore[arg-type]
    return both


def _used(told: Iterable[str], layers: Iterable[Mapping[str, Any]]) -> list[str]:
    return [where for where, layer in zip(told, layers, strict=True) if layer] or ["the settings"]


def _problem(cls: type[BaseModel], error: Mapping[str, Any]) -> str:
    key = ".".join(map(str, error["loc"])) or "the settings"
    if error["type"] not in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{key} is {error['input']!r:.60}: {error['msg']}."
    known = _keys_beside(cls, error["loc"])
    near = get_close_matches(str(error["loc"][-1]), known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Allowed: {', '.join(known)}."
    return f"there is no key {key!r}. {hint}"


def _keys_beside(cls: Any, loc: tuple[Any, ...]) -> list[str]:
    """Return the keys that are allowed where this one stands."""
    fields = getattr(cls, "model_fields", None) or getattr(cls, "__dataclass_fields__", {})
    if len(loc) == 1:
        return list(fields)
    field = fields.get(loc[0])
    if field is None:  # a list's number or a table's name
        return _keys_beside(cls, loc[1:])
    inner = field.annotation if hasattr(field, "annotation") else field.type
    inside = [kind for kind in (inner, *get_args(inner)) if isinstance(kind, type)]
    made = [kind for kind in inside if hasattr(kind, "model_fields") or _is_dataclass(kind)]
    return _keys_beside(made[0], loc[1:]) if made else []


def _is_dataclass(kind: type) -> bool:
    return hasattr(kind, "__dataclass_fields__")
