"""What a notebook shows: figures first, items with how they came in, and text that stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given

from ctxmw import Budget, ContextMiddleware, Session
from ctxmw.display import html_of, style, text_of
from ctxmw.display.elements import Html, joined_html, tag
from ctxmw.display.records import record_html
from ctxmw.testing import FixedClock
from tests.support.markup import Seen
from tests.support.strategies import texts

HOSTILE = '<script>alert(1)</script></details></pre><a href="javascript:alert(2)">token</a>'


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        yield ctx


def ask(chat: Session, words: str, reply: str = "In verify().") -> None:
    chat.finish(chat.prepare([{"role": "user", "content": words}]), reply)


def seen(value: object) -> Seen:
    return Seen(html_of(value))


# --- elements ---


def test_what_is_not_made_by_us_is_escaped_in_texts_and_in_attributes() -> None:
    made = tag("p", "a < b", title='"><script>')
    assert made == '<p title="&quot;&gt;&lt;script&gt;">a &lt; b</p>'


def test_elements_inside_elements_are_kept_and_nothing_is_written_for_none() -> None:
    assert tag("p", None, tag("b", 3), hidden=True, id=None) == "<p hidden><b>3</b></p>"
    assert isinstance(joined_html(["<", tag("br")]), Html)
    assert joined_html(["<", tag("br")]) == "&lt;<br/>"


@given(texts)
def test_whatever_a_text_holds_it_adds_no_element_and_no_attribute(text: str) -> None:
    found = Seen(tag("details", tag("pre", text), title=text))
    assert (found.tags, found.broken) == (["details", "pre"], [])
    assert [name for name, _ in found.attributes] == ["title"]


# --- records ---


def test_a_record_shows_the_summary_the_items_by_section_and_how_each_came_in(
    ctx: ContextMiddleware,
) -> None:
    ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
    ctx.catalog.add("rule", "Pirate", "Speak like a pirate.", include="manual")
    ctx.remember("The token is checked in verify().", kind="decision")
    earlier = ctx.session("s1")
    ask(earlier, "Where does AuthService check a token?")
    chat = ctx.session("s2")
    chat.add("Pirate")
    record = chat.prepare([{"role": "user", "content": "AuthService token check?"}]).context
    found = seen(record)
    assert found.broken == []
    assert record.summary() in found.text
    assert "Rules 2 Tests first · always" in found.text
    assert "Pirate · manual" in found.text
    assert "Memories 1 The token is checked in verify(). · always" in found.text
    turn = next(used for used in record.used if used.kind == "turn")
    assert f"agent {turn.score:.2f}" in found.text


def test_the_budget_is_a_bar_with_every_lane_and_its_figures(ctx: ContextMiddleware) -> None:
    ctx.remember("Answer in short sentences.", kind="preference")
    record = ctx.session("s").prepare([{"role": "user", "content": "Hello"}]).context
    found = seen(record)
    spent, limit = record.lanes["universal"]
    assert f"universal: {spent} of {limit} tokens" in found.text
    assert f"universal {spent} / {limit}" in found.text
    assert found.tags.count("g") == len(record.lanes)
    assert ("role", "img") in found.attributes


def test_what_was_left_out_is_listed_with_the_reason(ctx: ContextMiddleware) -> None:
    for n in range(40):
        ctx.remember(f"Rule number {n} about something long enough to cost tokens.", kind="rule")
    chat = ctx.session("s", budget=Budget(total=120))
    record = chat.prepare([{"role": "user", "content": "Hello"}]).context
    assert any(used.shown == "none" for used in record.used)
    assert "Left out" in seen(record).text
    reason = next(used.reason for used in record.used if used.shown == "none")
    assert reason in seen(record).text


def test_a_prompt_without_anything_of_ours_says_so(ctx: ContextMiddleware) -> None:
    record = ctx.session("s").prepare([{"role": "user", "content": "Hello"}]).context
    assert "Nothing was put into this prompt." in seen(record).text
    assert text_of(record) == "Context used: none"


def test_what_changed_or_is_gone_since_is_marked(ctx: ContextMiddleware) -> None:
    ctx.remember("Tabs for indentation.", kind="preference", key="indent")
    gone = ctx.remember("Semicolons everywhere.", kind="preference")
    ctx.catalog.add("rule", "Tone", "Be short.")
    ctx.catalog.add("rule", "Gone", "Be gone.")
    chat = ctx.session("s")
    ask(chat, "Hello")
    ctx.remember("Spaces for indentation.", kind="preference", key="indent")
    ctx.forget(gone.ref)
    ctx.catalog.add("rule", "Tone", "Be long.")
    ctx.catalog.remove("Gone")
    record = chat.history()[0]
    assert {used.title: used.since for used in record.used} == {
        "Tabs for indentation.": "changed",
        "(forgotten)": "gone",
        "Tone": "changed",
        "Gone": "gone",
    }
    assert {"changed since", "gone since"} <= set(seen(record).texts)
    assert "- Tone [always] (changed since)" in record.display()


def test_items_link_to_their_pages_only_where_there_are_pages(ctx: ContextMiddleware) -> None:
    kept = ctx.remember("Tabs.", kind="preference")
    record = ctx.session("s").prepare([{"role": "user", "content": "Hello"}]).context
    assert "a" not in seen(record).tags
    linked = Seen(record_html(record, lambda used: f"/memories/{used.ref}"))
    assert ("href", f"/memories/{kept.ref}") in linked.attributes


def test_a_hostile_memory_stays_text_wherever_it_is_shown(ctx: ContextMiddleware) -> None:
    ctx.remember(HOSTILE, kind="decision")
    ctx.catalog.add("rule", HOSTILE, HOSTILE)
    chat = ctx.session(HOSTILE)
    prepared = chat.prepare([{"role": "user", "content": HOSTILE}])
    chat.finish(prepared, HOSTILE)
    hits = ctx.search("token")
    assert hits
    for value in (prepared, prepared.context, chat, hits, hits[0]):
        found = seen(value)
        assert found.broken == []
        assert not {"script", "a"} & set(found.tags)
        assert all("javascript" not in mark for _, mark in found.attributes)


def test_nothing_is_fetched_run_or_styled_in_line(ctx: ContextMiddleware) -> None:
    ctx.remember("Tabs.", kind="preference")
    prepared = ctx.session("s").prepare([{"role": "user", "content": "Hello"}])
    found = seen(prepared)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not {"style", "src", "onclick"} & {name for name, _ in found.attributes}
    assert not {"url(", "@import", "http"} & set(style().split())
    assert "http" not in style()


# --- the rest ---


def test_a_prompt_shows_its_messages_with_our_text_marked(ctx: ContextMiddleware) -> None:
    ctx.remember("Tabs.", kind="preference")
    prepared = ctx.session("s").prepare(
        [{"role": "system", "content": "You help."}, {"role": "user", "content": "Hello"}]
    )
    html = html_of(prepared)
    marked = html.rpartition('<pre class="ctx-ours">')[2]
    assert marked.startswith("&lt;ctxmw&gt;")
    assert marked.partition("</pre>")[2].startswith("<pre>You help.</pre>")


def test_a_conversation_shows_its_turns_and_says_where_there_is_no_record(
    ctx: ContextMiddleware,
) -> None:
    chat = ctx.session("s1", project="shop")
    ask(chat, "Where is it?")
    before = [{"role": "user", "content": "Where is it?"}]
    before.append({"role": "assistant", "content": "In verify()."})
    chat.capture([*before, {"role": "user", "content": "And without us?"}])
    shown = seen(chat).text
    assert "s1 · shop · epoch 1 · of local" in shown
    assert shown.index("Where is it?") < shown.index("And without us?")
    assert shown.endswith("No context data available")
    assert text_of(chat).splitlines() == [
        "Session('s1', user='local')",
        "- Where is it?",
        "  0/4000 tokens",
        "- And without us?",
        "  No context data available",
    ]


def test_of_a_long_conversation_the_last_turns_are_shown_in_full(ctx: ContextMiddleware) -> None:
    ctx.remember("Tabs.", kind="preference")
    chat = ctx.session("s1")
    history: list[dict[str, str]] = []
    for n in range(33):
        history.append({"role": "user", "content": f"Question {n}?"})
        chat.finish(chat.prepare(history), f"Answer {n}.")
        history.append({"role": "assistant", "content": f"Answer {n}."})
    shown = seen(chat)
    assert "3 earlier turns are not shown." in shown.text
    assert shown.text.count("Context used") == 3
    assert "Answer 3." in shown.texts


def test_a_conversation_lists_its_rules_and_what_waits(ctx: ContextMiddleware) -> None:
    ctx.catalog.add("rule", "Tests first", "Write the test before the code.")
    chat = ctx.session("s1")
    chat.collect("linter", "x", "Variable x is unused.")
    shown = seen(chat).text
    assert "Rules 1 Tests first" in shown
    assert "Waiting to be said 1 linter: Variable x is unused." in shown
    assert "Nothing has been said yet." in shown


def test_what_search_found_is_a_list_and_a_table(ctx: ContextMiddleware) -> None:
    kept = ctx.remember("Auth uses JWT with RS256.", kind="decision")
    hits = ctx.search("JWT")
    assert [hit.ref for hit in hits] == [kept.ref]
    assert "1 found Auth uses JWT with RS256. · decision" in seen(hits).text
    assert kept.ref in text_of(hits)
    assert hits[0].why in seen(hits[0]).text
    assert "Nothing was found." in seen(ctx.search("zebra")).text
    assert text_of(ctx.search("zebra")) == "Nothing was found."


def test_a_memory_shows_its_text_and_where_it_holds(ctx: ContextMiddleware) -> None:
    kept = ctx.remember("Auth uses JWT.", kind="decision", scope="project:shop")
    assert seen(kept).text.startswith(
        f"{kept.ref} · decision · project:shop · 2026-03-02 09:30 UTC"
    )
    assert text_of(kept) == f"{kept.ref} decision (project:shop): Auth uses JWT."


def test_a_compaction_shows_what_is_left_the_note_and_what_was_archived(
    ctx: ContextMiddleware,
) -> None:
    said = [{"role": "user", "content": "Never lose an order."}]
    for n in range(30):
        said.append({"role": "assistant", "content": f"Step {n} is done, see part_{n}.py. " * 3})
        said.append({"role": "user", "content": f"Go on after {n}."})
    compacted = ctx.session("s").compact(said, window=800)
    shown = seen(compacted)
    assert shown.broken == []
    before, after = compacted.tokens_before, compacted.tokens_after
    line = f"{before:,} tokens became {after:,}, {len(compacted.archived)} messages archived"
    assert text_of(compacted) == f"{line} (compacted)"
    assert line in shown.text
    assert compacted.note in shown.texts
    assert compacted.archived[0] in shown.text
    again = ctx.session("t").compact(said[:3], window=8000)
    assert text_of(again) == f"{again.tokens_after} tokens (unchanged)"


def test_a_budget_shows_its_lanes_and_what_they_are_for() -> None:
    shown = seen(Budget(total=400)).text
    assert "400 tokens: stable block 280, turn 120" in shown
    assert "turn 120 what the user's words bring" in shown
    assert "instructions 40 rules, preferences, anti-patterns and corrections" in shown
    assert "  turn              120" in text_of(Budget(total=400)).splitlines()


def test_ipython_takes_html_and_text_from_the_same_value(ctx: ContextMiddleware) -> None:
    from IPython.core.formatters import DisplayFormatter

    formatter = DisplayFormatter()
    formatter.active_types = ["text/plain", "text/html"]
    chat = ctx.session("s")
    prepared = chat.prepare([{"role": "user", "content": "Hello"}])
    for value in (prepared, prepared.context, chat, ctx.search("x"), Budget(), ctx.remember("x")):
        data, _ = formatter.format(value)
        assert data["text/plain"] == text_of(value)
        assert data["text/html"].startswith('<div class="ctxmw"><style>')


def test_both_themes_are_told_apart_by_the_page_around_and_not_by_a_script() -> None:
    assert "light-dark(" in style()
    assert '[data-jp-theme-light="false"] .ctxmw' in style()


def test_without_its_style_sheet_nothing_runs_together() -> None:
    """As Jupyter shows a notebook that is not trusted: it takes the style sheet out."""
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as ctx:
        kept = ctx.remember("Auth uses JWT.", kind="decision", scope="project:shop")
        chat = ctx.session("s1", project="shop")
        chat.finish(chat.prepare([{"role": "user", "content": "How does Auth work?"}]), "By JWT.")
        for value in (kept, ctx.search("auth"), ctx.session("s1"), chat.history()[0]):
            html = re.sub(r"<style>.*?</style>", "", html_of(value), flags=re.DOTALL)
            plain = re.sub(
                r"<(/?(div|p|li|ul|summary|details|pre|td|th|tr|title)\b)[^>]*>", "\n", html
            )
            text = re.sub(r"<[^>]+>", "", plain)
            assert kept.ref + "decision" not in text
            assert not re.search(r"decision\S*project:shop", text)
            assert not re.search(r"[a-z]\d+ tokens", text)
            assert not re.search(r"UTC(?! ·|\n|$)", text)
