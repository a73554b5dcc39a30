"""Prompts, conversations and what compaction did, as HTML and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..compaction.compactor import Compacted
from ..text.cleaning import counted, one_line
from ..values.messages import Spoken, message_text
from .bars import share_bar
from .elements import Child, Html, badge, joined_html, section, side_by_side, tag, verbatim
from .records import NO_RECORD, Link, record_html

if TYPE_CHECKING:
    from ..conversation.conversation import Prepared
    from ..conversation.history import Exchange
    from ..session import Session

LAST_TURNS = 30
"""How many turns of a conversation are shown at once ..."""
IN_FULL = 3
"""... and of how many of them the whole context; of the others, the summary."""


def prepared_html(
    prepared: Prepared, link: Link | None = None, *, title: str = "Context used"
) -> Html:
    """Return the record of a prompt, and its messages with our text marked."""
    said = [
        _said(message["role"], message_text(message), prepared) for message in prepared.messages
    ]
    prompt = section("Messages", messages_html(said), count=len(said))
    record = record_html(prepared.context, link, title=title)
    return joined_html([record, prompt, *_tools(prepared.tools)])


def messages_html(said: Iterable[Spoken]) -> Html:
    """Return messages one below the other, our text marked."""
    return joined_html(part for one in said for part in _message(one))


def session_html(chat: Session) -> Html:
    """Return where a conversation stands, and its last turns with what each was given."""
    exchanges = chat.transcript()
    shown = exchanges[-LAST_TURNS:]
    earlier = len(exchanges) - len(shown)
    return joined_html(
        [
            _heading(chat),
            *_context(chat),
            tag("p", f"{earlier} earlier turns are not shown.", class_="ctx-none")
            if earlier
            else None,
            *(exchange_html(one, in_full=False) for one in shown[:-IN_FULL]),
            *(exchange_html(one) for one in shown[-IN_FULL:]),
            None if exchanges else tag("p", "Nothing has been said yet.", class_="ctx-none"),
        ]
    )


def session_text(chat: Session) -> str:
    """Return the last turns of a conversation, one line for the words and one for the context."""
    lines = [repr(chat)]
    for exchange in chat.transcript()[-LAST_TURNS:]:
        lines.append(f"- {one_line(_asked(exchange), 90)}")
        lines += [f"  {record.summary()}" for record in exchange.records] or [f"  {NO_RECORD}"]
    return "\n".join(lines)


def exchange_html(exchange: Exchange, *, in_full: bool = True) -> Html:
    """Return one turn: what was asked and answered, and the context of each call."""
    asked = _asked(exchange)
    said = [Spoken(role=turn.role, theirs=turn.text) for turn in exchange.said]
    calls = [
        section("Context", record_html(one), opened=True) if in_full else tag("p", one.summary())
        for one in exchange.records
    ]
    return section(
        one_line(asked, 110),
        messages_html([Spoken(role="user", theirs=asked), *said]),
        *(calls or [tag("p", NO_RECORD, class_="ctx-none")]),
    )


def _asked(exchange: Exchange) -> str:
    return exchange.asked.text if exchange.asked else "(nothing was captured)"


def _heading(chat: Session) -> Html:
    state = chat.state
    about = [state.project, state.language, state.task, f"epoch {state.epoch}", f"of {chat.user}"]
    told = " · ".join(filter(None, about))
    ended = badge("ended") if state.ended else None
    return side_by_side(
        "div", chat.id, ended, tag("span", told, class_="ctx-dim"), class_="ctx-title"
    )


def _context(chat: Session) -> list[Child]:
    offered = {"Rules": chat.rules, "References": chat.references, "Tools": chat.tools}
    waiting = [f"{entry.source}: {entry.text}" for entry in chat.pending()]
    named = {**offered, "Waiting to be said": waiting}
    return [
        section(title, _names(names), count=len(names)) for title, names in named.items() if names
    ]


def _names(names: Sequence[str]) -> Html:
    return tag("ul", *(tag("li", one_line(name, 160)) for name in names), class_="ctx-items")


def _tools(names: Sequence[str]) -> list[Child]:
    return [section("Tools to bind", _names(names), count=len(names))] if names else []


def _said(role: str, text: str, prepared: Prepared) -> Spoken:
    """Return a message with our text told from the caller's, as far as it opens the message."""
    record = prepared.context
    for block in (record.stable, record.part):
        if block and text.startswith(block):
            return Spoken(role=role, ours=block, theirs=text[len(block) :].lstrip("\n"))
    return Spoken(role=role, theirs=text)


def _message(said: Spoken) -> Sequence[Child]:
    parts: list[Child] = [tag("p", said.role, class_="ctx-role")]
    parts += [verbatim(said.ours, ours=True)] if said.ours else []
    parts += [verbatim(said.theirs)] if said.theirs else []
    return parts


_LOOKS = {
    "unchanged": "",
    "compacted": "answered",
    "over_target": "failed",
    "over_window": "failed",
}


def compacted_html(compacted: Compacted) -> Html:
    """Return how much shorter a history became, the note, and what left the view."""
    before, after = compacted.tokens_before, compacted.tokens_after
    label = f"{after:,} of {before:,} tokens are left"
    said = [
        Spoken(role=message["role"], theirs=message_text(message)) for message in compacted.messages
    ]
    return joined_html(
        [
            side_by_side("div", "Compaction", _state(compacted), class_="ctx-title"),
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
