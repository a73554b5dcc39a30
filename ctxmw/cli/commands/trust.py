"""`ctxmw trust`: let a file with settings that was found do more than what is harmless."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import NotFound
from .terminal import Terminal

if TYPE_CHECKING:
    from ...settings.trust import Trusted

HELP = "let the settings found in a folder say where memory goes, what is told, what is redacted"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", help="default: the current one")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="show what is trusted")
    what.add_argument("--remove", action="store_true", help="trust it no longer")


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Trust a file with what it sets now; when that changes, it has to be trusted again."""
    from ...settings.trust import Trusted

    trusted = Trusted.here()
    if chosen.list:
        rows = [(state, path) for path, state in trusted.states().items()]
        if rows:
            terminal.table(("state", "file"), rows)
        else:
            terminal.note("nothing is trusted")
    elif chosen.remove:
        path = _path(chosen)
        was = trusted.remove(path)
        terminal.line(f"no longer trusted: {path}" if was else f"it was not trusted: {path}")
    else:
        _trust(_path(chosen), trusted, terminal)


def _trust(path: Path, trusted: Trusted, terminal: Terminal) -> None:
    from ...settings.file import SettingsFile, content_of
    from ...settings.trust import needs_trust, told

    file = SettingsFile(path=path, content=content_of(path), found=True)
    asks = needs_trust(file.content)
    if not asks:
        terminal.line(f"{path} sets only what is harmless: it holds without being trusted")
        return
    trusted.add(file)
    terminal.line(f"trusted until it changes: {path}")
    for key, value in asks.items():
        terminal.line(f"  {told({key: value})}")


def _path(chosen: argparse.Namespace) -> Path:
    from ...settings.file import find_file

    given = Path(chosen.config or chosen.folder)
    here = given.parent.resolve() / given.name
    path = here if given.is_file() else find_file(given)
    if path is None:
        raise NotFound(f"there is no file with settings in {given.resolve()} or above.")
    return path
