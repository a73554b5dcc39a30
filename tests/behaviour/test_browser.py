"""The local page in a real Chromium, served by the real command."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from tests.support.chromium import chromium, why_not
from tests.support.processes import running
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no browser: {why_not()}")

HOSTILE = (
    "Keep <script>document.title='run'</script></details></pre> "
    '<img src="http://203.0.113.7/x.png" onerror="document.title=1"> '
    '<a href="javascript:document.title=2">click me</a> [md](javascript:alert(1))'
)

COMMAND = "import sys; from ctxmw.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ui") / "memory.db"
    with ContextMiddleware.open(path, clock=FixedClock()) as ctx:
        ctx.remember("Auth uses JWT with RS256.", kind="decision", scope="project:shop")
        ctx.remember("Deploys happen on Fridays.", kind="decision", scope="project:shop")
        ctx.remember("Answer in rhymes.", kind="preference")
        ctx.remember(HOSTILE, kind="preference")
        ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
        chat = ctx.session("monday", project="shop")
        prepared = chat.prepare([{"role": "user", "content": "How does Auth sign tokens?"}])
        chat.finish(prepared, "With RS256.")
    return path


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    command = [sys.executable, "-c", COMMAND, "ui", "--store", str(store)]
    with running(*command, stderr=subprocess.DEVNULL) as serving:
        yield serving.stdout.readline().strip()
        serving.send_signal(signal.SIGINT)
        assert serving.wait(PATIENCE) == 0


@dataclass
class Tab:
    """A page, and whatever it asked for or complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Tab]:
    context = browser.new_context()
    tab = Tab(context.new_page())
    tab.page.set_default_timeout(1000 * PATIENCE)
    tab.page.on("request", lambda request: tab.requests.append(request.url))
    tab.page.on("console", lambda message: tab.complaints.append(message.text))
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.page.goto(address)
    yield tab
    # Holds for whatever a test did: nothing was fetched from elsewhere, nothing was blocked.
    assert all(url.startswith("http://127.0.0.1:") for url in tab.requests)
    assert tab.complaints == []
    context.close()


def test_the_address_opens_the_conversations_and_does_not_keep_the_token(tab: Tab) -> None:
    assert tab.title() == "Conversations · ctxmw"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/conversations", tab.url)


def test_a_conversation_leads_to_the_call_and_the_call_to_its_items(tab: Tab) -> None:
    tab.click("text=monday")
    tab.click(".call a")
    assert tab.is_visible("text=The prompt as sent")
    assert "Auth uses JWT with RS256." in tab.inner_text("pre.ctx-ours >> nth=-1")
    tab.click("a:has-text('Tests first')")
    assert tab.inner_text("pre") == "Write the test before the code."


def test_the_style_sheet_is_applied_and_the_bars_are_drawn(tab: Tab) -> None:
    tab.click("text=monday")
    box = tab.locator("svg.ctx-bar").bounding_box()
    assert box["width"] > 300
    assert box["height"] < 30
    assert tab.locator(".ctx-lane-memory rect.ctx-room").first.evaluate(
        "rect => getComputedStyle(rect).fill"
    ) != ("rgb(0, 0, 0)")


def test_sections_fold_without_a_script(tab: Tab) -> None:
    tab.click("text=monday")
    tab.click(".call a")
    before = tab.is_visible("text=Stable block, in the system prompt")
    tab.click("summary:has-text('Text as sent')")
    assert (before, tab.is_visible("text=Stable block, in the system prompt")) == (False, True)


def test_memories_are_found(tab: Tab) -> None:
    tab.click("nav >> text=Memories")
    tab.fill("input[type=search]", "RS256")
    tab.press("input[type=search]", "Enter")
    assert tab.inner_text("h1").startswith("Found")
    assert tab.is_visible("text=Auth uses JWT with RS256.")
    assert not tab.is_visible("text=Answer in rhymes.")


def test_a_memory_is_edited_and_its_history_shown(tab: Tab) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Deploys happen on Fridays.")
    tab.click("summary:has-text('Edit')")
    tab.fill("textarea[name=text]", "Deploys happen on Tuesdays.")
    tab.click("button:has-text('Save')")
    assert tab.inner_text("pre") == "Deploys happen on Tuesdays."
    tab.click(".versions a:has-text('Fridays')")
    assert tab.is_visible("text=An older version")


def test_a_memory_is_forgotten_only_after_asking(tab: Tab, store: Path) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Answer in rhymes.")
    tab.click("text=Forget …")
    tab.click("text=Keep it")
    tab.click("text=Forget …")
    tab.click("button:has-text('Forget')")
    assert not tab.is_visible("text=Answer in rhymes.")
    with ContextMiddleware.open(store) as ctx:
        assert ctx.search("rhymes") == []


def test_a_memory_is_pinned(tab: Tab, store: Path) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Auth uses JWT with RS256.")
    tab.click("summary:has-text('Pin')")
    tab.click("button:has-text('Pin')")
    tab.click("summary:has-text('Pin')")
    assert tab.is_visible("text=pinned")
    with ContextMiddleware.open(store) as ctx:
        assert len(ctx.session("monday").state.added) == 1


def test_the_inspector_shows_what_a_message_would_bring(tab: Tab) -> None:
    tab.click("nav >> text=Inspector")
    tab.fill("textarea", "How are tokens signed?")
    tab.fill("input[name=project]", "shop")
    tab.click("button:has-text('Inspect')")
    assert tab.is_visible("section >> text=How does Auth sign tokens?")


def test_the_inspector_searches_code(tab: Tab, store: Path, tmp_path: Path) -> None:
    (tmp_path / "uploads.py").write_text("def retry_upload(n):\n    return n\n")
    with ContextMiddleware.open(store) as ctx:
        ctx.index_code(tmp_path, project="files")
    tab.click("nav >> text=Inspector")
    tab.fill("textarea", "Where are uploads retried?")
    tab.fill("input[name=project]", "files")
    tab.click("button:has-text('Search code')")
    assert "def retry_upload(n)" in tab.inner_text("section pre")


def test_a_hostile_memory_is_text_everywhere(tab: Tab) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Keep <script>")
    assert tab.inner_text("pre") == HOSTILE
    tab.click("text=Forget …")
    assert tab.inner_text("pre") == HOSTILE
    tab.click("nav >> text=Conversations")
    tab.click("text=monday")
    tab.click(".call a")
    assert tab.locator("script, img[onerror], a[href^='javascript']").count() == 0
    assert "ctxmw" in tab.title()


def test_pages_are_read_while_an_agent_writes(tab: Tab, store: Path) -> None:
    begun, done = threading.Event(), threading.Event()

    def agent() -> None:
        with ContextMiddleware.open(store) as ctx:
            chat, said = ctx.session("busy"), 0
            while not done.is_set():
                said += 1
                asked = [{"role": "user", "content": f"Question {said}?"}]
                chat.finish(chat.prepare(asked), f"Answer {said}.")
                begun.set()

    writing = threading.Thread(target=agent)
    writing.start()
    try:
        assert begun.wait(PATIENCE)
        for path in ("conversations", "conversation?id=busy", "memories", "conversation?id=busy"):
            tab.goto(f"{tab.url.rpartition('/')[0]}/{path}")
            tab.wait_for_selector("h1")
            assert "did not work" not in tab.inner_text("h1")
    finally:
        done.set()
        writing.join()
    tab.reload()
    # Which page the first answer is on depends on how many were written meanwhile.
    assert re.search(r"Answer \d+\.", tab.inner_text("main"))


@pytest.mark.parametrize("width", [360, 1200])
def test_no_page_is_wider_than_the_window(tab: Tab, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 700})
    home = tab.url.rpartition("/")[0]
    for path in ("conversations", "conversation?id=monday", "memories", "catalog", "inspector"):
        tab.goto(f"{home}/{path}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
