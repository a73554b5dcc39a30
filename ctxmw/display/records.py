"""A record as HTML: the summary first, then what was used, what was left out, and the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..conversation.record import ContextRecord, by_section, signals_told
from ..recall.outcome import ItemOutcome
from .bars import budget_bar, lane_legend, share_bar
from .elements import (
    Child,
    Html,
    badge,
    joined_html,
    section,
    side_by_side,
    tag,
    time_html,
    verbatim,
)

Link = Callable[[ItemOutcome], str]
"""Returns the address of an item's own page; "" when it has none."""
Controls = Callable[[ItemOutcome], Html | None]
"""Returns what can be done about an item where it stands."""

NO_RECORD = "No context data available"
_OBVIOUS = ("rule", "reference", "tool")
_OPEN = 8
"""Sections of no more items than this are open from the beginning."""


def record_html(
    record: ContextRecord,
    link: Link | None = None,
    *,
    title: str = "Context used",
    controls: Controls | None = None,
) -> Html:
    """Return what a call was given: figures, items by section, what was left out, the blocks."""
    return joined_html(
        [
            _title(record, title),
            tag("p", record.summary()),
            *lanes_html(record),
            *_prefix(record),
            *_sections(record, _Look(link, controls, frozenset(record.came_back))),
            _left_out(record, _Look(link)),
            _blocks(record),
        ]
    )


def lanes_html(record: ContextRecord) -> tuple[Child, ...]:
    """Return the budget as a bar with its legend; nothing for a call that had none."""
    return (budget_bar(record.lanes), lane_legend(record.lanes)) if record.lanes else ()


class _Look(NamedTuple):
    """What items are shown with, beside what is known of them."""

    link: Link | None = None
    controls: Controls | None = None
    came_back: frozenset[str] = frozenset()


def _items(used: Iterable[ItemOutcome], look: _Look) -> Html:
    """Return items one below the other: words, how they came in, tokens, why."""
    return tag("ul", *(_item(one, look) for one in used), class_="ctx-items")


def mode_badge(used: ItemOutcome) -> Html:
    """Return how an item came in, with the score when it was found for the request."""
    score = f" {used.score:.2f}" if used.include == "agent" else ""
    return badge(used.include + score, used.include)


def _title(record: ContextRecord, title: str) -> Html:
    told = (f"{record.session} · ", time_html(record.at), f" · epoch {record.epoch}")
    about = tag("span", *told, class_="ctx-dim")
    degraded = badge(f"degraded: {record.degraded}", "degraded") if record.degraded else None
    failed = tag("span", record.error, class_="ctx-dim") if record.error else None
    state = badge(record.state, record.state)
    return side_by_side("div", title, state, degraded, failed, about, class_="ctx-title")


def _sections(record: ContextRecord, look: _Look) -> list[Child]:
    shown = [used for used in record.used if used.shown in ("full", "brief")]
    listed = [used for used in record.used if used.shown == "index"]
    if not shown and not listed:
        return [tag("p", "Nothing was put into this prompt.", class_="ctx-none")]
    parts: list[Child] = [
        section(title, _items(used, look), count=len(used), opened=len(used) <= _OPEN)
        for title, used in by_section(shown).items()
    ]
    if listed:
        parts.append(section("Listed in the index", _items(listed, look), count=len(listed)))
    return parts


def _left_out(record: ContextRecord, look: _Look) -> Html | None:
    named = [used for used in record.used if used.shown == "none"]
    others = record.left_out
    if not named and not others:
        return None
    more = [tag("li", f"and {n} more: {reason}") for reason, n in others.items()]
    rest = tag("ul", *more, class_="ctx-items ctx-dim") if more else None
    count = len(named) + sum(others.values())
    return section("Left out", _items(named, look) if named else None, rest, count=count)


def _blocks(record: ContextRecord) -> Html | None:
    if not record.text:
        return None
    stable, part = record.stable, record.part
    return section(
        "Text as sent",
        tag("p", "Stable block, in the system prompt", class_="ctx-role") if stable else None,
        verbatim(stable, ours=True) if stable else None,
        tag("p", "This turn's part, before the user's words", class_="ctx-role") if part else None,
        verbatim(part, ours=True) if part else None,
    )


def _prefix(record: ContextRecord) -> tuple[Child, ...]:
    if record.prefix_share is None:
        return ()
    label = f"{record.prefix_share:.0%} of the prompt equals the beginning of the one before"
    return (share_bar(record.prefix_share, label), tag("p", label, class_="ctx-why"))


def _item(used: ItemOutcome, look: _Look) -> Html:
    address = look.link(used) if look.link else ""
    words: Child = tag("a", used.title, href=address) if address else used.title
    since = f"ctx-says {'ctx-since' if used.since else ''}".strip()
    return side_by_side(
        "li",
        tag("span", words, class_=since),
        *_marks(used),
        badge("came back", "answered") if used.ref in look.came_back else None,
        mode_badge(used),
        tag("span", f"{used.tokens} tokens", class_="ctx-cost") if used.tokens else None,
        tag("span", used.ref, class_="ctx-ref"),
        _why(used),
        look.controls(used) if look.controls else None,
    )


def _marks(used: ItemOutcome) -> Sequence[Child]:
    marks = [badge(f"{used.since} since", used.since)] if used.since else []
    marks += [badge("briefly")] if used.shown == "brief" else []
    marks += [badge("untrusted", "untrusted")] if used.trust == "untrusted" else []
    return marks


def _why(used: ItemOutcome) -> Html | None:
    # What stands under "Rules" need not say that it is a rule.
    kind = "" if used.kind in _OBVIOUS else used.kind.replace("_", "-")
    told = " · ".join(filter(None, (kind, used.reason, signals_told(used))))
    return tag("span", told, class_="ctx-why") if told else None
