"""A compacted history: which of its messages the model still sees, and what stands for the others.

A view is found by the hash of the messages it covers, so it holds for a caller who sends the whole
history again with every call, and is not cut anew. It also holds for one who goes on with the
compacted messages: those come back with our note, and that tells. Either way a message keeps the
hash it had in the whole history, so what was captured is known again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from ...protocols import Find, Store
from ...recall.block import Block
from ...text.cleaning import digest, storable
from ...values.items import Item
from ...values.messages import Message, fingerprint, last_user, message_text
from ...values.records import Record, Turn, load_all
from ..state import SessionState, ViewKey
from .trail import Trail, trail_of

if TYPE_CHECKING:
    from ..blocks import Blocks

VIEWS = 8
"""Views of a conversation that are kept in mind: its branches have their own."""
LINES, WIDTH = 2, 160
"""How many lines at either end are left, and how many characters of each."""
LONG_LINES = 20
"""The same of an output that the model has not read yet, and that is too large for its window."""


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
    unread: frozenset[str] = frozenset()
    """Those cleared before the model could read them."""
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

    def _columns(self) -> dict[str, Any]:
        return {"digest": self.anchor}


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


def history_in_view(
    messages: Sequence[Message], ours: frozenset[str], state: SessionState, archive: Blocks
) -> History:
    """Return a history as it is in view; `ours` are the hashes of the blocks it came with."""
    trail = trail_of(messages)
    base = _base(messages, ours, state, archive)
    if base is not None:
        trail = _continued(base, trail, messages)
    anchors = frozenset(trail.anchors)
    for key in state.views:
        if base is not None and key.ref == base.ref:
            return _whole(messages, trail, base, archive.block(base.note))
        if key.anchor in anchors and (view := _load(archive, key)) is not None:
            shown = in_view(messages, trail, view, archive.block(view.note))
            return replace(shown, base=base)
    return _whole(messages, trail)


def in_view(messages: Sequence[Message], trail: Trail, view: View, note: Block) -> History:
    """Return the whole history as a view shows it."""
    # System messages have the anchor of what stands before them.
    covered = max(place for place, anchor in enumerate(trail.anchors) if anchor == view.anchor)
    shown: list[Message] = []
    places: list[int] = []
    for place, message in enumerate(messages):
        anchor = trail.anchors[place]
        if place > covered or message["role"] == "system":
            shown.append(message)
        elif anchor in view.kept:
            shown.append(as_kept(message, anchor, view.kept, view.unread))
        else:
            continue
        places.append(place)
    return History(
        given=tuple(messages),
        given_trail=trail,
        messages=shown,
        trail=_part_of(messages, trail, places, shown),
        view=view,
        note=note,
    )


def as_kept(
    message: Message, anchor: str, kept: Mapping[str, str], unread: frozenset[str]
) -> Message:
    """Return a message as the view shows it: as it is, or a tool's output cut down."""
    mark = kept[anchor]
    return cleared(message, ref_of(mark), unread=anchor in unread) if mark else message


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
    messages: Sequence[Message], ours: frozenset[str], state: SessionState, archive: Blocks
) -> View | None:
    """Return the view that these messages are, told by the note they came with."""
    key = next((key for key in state.views if not ours.isdisjoint(key.notes)), None)
    view = _load(archive, key) if key is not None else None
    if view is None:
        return None
    said = [at for at, message in enumerate(messages) if message["role"] != "system"]
    begun = [messages[at] for at in said[: len(view.kept)]]
    return view if len(begun) == len(view.kept) and after_of(begun) == view.after else None


def _load(archive: Blocks, key: ViewKey) -> View | None:
    row = archive.row(key.ref)
    return View.model_validate_json(row.body) if row is not None else None


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
    return Trail(trail.prints, tuple(anchors), trail.locals, trail.last)


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
    return Trail(tuple(prints), anchors, locals_, last_user(shown))


def cleared(message: Message, ref: str, *, unread: bool = False) -> Message:
    """Return a tool's output with only its first and last lines, and the id of the whole.

    An answer of our own tools has no id: it can be asked for again. What is cleared already is
    left as it is.
    """
    text = message_text(message)
    if _where(ref) in text:
        return message
    lines = text.splitlines()
    keep = LONG_LINES if unread else LINES
    shown = [line[:WIDTH] for line in lines]
    gap = f"[{_what(lines, keep)} {_where(ref)}]"
    left = "\n".join([*shown[:keep], gap, *shown[max(keep, len(lines) - keep) :]])
    content = left if isinstance(message.get("content"), str) else [{"type": "text", "text": left}]
    return {**message, "content": content}


def _what(lines: list[str], keep: int) -> str:
    left_out = max(0, len(lines) - 2 * keep)
    if not left_out:
        return "long lines cut."
    return f"{left_out} lines left out." if left_out > 1 else "1 line left out."


def _where(ref: str) -> str:
    if not ref:
        return "Ask again to see them."
    return f'All of it: mem_get with ids ["{storable(ref)}"].'
