"""How far a long work is, where whoever waits is looking."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from ctxmw.notebook import progress
from tests.support.markup import Seen


class Ticking:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Shown:
    """A kernel's display, that keeps what it is shown."""

    def __init__(self) -> None:
        self.html: list[str] = []

    def __call__(self, bar: Any, *, display_id: bool) -> Shown:
        assert display_id
        self.update(bar)
        return self

    def update(self, bar: Any) -> None:
        self.html.append(bar._repr_html_())


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown = Shown()
    monkeypatch.setattr("ctxmw.notebook.progress_bar._in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown)
    return shown


def test_a_notebook_has_one_bar_that_grows(shown: Shown) -> None:
    clock = Ticking()
    bar = progress("indexing <b>src</b>", clock)
    for done in (1, 2, 3):
        clock.now += 0.5
        bar(done, 3)
    texts = [Seen(html).text for html in shown.html]
    assert texts[0] == "indexing <b>src</b> 1 of 3 · 0 s"
    assert texts[-1] == "indexing <b>src</b> 3 of 3 · 2 s"
    assert "b" not in Seen(shown.html[0]).tags


def test_many_steps_draw_few_pictures_and_always_the_last(shown: Shown) -> None:
    clock = Ticking()
    bar = progress("embedding", clock)
    for done in range(1, 1001):
        clock.now += 0.001
        bar(done, 1000)
    assert len(shown.html) <= 12
    assert "1,000 of 1,000" in shown.html[-1]


def test_a_terminal_has_a_line(capsys: Any) -> None:
    clock = Ticking()
    bar = progress("importing", clock)
    bar(1, 2)
    clock.now = 3
    bar(2, 2)
    first, last = capsys.readouterr().err.split("\r")[1:]
    assert first == f"importing [{'#' * 15}{'.' * 15}] 1/2 0 s"
    assert last == f"importing [{'#' * 30}] 2/2 3 s\n"


def test_a_shell_without_a_kernel_is_no_notebook() -> None:
    from ctxmw.notebook.progress_bar import _in_notebook

    shell = InteractiveShell.instance()
    try:
        assert not _in_notebook()
        shell.kernel = object()
        assert _in_notebook()
    finally:
        shell.history_manager.end_session()
        shell.restore_sys_module_state()
        InteractiveShell.clear_instance()
