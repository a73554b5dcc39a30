"""The server, met by clients that nobody here wrote."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from ctxmw import ContextMiddleware
from tests.mcp.conftest import Served, serving
from tests.support.waiting import PATIENCE

CLIENTS = Path(sys.prefix) / "mcp-clients"
NODE = CLIENTS / "node" / "node_modules"
SAID = "The courier leaves at 16:00."
TOOLS = ["mem_search", "mem_get", "memory_context", "code_search", "remember", "forget", "activity"]

needs_node = pytest.mark.skipif(
    not (CLIENTS / ".node-installed").exists(),
    reason="no Node clients here: install Node and npm, then run make test",
)


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory) -> Iterator[Served]:
    """A server that asks for no token, for clients that cannot send one."""
    with serving(tmp_path_factory.mktemp("open"), "--no-token") as server:
        yield server


def stdio(store: Path) -> tuple[str, list[str]]:
    return sys.executable, ["-m", "ctxmw", "mcp", "--store", str(store), "--project", "shop"]


@asynccontextmanager
async def llama_index_client(
    way: str, store: Path, served: Served
) -> AsyncIterator[BasicMCPClient]:
    if way == "stdio":
        command, arguments = stdio(store)
        yield BasicMCPClient(command, args=arguments, env=dict(os.environ))
    else:
        async with httpx2.AsyncClient(headers=served.headers("ada"), timeout=PATIENCE) as browser:
            yield BasicMCPClient(served.url, http_client=browser)


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_llama_index_has_the_tools_and_reads_the_resources(way, tmp_path, served):
    async with llama_index_client(way, tmp_path / "memory.db", served) as client:
        # Over a pipe this client starts a server for every question: few are asked.
        spec = McpToolSpec(client=client)
        tools = {tool.metadata.name: tool for tool in await spec.to_tool_list_async()}
        assert list(tools) == TOOLS
        await tools["remember"].acall(text=SAID)
        resource = await client.read_resource("ctxmw://context/auto")
        assert SAID in resource.contents[0].text
        if way == "http":
            found = await tools["mem_search"].acall(query="when does the courier leave")
            assert SAID in str(found)
            prompt = await client.get_prompt("session-start", {"message": "Hello."})
            assert "Hello." in str(prompt)


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_langchain_has_the_tools_the_resources_and_the_prompt(way, tmp_path, served):
    python = CLIENTS / "langchain" / "bin" / "python"
    assert python.exists(), "make test installs the client"
    command, arguments = stdio(tmp_path / "memory.db")
    connection: dict[str, Any] = {
        "stdio": {"transport": "stdio", "command": command, "args": arguments},
        "http": {"transport": "http", "url": served.url, "headers": served.headers("bob")},
    }[way]
    script = Path(__file__).with_name("langchain_client.py")
    done = subprocess.run(
        [python, script, json.dumps(connection)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tools"] == TOOLS
    for part in ("found", "resource", "prompt"):
        assert SAID in told[part]


TOOLS_LIST = ["--method", "tools/list"]
INSPECTED = {
    ("legacy", "tools"): TOOLS_LIST,
    ("legacy", "search"): [
        *("--method", "tools/call", "--tool-name", "mem_search"),
        *("--tool-arg", "query=courier"),
    ],
    ("modern", "tools"): TOOLS_LIST,
    ("modern", "resource"): ["--method", "resources/read", "--uri", "ctxmw://context/auto"],
    ("modern", "templates"): ["--method", "resources/templates/list"],
    ("modern", "prompt"): ["--method", "prompts/get", "--prompt-name", "session-start"],
}


@needs_node
def test_the_inspector_gets_on_with_it_in_both_eras_of_the_protocol(served):
    with ContextMiddleware.open(served.store, user="ada") as memory:
        memory.remember(SAID)
    header = f"Authorization: {served.headers('ada')['Authorization']}"

    def inspect(asked: tuple[str, str]) -> str:
        where = [served.url, "--transport", "http", "--header", header]
        out, err = _inspect(*where, "--protocol-era", asked[0], *INSPECTED[asked])
        assert out.strip().startswith("{"), (asked, out, err)
        return out

    with ThreadPoolExecutor(3) as threads:
        answers = dict(zip(INSPECTED, threads.map(inspect, INSPECTED), strict=True))
    for era in ("legacy", "modern"):
        assert [tool["name"] for tool in json.loads(answers[era, "tools"])["tools"]] == TOOLS
    assert "ctxmw://context/file/{+path}" in answers["modern", "templates"]
    for asked in (("legacy", "search"), ("modern", "resource"), ("modern", "prompt")):
        assert SAID in answers[asked], asked


@needs_node
def test_the_inspector_gets_on_with_it_over_a_pipe(tmp_path):
    command, arguments = stdio(tmp_path / "memory.db")
    out, err = _inspect(command, *arguments, *TOOLS_LIST)
    assert [tool["name"] for tool in json.loads(out or err)["tools"]] == TOOLS


def _inspect(*arguments: str) -> tuple[str, str]:
    inspector = [
        NODE / ".bin" / "mcp-inspector",
        "--cli",
        "--connect-timeout",
        f"{PATIENCE * 1000:.0f}",
    ]
    return _node([*inspector, *arguments])


SCENARIOS = {
    "2025-11-25": [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "resources-subscribe",
        "resources-unsubscribe",
        "prompts-list",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
    ],
    "2026-07-28": [
        "tools-list",
        "resources-list",
        "prompts-list",
        "sep-2164-resource-not-found",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "server-sse-multiple-streams",
    ],
}
"""Those that need no tools made for the suite."""


@needs_node
@pytest.mark.parametrize("spec", SCENARIOS)
def test_the_conformance_suite_passes_as_far_as_it_applies(spec, open_to_all):
    command = [NODE / ".bin" / "conformance", "server", "--url", open_to_all.url]
    # All of its scenarios, of which others may fail: a process for each of ours takes far longer.
    out, err = _node([*command, "--spec-version", spec, "--suite", "all"])
    passed = re.findall(r"^✓ (\S+): [1-9]\d* passed, 0 failed$", out, re.MULTILINE)
    assert set(SCENARIOS[spec]) - set(passed) == set(), out + err


def _node(command: list[Any]) -> tuple[str, str]:
    """Run a program of Node's with the Node that came with it."""
    path = f"{NODE / 'node' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [NODE / "node" / "bin" / "node", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "PATH": path},
    )
    return done.stdout, done.stderr
