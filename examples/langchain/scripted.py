"""A model that answers from a list, so that the examples need no key. Use your own instead."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage


class ScriptedModel(GenericFakeChatModel):
    """Streams word by word, and lets tools be bound."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def scripted(*answers: str | AIMessage) -> ScriptedModel:
    """Return a model that gives these answers, one after the other."""
    return ScriptedModel(messages=iter(answers))
