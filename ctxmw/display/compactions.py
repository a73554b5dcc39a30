"""What compaction did, as HTML and as text."""

from __future__ import annotations

from ..compaction.compactor import Compacted
from ..text.cleaning import counted
from ..values.messages import Spoken, message_text
from .bars import share_bar
from .conversations import messages_html
from .elements import Html, badge, joined_html, section, tag, verbatim

_LOOKS = {"unchanged": "", "compacted": "answered", "over_target": "failed"}


def compacted_html(compacted: Compacted) -> Html:
    """Return how much shorter a history became, the note, and what left the view."""
    before, after = compacted.tokens_before, compacted.tokens_after
    label = f"{after:,} of {before:,} tokens are left"
    said = [
        Spoken(role=message["role"], ours="", theirs=message_text(message))
        for message in compacted.messages
    ]
    return joined_html(
        [
            tag("div", "Compaction", _state(compacted), class_="ctx-title"),
            tag("p", compacted_text(compacted)),
            share_bar(after / before if before else 1.0, label),
            section("Note", verbatim(compacted.note, ours=True)) if compacted.note else None,
            _refs("Not in view any more; mem_get brings each", compacted.archived),
            _refs("Tool output of which only the ends are in view", compacted.cleared),
            section("Messages to go on with", messages_html(said), count=len(said)),
        ]
    )


def compacted_text(compacted: Compacted) -> str:
    """Return in one line what became of a history."""
    before, after = compacted.tokens_before, compacted.tokens_after
    parts = [f"{before:,} tokens became {after:,}" if before != after else f"{after:,} tokens"]
    if compacted.archived:
        parts.append(f"{counted(len(compacted.archived), 'message')} archived")
    if compacted.cleared:
        parts.append(f"{counted(len(compacted.cleared), 'tool output')} cleared")
    return f"{', '.join(parts)} ({compacted.status.replace('_', ' ')})"


def _state(compacted: Compacted) -> Html:
    return badge(compacted.status.replace("_", " "), _LOOKS[compacted.status])


def _refs(title: str, refs: tuple[str, ...]) -> Html | None:
    if not refs:
        return None
    return section(title, tag("p", " ".join(refs), class_="ctx-dim"), count=len(refs))
