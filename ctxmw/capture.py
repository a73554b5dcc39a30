"""What was said becomes turns: whole, redacted, and stored once.

A message is known by its place in the conversation, so capturing the same history again, or
finishing a call twice, writes nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .errors import InvalidValue
from .messages import Message, text_of
from .protocols import Find, Store
from .records import Turn
from .redaction import redact
from .refs import MakeRef
from .replay import Trail
from .text import storable


def new_turns(
    store: Store,
    messages: Sequence[Message],
    trail: Trail,
    make_ref: MakeRef,
    *,
    user: str,
    session: str,
    scope: str,
    at: datetime,
    start: int = 0,
) -> list[Turn]:
    """Return the turns of these messages, from `start` on, that are not stored yet."""
    anchors = trail.anchors[start:]
    asked = Find(types=("turn",), sessions=(session,), digests=tuple(anchors))
    stored = {row.digest for row in store.query(user, asked)}
    return [
        Turn(
            user=user,
            ref=make_ref(Turn.prefix),
            at=moment_of(message, at),
            session=session,
            scope=scope,
            source=_source(message),
            trust="untrusted" if message["role"] == "tool" else "trusted",
            role=message["role"],
            text=redact(text_of(message)).text,
            speaker=storable(str(message.get("name") or "")),
            message_id=storable(str(message.get("id") or "")),
            position=place,
            calls=tuple(
                storable(str(call.get("name", ""))) for call in message.get("tool_calls") or ()
            ),
            print=trail.prints[place],
            anchor=trail.anchors[place],
        )
        for place, message in enumerate(messages)
        if place >= start and message["role"] != "system" and trail.anchors[place] not in stored
    ]


def moment_of(message: Message, otherwise: datetime) -> datetime:
    """Return when a message was said: its own time, else the one given."""
    said = message.get("at")
    if said is None:
        return otherwise
    if isinstance(said, str):
        try:
            said = datetime.fromisoformat(said)
        except ValueError:
            raise InvalidValue(f"a message's at is {said!r}: give an ISO date and time.") from None
    if not isinstance(said, datetime) or said.tzinfo is None:
        raise InvalidValue(f"a message's at is {said!r}: give an aware datetime or ISO text.")
    return said


def _called(message: Message) -> tuple[str, ...]:
    return tuple(storable(str(call.get("name", ""))) for call in message.get("tool_calls") or ())


def _source(message: Message) -> str:
    if message["role"] == "tool":
        return storable(f"tool:{message.get('name') or 'unknown'}")
    return str(message["role"])
