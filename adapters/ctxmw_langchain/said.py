"""`said="question"`: which of a template's variables has the person's words.

The template is told to say what it filled in: the message that holds it is marked with the value,
and the model that gets the message takes the mark off again. So the value may be made anywhere in
the chain, and the message may be moved on its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompt_values import ChatPromptValue, PromptValue, StringPromptValue
from langchain_core.runnables import RunnableConfig, RunnableSerializable

_SAID = "ctxmw_said"
"""In `additional_kwargs`, between a template and its model: what the person said in the message."""


class SpokenPrompt(RunnableSerializable[dict[str, Any], PromptValue]):
    """A template that tells which words in its messages the person said."""

    template: Any
    """Any template: pydantic would make one of the base class of it."""
    said: str
    """The variable with the person's words."""

    def invoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> PromptValue:
        return self._marked(input, self.template.invoke(input, config, **kwargs))

    async def ainvoke(
        self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> PromptValue:
        return self._marked(input, await self.template.ainvoke(input, config, **kwargs))

    @property
    def InputType(self) -> Any:
        return self.template.InputType

    @property
    def OutputType(self) -> Any:
        return self.template.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.template.get_input_schema(config)

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return str(self.template.get_name(suffix, name=name))

    def _marked(self, given: Any, prompt: PromptValue) -> PromptValue:
        value = given.get(self.said) if isinstance(given, dict) else given
        if not isinstance(value, str) or not value.strip():
            return prompt
        if isinstance(prompt, StringPromptValue):
            return _SpokenText(text=prompt.text, said=value)
        return ChatPromptValue(messages=_with_mark(prompt.to_messages(), value))


class _SpokenText(StringPromptValue):
    """A prompt for a completion, which a chat model gets as one message."""

    said: str

    def to_messages(self) -> list[BaseMessage]:
        return _with_mark([HumanMessage(self.text)], self.said)


def spoken(
    messages: Sequence[BaseMessage],
) -> tuple[list[BaseMessage], list[BaseMessage] | None, dict[int, str]]:
    """Return the messages without marks, as they were said, and the words that were marked.

    The second is None where nothing was marked.
    """
    marked = {
        at: str(message.additional_kwargs[_SAID])
        for at, message in enumerate(messages)
        if _SAID in message.additional_kwargs
    }
    if not marked:
        return list(messages), None, {}
    bare = [_without_mark(message) for message in messages]
    said = [
        message.model_copy(update={"content": marked[at]}) if at in marked else message
        for at, message in enumerate(bare)
    ]
    return bare, said, marked


def _with_mark(messages: Sequence[BaseMessage], said: str) -> list[BaseMessage]:
    """Return the messages with a mark on the last human one that holds these words."""
    marked = list(messages)
    for at in range(len(marked) - 1, -1, -1):
        message = marked[at]
        human = not isinstance(message, AIMessage | SystemMessage | ToolMessage)
        if human and said in str(message.text):
            kwargs = {**message.additional_kwargs, _SAID: said}
            marked[at] = message.model_copy(update={"additional_kwargs": kwargs})
            break
    return marked


def _without_mark(message: BaseMessage) -> BaseMessage:
    if _SAID not in message.additional_kwargs:
        return message
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != _SAID}
    return message.model_copy(update={"additional_kwargs": kwargs})
