"""What comes from elsewhere keeps its time and its id, comes once, and never mixes people up."""

from __future__ import annotations

import copy
import json
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from ctxmw import ContextMiddleware, CtxmwError, InvalidValue
from ctxmw.learning.arriving import ArrivingConversations
from ctxmw.memory.arrivals import taking_in
from ctxmw.memory.arrivals.taking_in import READERS
from ctxmw.protocols import Find

AT = datetime(2025, 3, 4, 10, 0, tzinfo=UTC)


def mem0(folder, *users):
    """As `Memory.get_all()` of mem0 2 returns it."""
    found = [
        {
            "id": f"{user}-1",
            "memory": f"{user} likes aisle seats",
            "hash": "0cc175b9c0f1b6a831c399e269772661",
            "metadata": {"category": "travel", "tags": ["a"], "score": 0.5},
            "created_at": "2025-03-04T02:00:00-08:00",
            "updated_at": None,
            "user_id": user,
        }
        for user in users or ("ada",)
    ]
    (folder / "mem0.json").write_text(json.dumps({"results": found}))
    return folder / "mem0.json"


def langgraph(folder):
    """Written by LangGraph's own store."""
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(str(folder / "store.db")) as store:
        store.setup()
        store.put(("facts", "ada"), "k1", {"text": "likes aisle seats"})
    with sqlite3.connect(folder / "store.db") as database:
        database.execute("UPDATE store SET updated_at = '2025-03-04 10:00:00'")
    database.close()
    return folder


def langmem(folder):
    """As LangMem's tools put it into a store."""
    value = {"kind": "Memory", "content": {"content": "likes aisle seats"}}
    item = {"namespace": ["memories", "ada"], "key": "k1", "value": value}
    times = {"created_at": "2025-03-04T10:00:00+00:00", "updated_at": "2025-03-04T10:00:00+00:00"}
    (folder / "store.jsonl").write_text(json.dumps({**item, **times}) + "\n")
    return folder / "store.jsonl"


def chroma(folder):
    """Written by Chroma itself."""
    import chromadb

    quiet = chromadb.config.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(path=str(folder / "chroma"), settings=quiet)
    made = client.create_collection("facts", embedding_function=None)
    about = {"created_at": "2025-03-04T10:00:00Z", "team": "web"}
    made.add(ids=["1"], documents=["likes aisle seats"], embeddings=[[1.0, 0.0]], metadatas=[about])
    return folder / "chroma"


def llamaindex(folder):
    """Written by LlamaIndex itself: a chat store and a document store."""
    from llama_index.core import Document
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.storage.chat_store import SimpleChatStore
    from llama_index.core.storage.docstore import SimpleDocumentStore

    store = SimpleChatStore()
    store.add_message("t1", ChatMessage(role="user", content="I prefer aisle seats."))
    store.add_message("t1", ChatMessage(role="assistant", content="Noted."))
    store.persist(str(folder / "chat_store.json"))
    documents = SimpleDocumentStore()
    about = {"created_at": "2025-03-04T10:00:00Z"}
    documents.add_documents([Document(text="likes aisle seats", id_="d1", metadata=about)])
    documents.persist(str(folder / "docstore.json"))
    return folder


def chatgpt(folder):
    """As the export of ChatGPT is described: a tree, of which the last branch was shown."""

    def node(id_, parent, role, text):
        said = {"content_type": "text", "parts": [text]}
        message = {
            "id": id_,
            "author": {"role": role},
            "content": said,
            "create_time": AT.timestamp(),
        }
        return {"id": id_, "parent": parent, "children": [], "message": message}

    mapping = {
        "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
        "a": node("a", "root", "user", "I prefer aisle seats."),
        "b": node("b", "a", "assistant", "A rejected answer."),
        "c": node("c", "a", "assistant", "Noted."),
    }
    chat = {"id": "c1", "title": "Seats", "mapping": mapping, "current_node": "c"}
    (folder / "conversations.json").write_text(json.dumps([chat]))
    return folder


def claude(folder):
    """As the export of Claude is described."""
    said = [
        {
            "uuid": "1",
            "sender": "human",
            "text": "I prefer aisle seats.",
            "created_at": AT.isoformat(),
        },
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "text", "text": "Noted."}, {"type": "tool_use", "name": "x"}],
            "created_at": AT.isoformat(),
        },
    ]
    (folder / "conversations.json").write_text(
        json.dumps([{"uuid": "u1", "name": "Seats", "chat_messages": said}])
    )
    return folder


MADE = {
    "mem0": mem0,
    "langgraph": langgraph,
    "langmem": langmem,
    "chroma": chroma,
    "llamaindex": llamaindex,
    "chatgpt": chatgpt,
    "claude": claude,
}
CHATS = ("chatgpt", "claude", "llamaindex")


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", user="me") as opened:
        yield opened


def test_every_source_is_tried_here():
    assert MADE.keys() == READERS.keys()


@pytest.mark.parametrize("source", MADE)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_is_found_with_its_time_and_comes_once(source, ctx, tmp_path):
    path = MADE[source](tmp_path)
    would = ctx.import_from(source, path, dry_run=True)
    assert ctx.search("aisle seats") == []
    taken = ctx.import_from(source, path)
    assert (would.memories, would.turns) == (taken.memories, taken.turns)
    assert taken.memories + taken.turns >= 1
    hits = ctx.search("aisle seats")
    assert hits
    timed = [hit.record for hit in hits if hit.record.at == AT]
    assert timed
    again = ctx.import_from(source, path)
    assert (again.memories, again.turns) == (0, 0)
    assert again.known >= 1
    assert len(ctx.search("aisle seats")) == len(hits)


@pytest.mark.parametrize("source", CHATS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_chat_becomes_a_conversation(source, ctx, tmp_path):
    taken = ctx.import_from(source, MADE[source](tmp_path))
    assert (taken.conversations, taken.turns) == (1, 2)
    [state] = ctx.sessions()
    assert state.session.startswith(f"{source}:")
    assert "rejected answer" not in str(ctx.session(state.session).transcript())


def test_ids_and_metadata_are_kept(ctx, tmp_path):
    ctx.import_from("mem0", mem0(tmp_path))
    [memory] = ctx.memories(metadata={"category": "travel"})
    assert (memory.message_id, memory.source, memory.at) == ("ada-1", "import:mem0", AT)
    assert memory.metadata == {"category": "travel", "score": 0.5}


def test_several_users_are_not_mixed_up(ctx, tmp_path):
    path = mem0(tmp_path, "ada", "bob")
    with pytest.raises(InvalidValue, match=r"'ada', 'bob'"):
        ctx.import_from("mem0", path)
    assert ctx.memories() == []
    ctx.import_from("mem0", path, of="bob")
    assert [one.text for one in ctx.memories()] == ["bob likes aisle seats"]


def test_what_strangers_may_have_written_is_not_trusted(ctx, tmp_path):
    ctx.import_from("chroma", chroma(tmp_path))
    assert {one.trust for one in ctx.memories()} == {"untrusted"}


def test_a_run_that_broke_off_goes_on(ctx, tmp_path, monkeypatch):
    found = [{"id": str(n), "memory": f"Fact number {n}."} for n in range(10)]
    (tmp_path / "mem0.json").write_text(json.dumps(found))
    monkeypatch.setattr(taking_in, "BATCH", 4)
    put, calls = ctx.store.put, []

    def failing(rows):
        calls.append(rows)
        if len(calls) == 2:
            raise KeyboardInterrupt
        put(rows)

    with monkeypatch.context() as broken:
        kind = type(ctx._journal.store)
        broken.setattr(kind, "put", lambda _, rows: failing(rows), raising=False)
        with pytest.raises(KeyboardInterrupt):
            ctx.import_from("mem0", tmp_path / "mem0.json")
    assert len(ctx.memories()) == 4
    taken = ctx.import_from("mem0", tmp_path / "mem0.json")
    assert (taken.memories, taken.known) == (6, 4)


def claude_chats(folder, *texts, named=True):
    chats = [
        {
            **({"uuid": f"chat-{n}"} if named else {}),
            "name": "",
            "chat_messages": [
                {"uuid": f"m{n}", "sender": "human", "text": text, "created_at": AT.isoformat()}
            ],
        }
        for n, text in enumerate(texts)
    ]
    (folder / "conversations.json").write_text(json.dumps(chats))
    return folder


def test_all_conversations_are_stored_before_the_first_is_learned_from(ctx, tmp_path, monkeypatch):
    path = claude_chats(tmp_path, "I prefer aisle seats.", "My sister Lena lives in Porto.")
    with monkeypatch.context() as broken:
        broken.setattr(ArrivingConversations, "learn", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            ctx.import_from("claude", path)
    assert [hit.text for hit in ctx.search("sister")] == ["My sister Lena lives in Porto."]
    assert ctx.memories() == []
    assert ctx.import_from("claude", path).known == 2
    assert {one.text for one in ctx.memories()} == {
        "I prefer aisle seats.",
        "My sister Lena lives in Porto.",
    }
    before = ctx.memories()
    ctx.import_from("claude", path)
    assert ctx.memories() == before


def test_what_no_run_learned_from_is_learned_when_the_conversation_ends(ctx, tmp_path, monkeypatch):
    path = claude_chats(tmp_path, "I prefer aisle seats.")
    monkeypatch.setattr(ArrivingConversations, "learn", lambda *_: None)
    ctx.import_from("claude", path)
    assert ctx.memories() == []
    ctx.session("claude:chat-0").end()
    assert [one.text for one in ctx.memories()] == ["I prefer aisle seats."]


def test_a_dry_run_knows_which_conversations_are_here(ctx, tmp_path):
    path = claude_chats(tmp_path, "I prefer aisle seats.", "I prefer tea.")
    would = ctx.import_from("claude", path, dry_run=True)
    assert (would.conversations, would.turns, would.known) == (2, 2, 0)
    ctx.import_from("claude", path)
    would = ctx.import_from("claude", path, dry_run=True)
    assert (would.conversations, would.turns, would.known) == (0, 0, 2)


def test_conversations_without_an_id_stay_apart(ctx, tmp_path):
    path = claude_chats(tmp_path, "I prefer aisle seats.", "I prefer tea.", named=False)
    assert ctx.import_from("claude", path).conversations == 2
    assert len(ctx.sessions()) == 2
    assert ctx.import_from("claude", path).known == 2


def test_many_conversations_are_written_in_few_transactions(ctx, tmp_path, monkeypatch):
    path = claude_chats(tmp_path, *(f"I prefer tea number {n}." for n in range(40)))
    monkeypatch.setattr(taking_in, "STORED", 10)
    monkeypatch.setattr(taking_in, "LEARNED", 10)
    told = []
    ctx.import_from("claude", path, progress=lambda *done: told.append(done))
    assert told == [(done, 80) for done in range(10, 81, 10)]


def test_they_belong_to_no_project(tmp_path):
    path = claude_chats(tmp_path, "We decided to use Postgres for the orders.")
    with ContextMiddleware.open(tmp_path / "p.db", project="shop") as ctx:
        ctx.import_from("claude", path)
        assert {one.scope for one in ctx.memories()} == {"universal"}
        assert {hit.record.scope for hit in ctx.search("Postgres")} == {"universal"}


def _interrupted(*_):
    raise KeyboardInterrupt


def test_what_is_said_here_already_is_not_doubled(ctx, tmp_path):
    ctx.remember("ada likes aisle seats")
    assert ctx.import_from("mem0", mem0(tmp_path)).memories == 0
    assert len(ctx.memories()) == 1


@pytest.mark.parametrize("source", MADE)
def test_what_is_no_such_thing_is_an_error_that_names_it(source, ctx, tmp_path):
    (tmp_path / "other.json").write_text('{"some": "thing"}')
    (tmp_path / "other.txt").write_text("no JSON {")
    for name in ("other.json", "other.txt", "nothing"):
        with pytest.raises(InvalidValue, match=name.partition(".")[0]):
            ctx.import_from(source, tmp_path / name)
    with pytest.raises(InvalidValue, match="mem0, langgraph"):
        ctx.import_from("elsewhere", tmp_path)
    assert ctx.memories() == []


ODD = (None, 3, True, "", "\ud800", [], [1], {"a": 1}, "0001-01-01T00:00:00+14:00")
GUESSED = ("mem0", "langmem", "chatgpt", "claude")


@pytest.mark.parametrize("source", GUESSED)
def test_whatever_stands_in_an_export_it_is_taken_or_refused_in_words(source, ctx, tmp_path):
    MADE[source](tmp_path)
    [file] = tmp_path.iterdir()
    whole = json.loads(file.read_text())
    for place in places_in(whole):
        for odd in ODD:
            file.write_text(json.dumps(with_odd(whole, place, odd)))
            with suppress(CtxmwError):
                ctx.import_from(source, file)
                again = ctx.import_from(source, file)
                assert (again.memories, again.turns) == (0, 0)


def places_in(value, *place):
    yield place
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, one in value.items() if isinstance(value, dict) else ():
        yield from places_in(one, *place, key)


def with_odd(value, place, odd):
    if not place:
        return odd
    value = copy.copy(value)
    value[place[0]] = with_odd(value[place[0]], place[1:], odd)
    return value


def test_a_chat_store_of_something_else_is_refused(ctx, tmp_path):
    (tmp_path / "chat_store.json").write_text(json.dumps({"store": {"ada": 3}}))
    with pytest.raises(InvalidValue, match="a chat store has 3 under 'ada'"):
        ctx.import_from("llamaindex", tmp_path)


@pytest.mark.parametrize("source", ["mem0", "chatgpt", "claude", "langgraph"])
def test_an_empty_file_is_no_export(source, ctx, tmp_path):
    (tmp_path / "export.json").write_text(" \n")
    with pytest.raises(InvalidValue, match=r"export\.json is empty"):
        ctx.import_from(source, tmp_path / "export.json")


@pytest.mark.parametrize("by", ["ref", "source", "metadata"])
def test_what_was_forgotten_does_not_come_back_unless_it_is_asked_for(by, ctx, tmp_path):
    path = mem0(tmp_path)
    ctx.import_from("mem0", path)
    [memory] = ctx.memories()
    named = {"ref": memory.ref, "source": "import:mem0", "metadata": {"category": "travel"}}
    ctx.forget(**{by: named[by]})
    would = ctx.import_from("mem0", path, dry_run=True)
    taken = ctx.import_from("mem0", path)
    assert (
        (taken.memories, taken.known, taken.forgotten)
        == (0, 0, 1)
        == (
            would.memories,
            would.known,
            would.forgotten,
        )
    )
    assert "1 forgotten here and left out" in str(taken)
    assert ctx.memories() == []
    assert ctx.import_from("mem0", path, again=True, dry_run=True).memories == 1
    assert ctx.import_from("mem0", path, again=True).memories == 1
    assert ctx.import_from("mem0", path).known == 1


def test_an_edited_one_does_not_come_back_beside_itself(ctx, tmp_path):
    ctx.import_from("mem0", mem0(tmp_path))
    [memory] = ctx.memories()
    edited = ctx.edit(memory.ref, "ada likes window seats")
    assert ctx.import_from("mem0", tmp_path / "mem0.json").known == 1
    ctx.forget(edited.ref)
    assert ctx.import_from("mem0", tmp_path / "mem0.json").forgotten == 1
    assert ctx.memories() == []


@pytest.mark.parametrize("source", ["chatgpt", "claude"])
def test_a_forgotten_conversation_does_not_come_back_unless_it_is_asked_for(source, ctx, tmp_path):
    path = MADE[source](tmp_path)
    ctx.import_from(source, path)
    [state] = ctx.sessions()
    ctx.forget(session=state.session)
    taken = ctx.import_from(source, path)
    assert (taken.turns, taken.forgotten) == (0, 1)
    assert ctx.search("aisle seats") == []
    assert ctx.import_from(source, path, again=True).turns == 2
    assert ctx.search("aisle seats")


def test_of_a_user_who_is_forgotten_nothing_is_kept_at_all(ctx, tmp_path):
    ctx.import_from("mem0", mem0(tmp_path))
    ctx.forget(ctx.memories()[0].ref)
    ctx.forget(user="me")
    assert ctx.store.query("me", Find(live=None)) == []
    assert ctx.import_from("mem0", tmp_path / "mem0.json").memories == 1


@pytest.mark.parametrize("of", ["zz", "", 5])
def test_somebody_who_is_not_in_it_is_an_error_that_names_who_is(of, ctx, tmp_path):
    with pytest.raises(InvalidValue, match=r"holds: 'ada', 'bob'"):
        ctx.import_from("mem0", mem0(tmp_path, "ada", "bob"), of=of)
    assert ctx.memories() == []


@pytest.mark.parametrize("held", [[1], ["x"], [{"foo": 1}], [{"id": "1", "memory": "a"}, None]])
@pytest.mark.parametrize("source", ["mem0", "langgraph", "langmem", "chatgpt", "claude"])
def test_entries_that_make_no_sense_are_refused_and_nothing_is_taken(source, held, ctx, tmp_path):
    (tmp_path / "given.json").write_text(json.dumps(held))
    with pytest.raises(InvalidValue, match=r"given\.json is no"):
        ctx.import_from(source, tmp_path / "given.json")
    assert ctx.memories() == []


def test_flags_are_true_or_false(ctx, tmp_path):
    for name in ("again", "dry_run"):
        with pytest.raises(InvalidValue, match=name):
            ctx.import_from("mem0", mem0(tmp_path), **{name: "no"})
