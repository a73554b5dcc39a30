"""Lines of a note: what was archived, turn by turn, and what each line is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..protocols import Renderer, TokenCounter
from ..search.reading import GAP
from ..values.items import Item, Shown
from ..values.record_items import record_item
from ..values.records import Turn
from .salience import Salience, files_named, role_of, split_up

WHOLE = 120
"""Turns of no more tokens are quoted whole ..."""
EXCERPT = 80
"""... of longer ones, the sentences worth most, within so many tokens."""
ERRORS, FILES, OPEN_CALLS = 5, 12, 5
"""How many of these are listed, the newest."""

GROUPS = ("goal", "must", "decided", "error", "files", "open")
"""What matters for the work, in the order in which it is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What a note is about."""

    ref: str
    """Brings all of it back."""
    turns: Sequence[Turn]
    """What is no longer in view, oldest first."""
    cleared: int = 0
    """How many tool outputs are in view with their ends only."""
    unanswered: frozenset[str] = frozenset()
    """Turns that called a tool and never got a result."""
    summary: str = ""
    """A model's words, where there is one."""
    with_goal: bool = False
    """Whether the first thing a user said is gone too, and has to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLayout:
    """How a note is printed and counted."""

    renderer: Renderer
    count: TokenCounter
    title: Callable[[str], str]
    """Returns the heading of a section."""


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


def lines_of(archived: Archived, layout: NoteLayout) -> list[Line]:
    """Return every line that a note of this may have."""
    salience = Salience(turn.text for turn in archived.turns)
    lines: list[Line] = []
    for order, turn in enumerate(archived.turns):
        line = _said(order, turn, salience, layout)
        lines += [line] if line else []
    lines = list({(line.group, line.words): line for line in lines}.values())
    lines = _newest(lines, "error", ERRORS)
    if archived.with_goal:
        lines = [_first(line) if line.order == _goal(archived.turns) else line for line in lines]
    return [*lines, *_files(archived.turns, layout), *_open(archived, layout)]


def _goal(turns: Sequence[Turn]) -> int:
    return next((order for order, turn in enumerate(turns) if turn.role == "user"), -1)


def _first(line: Line) -> Line:
    return replace(line, group="goal", worth=1e6)


def _said(order: int, turn: Turn, salience: Salience, layout: NoteLayout) -> Line | None:
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
    text = layout.renderer.item(item, shown, layout.count(item.text) if shown == "brief" else 0)
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
    turn: Turn, said: Sequence[str], matter: Sequence[int], salience: Salience, layout: NoteLayout
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


def _files(turns: Sequence[Turn], layout: NoteLayout) -> list[Line]:
    named: dict[str, tuple[int, Turn]] = {}
    for order, turn in enumerate(turns):
        for path in files_named(turn.says()):
            named[path] = (order, turn)
    newest = sorted(named.items(), key=lambda entry: -entry[1][0])[:FILES]
    return [_plain("files", order, turn, path, layout) for path, (order, turn) in newest]


def _open(archived: Archived, layout: NoteLayout) -> list[Line]:
    waiting = [
        (order, turn)
        for order, turn in enumerate(archived.turns)
        if turn.ref in archived.unanswered
    ]
    return [
        _plain("open", order, turn, ", ".join(turn.calls), layout)
        for order, turn in waiting[-OPEN_CALLS:]
    ]


def _plain(group: str, order: int, turn: Turn, words: str, layout: NoteLayout) -> Line:
    item = replace(record_item(turn), group="said", label="", passage=words)
    text = layout.renderer.item(item, "brief", layout.count(turn.says()))
    cost = layout.count(text)
    # Short, and of use whatever was said: they come first.
    worth = 1e3 + order
    return Line(
        mark=turn.ref, text=text, cost=cost, group=group, worth=worth, order=order, words=words
    )


def _newest(lines: Sequence[Line], group: str, most: int) -> list[Line]:
    kept = {line.order for line in [line for line in lines if line.group == group][-most:]}
    return [line for line in lines if line.group != group or line.order in kept]
