"""What holds for every test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Repeatable by default; `pytest --hypothesis-profile=explore` looks for new cases. No deadline:
# how long a case takes says something about the machine, not about the code.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or writes the memories and caches of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXMW_HOME", str(tmp_path_factory.mktemp("home")))
        yield


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
