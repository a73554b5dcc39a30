"""A compacted history: which of its messages the model still sees, and what stands for the others.

A view is found by the hash of the messages it covers, so it holds for a caller who sends the whole
history again with every call, and is not cut anew. It also holds for one who goes on with the
compacted messages: those come back with our note, and that tells. Either way a message keeps the
hash it had in the whole history, so what was captured is known again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, field_validator

from ...protocols import Find, Store
from ...recall.block import Block
from ...runtime.lru import LruCache
from ...text.cleaning import digest
from ...values.items import Item
from ...values.messages import BRIDGE, Message, fingerprint, last_user
from ...values.records import Record, Turn, load_all
from ..state import SessionState, ViewKey
from .cleared import cleared
from .trail import Trail

if TYPE_CHECKING:
    from ..blocks import Blocks

VIEWS = 8
"""Views of a conversation that are kept in mind: its branches have their own."""
FORTY_LINES = 6_400
"""Characters of an unread output in views that were made before each had a room of its own."""
_OTHER = {"user": "assistant", "assistant": "user"}


class View(Record):
    """What is in view of the messages that were there when a conversation was compacted."""

    type: ClassVar[str] = "view"
    prefix: ClassVar[str] = "v"

    anchor: str
    """Hash of the conversation up to the last message it covers."""
    after: str
    """Hash of those of them that are in view, as they are shown."""
    kept: dict[str, str]
    """The anchors of these, each with the ref of what is cleared of it, or ""."""
    unread: dict[str, int] = Field(default_factory=dict)
    """Those cut down before the model could read them, each with the characters it has."""
    bridged: frozenset[str] = frozenset()
    """Those before which a line of ours stands, so that roles alternate."""
    archived: tuple[str, ...]
    """Refs of the messages that are not in view any more, oldest first."""
    unanswered: frozenset[str] = frozenset()
    """Those of them that called a tool and never got a result."""
    note: str
    """Hash of the note."""
    shows: dict[str, str] = Field(default_factory=dict)
    """Versions of what the note shows in full, by ref."""
    tokens: int
    """What the messages and the note cost when it was made."""

    @field_validator("unread", mode="before")
    @classmethod
    def _all_alike(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else dict.fromkeys(given, FORTY_LINES)

    def _columns(self) -> dict[str, Any]:
        return {"digest": self.anchor}


ViewCache = LruCache[tuple[str, str], tuple[str, View]]
"""Views by user and ref, each with the text it was read from: one of a long conversation is long.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The caller's messages, and what of them is in view."""

    given: tuple[Message, ...]
    """Without anything of ours."""
    given_trail: Trail
    messages: list[Message]
    """In view, without the note."""
    trail: Trail
    """The same hashes as in the whole history."""
    view: View | None = None
    note: Block = field(default_factory=Block)
    base: View | None = None
    """The view that the caller's messages are themselves, when it goes on with compacted ones."""
    shown_at: Sequence[int] = ()
    """Where the messages in view stand in the whole history."""

    @property
    def places(self) -> Sequence[int]:
        """Where those of the caller's messages stand that are in view."""
        whole = self.view is None or self.base is not None
        return range(len(self.given)) if whole else self.shown_at

    @property
    def goal(self) -> int | None:
        """Where the note stands: at the first user message in view."""
        places = enumerate(self.messages)
        return next((place for place, message in places if message["role"] == "user"), None)

    @property
    def notes(self) -> dict[int, str]:
        """The note, at its place."""
        at = self.goal
        return {at: self.note.text} if at is not None and self.note.text else {}

    def bridged(self, placed: Sequence[Message]) -> list[Message]:
        """Return these messages as they are placed, with the lines of ours between them."""
        if self.view is None or not self.view.bridged:
            return list(placed)
        lines = lines_in(self.messages, self.trail.anchors, self.view)
        # A system prompt of ours may have come first.
        shift = len(placed) - len(self.messages)
        whole = list(placed[:shift])
        for at, message in enumerate(placed[shift:]):
            if at in lines:
                whole.append({"role": _OTHER[message["role"]], "content": BRIDGE})
            whole.append(message)
        return whole


def history_in_view(
    messages: Sequence[Message],
    trail: Trail,
    ours: frozenset[str],
    state: SessionState,
    archive: Blocks,
    *,
    views: ViewCache,
) -> History:
    """Return a history as it is in view; `ours` are the hashes of the blocks it came with."""
    base = _base(messages, ours, state, archive, views)
    if base is not None:
        trail = _continued(base, trail, messages)
    for key in state.views:
        if base is not None and key.ref == base.ref:
            return _whole(messages, trail, base, archive.block(base.note))
        if trail.place_of(key.anchor) is None:
            continue
        if (view := _load(archive, key, views)) is not None:
            shown = in_view(messages, trail, view, archive.block(view.note))
            return replace(shown, base=base)
    return _whole(messages, trail)


def in_view(messages: Sequence[Message], trail: Trail, view: View, note: Block) -> History:
    """Return the whole history as a view shows it."""
    covered = trail.end_of(view.anchor)
    assert covered is not None
    stay = {at for at in map(trail.place_of, view.kept) if at is not None}
    early = sorted({*stay, *(at for at in trail.systems if at <= covered)})
    places = [*early, *range(covered + 1, len(messages))]
    shown = [*(_early(messages[at], trail, at, view) for at in early), *messages[covered + 1 :]]
    return History(
        given=tuple(messages),
        given_trail=trail,
        messages=shown,
        trail=_part_of(messages, trail, places, shown),
        view=view,
        note=note,
        shown_at=tuple(places),
    )


def _early(message: Message, trail: Trail, at: int, view: View) -> Message:
    if message["role"] == "system":
        return message
    return as_kept(message, trail.anchors[at], view.kept, view.unread)


def as_kept(
    message: Message, anchor: str, kept: Mapping[str, str], unread: Mapping[str, int]
) -> Message:
    """Return a message as the view shows it: as it is, or a tool's output cut down."""
    mark = kept[anchor]
    return cleared(message, ref_of(mark), unread=unread.get(anchor)) if mark else message


def seams(
    messages: Sequence[Message], dropped: Collection[int], bridged: Collection[int]
) -> list[int]:
    """Return where a message would follow one of its own role, because what was between them went.

    Strict chat templates refuse that. `bridged` are the places where it is so already. What the
    caller's own messages have of it is left alone.
    """
    found: list[int] = []
    before: int | None = None
    for at, message in enumerate(messages):
        if message["role"] == "system" or at in dropped:
            continue
        alike = before is not None and message["role"] == messages[before]["role"] in _OTHER
        if alike and (at in bridged or any(gone in dropped for gone in range(before or 0, at))):
            found.append(at)
        before = at
    return found


def lines_in(messages: Sequence[Message], anchors: Sequence[str], view: View) -> list[int]:
    """Return before which of the messages that a view shows a line of ours stands."""
    said = [at for at, one in enumerate(messages) if one["role"] != "system"]
    found = {at for at in said if anchors[at] in view.bridged}
    if not view.bridged.issubset(anchors):
        # The message after the view is another one since: put in other words, or asked anew.
        kept = len(view.kept)
        around = said[max(0, kept - 1) : kept + 1] if kept else []
        if len(around) == 2 and len({messages[at]["role"] for at in around}) == 1:
            found.add(around[1])
    return sorted(at for at in found if messages[at]["role"] in _OTHER)


_NO_REF = "-"


def cleared_mark(ref: str) -> str:
    """Return what a view keeps of a message that is cleared; an answer of ours has no ref."""
    return ref or _NO_REF


def ref_of(mark: str) -> str:
    """Return the ref of what is cleared; "" for what is not, or has none."""
    return mark.removeprefix(_NO_REF)


def after_of(messages: Sequence[Message]) -> str:
    """Return the hash of messages, system messages aside."""
    said = [fingerprint(message) for message in messages if message["role"] != "system"]
    return digest(*said)


def captured_refs(store: Store, user: str, session: str, anchors: Iterable[str]) -> dict[str, str]:
    """Return the refs of the turns that were captured of a conversation, by anchor."""
    asked = tuple(dict.fromkeys(anchors))
    rows = store.query(user, Find(types=("turn",), sessions=(session,), digests=asked))
    return {row.digest: row.ref for row in rows}


def transcript(store: Store, user: str, view: View) -> str:
    """Return all that a view has archived, message by message."""
    rows = [row for row in store.get(user, view.archived) if row.type == Turn.type]
    turns = load_all(rows, Turn)
    return "\n".join(f"[{turn.ref}] {turn.speaker or turn.role}: {turn.says()}" for turn in turns)


def archive_item(view: View, text: str) -> Item:
    """Return all that a view has archived as an item."""
    return Item(
        ref=view.ref,
        kind="archive",
        text=text,
        lane="turn",
        section="sessions",
        trust="untrusted",
        source="this conversation, tool outputs included",
    )


def with_view(views: Sequence[ViewKey], view: View) -> tuple[ViewKey, ...]:
    """Return a conversation's views with a new one first."""
    known = [note for key in views if key.ref == view.ref for note in key.notes]
    key = ViewKey(ref=view.ref, anchor=view.anchor, notes=(*known, view.note))
    return (key, *(other for other in views if other.ref != view.ref))[:VIEWS]


def _whole(
    messages: Sequence[Message], trail: Trail, base: View | None = None, note: Block | None = None
) -> History:
    return History(
        given=tuple(messages),
        given_trail=trail,
        messages=list(messages),
        trail=trail,
        view=base,
        note=note or Block(),
        base=base,
    )


def _base(
    messages: Sequence[Message],
    ours: frozenset[str],
    state: SessionState,
    archive: Blocks,
    views: ViewCache,
) -> View | None:
    """Return the view that these messages are, told by the note they came with."""
    key = next((key for key in state.views if not ours.isdisjoint(key.notes)), None)
    view = _load(archive, key, views) if key is not None else None
    if view is None:
        return None
    said = [at for at, message in enumerate(messages) if message["role"] != "system"]
    begun = [messages[at] for at in said[: len(view.kept)]]
    return view if len(begun) == len(view.kept) and after_of(begun) == view.after else None


def _load(archive: Blocks, key: ViewKey, views: ViewCache) -> View | None:
    row = archive.row(key.ref)
    if row is None:
        return None
    body, view = views.get((row.user, row.ref)) or ("", None)
    if view is None or body != row.body:
        view = View.model_validate_json(row.body)
        views.put((row.user, row.ref), (row.body, view))
    return view


def _continued(view: View, trail: Trail, messages: Sequence[Message]) -> Trail:
    """Return the trail of compacted messages as it goes on from the whole history."""
    kept = list(view.kept)
    # The chain goes on where the view ends, not at the last message that it kept.
    chain = "" if kept else view.anchor
    anchors: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "system":
            anchors.append(chain)
        elif kept:
            anchors.append(kept.pop(0))
            chain = anchors[-1] if kept else view.anchor
        else:
            chain = digest(chain, trail.prints[place])
            anchors.append(chain)
    # Its places are known by other hashes.
    return replace(trail, anchors=tuple(anchors), known={})


def _part_of(
    messages: Sequence[Message], trail: Trail, places: Sequence[int], shown: Sequence[Message]
) -> Trail:
    prints = [
        trail.prints[place] if message is messages[place] else fingerprint(message)
        for place, message in zip(places, shown, strict=True)
    ]
    anchors, locals_ = (
        tuple(hashes[place] for place in places) for hashes in (trail.anchors, trail.locals)
    )
    systems = tuple(at for at, message in enumerate(shown) if message["role"] == "system")
    bring = tuple(at for at, message in enumerate(shown) if message.get("brings"))
    return Trail(tuple(prints), anchors, locals_, last_user(shown), systems, bring)
