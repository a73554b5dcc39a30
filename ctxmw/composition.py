"""What a memory is opened with, and what is made of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

from .code.codebase import Codebase
from .compaction.policy import Compaction
from .conversation.replay.prefix import Prefixes
from .errors import InvalidValue
from .learning.policy import Learning, checked_trust
from .learning.summarizers import MeteredSummarizer, SummarizerLimits, as_summarizer
from .protocols import Clock, Renderer, Source, Store, TokenCounter, VectorIndex
from .recall.admission import Arriving
from .recall.catalog import AgentSearch, Catalog, Offer
from .recall.modes import MODES, Mode
from .recall.pipeline import Setup
from .recall.render import Markdown
from .recall.sources import Directory, Memories, Sessions
from .recall.sources.code import Code
from .recall.surroundings import Surroundings
from .runtime.async_twins import AT_WORK, AT_WORK_REMOTELY, Workers
from .runtime.deadline import MILLISECONDS, Aside
from .runtime.faults import Faults
from .runtime.lru import LruCache
from .runtime.observing import Observer, Tracing
from .runtime.stats import Stats
from .search.search import Search
from .search.vectors.backlog import Backlog
from .search.vectors.dense import Dense
from .search.vectors.embedders import as_embedder
from .search.vectors.vectors import Vectors
from .store.feed import Feed
from .store.redacting import redacting
from .text.logs import keep_secrets_out_of_logs
from .tokens.counter import counter_for
from .tokens.own_counter import checked_counter
from .tokens.windows import known_window
from .values.budget import Budget, OnDemand
from .values.clocks import checked_clock
from .values.items import Include, Trust
from .values.messages import Placement, check_placement
from .values.option_checks import check_options
from .values.records import utc_now
from .values.scoring import Floors, Weights
from .workspace.triggers import Triggers

if TYPE_CHECKING:
    from .learning.distill import Distiller

T = TypeVar("T")

CHARACTERS = 4_000_000
"""How much text may be kept at hand of one kind, for all users together."""
PRINTED = 1_500_000
"""How much of it may be printed text of single items, in bytes ..."""
BESIDES = 300
"""... of which each takes so many besides its text."""


class Options(TypedDict, total=False):
    """What a memory can be opened with; every option has a default."""

    user: str | None
    """Whose memory it is: "local" unless given. None is for servers: every call names its user."""
    model: str | None
    """The model that will read the prompts; decides how tokens are counted."""
    count: TokenCounter
    """Counts tokens instead, such as a provider's own counter; a fraction is rounded up."""
    window: int | None
    """The model's context window in tokens; without, the one known of `model`."""
    compaction: Compaction
    """When conversations are compacted, and how far."""
    embedder: object | None
    """Finds by meaning too: a LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, a Chroma
    embedding function, "wordllama", or anything with `name`, `embed` and `embed_query`."""
    index: str
    """Where vectors are searched: "numpy", "chroma", "chroma://host:port", or "pgvector" in a
    memory on Postgres."""
    summarizer: object | None
    """Asked to condense: a LangChain chat model, a LlamaIndex LLM, or a function from text to
    text. None by default: then nothing is ever asked."""
    summarizer_limits: SummarizerLimits
    learn: Learning
    """What conversations leave behind beside their turns; everything by default."""
    trust: Mapping[str, Trust]
    """How far sources are trusted: {"web": "untrusted", "tool:calculator": "trusted"}."""
    budget: Budget
    on_demand: OnDemand
    agent_search: AgentSearch
    weights: Weights
    floors: Floors
    arriving: Arriving
    """What comes into prompts by itself, as far as that can be switched off."""
    placement: Placement
    """Where blocks go: "split", "system_end" or "all_system"."""
    offers: Sequence[Offer]
    """Rules, references and tools beside those of the store's catalog."""
    servers: Mapping[str, Include]
    """How the tools of a server come in unless they say otherwise."""
    renderer: Renderer
    sources: Sequence[Source]
    """Sources of your own, beside memories and conversations."""
    triggers: Triggers
    """What brings code and rules by itself, and how much each kind counts."""
    modes: Sequence[Mode]
    """Words in a message that bring an instruction; see `ctxmw.recall.modes.MODES`."""
    deadline: float | None
    """Milliseconds that the search for a turn's part may take: what is there by then is used, and
    the record says what is missing. 200 unless given, or what CTXMW_DEADLINE says (0: none). None
    waits for everything; then records are embedded when they are first searched, and not beside
    the requests."""
    redact: Sequence[str]
    """Regular expressions for what must never be written, beside secrets of well-known forms."""
    tracing: Tracing | None
    """Makes OpenTelemetry spans; None by default."""
    strict: bool
    """Whether adapters raise what fails at run time instead of going on without memory."""
    on_error: Callable[[str, Exception], None] | None
    """Told the stage and the error when an adapter goes on without memory, or when one record or
    conversation was set aside ("read", "end", "embed")."""
    clock: Clock
    random: Random


def setup_of(store: Store, options: Options) -> Setup:
    """Return what a middleware over this store works with."""
    check_options(options, Options.__annotations__)
    keep_secrets_out_of_logs()
    store = redacting(store, options.get("redact", ()))
    own = options.get("count")
    count = counter_for(options.get("model")) if own is None else checked_counter(own)
    _warm(count)
    told = options.get("clock")
    clock = utc_now if told is None else checked_clock(told)
    deadline = _deadline(options)
    stats = Stats()
    workers = Workers(AT_WORK_REMOTELY if getattr(store, "remote", False) else AT_WORK)
    faults = Faults(stats, options.get("on_error"))
    feed = Feed(store)
    dense = _dense(feed, options, clock, faults, beside=deadline is not None)
    random = options.get("random") or SystemRandom()
    aside = Aside(before_waiting=workers.leave)
    learn = _given(options.get("learn"), Learning)
    summarizer = _summarizer(options, count, clock, stats)
    weights = _given(options.get("weights"), Weights)
    surroundings = _surroundings(store, feed, count, weights, options, faults=faults)
    return Setup(
        store=store,
        feed=feed,
        clock=clock,
        random=random,
        count=count,
        counter=str(getattr(count, "name", "custom")),
        exact=bool(getattr(count, "exact", True)),
        renderer=options.get("renderer") or Markdown(),
        budget=_given(options.get("budget"), Budget),
        on_demand=_given(options.get("on_demand"), OnDemand),
        weights=weights,
        floors=_given(options.get("floors"), Floors),
        arriving=_given(options.get("arriving"), Arriving),
        placement=check_placement(options.get("placement", "split")),
        sources=(
            Memories(store, faults, feed),
            Sessions(store, faults, feed),
            surroundings.directory,
            *options.get("sources", ()),
        ),
        window=options.get("window") or known_window(options.get("model")),
        compaction=_given(options.get("compaction"), Compaction),
        dense=dense,
        search=Search(
            store, count, dense=dense, stats=stats, aside=aside, feed=feed, faults=faults
        ),
        deadline=deadline,
        aside=aside,
        catalog=Catalog(
            store,
            clock,
            random,
            offers=options.get("offers", ()),
            servers=options.get("servers", {}),
            faults=faults,
            feed=feed,
        ),
        agent_search=_given(options.get("agent_search"), AgentSearch),
        surroundings=surroundings,
        builds=LruCache(512),
        blocks=LruCache(1024, room=CHARACTERS, weigh=lambda kept: len(kept[1].text)),
        printed=LruCache(16_384, room=PRINTED, weigh=lambda kept: len(kept[0]) + BESIDES),
        openings=LruCache(64),
        states=LruCache(256),
        prefixes=Prefixes(),
        stats=stats,
        observer=Observer(stats, options.get("tracing")),
        faults=faults,
        summarizer=summarizer,
        distiller=_distiller(summarizer) if summarizer and learn.model else None,
        learn=learn,
        trust=checked_trust(options.get("trust", {})),
        idle=LruCache(1024),
        warned=LruCache(64),
        strict=bool(options.get("strict", os.environ.get("CTXMW_STRICT") == "1")),
        on_error=options.get("on_error"),
        workers=workers,
    )


def _surroundings(
    store: Store,
    feed: Feed,
    count: TokenCounter,
    weights: Weights,
    options: Options,
    *,
    faults: Faults,
) -> Surroundings:
    codebase = Codebase(store, feed, faults)
    return Surroundings(
        store=store,
        faults=faults,
        policy=_given(options.get("triggers"), Triggers),
        modes=tuple(checked(mode, Mode) for mode in options.get("modes", MODES)),
        codebase=codebase,
        code=Code(codebase, count, weights),
        directory=Directory(weights),
    )


def _distiller(summarizer: MeteredSummarizer) -> Distiller:
    from .learning.distill import Distiller

    return Distiller(summarizer)


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


def _given(value: T | None, kind: type[T]) -> T:
    return kind() if value is None else checked(value, kind)


def _dense(
    feed: Feed, options: Options, clock: Clock, faults: Faults, *, beside: bool
) -> Dense | None:
    embedder = options.get("embedder")
    if embedder is None:
        return None
    index = _index(feed.store, options.get("index") or "numpy")
    embedder = as_embedder(embedder)
    vectors = Vectors(feed.store, embedder, index, clock=clock, faults=faults, feed=feed)
    return Dense(vectors, Backlog(vectors) if beside else None)


def _index(store: Store, name: str) -> VectorIndex:
    if name == "pgvector":
        inside = getattr(store, "vector_index", None)
        if inside is None:
            raise InvalidValue(
                'index is "pgvector", but the memory is not on Postgres: open it with '
                '"postgresql://...", or with index="numpy".'
            )
        return cast("VectorIndex", inside())
    from .search.vectors.chroma import index_named  # it brings HTTP along

    # A store that many machines share is the same one on all of them, wherever their files are.
    identity = getattr(store, "identity", None)
    path = Path(getattr(store, "path", data_folder() / f"{identity or 'memory'}.db"))
    index = index_named(name, path, space=identity)
    if name == "chroma" and getattr(store, "path", None) == Path(":memory:"):
        raise InvalidValue(
            'index is "chroma", which keeps files, and a memory opened with ":memory:" leaves '
            'none: open it with a path, or with index="numpy".'
        )
    return index


def _deadline(options: Options) -> float | None:
    """Return the milliseconds that the search for a turn's part may take; None: any number."""
    given: object = options.get("deadline", os.environ.get("CTXMW_DEADLINE", MILLISECONDS))
    if given is None:
        return None
    try:
        if isinstance(given, bool) or not isinstance(given, int | float | str):
            raise TypeError
        milliseconds = float(given)
        if not 0 <= milliseconds < float("inf"):
            raise ValueError
    except (TypeError, ValueError) as error:
        raise InvalidValue(
            f"deadline is {given!r:.60}: give milliseconds, or None to wait for everything."
        ) from error
    return milliseconds or None


def _summarizer(
    options: Options, count: TokenCounter, clock: Clock, stats: Stats
) -> MeteredSummarizer | None:
    given = options.get("summarizer")
    if given is None:
        return None
    limits = _given(options.get("summarizer_limits"), SummarizerLimits)
    return MeteredSummarizer(as_summarizer(given), limits, count=count, clock=clock, stats=stats)


def _warm(counter: TokenCounter) -> None:
    # Loading a token table takes a few tenths of a second: better now than in somebody's request.
    warm = getattr(counter, "warm", None)
    if warm is not None:
        warm()
