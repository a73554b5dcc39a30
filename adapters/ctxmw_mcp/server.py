"""The server: tools, resources, prompts and activity of one memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server

import ctxmw
from ctxmw import ContextMiddleware

from .activity import Activities
from .callers import Callers
from .requests import Requests, told_plainly
from .resources import Prompts, Resources
from .stdin import ended_by_signals
from .tools import Tools
from .updates import Updates

INSTRUCTIONS = (
    "A memory that outlives conversations. mem_search finds what was decided, preferred or said; "
    "mem_get brings records in full; memory_context brings the rules that hold here; remember "
    "keeps something for later. The resource ctxmw://context/auto holds what matters now."
)


def memory_server(
    ctx: ContextMiddleware,
    *,
    project: str | None = None,
    language: str | None = None,
    cwd: str | Path | None = None,
    connection: str = "",
    trust: ctxmw.Trust = "trusted",
    capture: bool = False,
) -> Server[Any]:
    """Return an MCP server for a memory.

    What clients remember without a scope belongs to the project. `connection` names the one
    conversation there is, for a server on a pipe. With `cwd`, the rules and files of that folder
    come along.

    What clients remember was written by an agent, and people may see what it writes before it
    does. Where they do not, and it reads what strangers wrote, `trust="untrusted"` treats it as a
    stranger's words: it is found, and never comes into a system prompt.

    With `capture` the model gets a tool to hand over what was said, for clients that do not do so
    themselves with the request `ctxmw/capture`: it costs a call in every turn.
    """
    callers = Callers(ctx=ctx, project=project, language=language, cwd=cwd, connection=connection)
    updates = Updates(callers)
    activities = Activities(callers=callers, updates=updates)
    tools = Tools(
        callers=callers, updates=updates, activities=activities, trust=trust, captures=capture
    )
    resources = Resources(callers=callers)
    prompts = Prompts(callers=callers)
    server: Server[Any] = Server(
        "ctxmw",
        version=ctxmw.__version__,
        title="ctxmw",  # clients put it before the name of every tool, and cut it
        instructions=INSTRUCTIONS,
        lifespan=updates.following,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_subscribe_resource=updates.subscribe,
        on_unsubscribe_resource=updates.unsubscribe,
        on_subscriptions_listen=updates.listen,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
    )
    server.middleware.append(told_plainly)
    activities.register(server)
    Requests(callers=callers, updates=updates, trust=trust).register(server)
    return server


def run_stdio(ctx: ContextMiddleware, **options: Any) -> None:
    """Serve one client over standard input and output until it goes away.

    SIGINT and SIGTERM end it as if the client had gone: what it asked for is answered first.
    """
    server = memory_server(ctx, connection=f"mcp-{uuid4().hex[:12]}", **options)

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            told = server.create_initialization_options(NotificationOptions())
            await server.run(incoming, outgoing, told)

    with ended_by_signals():
        anyio.run(serve)
