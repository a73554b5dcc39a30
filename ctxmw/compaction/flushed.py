"""Messages that leave a history which others keep, such as a buffer that is flushed.

They are captured, and a note tells what is gone; unlike a compacted history, the one they leave
is not ours to look at, so the note covers the user's first words too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.blocks import Blocks
from ..conversation.conversation import Identity, change_state, load_state
from ..conversation.replay.trail import trail_of
from ..conversation.replay.views import View, captured_refs
from ..learning.capture import capture_messages
from ..recall.pipeline import Setup
from ..recall.render import title_of
from ..values.messages import Message
from ..values.records import Turn, load_all
from ..values.refs import short_refs
from .note import make_note
from .note_lines import Archived, NoteLayout


def leave(setup: Setup, who: Identity, messages: Sequence[Message], limit: int) -> str:
    """Archive messages that are gone from a history; return the note of all that ever were."""
    trail = trail_of(messages)
    capture_messages(setup, who, messages, trail, setup.clock())
    refs = captured_refs(setup.store, who.user, who.session, trail.anchors)
    gone = [refs[anchor] for anchor in trail.anchors if anchor in refs]
    store = setup.store
    with store.atomic(who.user):
        before = _left(setup, who)
        ref = before.ref if before else short_refs(store, who.user, setup.random)(View.prefix)
        archived = tuple(dict.fromkeys((*(before.archived if before else ()), *gone)))
        rows = [row for row in store.get(who.user, archived) if row.type == Turn.type]
        about = Archived(ref=ref, turns=load_all(rows, Turn), with_goal=True)
        note = make_note(about, limit, _layout(setup, who))
        archive = Blocks(store, who.user)
        archive.keep_block(note.block, setup.clock())
        view = View(
            user=who.user,
            ref=ref,
            at=setup.clock(),
            session=who.session,
            anchor="",
            after="",
            kept={},
            archived=archived,
            note=note.block.hash,
            tokens=0,
        )
        store.put([*archive.rows, view.row()])
        change_state(setup, who, left=ref)
    setup.has_news(who.user)
    return note.block.text


def note_of_left(setup: Setup, who: Identity) -> str:
    """Return the note of what left; "" when nothing did."""
    view = _left(setup, who)
    return Blocks(setup.store, who.user).block(view.note).text if view else ""


def _left(setup: Setup, who: Identity) -> View | None:
    state = load_state(setup, who, setup.clock())
    rows = setup.store.get(who.user, [state.left]) if state.left else []
    return next((View.model_validate_json(row.body) for row in rows), None)


def _layout(setup: Setup, who: Identity) -> NoteLayout:
    def title(section: str) -> str:
        return title_of(section, project=who.project, language=who.language)

    return NoteLayout(renderer=setup.renderer, count=setup.count, title=title)
