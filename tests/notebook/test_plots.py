"""Pictures of budgets and conversations: what is drawn are the figures of the records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import _fetch_figure_metadata

from ctxmw import ContextMiddleware, MissingPackage, Session
from ctxmw.notebook.plots import INK, INK_OF_FIGURES, plot_budget, plot_prefix, plot_session
from ctxmw.testing import FixedClock

if TYPE_CHECKING:
    from matplotlib.axes import Axes

mpl.use("agg")


@pytest.fixture
def chat() -> Iterator[Session]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        ctx.remember("Answer in short sentences.", kind="preference")
        chat = ctx.session("s")
        history: list[dict[str, str]] = []
        for at, words in enumerate(("Hello", "Are sentences short?", "And now?")):
            history.append({"role": "user", "content": words})
            chat.finish(chat.prepare(history), "Yes.")
            history.append({"role": "assistant", "content": "Yes."})
            if at == 1:
                chat.refresh()
        yield chat
    import matplotlib.pyplot as plt

    plt.close("all")


def test_the_budget_is_drawn_lane_by_lane(chat: Session) -> None:
    record = chat.history()[0]
    ax = plot_budget(record)
    labels = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert labels == list(record.lanes)
    spent, limit = record.lanes["universal"]
    assert f"{spent} / {limit}" in [text.get_text().strip() for text in ax.texts]


def test_the_prefix_is_drawn_call_by_call_and_new_epochs_are_marked(chat: Session) -> None:
    ax = plot_prefix(chat)
    shares = [record.prefix_share for record in chat.history()]
    assert shares[0] is None
    assert list(ax.lines[0].get_ydata()) == [100 * share for share in shares[1:]]
    assert [text.get_text().strip() for text in ax.texts] == ["epoch 2"]


def test_a_conversation_is_drawn_as_what_each_call_was_given(chat: Session) -> None:
    ax = plot_session(chat)
    tops = [sum(bars[at].get_height() for bars in ax.containers) for at in range(3)]
    assert tops == [record.tokens + record.replayed_tokens for record in chat.history()]


def test_it_draws_on_the_axes_it_is_given(chat: Session) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot_budget(chat.history()[0], ax) is ax


def test_without_matplotlib_the_error_says_what_to_install(
    chat: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[notebook\]"'):
        plot_session(chat)


@pytest.mark.parametrize("page", ["#ffffff", "#111111", "#1e1e1e"])
def test_words_and_lines_can_be_seen_on_a_light_page_and_on_a_dark_one(page: str) -> None:
    def light(colour: str) -> float:
        linear = [
            v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour)
        ]
        return sum(part * v for part, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for ink, least in ((INK, 4), (INK_OF_FIGURES, 3.8)):
        lighter, darker = sorted((light(ink), light(page)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= least


def test_new_axes_have_no_ground_and_given_ones_keep_their_colours(chat: Session) -> None:
    ax = plot_budget(chat.history()[0])
    assert (ax.figure.get_facecolor()[3], ax.get_facecolor()[3]) == (0, 0)
    assert ax.get_title(loc="left")
    assert {text.get_color() for text in ax.texts} == {INK}
    figure = Figure(facecolor="black")
    own = figure.add_subplot()
    own.xaxis.label.set_color("white")
    plot_session(chat, own)
    assert to_rgb(figure.get_facecolor()) == (0, 0, 0)
    assert own.xaxis.label.get_color() == "white"


@pytest.mark.parametrize("plot", [plot_prefix, plot_session])
def test_jupyter_puts_no_ground_behind_a_picture(
    chat: Session, plot: Callable[[Session], Axes]
) -> None:
    for ax in (plot_budget(chat.history()[0]), plot(chat)):
        assert not _fetch_figure_metadata(ax.figure)
