"""Pictures of budgets and conversations, with matplotlib.

Each function draws on the axes given, or on new ones, and returns them. New ones have no ground of
their own, and ink that can be read on a light page and on a dark one: a kernel does not know which
theme its notebook is shown in.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..conversation.record import ContextRecord
from ..errors import MissingPackage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..session import Session

INK = "#787e87"
"""Of words and lines; as far from white as from a dark page."""
INK_OF_FIGURES = "#7b818a"
"""Of the figures along the axis. Jupyter would put a ground behind a picture whose ticks are all
darker than the middle, or all lighter: these are just on the other side of it."""
_MEMORY, _NOTE, _PINNED, _INDEX, _TURN = "#3b7be0", "#17845b", "#8a45c9", "#7c8796", "#d9822b"
_COLOURS = {
    **dict.fromkeys(("instructions", "universal", "language", "project", "reserve"), _MEMORY),
    **dict.fromkeys(("done", "decided", "open"), _NOTE),
    "pinned": _PINNED,
    "index": _INDEX,
    "turn": _TURN,
}


def plot_budget(record: ContextRecord, ax: Axes | None = None) -> Axes:
    """Draw what each lane spent of what it had."""
    ax = _axes(ax, height=3.4)
    lanes = record.lanes
    names = list(lanes)[::-1]
    limits = [lanes[name][1] for name in names]
    spent = [lanes[name][0] for name in names]
    colours = [_COLOURS.get(name, _INDEX) for name in names]
    ax.barh(names, limits, color=colours, alpha=0.18)
    ax.barh(names, spent, color=colours)
    for place, (used, limit) in enumerate(zip(spent, limits, strict=True)):
        ax.text(
            max(used, limit), place, f"  {used} / {limit}", va="center", fontsize=9, color=_ink(ax)
        )
    ax.set_xlim(0, 1.2 * max([*limits, *spent, 1]))
    ax.set_xlabel("tokens")
    ax.set_title(f"{record.tokens:,} of {record.limit:,} tokens", loc="left", color=_ink(ax))
    return _plain(ax)


def plot_prefix(chat: Session, ax: Axes | None = None) -> Axes:
    """Draw, call by call, which share of the prompt equals the beginning of the one before.

    That is what a provider's prompt cache can serve.
    """
    ax = _axes(ax)
    calls = list(enumerate(chat.history(), 1))
    known = [(at, 100 * one.prefix_share) for at, one in calls if one.prefix_share is not None]
    ax.plot([at for at, _ in known], [share for _, share in known], marker="o", color=_MEMORY)
    for at, record in _epochs(calls):
        ax.axvline(at, color=_PINNED, linestyle=":", linewidth=1)
        ax.annotate(f" epoch {record.epoch}", (at, 2), color=_PINNED, fontsize=8)
    ax.set_ylim(0, 104)
    ax.set_ylabel("% of the prompt unchanged")
    ax.set_title(f"Prompt prefix of {chat.id}", loc="left", color=_ink(ax))
    return _by_call(ax)


def plot_session(chat: Session, ax: Axes | None = None) -> Axes:
    """Draw what each call of a conversation was given: stable block, this turn, earlier parts."""
    ax = _axes(ax)
    records = chat.history()
    calls = range(1, len(records) + 1)
    below = [0] * len(records)
    for label, colour, tokens in (
        ("stable block", _MEMORY, [_tokens(one, 0) for one in records]),
        ("this turn", _TURN, [_tokens(one, 1) for one in records]),
        ("earlier parts", _INDEX, [one.replayed_tokens for one in records]),
    ):
        ax.bar(calls, tokens, bottom=below, color=colour, label=label, width=0.7)
        below = [under + more for under, more in zip(below, tokens, strict=True)]
    ax.set_ylabel("tokens")
    ax.set_title(f"Context of {chat.id}", loc="left", color=_ink(ax))
    look = {"frameon": False, "fontsize": 9, "labelcolor": _ink(ax)}
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), **look)
    return _by_call(ax)


def _tokens(record: ContextRecord, place: int) -> int:
    return record.builds[place].tokens if len(record.builds) > place else 0


def _epochs(calls: list[tuple[int, ContextRecord]]) -> list[tuple[int, ContextRecord]]:
    """Return the calls that began a new epoch, the first one aside."""
    return [after for before, after in pairwise(calls) if before[1].epoch != after[1].epoch]


def _axes(ax: Axes | None, height: float = 3.0) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackage('plots need matplotlib: pip install "ctxmw[notebook]"') from error
    figure = plt.figure(figsize=(6.4, height), layout="constrained", facecolor="none")
    ax = figure.add_subplot(facecolor="none")
    ax.tick_params(colors=INK)
    ax.tick_params(axis="x", labelcolor=INK_OF_FIGURES)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(INK)
    ax.spines[:].set_color(INK)
    return ax


def _ink(ax: Axes) -> Any:
    """Return the colour of words: of axes that were given, their own."""
    return ax.xaxis.label.get_color()


def _by_call(ax: Axes) -> Axes:
    ax.set_xlabel("call")
    ax.locator_params(axis="x", integer=True)
    return _plain(ax)


def _plain(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
