"""What is learned in a row is compared with what is known, in the same time however much it is."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ctxmw import ContextMiddleware
from ctxmw.learning.memories_at_hand import MOST, with_memories_at_hand
from ctxmw.memory import outdated
from ctxmw.protocols import Find
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import FixedClock

USER = "local"
UNIVERSAL = Find(types=("memory",), scopes=("universal",), limit=40)


@pytest.fixture
def ctx() -> Any:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def refs(found: Any) -> list[str]:
    return [row.ref for row, _ in found]


def test_it_finds_what_the_store_would(ctx):
    for text in (
        "I prefer window seats on trains.",
        "My sister works at the train station in Porto.",
        "We store prices as integers.",
        "Standing desks hurt my back.",
    ):
        ctx.remember(text)
    ctx.session("s").finish(ctx.session("s").prepare([said("Window seats, please.")]), "Fine.")
    at_hand = with_memories_at_hand(ctx.store, USER)
    for words in (["window"], ["trains", "desk"], ["prices", "seats", "station"], ["nothing"], []):
        wanted = set(refs(ctx.store.search(USER, words, UNIVERSAL)))
        assert set(refs(at_hand.search(USER, words, UNIVERSAL))) == wanted


def test_the_rarest_words_count_most_and_of_equal_ones_the_newest(ctx):
    tea = [ctx.remember(f"I drink tea at {n} in the kitchen.").ref for n in range(5)]
    rare = ctx.remember("I drink lapsang tea at noon in the kitchen.").ref
    found = refs(with_memories_at_hand(ctx.store, USER).search(USER, ["tea", "lapsang"], UNIVERSAL))
    assert found == [rare, *reversed(tea)]


def test_it_follows_what_others_write(ctx):
    at_hand = with_memories_at_hand(ctx.store, USER)
    assert at_hand.search(USER, ["tea"], UNIVERSAL) == []
    first = ctx.remember("I drink green tea.", key="drink")
    assert refs(at_hand.search(USER, ["tea"], UNIVERSAL)) == [first.ref]
    second = ctx.remember("I drink black tea.", key="drink")
    assert refs(at_hand.search(USER, ["tea"], UNIVERSAL)) == [second.ref]
    ctx.forget(second.ref)
    ctx.remember("I drink tea in a project.", scope="project:shop")
    assert at_hand.search(USER, ["tea"], UNIVERSAL) == []


def test_of_many_that_are_alike_it_looks_at_some(ctx):
    for n in range(MOST + 50):
        ctx.remember(f"I like tea number {n}.")
    at_hand = with_memories_at_hand(ctx.store, USER)
    wanted = Find(types=("memory",), scopes=("universal",))
    assert len(at_hand.search(USER, ["tea"], wanted)) == MOST
    assert len(ctx.store.search(USER, ["tea"], wanted)) == MOST + 50


def test_every_other_question_is_the_store_s(ctx):
    ctx.remember("I like tea.")
    at_hand = with_memories_at_hand(ctx.store, USER)
    for find in (Find(types=("memory",)), Find(scopes=("universal",)), Find(types=("turn",))):
        found = ctx.store.search(USER, ["tea"], find)
        assert at_hand.search(USER, ["tea"], find) == found
    assert at_hand.search("bob", ["tea"], UNIVERSAL) == []
    assert at_hand.head(USER) == ctx.store.head(USER)


def test_an_import_never_has_the_store_rank_what_it_holds(ctx, tmp_path, monkeypatch):
    asked: list[Find] = []
    search = SqliteStore.search

    def told(store: Any, user: str, words: Any, find: Find) -> Any:
        asked.append(find)
        return search(store, user, words, find)

    monkeypatch.setattr(SqliteStore, "search", told)
    ctx.import_from("claude", chats(tmp_path, *(f"I like tea number {n}." for n in range(20))))
    assert len(ctx.memories()) == 20
    assert asked == []


def test_a_change_of_mind_looks_at_the_turns_around_it_and_not_at_all_of_them(
    ctx, tmp_path, monkeypatch
):
    monkeypatch.setattr(outdated, "AFTER", 3)
    small = [word for n in range(8) for word in (f"Number {n}.", "Good.")]
    path = one_chat(tmp_path, "I live in Oslo.", "You live in Oslo.", *small, "I live in Bergen.")
    asked: list[int] = []
    read = SqliteStore.query

    def told(store: Any, user: str, find: Find) -> Any:
        rows = read(store, user, find)
        asked.append(len(rows) if "turn" in find.types and not find.digests else 0)
        return rows

    monkeypatch.setattr(SqliteStore, "query", told)
    ctx.import_from("claude", path)
    assert [memory.text for memory in ctx.memories()] == ["I live in Bergen."]
    assert max(asked) <= 3
    turns = [json.loads(row.body) for row in read(ctx.store, USER, Find(types=("turn",)))]
    assert {turn["text"] for turn in turns if turn["outdated"]} == {
        "I live in Oslo.",
        "You live in Oslo.",
    }


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def chats(folder: Any, *texts: str) -> Any:
    return written(folder, [[text] for text in texts])


def one_chat(folder: Any, *texts: str) -> Any:
    return written(folder, [list(texts)])


def written(folder: Any, conversations: list[list[str]]) -> Any:
    at = datetime(2025, 3, 4, tzinfo=UTC)
    held = [
        {
            "uuid": f"chat-{n}",
            "name": "",
            "chat_messages": [
                {
                    "uuid": f"{n}-{m}",
                    "sender": ("human", "assistant")[m % 2],
                    "text": text,
                    "created_at": (at + timedelta(hours=n, minutes=m)).isoformat(),
                }
                for m, text in enumerate(texts)
            ],
        }
        for n, texts in enumerate(conversations)
    ]
    (folder / "conversations.json").write_text(json.dumps(held))
    return folder
