"""What a memory is opened with, and what is made of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random, SystemRandom
from typing import TypedDict, TypeVar

from .budget import Budget, OnDemand
from .catalog import AgentSearch, Catalog
from .chroma import index_named
from .dense import Dense
from .embedders import as_embedder
from .errors import InvalidValue
from .pipeline import Setup
from .prefix import Prefixes
from .protocols import Clock, Renderer, Source, Store, TokenCounter
from .recent import Recent
from .records import utc_now
from .render import Markdown
from .scoring import Floors, Weights
from .search import Search
from .sources import Memories, Sessions
from .stats import Stats
from .tokens import counter_for
from .twins import Workers
from .vectors import Vectors

T = TypeVar("T")


class Options(TypedDict, total=False):
    """What a memory can be opened with; every option has a default."""

    user: str | None
    """Whose memory it is: "local" unless given. None is for servers: every call names its user."""
    model: str | None
    """The model that will read the prompts; decides how tokens are counted."""
    count: TokenCounter
    """Counts tokens instead, such as a provider's own counter."""
    window: int | None
    """The model's context window in tokens."""
    embedder: object | None
    """Finds by meaning too: a LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, a Chroma
    embedding function, "wordllama", or anything with `name`, `embed` and `embed_query`."""
    index: str
    """Where vectors are searched: "numpy", "chroma" or "chroma://host:port"."""
    budget: Budget
    on_demand: OnDemand
    agent_search: AgentSearch
    weights: Weights
    floors: Floors
    renderer: Renderer
    sources: Sequence[Source]
    """Sources of your own, beside memories and conversations."""
    strict: bool
    """Whether adapters raise what fails at run time instead of going on without memory."""
    on_error: Callable[[str, Exception], None] | None
    """Told the stage and the error when an adapter goes on without memory."""
    clock: Clock
    random: Random


def setup_of(store: Store, options: Options) -> Setup:
    """Return what a middleware over this store works with."""
    count = options.get("count") or counter_for(options.get("model"))
    _warm(count)
    dense = _dense(store, options.get("embedder"), options.get("index") or "numpy")
    clock = options.get("clock") or utc_now
    random = options.get("random") or SystemRandom()
    return Setup(
        store=store,
        clock=clock,
        random=random,
        count=count,
        counter=str(getattr(count, "name", "custom")),
        exact=bool(getattr(count, "exact", True)),
        renderer=options.get("renderer") or Markdown(),
        budget=checked(options.get("budget") or Budget(), Budget),
        on_demand=checked(options.get("on_demand") or OnDemand(), OnDemand),
        weights=checked(options.get("weights") or Weights(), Weights),
        floors=checked(options.get("floors") or Floors(), Floors),
        sources=(Memories(store), Sessions(store), *options.get("sources", ())),
        window=options.get("window"),
        dense=dense,
        search=Search(store, count, dense=dense),
        catalog=Catalog(store, clock, random),
        agent_search=checked(options.get("agent_search") or AgentSearch(), AgentSearch),
        builds=Recent(1024),
        printed=Recent(64),
        prefixes=Prefixes(),
        stats=Stats(),
        warned=Recent(64),
        strict=bool(options.get("strict", os.environ.get("CTXMW_STRICT") == "1")),
        on_error=options.get("on_error"),
        workers=Workers(),
    )


def data_folder() -> Path:
    """Return where memories are kept unless told otherwise; CTXMW_HOME moves it."""
    if home := os.environ.get("CTXMW_HOME"):
        return Path(home)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ctxmw"


def checked(value: T, kind: type[T]) -> T:
    """Return the value, or raise when it is of another kind."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise InvalidValue(f"{name.lower()} is {value!r:.60}: give a {name}, such as {name}().")
    return value


def _dense(store: Store, embedder: object | None, index: str) -> Dense | None:
    if embedder is None:
        return None
    path = Path(getattr(store, "path", data_folder() / "memory.db"))
    return Dense(Vectors(store, as_embedder(embedder), index_named(index, path)))


def _warm(counter: TokenCounter) -> None:
    # Loading a token table takes a few tenths of a second: better now than in somebody's request.
    warm = getattr(counter, "warm", None)
    if warm is not None:
        warm()
