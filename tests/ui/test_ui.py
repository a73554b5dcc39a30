"""The local page: who may see it, what it shows, and what it changes."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ctxmw import ContextMiddleware, MissingPackage, MissingUser
from ctxmw.errors import InvalidValue
from ctxmw.testing import FixedClock
from ctxmw.ui import app_for
from ctxmw.ui.server import serve
from tests.support.markup import Seen

TOKEN = "the-token"
HOSTILE = '<script>alert(1)</script></details></pre><a href="javascript:alert(2)">token</a>'


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        yield ctx


@dataclass
class Browser:
    """Somebody who opened the address with the token."""

    client: TestClient
    mark: str = field(default="")

    def get(self, path: str, status: int = 200) -> Seen:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        found = Seen(answer.text)
        assert found.broken == []
        self.mark = dict(re.findall(r'name="(mark)" value="(\w+)"', answer.text)).get("mark", "")
        return found

    def post(self, path: str, status: int = 200, **fields: str) -> Seen:
        answer = self.client.post(path, data={"mark": self.mark, **fields})
        assert answer.status_code == status, answer.text
        return Seen(answer.text)


def client(ctx: ContextMiddleware) -> TestClient:
    return TestClient(app_for(ctx, token=TOKEN), base_url="http://127.0.0.1:8000")


@pytest.fixture
def page(ctx: ContextMiddleware) -> Browser:
    browser = Browser(client(ctx))
    browser.get(f"/?token={TOKEN}")
    return browser


def ask(ctx: ContextMiddleware, words: str = "Where is the token?", reply: str = "Here.") -> str:
    """Have a turn in the conversation "s1" and return the ref of its record."""
    chat = ctx.session("s1", project="shop")
    return chat.finish(chat.prepare([{"role": "user", "content": words}]), reply).ref


# --- who may see it ---


def test_without_the_token_nothing_is_shown(ctx: ContextMiddleware) -> None:
    for path in ("/", "/memories", "/style.css", "/nothing", "/?token=wrong"):
        answer = client(ctx).get(path)
        assert answer.status_code == 403
        assert "Open the address" in answer.text


def test_the_token_becomes_a_cookie_and_leaves_the_address(ctx: ContextMiddleware) -> None:
    answer = client(ctx).get(f"/memories?q=x&token={TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/memories?q=x")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"ctxmw-8000={TOKEN}")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))


def test_a_foreign_name_for_this_machine_is_refused_even_with_the_token(page: Browser) -> None:
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
        answer = page.client.get("/memories", headers={"host": host})
        assert (answer.status_code, answer.text) == (403, "This page is for this machine only.")
    for host in ("localhost:8000", "[::1]:8000"):
        assert page.client.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 200


def test_every_answer_forbids_what_does_not_come_from_here(page: Browser) -> None:
    for path in ("/conversations", "/style.css", "/items/nothing", "/?token=wrong"):
        headers = page.client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
        )
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_a_form_of_another_site_changes_nothing(ctx: ContextMiddleware, page: Browser) -> None:
    kept = ctx.remember("Tabs.")
    for mark in ("", "0" * 64, TOKEN):
        page.mark = mark
        for path in ("/memories", f"/items/{kept.ref}/edit", f"/items/{kept.ref}/forget"):
            shown = page.post(path, status=400, text="Spaces.", kind="fact", scope="universal")
            assert "the form is not from this page" in shown.text
    assert [hit.ref for hit in ctx.search("tabs spaces")] == [kept.ref]


def test_a_form_that_is_too_large_or_no_text_is_refused(page: Browser) -> None:
    page.get("/memories")
    shown = page.post("/memories", status=400, text="x" * 1_000_000)
    assert "at most 1,000,000 are read" in shown.text
    answer = page.client.post("/memories", content=b"\xff\xfe")
    assert (answer.status_code, "not UTF-8" in answer.text) == (400, True)


def test_a_memory_of_many_users_has_to_be_opened_with_one() -> None:
    with ContextMiddleware.open(":memory:", user=None) as ctx:
        with pytest.raises(MissingUser, match="open it with the one to look at"):
            app_for(ctx, token=TOKEN)


def test_a_port_that_is_taken_is_an_error_that_says_so(ctx: ContextMiddleware) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InvalidValue, match=f"port {port} cannot be used"):
            serve(ctx, port=port, ready=print)
    with pytest.raises(InvalidValue, match="port 70000"):
        serve(ctx, port=70000, ready=print)


def test_without_its_packages_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.startswith("ctxmw.ui")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackage, match=r'pip install "ctxmw\[ui\]"'):
        import_module("ctxmw.ui")


# --- conversations ---


def test_conversations_are_listed_with_their_first_words(
    ctx: ContextMiddleware, page: Browser
) -> None:
    assert "There is no conversation yet" in page.get("/").text
    ask(ctx)
    shown = page.get("/conversations")
    assert "s1 shop 1 call · epoch 1 · 2026-03-02 09:30 UTC Where is the token?" in shown.text
    assert ("href", "/conversation?id=s1") in shown.attributes


def test_a_conversation_shows_each_turn_with_what_it_was_given(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ctx.remember("The token is in the vault.", kind="preference")
    ref = ask(ctx)
    chat = ctx.session("s1")
    chat.capture([{"role": "user", "content": "Said elsewhere."}])
    chat.finish(chat.prepare([{"role": "user", "content": "Later"}]), error="model timed out")
    chat.collect("linter", "x", "Variable x is unused.")
    shown = page.get("/conversation?id=s1")
    assert ("href", f"/records/{ref}") in shown.attributes
    assert "Where is the token? Here. 1 preference, " in shown.text
    assert "Said elsewhere. No context data available" in shown.text
    assert "failed model timed out" in shown.text
    assert "Waiting to be said: Variable x is unused." in shown.text


def test_a_conversation_with_a_strange_name_is_found(ctx: ContextMiddleware, page: Browser) -> None:
    name = "a/b?c=d&e#f%20 <g>"
    chat = ctx.session(name)
    chat.finish(chat.prepare([{"role": "user", "content": "Hello there"}]), "Hi.")
    listed = page.get("/conversations")
    address = next(value for _, value in listed.attributes if value.startswith("/conversation?"))
    assert "Hello there" in page.get(address).text


def test_long_conversations_come_in_pages(ctx: ContextMiddleware, page: Browser) -> None:
    said = [{"role": "user", "content": f"Message number {n}."} for n in range(50)]
    ctx.session("long").capture(said)
    first = page.get("/conversation?id=long").text
    second = page.get("/conversation?id=long&page=1").text
    assert ("number 49." in first, "number 9." in first, "earlier turns" in first) == (
        True,
        False,
        True,
    )
    assert ("number 9." in second, "later turns" in second) == (True, True)


def test_a_call_shows_its_record_and_the_prompt_as_sent(
    ctx: ContextMiddleware, page: Browser
) -> None:
    kept = ctx.remember("The token is in the vault.", kind="preference")
    rule = ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
    ref = ask(ctx)
    shown = page.get(f"/records/{ref}")
    links = {f"/items/{kept.ref}?call={ref}", f"/items/{rule.ref}?call={ref}"}
    assert links <= {value for _, value in shown.attributes}
    record = ctx.why(ref)
    assert record is not None
    assert record.stable in shown.texts
    assert "Where is the token?" in shown.texts
    assert record.summary() in shown.text


def test_an_item_of_a_call_shows_how_it_was_shown_there(
    ctx: ContextMiddleware, page: Browser
) -> None:
    kept = ctx.remember("The token is in the vault.", kind="preference")
    ref = ask(ctx)
    shown = page.get(f"/items/{kept.ref}?call={ref}")
    assert "- The token is in the vault.\n" in shown.texts
    assert "shown full came in always kind preference score 0.70" in shown.text


def test_what_is_no_record_has_a_page_by_its_call(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Always run the linter.")
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        chat = ctx.session("s1", cwd=tmp_path)
        ref = chat.finish(chat.prepare([{"role": "user", "content": "Hello"}]), "Hi.").ref
        page = Browser(client(ctx))
        page.get(f"/?token={TOKEN}")
        shown = page.get(f"/records/{ref}")
        assert "gone since" not in shown.text
        address = next(value for _, value in shown.attributes if value.startswith("/items/"))
        assert "Always run the linter." in page.get(address).text


def test_a_record_marks_what_was_forgotten_since(ctx: ContextMiddleware, page: Browser) -> None:
    kept = ctx.remember("The token is in the vault.", kind="preference")
    ref = ask(ctx)
    ctx.forget(kept.ref)
    shown = page.get(f"/records/{ref}").text
    assert "(forgotten) gone since" in shown
    assert "vault" not in shown


# --- memories ---


def test_memories_are_listed_by_kind_and_scope_and_searched(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ctx.remember("Tabs for indentation.", kind="preference")
    ctx.remember("Auth uses JWT.", kind="decision", scope="project:shop")
    assert "Memories 2" in page.get("/memories").text
    assert "Tabs" not in page.get("/memories?kind=decision").text
    assert "Tabs" not in page.get("/memories?scope=project%3Ashop").text
    found = page.get("/memories?q=indentation").text
    assert "Found 1" in found
    assert "match 1.00" in found
    assert "Nothing was found." in page.get("/memories?q=zebra").text
    assert "Nothing was found." in page.get("/memories?q=JWT&kind=preference").text


def test_many_memories_come_in_pages(ctx: ContextMiddleware, page: Browser) -> None:
    for n in range(60):
        ctx.remember(f"Fact number {n}.")
    shown = page.get("/memories")
    assert ("href", "/memories?q=&kind=&scope=&page=1") in shown.attributes
    assert "Fact number 5." not in shown.text
    assert "Fact number 5." in page.get("/memories?page=1").text
    assert "give a whole number" in page.get("/memories?page=x", status=400).text


def test_something_new_is_remembered(ctx: ContextMiddleware, page: Browser) -> None:
    page.get("/memories")
    shown = page.post("/memories", text="Line one.\r\nLine two.", kind="rule", scope="", key="")
    assert "Line one.\nLine two." in shown.texts
    [hit] = ctx.search("line")
    assert (hit.record.text, hit.record.kind) == ("Line one.\nLine two.", "rule")
    assert "is empty" in page.post("/memories", status=400, text=" ").text


def test_an_edit_takes_the_old_texts_place_and_keeps_the_history(
    ctx: ContextMiddleware, page: Browser
) -> None:
    old = ctx.remember("Tabs for indentation.", kind="preference")
    page.get(f"/items/{old.ref}")
    fields = {"text": "Spaces for indentation.", "kind": "rule", "scope": "language:python"}
    shown = page.post(f"/items/{old.ref}/edit", **fields)
    assert "History Spaces for indentation." in shown.text
    [new] = [hit.record for hit in ctx.search("indentation")]
    assert (new.kind, new.scope, new.supersedes) == ("rule", "language:python", old.ref)
    before = page.get(f"/items/{old.ref}").text
    assert "An older version" in before
    assert "Save" not in before


def test_a_memory_is_pinned_to_a_conversation_and_kept_out(
    ctx: ContextMiddleware, page: Browser
) -> None:
    kept = ctx.remember("The ledger is append-only.", kind="decision", scope="project:bank")
    ask(ctx)
    page.get(f"/items/{kept.ref}")
    assert "s1 pinned" in page.post(f"/items/{kept.ref}/pin", session="s1").text
    record = ctx.session("s1").peek([{"role": "user", "content": "Hello"}]).context
    assert [used.include for used in record.used if used.ref == kept.ref] == ["manual"]
    assert "s1 kept out" in page.post(f"/items/{kept.ref}/pin", session="s1", out="1").text
    assert ctx.session("s1").state.removed == (kept.ref,)


def test_forgetting_asks_first(ctx: ContextMiddleware, page: Browser) -> None:
    old = ctx.remember("Tabs.", kind="preference", key="indent")
    new = ctx.remember("Spaces.", kind="preference", key="indent")
    shown = page.get(f"/items/{new.ref}/forget")
    assert "with all 2 versions" in shown.text
    assert ctx.get([new.ref])
    page.post(f"/items/{new.ref}/forget")
    assert ctx.get([old.ref, new.ref]) == []
    assert "was forgotten" in page.get(f"/items/{new.ref}", status=404).text


def test_every_kind_of_record_has_a_page(ctx: ContextMiddleware, page: Browser) -> None:
    ref = ask(ctx)
    chat = ctx.session("s1")
    record = ctx.why(ref)
    assert record is not None
    refs = {
        chat.note("next", "Rotate the keys.").ref: "Rotate the keys.",
        chat.observe("Clock skew", kind="bugfix", files=["a.py"]).ref: "files a.py",
        chat.collect("linter", "x", "Variable x is unused.").ref: "Variable x is unused.",
        ctx.catalog.add("tool", "query", "Runs SQL.", server="db").ref: "db:query",
        ctx.catalog.add("rule", "Off", "Silent.", enabled=False).ref: "enabled False",
        record.reply: "Here.",
    }
    for one, words in refs.items():
        assert words in page.get(f"/items/{one}").text


# --- the rest ---


def test_the_catalog_lists_everything_and_how_it_comes_in(
    ctx: ContextMiddleware, page: Browser
) -> None:
    assert "The catalog is empty" in page.get("/catalog").text
    ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
    ctx.catalog.add("reference", "Guide", "Read me.", include="agent", enabled=False)
    shown = page.get("/catalog").text
    assert "Rules Tests first always Write the test before the code." in shown
    assert "References Guide agent switched off Read me." in shown


def test_the_inspector_shows_what_a_message_would_bring_and_writes_nothing(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ctx.remember("Auth uses JWT.", kind="decision", scope="project:shop")
    page.get("/inspector")
    head = ctx.store.head("local")
    asked = {"message": "How do we sign in?", "project": "shop", "language": "", "total": "900"}
    shown = page.post("/inspector", **asked, session="")
    assert "Auth uses JWT." in shown.text
    assert "/900 tokens" in shown.text
    assert "This would go along" in shown.text
    assert ctx.store.head("local") == head
    assert ctx.sessions() == []


def test_the_inspector_finds_code_and_writes_nothing(
    ctx: ContextMiddleware, page: Browser, tmp_path: Path
) -> None:
    source = 'def retry_upload(n):\n    """Try again <script>x</script>."""\n    return n\n'
    (tmp_path / "uploads.py").write_text(source)
    ctx.index_code(tmp_path, project="shop")
    page.get("/inspector")
    head = ctx.store.head("local")
    asked = {"message": "Where are uploads retried?", "find": "code"}
    shown = page.post("/inspector", **asked, project="shop", session="")
    assert "def retry_upload(n)" in shown.text
    assert "script" not in shown.tags
    assert "This would go along" not in shown.text
    assert ctx.store.head("local") == head
    other = page.post("/inspector", **asked, project="other", session="")
    assert "No code of other is indexed" in other.text


def test_the_inspector_goes_on_with_a_conversation(ctx: ContextMiddleware, page: Browser) -> None:
    ask(ctx, "Where is the token?", "In the vault.")
    page.get("/inspector")
    shown = page.post("/inspector", message="And the key?", session="s1")
    assert shown.texts.count("In the vault.") == 1
    assert len(ctx.session("s1").history()) == 1


def test_the_inspector_says_what_it_cannot_do(page: Browser) -> None:
    page.get("/inspector")
    assert (
        "the budget is 'many'"
        in page.post("/inspector", status=400, message="x", total="many").text
    )


def test_a_page_that_is_not_there_says_so(page: Browser) -> None:
    assert "there is no page '/nothing'" in page.get("/nothing", status=404).text
    assert "no conversation 'never'" in page.get("/conversation?id=never", status=404).text
    assert "names no id" in page.get("/conversation", status=404).text
    assert "there is no record 'c1'" in page.get("/records/c1", status=404).text


def test_hostile_text_stays_text_on_every_page(ctx: ContextMiddleware, page: Browser) -> None:
    kept = ctx.remember(HOSTILE, kind="decision", key=HOSTILE, source=HOSTILE)
    rule = ctx.catalog.add("rule", HOSTILE, HOSTILE)
    chat = ctx.session(HOSTILE, project=HOSTILE, language=HOSTILE)
    ref = chat.finish(chat.prepare([{"role": "user", "content": HOSTILE}]), HOSTILE).ref
    chat.finish(chat.prepare([{"role": "user", "content": "x"}]), error=HOSTILE)
    listed = page.get("/conversations")
    address = next(value for _, value in listed.attributes if value.startswith("/conversation?"))
    paths = [address, f"/records/{ref}", f"/items/{kept.ref}", f"/items/{rule.ref}", "/catalog"]
    paths += ["/memories", "/memories?q=token", f"/items/{kept.ref}/forget", "/inspector"]
    for shown in [listed, *map(page.get, paths)]:
        assert "script" not in shown.tags
        links = [value for name, value in shown.attributes if name in ("href", "src", "action")]
        assert all(link.startswith("/") for link in links)
        assert not {name for name, _ in shown.attributes if name.startswith("on")}


# --- forms that are too large ---


def pieces_read(ctx: ContextMiddleware, *headers: tuple[bytes, bytes]) -> tuple[int, int]:
    """Send a form that has no end; return how many pieces were read, and the status."""
    read, statuses = 0, []

    async def receive() -> dict[str, object]:
        nonlocal read
        read += 1
        assert read < 1_000, "it is read without an end"
        return {"type": "http.request", "body": b"x" * 100_000, "more_body": True}

    async def send(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/memories",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8000"), *headers],
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
    }
    asyncio.run(app_for(ctx, token=TOKEN)(scope, receive, send))
    return read, statuses[0]


def test_a_form_without_an_end_is_read_up_to_what_a_form_may_have(ctx):
    cookie = (b"cookie", f"ctxmw-8000={TOKEN}".encode())
    assert pieces_read(ctx, cookie) == (11, 400)
    assert pieces_read(ctx, cookie, (b"content-length", b"300000000")) == (0, 400)


def test_of_a_form_of_a_stranger_nothing_is_read(ctx):
    assert pieces_read(ctx) == (0, 403)
    assert pieces_read(ctx, (b"cookie", b"ctxmw-8000=guess")) == (0, 403)
