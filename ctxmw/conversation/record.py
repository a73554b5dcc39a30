"""What went into a prompt and why: one record for each model call.

A record keeps refs, hashes and figures. The blocks as sent are stored once and found by their
hash; the words of an item are looked up when a record is shown, so what was forgotten stays gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_serializer

from ..recall.lanes import Choice, Selection
from ..recall.outcome import BlockKind, ItemOutcome, used_of
from ..runtime.displayed import Displayed
from ..runtime.telemetry import DEGRADED, DROPPED, FOUND, LIMIT, USED, Observer
from ..text.cleaning import counted, digest, fold, one_line
from ..text.terms import content_terms
from ..values.items import Include, Item
from ..values.records import MEMORY_KINDS, NOTE_KINDS, OBSERVATION_KINDS, Moment, Record
from ..values.situation import UNKNOWN

State = Literal["built", "answered", "failed", "abandoned"]
FORGOTTEN = "(forgotten)"

_PLURALS = {
    "anti_pattern": "anti-patterns",
    "blocked": "blockers",
    "bugfix": "bugfixes",
    "class": "classes",
    "decided": "decided notes",
    "discovery": "discoveries",
    "done": "done notes",
    "next": "next steps",
    "summary": "session summaries",
}
_SINGULARS = {
    "anti_pattern": "anti-pattern",
    "blocked": "blocker",
    "decided": "decided note",
    "done": "done note",
    "next": "next step",
    "summary": "session summary",
}
READ = 2_000
"""Characters of an item that are read for its terms."""


class Build(Record):
    """How one block came about. Its text is stored once, under its hash."""

    type: ClassVar[str] = "build"
    prefix: ClassVar[str] = "b"

    kind: BlockKind
    hash: str = ""
    """Of the text; empty when nothing was shown."""
    tokens: int = 0
    used: tuple[ItemOutcome, ...] = ()
    tools: tuple[ItemOutcome, ...] = ()
    """Tools of the catalog that were bound; they cost no tokens of ours."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """How many more were not shown, by reason."""
    lanes: dict[str, tuple[int, int]] = Field(default_factory=dict)
    """What each lane spent of what it had."""
    fault: str = ""
    """What did not work while looking."""
    until: Moment | None = None
    """When the first of what it shows runs out."""

    @field_serializer("used", "tools")
    def _stored(self, used: tuple[ItemOutcome, ...]) -> list[tuple[Any, ...]]:
        return [one.kept() for one in used]

    def __copy__(self) -> Self:
        # A copy is about to get other values: what was worked out of these does not hold for it.
        copied = super().__copy__()
        for name in ("shown", "points_on", "in_view", "terms"):
            copied.__dict__.pop(name, None)
        return copied

    def foreign(self) -> str:
        """Return what things are called: the rest is refs, hashes, figures and reasons of ours.

        Of an application's own source, refs and kinds are its own too: without secrets, as it came.
        """
        return "\n\n".join(
            [self.fault, *(used.name for used in (*self.used, *self.tools) if used.name)]
        )

    @cached_property
    def shown(self) -> dict[str, str]:
        """The version of each item the block shows, by ref."""
        return {used.ref: used.version for used in self.used if used.shown != "none"}

    @cached_property
    def points_on(self) -> bool:
        """Whether the block lists something, and so says how to get at it."""
        return any(used.shown in ("brief", "index") for used in self.used)

    @cached_property
    def in_view(self) -> dict[str, str]:
        """The same of what need not be shown again: in full, or what a question matched of it."""
        enough = ("full", "brief") if self.kind == "turn" else ("full",)
        return {used.ref: used.version for used in self.used if used.shown in enough}

    @cached_property
    def terms(self) -> dict[str, frozenset[str]]:
        """The terms of the items whose text it shows, by ref."""
        shown = [used for used in self.used if used.shown in ("full", "brief")]
        return {used.ref: frozenset(content_terms(used.words[:READ])) for used in shown}


class ContextRecord(Displayed, Record):
    """What one model call was given by us, and why."""

    type: ClassVar[str] = "context"
    prefix: ClassVar[str] = "c"

    turn: str
    """Equal for all calls of one turn: retries, fallbacks, tool loops."""
    epoch: int
    state: State = "built"
    error: str = ""
    reply: str = ""
    """Ref of the captured answer."""
    reply_key: str = ""
    reply_id: str = ""
    """The caller's own id of the answer."""
    tokens: int
    """Tokens of `text`."""
    limit: int
    """The budget it had to fit."""
    counter: str
    """What counted the tokens."""
    exact: bool
    stable_build: str
    part_build: str
    came_back: tuple[str, ...] = ()
    """Refs of what was shown and came back in the answer."""
    entries: dict[str, str] = Field(default_factory=dict)
    """Entries the prompt shows, by ref, with their versions; an answer commits them."""
    replayed_tokens: int = 0
    """Tokens of earlier parts shown again at their messages."""
    view: str = ""
    """Ref of the compacted view that the prompt shows; mem_get with it brings what is archived."""
    over_window: int = 0
    """Tokens by which the prompt is over the model's window, though all was cut that may be."""
    prefix_share: float | None = None
    """Share of the prompt that equals the beginning of the one before; None for the first."""
    replayed: tuple[tuple[str, str], ...] = ()
    """Builds of earlier parts that the prompt shows again, each with the hash of its text."""
    fetched: tuple[str, ...] = ()
    """Builds of answers of our own tools that the prompt holds."""
    sent: tuple[str, ...] = ()
    """Hashes of the messages that were sent, in order: of those after the first `sent_same` ..."""
    sent_after: str = ""
    """... which are the same as in the call of this record; "" when all of them are here."""
    sent_same: int = 0
    tools: tuple[str, ...] = ()
    """Names of the tools that the model was sent, in this order, as far as they were told."""
    degraded: str = ""
    """What did not work: a stage that failed, or a leg of search that was left out."""
    stable: str = Field(default="", exclude=True)
    part: str = Field(default="", exclude=True)
    builds: tuple[Build, ...] = Field(default=(), exclude=True)
    earlier: tuple[Build, ...] = Field(default=(), exclude=True)
    """How what is shown again came about, and what our tools answered, of that what is shown."""

    @property
    def text(self) -> str:
        """The stable block and this turn's part, concatenated."""
        return self.stable + self.part

    @property
    def used(self) -> tuple[ItemOutcome, ...]:
        """Everything considered, and all of ours that the prompt holds.

        What one block shows is not listed as left out by another. Parts of earlier turns, and
        answers of our tools, are told by their `block`: "replayed" and "fetched".
        """
        every = [used for build in self.builds for used in (*build.used, *build.tools)]
        own = {used.ref for used in every if used.shown != "none"}
        every += [used for build in self.earlier for used in build.used if used.ref not in own]
        shown = {used.ref for used in every if used.shown != "none"}
        return tuple(used for used in every if used.shown != "none" or used.ref not in shown)

    @property
    def left_out(self) -> dict[str, int]:
        """How many more were not shown, by reason."""
        counts: Counter[str] = Counter()
        for build in self.builds:
            counts.update(build.left_out)
        return dict(counts)

    @property
    def lanes(self) -> dict[str, tuple[int, int]]:
        """What each lane spent of what it had."""
        return {name: lane for build in self.builds for name, lane in build.lanes.items()}

    def foreign(self) -> str:
        """Return what went wrong, and the names in it: the rest is refs, hashes and figures."""
        named = (self.counter, self.view, *self.entries, *self.tools)
        return "\n\n".join([self.error, self.degraded, *named])

    def _columns(self) -> dict[str, Any]:
        return {"key": self.reply_key, "digest": self.reply_id}

    def told(self) -> dict[str, Any]:
        """Return what rides on an answer of its record, in plain JSON."""
        return {
            "record": self.ref,
            "summary": self.summary(),
            "tokens": self.tokens,
            "degraded": self.degraded,
        }

    def summary(self) -> str:
        """Return one line such as "5 rules (3 agent, 2 always), 2 decisions, 612/4000 tokens"."""
        shown = [used for used in self.used if used.shown in ("full", "brief")]
        kinds = Counter(used.kind for used in shown)
        modes = {kind: Counter(one.include for one in shown if one.kind == kind) for kind in kinds}
        parts = [_counted(kind, n, modes[kind]) for kind, n in kinds.most_common()]
        listed = sum(used.shown == "index" for used in self.used)
        if listed:
            parts.append(f"{listed} in the index")
        about = "" if self.exact else f" (estimated: {self.counter})"
        return ", ".join([*parts, f"{self.tokens}/{self.limit} tokens{about}"])

    def display(self) -> str:
        """Return what the turn used, section by section, with the mode of each item.

        Such as "Rules (2):" and below it "- Error Handling [manual]", "- File Access [agent 0.87]".
        """
        shown = [used for used in self.used if used.shown in ("full", "brief")]
        if not shown:
            return "Context used: none"
        lines = ["Context used:"]
        for title, within in by_section(shown).items():
            lines.append(f"{title} ({len(within)}):")
            lines += [f"- {used.title} [{_mode(used)}]{_fate(used)}" for used in within]
        counts = Counter(used.include for used in shown)
        modes = ", ".join(f"{n} {mode}" for mode, n in counts.most_common())
        return "\n".join(
            [*lines, f"{counted(len(shown), 'item')} ({modes}), {self.tokens}/{self.limit} tokens"]
        )

    def explain(self) -> str:
        """Return a table in plain text of everything considered: shown how, or why not."""
        order = {"full": 0, "brief": 1, "index": 2, "none": 3}
        rows = sorted(self.used, key=lambda used: (order[used.shown], used.block, -used.score))
        lines = [self.summary()]
        if rows:
            lines += _table(_HEADER, [_cells(used) for used in rows])
        lines += [f"and {n} more not shown: {reason}" for reason, n in self.left_out.items()]
        if self.lanes:
            spent = [f"{lane} {spent}/{limit}" for lane, (spent, limit) in self.lanes.items()]
            lines.append("lanes: " + ", ".join(spent))
        if self.prefix_share is not None:
            lines.append(f"prefix shared with the last prompt: {self.prefix_share:.0%}")
        if self.view:
            lines.append(f"compacted: what is archived is {self.view}")
        if self.over_window:
            lines.append(f"over the model's window by {self.over_window} tokens")
        if self.degraded:
            lines.append(f"degraded: {self.degraded}")
        return "\n".join(lines)


def reply_key(text: str) -> str:
    """Return what finds the record of an answer by its text."""
    return digest(fold(text))


def told_of(record: ContextRecord, observer: Observer) -> dict[str, Any]:
    """Count what a prompt was given, by lane, and return what a span tells of it."""
    observer.spent(record.lanes)
    if not observer.traces:
        return {}
    considered = record.used
    shown = sum(used.shown != "none" for used in considered)
    return {
        USED: record.tokens,
        LIMIT: record.limit,
        DROPPED: len(considered) - shown + sum(record.left_out.values()),
        FOUND: shown,
        DEGRADED: record.degraded or None,
    }


def shown_again(build: Build, kind: BlockKind) -> Build:
    """Return a build as part of a later prompt: with what it shows there, and nothing else."""
    used = tuple(used._replace(block=kind) for used in build.used if used.shown != "none")
    return build.model_copy(update={"used": used, "tools": (), "left_out": {}, "lanes": {}})


def still_shown(build: Build, refs: Collection[str]) -> Build:
    """Return a build with only those items that its block still has."""
    used = tuple(used for used in build.used if used.ref in refs)
    return build if len(used) == len(build.used) else build.model_copy(update={"used": used})


def build_fields(
    selection: Selection, kind: BlockKind, tools: Sequence[Item] = ()
) -> dict[str, Any]:
    """Return what a build keeps of a selection and of the tools that go with it."""
    bound = [Choice(item=tool, shown="full", tokens=0) for tool in tools]
    return {
        "kind": kind,
        "hash": selection.block.hash,
        "tokens": selection.tokens,
        "used": selection.used(kind),
        "tools": used_of(bound, kind),
        "left_out": dict(selection.left_out),
        "lanes": dict(selection.lanes),
        "fault": selection.fault,
        "until": selection.until,
    }


_HAPPENED = tuple(kind for kind in OBSERVATION_KINDS if kind not in MEMORY_KINDS)
_SECTIONS: dict[str, tuple[str, ...]] = {
    "Rules": ("rule", "mode"),
    "References": ("reference",),
    "Tools": ("tool",),
    "Memories": ("preference", "anti_pattern", "decision", "correction", "fact"),
    "Sessions": ("turn", "summary", *NOTE_KINDS, *_HAPPENED),
    "Code": ("module", "class", "function", "method", "constant", "file"),
    "Notices": ("notice",),
}
_SECTION_OF = {kind: title for title, kinds in _SECTIONS.items() for kind in kinds}


def by_section(used: Iterable[ItemOutcome]) -> dict[str, list[ItemOutcome]]:
    """Return items under the heading of their kind, in the order people read them."""
    found: dict[str, list[ItemOutcome]] = {title: [] for title in (*_SECTIONS, "Other")}
    for one in used:
        found[_SECTION_OF.get(one.kind, "Other")].append(one)
    return {title: within for title, within in found.items() if within}


def signals_told(used: ItemOutcome) -> str:
    """Return the signals behind a score in words, but for those that say nothing is known."""
    told = {name: value for name, value in used.signals.items() if value != UNKNOWN}
    return ", ".join(f"{name} {value:.2f}" for name, value in told.items())


def _mode(used: ItemOutcome) -> str:
    return f"agent {used.score:.2f}" if used.include == "agent" else used.include


def _fate(used: ItemOutcome) -> str:
    return f" ({used.since} since)" if used.since else ""


_HEADER = ("ref", "kind", "how", "score", "tokens", "shown", "why", "title")
_TITLE = 44


def _cells(used: ItemOutcome) -> tuple[str, ...]:
    why = "; ".join(filter(None, (used.reason, signals_told(used))))
    about = (used.ref, used.kind, used.include, f"{used.score:.2f}", str(used.tokens), used.shown)
    return (*about, why, one_line(used.title, _TITLE))


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(len(header))]
    rule = tuple("-" * width for width in widths)
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [header, rule, *rows]
    ]


def _counted(kind: str, n: int, modes: Counter[Include]) -> str:
    singular = _SINGULARS.get(kind, kind)
    noun = singular if n == 1 else _PLURALS.get(kind, f"{singular}s")
    if set(modes) == {"always"}:
        return f"{n} {noun}"
    if len(modes) == 1:
        how = next(iter(modes))
        return f"{n} {noun} ({how if n == 1 else f'all {how}'})"
    counts = ", ".join(f"{n} {mode}" for mode, n in modes.most_common())
    return f"{n} {noun} ({counts})"
