"""Every example runs as it is and prints what it promises."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "langchain"
PRINTS = {
    "plain_chain.py": "given: 1 decision",
    "agent.py": "The courier deadline is 16:00.",
    "graph.py": "calls kept: ['answered', 'answered']",
    "structured_output.py": "steps=['write a test', 'fix it']",
    "web.py": "Yes, it is.\n1 preference",
}


@pytest.fixture(autouse=True)
def no_module_of_other_examples():
    """Another folder of examples has a file of that name."""
    sys.modules.pop("scripted", None)
    yield
    sys.modules.pop("scripted", None)


@pytest.mark.parametrize("name", PRINTS)
def test_an_example_runs_without_a_warning(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("CTXMW_STRICT", "1")
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert PRINTS[name] in capsys.readouterr().out


def test_every_example_is_run():
    assert {path.name for path in FOLDER.glob("*.py")} == {*PRINTS, "scripted.py"}
