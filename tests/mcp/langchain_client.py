"""A LangChain client, run in an environment of its own: prints what it gets as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(connection: dict[str, object]) -> None:
    client = MultiServerMCPClient({"memory": connection})
    tools = {tool.name: tool for tool in await client.get_tools()}
    kept = await tools["remember"].ainvoke({"text": "The courier leaves at 16:00."})
    found = await tools["mem_search"].ainvoke({"query": "when does the courier leave"})
    resources = await client.get_resources("memory", uris=["ctxmw://context/auto"])
    prompt = await client.get_prompt("memory", "session-start", arguments={"message": "Hello."})
    told = {
        "tools": list(tools),
        "kept": str(kept),
        "found": str(found),
        "resource": resources[0].as_string(),
        "prompt": prompt[0].text,
    }
    print(json.dumps(told))


asyncio.run(main(json.loads(sys.argv[1])))
