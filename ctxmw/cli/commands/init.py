"""`ctxmw init`: a commented file with settings, and what an MCP client needs: entry and hooks.

Files of a project are committed and shared: they name `ctxmw`, and no path of this machine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ...errors import InvalidValue
from .terminal import Terminal

HELP = "write a commented ctxmw.toml, or set up a coding assistant with its hooks"

CLIENTS: dict[str, tuple[str, str]] = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "roo": (".roo/mcp.json", "mcpServers"),
}
"""Clients that read a file of the project: which one, and under which key."""
HOOKS: dict[str, tuple[str, dict[str, str]]] = {
    "claude-code": (
        ".claude/settings.json",
        {
            "SessionStart": "",
            "UserPromptSubmit": "",
            "PostToolUse": "Edit|Write|MultiEdit|NotebookEdit|Read",
            "PreCompact": "",
            "Stop": "",
            "SessionEnd": "",
        },
    ),
    "gemini": (
        ".gemini/settings.json",
        {
            "SessionStart": "",
            "BeforeAgent": "",
            "AfterTool": "write_file|replace|read_file",
            "PreCompress": "",
            "AfterAgent": "",
            "SessionEnd": "",
        },
    ),
    "vscode": (
        ".github/hooks/ctxmw.json",
        dict.fromkeys(
            ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"), ""
        ),
    ),
    "cursor": (
        ".cursor/hooks.json",
        dict.fromkeys(
            (
                "sessionStart",
                "beforeSubmitPrompt",
                "afterFileEdit",
                "preCompact",
                "afterAgentResponse",
                "sessionEnd",
            ),
            "",
        ),
    ),
}
"""Clients with hooks: their file, and the moments to be told of, each with the tools it is for."""
ELSEWHERE = ("claude-desktop", "codex", "windsurf", "zed")
"""Clients whose file is the user's: their entry is printed, to be put there by hand."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="print instead of writing")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    parser.add_argument(
        "--client",
        action="append",
        default=[],
        choices=sorted((*CLIENTS, *ELSEWHERE)),
        help="add the memory to this coding assistant instead; may be given again",
    )
    parser.add_argument("--no-hooks", action="store_true", help="the MCP entry alone")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Write the file, or the entries; what is there already stays as it is."""
    if chosen.client:
        for name in chosen.client:
            _add_to(name, chosen, terminal)
        return
    from ...settings.file import FILE
    from ...settings.reference import commented

    path = Path.cwd() / FILE
    if chosen.print:
        terminal.raw(commented())
        return
    if path.exists() and not chosen.force:
        raise InvalidValue(f"{path} is there already: change it, or say --force.")
    path.write_text(commented(), "utf-8")
    terminal.line(f"wrote {path}: every setting in it is a comment until you change it")


def _add_to(name: str, chosen: argparse.Namespace, terminal: Terminal) -> None:
    if name not in CLIENTS:
        terminal.line(f"put this into the settings of {name}:")
        terminal.raw(_entry_text(name))
        return
    changed = [_with_entry(name, chosen.force)]
    if name in HOOKS and not chosen.no_hooks:
        changed = _merged([*changed, _with_hooks(name, chosen.force)])
    for path, content in changed:
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        if chosen.print:
            terminal.line(f"put this into {path.relative_to(Path.cwd())}:")
            terminal.raw(text)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        terminal.line(f"added ctxmw to {path}")
    if not shutil.which("ctxmw"):
        terminal.note("ctxmw is not on the PATH: the client finds it once it is.")


Changed = tuple[Path, dict[str, Any]]
"""A file, and what it is to hold."""


def _with_entry(name: str, force: bool) -> Changed:
    file, key = CLIENTS[name]
    path = Path.cwd() / file
    content = _content(path)
    servers = content.setdefault(key, {})
    if not isinstance(servers, dict) or ("ctxmw" in servers and not force):
        raise InvalidValue(f"{path} has an entry for ctxmw already: change it, or say --force.")
    servers["ctxmw"] = _entry(name, "ctxmw")
    return path, content


def _with_hooks(name: str, force: bool) -> Changed:
    """Return the client's hooks with ours at the end of each; what is there stays."""
    file, moments = HOOKS[name]
    path = Path.cwd() / file
    content = _content(path)
    if name == "cursor":
        content.setdefault("version", 1)
    hooks = content.setdefault("hooks", {})
    for moment, tools in moments.items():
        there = hooks.setdefault(moment, []) if isinstance(hooks, dict) else None
        if not isinstance(there, list):
            raise InvalidValue(f"{path} has hooks of another shape: it was left as it is.")
        others = [one for one in there if _HOOK not in json.dumps(one)]
        if len(others) < len(there) and not force:
            raise InvalidValue(f"{path} has hooks of ctxmw already: change it, or say --force.")
        hooks[moment] = [*others, _hook(name, tools)]
    return path, content


_HOOK = "ctxmw hook"


def _hook(name: str, tools: str) -> dict[str, Any]:
    command = {"command": f"{_HOOK} {name}"}
    if name == "cursor":
        return command
    command = {"type": "command", **command}
    if name == "vscode":
        return command
    return {**({"matcher": tools} if tools else {}), "hooks": [command]}


def _merged(changed: list[Changed]) -> list[Changed]:
    """Return each file once: of a client that keeps both in one, what the second adds is hooks."""
    (path, content), (other, hooks) = changed
    return [(path, {**content, "hooks": hooks["hooks"]})] if path == other else changed


def _content(path: Path) -> dict[str, Any]:
    """Return what a client's file holds; one that cannot be read is left alone."""
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValue(
            f"{path} cannot be read as JSON ({error}): it was left as it is. Print the entry with "
            "--print and add it by hand."
        ) from error
    if not isinstance(content, dict):
        raise InvalidValue(f"{path} holds no JSON object: it was left as it is.")
    return content


def _entry(name: str, *command: str) -> dict[str, Any]:
    entry = {"command": command[0], "args": [*command[1:], "mcp"]}
    return {"type": "stdio", **entry} if name == "vscode" else entry


def _entry_text(name: str) -> str:
    # The user's own file, of a program that may know no PATH: there the whole path is right.
    found = shutil.which("ctxmw")
    entry = _entry(name, *((found,) if found else (sys.executable, "-m", "ctxmw")))
    if name == "codex":
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        return "\n".join(["[mcp_servers.ctxmw]", *lines]) + "\n"
    key = "context_servers" if name == "zed" else "mcpServers"
    return json.dumps({key: {"ctxmw": entry}}, indent=2) + "\n"
