"""How new random cases are looked for, also where Hypothesis would repeat itself: in CI."""

from __future__ import annotations

from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase


def exploring() -> settings:
    """Return settings that draw new cases, print what fails, and keep it for the next run."""
    kept = DirectoryBasedExampleDatabase(".hypothesis/examples")
    return settings(deadline=None, derandomize=False, database=kept, print_blob=True)
