"""What a memory is opened with, and what is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Protocol, TypedDict, TypeVar

from .code.codebase import Codebase
from .code.indexer import Indexer
from .code.keeper import KeptFolders
from .compaction.compactor import Compaction, Compactor
from .compaction.hooks import CompactionHooks
from .conversation.conversation import Conversations, Identity, located
from .errors import InvalidValue
from .learning.learner import Learner
from .learning.policy import Learning, checked_trust
from .memory.retention import Keeper
from .option_checks import check_options
from .protocols import Clock, Renderer, Source, Store, TokenCounter, VectorIndex
from .recall.catalog import Catalog
from .recall.modes import MODES, Mode
from .recall.offering.view import AgentSearch
from .recall.pipeline import Recall
from .recall.render import Markdown, Printer
from .recall.sources.code.source import Code
from .recall.sources.directory import Directory
from .recall.sources.own import OwnSource
from .recall.sources.records import Memories, Sessions
from .recall.surroundings import Surroundings
from .runtime.async_twins import AT_WORK, AT_WORK_REMOTELY, Workers
from .runtime.deadline import MILLISECONDS, TimeLimit
from .runtime.telemetry import Faults, Observer, Stats, Telemetry, Tracing
from .search.feedback import Opinions
from .search.search import Search
from .store.journal import Feed, Journal
from .store.open import data_folder
from .store.redacting import bare, redacting
from .text.logs import keep_secrets_out_of_logs
from .tokens.counter import counter_for
from .tokens.models import known_window
from .tokens.prompt_counter import PromptCounter, prompt_counter
from .values.argument_checks import check_name
from .values.budget import Arriving, Budget, OnDemand
from .values.clocks import checked_clock
from .values.items import Include, Trust
from .values.messages import Placement, check_placement
from .values.records import utc_now
from .values.retention import Retention
from .values.situation import Floors, Weights
from .workspace.triggers import Triggers

if TYPE_CHECKING:
    from .learning.distill import Distiller
    from .learning.summarizers import MeteredSummarizer, SummarizerLimits
    from .recall.offering.items import Offer
    from .search.vectors.dense import Dense

T = TypeVar("T")


class Options(TypedDict, total=False):
    """What a memory can be opened with; every option has a default."""

    user: str | None
    """Whose memory it is: "local" unless given. None is for servers: every call names its user."""
    project: str | None
    """The project of conversations that name none."""
    language: str | None
    """The programming language of conversations that name none."""
    cwd: str | Path | None
    """The folder of conversations that name none: it tells project and language unless they are
    given, and its AGENTS.md, rules and code hold."""
    model: str | None
    """The model that will read the prompts; decides how tokens are counted."""
    count: TokenCounter
    """Counts tokens instead, such as a provider's own counter; a fraction is rounded up."""
    window: int | None
    """The model's context window in tokens; without, the one known of `model`."""
    compaction: Compaction
    """When conversations are compacted, and how far."""
    compaction_hooks: CompactionHooks
    """What the application does about compaction itself."""
    embedder: object | None
    """Finds by meaning too: a LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, a Chroma
    embedding function, "wordllama", "minilm", or anything with `name`, `embed` and
    `embed_query`."""
    index: str
    """Where vectors are searched: "numpy", "chroma", "chroma://host:port", or "pgvector" in a
    memory on Postgres."""
    summarizer: object | None
    """Asked to condense: a LangChain chat model, a LlamaIndex LLM, or a function from text to
    text. None by default: then nothing is ever asked."""
    summarizer_limits: SummarizerLimits
    learn: Learning
    """What conversations leave behind beside their turns; everything by default."""
    retention: Retention
    """How long records are kept; by default until they are forgotten."""
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
    """Words in a message that bring an instruction; see `ctxmw.MODES`."""
    index_folders: bool
    """Whether the code of the project around `session(cwd=...)` is indexed by itself, in the
    background and within bounds; True unless given."""
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


class OpensWith(Protocol):
    """What says all that a memory is opened with: `Settings` does."""

    @property
    def store(self) -> str | None: ...
    def options(self) -> Options: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What conversations go by unless they say otherwise."""

    budget: Budget
    on_demand: OnDemand
    placement: Placement
    window: int | None
    """The model's context window in tokens, where known."""
    project: str | None
    language: str | None
    cwd: str | Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """What a memory is put together from; every conversation shares it."""

    journal: Journal
    recall: Recall
    conversations: Conversations
    learner: Learner
    keeper: Keeper
    retains_some: bool
    """Whether anything is removed by its age."""
    compactor: Compactor
    telemetry: Telemetry
    indexer: Indexer
    folders: KeptFolders
    """The folders that conversations are in."""
    looks_at_folders: bool
    """Whether their code is indexed by itself."""
    defaults: Defaults

    def placed(self, who: Identity, cwd: str | Path | None) -> Identity:
        """Return a conversation where it takes place; what it does not say, the memory does."""
        defaults = self.defaults
        given = replace(
            who,
            project=defaults.project if who.project is None else who.project,
            language=defaults.language if who.language is None else who.language,
        )
        return self._at_home(located(given, defaults.cwd if cwd is None else cwd))

    def _at_home(self, who: Identity) -> Identity:
        """Return a conversation with the project of its folder, whose code is looked at aside."""
        if who.cwd is None:
            return who
        if who.project is None:
            # Without git and manifest a folder is a project once it was indexed.
            codebase = self.recall.surroundings.codebase
            return replace(who, project=codebase.project_at(who.user, who.cwd))
        if who.root is not None and self.looks_at_folders:
            self.folders.look(who.user, who.root, who.project)
        return who


def compose(store: Store, options: Options) -> Composition:
    """Return what a memory over this store is put together from."""
    check_options(options, Options.__annotations__)
    keep_secrets_out_of_logs()
    telemetry = _telemetry(options)
    journal = _journal(redacting(store, options.get("redact", ())), options, telemetry)
    own = options.get("count")
    count = prompt_counter(counter_for(options.get("model")) if own is None else own)
    # Reading a token table for the first time takes a moment: better now than in a request.
    # Who waits for everything may count nothing at all, as most commands do.
    if _deadline(options) is not None:
        count.warm()
    feed = Feed(journal.store)
    dense = _dense(journal, feed, options)
    recall = _recall(journal, feed, count, dense, options, stats=telemetry.stats)
    conversations = Conversations(journal=journal, feed=feed)
    learn = _given(options.get("learn"), Learning)
    retention = _given(options.get("retention"), Retention)
    summarizer = _summarizer(options, count, journal.clock, telemetry.stats)
    learner = Learner(
        conversations=conversations,
        search=recall.search,
        telemetry=telemetry,
        policy=learn,
        trust=checked_trust(options.get("trust", {})),
        dense=dense,
        distiller=_distiller(summarizer) if summarizer and learn.model else None,
    )
    indexer = Indexer(journal.store, recall.surroundings.codebase, journal.clock)
    return Composition(
        journal=journal,
        recall=recall,
        conversations=conversations,
        learner=learner,
        keeper=Keeper(policy=retention, journal=journal, telemetry=telemetry),
        retains_some=bool(retention.ages()),
        compactor=Compactor(
            policy=_given(options.get("compaction"), Compaction),
            hooks=_given(options.get("compaction_hooks"), CompactionHooks),
            summarizer=summarizer,
            journal=journal,
            recall=recall,
            conversations=conversations,
            learner=learner,
        ),
        telemetry=telemetry,
        indexer=indexer,
        folders=KeptFolders(indexer),
        looks_at_folders=options.get("index_folders", True),
        defaults=_defaults(options),
    )


def _defaults(options: Options) -> Defaults:
    project, language = options.get("project"), options.get("language")
    return Defaults(
        budget=_given(options.get("budget"), Budget),
        on_demand=_given(options.get("on_demand"), OnDemand),
        placement=check_placement(options.get("placement", "split")),
        window=options.get("window") or known_window(options.get("model")),
        project=None if project is None else check_name(project, "project"),
        language=None if language is None else check_name(language, "language"),
        cwd=options.get("cwd"),
    )


def _telemetry(options: Options) -> Telemetry:
    stats = Stats()
    return Telemetry(
        stats=stats,
        observer=Observer(stats, options.get("tracing")),
        on_error=options.get("on_error"),
        strict=bool(options.get("strict", os.environ.get("CTXMW_STRICT") == "1")),
    )


def _journal(store: Store, options: Options, telemetry: Telemetry) -> Journal:
    told = options.get("clock")
    return Journal(
        store=store,
        clock=utc_now if told is None else checked_clock(told),
        random=options.get("random") or SystemRandom(),
        faults=Faults(telemetry.stats, telemetry.on_error),
    )


def _recall(
    journal: Journal,
    feed: Feed,
    count: PromptCounter,
    dense: Dense | None,
    options: Options,
    *,
    stats: Stats,
) -> Recall:
    store, faults = journal.store, journal.faults
    workers = Workers(AT_WORK_REMOTELY if store.remote else AT_WORK)
    limit = TimeLimit(_deadline(options), workers)
    weights = _given(options.get("weights"), Weights)
    learn = _given(options.get("learn"), Learning)
    arriving = _given(options.get("arriving"), Arriving)
    surroundings = _surroundings(journal, feed, count, weights, options)
    return Recall(
        journal=journal,
        sources=(
            Memories(store, faults, feed),
            *([Sessions(store, faults, feed)] if arriving.session_history else []),
            OwnSource(surroundings.directory),
        ),
        own_sources=tuple(map(OwnSource, options.get("sources", ()))),
        search=Search(store, count, dense=dense, aside=limit.aside, feed=feed, faults=faults),
        opinions=Opinions(store, feed, faults) if learn.feedback else None,
        catalog=Catalog(
            journal,
            feed,
            offers=options.get("offers", ()),
            servers=options.get("servers", {}),
        ),
        agent_search=_given(options.get("agent_search"), AgentSearch),
        surroundings=surroundings,
        weights=weights,
        floors=_given(options.get("floors"), Floors),
        printer=Printer(
            renderer=options.get("renderer") or Markdown(),
            count=count,
            arriving=arriving,
        ),
        limit=limit,
        stats=stats,
        sensitive=learn.sensitive,
    )


def _surroundings(
    journal: Journal, feed: Feed, count: TokenCounter, weights: Weights, options: Options
) -> Surroundings:
    store, faults = journal.store, journal.faults
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


def checked(value: T, kind: type[T]) -> T:
    """Return the value, or raise when it is of another kind."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise InvalidValue(f"{name.lower()} is {value!r:.60}: give a {name}, such as {name}().")
    return value


def _given(value: T | None, kind: type[T]) -> T:
    return kind() if value is None else checked(value, kind)


def _dense(journal: Journal, feed: Feed, options: Options) -> Dense | None:
    embedder = options.get("embedder")
    if embedder is None:
        return None
    from .search.offered_meaning import OfferedMeaning
    from .search.vectors.dense import Backlog, Dense
    from .search.vectors.embedders import as_embedder
    from .search.vectors.vectors import Vectors

    store, clock, faults = journal.store, journal.clock, journal.faults
    index = _index(store, options.get("index") or "numpy")
    embedder = as_embedder(embedder)
    vectors = Vectors(store, embedder, index, clock=clock, faults=faults, feed=feed)
    offered = OfferedMeaning(store, embedder, lambda cosines: vectors.levels().matches(cosines))
    return Dense(vectors, Backlog(vectors) if _deadline(options) is not None else None, offered)


def _index(store: Store, name: str) -> VectorIndex:
    if name == "pgvector":
        from .search.vectors.pgvector import pgvector_in  # it brings the driver along

        return pgvector_in(bare(store))
    from .search.vectors.chroma import index_named  # it brings HTTP along

    # A store that many machines share is the same one on all of them, wherever their files are.
    path = store.path or data_folder() / f"{store.identity or 'memory'}.db"
    index = index_named(name, path, space=store.identity)
    if name == "chroma" and path == Path(":memory:"):
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
    from .learning.summarizers import MeteredSummarizer, SummarizerLimits, as_summarizer

    limits = _given(options.get("summarizer_limits"), SummarizerLimits)
    return MeteredSummarizer(as_summarizer(given), limits, count=count, clock=clock, stats=stats)
