"""What to say when no chat model can be found in a runnable: which object it is, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseLLM
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.history import RunnableWithMessageHistory


def refusal(runnable: Any, leaves: Sequence[Any] = ()) -> str:
    """Return the error: about the part that hides the model, when one does."""
    advised = ((part, _advice(part)) for part in (runnable, *leaves))
    part, advice = next(
        ((part, advice) for part, advice in advised if advice),
        (runnable, "Give with_context a chat model, or a runnable that is built with one."),
    )
    return f"with_context found no chat model in {_described(part)}. {advice}"


def _advice(part: Any) -> str:
    if any(base.__name__ == "Pregel" for base in type(part).__mro__):
        return (
            "A compiled graph cannot be opened: use with_context(model, ctx) inside its node, or "
            "create_agent(..., middleware=[ContextAgentMiddleware(ctx)])."
        )
    if isinstance(part, RunnableWithMessageHistory):
        return (
            "Wrap the chain inside: "
            "RunnableWithMessageHistory(with_context(chain, ctx), get_session_history). A bare "
            "model needs a step before it, with_context(RunnablePassthrough() | model, ctx), or "
            "the history stores what the model was sent, our text with it."
        )
    if isinstance(part, DynamicRunnable):
        return (
            "What is chosen at run time cannot be wrapped from outside: wrap each model, then "
            "offer them: with_context(model, ctx).configurable_alternatives(...)."
        )
    if isinstance(part, RunnableLambda):
        return "A function cannot be opened: use with_context(model, ctx) inside it."
    if isinstance(part, BaseLLM):
        return "It completes text and takes no messages: use a chat model."
    return ""


def _described(part: Any) -> str:
    name = type(part).__name__
    if isinstance(part, RunnableLambda):
        inside = ", ".join(type(runnable).__name__ for runnable in part.deps)
        return f"{name} {part.get_name()!r}" + (f" (it calls {inside})" if inside else "")
    return name
