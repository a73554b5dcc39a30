"""Streaming in a web handler of a server with many users; run it with `uvicorn web:app`.

A client that goes away leaves an abandoned call, and what waited for it is shown again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from scripted import scripted
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from ctxmw import ContextMiddleware
from ctxmw_langchain import with_context

ctx = ContextMiddleware.open(":memory:", user=None)
ctx.remember("Ada likes short answers.", kind="preference", user="ada")
model = with_context(scripted("Yes, it is."), ctx)


async def chat(request: Request) -> StreamingResponse:
    asked = request.query_params
    names = {"user_id": asked["user"], "session_id": asked["session"]}

    async def chunks() -> AsyncIterator[str]:
        async for chunk in model.astream(asked["q"], {"configurable": names}):
            yield chunk.text

    return StreamingResponse(chunks(), media_type="text/plain")


app = Starlette(routes=[Route("/chat", chat)])

if __name__ == "__main__":
    from starlette.testclient import TestClient

    with TestClient(app) as client:
        answer = client.get("/chat", params={"user": "ada", "session": "s1", "q": "Is it done?"})
    print(answer.text)
    print(ctx.session("s1", user="ada").history()[-1].summary())
    ctx.close()
