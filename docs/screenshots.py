"""Makes the pictures of the documentation: the local page and a notebook, in a real Chromium.

    make screenshots

The story is always the same: a fixed clock, fixed refs, scripted answers.
"""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path
from queue import Queue
from random import Random
from typing import TYPE_CHECKING

from nbconvert import HTMLExporter
from PIL import Image

from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from ctxmw.ui import serve
from tests.support.chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
WIDE, NARROW = (1120, 760), (390, 760)
SYSTEM = {"role": "system", "content": "You are a helpful coding assistant."}


def main() -> None:
    """Make every picture anew."""
    clock = FixedClock()
    with ContextMiddleware.open(":memory:", clock=clock, random=Random(7)) as ctx:
        tell(ctx, clock)
        with chromium() as browser:
            of_the_page(browser, served(ctx))
            of_a_notebook(browser)


def tell(ctx: ContextMiddleware, clock: FixedClock) -> None:
    """Fill a memory with two days of work."""
    shop = "project:shop"
    ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
    ctx.catalog.add("rule", "No secrets", "Never print keys or tokens.", include="manual")
    ctx.catalog.add(
        "reference", "Auth guide", "Login tokens are checked in AuthService.", include="agent"
    )
    ctx.catalog.add("tool", "query", "Runs a read-only SQL query.", server="database")
    ctx.remember("Answer in short sentences.", kind="preference")
    ctx.remember("mocks in tests where the real thing is cheap", kind="anti_pattern")
    ctx.remember("Prefer early returns.", kind="preference", scope="language:python")
    ctx.remember("Semicolons are required.", kind="rule", scope="language:javascript")
    ctx.remember("Auth uses JWT with RS256; keys rotate weekly.", kind="decision", scope=shop)
    ctx.remember("Prices are integers in cents.", kind="decision", scope=shop)
    ctx.remember("Deploys happen on Fridays.", kind="decision", scope=shop, key="deploys")
    monday = ctx.session("monday", project="shop", language="python")
    talk(monday, [("Where should AuthService check the token?", "In AuthService.verify().")])
    monday.note("done", "AuthService.verify() checks signature and expiry")
    monday.note("next", "refuse tokens whose key was rotated out")
    monday.observe(
        "Clock skew broke login on staging",
        kind="bugfix",
        text="Tokens were refused up to 40 s after issue. Leeway of 60 s added in verify().",
        files=["src/auth/service.py"],
    )
    monday.end("Moved the token check into AuthService.verify() and fixed clock skew.")
    clock.advance(hours=20)
    ctx.remember("Deploys happen on Tuesdays.", kind="decision", scope=shop, key="deploys")
    tuesday = ctx.session("tuesday", project="shop", language="python")
    tuesday.add("No secrets")
    turns = [
        ("How does AuthService check a login token?", "It checks signature and expiry."),
        ("Which clock skew do we allow on staging?", "60 seconds, since Monday's bugfix."),
        ("Which token checks are left?", "Tokens whose key was rotated out."),
    ]
    talk(tuesday, turns)


def talk(chat, turns) -> None:
    """Have a conversation whose answers are known."""
    history = [SYSTEM]
    for asked, answer in turns:
        history.append({"role": "user", "content": asked})
        chat.finish(chat.prepare(history), answer)
        history.append({"role": "assistant", "content": answer})


def served(ctx: ContextMiddleware) -> str:
    """Serve the page as long as this process lives, and return its address."""
    address: Queue[str] = Queue()
    threading.Thread(target=serve, args=[ctx], kwargs={"ready": address.put}, daemon=True).start()
    return address.get(timeout=60)


def of_the_page(browser: Browser, address: str) -> None:
    """Take the pictures of the local page: light and dark, wide and narrow."""
    for name, scheme, size in (
        ("", "light", WIDE),
        ("-dark", "dark", WIDE),
        ("-narrow", "light", NARROW),
    ):
        page = opened(browser, scheme, size)
        page.goto(address)
        page.click("text=tuesday")
        keep(page, f"page-conversation{name}")
        page.click(".turns > li:last-child .call a")
        keep(page, f"page-call{name}")
        page.click("nav >> text=Memories")
        keep(page, f"page-memories{name}")
        page.click("text=Deploys happen on Tuesdays.")
        page.click("summary:has-text('Edit')")
        keep(page, f"page-memory{name}")
        page.click("nav >> text=Usage")
        keep(page, f"page-usage{name}")
        page.click("nav >> text=Inspector")
        page.fill("textarea", "What is left to do about login tokens?")
        page.fill("input[name=project]", "shop")
        page.fill("input[name=total]", "500")
        page.click("button:has-text('Inspect')")
        page.evaluate("document.activeElement.blur()")
        keep(page, f"page-inspector{name}")
        page.context.close()


def of_a_notebook(browser: Browser) -> None:
    """Take the pictures of an executed notebook, in Jupyter's own themes."""
    for theme in ("light", "dark"):
        html, _ = HTMLExporter(theme=theme).from_filename(ROOT / "notebooks" / "04_budgets.ipynb")
        page = opened(browser, theme, (1000, 1500))
        # What Jupyter's template would fetch for formulas is not needed here.
        page.route("**/*", _only_local)
        page.set_content(html, wait_until="domcontentloaded")
        page.locator("h1").scroll_into_view_if_needed()
        keep(page, f"notebook-{theme}")
        page.context.close()


def opened(browser: Browser, scheme: str, size: tuple[int, int]) -> Page:
    """Return a page of that size and theme."""
    width, height = size
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, device_scale_factor=1.5)
    return context.new_page()


def keep(page: Page, name: str) -> None:
    """Write what the window shows as a small PNG."""
    picture = Image.open(BytesIO(page.screenshot()))
    small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(PICTURES / f"{name}.png", optimize=True)


def _only_local(route: Route) -> None:
    if route.request.url.startswith(("data:", "about:")):
        route.continue_()
    else:
        route.abort()


if __name__ == "__main__":
    main()
