"""`%load_ext ctxmw` in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from ctxmw import ContextMiddleware, Prepared


@pytest.fixture
def shell(tmp_path: Any) -> Iterator[Any]:
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "ctxmw")
    shell.run_line_magic("ctx", f"open {tmp_path / 'memory.db'}")
    yield shell
    shell.user_ns["ctx"].close()
    shell.history_manager.end_session()
    shell.restore_sys_module_state()


def test_open_leaves_the_memory_in_a_variable(shell: Any) -> None:
    assert isinstance(shell.user_ns["ctx"], ContextMiddleware)


def test_a_line_is_remembered_and_found_again(shell: Any) -> None:
    kept = shell.run_line_magic("ctx", "remember Don't use tabs. --kind preference")
    assert (kept.text, kept.kind) == ("Don't use tabs.", "preference")
    assert [hit.ref for hit in shell.run_line_magic("ctx", "search tabs")] == [kept.ref]
    assert shell.run_line_magic("ctx", f"forget {kept.ref}") == 1
    assert shell.run_line_magic("ctx", "search tabs") == []


def test_options_and_quotes_are_understood(shell: Any) -> None:
    said = 'remember "Auth uses JWT" --scope project:shop --key auth'
    kept = shell.run_line_magic("ctx", said)
    assert (kept.text, kept.scope, kept.key) == ("Auth uses JWT", "project:shop", "auth")


def test_a_whole_cell_is_remembered(shell: Any) -> None:
    kept = shell.run_cell_magic("ctx", "remember --kind rule", "First line.\nSecond line.\n")
    assert (kept.text, kept.kind) == ("First line.\nSecond line.", "rule")


def test_a_cell_is_a_message_that_what_matters_goes_along_with(shell: Any) -> None:
    shell.run_line_magic("ctx", "remember Auth uses JWT. --scope project:shop --kind decision")
    prepared = shell.run_cell_magic("ctx", "--project shop", "How do we sign in?\n")
    assert isinstance(prepared, Prepared)
    assert prepared is shell.user_ns["prepared"]
    assert "Auth uses JWT." in prepared.context.text
    assert prepared.given == ({"role": "user", "content": "How do we sign in?"},)


def test_a_conversation_goes_on_from_cell_to_cell(shell: Any, capsys: Any) -> None:
    shell.user_ns["model"] = lambda messages: f"{len(messages)} messages"
    shell.run_cell_magic("ctx", "--session s1 --call model", "Hello")
    second = shell.run_cell_magic("ctx", "--session s1 --call model", "Again")
    assert [message["content"] for message in second.given] == ["Hello", "1 messages", "Again"]
    assert capsys.readouterr().out.endswith("3 messages\n")
    assert shell.run_line_magic("ctx", "why 3 messages").ref == second.context.ref
    assert shell.run_line_magic("ctx", "why never said") == "No context data available"


@pytest.mark.parametrize(
    ("line", "says"),
    [("", "nothing was given"), ("recall x", "'recall' is not one of them")],
)
def test_what_it_does_not_know_it_says(shell: Any, line: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        shell.run_line_magic("ctx", line)


def test_a_wrong_option_or_function_is_an_error_that_says_so(shell: Any) -> None:
    with pytest.raises(UsageError, match="--limit"):
        shell.run_line_magic("ctx", "search tabs --limit many")
    with pytest.raises(UsageError, match="define a function nobody"):
        shell.run_cell_magic("ctx", "--call nobody", "Hello")
    with pytest.raises(UsageError, match="does not know 'Hello'"):
        shell.run_cell_magic("ctx", "Hello", "Hello")
    shell.user_ns["model"] = lambda messages: 7
    with pytest.raises(UsageError, match="not int"):
        shell.run_cell_magic("ctx", "--call model", "Hello")


def test_without_a_memory_the_one_in_the_data_folder_is_used(shell: Any, capsys: Any) -> None:
    shell.user_ns.pop("ctx").close()
    shell.run_line_magic("ctx", "search tabs")
    assert "data folder" in capsys.readouterr().out
    assert isinstance(shell.user_ns["ctx"], ContextMiddleware)
