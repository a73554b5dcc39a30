"""A regular expression as places where a character is read, and the steps between them.

That is Glushkov's automaton, with each way to make a step counted: Python tries them all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_COPIES = (24, 3)
"""How often what is repeated so many times is written out; then it counts as any number."""
_PLACES = 1_500


@dataclass(frozen=True, kw_only=True)
class Positions:
    """The places of a pattern."""

    chars: list[frozenset[str]]
    """What each of them reads, of a small alphabet."""
    steps: list[dict[int, int]]
    """Where it goes on from each, in how many ways."""
    first: Mapping[int, int]
    sure: frozenset[int]
    """Where nothing can fail any more."""
    keeps: frozenset[int]
    """Where what was read is not given back, as by `[a-z]++`."""


def places_of(pattern: str) -> Positions | None:
    """Return the places of a valid pattern; None when even the rough form is too large."""
    for copies in _COPIES:
        made = _Builder(parser.parse(pattern), copies).places()
        if made is not None:
            return made
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of a pattern: how it can be empty, begin and end, each with the number of ways."""

    empty: int = 0
    surely: bool = False
    """Whether it can be empty whatever stands around it."""
    first: Mapping[int, int] = field(default_factory=dict)
    last: Mapping[int, int] = field(default_factory=dict)
    sure: frozenset[int] = frozenset()
    """The places of `last` after which nothing can fail."""


_NOTHING = _Part(empty=1, surely=True)


class _TooLarge(Exception):
    pass


class _Builder:
    """Makes places and steps of a parsed pattern."""

    def __init__(self, parsed: Any, copies: int) -> None:
        self._parsed = parsed
        self._copies = copies
        self._reads: list[tuple[Any, int]] = []
        self._steps: list[Counter[int]] = []
        self._starts: Counter[int] = Counter()
        """Where what is looked at ahead begins; it is read from anywhere."""
        self._groups: dict[int, Any] = {}
        self._keeps: set[int] = set()
        """Places of `[a-z]++`: what they read they do not give back."""

    def places(self) -> Positions | None:
        try:
            whole = self._sequence(self._parsed, self._parsed.state.flags)
        except _TooLarge:
            return None
        return Positions(
            chars=_chars_of(self._reads),
            steps=[dict(steps) for steps in self._steps],
            first=Counter(whole.first) + self._starts,
            sure=whole.sure,
            keeps=frozenset(self._keeps),
        )

    def _sequence(self, nodes: Iterable[Any], flags: int) -> _Part:
        made = _NOTHING
        for op, argument in nodes:
            made = self._joined(made, self._node(op, argument, flags))
        return made

    def _node(self, op: Any, argument: Any, flags: int) -> _Part:
        if op in _REPEATS:
            least, most, body = argument
            keeps = op is sre.POSSESSIVE_REPEAT and len(body) == 1 and body[0][0] in _READS
            return self._repeated(body, int(least), int(most), flags, keeps=keeps)
        if op in _READS:
            return self._place((op, argument), flags)
        if op in _LOOKS:
            return self._look(op, argument, flags)
        return self._group(op, argument, flags)

    def _group(self, op: Any, argument: Any, flags: int) -> _Part:
        match op:
            case sre.BRANCH:
                return _either([self._sequence(one, flags) for one in argument[1]])
            case sre.SUBPATTERN:
                number, more, less, body = argument
                self._groups[number] = body
                return self._sequence(body, (flags | more) & ~less)
            case sre.ATOMIC_GROUP:
                if len(argument) == 1 and argument[0][0] is sre.MAX_REPEAT:
                    return self._node(sre.POSSESSIVE_REPEAT, argument[0][1], flags)
                return self._sequence(argument, flags)
            case sre.GROUPREF:  # at most as many ways as the group itself has
                return self._sequence(self._groups.get(argument, ()), flags)
            case sre.GROUPREF_EXISTS:
                _, yes, no = argument
                return _either([self._sequence(one, flags) for one in (yes, no or ())])
        raise _TooLarge  # what a newer Python has, and nobody looked at here

    def _look(self, op: Any, argument: Any, flags: int) -> _Part:
        """Return what reads nothing and may fail; what is looked at ahead is read from there."""
        if op is sre.FAILURE:
            return _Part()
        if op is not sre.AT and argument[0] > 0:
            self._starts += Counter(self._sequence(argument[1], flags).first)
        return _Part(empty=1)

    def _place(self, node: Any, flags: int) -> _Part:
        if len(self._reads) >= _PLACES:
            raise _TooLarge
        number = len(self._reads)
        self._reads.append((node, flags))
        self._steps.append(Counter())
        return _Part(first={number: 1}, last={number: 1}, sure=frozenset({number}))

    def _repeated(
        self, body: Any, least: int, most: int, flags: int, *, keeps: bool = False
    ) -> _Part:
        unbounded = most - least > self._copies or (least > self._copies and most > least)
        made = _NOTHING
        for _ in range(min(least, self._copies) - (unbounded and least > 0)):
            made = self._joined(made, self._sequence(body, flags))
        rest = _NOTHING
        if unbounded:
            again = self._again(self._sequence(body, flags), keeps=keeps)
            rest = again if least else _or_nothing(again)
        for _ in range(0 if unbounded else most - least):
            rest = _or_nothing(self._joined(self._sequence(body, flags), rest))
        return self._joined(made, rest)

    def _again(self, body: _Part, *, keeps: bool) -> _Part:
        """Return a part that comes once or more often."""
        self._connect(body, body)
        if keeps:
            self._keeps |= body.last.keys()
        return body

    def _joined(self, one: _Part, two: _Part) -> _Part:
        self._connect(one, two)
        return _Part(
            empty=one.empty * two.empty,
            surely=one.surely and two.surely,
            first=Counter(one.first) + _times(two.first, one.empty),
            last=Counter(two.last) + _times(one.last, two.empty),
            sure=two.sure | (one.sure if two.surely else frozenset()),
        )

    def _connect(self, one: _Part, two: _Part) -> None:
        if len(one.last) * len(two.first) > _PLACES * 20:
            raise _TooLarge
        for end, ways in one.last.items():
            for start, more in two.first.items():
                self._steps[end][start] += ways * more


_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_READS = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
_LOOKS = (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.FAILURE)


def _times(ways: Mapping[int, int], times: int) -> Counter[int]:
    return Counter({place: n * times for place, n in ways.items()} if times else {})


def _either(parts: Iterable[_Part]) -> _Part:
    parts = list(parts)
    return _Part(
        empty=sum(part.empty for part in parts),
        surely=any(part.surely for part in parts),
        first=sum((Counter(part.first) for part in parts), Counter()),
        last=sum((Counter(part.last) for part in parts), Counter()),
        sure=frozenset().union(*(part.sure for part in parts)),
    )


def _or_nothing(part: _Part) -> _Part:
    return _Part(
        empty=part.empty + 1, surely=True, first=part.first, last=part.last, sure=part.sure
    )


def _chars_of(reads: list[tuple[Any, int]]) -> list[frozenset[str]]:
    """Return which characters of a small alphabet each place reads, as Python itself says."""
    alphabet = sorted({*_ALPHABET, *(char for node, _ in reads for char in _named(node))})
    known: dict[str, frozenset[str]] = {}
    found = []
    for node, flags in reads:
        key = repr((node, flags))
        if key not in known:
            reading = _compiled(node, flags)
            known[key] = frozenset(filter(reading.fullmatch, alphabet))
        found.append(known[key])
    return found


_ALPHABET = (*map(chr, range(9, 14)), *map(chr, range(32, 127)), *"\0éß漢٣\xa0\u2028😀")


def _named(node: Any) -> Iterator[str]:
    """Yield the characters at which a class begins and ends, and their neighbours."""
    op, argument = node
    inside = argument if op is sre.IN else [node]
    for what, value in inside:
        codes = value if what is sre.RANGE else (value,)
        if what in (sre.LITERAL, sre.NOT_LITERAL, sre.RANGE):
            for code in codes:
                for near in (code - 1, code, code + 1):
                    if 0 <= near <= 0x10FFFF:
                        yield from {chr(near), chr(near).lower()[:1], chr(near).upper()[:1]}


def _compiled(node: Any, flags: int) -> re.Pattern[str]:
    state = parser.State()
    state.flags = flags
    return re._compiler.compile(  # type: ignore[attr-defined,no-any-return]
        parser.SubPattern(state, [node]), flags
    )
