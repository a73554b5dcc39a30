r"""Whether a person's own regular expression can take for ever: found by counting, not by a clock.

Python tries the ways through a pattern one after the other, and `(a+)+$` has twice as many ways
with each "a" more. A pattern that runs cannot be stopped, so it is looked at before: on texts made
to be hard for it, the ways are added up. That takes time in proportion to the pattern, and says
the same on every machine.

The square of a text's length is allowed (`\w+@` has that); more is refused. Ways on which nothing
can fail any more are not counted: the first of them is the match.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...errors import InvalidValue
from .automaton import Positions, places_of

LENGTH = 300
"""Characters of a hard text ..."""
MOST = 40 * LENGTH**2
"""... and the ways through the pattern that it may have: several times the square, no cube."""
_TEXTS = 120
"""Texts that are tried at most."""
_TRIED = 6
"""Characters that are tried when a text is driven on, and ..."""
_KEPT = 3
"""... how many of the texts are gone on with."""


def check_paths(pattern: str) -> None:
    """Raise when a valid pattern could take for ever."""
    if is_too_slow(pattern):
        raise InvalidValue(
            f"the pattern {pattern!r:.60} would take practically for ever on some texts: it can "
            "match the same characters in very many ways. Repeat nothing that repeats itself, as "
            "(a+)+ does, or keep what was matched: (?:[a-z]++ ?)+."
        )


def is_too_slow(pattern: str) -> bool:
    """Say whether there are texts that a valid pattern takes practically for ever on."""
    places = places_of(pattern)
    if places is None:
        return True
    ways = _Ways(of=places)
    if ways.is_clear():
        return False
    return any(ways.number(text) > MOST for text in ways.hard_texts()) or ways.is_driven_on()


@dataclass(frozen=True, kw_only=True)
class _Ways:
    """The ways through a pattern."""

    of: Positions

    def is_clear(self) -> bool:
        """Say whether each character leaves at most one way to go on: then there are few."""
        for steps in self.of.steps:
            chars = [self.of.chars[after] for after in steps if after not in self.of.sure]
            alone = sum(map(len, chars)) == len(frozenset().union(*chars))
            if not alone or any(ways > 1 for ways in steps.values()):
                return False
        return True

    def number(self, text: str) -> int:
        """Return how many ways lead through the text, from wherever in it, until one fails."""
        there: dict[int, int] = {}
        total = 0
        for char in text:
            there = self._after(there, char)
            total += sum(there.values())
            if total > MOST:
                break
        return total

    def is_driven_on(self) -> bool:
        """Say whether there are too many ways when each next character is one with the most."""
        many = Counter(char for chars in self.of.chars for char in self._contested[chars])
        chars = [char for char, _ in many.most_common(_TRIED)]
        kept: list[tuple[int, int, dict[int, int]]] = [(0, 0, {})]
        for _ in range(LENGTH):
            # One for each character: those that are equally good now may not be so later.
            tried = [
                max(
                    ((total, self._after(there, char)) for total, _, there in kept),
                    key=lambda one: sum(one[1].values()),
                )
                for char in chars
            ]
            longer = [(before + sum(there.values()), there) for before, there in tried]
            kept = [(total, sum(there.values()), there) for total, there in longer]
            kept = sorted(kept, key=lambda one: one[:2], reverse=True)[:_KEPT]
            if kept[0][0] > MOST:
                return True
        return False

    def _after(self, there: Mapping[int, int], char: str) -> dict[int, int]:
        after: dict[int, int] = {}
        self._go(after, self.of.first, char, 1)
        for at, ways in there.items():
            if at in self.of.keeps and char in self.of.chars[at]:
                after[at] = after.get(at, 0) + ways
            else:
                self._go(after, self.of.steps[at], char, ways)
        return after

    def _go(self, after: dict[int, int], steps: Mapping[int, int], char: str, ways: int) -> None:
        for place, more in steps.items():
            if char in self.of.chars[place] and place not in self.of.sure:
                after[place] = after.get(place, 0) + ways * more

    def hard_texts(self) -> Iterator[str]:
        """Yield texts with many ways: round and round at each place, and through all of it."""
        seen: set[str] = set()
        for place, chars in enumerate(self.of.chars):
            for char in self._contested[chars]:
                around = self._ways_from(self.of.steps[place], char).get(place)
                if around is None or around in seen or len(seen) >= _TEXTS:
                    continue
                seen.add(around)
                ahead = self._ways_from(self.of.first, char).get(place, "")
                yield (ahead + around * LENGTH)[: LENGTH + len(ahead)]
        for char in {char for chars in self.of.chars for char in self._contested[chars][:1]}:
            yield char * LENGTH
            yield max(self._ways_from(self.of.first, char).values(), key=len, default="")

    @cached_property
    def _contested(self) -> dict[frozenset[str], list[str]]:
        """By what a place reads: some characters of it, those first that most others read too."""
        readers: dict[str, list[int]] = {}
        for place, chars in enumerate(self.of.chars):
            for char in sorted(chars):
                readers.setdefault(char, []).append(place)
        found = {}
        for chars in set(self.of.chars):
            alike = {tuple(readers[char]): char for char in sorted(chars, reverse=True)}
            found[chars] = [alike[key] for key in sorted(alike, key=len, reverse=True)][:4]
        return found

    def _ways_from(self, begin: Iterable[int], char: str) -> dict[int, str]:
        """Return the shortest text to each place, made of this character where it can be."""
        reached: dict[int, str] = {}
        todo = deque((place, "") for place in begin)
        while todo:
            place, before = todo.popleft()
            if place in reached or place in self.of.sure or not self.of.chars[place]:
                continue
            reached[place] = before + self._char(place, char)
            todo += ((after, reached[place]) for after in self.of.steps[place])
        return reached

    def _char(self, place: int, wanted: str) -> str:
        chars = self.of.chars[place]
        return wanted if wanted in chars else self._contested[chars][0]
