"""The memory in a chat engine, for `ctxmw demo`: one line wraps it, the answer has the record."""

from __future__ import annotations

from collections.abc import Callable

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM

from ctxmw import ContextMiddleware

from .context import with_context


def run(ctx: ContextMiddleware, show: Callable[[str], None]) -> None:
    """Ask a wrapped engine about the project; the model only echoes, so no key is needed."""
    engine = SimpleChatEngine.from_defaults(
        llm=MockLLM(max_tokens=8, is_chat_model=True), system_prompt="You help."
    )
    chat = ctx.session("engine", project="shop", language="python")
    wrapped = with_context(engine, ctx, session=chat)
    show("engine = with_context(SimpleChatEngine.from_defaults(llm=llm), ctx, session=chat)")
    question = "What is left to do about rotated keys?"
    show(f"engine.chat({question!r})")
    answer = wrapped.chat(question)
    show(f"  given:  {answer.metadata['ctxmw']['summary']}")
