"""A process that has the memory open answers for others; strangers learn nothing from either."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware, Settings
from ctxmw.cli.main import main
from ctxmw.cli.resident import caller
from ctxmw.cli.resident.caller import Address, ask
from ctxmw.cli.resident.injected import injections
from ctxmw.cli.resident.listener import Listener
from ctxmw.store.open import data_folder
from tests.support.processes import running
from tests.support.waiting import until

QUESTION = {"messages": [{"role": "user", "content": "How are tokens signed?"}]}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A data folder of its own, and a store and project beside it."""
    monkeypatch.setenv("CTXMW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CTXMW_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("CTXMW_PROJECT", "shop")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", user="local") as ctx:
        ctx.remember("Tokens are signed with RS256.", kind="decision", scope="project:shop")
        yield ctx


def test_nobody_answers_where_nobody_serves():
    assert ask(QUESTION) is None


def test_who_serves_is_asked_and_answers():
    heard = []
    with Listener(lambda question: heard.append(question) or "RS256"):
        assert ask(QUESTION) == "RS256"
    assert heard == [QUESTION]
    assert ask(QUESTION) is None


def test_several_may_serve_and_the_one_that_knows_answers():
    with Listener(lambda _: None), Listener(lambda _: "RS256"), Listener(lambda _: None):
        assert ask(QUESTION) == "RS256"


def test_one_that_fails_leaves_the_answer_to_others(caplog):
    def fails(_):
        raise RuntimeError("broken")

    with Listener(lambda _: "RS256"), Listener(fails):
        assert ask(QUESTION) == "RS256"
    assert "a hook was not answered" in caplog.text


def test_another_version_is_not_asked(monkeypatch):
    with Listener(lambda _: "RS256"):
        monkeypatch.setattr(caller, "__version__", "0.0.1")
        assert ask(QUESTION) is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are told otherwise there")
def test_the_key_is_for_the_owner_alone():
    with Listener(lambda _: "RS256"):
        (note,) = (data_folder() / "serving").iterdir()
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert stat.S_IMODE(note.parent.stat().st_mode) == 0o700
    assert not list((data_folder() / "serving").iterdir())


def test_who_has_no_key_is_not_answered():
    with Listener(lambda _: "RS256"):
        (note,) = (data_folder() / "serving").iterdir()
        told = json.loads(note.read_text())
        note.write_text(json.dumps(told | {"key": "0" * 64}))
        assert ask(QUESTION) is None
        with (
            socket.create_connection(("127.0.0.1", told["port"])) as line,
            line.makefile("rwb") as stream,
        ):
            caller.send(stream, {"nonce": "1"})
            caller.receive(stream)
            caller.send(stream, {"proof": "0" * 64})
            caller.send(stream, QUESTION)
            assert stream.read() == b""


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 400\r\n\r\n", b"[]\n", b'{"proof": "no"}\n'])
def test_a_stranger_behind_the_port_does_not_learn_the_question(sent, home):
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def stranger():
            line, _ = server.accept()
            with line:
                heard.append(line.recv(10_000))
                line.sendall(sent)
                line.shutdown(socket.SHUT_WR)
                while more := line.recv(10_000):
                    heard.append(more)

        thread = threading.Thread(target=stranger)
        thread.start()
        _left_behind(home, server.getsockname()[1])
        assert ask(QUESTION) is None
        thread.join()
    assert b"tokens" not in b"".join(heard)


def test_the_note_of_one_that_was_killed_is_cleared_away(home):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    note = _left_behind(home, port)
    assert ask(QUESTION) is None
    assert not note.exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"port": "x", "key": 1}', "\x00"])
def test_a_broken_note_is_passed_over(home, content):
    (home / "serving").mkdir(parents=True)
    (home / "serving" / "1-1.json").write_text(content)
    assert ask(QUESTION) is None


@pytest.mark.parametrize("form", [[], ["--json"], ["--explain"], ["--only", "stable"]])
def test_inject_prints_the_same_with_and_without_one_that_serves(ctx, capsys, form):
    asked = ["inject", "How are tokens signed?", *form]
    assert main(asked) == 0
    alone = capsys.readouterr().out
    answers = _Counted(ctx)
    with Listener(answers):
        assert main(asked) == 0
    assert capsys.readouterr().out == alone
    assert "RS256" in alone
    assert answers.given == 1


def test_a_memory_that_is_open_answers_in_any_folder_for_any_project(ctx, capsys, tmp_path):
    ctx.remember("Orders are sharded.", kind="decision", scope="project:orders")
    answers = _Counted(ctx)
    with Listener(answers), pytest.MonkeyPatch.context() as patch:
        (tmp_path / "orders").mkdir()
        patch.chdir(tmp_path / "orders")
        main(["inject", "Are orders sharded?", "--project", "orders"])
    assert "sharded" in capsys.readouterr().out
    assert answers.given == 1


def test_who_means_another_memory_or_other_settings_looks_himself(ctx, capsys, tmp_path):
    answers = _Counted(ctx)
    other = tmp_path / "other.db"
    with ContextMiddleware.open(other, user="local") as one:
        one.remember("Tokens are signed with HS256.", kind="decision", scope="project:shop")
    with Listener(answers):
        main(["inject", "How are tokens signed?", "--store", str(other)])
        assert "HS256" in capsys.readouterr().out
        main(["inject", "How are tokens signed?", "--user", "ada"])
        assert "RS256" not in capsys.readouterr().out
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CTXMW_MAX_TOKENS", "0")
            main(["inject", "How are tokens signed?"])
        assert capsys.readouterr().out == ""
    assert answers.given == 0


def test_what_is_wrong_is_told_as_without_one_that_serves(ctx, capsys):
    with Listener(_Counted(ctx)):
        assert main(["inject", "hello", "--budget", "-5"]) == 2
    assert "-5" in capsys.readouterr().err


def test_serve_answers_until_it_is_told_to_end(ctx, capsys):
    command = (sys.executable, "-m", "ctxmw", "serve")
    with running(*command, env=dict(os.environ)) as process:
        until(lambda: list((data_folder() / "serving").glob("*.json")))
        assert main(["inject", "How are tokens signed?"]) == 0
        assert "RS256" in capsys.readouterr().out
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert not list((data_folder() / "serving").iterdir())


def test_serve_ends_by_itself_when_nobody_asks(ctx):
    assert main(["serve", "--idle", "0.001"]) == 0


class _Counted:
    """Answers for a memory, and counts."""

    def __init__(self, ctx: ContextMiddleware) -> None:
        self._answers = injections(ctx, Settings.load())
        self.given = 0

    def __call__(self, question):
        answer = self._answers(question)
        self.given += answer is not None
        return answer


def _left_behind(home: Path, port: int) -> Path:
    note = home / "serving" / f"1-{port}.json"
    note.parent.mkdir(parents=True)
    address = Address(port=port, key="0" * 64)
    told = {"port": address.port, "key": address.key, "version": address.version}
    note.write_text(json.dumps(told))
    return note
