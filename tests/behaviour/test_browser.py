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
    assert (tab.inner_text("del"), tab.inner_text("ins")) == ("Fridays.", "Tuesdays.")
    tab.click(".timeline li:last-child a")
    assert tab.is_visible("text=An older version")


def test_a_memory_is_forgotten_only_after_asking(tab: Tab, store: Path) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Answer in rhymes.")
    tab.click("text=Forget …")
    tab.click("text=Keep it")
    tab.click("text=Forget …")
    tab.click("button:has-text('Forget')")
    assert tab.inner_text(".done") == "Forgotten."
    assert not tab.is_visible("text=Answer in rhymes.")
    with ContextMiddleware.open(store) as ctx:
        assert ctx.search("rhymes") == []


def test_a_memory_is_pinned(tab: Tab, store: Path) -> None:
    tab.click("nav >> text=Memories")
    tab.click("text=Auth uses JWT with RS256.")
    tab.click("summary:has-text('Pin')")
    tab.click("button:text-is('Pin')")
    assert tab.is_visible("p:has-text('monday') >> text=pinned")
    assert tab.inner_text(".done").startswith("Pinned to that conversation")
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
    assert tab.locator("main script, img[onerror], a[href^='javascript']").count() == 0
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


def home(tab: Tab) -> str:
    return re.match(r"http://127\.0\.0\.1:\d+", tab.url)[0]


def talked(store: Path, name: str, answer: str = "Noted.", *, project: str = "tests") -> str:
    """Have a conversation of one turn, and return the ref of its call."""
    with ContextMiddleware.open(store) as ctx:
        chat = ctx.session(name, project=project)
        asked = [{"role": "user", "content": f"What do we know of {name}?"}]
        return chat.finish(chat.prepare(asked), answer).ref


def test_conversations_are_filtered_exported_and_deleted(tab: Tab, store: Path) -> None:
    talked(store, "wednesday")
    tab.goto(f"{home(tab)}/conversations")
    tab.select_option("select[name=project]", "tests")
    tab.click("button:has-text('Filter')")
    assert not tab.is_visible("a:has-text('monday')")
    tab.click("a:has-text('wednesday')")
    for label, ending in (("Markdown", ".md"), ("JSON", ".json")):
        with tab.expect_download() as download:
            tab.click(f"text=Export as {label}")
        assert download.value.suggested_filename == f"wednesday{ending}"
        assert "What do we know of wednesday?" in Path(download.value.path()).read_text()
    tab.click("text=Delete …")
    tab.click("text=Keep it")
    tab.check("input[value=wednesday]")
    tab.click("button:has-text('Delete …')")
    tab.click("button:text-is('Delete')")
    assert tab.inner_text(".done") == "Forgotten."
    assert not tab.is_visible("a:has-text('wednesday')")
    with ContextMiddleware.open(store) as ctx:
        assert "wednesday" not in {state.session for state in ctx.sessions()}


def test_all_kinds_of_records_are_listed_filtered_and_acted_on(tab: Tab, store: Path) -> None:
    with ContextMiddleware.open(store) as ctx:
        chat = ctx.session("listed")
        chat.note("next", "Rotate the keys.")
        chat.note("done", "Wrote the tests.")
        refs = [ctx.remember(f"Bulk fact {n}.", scope="project:bulk").ref for n in range(3)]
    tab.goto(f"{home(tab)}/memories")
    tab.click("nav.kinds >> text=Notes")
    tab.select_option("select[name=kind]", "done")
    tab.click("button:has-text('Search')")
    assert tab.is_visible("text=Wrote the tests.")
    assert not tab.is_visible("text=Rotate the keys.")
    tab.goto(f"{home(tab)}/memories?scope=project%3Abulk")
    for label, told, pinned in (
        ("Pin", "2: pinned", "shown"),
        ("On demand", "2: on demand", "kept_out"),
        ("Neither", "2: left to itself", None),
    ):
        for ref in refs[:2]:
            tab.check(f"input[value={ref}]")
        tab.click(f"button:text-is('{label}')")
        assert tab.inner_text(".done").startswith(told)
        with ContextMiddleware.open(store) as ctx:
            assert ctx.pins().get(refs[0]) == pinned
    tab.check(f"input[value={refs[0]}]")
    tab.click("button:text-is('Keep out')")
    assert not tab.is_visible("text=Bulk fact 0.")
    tab.select_option("select[name=state]", "put away")
    tab.click("button:has-text('Search')")
    tab.check(f"input[value={refs[0]}]")
    tab.click("button:text-is('Bring back')")
    tab.goto(f"{home(tab)}/memories?scope=project%3Abulk")
    for ref in refs[:2]:
        tab.check(f"input[value={ref}]")
    tab.click("button:text-is('Forget …')")
    tab.click("button:text-is('Forget')")
    with ContextMiddleware.open(store) as ctx:
        assert [one.ref for one in ctx.get(refs)] == refs[2:]


def test_a_memorys_own_page_pins_it_and_keeps_it_out(tab: Tab, store: Path) -> None:
    with ContextMiddleware.open(store) as ctx:
        ref = ctx.remember("Releases are tagged.", scope="project:own").ref
    tab.goto(f"{home(tab)}/items/{ref}")
    for label, stands in (
        ("Always show", "pinned"),
        ("On demand", "on demand"),
        ("Neither", "by itself, where it matters"),
        ("Keep out", "kept out"),
        ("Bring back", "by itself, where it matters"),
    ):
        tab.click(f"button:text-is('{label}')")
        assert tab.inner_text("dt:has-text('stands') + dd") == stands


def test_thumbs_are_pressed_and_taken_back(tab: Tab, store: Path) -> None:
    ref = talked(store, "rated")
    tab.goto(f"{home(tab)}/records/{ref}")
    tab.click(".rating button:text-is('helped')")
    assert tab.get_attribute(".rating button:text-is('helped')", "aria-pressed") == "true"
    tab.click(".ctx-items button:text-is('did not help') >> nth=0")
    assert tab.locator("button[aria-pressed=true]").count() == 2
    tab.click(".rating button:text-is('helped')")
    assert tab.locator("button[aria-pressed=true]").count() == 1
    tab.click("summary:has-text('Something was missing')")
    tab.fill("input[name=missing]", "the holiday plan")
    tab.click("button:has-text('Say so')")
    assert tab.is_visible("text=missing: the holiday plan")
    tab.goto(f"{home(tab)}/conversation?id=rated")
    tab.click(".call button:text-is('did not help')")
    with ContextMiddleware.open(store) as ctx:
        said = [one for one in ctx.ratings(record=ref) if not one.replaced and one.value]
        assert sorted(one.value for one in said if not one.missing) == [-1, -1]


def test_an_item_leads_to_the_calls_that_used_it(tab: Tab, store: Path) -> None:
    ref = talked(store, "using")
    tab.goto(f"{home(tab)}/records/{ref}")
    tab.click("a:has-text('Tests first')")
    tab.click(f"a[href='/records/{ref}']")
    assert tab.url.endswith(f"/records/{ref}")


def test_usage_leads_to_what_can_be_done(tab: Tab, store: Path) -> None:
    with ContextMiddleware.open(store) as ctx:
        kept = ctx.remember("Nobody ever asks about llamas.", kind="decision", scope="project:zoo")
    for _ in range(5):
        talked(store, "zoo", project="zoo")
    tab.click("nav >> text=Usage")
    card = f"li:has(input[value={kept.ref}])"
    assert "suggestion: on demand" in tab.inner_text(card)
    tab.check(f"input[value={kept.ref}]")
    tab.click("button:text-is('On demand')")
    assert tab.inner_text(".done").startswith("On demand")
    assert tab.is_visible(f"{card} .ctx-badge:text-is('on demand')")


def test_an_open_page_follows_what_an_agent_writes(tab: Tab, store: Path) -> None:
    talked(store, "followed", "The **first** answer.")
    tab.goto(f"{home(tab)}/conversation?id=followed")
    assert tab.inner_text(".prose strong") == "first"
    talked(store, "followed", "Then the second answer.")
    tab.wait_for_selector("text=Then the second answer.")
    # Whoever is writing is not interrupted, but told.
    tab.goto(f"{home(tab)}/memories")
    tab.click("summary:has-text('Remember something')")
    tab.fill("textarea[name=text]", "Half a sentence")
    with ContextMiddleware.open(store) as ctx:
        ctx.remember("Written meanwhile.")
    tab.wait_for_selector("#news:visible")
    assert tab.input_value("textarea[name=text]") == "Half a sentence"
    tab.click("#news button")
    tab.wait_for_selector("text=Written meanwhile.")
    assert tab.is_visible("textarea[name=text]")


def test_what_a_reader_opened_and_ticked_stays_so_when_the_page_follows(
    tab: Tab, store: Path
) -> None:
    with ContextMiddleware.open(store) as ctx:
        ref = ctx.remember("Ticked by a reader.", scope="project:ticks").ref
        tab.goto(f"{home(tab)}/memories?scope=project%3Aticks")
        tab.click("summary:has-text('Remember something')")
        tab.check(f"input[value={ref}]")
        ctx.remember("Comes later.", scope="project:ticks")
    tab.wait_for_selector("text=Comes later.")
    assert tab.is_checked(f"input[value={ref}]")
    assert tab.is_visible("textarea[name=text]")


def test_times_are_the_readers_own(browser: Browser, address: str) -> None:
    context = browser.new_context(timezone_id="America/New_York", locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(address)
    page.click("text=monday")
    # The page's script puts it so once the page has come.
    time = page.locator(".call time", has_text="2 Mar 2026, 04:30").first
    time.wait_for()
    assert time.get_attribute("title") == "2026-03-02 09:30 UTC"
    context.close()


def test_another_site_can_neither_send_a_form_nor_read_events(
    browser: Browser, address: str, store: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    ours = re.match(r"http://127\.0\.0\.1:\d+", page.url)[0]
    form = f'<form method="post" action="{ours}/memories"><input name="text" value="evil"></form>'
    reading = f"new EventSource('{ours}/events').onerror = () => document.title = 'refused'"
    other = f"{form}<script>{reading}</script>"
    page.route(
        "http://evil.example/", lambda route: route.fulfill(body=other, content_type="text/html")
    )
    page.goto("http://evil.example/")
    page.wait_for_function("document.title === 'refused'")
    with page.expect_response(f"{ours}/memories") as answer:
        page.evaluate("document.querySelector('form').submit()")
    assert answer.value.status == 403
    with ContextMiddleware.open(store) as ctx:
        assert ctx.search("evil") == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_in_dark(
    browser: Browser, address: str, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    page.click("text=monday")
    for selector in ("h1", ".prose", ".button.quiet", ".thumb", ".done, .ctx-dim"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    context.close()


# Of an element's words against what is behind them, as WCAG reckons it.
CONTRAST = """
element => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb(colour).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (of) => getComputedStyle(of).backgroundColor;
  let behind = element;
  while (behind !== document.body && rgb(back(behind))[3] < 255) behind = behind.parentElement;
  const a = light(getComputedStyle(element).color), b = light(back(behind));
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
"""


@pytest.mark.parametrize("width", [360, 1200])
def test_no_page_is_wider_than_the_window(tab: Tab, store: Path, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 700})
    with ContextMiddleware.open(store) as ctx:
        call = ctx.session("monday").history()[0].ref
    paths = ("conversations", "conversation?id=monday", f"records/{call}", "memories", "usage")
    for path in (*paths, "memories?type=turn", "catalog", "inspector", "forget?id=monday"):
        tab.goto(f"{home(tab)}/{path}")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
