"""What is done in an editor reaches every open conversation of the project."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.protocols import Find
from ctxmw.workspace.activity import checked_activity


class Clock:
    def __init__(self):
        self.now = datetime(2026, 1, 5, 12, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "auth.py").write_text(
        'def login(user):\n    """Log somebody in."""\n\n\ndef logout(user):\n    """Out."""\n',
        encoding="utf-8",
    )
    return tmp_path


@pytest.fixture
def ctx(clock, shop):
    with ContextMiddleware.open(":memory:", clock=clock) as ctx:
        ctx.index_code(shop, project="shop")
        yield ctx


def part(ctx, text="What is wrong here?", session=None, project="shop", **who):
    chat = ctx.session(session, project=project, **who)
    prepared = chat.prepare([{"role": "user", "content": text}])
    chat.finish(prepared, "Hm.")
    return prepared.context.part


def test_an_open_file_reaches_every_conversation_of_the_project(ctx):
    ctx.session("one", project="shop").prepare([{"role": "user", "content": "Hi"}])
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    assert "## File Context" in part(ctx, session="one")
    assert "auth.py" in part(ctx, session="two")
    assert part(ctx, project="other") == ""


def test_an_edit_brings_the_symbols_that_changed_before_the_file(ctx):
    ctx.notice({"type": "file_edit", "filePath": "auth.py", "changedSymbols": ["logout"]})
    text = part(ctx)
    assert "auth.py:5-6: def logout(user)" in text
    assert text.index("Related Code") < text.index("File Context")


def test_a_hover_brings_the_symbol_alone(ctx):
    ctx.notice({"type": "symbol_hover", "path": "auth.py", "symbol": "login"}, project="shop")
    text = part(ctx)
    assert "def login" in text
    assert "File Context" not in text


def test_a_glance_does_not_undo_an_edit_and_ends_with_the_file(ctx):
    ctx.notice({"type": "file_edit", "path": "auth.py"}, project="shop")
    ctx.notice({"type": "symbol_hover", "path": "auth.py", "symbol": "login"}, project="shop")
    text = part(ctx)
    assert "def login" in text
    assert "File Context" in text
    ctx.notice({"type": "file_close", "path": "auth.py"}, project="shop")
    assert part(ctx) == ""


def test_a_closed_file_is_let_go(ctx):
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    ctx.notice({"type": "file_close", "path": "auth.py"}, project="shop")
    assert part(ctx) == ""
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    assert part(ctx, session="s") != ""
    ctx.notice({"type": "file_close", "path": "auth.py"}, project="shop")
    assert part(ctx, "And what is wrong here?", session="s") == ""


def test_small_talk_brings_nothing_of_it(ctx):
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    assert part(ctx, "thanks!") == ""


def test_it_ends_by_time(ctx, clock):
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    clock.now += timedelta(minutes=16)
    assert part(ctx) == ""


def test_it_ends_by_turns_and_does_not_begin_again(ctx):
    ctx.notice({"type": "file_open", "path": "auth.py"}, project="shop")
    asked = ["What is it?", "Why is it so?", "How is that?", "Where?", "Which?", "Who is it?"]
    brought = [bool(part(ctx, text, session="s")) for text in asked]
    assert brought[0]
    assert brought[-2:] == [False, False]


def test_another_user_learns_nothing(ctx):
    ctx.notice({"type": "file_open", "path": "auth.py"}, user="ann", project="shop")
    assert part(ctx) == ""


def test_another_process_learns_of_it(tmp_path, shop):
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path) as one, ContextMiddleware.open(path) as other:
        one.index_code(shop, project="shop")
        other.notice({"type": "file_open", "path": "auth.py"}, project="shop")
        assert "auth.py" in part(one)


def test_a_busy_day_leaves_one_row_a_file(ctx):
    for _ in range(50):
        ctx.notice({"type": "file_edit", "path": "auth.py"}, project="shop")
    assert ctx.store.count("local", Find(types=("activity",), live=None)) == 1


def test_secrets_are_not_kept(ctx):
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    ctx.notice({"type": "file_edit", "path": "a.py", "symbols": [key]}, project="shop")
    part(ctx, f"Is {key} used, AKIAIOSFODNN7EXAMPLE, or password = hunter2secret9?", session="s")
    state = next(state for state in ctx.sessions() if state.session == "s")
    assert key not in state.model_dump_json()
    assert "AKIAIOSFODNN7EXAMPLE" not in state.model_dump_json()
    assert "hunter2secret9" not in state.model_dump_json()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "file_eat", "path": "a.py"},
        {"type": "file_open"},
        {"type": "file_open", "path": 7},
        {"type": "file_edit", "path": "a.py", "symbols": 3},
        "file_open",
        None,
    ],
)
def test_what_is_no_activity_is_refused_with_an_example(wrong):
    with pytest.raises(InvalidValue):
        checked_activity(wrong)


def test_paths_of_windows_and_long_ones_are_taken(ctx):
    found = checked_activity({"type": "file_open", "path": ".\\src\\a.py"})
    assert found.path == "src/a.py"
    ctx.notice({"type": "file_open", "path": "x" * 100_000})
    ctx.notice({"type": "file_open", "path": "../../etc/passwd"})
    assert part(ctx) == ""
