"""What was said becomes turns: whole, redacted, and stored once.

A message is known by its place in the conversation, so capturing the same history again, or
finishing a call twice, writes nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..conversation.conversation import Identity, scope_of
from ..conversation.exchanges import StoredTurns, Telling, in_order
from ..conversation.state import SessionState
from ..protocols import Find, Store
from ..store.journal import Journal
from ..text.secrets.redaction import redact, redact_name, redact_values
from ..tokens.prompt_cost import arguments
from ..values.items import Trust
from ..values.messages import Author, Message, author_of, calls_of, message_text, moment_of
from ..values.records import Turn

APPLICATION = "application"
"""The source of a prompt that nobody said."""
OUR_TOOLS = frozenset({"mem_search", "mem_get", "memory_context"})


def new_turns(
    journal: Journal,
    who: Identity,
    state: SessionState,
    told: Telling,
    *,
    known: StoredTurns | None,
    trust: Mapping[str, Trust],
) -> list[Turn]:
    """Return the turns of what is told that are not stored yet; to be called in a transaction.

    `known` tells which are stored, of these places at least; otherwise that is looked up.
    """
    messages, trail, chosen = told.messages, told.trail, told.chosen
    if not chosen:
        return []
    if known is None:
        anchors = [trail.anchors[place] for place in chosen]
        known = stored_turns(journal.store, who.user, who.session, anchors)
    own, asking = answers_of_ours(messages), asked_by(messages)
    make_ref, scope = journal.refs(who.user), scope_of(who, state)
    turns = [
        Turn(
            user=who.user,
            ref=make_ref(Turn.prefix),
            at=moment_of(message) or told.at,
            session=who.session,
            scope=scope,
            source=_source(message),
            trust=_trust(message, trust, asking[place]),
            role=message["role"],
            text=redact(message_text(message)).text,
            speaker=_speaker(message),
            author=author_of(message),
            message_id=redact_name(str(message.get("id") or "")),
            position=place,
            calls=tuple(redact(str(call.get("name", ""))).text for call in _told(message)),
            arguments=tuple(_arguments(call) for call in _told(message)),
            print=trail.prints[place],
            anchor=trail.anchors[place],
        )
        for place, message in ((place, messages[place]) for place in chosen)
        if message["role"] != "system"
        and known[trail.anchors[place]] is None
        and trail.anchors[place] not in state.forgotten
        and place not in own
    ]
    return in_order(journal.store, turns, told, known, state.turns)


def stored_turns(store: Store, user: str, session: str, anchors: Sequence[str]) -> StoredTurns:
    """Return the row of each of these anchors; None where there is no such turn."""
    asked = Find(types=("turn",), sessions=(session,), digests=tuple(anchors))
    rows = store.query(user, asked) if anchors else []
    return {**dict.fromkeys(anchors), **{row.digest: row for row in rows}}


def answers_of_ours(messages: Sequence[Message]) -> set[int]:
    """Return where answers of our own tools stand.

    They repeat what is stored already: captured, they would be found in place of it, and outlive
    what is forgotten.
    """
    names = {
        str(call.get("id", "")): str(call.get("name", ""))
        for message in messages
        for call in message.get("tool_calls") or ()
    }
    return {
        place
        for place, message in enumerate(messages)
        if message["role"] == "tool"
        and (message.get("name") or names.get(str(message.get("tool_call_id", "")))) in OUR_TOOLS
    }


def asked_by(messages: Sequence[Message]) -> list[Author]:
    """Return for each message who wrote the question that it is, or belongs to."""
    asking: Author = "person"
    authors = []
    for message in messages:
        if message["role"] == "user":
            asking = author_of(message)
        authors.append("application" if author_of(message) == "application" else asking)
    return authors


def _told(message: Message) -> list[Mapping[str, Any]]:
    """Return the calls that tell something: a question to us would be found for an answer."""
    return [call for call in calls_of(message) if call.get("name") not in OUR_TOOLS]


def _arguments(call: Mapping[str, Any]) -> str:
    """Return what a tool is called with: redacted as values, since names tell some secrets."""
    return redact(arguments({"args": redact_values(call.get("args"))})).text


def _speaker(message: Message) -> str:
    name = redact(str(message.get("name") or "")).text
    return name or (APPLICATION if _source(message) == APPLICATION else "")


def _trust(message: Message, known: Mapping[str, Trust], asking: Author) -> Trust:
    """Return how far a message is trusted: what a tool says is a stranger's, unless told.

    So is what an application's prompt brings along, documents perhaps, and what answers it.
    """
    strange = message["role"] == "tool" or asking == "application"
    return known.get(_source(message), "untrusted" if strange else "trusted")


def _source(message: Message) -> str:
    if message["role"] == "tool":
        return f"tool:{redact_name(str(message.get('name') or 'unknown'))}"
    if message["role"] == "user" and author_of(message) == "application":
        return APPLICATION
    return str(message["role"])
