"""How new random cases are looked for, also where Hypothesis would repeat itself: in CI."""

from __future__ import annotations

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

EXPLORE = "explore"
"""The profile that looks for new cases: `pytest --hypothesis-profile=explore`."""


def exploring() -> settings:
    """Return settings that draw new cases, print what fails, and keep it for the next run."""
    kept = DirectoryBasedExampleDatabase(".hypothesis/examples")
    return settings(deadline=None, derandomize=False, database=kept, print_blob=True)


def cases(repeated: int, *, explored: int) -> int:
    """Return how many cases a test tries.

    Every run repeats the same ones: enough to go every way through the code. Whoever explores
    draws others, and many more of them.
    """
    return explored if settings.get_current_profile_name() == EXPLORE else repeated
