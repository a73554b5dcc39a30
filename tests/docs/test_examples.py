"""The examples that need no framework run as they are, in a form that is quick."""

from __future__ import annotations

import runpy
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples"


def test_a_long_conversation_stays_under_its_window_and_forgets_nothing(capsys):
    runpy.run_path(str(FOLDER / "long_conversation.py"))["main"](15)
    told = capsys.readouterr().out
    largest = int(told.partition("largest prompt: ")[2].split()[0].replace(",", ""))
    assert largest <= 8_000
    assert "compactions" in told
    assert "archived and not shown any more" in told
    view, _, found = told.rpartition("mem_search, asked")
    assert "by Leonie, on Friday" in view
    assert "total += price_7  # src/cart_0.py" not in view
    assert "total += price_7  # src/cart_0.py" in found
