"""Rows to test stores with."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

from ctxmw.protocols import Row
from tests.support.waiting import PATIENCE

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def row(ref: str = "m1", text: str = "", **values: Any) -> Row:
    """Return a row that says the text, found by its words."""
    return Row(
        **{"user": "ada", "ref": ref, "type": "memory", "at": NOW, "body": text}
        | {"search_text": text}
        | values
    )


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a process that runs this code; it has `row`, `Find` and `SqliteStore`."""
    begin = (
        "import os, sys, time; from tests.support.rows import NOW, row\n"
        "from ctxmw.errors import StoreError; from ctxmw.protocols import Find\n"
        "from ctxmw.store.sqlite.store import SqliteStore\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", begin + code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Return what the process printed; it must end well."""
    printed, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, printed
    return printed
