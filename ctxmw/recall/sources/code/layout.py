"""How the files that were found are laid out: the best in detail, the others as a line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ....code.files import Definition
from ....code.ranking.search import FoundFile, first_to_read
from ....protocols import TokenCounter
from .text import CodeText

_DETAILED = ((6, 0.0), (3, 0.92), (2, 0.97))
"""How many definitions the best files are shown with, when they are nearly as good as the first."""
_NEAR_BEST = 0.5
"""The share of the best definition's score that another one of its file has to reach."""
_LINES = (24, 10)
"""How many lines are shown of the best definition of the best files, where there is room."""
_READ = 6
"""Definitions among which one with a body is looked for."""
_FOR_LINES = 0.5
"""Of the tokens for code, what these may take."""
_CLOSE = 0.8
"""A second file gets lines when it is nearly as good as the best."""
_NAMES, _FIRST = (2, 1), 3
"""Definitions that a line names: of the first files, and of those further down."""
OF_A_LINE = 6
"""Tokens around an item of one line."""


class CodeLayout:
    """Lays out the files that were found: the best in detail, the others as a line."""

    def __init__(
        self,
        text: CodeText,
        files: Sequence[FoundFile],
        terms: dict[str, float],
        count: TokenCounter,
    ) -> None:
        self._text = text
        self._files = files
        self._terms = terms
        self._count = count

    def out(
        self, room: int, shown: Collection[str] = (), only: Collection[str] | None = None
    ) -> list[tuple[FoundFile, str, bool]]:
        """Return the files that fit, what is shown of each, and whether that is but a line.

        What is `shown` already is not shown again. With `only`, no other files get more than a
        line.
        """
        lines = [
            self._text.in_a_line(file.path, definitions_of(file, shown), _names_at(at))
            for at, file in enumerate(self._files)
        ]
        costs = [self._cost(file, line) for file, line in zip(self._files, lines, strict=True)]
        kept = len(costs)
        while kept > 1 and sum(costs[:kept]) > room:
            kept -= 1
        texts, left = lines[:kept], room - sum(costs[:kept])
        detailed: set[int] = set()
        for at, (most, least) in enumerate(_DETAILED[:kept]):
            if self._files[at].score < least:
                break
            if only is not None and self._files[at].path not in only:
                continue
            text = self._text.of_definitions(_matter(self._files[at], most, shown), shown)
            more = self._count(text) - self._count(texts[at])
            if text and more <= left:
                texts[at], left = text, left - more
                detailed.add(at)
        share = int(_FOR_LINES * room)
        for at, most in enumerate(_LINES[:kept]):
            file = self._files[at]
            if at not in detailed or (at and file.score < _CLOSE):
                continue
            one = first_to_read(_matter(file, _READ, shown))
            answer = self._fitting(one, most, min(left, share)) if one is not None else ""
            if answer:
                spent = self._count(answer)
                texts[at], left, share = f"{texts[at]}\n{answer}", left - spent, share - spent
        rows = zip(self._files[:kept], texts, strict=True)
        return [(file, text, at not in detailed) for at, (file, text) in enumerate(rows)]

    def _fitting(self, one: Definition, most: int, tokens: int) -> str:
        """Return as many of the lines that answer as there is room for."""
        for lines in (most, most // 2):
            answer = self._text.answering(one, self._terms, lines)
            if answer and self._count(answer) <= tokens:
                return answer
        return ""

    def _cost(self, file: FoundFile, text: str) -> int:
        return self._count(f"{file.path}: {text}") + OF_A_LINE


def _names_at(place: int) -> int:
    return _NAMES[place >= _FIRST]


def definitions_of(file: FoundFile, shown: Collection[str] = ()) -> list[Definition]:
    return [one for one, _ in file.definitions if one.full_name not in shown]


def _matter(file: FoundFile, most: int, shown: Collection[str] = ()) -> list[Definition]:
    """Return those definitions of a file that are nearly as good as its best, but for the shown."""
    ranked = [
        (one, score)
        for one, score in file.definitions
        if one.entity.kind != "module" and one.full_name not in shown
    ]
    least = _NEAR_BEST * ranked[0][1] if ranked else 0.0
    return [one for one, score in ranked[:most] if score >= least]
