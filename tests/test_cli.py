"""The command: what it prints, and how it ends."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, __version__
from ctxmw.cli import main


def test_the_demo_tells_the_story(capsys):
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    before, _, after = shown.partition("The prompt after")
    assert "Auth uses JWT with RS256; keys rotate weekly." not in before
    assert "Auth uses JWT with RS256; keys rotate weekly." in after
    assert "Semicolons are required." not in shown
    assert "append-only" not in shown
    assert "## Index" in after
    assert "universal" in after
    assert "come back to the byte" in after
    assert "The same memory in a LangChain chain" in after
    assert "The same memory in a LlamaIndex chat engine" in after
    assert "not installed" not in after
    assert max(map(len, shown.splitlines())) < 180


def test_without_a_command_it_says_what_there_is(capsys):
    assert main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert __version__ in capsys.readouterr().out


def test_reindex_embeds_what_is_there(tmp_path, capsys):
    pytest.importorskip("wordllama")
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path) as ctx:
        ctx.remember("Gears are made of brass.", kind="fact")
        ctx.remember("Boats float.", kind="fact")
    assert main(["reindex", "--store", str(path)]) == 0
    assert "embedded 2 records of local with wordllama" in capsys.readouterr().out


def test_an_error_of_ours_is_one_line_and_exit_code_one(tmp_path, capsys):
    wrong = tmp_path / "notes.txt"
    wrong.write_text("not a database")
    assert main(["reindex", "--store", str(wrong)]) == 1
    assert str(wrong) in capsys.readouterr().err
    assert wrong.read_text() == "not a database"
