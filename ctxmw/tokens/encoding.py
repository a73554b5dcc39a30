"""A table of tokens at work: at once with the table as it lies in its file, later with tiktoken."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .pieces import SUFFIX, PieceCounter, Places, Unsure
from .tables import LOADING, TABLES, load_encoding, write_whole

if TYPE_CHECKING:
    from tiktoken import Encoding

MANY = 100_000
"""Characters after which tiktoken, which counts faster, is worth half a second of loading."""


class LoadedTable:
    """A verified table. Both ways of counting give the same; any number of threads may count."""

    def __init__(self, name: str, content: bytes, cache_dir: Path | None) -> None:
        self._name = name
        self._content = content
        self._cache_dir = cache_dir
        self._encoding: Encoding | None = None
        self._left = MANY

    def __call__(self, text: str) -> int:
        """Return how many tokens a text has; raise what tiktoken does when it is needed."""
        if self._encoding is None:
            self._use_up(len(text))
            with suppress(Unsure):
                return self._pieces(text)
        return len(self.encoding.encode_ordinary(text))

    @property
    def encoding(self) -> Encoding:
        """What tiktoken makes of the table; loaded when it is first needed."""
        if self._encoding is None:
            with LOADING:
                self._encoding = self._encoding or load_encoding(
                    self._name, TABLES[self._name], self._content
                )
        return self._encoding

    @cached_property
    def _pieces(self) -> PieceCounter:
        return PieceCounter(self._name, self._places())

    def _places(self) -> Places:
        """Return where the tokens stand in the table: as kept in our folder, or found and kept."""
        path = self._cache_dir and self._cache_dir / f"{TABLES[self._name].file}{SUFFIX}"
        with suppress(OSError):
            if path and path.is_file():
                kept = Places.kept_in(self._content, path.read_bytes())
                if kept is not None:
                    return kept
        found, kept_as = Places.made_of(self._content)
        if path:
            with suppress(OSError):  # what is kept is for next time
                write_whole(path, kept_as)
        return found

    def warm(self) -> None:
        """Be ready to count."""
        self._pieces  # noqa: B018 - which makes it

    def _use_up(self, characters: int) -> None:
        """Have tiktoken loaded aside, and in nobody's request, once much is counted."""
        before, self._left = self._left, self._left - characters
        if before > 0 >= self._left:
            # Where threads cannot be had any more, counting goes on as it is.
            with suppress(RuntimeError):
                threading.Thread(target=self._load, name="ctxmw-tokens", daemon=True).start()

    def _load(self) -> None:
        with suppress(Exception):  # whoever needs it is told why it cannot be had
            self.encoding  # noqa: B018 - which loads it
