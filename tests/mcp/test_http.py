"""The server over HTTP: who is let in, and that nobody reaches another's memory."""

from __future__ import annotations

import http.client
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.cli.main import main
from ctxmw_mcp import http_app, memory_server
from ctxmw_mcp.http import Tokens
from tests.support.waiting import PATIENCE

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def post(served, message: Any = INITIALIZE, path: str = "/mcp", **headers: str):
    """Return status, headers and body of a request whose headers are exactly these."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    sent = {
        "host": f"127.0.0.1:{served.port}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    connection.putrequest("POST", path, skip_host=True, skip_accept_encoding=True)
    body = json.dumps(message).encode()
    for name, value in {**sent, "content-length": str(len(body))}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body)
    answer = connection.getresponse()
    status, told, text = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return status, {name.lower(): value for name, value in told.items()}, text


def bearer(served, user: str) -> dict[str, str]:
    return {"authorization": f"Bearer {served.tokens[user]}"}


@asynccontextmanager
async def connect(served, user: str, mode: str) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=served.headers(user), timeout=PATIENCE) as browser:
        way = streamable_http_client(served.url, http_client=browser)
        async with Client(way, mode=mode) as client:
            yield client


def test_who_has_a_token_is_let_in(served):
    assert post(served, **bearer(served, "ada"))[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_another_host_is_not_served(served, host):
    assert post(served, host=host, **bearer(served, "ada"))[0] == 421
    assert post(served, host=host)[0] == 421
    assert post(served, host=host, path="/elsewhere")[0] == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1"])
def test_the_page_of_another_site_is_refused(served, origin):
    assert post(served, origin=origin, **bearer(served, "ada"))[0] == 403
    assert post(served, origin=origin)[0] == 403


def test_a_page_of_this_machine_is_served(served):
    origin = f"http://localhost:{served.port}"
    assert post(served, origin=origin, **bearer(served, "ada"))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic YTpi"}, {"x_user": "ada"}],
)
def test_nobody_is_let_in_without_the_right_token(served, headers):
    status, told, _ = post(served, **headers)
    assert status == 401
    assert "www-authenticate" in told


def test_a_session_of_one_user_is_not_open_to_another(served):
    _, told, _ = post(served, **bearer(served, "ada"))
    session = told["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert post(served, listing, mcp_session_id=session, **bearer(served, "bob"))[0] in (403, 404)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_another_users_memory_is_out_of_reach_whatever_the_arguments(served, mode):
    async with connect(served, "ada", mode) as ada:
        kept = await ada.call_tool("remember", {"text": f"Ada's {mode} code is 4711."})
        ref = kept.structured_content["id"]
        found = await ada.call_tool("mem_search", {"query": "code 4711"})
        assert "4711" in found.content[0].text
    tries = [
        ("mem_search", {"query": "code 4711"}),
        ("mem_search", {"query": "code 4711", "user": "ada"}),
        ("mem_search", {"query": "code 4711", "session": "ada"}),
        ("mem_get", {"ids": [ref]}),
        ("mem_get", {"ids": [ref], "user": "ada"}),
        ("memory_context", {"query": "code"}),
        ("memory_context", {"scope": "project:shop"}),
        ("forget", {"ids": [ref]}),
    ]
    async with connect(served, "bob", mode) as bob:
        for tool, arguments in tries:
            answer = (await bob.call_tool(tool, arguments)).content[0].text
            assert "Ada" not in answer
        for uri in ("auto", "session", "file/src/app.py"):
            answer = await bob.read_resource(f"ctxmw://context/{uri}")
            assert "Ada" not in answer.contents[0].text
        prompt = await bob.get_prompt("session-start", {"message": "code 4711"})
        assert "Ada" not in prompt.messages[0].content.text
    with ContextMiddleware.open(served.store, user="ada") as memory:
        assert memory.get([ref])


async def test_changes_of_one_user_are_not_told_to_another(served):
    async with connect(served, "bob", "auto") as bob, connect(served, "ada", "auto") as ada:
        async with bob.listen(resource_subscriptions=["ctxmw://context/auto"]) as events:
            await ada.call_tool("remember", {"text": "Ada was here."})
            with anyio.move_on_after(2) as waited:
                await anext(aiter(events))
            assert waited.cancelled_caught
            await bob.call_tool("remember", {"text": "Bob was here."})
            with anyio.fail_after(10):
                assert (await anext(aiter(events))).uri == "ctxmw://context/auto"


def test_what_others_can_reach_needs_tokens_and_names():
    with ContextMiddleware.open(":memory:") as ctx:
        server = memory_server(ctx)
        with pytest.raises(InvalidValue, match="give tokens"):
            http_app(server, tokens=None, host="0.0.0.0")
        with pytest.raises(InvalidValue, match="name the hosts"):
            http_app(server, tokens={"x" * 20: "ada"}, host="0.0.0.0")


def test_a_short_token_is_refused():
    with pytest.raises(InvalidValue, match="at least 16"):
        Tokens({"secret": "ada"})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "a line such as"),
        ("ada = 5", "a line such as"),
        ("ada =", "not valid TOML"),
        ('ada = "aaaaaaaaaaaaaaaaaaaa"\nbob = "aaaaaaaaaaaaaaaaaaaa"', "several users"),
    ],
)
def test_a_wrong_file_of_tokens_is_an_error(tmp_path, monkeypatch, capsys, content, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokens.toml").write_text(content)
    assert main(["mcp", "--http", "--tokens", "tokens.toml", "--store", "m.db"]) == 2
    assert says in capsys.readouterr().err
