"""`ctxmw doctor`: whether everything is well."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from . import DONE, FAILED
from .terminal import Style, Terminal

if TYPE_CHECKING:
    from ..doctor import Finding, Level

HELP = "check the store, search, tokens, packages and settings; say how to fix what is wrong"
_MARKS: dict[Level, tuple[str, Style]] = {
    "good": ("ok  ", "green"),
    "note": ("note", "yellow"),
    "bad": ("BAD ", "red"),
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mend", action="store_true", help="make the full-text index anew first")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print what was found; it fails when something is bad."""
    from ..doctor import look_at_machine, look_at_settings

    settings = look_at_settings(Path.cwd(), chosen.config)
    found = [settings]
    if settings.level != "bad":
        found += _look_at_store(chosen)
    found += look_at_machine()
    if chosen.json:
        terminal.json([asdict(finding) for finding in found])
    for finding in () if chosen.json else found:
        mark, style = _MARKS[finding.level]
        terminal.styled(f"{mark} {finding.about}: {finding.says}", style)
        if finding.fix:
            terminal.line(f"     to fix it: {finding.fix}")
    return FAILED if any(finding.level == "bad" for finding in found) else DONE


def _look_at_store(chosen: argparse.Namespace) -> Iterable[Finding]:
    from ...store.open import POSTGRES
    from ..doctor import look_at_store, mend_search
    from .memory import settings_of, store_path

    address = settings_of(chosen).store or ""
    if address.startswith(POSTGRES):
        from ..postgres_doctor import look_at_postgres

        return look_at_postgres(address)
    if chosen.mend:
        mend_search(store_path(chosen))
    return look_at_store(store_path(chosen))
