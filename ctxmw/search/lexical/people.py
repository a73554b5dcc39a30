"""Who speaks in a user's conversations, and by which other names they are called."""

from __future__ import annotations

import re
from typing import Any

from ...text.cleaning import words
from ...text.lexicon import STOP_WORDS
from ...text.phrases import CALLING

ROLES = frozenset({"user", "assistant", "tool", ""})
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")
_PAIR = 2
_OFTEN = 3
_CALL = 24
"""Characters before a name in which it shows that somebody is called by it."""


class People:
    """The speakers, in the order in which they were first heard.

    "Hey Kate!", said again and again by one of two speakers, makes Kate a name of the other.
    """

    def __init__(self) -> None:
        self.speakers: dict[str, int] = {}
        self._called: dict[str, dict[str, int]] = {}
        self._said: dict[str, dict[str, int]] = {}
        self._aliases: dict[str, str] | None = None
        self._words: dict[str, frozenset[str]] = {}
        self._names = ROLES

    def hear(self, speaker: str, text: str) -> int:
        """Take in what was said and return the speaker's number."""
        number = self.speakers.setdefault(speaker, len(self.speakers))
        self._learn_names()
        if speaker not in ROLES:
            self._aliases = None
            found = list(_CAPITALISED.finditer(text))
            for name in {match[0] for match in found}:
                _tally(self._said, name.lower(), speaker)
            for match in found:
                if CALLING.search(text, max(0, match.start() - _CALL), match.start()):
                    _tally(self._called, match[0].lower(), speaker)
        return number

    def names(self) -> frozenset[str]:
        """Return every word that is a speaker's name."""
        return self._names

    def named_in(self, said: frozenset[str]) -> frozenset[str]:
        """Return the speakers that the words of a question name."""
        direct = {name for name, held in self._words.items() if name not in ROLES and held <= said}
        return frozenset(direct | {who for name, who in self.aliases().items() if name in said})

    def aliases(self) -> dict[str, str]:
        """Return names by which one of two speakers is called, and hardly anything else."""
        if self._aliases is None:
            pair = [name for name in self.speakers if name not in ROLES]
            self._aliases = self._find_aliases(pair) if len(pair) == _PAIR else {}
        return self._aliases

    def _learn_names(self) -> None:
        if len(self._words) == len(self.speakers):
            return
        for name in self.speakers.keys() - self._words.keys():
            self._words[name] = frozenset(words(name))
        self._names = ROLES.union(*self._words.values())

    def _find_aliases(self, pair: list[str]) -> dict[str, str]:
        known = {name.lower() for name in pair} | STOP_WORDS
        found = {}
        for name, by in self._called.items():
            caller = max(by, key=lambda who: by[who])
            said = self._said.get(name, by)
            total = sum(said.values())
            mostly = by[caller] >= max(_OFTEN, total / 2) and said.get(caller, 0) >= 0.8 * total
            if name not in known and mostly:
                found[name] = pair[1] if caller == pair[0] else pair[0]
        return found

    def dump(self) -> dict[str, Any]:
        """Return everything known, as JSON can keep it."""
        return {"speakers": list(self.speakers), "called": self._called, "said": self._said}

    @classmethod
    def load(cls, kept: dict[str, Any]) -> People:
        """Return what `dump` kept."""
        people = cls()
        people.speakers = {name: number for number, name in enumerate(kept["speakers"])}
        people._called, people._said = kept["called"], kept["said"]
        people._learn_names()
        return people


def _tally(table: dict[str, dict[str, int]], key: str, by: str) -> None:
    row = table.setdefault(key, {})
    row[by] = row.get(by, 0) + 1
