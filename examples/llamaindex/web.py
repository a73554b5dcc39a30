"""A web handler for many users: one memory, one engine; a conversation is entered per request."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from scripted import scripted

from ctxmw import ContextMiddleware, MissingUser
from ctxmw_llamaindex import with_context

ctx = ContextMiddleware.open(":memory:", user=None)  # a server: every call names its user
llm = scripted("Blue, Ada.", "Green, Bob.")
memory = ChatMemoryBuffer.from_defaults(token_limit=3000)
engine = with_context(SimpleChatEngine.from_defaults(llm=llm, memory=memory), ctx)


async def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request whose user was authenticated before."""
    with ctx.session(request["conversation"], user=request["user"]):
        response = await engine.achat(request["message"])
    return {"answer": str(response), "why": response.metadata["ctxmw"]["summary"]}


async def main() -> None:
    for user, colour in (("ada", "blue"), ("bob", "green")):
        ctx.remember(f"My favourite colour is {colour}.", kind="fact", user=user)
        asked = {"user": user, "conversation": "c1", "message": "What is my favourite colour?"}
        print(await handle(asked))
    try:
        engine.chat("Who am I?")
    except MissingUser as error:
        print(error)


asyncio.run(main())
ctx.close()
