"""Structured output: the answer is an object; its record is found in the conversation's history."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from pydantic import BaseModel, Field
from scripted import scripted

from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context


class Plan(BaseModel):
    """What to do next."""

    steps: list[str] = Field(description="In order")


call = {"name": "Plan", "args": {"steps": ["write a test", "fix it"]}, "id": "call_1"}
model = scripted(AIMessage("", tool_calls=[call]))

with ContextMiddleware.open(":memory:") as ctx:
    ctx.remember("Write the test first.", kind="rule")
    chat = ctx.session("planning")
    plan = with_context(model.with_structured_output(Plan), ctx, session=chat)
    print(plan.invoke("How do we fix the login?"))
    print(chat.history()[-1].summary())
