"""The server ends when it is told to, however it was started, and closes the memory."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import await_port, free_port, serving
from tests.mcp.test_http import INITIALIZE
from tests.support.processes import in_background, running
from tests.support.waiting import PATIENCE

SIGNALS = [signal.SIGINT, signal.SIGTERM]


def said(process: subprocess.Popen[str], message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a server on a pipe."""
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def remembering(number: int, text: str) -> dict[str, Any]:
    params = {"name": "remember", "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.parametrize("number", SIGNALS)
def test_on_a_pipe_it_does_not_wait_for_the_client(tmp_path: Path, number: int) -> None:
    store = tmp_path / "memory.db"
    command = in_background("mcp", "--store", store, "--project", "shop")
    with running(*command) as server:
        assert said(server, INITIALIZE)["result"]["serverInfo"]["name"] == "ctxmw"
        assert said(server, remembering(2, "Tea at four."))["result"]["isError"] is False
        server.send_signal(number)
        assert server.wait(PATIENCE) == 0
        assert server.stdout.read() == ""
        assert "Traceback" not in server.stderr.read()
    assert not store.with_name("memory.db-wal").exists()


def test_on_a_pipe_a_message_larger_than_any_buffer_arrives_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ctxmw", "mcp", "--store", tmp_path / "memory.db"]
    with running(*command) as server:
        assert said(server, INITIALIZE)["result"]
        long = "Tea at four. " + "é" * 400_000
        assert said(server, remembering(2, long))["id"] == 2
        server.stdin.close()
        assert server.wait(PATIENCE) == 0


@pytest.mark.parametrize("number", SIGNALS)
def test_over_http_it_does_not_wait_for_clients_that_listen(tmp_path: Path, number: int) -> None:
    token = "a-token-of-some-length"
    with ExitStack() as connections, serving(tmp_path, "--token", token, end=number) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        connections.callback(connection.close)
        stream = listening(connection, token)
        connections.callback(stream.close)
        assert stream.status == 200
    assert not served.store.with_name("memory.db-wal").exists()


def test_over_http_it_ends_with_the_program_that_began_it(tmp_path: Path) -> None:
    store, port = tmp_path / "memory.db", free_port()
    where = ["--port", str(port), "--store", store, "--no-token", "--while-piped"]
    with running(sys.executable, "-m", "ctxmw", "mcp", "--http", *where) as server:
        await_port(port, server)
        server.stdin.close()
        assert server.wait(PATIENCE) == 0
        assert "Traceback" not in server.stderr.read()
    assert not store.with_name("memory.db-wal").exists()


def listening(connection: http.client.HTTPConnection, token: str) -> http.client.HTTPResponse:
    """Open the stream on which the server would tell of changes."""
    headers = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    connection.request("POST", "/mcp", json.dumps(INITIALIZE), headers)
    answer = connection.getresponse()
    answer.read()
    session = {"mcp-session-id": answer.headers["mcp-session-id"]}
    connection.request("GET", "/mcp", headers={**headers, **session})
    return connection.getresponse()
