"""`%load_ext ctxmw` in a real IPython shell."""

from __future__ import annotations

import sys
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


@pytest.mark.parametrize(
    "line",
    [
        "remember Tabs. --kind nonsense",
        "remember Tabs. --scope nonsense",
        "search tabs --limit -1",
        "search tabs --limit many",
        "forget mnever",
        "index /no/such/folder",
        "import /no/such/file",
        "import /no/such/file --from nobody",
        "rate",
        "rate of an answer that nobody gave",
        "nonsense",
    ],
)
def test_what_does_not_work_is_told_in_one_line(shell: Any, capsys: Any, line: str) -> None:
    shell.run_cell(f"%ctx {line}")
    shown = capsys.readouterr()
    told = (shown.out + shown.err).strip()
    assert told.startswith("UsageError: %ctx")
    assert len(told.splitlines()) == 1
    assert "Traceback" not in told


def test_long_works_show_how_far_they_are(shell: Any, capsys: Any, tmp_path: Any) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def hello(): ...\n")
    shell.run_line_magic("ctx", f"index {tmp_path / 'code'} --project shop")
    assert "#] 1/1" in capsys.readouterr().err
    shell.run_line_magic("ctx", "remember Tabs.")
    shell.user_ns["ctx"].export(tmp_path / "all.jsonl")
    shell.run_line_magic("ctx", f"open {tmp_path / 'other.db'}")
    taken = shell.run_line_magic("ctx", f"import {tmp_path / 'all.jsonl'}")
    assert f"{taken}/{taken}" in capsys.readouterr().err


def test_buttons_rate_what_a_cell_was_given(shell: Any) -> None:
    kept = shell.run_line_magic("ctx", "remember Auth uses JWT. --scope project:shop")
    shell.user_ns["model"] = lambda _: "With JWT."
    shell.run_cell_magic("ctx", "--project shop --call model", "How do we sign in?\n")
    buttons = shell.run_line_magic("ctx", "rate")
    ctx = shell.user_ns["ctx"]
    row = next(one for one in buttons.children if one.children[-1].value == "Auth uses JWT.")
    helped, did_not, _ = row.children
    for button, values in ((did_not, [-1]), (helped, [1]), (helped, [0])):
        button.click()
        said = [one.value for one in ctx.ratings(ref=kept.ref) if not one.replaced]
        assert said == values
    buttons.children[0].children[0].click()
    assert [one.value for one in ctx.ratings() if not one.about] == [1]
    assert helped.button_style == ""
    assert buttons.children[0].children[0].button_style == "success"


def test_without_ipywidgets_the_error_says_what_to_install(
    shell: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.run_cell_magic("ctx", "", "Hello\n")
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(UsageError, match="pip install ipywidgets"):
        shell.run_line_magic("ctx", "rate")
