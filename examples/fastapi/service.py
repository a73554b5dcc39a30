"""A FastAPI service with a memory for each of its users; docs/fastapi.md explains it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from ctxmw import ContextMiddleware
from ctxmw_langchain import ContextAgentMiddleware

MEMORY = os.environ.get("MEMORY", "service.db")  # or postgresql://USER@HOST/DATABASE


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    with ContextMiddleware.open(MEMORY, user=None) as ctx:
        app.state.ctx = ctx
        app.state.agent = create_agent(
            ChatOpenAI(model="gpt-4o-mini"),
            tools=[],
            system_prompt="You are the assistant of a bookshop.",
            middleware=[ContextAgentMiddleware(ctx)],
            checkpointer=InMemorySaver(),
        )
        yield


app = FastAPI(lifespan=lifespan)


def signed_in(authorization: Annotated[str, Header()]) -> str:
    """Say who asks, by your own sign-in. Never take the user from the request's body."""
    users = {"Bearer key-of-ada": "ada", "Bearer key-of-bob": "bob"}
    if authorization not in users:
        raise HTTPException(401, "sign in first")
    return users[authorization]


User = Annotated[str, Depends(signed_in)]


class Message(BaseModel):
    thread: str
    text: str


def turn(user: str, message: Message) -> tuple[dict, dict]:
    config = {"configurable": {"user_id": user, "thread_id": f"{user}/{message.thread}"}}
    return {"messages": [{"role": "user", "content": message.text}]}, config


@app.get("/health")
def health() -> dict[str, int]:
    return {"prepared": int(app.state.ctx.stats().get("prepare.calls", 0))}


@app.post("/chat")
async def chat(message: Message, user: User) -> dict[str, str]:
    said = await app.state.agent.ainvoke(*turn(user, message))
    return {"answer": said["messages"][-1].text}


@app.post("/stream")
async def stream(message: Message, user: User) -> StreamingResponse:
    async def words() -> AsyncIterator[str]:
        chunks = app.state.agent.astream(*turn(user, message), stream_mode="messages")
        async for chunk, about in chunks:
            if about["langgraph_node"] == "model":
                yield chunk.text

    return StreamingResponse(words(), media_type="text/plain")


@app.get("/memories")
def memories(user: User) -> list[dict[str, str]]:
    return [{"id": one.ref, "text": one.text} for one in app.state.ctx.memories(user=user)]


@app.delete("/memories/{ref}")
def forget(ref: str, user: User) -> dict[str, int]:
    return {"removed": app.state.ctx.forget(ref, user=user)}


@app.delete("/me")
def forget_me(user: User) -> dict[str, int]:
    return {"removed": app.state.ctx.forget(user=user)}
