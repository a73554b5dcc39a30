"""How long records are kept, where that has an end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta

from ..errors import InvalidValue
from .clocks import span

Age = float | timedelta
"""Days, or a timedelta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long records are kept, in days or as a timedelta; None: until they are forgotten."""

    turns: Age | None = None
    """Days for what was said, word for word."""
    observations: Age | None = None
    """Days for what tools did."""
    notes: Age | None = None
    """Days for where the work stood."""
    summaries: Age | None = None
    """Days for what conversations were about."""
    memories: Age | None = None
    """Days for what was remembered and not said again since; older versions too."""

    def __post_init__(self) -> None:
        for name, age in self._given().items():
            number = not isinstance(age, bool) and isinstance(age, int | float | timedelta)
            if not number or age != age or _days(age) <= timedelta(0):
                raise InvalidValue(
                    f"Retention.{name} is {age!r:.60}: give days or a timedelta, more than 0."
                )

    def ages(self) -> dict[str, timedelta]:
        """Return how long records of each type are kept, where that has an end."""
        return {_TYPES[name]: _days(age) for name, age in self._given().items()}

    def _given(self) -> dict[str, Age]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


_TYPES = {
    "turns": "turn",
    "observations": "observation",
    "notes": "note",
    "summaries": "summary",
    "memories": "memory",
}


def _days(age: Age) -> timedelta:
    return age if isinstance(age, timedelta) else span(days=age)
