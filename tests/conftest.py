"""What holds for every test."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ctxmw.protocols import Store
from tests.support.exploring import EXPLORE, exploring
from tests.support.long_files import longest_first
from tests.support.postgres_server import GIVEN, Server
from tests.support.processes import Processes
from tests.support.skips import in_one_line
from tests.support.stores import postgres_in, sqlite_in

# Repeatable by default; `pytest --hypothesis-profile=explore` looks for new cases. What fails there
# is tried first the next time, and printed so that it can be kept here as an `@example`. No
# deadline: how long a case takes says something about the machine, not about the code.
settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(EXPLORE, exploring(), max_examples=2_000)
settings.load_profile("repeatable")

PROCESSES = pytest.StashKey[Processes]()


def pytest_configure(config: pytest.Config) -> None:
    """Have SIGTERM end a run as Ctrl-C does, however it was started: with all that it started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config.stash[PROCESSES] = Processes()


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make: among all that is imported it takes long."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, unless the order is left to chance."""
    if not config.getoption("random_order_enabled"):
        items[:] = longest_first(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    if line := in_one_line(report.longrepr[2] for report in skipped):
        terminalreporter.write_line(line)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """What a fixture of many tests starts is not the test's that happens to be the first."""
    if fixturedef.scope == "function":
        return (yield)
    with request.config.stash[PROCESSES].of_another():
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def processes(request: pytest.FixtureRequest) -> Iterator[Processes]:
    """Whoever starts a process is known."""
    known = request.config.stash[PROCESSES]
    with known.noticed():
        yield known


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left_open() -> Iterator[None]:
    """What nobody closed is found in the file that opened it: its warning fails no other."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def nothing_is_left_running(processes: Processes) -> Iterator[None]:
    """Every process ends with the test that started it."""
    with processes.ended():
        yield


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the memories and caches of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXMW_HOME", str(tmp_path_factory.mktemp("home")))
        yield


_connect, _resolve = socket.socket.connect, socket.getaddrinfo


@pytest.fixture(autouse=True)
def this_machine_only() -> Iterator[None]:
    """No test talks to anything beyond the loopback interface.

    For each test anew: a plugin that comes with langchain-tests puts back what it found.
    """

    def checked_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _check_loopback(address[0])
        _connect(self, address)

    def checked_resolve(host: Any, *more: Any, **options: Any) -> Any:
        _check_loopback(host)
        return _resolve(host, *more, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", checked_connect)
        patch.setattr(socket, "getaddrinfo", checked_resolve)
        yield


def _check_loopback(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name not in (None, "", "localhost", "::1", "0.0.0.0") and not name.startswith("127."):
        raise OSError(f"tests use the loopback interface only, not {name!r}")


@pytest.fixture(autouse=True, scope="session")
def no_deadline() -> Iterator[None]:
    """What is found does not depend on how busy the machine is; tests that are about it ask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXMW_DEADLINE", "0")
        yield


@pytest.fixture(autouse=True, scope="session")
def no_loop() -> None:
    """No loop is made by asking for one: LlamaIndex asks, uses it, and leaves it open."""
    asyncio.set_event_loop(None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL of our own, started when a test first asks for it."""
    if GIVEN in os.environ:
        pytest.skip(f"{GIVEN} is set: that server is not ours to stop")
    started = Server()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> str:
    """The address of a database that tests may use."""
    given = os.environ.get(GIVEN)
    return given or request.getfixturevalue("postgres_server").dsn()


@pytest.fixture(params=["sqlite", "postgres"])
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Store]:
    """Opens the store of a name, or opens it again; on both kinds of store."""
    if request.param == "sqlite":
        return partial(sqlite_in, str(tmp_path))
    run = f"t{os.urandom(5).hex()}"
    return partial(postgres_in, request.getfixturevalue("postgres"), run)
