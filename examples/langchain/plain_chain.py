"""A chain that remembers: one line around it, and the record of what the model was given."""

from __future__ import annotations

from langchain_core.prompts import ChatPromptTemplate
from scripted import scripted

from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context

prompt = ChatPromptTemplate([("system", "You help with code."), ("human", "{question}")])
model = scripted("In AuthService.verify().", "With RS256, in AuthService.verify().")

with ContextMiddleware.open(":memory:") as ctx:
    ctx.remember("Auth uses JWT with RS256.", kind="decision")
    chain = with_context(prompt | model, ctx)

    for question in ("Where are tokens verified?", "And how?"):
        reply = chain.invoke({"question": question}, {"configurable": {"session_id": "monday"}})
        print(f"{question} {reply.content}")
        print("   given:", reply.response_metadata["ctxmw"]["summary"])
