"""A real Chromium for tests and screenshots: the one of the system, and nothing downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# As root in a container there is no sandbox; the rest keeps it from calling home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def why_not() -> str:
    """Return why there is no browser here; "" when there is one."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is not installed"
    return "" if _path() else f"none of {', '.join(NAMES)} is installed (CTXMW_CHROMIUM names one)"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Have a browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_path(), args=list(FLAGS), timeout=1000 * PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


def _path() -> str | None:
    return os.environ.get("CTXMW_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
