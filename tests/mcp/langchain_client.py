"""A LangChain client, run in an environment of its own: prints what it gets as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


async def main(connection: dict[str, object]) -> None:
    client = MultiServerMCPClient({"memory": connection})
    async with client.session("memory") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        await tools["remember"].ainvoke({"text": "The courier leaves at 16:00."})
        found = await tools["mem_search"].ainvoke({"query": "when does the courier leave"})
        resources = await load_mcp_resources(session, uris=["ctxmw://context/auto"])
        prompt = await load_mcp_prompt(
            session, "session-start", arguments={"message": "Where is the courier?"}
        )
    told = {
        "tools": list(tools),
        "found": str(found),
        "resource": resources[0].as_string(),
        "prompt": prompt[0].text,
    }
    print(json.dumps(told))


asyncio.run(main(json.loads(sys.argv[1])))
