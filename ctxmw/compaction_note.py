"""The note that stands for what was compacted away: in its own words, as far as there is room.

It says how to get all of it back, then lists decisions, constraints, errors, files and open calls,
then what else was said that is worth most, and last what the memory has to add. Every line knows
the records it is made from, so that forgetting one takes its line out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .block import BETWEEN_REFS, END, FRAME, GROUP, HEADING, Block, Piece
from .items import Item, Shown, changed
from .passages import GAP
from .protocols import Renderer, TokenCounter
from .records import Turn
from .salience import Salience, paths_in, role_of, sentences
from .sources.sessions import record_item

TITLE = "Earlier in This Conversation"
WHOLE = 120
"""Turns of no more tokens are quoted whole ..."""
EXCERPT = 80
"""... of longer ones, the sentences worth most, within so many tokens."""
ERRORS, FILES, OPEN_CALLS = 5, 12, 5
"""How many of these are listed, the newest."""
MATTERS = 0.25
"""The share of the note that decisions, constraints, errors, files and open calls have first."""
SUMMARY = 0.6
"""The share of the note that a summary may have."""

_GROUPS = ("goal", "must", "decided", "error", "files", "open")
_TITLES = {
    "goal": "What the user wanted first",
    "must": "To keep to",
    "decided": "Decided",
    "error": "Went wrong",
    "files": "Files",
    "open": "Calls without a result",
}


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
class Note:
    """A note, and what it shows in full."""

    block: Block = field(default_factory=Block)
    shows: Mapping[str, str] = field(default_factory=dict)
    """Versions of what it shows in full, by ref."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a note is printed and counted."""

    renderer: Renderer
    count: TokenCounter
    title: Callable[[str], str]
    """Returns the heading of a section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line that may be in the note."""

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


def make_note(
    archived: Archived,
    limit: int,
    layout: Layout,
    *,
    more: Sequence[tuple[Item, Shown]] = (),
    more_limit: int = 0,
) -> Note:
    """Return the note, within a limit in tokens; empty when not even its first line fits.

    `more` is what the memory adds, within `more_limit` tokens of the note.
    """
    opening = _opening(archived, layout)
    closing = (FRAME, layout.renderer.frame(hint=False)[1])
    spent = sum(layout.count(text) for _, text in (*opening, closing))
    if spent > limit:
        return Note()
    summary = _summary(archived, layout, int((limit - spent) * SUMMARY))
    spent += _cost(summary, layout)
    added = _more(more, layout, min(more_limit, limit - spent))
    spent += _cost(added, layout)
    heading = layout.renderer.heading(TITLE)
    spent += sum(map(layout.count, heading))
    chosen = _chosen(_lines(archived, layout), limit - spent, layout)
    while True:
        said = _section(heading, [*summary, *_printed(chosen, layout)])
        block = Block((*opening, *said, *added, closing))
        # Counts of lines add up for most tokenizers; the count of the whole is what holds.
        if layout.count(block.text) <= limit or not chosen:
            shows = dict(line.shows for line in chosen if line.shows)
            shown = {mark for mark, _ in added}
            shows |= {i.ref: i.version for i, form in more if form == "full" and i.ref in shown}
            return Note(block=block, shows=shows)
        chosen.pop()


def _opening(archived: Archived, layout: Layout) -> list[Piece]:
    told = []
    if archived.turns:
        n = len(archived.turns)
        told.append(
            f"{n} {'message is' if n == 1 else 'messages are'} archived and not shown any more: "
            f"mem_search finds what they say, mem_get with the id {archived.ref} pages through all."
        )
    if archived.cleared:
        n = archived.cleared
        told.append(f"{n} tool {'output is' if n == 1 else 'outputs are'} cut down to the ends.")
    item = _words(archived.ref, " ".join(told))
    return [
        (FRAME, layout.renderer.frame(hint=False)[0]),
        (FRAME, layout.renderer.item(item, "full", 0)),
    ]


def _summary(archived: Archived, layout: Layout, limit: int) -> list[Piece]:
    if not archived.summary:
        return []
    # It may hold anything of what it sums up: when one of these is forgotten, it has to go.
    mark = BETWEEN_REFS.join(turn.ref for turn in archived.turns)
    untrusted = any(turn.trust == "untrusted" for turn in archived.turns)
    words: list[str] = []
    text = ""
    for sentence in sentences(archived.summary):
        item = _words(archived.ref, " ".join([*words, sentence]), label="Summary")
        if untrusted:
            item = replace(item, trust="untrusted", source="a summary that covers tool outputs")
        printed = layout.renderer.item(item, "full", 0)
        if layout.count(printed) > limit:
            break
        words, text = [*words, sentence], printed
    return [(mark, text)] if text else []


def _lines(archived: Archived, layout: Layout) -> list[_Line]:
    salience = Salience(turn.text for turn in archived.turns)
    lines: list[_Line] = []
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


def _first(line: _Line) -> _Line:
    return replace(line, group="goal", worth=1e6)


def _said(order: int, turn: Turn, salience: Salience, layout: Layout) -> _Line | None:
    """Return the line of a turn; tool outputs have one only when something went wrong."""
    said = sentences(turn.text)
    roles = {at: role for at, sentence in enumerate(said) if (role := role_of(sentence))}
    if turn.role == "tool":
        roles = {at: role for at, role in roles.items() if role == "error"}
        if not roles:
            return None
    if not said:
        return None
    group = next((name for name in _GROUPS if name in roles.values()), "")
    item, shown = _excerpt(turn, said, [at for at in roles if roles[at] == group], salience, layout)
    text = layout.renderer.item(item, shown, layout.count(item.text) if shown == "brief" else 0)
    cost = layout.count(text)
    worth = salience(item.passage or item.text) / cost
    whole = (turn.ref, item.version) if shown == "full" or item.passage == item.text else None
    day = "" if group else item.group_title
    return _Line(
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
    item = changed(record_item(turn), group="said")
    short = len(item.text) <= WHOLE or layout.count(item.text) <= WHOLE
    if short and turn.role != "tool":
        # What matters for the work comes with its id; to repeat other ids would cost too much.
        return (changed(item, passage=item.text), "brief") if matter else (item, "full")
    among = matter if matter else range(len(said))
    best = salience.best([said[at] for at in among], EXCERPT, layout.count)
    passage = f" {GAP} ".join(said[among[at]] for at in best) or said[0][: 2 * EXCERPT]
    return changed(item, passage=passage), "brief"


def _files(turns: Sequence[Turn], layout: Layout) -> list[_Line]:
    named: dict[str, tuple[int, Turn]] = {}
    for order, turn in enumerate(turns):
        for path in paths_in(turn.says()):
            named[path] = (order, turn)
    newest = sorted(named.items(), key=lambda entry: -entry[1][0])[:FILES]
    return [_plain("files", order, turn, path, layout) for path, (order, turn) in newest]


def _open(archived: Archived, layout: Layout) -> list[_Line]:
    waiting = [
        (order, turn)
        for order, turn in enumerate(archived.turns)
        if turn.ref in archived.unanswered
    ]
    return [
        _plain("open", order, turn, ", ".join(turn.calls), layout)
        for order, turn in waiting[-OPEN_CALLS:]
    ]


def _plain(group: str, order: int, turn: Turn, words: str, layout: Layout) -> _Line:
    item = changed(record_item(turn), group="said", label="", passage=words)
    text = layout.renderer.item(item, "brief", layout.count(turn.says()))
    cost = layout.count(text)
    # Short, and of use whatever was said: they come first.
    worth = 1e3 + order
    return _Line(
        mark=turn.ref, text=text, cost=cost, group=group, worth=worth, order=order, words=words
    )


def _newest(lines: Sequence[_Line], group: str, most: int) -> list[_Line]:
    kept = {line.order for line in [line for line in lines if line.group == group][-most:]}
    return [line for line in lines if line.group != group or line.order in kept]


def _chosen(lines: Sequence[_Line], room: int, layout: Layout) -> list[_Line]:
    """Return the lines that fit, headings included, those worth most first.

    What matters for the work has a share of the room that nothing else can take.
    """
    matter = [line for line in lines if line.group in _GROUPS]
    first = _fitting(matter, int(room * MATTERS), [], layout)
    spent = sum(line.cost for line in first)
    spent += sum(layout.count(_heading(name, layout)) for name in {line.group for line in first})
    others = [line for line in lines if line not in first]
    return [*first, *_fitting(others, room - spent, first, layout)]


def _fitting(
    lines: Iterable[_Line], room: int, before: Sequence[_Line], layout: Layout
) -> list[_Line]:
    chosen: list[_Line] = []
    opened = {line.group for line in before}
    for line in sorted(lines, key=lambda line: (-line.worth, line.order)):
        price = line.cost
        if line.group not in opened:
            price += layout.count(_heading(line.group, layout))
        if price <= room:
            room -= price
            opened.add(line.group)
            chosen.append(line)
    return chosen


def _printed(lines: Sequence[_Line], layout: Layout) -> list[Piece]:
    """Return the lines under their headings: what matters for the work first, then day by day."""
    groups: dict[str, list[_Line]] = {}
    for line in sorted(lines, key=lambda line: line.order):
        groups.setdefault(line.group, []).append(line)
    order = sorted(
        groups,
        key=lambda name: (_GROUPS.index(name) if name in _GROUPS else 9, groups[name][0].order),
    )
    return [
        piece
        for name in order
        for piece in (
            (GROUP, _heading(name, layout)),
            *((line.mark, line.text) for line in groups[name]),
        )
    ]


def _more(items: Sequence[tuple[Item, Shown]], layout: Layout, limit: int) -> list[Piece]:
    """Return what the memory adds, section by section, as much as fits."""
    sections: dict[str, list[Piece]] = {}
    for item, shown in items:
        name = "index" if shown == "index" else item.section
        text = layout.renderer.item(item, shown, layout.count(item.text))
        price = layout.count(text)
        if name not in sections:
            price += sum(map(layout.count, layout.renderer.heading(layout.title(name))))
        if price <= limit:
            limit -= price
            sections.setdefault(name, []).append((item.ref, text))
    return [
        piece
        for name, pieces in sections.items()
        for piece in _section(layout.renderer.heading(layout.title(name)), pieces)
    ]


def _section(heading: tuple[str, str], pieces: Sequence[Piece]) -> list[Piece]:
    if not pieces:
        return []
    closing: list[Piece] = [(END, heading[1])] if heading[1] else []
    return [(HEADING, heading[0]), *pieces, *closing]


def _cost(pieces: Sequence[Piece], layout: Layout) -> int:
    return sum(layout.count(text) for _, text in pieces)


def _heading(group: str, layout: Layout) -> str:
    return layout.renderer.group(_TITLES.get(group, group))


def _words(ref: str, text: str, label: str = "") -> Item:
    return Item(ref=ref, kind="note", text=text, lane="turn", section="notes", label=label)
