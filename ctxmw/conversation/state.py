"""What a conversation remembers about itself, so that any process can go on with it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..protocols import Row, Store
from ..recall.block import Block, Piece
from ..text.cleaning import digest
from ..values.records import Moment, Record, load_as
from ..workspace.triggers import Trigger

if TYPE_CHECKING:
    from ..store.journal import Journal

PINS = "pins"
Pinning = Literal["shown", "kept_out"]


class Pins(Record):
    """What a user wants in every conversation, and what never comes by itself.

    What a conversation was told of a record (`add`, `remove`) wins over this.
    """

    type: ClassVar[str] = "pins"

    shown: tuple[str, ...] = ()
    """Refs of what is in every conversation."""
    kept_out: tuple[str, ...] = ()
    """Refs of what comes when somebody asks for it, and else not."""

    @property
    def stamp(self) -> str:
        """Changes when they do; "" where there are none."""
        return digest(*self.shown, "|", *self.kept_out)[:16] if self.shown or self.kept_out else ""

    def foreign(self) -> str:
        """Return nothing: it is refs alone."""
        return ""

    def without(self, refs: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return both lists without these."""
        both = {"shown": self.shown, "kept_out": self.kept_out}
        return {name: tuple(ref for ref in own if ref not in refs) for name, own in both.items()}


class PartRef(BaseModel):
    """One turn's part: where it stands and how it came about.

    A turn that shows nothing has one too: it tells that the message has been sent without.
    """

    # A file may have been written by a version that kept more of it.
    model_config = ConfigDict(frozen=True, extra="ignore")

    anchor: str
    """Hash of the messages up to and including the one it stands at."""
    local: str
    """Hash of that message and the one before, to find it when the history was cut short."""
    build: str
    hash: str
    """Of its text; empty when it shows nothing (any more)."""
    tokens: int
    shows: dict[str, str]
    """The version of each item it shows in full, or as far as the question matched it, by ref."""
    briefly: tuple[str, ...] = ()
    """Those of them that are not shown in full."""
    entries: tuple[str, ...] = ()
    """Those of them that waited to be said."""
    untrusted: bool = False
    """Whether a stranger's words are in it; then it stays out of the system prompt."""
    mentions: dict[str, str] = Field(default_factory=dict)
    """The version of what it shows only in part, such as an index line."""
    order: int = 0
    """Counts the parts of the conversation."""
    stood: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """What stood before it in the turns that were over for the first time: the orders of its parts,
    by the hash of all messages up to the turn's end."""
    open: bool = False
    """Whether its turn waits for a final answer."""
    until: Moment | None = None
    """When the first of what it shows runs out."""

    def emptied(self) -> PartRef:
        """Return what is left when its text is dropped."""
        nothing = {"hash": "", "tokens": 0, "shows": {}, "mentions": {}}
        return self.model_copy(update=nothing)


class Ledger(BaseModel):
    """What the agent fetched by itself in this epoch."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queries: int = 0
    """Calls of memory_context answered in full."""
    tokens: int = 0
    """Tokens of those answers."""
    fetched: int = 0
    """Tokens of every answer on demand."""


class ViewKey(BaseModel):
    """By what a conversation's compacted view is found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str
    anchor: str
    """Hash of the messages it covers."""
    notes: tuple[str, ...]
    """Hashes of its note, as it was and as it is: one of them comes back with our messages."""


class SessionState(Record):
    """A conversation: identity, epoch, parts, what was added and removed, what was fetched."""

    type: ClassVar[str] = "session"
    OPEN: ClassVar[str] = "open"

    project: str | None = None
    language: str | None = None
    task: str | None = None
    opened: Moment
    ended: bool = False
    epoch: int = 0
    """0 until the first stable block was made."""
    began: str = ""
    """Why the epoch began."""
    stale: str = ""
    """Why the next call begins a new epoch; empty when it does not."""
    feed: int = 0
    """How far the changes feed was read."""
    catalog_feed: int = 0
    stable_build: str = ""
    measure: str = ""
    """The budget and the counter the epoch was made with."""
    parts: tuple[PartRef, ...] = Field(default=(), exclude=True)
    """Oldest first. They are stored in rows of their own: a long conversation writes few of them
    at a call."""
    stamp: int = 0
    """Drawn anew at every write: a state that reads the same as before has the same parts."""
    views: tuple[ViewKey, ...] = ()
    """Where it was compacted, the newest first."""
    left: str = ""
    """Ref of the view of what left somebody's own history, such as a buffer that was flushed."""
    captured: tuple[str, ...] = ()
    """Anchors of the last questions, the newest first: everything up to there is captured."""
    heard: tuple[str, ...] = ()
    """Hashes of the person's last messages that were captured, oldest first."""
    answer: str = ""
    """Anchor of the last answer that was captured."""
    turns: int = 0
    """How many turns were captured: the next one is numbered from here."""
    untaught: tuple[str, ...] = ()
    """Anchors of turns that nothing was learned from yet: their calls are under way."""
    forgotten: tuple[str, ...] = ()
    """Anchors of turns that were forgotten: they are not captured again, whoever sends them."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Tools of the catalog that requests called for, in the order in which they came."""
    pins: Pins | None = Field(default=None, exclude=True)
    """What the user has pinned for every conversation; in a row of its own."""
    pins_seen: str = ""
    """How they stood when the epoch began."""
    ledger: Ledger = Ledger()
    answers: tuple[tuple[str, str], ...] = ()
    """Hashes of what our tools answered last, each with the build that tells what it showed."""
    triggers: tuple[Trigger, ...] = ()
    """What earlier messages and activities look for, still."""
    activity_feed: int = 0
    """How far activities were read."""

    @property
    def put_in(self) -> tuple[str, ...]:
        """Refs of what somebody wants in this conversation, in it or everywhere."""
        pinned = self.pins.shown if self.pins else ()
        return (*self.added, *(ref for ref in pinned if ref not in (*self.added, *self.removed)))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Refs of what must not come into this conversation by itself."""
        out = self.pins.kept_out if self.pins else ()
        return (*self.removed, *(ref for ref in out if ref not in (*self.added, *self.removed)))

    @property
    def pins_stamp(self) -> str:
        return self.pins.stamp if self.pins else ""

    def foreign(self) -> str:
        """Return what the conversation is about: the rest is refs, hashes and figures."""
        about = [self.project, self.language, self.task, self.began, self.stale, self.measure]
        for trigger in self.triggers:
            about += [trigger.source, *trigger.queries]
        return "\n\n".join(
            [text for text in (*about, *self.added, *self.removed, *self.loaded) if text]
        )

    def _columns(self) -> dict[str, Any]:
        return {"key": self.session, "digest": "" if self.ended else self.OPEN}


class GoneSession(Record):
    """What is kept of a conversation that was forgotten: hashes, and not even its name.

    So its messages are not captured again when somebody sends them once more.
    """

    type: ClassVar[str] = "gone"

    captured: tuple[str, ...] = ()
    heard: tuple[str, ...] = ()

    def foreign(self) -> str:
        """Return nothing: hashes are ours."""
        return ""


class StoredPart(Record):
    """One part of a conversation, as its state has it."""

    type: ClassVar[str] = "part"

    part: PartRef
    dropped: bool = False
    """Whether the conversation has let go of it."""

    def foreign(self) -> str:
        """Return nothing: refs, hashes and figures are ours."""
        return ""

    def _columns(self) -> dict[str, Any]:
        return {"live": not self.dropped}


class StoredBlock(Record):
    """The text of a block, piece by piece, under the hash of the text as it was sent.

    Forgotten items are taken out; `gone` keeps that they were there.
    """

    type: ClassVar[str] = "block"

    pieces: tuple[Piece, ...]
    gone: tuple[str, ...] = ()

    def searched(self) -> str:
        """Return the refs it shows: so `forget` finds every block that shows an item."""
        return " ".join(sorted(self.block.refs))

    @property
    def block(self) -> Block:
        return Block(self.pieces)


def state_rows(before: SessionState, after: SessionState) -> list[Row]:
    """Return what is written when a state takes another's place: itself first, then its parts.

    Those parts that are new, changed or dropped, that is.
    """
    known = {part.build: part for part in before.parts}
    kept = {part.build for part in after.parts}
    new = [part for part in after.parts if known.get(part.build) is not part]
    dropped = [part for part in before.parts if part.build not in kept]
    return [
        after.row(),
        *(_stored(after, part) for part in new),
        *(_stored(after, part, dropped=True) for part in dropped),
    ]


def _stored(state: SessionState, part: PartRef, *, dropped: bool = False) -> Row:
    stored = StoredPart(
        user=state.user,
        ref=f"part:{part.build}",
        at=state.at,
        session=state.session,
        part=part,
        dropped=dropped,
    )
    return stored.row()


def block_ref(hash_: str) -> str:
    """Return the ref of the block whose text has this hash."""
    return f"block:{hash_}"


def session_ref(session: str) -> str:
    """Return the ref of a conversation's state."""
    return f"session:{session}"


def gone_ref(session: str) -> str:
    """Return where it is kept that a conversation was forgotten."""
    return f"gone:{digest(session)[:32]}"


def pins_in(rows: Collection[Row]) -> Pins | None:
    """Return the pins among these rows."""
    return next((load_as(row, Pins) for row in rows if row.type == Pins.type), None)


def pins_of(store: Store, user: str) -> Pins | None:
    """Return a user's pins; None where nothing was ever pinned."""
    return pins_in(store.get(user, [PINS]))


def put_pin(journal: Journal, user: str, ref: str, to: Pinning | None) -> None:
    """Have a record be shown, kept out, or neither."""
    with journal.store.atomic(user):
        own = pins_of(journal.store, user) or Pins(user=user, ref=PINS, at=journal.clock())
        lists: dict[str, Any] = own.without({ref})
        if to is not None:
            lists[to] = (*lists[to], ref)
        changed = own.model_copy(update={**lists, "at": journal.clock()})
        journal.store.put([changed.row()])


def pass_on_pins(store: Store, user: str, replaced: Collection[str], ref: str) -> None:
    """Have what takes the place of records be pinned as they were. In a transaction."""
    own = pins_of(store, user)
    if own is None or not {*own.shown, *own.kept_out} & set(replaced):
        return
    lists: dict[str, Any] = own.without(replaced)
    for name, before in (("shown", own.shown), ("kept_out", own.kept_out)):
        if not set(before).isdisjoint(replaced):
            lists[name] = (*lists[name], ref)
    store.put([own.model_copy(update=lists).row()])
