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
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from ctxmw import ContextMiddleware, MissingPackage, MissingUser
from ctxmw.errors import InvalidValue
from ctxmw.testing import FixedClock
from ctxmw.ui import app_for
from ctxmw.ui.live import News
from ctxmw.ui.parts.markdown import markdown_html
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
        paths = ("/memories", f"/items/{kept.ref}/edit", "/forget", "/ticked", "/records/c1/rate")
        for path in paths:
            fields = {"text": "Spaces.", "kind": "fact", "scope": "universal", "ref": kept.ref}
            shown = page.post(path, status=400, **fields)
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
    assert "Where is the token? assistant 2026-03-02 09:30 UTC Here. 1 preference, " in shown.text
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
    second = page.get("/conversation?id=long&page=2").text
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
    assert "(forgotten) · gone since" in shown
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
    assert ("href", "/memories?q=&type=&kind=&scope=&state=&page=1") in shown.attributes
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
    assert "as it reads now Tabs Spaces for indentation." in shown.text
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
    shown = page.get(f"/forget?ref={new.ref}")
    assert "with all 2 versions" in shown.text
    assert ctx.get([new.ref])
    page.post("/forget", ref=new.ref)
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


# --- whole turns ---


def test_turns_are_shown_whole_with_markdown_and_tool_calls(
    ctx: ContextMiddleware, page: Browser
) -> None:
    called = {"id": "1", "name": "query", "args": {"sql": "SELECT 1"}}
    ctx.session("tools").capture(
        [
            {"role": "user", "content": "Which **orders** are open? " + "word " * 100 + "end."},
            {"role": "assistant", "content": "", "tool_calls": [called]},
            {"role": "tool", "content": "17 rows", "tool_call_id": "1"},
            {"role": "assistant", "content": "# Open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- `x`"},
        ]
    )
    shown = page.get("/conversation?id=tools")
    assert {"strong", "table", "li", "code"} <= set(shown.tags)
    assert "word end." in shown.text
    assert 'calls query { "sql": "SELECT 1" }' in shown.text
    assert "What the tool answered 17 rows" in shown.text


@given(st.text(alphabet="<>[]()!&#`*_\"'\\/:=javscriptonerhm \n\t", max_size=200))
def test_markdown_holds_no_link_picture_or_markup_of_its_author(text: str) -> None:
    shown = Seen(markdown_html(text))
    assert shown.broken == []
    assert not {"a", "img", "script", "style", "iframe", "form", "input"} & set(shown.tags)
    assert {name for name, _ in shown.attributes} <= {"class", "start", "style"}


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "[x](javascript:alert(1))",
        "![x](http://evil.example/x.png)",
        "<http://evil.example>",
        "[x]: javascript:alert(1)\n\n[x]",
        "```<img src=x onerror=alert(1)>\ncode\n```",
        "&#60;script&#62;",
    ],
)
def test_what_markdown_would_make_an_address_or_markup_of_stays_text(text: str) -> None:
    shown = Seen(markdown_html(text))
    assert not {"a", "img", "script"} & set(shown.tags)
    assert not {"href", "src", "onerror"} & {name for name, _ in shown.attributes}


def test_a_text_without_an_end_is_shown_as_it_is() -> None:
    text = "*" * 30_000
    assert Seen(markdown_html(text)).texts == [text]


# --- a conversation as a whole ---


def test_conversations_are_filtered_by_words_and_project(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ask(ctx)
    other = ctx.session("other", project="bank")
    other.finish(other.prepare([{"role": "user", "content": "Ledger sums."}]), "Right.")
    for address, names in {
        "/conversations": {"s1", "other"},
        "/conversations?project=bank": {"other"},
        "/conversations?q=ledger": {"other"},
        "/conversations?q=S1": {"s1"},
        "/conversations?q=zebra": set(),
    }.items():
        listed = page.get(address)
        found = {value for name, value in listed.attributes if name == "value"} & {"s1", "other"}
        assert found == names, address
    assert "No conversation fits." in page.get("/conversations?q=zebra").text


def test_a_conversation_is_deleted_after_asking(ctx: ContextMiddleware, page: Browser) -> None:
    ask(ctx, "I live in Porto.")
    kept = ctx.remember("Written by hand.")
    page.get("/conversations")
    asked = page.post("/ticked", id="s1", do="forget")
    assert "Delete this conversation?" in asked.text
    assert ctx.sessions() != []
    assert "Forgotten." in page.post("/forget", id="s1").text
    assert ctx.sessions() == []
    assert ctx.search("Porto") == []
    assert ctx.get([kept.ref]) == [kept]


def test_a_conversation_is_given_away_as_markdown_and_json(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ask(ctx)
    text = page.client.get("/conversation/export?id=s1&as=markdown")
    assert text.headers["content-disposition"] == 'attachment; filename="s1.md"'
    assert text.text == (
        "# s1\n\n## user, 2026-03-02 09:30 UTC\n\nWhere is the token?\n\n"
        "## assistant, 2026-03-02 09:30 UTC\n\nHere.\n"
    )
    told = page.client.get("/conversation/export?id=s1&as=json").json()
    assert [(one["role"], one["content"]) for one in told["messages"]] == [
        ("user", "Where is the token?"),
        ("assistant", "Here."),
    ]
    assert [call["record"] for call in told["calls"]] == [
        record.ref for record in ctx.session("s1").history()
    ]
    assert page.client.get("/conversation/export?id=never").status_code == 404


@pytest.mark.parametrize("name", ['a"; x=1\r\nset-cookie: y', "../../etc/passwd", "日本", "."])
def test_a_file_name_is_made_of_harmless_letters(
    ctx: ContextMiddleware, page: Browser, name: str
) -> None:
    chat = ctx.session(name)
    chat.capture([{"role": "user", "content": "Hello"}])
    answer = page.client.get("/conversation/export", params={"id": chat.id, "as": "json"})
    given = answer.headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="[\w.-]+\.json"', given, re.ASCII)
    assert ".." not in given


# --- lists of everything, and what is ticked ---


def test_every_kind_of_record_is_listed_and_counted(ctx: ContextMiddleware, page: Browser) -> None:
    ctx.remember("Tabs.", kind="preference")
    chat = ctx.session("s1")
    chat.note("next", "Rotate the keys.")
    chat.note("done", "Wrote the tests.")
    chat.observe("Clock skew", kind="bugfix")
    ask(ctx)
    chat.end("We looked for the token.")
    shown = page.get("/memories").text
    assert "Memories 1 Notes 2 Observations 1 Summaries 1 Turns 2" in shown
    assert "Clock skew" in page.get("/memories?type=observation").text
    assert "We looked for the token." in page.get("/memories?type=summary").text
    assert "Where is the token?" in page.get("/memories?type=turn").text
    assert "Where is the token?" not in page.get("/memories?type=turn&kind=assistant").text
    notes = page.get("/memories?type=note&kind=done").text
    assert ("Wrote the tests." in notes, "Rotate" in notes) == (True, False)
    assert "Found 1" in page.get("/memories?q=rotate&type=note").text
    assert "Found 0" in page.get("/memories?q=rotate&type=memory").text


def test_what_is_ticked_is_pinned_made_on_demand_kept_out_and_brought_back(
    ctx: ContextMiddleware, page: Browser
) -> None:
    refs = [ctx.remember(f"Fact number {n}.").ref for n in range(3)]
    page.get("/memories")
    shown = page.client.post("/ticked", data={"mark": page.mark, "do": "pin", "ref": refs[:2]})
    assert "2: pinned: in every conversation" in Seen(shown.text).text
    assert ctx.pins() == dict.fromkeys(refs[:2], "shown")
    page.post("/ticked", do="on_demand", ref=refs[0])
    assert ctx.pins() == {refs[0]: "kept_out", refs[1]: "shown"}
    page.post("/ticked", do="unpin", ref=refs[0])
    page.post("/ticked", do="put_away", ref=refs[2])
    assert "Fact number 2." not in page.get("/memories").text
    away = page.get("/memories?state=put+away").text
    assert ("Fact number 2." in away, "Bring back" in away, "Fact number 1." in away) == (
        True,
        True,
        False,
    )
    page.post("/ticked", do="restore", ref=refs[2])
    assert "Fact number 2." in page.get("/memories").text


def test_several_are_forgotten_at_once_and_only_after_asking(
    ctx: ContextMiddleware, page: Browser
) -> None:
    refs = [ctx.remember(f"Fact number {n}.").ref for n in range(3)]
    page.get("/memories")
    ticked = {"mark": page.mark, "do": "forget", "ref": refs[:2]}
    asked = Seen(page.client.post("/ticked", data=ticked).text)
    assert "Forget these 2?" in asked.text
    assert len(ctx.get(refs)) == 3
    page.client.post("/forget", data={"mark": page.mark, "ref": [*refs[:2], "mnever"]})
    assert [one.ref for one in ctx.get(refs)] == refs[2:]


def test_ticking_nothing_or_asking_for_what_is_not_there_changes_nothing(
    ctx: ContextMiddleware, page: Browser
) -> None:
    kept = ctx.remember("Tabs.")
    page.get("/memories")
    assert "Nothing was ticked" in page.post("/ticked", do="pin").text
    assert "nothing called 'burn'" in page.post("/ticked", 400, do="burn", ref=kept.ref).text
    assert "Nothing was ticked" in page.post("/ticked", do="pin", ref="t1").text
    assert ctx.pins() == {}


@pytest.mark.parametrize("back", ["//evil.example", "http://evil.example", "/\\evil.example", ""])
def test_a_form_leads_back_to_pages_of_ours_only(page: Browser, back: str) -> None:
    page.get("/memories")
    fields = {"mark": page.mark, "do": "pin", "back": back}
    answer = page.client.post("/ticked", data=fields, follow_redirects=False)
    assert answer.headers["location"] == "/memories?done=nothing"


def test_an_address_cannot_make_a_page_say_anything(page: Browser) -> None:
    assert "Pinned:" in page.get("/memories?done=pinned").text
    assert "evil" not in page.get("/memories?done=evil&n=evil").text


def test_a_page_beyond_the_last_is_the_last(ctx: ContextMiddleware, page: Browser) -> None:
    for n in range(60):
        ctx.remember(f"Fact number {n}.")
    assert page.get("/memories?page=99").text == page.get("/memories?page=1").text


# --- which calls, thumbs, usage ---


def test_an_item_tells_which_calls_used_it(ctx: ContextMiddleware, page: Browser) -> None:
    kept = ctx.remember("The token is in the green vault.", kind="preference")
    assert "Calls that used this 0 None of the last" in page.get(f"/items/{kept.ref}").text
    ref = ask(ctx, reply="Look into the green vault.")
    shown = page.get(f"/items/{kept.ref}")
    assert ("href", f"/records/{ref}") in shown.attributes
    assert "Calls that used this 1" in shown.text
    assert "came back" in shown.text


def test_a_thumb_is_kept_shown_and_taken_back(ctx: ContextMiddleware, page: Browser) -> None:
    kept = ctx.remember("The token is in the vault.", kind="preference")
    ref = ask(ctx)
    page.get(f"/records/{ref}")
    shown = page.post(f"/records/{ref}/rate", about=kept.ref, value="-1")
    assert "Thank you" in shown.text
    assert [(one.about, one.value) for one in ctx.ratings()] == [(kept.ref, -1)]
    assert shown.attributes.count(("aria-pressed", "true")) == 1
    assert "Taken back." in page.post(f"/records/{ref}/rate", about=kept.ref, value="0").text
    page.post(f"/records/{ref}/rate", value="1")
    assert [one.value for one in ctx.ratings() if not one.about] == [1]
    shown = page.post(f"/records/{ref}/rate", missing="the holiday plan")
    assert "missing: the holiday plan" in shown.text
    assert "the value is 'x'" in page.post(f"/records/{ref}/rate", 400, value="x").text


def test_usage_lists_what_never_came_back_and_suggests(
    ctx: ContextMiddleware, page: Browser
) -> None:
    assert "No call was answered yet." in page.get("/usage").text
    kept = ctx.remember("Prices are integers in cents.", kind="decision", scope="project:shop")
    for n in range(5):
        ask(ctx, f"How are prices kept, number {n}?", "No idea.")
    shown = page.get("/usage").text
    assert "Prices are integers in cents. decision suggestion: on demand shown 5 times" in shown
    assert "On demand: it comes when" in page.post("/ticked", do="on_demand", ref=kept.ref).text
    assert ctx.pins() == {kept.ref: "kept_out"}


def test_a_memorys_timeline_shows_what_each_version_changed(
    ctx: ContextMiddleware, page: Browser
) -> None:
    ctx.remember("Deploys happen on Fridays.", key="deploys")
    new = ctx.remember("Deploys happen on Tuesdays.", key="deploys")
    shown = page.get(f"/items/{new.ref}")
    assert {"ins", "del"} <= set(shown.tags)
    assert "Deploys happen on Fridays. Tuesdays." in shown.text


# --- what every page says ---


def test_every_page_names_the_store_but_no_password(tmp_path: Path) -> None:
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        page = Browser(client(ctx))
        assert f"memory of local · {tmp_path / 'memory.db'}" in page.get(f"/?token={TOKEN}").text


async def test_what_is_written_is_told_to_open_pages(ctx: ContextMiddleware) -> None:
    news = News(ctx, pause=0)
    told = news.after(news.count())
    assert await anext(told) == "retry: 2000\n\n"
    ctx.remember("Tabs.")
    said = await anext(told)
    while said == ": quiet\n\n":
        said = await anext(told)
    assert said == f"data: {news.count()}\n\n"
    news.close()
    assert [one async for one in told] == []


def test_events_are_for_those_with_the_token(ctx: ContextMiddleware) -> None:
    assert client(ctx).get("/events").status_code == 403


def test_what_a_browser_sends_for_another_site_is_refused(
    ctx: ContextMiddleware, page: Browser
) -> None:
    page.get("/memories")
    for site in ("cross-site", "same-site", "none"):
        headers = {"sec-fetch-site": site}
        fields = {"mark": page.mark, "text": "Spaces."}
        answer = page.client.post("/memories", data=fields, headers=headers)
        assert (answer.status_code, answer.text) == (403, "This came from another site.")
    assert ctx.search("spaces") == []


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
    assert shown.tags.count("script") == 1  # our own, by its address
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
    paths += ["/memories", "/memories?q=token", f"/forget?ref={kept.ref}", "/inspector"]
    for shown in [listed, *map(page.get, paths)]:
        assert shown.tags.count("script") == 1  # our own, by its address
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
