"""Regular expressions that are compiled when they are first used.

Python takes a tenth of a second and more for those of this package, and a process that ends in a
moment needs few of them.
"""

from __future__ import annotations

import re
from typing import Any, cast


class LatePattern:
    """A regular expression, compiled when it is first asked for anything."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = self.compiled
        # From now on it takes no longer than the compiled one would.
        self.__dict__.update({one: getattr(compiled, one) for one in _ASKED})
        return getattr(compiled, name)

    @property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __repr__(self) -> str:
        return f"late_pattern({self._source!r:.200}, {self._flags!r})"


_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def late_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return what does as `re.compile(source, flags)` would, from its first use on."""
    return cast("re.Pattern[str]", LatePattern(source, flags))
