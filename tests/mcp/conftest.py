"""Servers as people start them: processes of their own, on a free port of this machine."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.processes import running
from tests.support.waiting import PATIENCE, until


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    port: int
    store: Path
    tokens: dict[str, str] = field(default_factory=dict)
    """By user."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def headers(self, user: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[user]}"}


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    tokens: dict[str, str] | None = None,
    end: signal.Signals = signal.SIGTERM,
) -> Iterator[Served]:
    """Run `ctxmw mcp --http` until the block ends; then it is told to end, and ends well."""
    served = Served(port=free_port(), store=folder / "memory.db", tokens=tokens or {})
    command = [sys.executable, "-m", "ctxmw", "mcp", "--http", "--port", str(served.port)]
    where = ["--store", str(served.store), "--project", "shop", *arguments]
    with (folder / "server.log").open("w") as log:
        options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "cwd": folder}
        with running(*command, *where, **options) as process:
            await_port(served.port, process, folder / "server.log")
            yield served
            process.send_signal(end)
            assert process.wait(PATIENCE) == 0, (folder / "server.log").read_text()


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return int(any_port.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    """A server of two users, each with a token."""
    folder = tmp_path_factory.mktemp("served")
    tokens = {user: secrets.token_urlsafe(24) for user in ("ada", "bob")}
    lines = [f'{user} = "{token}"' for user, token in tokens.items()]
    (folder / "tokens.toml").write_text("\n".join(lines))
    os.environ.setdefault("CTXMW_HOME", str(folder))
    with serving(folder, "--tokens", str(folder / "tokens.toml"), tokens=tokens) as server:
        yield server


def await_port(port: int, process: subprocess.Popen[str], log: Path | None = None) -> None:
    """Return when a server listens, or fail with what it said when it ended."""

    def listens() -> bool:
        assert process.poll() is None, f"the server ended: {log.read_text() if log else ''}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    until(listens, "a server that listens")
