"""The memory in a chain, for `ctxmw demo`: one line wraps it, the answer says what it was given."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate

from ctxmw import ContextMiddleware

from .runnable import with_context


def run(ctx: ContextMiddleware, show: Callable[[str], None]) -> None:
    """Ask a wrapped chain about the project; a scripted model answers, so no key is needed."""
    prompt = ChatPromptTemplate([("system", "You help."), ("human", "{question}")])
    model = FakeListChatModel(responses=["With RS256: see AuthService.verify()."])
    chat = ctx.session("chain", project="shop", language="python")
    chain = with_context(prompt | model, ctx, session=chat)
    show("chain = with_context(prompt | model, ctx, session=chat)")
    question = "How are tokens signed?"
    show(f"chain.invoke({{'question': {question!r}}})")
    reply = chain.invoke({"question": question})
    show(f"  answer: {reply.content}")
    show(f"  given:  {reply.response_metadata['ctxmw']['summary']}")
