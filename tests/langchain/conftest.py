"""A memory that knows one thing, and raises what fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxmw import ContextMiddleware

KNOWN = "Sign every token with RS256."


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        memory.remember(KNOWN, kind="decision")
        yield memory


@pytest.fixture
def server() -> Iterator[ContextMiddleware]:
    """A memory of many users."""
    with ContextMiddleware.open(":memory:", user=None, strict=True) as memory:
        for user in ("ada", "bob"):
            memory.remember(f"The colour of {user} is {user}-blue.", kind="fact", user=user)
        yield memory
