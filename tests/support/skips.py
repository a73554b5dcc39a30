"""What a run of the tests left out, and why, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def in_one_line(reasons: Iterable[str]) -> str:
    """Return how many tests were skipped for which reasons, most first; "" when none was."""
    told = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    if not told:
        return ""
    causes = ", ".join(f"{many} ({why})" for why, many in told.most_common())
    return f"Skipped: {causes}".replace("\n", " ")
