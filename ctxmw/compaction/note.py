"""The note that stands for what was compacted away: in its own words, as far as there is room.

It says how to get all of it back, then lists decisions, constraints, errors, files and open calls,
then what else was said that is worth most, and last what the memory has to add. Every line knows
the records it is made from, so that forgetting one takes its line out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..recall.block import BETWEEN_REFS, END, FRAME, GROUP, HEADING, Block, Piece
from ..recall.render import Layout
from ..values.items import Item, Shown
from .note_lines import GROUPS, Archived, Line, lines_of, split_up

TITLE = "Earlier in This Conversation"
MATTERS = 0.25
"""The share of the note that decisions, constraints, errors, files and open calls have first."""
SUMMARY = 0.6
"""The share of the note that a summary may have."""

_TITLES = {
    "goal": "What the user wanted first",
    "must": "To keep to",
    "decided": "Decided",
    "error": "Went wrong",
    "files": "Files",
    "open": "Calls without a result",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionNote:
    """A note, and what it shows in full."""

    block: Block = field(default_factory=Block)
    shows: Mapping[str, str] = field(default_factory=dict)
    """Versions of what it shows in full, by ref."""


def make_note(
    archived: Archived,
    limit: int,
    layout: Layout,
    *,
    more: Sequence[tuple[Item, Shown]] = (),
    more_limit: int = 0,
) -> CompactionNote:
    """Return the note, within a limit in tokens; empty when not even its first line fits.

    `more` is what the memory adds, within `more_limit` tokens of the note.
    """
    opening = _opening(archived, layout)
    closing = (FRAME, layout.renderer.frame(hint=False)[1])
    spent = sum(layout.count(text) for _, text in (*opening, closing))
    if spent > limit:
        return CompactionNote()
    summary = _summary(archived, layout, int((limit - spent) * SUMMARY))
    spent += _cost(summary, layout)
    added = _more(more, layout, min(more_limit, limit - spent))
    spent += _cost(added, layout)
    heading = layout.renderer.heading(TITLE)
    spent += sum(map(layout.count, heading))
    chosen = _chosen(lines_of(archived, layout), limit - spent, layout)
    while True:
        said = _section(heading, [*summary, *_printed(chosen, layout)])
        block = Block((*opening, *said, *added, closing))
        # Counts of lines add up for most tokenizers; the count of the whole is what holds.
        if layout.count(block.text) <= limit or not chosen:
            shows = dict(line.shows for line in chosen if line.shows)
            shown = {mark for mark, _ in added}
            shows |= {i.ref: i.version for i, form in more if form == "full" and i.ref in shown}
            return CompactionNote(block=block, shows=shows)
        chosen.pop()


def _opening(archived: Archived, layout: Layout) -> list[Piece]:
    told = []
    if archived.turns:
        n = archived.total or len(archived.turns)
        gone = f"{n} {'message is' if n == 1 else 'messages are'} archived and not shown any more"
        how = "mem_search finds what they say, mem_get with the id {} pages through all."
        told.append(f"{gone}: {how.format(archived.ref)}" if layout.fetches else f"{gone}.")
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
    untrusted = any(turn.trust == "untrusted" or turn.tainted for turn in archived.turns)
    words: list[str] = []
    text = ""
    for sentence in split_up(archived.summary):
        item = _words(archived.ref, " ".join([*words, sentence]), label="Summary")
        if untrusted:
            item = replace(item, trust="untrusted", source="a summary that covers tool outputs")
        printed = layout.renderer.item(item, "full", 0)
        if layout.count(printed) > limit:
            break
        words, text = [*words, sentence], printed
    return [(mark, text)] if text else []


def _chosen(lines: Sequence[Line], room: int, layout: Layout) -> list[Line]:
    """Return the lines that fit, headings included, those worth most first.

    What matters for the work has a share of the room that nothing else can take.
    """
    matter = [line for line in lines if line.group in GROUPS]
    first = _fitting(matter, int(room * MATTERS), [], layout)
    spent = sum(line.cost for line in first)
    spent += sum(layout.count(_heading(name, layout)) for name in {line.group for line in first})
    others = [line for line in lines if line not in first]
    return [*first, *_fitting(others, room - spent, first, layout)]


def _fitting(
    lines: Iterable[Line], room: int, before: Sequence[Line], layout: Layout
) -> list[Line]:
    chosen: list[Line] = []
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


def _printed(lines: Sequence[Line], layout: Layout) -> list[Piece]:
    """Return the lines under their headings: what matters for the work first, then day by day."""
    groups: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda line: line.order):
        groups.setdefault(line.group, []).append(line)
    order = sorted(
        groups,
        key=lambda name: (GROUPS.index(name) if name in GROUPS else 9, groups[name][0].order),
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
