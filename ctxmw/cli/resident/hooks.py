"""Hooks of coding assistants: what a client tells of itself, and what it is given for it.

Claude Code, Gemini, Cursor and VS Code run a command at certain moments, with JSON on its input.
They spell it in their own ways; here it is read once, acted on, and answered as each expects it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...errors import InvalidValue
from ...runtime.lru import LruCache
from ...settings.settings import Settings

if TYPE_CHECKING:
    from ...conversation.conversation import Prepared
    from ...middleware import ContextMiddleware
    from ...session import Session

Client = Literal["claude-code", "cursor", "gemini", "vscode"]
What = Literal["start", "prompt", "tool", "answer", "compact", "end"]
MOMENTS: dict[str, What] = {
    "sessionstart": "start",
    "userpromptsubmit": "prompt",
    "beforesubmitprompt": "prompt",
    "beforeagent": "prompt",
    "posttooluse": "tool",
    "aftertool": "tool",
    "afterfileedit": "tool",
    "precompact": "compact",
    "precompress": "compact",
    "stop": "answer",
    "afteragent": "answer",
    "afteragentresponse": "answer",
    "sessionend": "end",
}
"""The moments that mean something here, by the names that clients give them."""
_AT_THE_START = frozenset({"cursor", "vscode"})
"""Clients that take text when a conversation begins, and none beside a prompt."""
_FILES = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_READING = frozenset({"read", "read_file", "readfile"})
_OPEN_CALLS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a client tells, in one shape."""

    what: What | None
    """None: a moment that nothing is done at."""
    name: str
    """As the client spells it."""
    session: str
    folder: Path
    text: str = ""
    """What the person said, or what was answered."""
    file: str = ""
    reads: bool = False
    anew: bool = False
    """Whether what was shown before is out of the client's view."""


def read_moment(told: Mapping[str, Any], folder: str) -> Moment:
    """Return what a client tells; raise when it says neither which moment nor which session."""
    name = _text(told, "hook_event_name", "hookEventName")
    session = _text(told, "session_id", "sessionId", "conversation_id")
    if not name or not session:
        raise InvalidValue(
            "the input is no hook's: it must be JSON with hook_event_name and session_id, as the "
            "client sends it."
        )
    what = MOMENTS.get(name.casefold().replace("_", ""))
    roots = told.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else folder
    said = (
        ("prompt",) if what == "prompt" else ("last_assistant_message", "prompt_response", "text")
    )
    given = told.get("tool_input")
    about = {**told, **(given if isinstance(given, dict) else {})}
    return Moment(
        what=what,
        name=name,
        session=session,
        folder=Path(_text(told, "cwd") or root),
        text=_text(told, *said) if what in ("prompt", "answer") else "",
        file=_file(about) if what == "tool" else "",
        reads=_text(told, "tool_name").casefold() in _READING,
        anew=_text(told, "source") in ("compact", "clear"),
    )


class Hooks:
    """Acts on what clients tell, for a memory that is open."""

    def __init__(self, ctx: ContextMiddleware) -> None:
        self._ctx = ctx
        # The call that a prompt began is finished when its answer is told.
        self._calls: LruCache[str, Prepared] = LruCache(_OPEN_CALLS)

    def answer(self, moment: Moment, client: Client, settings: Settings) -> str:
        """Do what the moment asks for; return what the client reads, "" when it need not."""
        chat = self._ctx.session(
            moment.session,
            cwd=moment.folder,
            project=settings.project,
            language=settings.language,
        )
        return _reply(moment, client, self._act(chat, moment, client))

    def _act(self, chat: Session, moment: Moment, client: Client) -> str:
        match moment.what:
            case "start":
                return self._begin(chat, moment, client)
            case "prompt" if moment.text.strip():
                return self._prompt(chat, moment, client)
            case "tool" if moment.file:
                self._notice(chat, moment)
            case "compact" if chat.state.epoch:
                chat.refresh()
            case "answer" if moment.text.strip():
                self._finish(chat, moment)
            case "end" if chat.state.epoch:
                chat.end()
        return ""

    def _begin(self, chat: Session, moment: Moment, client: Client) -> str:
        if moment.anew and chat.state.epoch:
            chat.refresh()
        if client not in _AT_THE_START:
            return ""
        return chat.peek([{"role": "user", "content": "Hello"}]).context.stable

    def _prompt(self, chat: Session, moment: Moment, client: Client) -> str:
        before = chat.state.epoch
        prepared = chat.prepare([{"role": "user", "content": moment.text}])
        self._calls.put(chat.id, prepared)
        context = prepared.context
        if client in _AT_THE_START:
            return ""
        return context.text if context.epoch != before else context.part

    def _notice(self, chat: Session, moment: Moment) -> None:
        file = Path(moment.file)
        if file.is_absolute() and file.is_relative_to(moment.folder):
            file = file.relative_to(moment.folder)
        kind = "file_open" if moment.reads else "file_edit"
        project = chat.state.project or self._ctx.project_at(moment.folder)
        self._ctx.notice({"type": kind, "path": file.as_posix()}, project=project)

    def _finish(self, chat: Session, moment: Moment) -> None:
        prepared = self._calls.get(chat.id)
        if prepared is not None:
            chat.finish(prepared, moment.text)
            return
        # Another process heard the question: what was said last is what is answered.
        asked = [turn.asked.text for turn in chat.transcript()[-1:] if turn.asked]
        said = [{"role": "user", "content": text} for text in asked]
        chat.capture([*said, {"role": "assistant", "content": moment.text}] if said else [])


def _reply(moment: Moment, client: Client, context: str) -> str:
    """Return the JSON that a client reads; nothing where silence says the same."""
    if client == "cursor":
        told: dict[str, Any] = {"continue": True} if moment.what == "prompt" else {}
        told |= {"additional_context": context} if context else {}
        return json.dumps(told)
    if not context:
        return ""
    added = {"hookEventName": moment.name, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": added}, ensure_ascii=False)


def _text(told: Mapping[str, Any], *names: str) -> str:
    return next((told[name] for name in names if isinstance(told.get(name), str)), "")


def _file(told: Mapping[str, Any]) -> str:
    files = told.get("files")
    first = files[0] if isinstance(files, list) and files and isinstance(files[0], str) else ""
    return _text(told, *_FILES) or first
