"""Forgetting reaches what was learned, the turn that said it, summaries, blocks and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxmw import ContextMiddleware
from ctxmw.protocols import Find
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.values.records import Memory, Note, Turn, load

SECRET = "marmalade"


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(
        tmp_path / "memory.db", clock=FixedClock(), embedder=HashEmbedder()
    ) as opened:
        yield opened


def talk(ctx: ContextMiddleware, session: str, *texts: str, project: str = "shop") -> list[Turn]:
    chat = ctx.session(session, project=project)
    messages: list[dict[str, str]] = []
    for at, text in enumerate(texts):
        if at % 2:
            prepared = chat.prepare(messages)
            chat.finish(prepared, text)
        messages.append({"role": "assistant" if at % 2 else "user", "content": text})
    rows = ctx.store.query("local", Find(types=("turn",), sessions=(session,)))
    return [Turn.model_validate_json(row.body) for row in reversed(rows)]


def stored(ctx: ContextMiddleware, *types: str, live: bool | None = None) -> list[Any]:
    return [load(row) for row in ctx.store.query("local", Find(types=types, live=live))]


def assert_gone(ctx: ContextMiddleware, word: str = SECRET) -> None:
    """Nothing finds it, no prompt shows it, and no file has its bytes."""
    assert all(word not in hit.text for hit in ctx.search(word))
    asked = [{"role": "user", "content": f"What about {word}?"}]
    prepared = ctx.session("new", project="shop").prepare(asked)
    assert word not in prepared.context.text
    for state in ctx.sessions():
        for record in ctx.session(state.session, project="shop").history():
            assert word not in record.text
            assert word not in record.explain() or state.session == "new"
    ctx.forget(session="new")
    store = ctx.store
    everything = store.query("local", Find(live=None))
    assert all(word not in row.body and word not in row.search_text for row in everything)
    folder = Path(store.path).parent  # type: ignore[attr-defined]
    assert not [path for path in folder.iterdir() if word.encode() in path.read_bytes()]


class TestATurn:
    def test_takes_along_what_was_learned_from_it(self, ctx: ContextMiddleware) -> None:
        turns = talk(
            ctx,
            "s1",
            f"Always order {SECRET} for breakfast. We decided to use {SECRET} boxes.",
            f"Fixed the {SECRET} order. Next step: count the {SECRET} jars.",
        )
        summary = ctx.session("s1").end()
        assert summary is not None
        assert SECRET in summary.text
        talk(ctx, "s2", "Hello there", "Hi")
        for turn in turns:
            ctx.forget(turn.ref)
        assert_gone(ctx)

    def test_leaves_what_another_turn_says_too(self, ctx: ContextMiddleware) -> None:
        first = talk(ctx, "s1", "Always use tabs.", "OK.")[0]
        talk(ctx, "s2", "Always use tabs.", "OK.")
        assert [one.seen for one in stored(ctx, "memory")] == [2]
        ctx.forget(first.ref)
        (memory,) = stored(ctx, "memory")
        assert (memory.seen, len(memory.derived_from)) == (1, 1)

    def test_leaves_what_somebody_asked_to_remember(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Always use tabs.", kind="preference")
        turn = talk(ctx, "s1", "Always use tabs for it.", "OK.")[0]
        ctx.session("s1").capture([{"role": "user", "content": "x"}])
        ctx.forget(turn.ref)
        assert [one.text for one in stored(ctx, "memory")] == ["Always use tabs."]

    def test_what_took_its_place_no_longer_quotes_it(self, ctx: ContextMiddleware) -> None:
        first = talk(ctx, "s1", f"Always use {SECRET}.", "OK.")[0]
        talk(ctx, "s2", f"Never use {SECRET}.", "OK.")
        ctx.forget(first.ref)
        (memory,) = stored(ctx, "memory")
        assert (memory.text, memory.was) == (f"Never use {SECRET}.", "")

    def test_a_summary_is_written_anew(self, ctx: ContextMiddleware) -> None:
        turns = talk(ctx, "s1", f"Tell me of {SECRET}.", "It is bitter.", "And tea?", "It is hot.")
        before = ctx.session("s1").end()
        assert before is not None
        ctx.forget(turns[0].ref)
        (after,) = stored(ctx, "summary")
        assert after.ref == before.ref
        assert after.text == "And tea? It is hot."
        assert_gone(ctx)


class TestAMemoryThatWasLearned:
    def test_is_taken_out_of_the_turn_that_said_it(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", f"Thanks!  Always order  **{SECRET}** for breakfast. Bye.", "OK.")
        (memory,) = stored(ctx, "memory")
        ctx.session("s1").end()
        talk(ctx, "s2", f"What of {'breakfast'}?", "Yes.")
        ctx.forget(memory.ref)
        texts = [turn.text for turn in stored(ctx, "turn") if turn.role == "user"]
        assert "Thanks!  [forgotten] Bye." in texts
        assert_gone(ctx)

    def test_takes_along_a_note_of_the_same_sentence(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", "Hi", f"I've added {SECRET} to the list. I've fixed the login.")
        note = next(one for one in stored(ctx, "note") if SECRET in one.text)
        ctx.session("s1").end()
        ctx.forget(note.ref)
        assert [one.text for one in stored(ctx, "note")] == ["Fixed the login."]
        assert_gone(ctx)

    def test_every_version_goes(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", f"Always use {SECRET}.", "OK.")
        talk(ctx, "s2", f"Never use {SECRET}.", "OK.")
        live = next(one for one in stored(ctx, "memory") if not one.superseded_by)
        ctx.forget(live.ref)
        assert stored(ctx, "memory") == []
        assert_gone(ctx)


class TestAConversation:
    def test_leaves_nothing(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", f"Always order {SECRET}.", f"I've added {SECRET}.", "Thanks", "Bye")
        ctx.session("s1").end()
        talk(ctx, "s2", "What do I order?", "That.")
        ctx.forget(session="s1")
        assert {one.session for one in stored(ctx, "memory", "note", "summary", "turn")} == {"s2"}
        assert_gone(ctx)

    def test_what_another_conversation_taught_too_stays(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", "Always use tabs.", "OK.")
        talk(ctx, "s2", "Always use tabs.", "OK.")
        ctx.forget(session="s1")
        (memory,) = stored(ctx, "memory")
        assert memory.seen == 1


class TestASource:
    def test_everything_learned(self, ctx: ContextMiddleware) -> None:
        talk(ctx, "s1", f"Always order {SECRET}. We decided to use Go.", "OK.")
        ctx.remember("I drink tea.")
        ctx.forget(source="conversation")
        assert [one.text for one in stored(ctx, "memory")] == ["I drink tea."]
        assert_gone(ctx)

    def test_a_tool_and_what_it_led_to(self, ctx: ContextMiddleware) -> None:
        call = {"id": "1", "name": "fetch", "args": {"url": "https://a.example"}}
        ctx.session("s1").capture(
            [
                {"role": "user", "content": "What is there?"},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "content": SECRET, "tool_call_id": "1", "name": "fetch"},
            ]
        )
        assert SECRET in stored(ctx, "observation")[0].text
        ctx.forget(source="tool:fetch")
        assert_gone(ctx)


def test_a_turn_that_was_compacted(ctx: ContextMiddleware) -> None:
    chat = ctx.session("s1", project="shop")
    messages: list[Any] = []
    for number in range(12):
        told = f"Always order {SECRET}. We decided to use {SECRET}. " if number == 3 else ""
        messages.append({"role": "user", "content": f"{told}Question {number}. " + "Why? " * 60})
        chat.finish(chat.prepare(messages), f"Answer {number}.")
        messages.append({"role": "assistant", "content": f"Answer {number}."})
    compacted = chat.compact([*messages, {"role": "user", "content": "Go on."}], window=1000)
    assert SECRET in str(compacted.messages)
    turn = next(one for one in stored(ctx, "turn") if SECRET in one.text)
    ctx.forget(turn.ref)
    assert_gone(ctx)


def test_a_user(ctx: ContextMiddleware) -> None:
    talk(ctx, "s1", f"Always order {SECRET}.", f"I've added {SECRET}.")
    ctx.session("s1").end()
    ctx.forget(user="local")
    assert ctx.store.count("local", Find(live=None)) == 0
    assert_gone(ctx)


def test_nothing_that_is_forgotten_is_left_in_an_export(
    ctx: ContextMiddleware, tmp_path: Path
) -> None:
    turns = talk(ctx, "s1", f"Always order {SECRET}.", "OK.")
    ctx.session("s1").end()
    ctx.forget(turns[0].ref)
    ctx.export(tmp_path / "out.jsonl")
    assert SECRET not in (tmp_path / "out.jsonl").read_text(encoding="utf-8")


def test_learned_records_are_of_the_types_that_forget_looks_through() -> None:
    assert {cls.type for cls in (Memory, Note)} <= {"memory", "note", "observation", "summary"}
