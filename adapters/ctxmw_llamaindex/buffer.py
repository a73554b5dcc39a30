"""The buffer that LlamaIndex's agents have by default, made to cost the same in long conversations.

Its own `get` drops one message after the other from the beginning, and counts all that is left anew
each time: 300 turns took minutes. This one counts each message once, from the end, as far as there
is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer

_NEVER_FIRST = (MessageRole.TOOL, MessageRole.ASSISTANT)


class CountedFromTheEnd(ChatMemoryBuffer):
    """The same messages as `ChatMemoryBuffer` gives, within a token for each seam of two."""

    def get(
        self, input: str | None = None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        """Return the newest messages that fit, beginning with one of the user's."""
        if initial_token_count > self.token_limit:
            raise ValueError("Initial token count exceeds token limit")
        messages = self.get_all()
        return messages[self._first(messages, self.token_limit - initial_token_count) :]

    def _first(self, messages: Sequence[ChatMessage], room: int) -> int:
        # One message alone may be more than there is room for.
        first = max(0, len(messages) - 1)
        for at in range(len(messages) - 1, -1, -1):
            room -= len(self.tokenizer_fn(f" {messages[at].content}"))
            if room < 0:
                break
            if not at or messages[at].role not in _NEVER_FIRST:
                first = at
        return first

    def __reduce_ex__(self, protocol: Any) -> Any:
        # Pickle looks the class up by its name, and finds LlamaIndex's own there.
        return ChatMemoryBuffer.model_construct, (), self.__getstate__()


# Serializers write down the class: what they wrote can be read wherever LlamaIndex is.
for _name in ("__module__", "__name__", "__qualname__"):
    setattr(CountedFromTheEnd, _name, getattr(ChatMemoryBuffer, _name))


def counted_from_the_end(memory: BaseMemory) -> BaseMemory:
    """Return the same buffer, counted from its end; any other memory as it is."""
    if type(memory) is not ChatMemoryBuffer:
        return memory
    return CountedFromTheEnd(
        token_limit=memory.token_limit,
        tokenizer_fn=memory.tokenizer_fn,
        chat_store=memory.chat_store,
        chat_store_key=memory.chat_store_key,
    )
