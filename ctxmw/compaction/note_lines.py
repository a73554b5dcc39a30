"""Lines of a note: what was archived, turn by turn, and what each line is worth.

That is told by rules, without a model. A turn is worth more the more it says that is rare in this
conversation, that is about the people in it, or that names things, numbers and times; a question is
worth less than an answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..protocols import TokenCounter
from ..recall.render import Layout
from ..text.cleaning import GAP
from ..text.patterns.late import late_pattern
from ..text.terms import content_terms
from ..values.items import Item, Shown
from ..values.record_items import record_item
from ..values.records import Turn

WorkRole = Literal["decided", "must", "error"]
"""What a sentence is to the work: a decision, a constraint, or something that went wrong."""

ANALYSED = 16_000
"""Characters of a text that are looked at, at either end."""

_RULES: tuple[tuple[WorkRole, re.Pattern[str]], ...] = (
    (
        "error",
        late_pattern(
            r"\b(?:[A-Z]\w{0,40}(?:Error|Exception)|error|exception|traceback|fail(?:ed|ure|s)?|"
            r"fatal|panic|not found|denied|timed out)\b"
        ),
    ),
    (
        "must",
        late_pattern(
            r"\b(?:must(?: not|n't)?|never|always|do not|don't|only use|instead of|required?|"
            r"make sure|no longer|has to be|have to be)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "decided",
        late_pattern(
            r"\b(?:decided?|decision|agreed?|let's (?:use|go|keep)|we(?:'ll| will) (?:use|go|keep)|"
            r"going with|chose|chosen|settled on|the plan is)\b",
            re.IGNORECASE,
        ),
    ),
)
_SENTENCE = late_pattern(r"(?<=[.!?])\s+|\n+")
_PATH = late_pattern(
    r"(?<![\w/.:-])(?:\.{0,2}/)?(?:[\w@+-][\w@+.-]{0,80}/){1,12}[\w@+-][\w@+.-]{0,80}"
    r"|(?<![\w/.:-])[\w@+-]{1,80}\.(?:py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|cs|rb|php|sql|"
    r"sh|md|rst|txt|json|yaml|yml|toml|ini|cfg|html|css|ipynb|lock|xml|csv)(?![\w/])"
)
_NAMES = late_pattern(r"(?<=[a-z,;] )[A-Z][a-z]+|\b[A-Z]{2,}\b|\"[^\"\n]{1,80}\"")
_OWN = late_pattern(r"\b(?:I|I'm|I've|I'll|my|we|our|We)\b")
_TIMES = late_pattern(
    r"\b(?:yesterday|today|tomorrow|last|next|ago|week|month|year|weekend|morning|since|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december)\b",
    re.IGNORECASE,
)
WHOLE = 120
"""Turns of no more tokens are quoted whole ..."""
EXCERPT = 80
"""... of longer ones, the sentences worth most, within so many tokens."""
ERRORS, FILES, OPEN_CALLS = 5, 12, 5
"""How many of these are listed, the newest."""
GROUPS = ("goal", "must", "decided", "error", "files", "open")
"""What matters for the work, in the order in which it is printed."""


def split_up(text: str) -> list[str]:
    """Return the sentences and lines of a text; of a very long one those at its ends."""
    if len(text) > 2 * ANALYSED:
        text = f"{text[:ANALYSED]}\n{text[-ANALYSED:]}"
    return [line.strip() for line in _SENTENCE.split(text) if line.strip()]


def role_of(sentence: str) -> WorkRole | None:
    """Return what a sentence is to the work; None for most. A question decides nothing."""
    if sentence.endswith("?"):
        return None
    return next((role for role, pattern in _RULES if pattern.search(sentence)), None)


def files_named(text: str) -> list[str]:
    """Return the paths of files that a text names, each once, in order."""
    return list(dict.fromkeys(match.rstrip(".") for match in _PATH.findall(text[:ANALYSED])))


class Salience:
    """How much the turns of one conversation say that is worth keeping."""

    def __init__(self, texts: Iterable[str]) -> None:
        terms = [set(content_terms(text[:ANALYSED])) for text in texts]
        self._turns = len(terms)
        self._in = Counter(term for held in terms for term in held)

    def __call__(self, text: str) -> float:
        """Return what a text is worth; what it costs is not taken into account."""
        rare = sum(self._rarity(term) for term in set(content_terms(text[:ANALYSED])))
        marks = len(_NAMES.findall(text)) + len(_OWN.findall(text)) + len(_TIMES.findall(text))
        number = any(char.isdigit() for char in text)
        asks = text.rstrip().endswith("?")
        return 0.3 * rare + 2 * (marks + number) - 4 * asks

    def best(self, said: Sequence[str], limit: int, count: TokenCounter) -> list[int]:
        """Return which of these sentences are worth most within a limit in tokens, in order."""
        costs = [count(sentence) + 1 for sentence in said]
        order = sorted(range(len(said)), key=lambda at: -self(said[at]) / costs[at])
        kept = []
        for at in order:
            if costs[at] <= limit:
                limit -= costs[at]
                kept.append(at)
        return sorted(kept)

    def _rarity(self, term: str) -> float:
        return math.log(max(self._turns, 1) / max(self._in[term], 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What a note is about."""

    ref: str
    """Brings all of it back."""
    turns: Sequence[Turn]
    """What is no longer in view, oldest first."""
    total: int = 0
    """How many there are, where these are not all."""
    cleared: int = 0
    """How many tool outputs are in view with their ends only."""
    unanswered: frozenset[str] = frozenset()
    """Turns that called a tool and never got a result."""
    summary: str = ""
    """A model's words, where there is one."""
    with_goal: bool = False
    """Whether the first thing a user said is gone too, and has to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that may be in a note."""

    mark: str
    text: str
    cost: int
    group: str
    worth: float
    """What a token of it is worth."""
    order: int
    words: str
    """What it quotes; of lines that quote the same, the newest is enough."""
    shows: tuple[str, str] | None = None
    """Ref and version, when it shows all of a record."""


def lines_of(archived: Archived, layout: Layout) -> list[Line]:
    """Return every line that a note of this may have."""
    salience = Salience(turn.text for turn in archived.turns)
    lines: list[Line] = []
    for order, turn in enumerate(archived.turns):
        line = _said(order, turn, salience, layout)
        lines += [line] if line else []
    lines = list({(line.group, line.words): line for line in lines}.values())
    lines = _newest(lines, "error", ERRORS)
    if archived.with_goal:
        goal = next((at for at, turn in enumerate(archived.turns) if turn.role == "user"), -1)
        lines = [_first(line) if line.order == goal else line for line in lines]
    return [*lines, *_files(archived.turns, layout), *_open(archived, layout)]


def _first(line: Line) -> Line:
    return replace(line, group="goal", worth=1e6)


def _said(order: int, turn: Turn, salience: Salience, layout: Layout) -> Line | None:
    """Return the line of a turn; tool outputs have one only when something went wrong."""
    said = split_up(turn.text)
    roles = {at: role for at, sentence in enumerate(said) if (role := role_of(sentence))}
    if turn.role == "tool":
        roles = {at: role for at, role in roles.items() if role == "error"}
        if not roles:
            return None
    if not said:
        return None
    group = next((name for name in GROUPS if name in roles.values()), "")
    item, shown = _excerpt(turn, said, [at for at in roles if roles[at] == group], salience, layout)
    told = shown == "brief" and layout.fetches
    text = layout.renderer.item(item, shown, layout.count(item.text) if told else 0)
    cost = layout.count(text)
    worth = salience(item.passage or item.text) / cost
    whole = (turn.ref, item.version) if shown == "full" or item.passage == item.text else None
    day = "" if group else item.group_title
    return Line(
        mark=turn.ref,
        text=text,
        cost=cost,
        group=group or day,
        worth=worth,
        order=order,
        words=item.passage or item.text,
        shows=whole,
    )


def _excerpt(
    turn: Turn, said: Sequence[str], matter: Sequence[int], salience: Salience, layout: Layout
) -> tuple[Item, Shown]:
    item = replace(record_item(turn), group="said")
    short = len(item.text) <= WHOLE or layout.count(item.text) <= WHOLE
    if short and turn.role != "tool":
        # What matters for the work comes with its id; to repeat other ids would cost too much.
        return (replace(item, passage=item.text), "brief") if matter else (item, "full")
    among = matter if matter else range(len(said))
    best = salience.best([said[at] for at in among], EXCERPT, layout.count)
    passage = f" {GAP} ".join(said[among[at]] for at in best) or said[0][: 2 * EXCERPT]
    return replace(item, passage=passage), "brief"


def _files(turns: Sequence[Turn], layout: Layout) -> list[Line]:
    named: dict[str, tuple[int, Turn]] = {}
    for order, turn in enumerate(turns):
        for path in files_named(turn.says()):
            named[path] = (order, turn)
    newest = sorted(named.items(), key=lambda entry: -entry[1][0])[:FILES]
    return [_plain("files", order, turn, path, layout) for path, (order, turn) in newest]


def _open(archived: Archived, layout: Layout) -> list[Line]:
    waiting = [
        (order, turn)
        for order, turn in enumerate(archived.turns)
        if turn.ref in archived.unanswered
    ]
    return [
        _plain("open", order, turn, ", ".join(turn.calls), layout)
        for order, turn in waiting[-OPEN_CALLS:]
    ]


def _plain(group: str, order: int, turn: Turn, words: str, layout: Layout) -> Line:
    item = replace(record_item(turn), group="said", label="", passage=words)
    whole = layout.count(turn.says()) if layout.fetches else 0
    text = layout.renderer.item(item, "brief", whole)
    cost = layout.count(text)
    # Short, and of use whatever was said: they come first.
    worth = 1e3 + order
    return Line(
        mark=turn.ref, text=text, cost=cost, group=group, worth=worth, order=order, words=words
    )


def _newest(lines: Sequence[Line], group: str, most: int) -> list[Line]:
    kept = {line.order for line in [line for line in lines if line.group == group][-most:]}
    return [line for line in lines if line.group != group or line.order in kept]
