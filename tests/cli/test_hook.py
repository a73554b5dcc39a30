"""Hooks of coding assistants, with the input that their documentation shows."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxmw import ContextMiddleware, Settings
from ctxmw.cli.commands.init import HOOKS
from ctxmw.cli.main import main
from ctxmw.cli.resident.hooks import MOMENTS, read_moment
from ctxmw.cli.resident.injected import injections
from ctxmw.cli.resident.listener import Listener
from ctxmw.protocols import Find

CLAUDE = {
    "session_id": "abc123",
    "transcript_path": "/home/ada/.claude/projects/shop/abc123.jsonl",
    "permission_mode": "default",
}
CURSOR = {
    "conversation_id": "conv-123",
    "generation_id": "gen-456",
    "model": "gpt-4",
    "cursor_version": "2.0.77",
    "user_email": "ada@example.com",
    "transcript_path": None,
}
VSCODE = {
    "timestamp": "2026-02-09T10:30:00.000Z",
    "sessionId": "session-identifier",
    "transcript_path": "/path/to/transcript.json",
}
GEMINI = {
    "session_id": "g-1",
    "transcript_path": "/tmp/chat.json",
    "timestamp": "2026-02-09T10:30:00Z",
}


def claude(event: str, **more: Any) -> dict[str, Any]:
    return {**CLAUDE, "cwd": str(Path.cwd()), "hook_event_name": event, **more}


def cursor(event: str, **more: Any) -> dict[str, Any]:
    return {**CURSOR, "workspace_roots": [str(Path.cwd())], "hook_event_name": event, **more}


def vscode(event: str, **more: Any) -> dict[str, Any]:
    return {**VSCODE, "cwd": str(Path.cwd()), "hookEventName": event, **more}


def gemini(event: str, **more: Any) -> dict[str, Any]:
    return {**GEMINI, "cwd": str(Path.cwd()), "hook_event_name": event, **more}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CTXMW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CTXMW_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("CTXMW_PROJECT", "shop")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture(params=["by itself", "by a resident process"])
def ctx(request, tmp_path):
    """A memory that somebody serves, or nobody does."""
    with ContextMiddleware.open(tmp_path / "memory.db", user="local") as ctx:
        ctx.remember("Answer in short sentences.", kind="preference")
        ctx.session("old", project="shop").capture(
            [{"role": "user", "content": "The staging key rotates on Monday."}]
        )
        if request.param == "by itself":
            yield ctx
        else:
            with Listener(injections(ctx, Settings.load(Path.cwd()))) as listener:
                yield ctx
                assert listener.asked


@pytest.fixture
def hook(capsys, monkeypatch):
    """Tell what a client tells; return the exit code, and what the client reads."""

    def tell(client: str, told: Any) -> tuple[int, Any]:
        given = told if isinstance(told, bytes) else json.dumps(told).encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = main(["hook", client])
        printed = capsys.readouterr().out
        return code, json.loads(printed) if printed else None

    return tell


def noticed(ctx: ContextMiddleware) -> list[tuple[str, str]]:
    rows = ctx.store.query("local", Find(types=("activity",)))
    done = [json.loads(row.body) for row in rows]
    return [(one["activity"]["type"], one["activity"]["path"]) for one in done]


def added(answer: Any) -> str:
    return answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize(
    ("client", "told", "prompt"),
    [("claude-code", claude, "UserPromptSubmit"), ("gemini", gemini, "BeforeAgent")],
)
def test_a_prompt_brings_what_is_known_and_only_the_first_one_the_standing_context(
    ctx, hook, client, told, prompt
):
    start = told("SessionStart", source="startup", model="some-model")
    assert hook(client, start) == (0, None)
    code, answer = hook(client, told(prompt, prompt="When does the staging key rotate?"))
    assert (code, answer["hookSpecificOutput"]["hookEventName"]) == (0, prompt)
    assert "Answer in short sentences." in added(answer)
    assert "rotates on Monday" in added(answer)
    ctx.session("more", project="shop").capture(
        [{"role": "user", "content": "The production key rotates on Friday."}]
    )
    _, later = hook(client, told(prompt, prompt="When does the production key rotate?"))
    assert "rotates on Friday" in added(later)
    assert "short sentences" not in added(later)


def test_before_a_compaction_all_is_shown_again_afterwards(ctx, hook):
    asked = claude("UserPromptSubmit", prompt="When does the staging key rotate?")
    first = hook("claude-code", asked)[1]
    hook("claude-code", claude("PreCompact", trigger="auto", custom_instructions=""))
    hook("claude-code", claude("SessionStart", source="compact"))
    again = hook("claude-code", {**asked, "prompt": "And the staging key, when?"})[1]
    assert "short sentences" in added(first)
    assert "short sentences" in added(again)


def test_an_answer_is_captured_with_its_question(ctx, hook):
    hook("claude-code", claude("UserPromptSubmit", prompt="Which color has the vault door?"))
    said = "The vault door is green since spring."
    hook("claude-code", claude("Stop", stop_hook_active=False, last_assistant_message=said))
    (exchange,) = ctx.session("abc123").transcript()
    assert exchange.asked.text == "Which color has the vault door?"
    assert [turn.text for turn in exchange.said] == [said]
    assert said in {hit.text for hit in ctx.search("vault door green")}


def test_with_a_resident_process_the_call_is_known_to_be_answered(tmp_path, hook):
    with ContextMiddleware.open(tmp_path / "memory.db", user="local") as ctx:
        with Listener(injections(ctx, Settings.load(Path.cwd()))):
            hook("gemini", gemini("BeforeAgent", prompt="Which color has the vault door?"))
            hook("gemini", gemini("AfterAgent", prompt="Which color?", prompt_response="Green."))
        (record,) = ctx.session("g-1").history()
        assert record.state == "answered"


def test_what_a_tool_did_to_a_file_is_noticed(ctx, hook, place):
    hook("claude-code", claude("UserPromptSubmit", prompt="Hello there"))
    tool = {
        "tool_name": "Write",
        "tool_input": {"file_path": str(place / "src" / "auth.py"), "content": "x = 1"},
        "tool_response": {"filePath": "auth.py", "success": True},
        "tool_use_id": "toolu_01ABC123",
    }
    assert hook("claude-code", claude("PostToolUse", **tool)) == (0, None)
    assert noticed(ctx) == [("file_edit", "src/auth.py")]


def test_cursor_gets_the_standing_context_at_the_start_and_may_always_go_on(ctx, hook, place):
    started = cursor("sessionStart", session_id="conv-123", is_background_agent=False)
    code, answer = hook("cursor", started)
    assert (code, "short sentences" in answer["additional_context"]) == (0, True)
    prompt = cursor("beforeSubmitPrompt", prompt="When does the key rotate?", attachments=[])
    assert hook("cursor", prompt) == (0, {"continue": True})
    edit = {"file_path": str(place / "a.py"), "edits": [{"old_string": "a", "new_string": "b"}]}
    assert hook("cursor", cursor("afterFileEdit", **edit)) == (0, {})
    assert hook("cursor", cursor("afterAgentResponse", text="On Monday.")) == (0, {})
    compaction = {"trigger": "auto", "context_usage_percent": 85, "context_tokens": 120000}
    assert hook("cursor", cursor("preCompact", **compaction)) == (0, {})
    (exchange,) = ctx.session("conv-123").transcript()
    assert (exchange.asked.text, exchange.said[0].text) == (
        "When does the key rotate?",
        "On Monday.",
    )


def test_vscode_gets_the_standing_context_at_the_start(ctx, hook):
    code, answer = hook("vscode", vscode("SessionStart", source="new"))
    assert (code, "short sentences" in added(answer)) == (0, True)
    assert hook("vscode", vscode("UserPromptSubmit", prompt="Hello there")) == (0, None)
    edited = {"tool_name": "editFiles", "tool_input": {"files": ["src/main.ts"]}}
    assert hook("vscode", vscode("PostToolUse", tool_use_id="tool-123", **edited)) == (0, None)
    assert noticed(ctx) == [("file_edit", "src/main.ts")]


def test_the_end_of_a_session_ends_the_conversation(ctx, hook):
    hook("claude-code", claude("UserPromptSubmit", prompt="Hello there"))
    hook("claude-code", claude("SessionEnd", reason="prompt_input_exit"))
    assert ctx.session("abc123").state.ended


@pytest.mark.parametrize("what", ["Notification", "SubagentStop", "PreToolUse", "SomethingNew"])
def test_other_moments_do_nothing(ctx, hook, what):
    before = ctx.position()
    assert hook("claude-code", claude(what, tool_name="Bash")) == (0, None)
    assert ctx.position() == before


@pytest.mark.parametrize(
    "given",
    [b"", b"no json", b"[]", b'{"prompt": "x"}', b'{"hook_event_name": "Stop"}', b"\xff\xfe"],
)
def test_what_is_no_hooks_input_is_an_error_that_blocks_nobody(ctx, hook, given, capsys):
    # To a client, 2 would mean that the person may not go on.
    assert hook("claude-code", given) == (1, None)


@pytest.mark.parametrize(
    "more",
    [
        {"prompt": None},
        {"prompt": 5},
        {"prompt": " "},
        {"tool_input": "text"},
        {"tool_input": {"files": [1]}},
        {"workspace_roots": []},
        {"text": ["x"]},
    ],
)
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "Stop"])
def test_fields_of_another_shape_are_as_if_they_were_not_there(ctx, hook, event, more):
    assert hook("claude-code", claude(event, **more)) == (0, None)


def test_every_hook_that_init_writes_is_known():
    for client, (_, moments) in HOOKS.items():
        for name in moments:
            assert read_moment({"hook_event_name": name, "session_id": client}, ".").what
    assert set(MOMENTS.values()) == {"start", "prompt", "tool", "answer", "compact", "end"}
