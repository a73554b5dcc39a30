"""Which files of tests take longest: they go first, so that no worker is left alone with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LONGEST = (
    "behaviour/test_concurrency.py",
    "behaviour/test_isolation.py",
    "mcp/test_clients.py",
    "docs/test_notebooks.py",
    "behaviour/test_conformance.py",
    "docs/test_supply.py",
    "docs/test_benchmarks.py",
    "search/vectors/test_chroma.py",
    "langchain/test_middleware_order.py",
    "behaviour/test_session_machine.py",
    "behaviour/test_invariants.py",
    "compaction/test_compactor.py",
    "search/test_per_user.py",
    "behaviour/test_growth.py",
    "behaviour/test_root_logger.py",
    "cli/test_main.py",
    "docs/test_reference.py",
    "store/test_replica.py",
    "mcp/test_ending.py",
    "llamaindex/test_compaction.py",
    "behaviour/test_compaction_crash.py",
)
"""In `tests`, the longest first, as `pytest --durations=0` tells."""


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests with those of the longest files first, else in their order."""
    place = {name: at for at, name in enumerate(LONGEST)}
    return sorted(items, key=lambda item: place.get(_file(item), len(place)))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0].removeprefix("tests/")
