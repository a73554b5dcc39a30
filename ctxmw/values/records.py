"""What is stored: one pydantic model for each type of record, and how it becomes a store's row.

Data is checked here when it enters and when it comes back. A record never changes: a new version
takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from ..errors import UnreadableRecord
from ..protocols import Row
from ..runtime.displayed import Displayed
from ..text.cleaning import digest, fold, one_line, search_text
from ..text.topics import TOPIC, topics_of
from .items import Trust
from .messages import Author
from .metadata import MetadataValue, metadata_tags

MemoryKind = Literal["preference", "rule", "anti_pattern", "decision", "correction", "fact"]
ObservationKind = Literal["decision", "bugfix", "feature", "refactor", "discovery", "change"]
NoteKind = Literal["done", "decided", "blocked", "next"]

MEMORY_KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
OBSERVATION_KINDS: tuple[ObservationKind, ...] = get_args(ObservationKind)
NOTE_KINDS: tuple[NoteKind, ...] = get_args(NoteKind)
OTHER_WORDS = "says it in other words"
"""The reason of a memory that only words another one anew: that one said nothing else."""

TYPES_OF_KIND: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(MEMORY_KINDS, ("memory",)),
    **dict.fromkeys(OBSERVATION_KINDS, ("observation",)),
    **dict.fromkeys(NOTE_KINDS, ("note",)),
    "decision": ("memory", "observation"),
    "summary": ("summary",),
    "turn": ("turn",),
}
"""Every kind that can be searched for, and the records that have it."""

LASTING: frozenset[str] = frozenset({"preference", "rule", "anti_pattern"})
"""Kinds that hold until they are taken back, so they do not age."""

INSTRUCTING: frozenset[str] = LASTING | {"correction"}
"""Kinds that say how to work: facts must not push them out."""

AGENT = "agent"
"""The source of what an agent writes by itself, with the tool `remember`."""

SHARED = "\x01shared"
"""Owns what belongs to the application and not to a user; no user can have this name."""


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:  # the first hours of year 1 and the last of 9999
        raise ValueError("it is out of range in UTC") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class Record(BaseModel):
    """What every record knows: whose it is, when it was made, where it came from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: ClassVar[str] = ""
    prefix: ClassVar[str] = ""
    """First character of its refs, so that a ref tells what it names."""

    user: str
    ref: str
    at: Moment
    session: str = ""
    scope: str = "universal"
    source: str = "user"
    """Who or what wrote it: a person, a tool, a file."""
    trust: Trust = "trusted"

    def says(self) -> str:
        """Return the whole text of the record."""
        return ""

    def searched(self) -> str:
        """Return what full-text search sees of it."""
        said = self.says()
        return search_text(said) if said else ""

    def foreign(self) -> str | None:
        """Return what of the record others wrote; None when that is anything of it."""
        return None

    def row(self) -> Row:
        """Return the record as the store keeps it."""
        return Row(
            user=self.user,
            ref=self.ref,
            type=self.type,
            at=self.at,
            body=self.model_dump_json(),
            session=self.session,
            scope=self.scope,
            source=self.source,
            search_text=self.searched(),
            foreign=self.foreign(),
            **self._columns(),
        )

    def _columns(self) -> dict[str, Any]:
        return {}


class Derived(Record):
    """A record that may have been learned from a conversation, and then knows from where."""

    derived_from: tuple[str, ...] = ()
    """Refs of the turns that say it, then of strangers' turns that stood before them; empty when
    somebody wrote it."""
    message_id: str = ""
    """The caller's own id of the message that said it first."""
    rejected: bool = False
    """Whether all that says it was said on a branch that was left, or something tells it better
    now; then it is history."""


class Memory(Displayed, Derived):
    """Something a person wants remembered."""

    type: ClassVar[str] = "memory"
    prefix: ClassVar[str] = "m"

    kind: MemoryKind
    text: str = Field(min_length=1)
    key: str = ""
    """Remembering another text under the same key takes this one's place."""
    said: str = ""
    """The sentence that said it, where the text puts it in other words."""
    seen: int = Field(default=1, ge=1)
    """How often it was stated."""
    supersedes: str = ""
    superseded_by: str = ""
    was: str = ""
    """What it took the place of, when that said something else."""
    was_at: Moment | None = None
    """When that was said."""
    because: str = ""
    """Why it took that place."""
    near: tuple[str, ...] = ()
    """Refs of memories that said almost the same when it was written."""
    sensitive: bool = False
    """Whether it tells of health, faith or sexuality: then it is shown where that is spoken of."""
    first_said: Moment | None = None
    """When it was said for the first time, where that was before `at`."""
    since: Moment | None = None
    """From when on it holds; None: ever since it was said."""
    until: Moment | None = None
    """Until when it holds, that moment excluded; None: until something takes its place."""
    metadata: dict[str, MetadataValue] = Field(default_factory=dict)
    """What the application keeps beside it."""
    put_away: Moment | None = None
    """Since when it is kept out of everything, until somebody brings it back (`restore`)."""

    def __repr__(self) -> str:
        about = [f"{self.ref!r}, {one_line(self.text, _SHOWN)!r}, kind={self.kind!r}"]
        about += [f"scope={self.scope!r}"] if self.scope != "universal" else []
        about += [f"metadata={self.metadata!r}"] if self.metadata else []
        gone = self.superseded_by or ("put away" if self.put_away else "")
        about += [f"replaced_by={gone!r}"] if self.superseded_by else [gone] if gone else []
        return f"Memory({', '.join(about)})"

    __str__ = __repr__

    @property
    def said_at(self) -> datetime:
        """When it was said for the first time."""
        return self.first_said or self.at

    def is_past(self, at: datetime) -> bool:
        """Say whether it has run out by then."""
        return self.until is not None and self.until <= at

    def holds_at(self, at: datetime) -> bool:
        """Say whether it holds then, whatever took its place since."""
        begun = self.since is None or self.since <= at
        kept = self.put_away is None or at < self.put_away
        return begun and kept and self.said_at <= at and not self.is_past(at)

    def says(self) -> str:
        return self.text

    def searched(self) -> str:
        """Return its words, and a word for each field of life and each piece of metadata."""
        topics = [TOPIC + topic for topic in sorted(topics_of(self.text))]
        return " ".join([super().searched(), *topics, *metadata_tags(self.metadata)])

    def _columns(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "digest": same_text(self.text, self.scope),
            "live": not (self.superseded_by or self.put_away),
        }


class Observation(Derived):
    """Something that happened while working: a fix, a discovery, a change."""

    type: ClassVar[str] = "observation"
    prefix: ClassVar[str] = "o"

    kind: ObservationKind
    title: str = Field(min_length=1)
    text: str = ""
    files: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    fails: str = ""
    """The key of a failure that it tells a remedy for; see `text.failures`."""

    def says(self) -> str:
        return "\n".join(filter(None, (self.title, self.text, *self.files, *self.concepts)))

    def _columns(self) -> dict[str, Any]:
        return {"live": not self.rejected, "digest": self.fails}


_LITTLE = 120
"""Characters below which a summary tells so little that names are wanted."""


class SessionSummary(Derived):
    """What one conversation was about. A conversation has one; the next replaces it."""

    type: ClassVar[str] = "summary"
    prefix: ClassVar[str] = "s"

    text: str = Field(min_length=1)
    decisions: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def says(self) -> str:
        """Return what matters of it in a few lines, each thing once: names where little is told."""
        parts = [self.text]
        if decisions := _untold(self.decisions, parts):
            parts.append("Decided: " + "; ".join(decisions))
        if len(self.text) < _LITTLE and (concepts := _untold(self.concepts, parts)):
            parts.append("About: " + ", ".join(concepts))
        if self.files:
            parts.append("Files: " + ", ".join(self.files))
        return "\n".join(parts)

    def _columns(self) -> dict[str, Any]:
        return {"key": self.session}


def _untold(said: Iterable[str], told: Sequence[str]) -> list[str]:
    """Return what is not told yet."""
    known = fold("\n".join(told))
    return [one for one in said if fold(one).rstrip(".") not in known]


class Note(Derived):
    """One line on where the work stands: done, decided, blocked, or next."""

    type: ClassVar[str] = "note"
    prefix: ClassVar[str] = "n"

    kind: NoteKind
    text: str = Field(min_length=1)
    closed_by: str = ""
    """The note of the work that settled it; then it is history, and no longer found."""

    def says(self) -> str:
        return self.text

    def _columns(self) -> dict[str, Any]:
        return {
            "digest": same_text(self.text, self.scope),
            "live": not (self.closed_by or self.rejected),
        }


class Turn(Record):
    """One message of a conversation, as it was said."""

    type: ClassVar[str] = "turn"
    prefix: ClassVar[str] = "t"

    role: Literal["user", "assistant", "tool", "system"]
    text: str
    speaker: str = ""
    author: Author = "person"
    """Who speaks. Of what an application wrote, or another model, nothing is learned, and it is
    found by its ref alone. Earlier versions say "person" of everybody but an application."""
    tainted: bool = False
    """Whether a stranger's words are in it, or stood before it in the conversation. It has no
    place in a system prompt, nor has what an assistant says in it."""
    brings: tuple[str, ...] = ()
    """Of an answer, the sources of strangers' words that came along with messages before it, such
    as documents in a prompt: they are no turns themselves."""
    teaches: bool = True
    """False where nothing was to be learned: it stays in its conversation, and is not searched."""
    rejected: bool = False
    """Whether it was said on a branch that was left: another answer took its place."""
    message_id: str = ""
    """The caller's own id of the message."""
    position: int = 0
    """Where in the caller's list it stood; another list of the same conversation begins anew."""
    began: Moment | None = None
    """When its exchange began: the question it belongs to, or itself."""
    exchange: int = 0
    """The `order` of that question."""
    order: int = 0
    """Grows with every turn that is captured, so that turns of the same time keep their order."""
    calls: tuple[str, ...] = ()
    """Names of the tools it calls."""
    arguments: tuple[str, ...] = ()
    """What it calls them with, as JSON, one for each."""
    print: str = ""
    """Hash of the message, to know it again when the caller sends it."""
    anchor: str = ""
    """Hash of the conversation up to and including it; a turn is captured once."""
    before: str = ""
    """The anchor of the message before it: two that have the same one are on two branches."""
    answered: bool = False
    """Whether a call was finished with it."""

    redacted: int = 0
    """How often something in it was forgotten."""
    outdated: tuple[str, ...] = ()
    """Sentences of it that no longer hold: something else was said of the same since."""

    @property
    def version(self) -> str:
        """Begins with the hash of the message, and changes when something is forgotten."""
        return self.print + "*" * (self.redacted + len(self.outdated))

    @property
    def since(self) -> datetime:
        """When its exchange began; turns of earlier versions have only a time of their own."""
        return self.began or self.at

    @property
    def sequence(self) -> tuple[datetime, int, int, int]:
        """Sorts the turns of a conversation: by time, a question and its answer together."""
        return self.since, self.exchange, self.order, self.position

    def foreign(self) -> str:
        """Return what was said, by whom and to which tools: the rest is hashes and figures."""
        said = [
            self.text,
            self.speaker,
            self.message_id,
            *self.calls,
            *self.arguments,
            *self.outdated,
            *self.brings,
        ]
        return "\n\n".join(said)

    def searched(self) -> str:
        found = self.teaches and not self.rejected and self.author not in _UNSEARCHED
        return super().searched() if found else ""

    def says(self) -> str:
        called = [
            f"{name}({given})" for name, given in zip(self.calls, self.arguments, strict=False)
        ]
        return "\n".join(filter(None, (self.text, *called)))

    def _columns(self) -> dict[str, Any]:
        return {"key": self.message_id, "digest": self.anchor}


_SHOWN = 60
_UNSEARCHED = frozenset({"application", "model"})
RECORD_TYPES: dict[str, type[Record]] = {
    cls.type: cls for cls in (Memory, Observation, SessionSummary, Note, Turn)
}

AnyRecord = TypeVar("AnyRecord", bound=Record)


def load(row: Row) -> Record:
    """Return the record a row holds."""
    return load_as(row, RECORD_TYPES[row.type])


def load_all(rows: Iterable[Row], cls: type[AnyRecord]) -> list[AnyRecord]:
    """Return the records of rows that all hold one type; one that cannot be read is an error.

    Where one may not stop the others, see `faults`.
    """
    return [load_as(row, cls) for row in rows]


def load_as(row: Row, cls: type[AnyRecord]) -> AnyRecord:
    """Return the record a row holds, or raise an error that names it."""
    try:
        return cls.model_validate_json(row.body)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "body"
        raise UnreadableRecord(
            f"the {row.type} {row.ref!r} of user {row.user!r} cannot be read ({where}: "
            f"{problem['type']}). A newer ctxmw wrote it, or it is damaged: upgrade ctxmw, put a "
            "backup in place, or forget it. It was left as it is."
        ) from error


def same_text(text: str, scope: str) -> str:
    """Return what is equal for two texts that say the same in the same scope."""
    return digest(fold(text), scope)


def utc_now() -> datetime:
    """Return the present; the default clock."""
    return datetime.now(UTC)
