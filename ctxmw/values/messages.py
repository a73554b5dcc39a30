"""Messages as plain dicts, and where our text goes in them.

A message has a role and content (text, or a list of content parts), and where known id, name, at,
tool_calls (id, name, args), tool_call_id, status ("error": the tool failed) and author, where that
is not whom the role names: "application" for words that nobody said, such as a prompt made of a
template and documents, "model" for a task that another model set, "document" for a text that
somebody handed over. Words of strangers that came along with a message, and are not what its author
said, are named by their sources in `brings`, such as ["document:context"]. What somebody cleared or
cut in a message, so that it is sent shorter than it was said, stands in `original`: by that it is
known and kept. The caller's messages are never changed: `place` returns a new list whose untouched
messages are the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from ..errors import InvalidValue
from ..text.cleaning import digest
from .clocks import checked_moment

Message = Mapping[str, Any]
Role = Literal["system", "user", "assistant", "tool"]
Author = Literal["person", "assistant", "application", "model", "tool", "document"]
"""Who speaks in a message: only a person's own words teach something that is trusted."""
Placement = Literal["split", "system_end", "all_system"]
"""Where the blocks go. "split": the stable block opens the system prompt, the turn's part stands
before the user's text. "system_end": the stable block closes the system prompt. "all_system": the
turn's part closes the system prompt too."""

BRIDGE = "[Messages that stood here are archived.]"
"""Stands between two messages of one role that were not neighbours before what was between them
left the view."""
ROLES: tuple[str, ...] = get_args(Role)
AUTHORS: tuple[str, ...] = get_args(Author)
PLACEMENTS: tuple[str, ...] = get_args(Placement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One message of a prompt: our text in it, then the caller's."""

    role: str
    ours: str = ""
    theirs: str
    exact: bool = True
    """Whether it is stored as it was sent: not with secrets in it, nor a system prompt of the
    caller's. Of prompts before version 0.2 that is not known."""

    @property
    def text(self) -> str:
        """All of it, as it was placed."""
        return "\n".join(filter(None, (self.ours, self.theirs)))


def check_placement(placement: Placement) -> Placement:
    """Return where blocks go, or raise when that is no such place."""
    if placement not in PLACEMENTS:
        raise InvalidValue(f"placement is {placement!r}. Allowed: {', '.join(PLACEMENTS)}.")
    return placement


def check_messages(messages: Sequence[Message], checked: int = 0) -> list[Message]:
    """Return the messages as a list, or raise an error that names the first one that is wrong.

    So many of the first are `checked` already.
    """
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        raise InvalidValue(
            f"messages must be a list of dicts, not {type(messages).__name__}. "
            'Give [{"role": "user", "content": "..."}].'
        )
    if not messages:
        raise InvalidValue("messages is empty ([]): give at least one message.")
    for place, message in enumerate(messages[checked:], checked):
        if not _is_plain(message):
            _check_message(place, message)
    return list(messages)


def calls_of(message: Message) -> Sequence[Mapping[str, Any]]:
    """Return the calls of tools in a message, also where they are as OpenAI's API has them."""
    return [_plain_call(call) for call in message.get("tool_calls") or ()]


def _plain_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping) or "name" in call:
        return call
    args = function.get("arguments")
    with suppress(ValueError):  # a model may have written anything
        args = json.loads(args) if isinstance(args, str) else args
    return {"id": call.get("id", ""), "name": function.get("name", ""), "args": args}


def message_text(message: Message) -> str:
    """Return the text of a message, its text parts joined by newlines."""
    return _text_of(message.get("content"))


def said_text(message: Message) -> str:
    """Return what was said in a message, also where less of it is sent."""
    return _text_of(message.get("original", message.get("content")))


def moment_of(message: Message) -> datetime | None:
    """Return when a message was said, where it tells: an aware datetime or ISO text."""
    said = message.get("at")
    if isinstance(said, str):
        try:
            said = datetime.fromisoformat(said)
        except ValueError:
            raise InvalidValue(f"a message's at is {said!r:.60}: give an ISO time.") from None
    if said is not None and (not isinstance(said, datetime) or said.tzinfo is None):
        raise InvalidValue(f"a message's at is {said!r:.60}: give an aware datetime or ISO text.")
    return None if said is None else checked_moment(said, "a message's at")


def author_of(message: Message) -> Author:
    """Return who speaks in a message: whom it names, else whom its role stands for."""
    told: Author | None = message.get("author")
    return told or _SPEAKING.get(message["role"], "person")


def brought_by(message: Message) -> tuple[str, ...]:
    """Return the sources of strangers' words that came along with a message."""
    return tuple(message.get("brings") or ())


_SPEAKING: dict[str, Author] = {"assistant": "assistant", "tool": "tool"}


def last_user(messages: Sequence[Message]) -> int | None:
    """Return where the last user message stands."""
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if messages[place]["role"] == "user"), None)


def fingerprint(message: Message) -> str:
    """Return what is equal for two messages a model could not tell apart, had both been sent."""
    calls = [
        f"{call.get('id', '')}:{call.get('name', '')}:{call.get('args', '')}"
        for call in message.get("tool_calls") or ()
    ]
    content = message.get("original", message.get("content"))
    shown = content if isinstance(content, str) else repr(content)
    return digest(message["role"], shown, str(message.get("tool_call_id", "")), *calls)


def place(
    messages: Sequence[Message],
    stable: str,
    parts: Mapping[int, str],
    *,
    placement: Placement = "split",
    fixed: Collection[int] = (),
) -> list[Message]:
    """Return new messages with the stable block in the system prompt and each part at its message.

    The parts at the `fixed` messages stay there whatever the placement.

    A message that already begins (or ends) with its text is left as it is.
    """
    placed = list(messages)
    tail = ""
    for at, part in parts.items():
        if placement == "all_system" and at not in fixed:
            tail += part
        elif part:
            placed[at] = _prepend(placed[at], part)
    if placement == "split":
        return _in_system(placed, stable, _prepend) if stable else placed
    block = stable + tail
    return _in_system(placed, block, _append) if block else placed


def take_out(message: Message, block: str) -> Message:
    """Return the message without the block that `place` put into it.

    Where blocks stand together, take out the first one first.
    """
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": _cut(content, block)}
    parts = [_part_without(part, block) for part in content]
    return {**message, "content": [part for part in parts if part is not None]}


def _in_system(
    messages: list[Message], block: str, put: Callable[[Message, str], Message]
) -> list[Message]:
    at = next((at for at, message in enumerate(messages) if message["role"] == "system"), None)
    if at is None:
        return [{"role": "system", "content": block}, *messages]
    messages[at] = put(messages[at], block)
    return messages


def _prepend(message: Message, block: str) -> Message:
    content = message["content"]
    if isinstance(content, str):
        if content == block or content.startswith(block + "\n"):
            return message
        return {**message, "content": f"{block}\n{content}" if content else block}
    if any(_part_text(part) == block for part in content):
        return message
    at = next((at for at, part in enumerate(content) if _part_text(part)), len(content))
    return {**message, "content": [*content[:at], _text_part(block), *content[at:]]}


def _append(message: Message, block: str) -> Message:
    content = message["content"]
    if isinstance(content, str):
        if content == block or content.endswith("\n" + block):
            return message
        return {**message, "content": f"{content}\n{block}" if content else block}
    if any(_part_text(part) == block for part in content):
        return message
    return {**message, "content": [*content, _text_part(block)]}


def _cut(text: str, block: str) -> str:
    # Blocks that stand together open alike and have nothing between them.
    opening = block[: block.find("\n") + 1]
    if text.startswith(block):
        rest = text[len(block) :]
        return text if rest and not rest.startswith((opening, "\n")) else rest.removeprefix("\n")
    start = text.find("\n" + block)
    while start >= 0:
        rest = text[start + 1 + len(block) :]
        if not rest:
            return text[:start]
        if rest.startswith(opening):
            return f"{text[:start]}\n{rest}"
        start = text.find("\n" + block, start + 1)
    return text


def _part_without(part: Any, block: str) -> Any:
    text = _part_text(part)
    kept = _cut(text, block)
    if kept == text:
        return part
    if not kept:
        return None
    return kept if isinstance(part, str) else {**part, "text": kept}


def checked_reply(reply: str | Message | None) -> Message | None:
    """Return an answer as a message, or raise when it is none."""
    if reply is None:
        return None
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    if not isinstance(message, Mapping) or message.get("role") != "assistant":
        raise InvalidValue(
            f"reply is {reply!r:.60}: give the answer's text, or its message, which has the role "
            "assistant."
        )
    return check_messages([message])[0]


def _text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in map(_part_text, content or ()) if part)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
        return ""
    text = str(part["text"])
    # What is attached is not said: a frame tells it from the words around it.
    attached = part.get("type", "text") not in _SAID
    return f"<document>\n{text}\n</document>" if attached and text else text


_SAID = frozenset({"text", "input_text", "output_text", "summary_text"})
"""Types of the parts that hold what somebody says themselves."""


def _check_calls(place: int, calls: Any) -> None:
    if not isinstance(calls, list | tuple) or not all(isinstance(call, Mapping) for call in calls):
        raise InvalidValue(
            f"messages[{place}] has tool_calls of {calls!r:.60}: give a list of dicts with id, "
            "name and args."
        )


def _are_names(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(one, str) and one for one in given)


_PLAIN = frozenset(("role", "content", "name", "id", "tool_call_id"))
"""What most messages have, and nothing else."""


def _is_plain(message: object) -> bool:
    """Say whether nothing can be wrong: a long history is looked at in every call."""
    if type(message) is not dict or not message.keys() <= _PLAIN:
        return False
    return message.get("role") in ROLES and type(message.get("content")) is str


def _check_message(place: int, message: object) -> None:
    if not isinstance(message, (dict, Mapping)):  # a dict is known at once
        kind = type(message).__name__
        raise InvalidValue(f"messages[{place}] is {kind}: it must be a dict with role and content.")
    role = message.get("role")
    if role not in ROLES:
        allowed = ", ".join(ROLES)
        raise InvalidValue(f"messages[{place}] has the role {role!r}. Allowed: {allowed}.")
    if message.get("author") not in (None, *AUTHORS):
        allowed = ", ".join(AUTHORS)
        raise InvalidValue(
            f"messages[{place}] has the author {message['author']!r:.60}. Allowed: {allowed}."
        )
    brings = message.get("brings")
    if brings is not None and not _are_names(brings):
        raise InvalidValue(
            f"messages[{place}] brings {brings!r:.60}: give a list of the sources of strangers' "
            'words, such as ["document:handbook"].'
        )
    if message.get("tool_calls") is not None:
        _check_calls(place, message["tool_calls"])
    if message.get("at") is not None:
        moment_of(message)
    if not isinstance(message.get("original", ""), str | list | tuple):
        raise InvalidValue(
            f"messages[{place}] has the original {message['original']!r:.60}: give its content "
            "as it was before it was cut, text or a list of parts."
        )
    content = message.get("content")
    if content is None and role == "assistant":
        return
    if not isinstance(content, str | list | tuple):
        kind = type(content).__name__
        raise InvalidValue(
            f"messages[{place}] has content of type {kind}: it must be text or a list of parts."
        )
