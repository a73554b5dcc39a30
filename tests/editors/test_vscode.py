"""The extension in a real VS Code: what a person sees and clicks, and what the memory has then."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.values.records import Memory
from ctxmw.workspace.activity import NoticedActivity
from tests.support import chromium, code_server
from tests.support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

missing = code_server.why_not() or chromium.why_not()
pytestmark = pytest.mark.skipif(bool(missing), reason=missing)

COMMAND = Path(sys.executable).with_name("ctxmw")
RULE = "Tokens are checked before anything else is read."
CODE = f"""/** Checks tokens at the door. */
export class AuthService {{
  /** Say whether the token is good. */
  verify(token) {{
    return Boolean(token); //
  }}
}}

// {RULE}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "shop"
    (project / "src").mkdir(parents=True)
    (project / "src" / "auth.js").write_text(CODE)
    (project / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    return project


@contextmanager
def opened(folder: Path, home: Path, command: object) -> Iterator[tuple[Page, code_server.Editor]]:
    home.mkdir()
    with (
        code_server.editing(folder, home, command=str(command)) as editor,
        chromium.chromium() as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(editor.url)
        yield page, editor
        page.close()


def activities(memory: ContextMiddleware) -> dict[tuple[str, str], tuple[str, ...]]:
    rows = memory.store.query("local", Find(types=("activity",)))
    done = [NoticedActivity.model_validate_json(row.body).activity for row in rows]
    return {(one.type, one.path): one.symbols for one in done}


def row(page: Page, title: str) -> Locator:
    return page.locator(".pane-body .monaco-list-row", has_text=title)


def run_command(page: Page, name: str) -> None:
    page.keyboard.press("F1")
    page.locator(".quick-input-widget input").first.fill(f">{name}")
    page.locator(".quick-input-list .monaco-list-row", has_text=name).first.click()


def press(row: Locator, button: str) -> None:
    row.hover()
    row.get_by_role("button", name=button, exact=True).click()


def test_a_person_sees_what_is_given_and_has_a_say_in_it(folder, tmp_path):
    with opened(folder, tmp_path / "home", COMMAND) as (page, editor):
        page.locator(".statusbar-item", has_text="0 tokens").wait_for()
        with ContextMiddleware.open(editor.memory) as memory:
            until(lambda: ("session_start", "") in activities(memory))
            works_on_a_file(page, memory)
            page.locator(".composite-bar .action-label[aria-label^='ctxmw']").first.click()
            row(page, "AuthService.verify").get_by_text("tokens").wait_for()
            rule = remembers_a_rule(page, memory)
            assert (rule.text, rule.source, rule.scope) == (RULE, "user", "project:shop")
            rates_and_pins(page, memory, rule)
            asks_why_and_searches(page)
            run_command(page, "MCP: List Servers")
            page.locator(".quick-input-list .monaco-list-row", has_text="ctxmw").wait_for()
            page.keyboard.press("Escape")
            press(row(page, RULE[:30]), "Forget")
            page.locator(".monaco-dialog-box").get_by_role("button", name="Forget").click()
            until(lambda: memory.memories() == [], "forgetting")
            row(page, RULE[:30]).wait_for(state="detached")


def works_on_a_file(page: Page, memory: ContextMiddleware) -> None:
    page.locator(".explorer-folders-view .monaco-list-row", has_text="src").first.click()
    page.locator(".monaco-list-row", has_text="auth.js").first.dblclick()
    until(lambda: ("file_open", "src/auth.js") in activities(memory))
    page.locator(".editor-instance .view-line", has_text="Boolean(token)").click()
    page.keyboard.press("End")

    def is_told() -> bool:
        page.keyboard.type("x")
        page.wait_for_timeout(500)  # its debounce; until JavaScript is understood, no name comes
        return activities(memory).get(("file_edit", "src/auth.js")) == ("verify",)

    until(is_told, "an edit with the name of what changed")
    page.keyboard.press("Control+s")
    until(lambda: ("file_save", "src/auth.js") in activities(memory))


def remembers_a_rule(page: Page, memory: ContextMiddleware) -> Memory:
    page.locator(".editor-instance .view-line", has_text=RULE).click(click_count=3)
    run_command(page, "ctxmw: Remember selection")
    page.locator(".quick-input-list .monaco-list-row", has_text="rule").first.click()
    until(lambda: bool(memory.memories(kind="rule")), "a rule that was remembered")
    (rule,) = memory.memories(kind="rule")
    row(page, RULE[:30]).wait_for()
    return rule


def rates_and_pins(page: Page, memory: ContextMiddleware, rule: Memory) -> None:
    press(row(page, RULE[:30]), "This helps")
    until(lambda: bool(memory.ratings(ref=rule.ref)), "a rating")
    assert memory.ratings(ref=rule.ref)[0].value == 1
    row(page, "helped").wait_for()
    press(row(page, RULE[:30]), "Pin")
    until(lambda: memory.pins() == {rule.ref: "shown"}, "a pin")
    row(page, "pinned").wait_for()
    if pictures := os.environ.get("CTXMW_PICTURES"):
        row(page, RULE[:30]).locator(".monaco-tl-twistie").click()
        row(page, "score").first.wait_for()
        edge = page.locator(".part.sidebar").bounding_box()
        page.mouse.move(edge["x"] + edge["width"] + 1, 500)
        page.mouse.down()
        page.mouse.move(640, 500, steps=5)
        page.mouse.up()
        row(page, "src/auth.js").last.hover()
        page.screenshot(
            path=Path(pictures) / "editor.png",
            clip={"x": 0, "y": 36, "width": 1180, "height": 330},
        )


def asks_why_and_searches(page: Page) -> None:
    row(page, RULE[:30]).click(button="right")
    page.get_by_role("menuitem", name="Why was this here?").click()
    page.get_by_text("You pinned it.").wait_for()
    run_command(page, "ctxmw: Search memory")
    page.locator(".quick-input-widget input").first.fill("checked tokens")
    page.locator(".quick-input-list .monaco-list-row", has_text=RULE[:30]).wait_for()
    page.keyboard.press("Escape")


def test_without_ctxmw_it_says_how_to_install_it(folder, tmp_path):
    with opened(folder, tmp_path / "home", tmp_path / "nowhere") as (page, _):
        page.get_by_text('pip install "ctxmw[mcp,code]"').first.wait_for()
        page.locator(".statusbar-item", has_text="not installed").wait_for()
