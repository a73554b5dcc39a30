"""What a memory of LlamaIndex holds of a conversation and dropped from the prompt.

Its buffers cut the beginning off long before a model's window is full, and the user's first words
go with it. Where ctxmw compacts by itself, it is given the whole conversation instead, and decides
what stays in view.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage, MessageRole

_Key = tuple[MessageRole, str, str]


def with_dropped(
    given: Sequence[ChatMessage], whole: Sequence[ChatMessage], asked: str
) -> list[ChatMessage]:
    """Return the messages of a prompt with those of its conversation that were dropped before them.

    `whole` is the conversation as the memory holds it. What a buffer leaves is the end of it; a
    prompt that has no end of it in common is none of this conversation, and is left as it is,
    unless even what was `asked` did not fit.
    """
    first = next(
        (at for at, one in enumerate(given) if one.role not in _OPENING),
        len(given),
    )
    said = [_key(message) for message in given[first:]]
    known = [_key(message) for message in whole]
    for length in range(min(len(said), len(known)), 0, -1):
        if known[-length:] == said[:length]:
            return [*given[:first], *whole[: len(whole) - length], *given[first:]]
    nobody = all(message.role != MessageRole.USER for message in given)
    if nobody and whole and whole[-1].role == MessageRole.USER and whole[-1].content == asked:
        # The last message alone was more than the buffer takes.
        return [*given[:first], *whole, *given[first:]]
    return list(given)


_OPENING = (MessageRole.SYSTEM, MessageRole.DEVELOPER)


def _key(message: ChatMessage) -> _Key:
    called = str(message.additional_kwargs.get("tool_call_id") or "")
    return message.role, message.content or "", called
