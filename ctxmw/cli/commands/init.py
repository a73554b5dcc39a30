"""`ctxmw init`: a commented file with settings, and the entry for an MCP client."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ...errors import InvalidValue
from .terminal import Terminal

HELP = "write a commented ctxmw.toml, and on request the entry for an MCP client"

CLIENTS: dict[str, tuple[str, str]] = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "roo": (".roo/mcp.json", "mcpServers"),
}
"""Clients that read a file of the project: which one, and under which key."""
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
        help="add the memory to this MCP client instead; may be given again",
    )


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
    if name not in CLIENTS or chosen.print:
        terminal.line(f"put this into the settings of {name}:")
        terminal.raw(_entry_text(name))
        return
    file, key = CLIENTS[name]
    path = Path.cwd() / file
    content = _content(path)
    servers = content.setdefault(key, {})
    if not isinstance(servers, dict) or ("ctxmw" in servers and not chosen.force):
        raise InvalidValue(f"{path} has an entry for ctxmw already: change it, or say --force.")
    servers["ctxmw"] = _entry(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    terminal.line(f"added ctxmw to {path}")


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


def _entry(name: str) -> dict[str, Any]:
    command = [shutil.which("ctxmw")] if shutil.which("ctxmw") else [sys.executable, "-m", "ctxmw"]
    entry = {"command": command[0], "args": [*command[1:], "mcp"]}
    return {"type": "stdio", **entry} if name == "vscode" else entry


def _entry_text(name: str) -> str:
    entry = _entry(name)
    if name == "codex":
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        return "\n".join(["[mcp_servers.ctxmw]", *lines]) + "\n"
    key = "context_servers" if name == "zed" else CLIENTS.get(name, ("", "mcpServers"))[1]
    return json.dumps({key: {"ctxmw": entry}}, indent=2) + "\n"
