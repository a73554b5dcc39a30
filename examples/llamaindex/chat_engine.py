"""A chat engine over an index, with a memory: documents and what was said before, in one prompt."""

from __future__ import annotations

from llama_index.core import Document, SummaryIndex
from scripted import scripted

from ctxmw import ContextMiddleware
from ctxmw_llamaindex import with_context

index = SummaryIndex.from_documents([Document(text="Tokens are verified in AuthService.verify().")])
llm = scripted("In AuthService.verify(), with RS256.")

with ContextMiddleware.open(":memory:") as ctx:
    ctx.remember("Auth uses JWT with RS256.", kind="decision", scope="project:shop")

    engine = with_context(index.as_chat_engine(chat_mode="context", llm=llm), ctx)
    with ctx.session("today", project="shop"):
        response = engine.chat("How are tokens verified?")

    print(response)
    print("given:", response.metadata["ctxmw"]["summary"])
    print("history:", [str(message.role.value) for message in engine.unwrap().chat_history])
