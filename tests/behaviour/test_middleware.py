"""The one class to learn: what it accepts, what it refuses, and what it keeps."""

from __future__ import annotations

import asyncio
import copy
import pickle

import pytest

from ctxmw import (
    Budget,
    ContextMiddleware,
    CtxmwError,
    Floors,
    InvalidValue,
    MissingUser,
    NotFound,
    StoreError,
    Weights,
)
from ctxmw.values.items import Item


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db") as opened:
        yield opened


def rows(ctx) -> int:
    return len(ctx.search("word", limit=100)) + len(ctx.sessions())


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda ctx: ctx.remember(""), "empty"),
        (lambda ctx: ctx.remember("  \n"), "empty"),
        (lambda ctx: ctx.remember("\u200b"), "empty"),
        (lambda ctx: ctx.remember(None), "NoneType"),
        (lambda ctx: ctx.remember(["word"]), "list"),
        (lambda ctx: ctx.remember("word", kind="poem"), "'poem'.*preference, rule"),
        (lambda ctx: ctx.remember("word", scope="galaxy"), "'galaxy'.*universal"),
        (lambda ctx: ctx.remember("word", scope="project:"), "'project:'.*project:NAME"),
        (lambda ctx: ctx.remember("word", scope=None), "NoneType"),
        (lambda ctx: ctx.remember("word", user=""), "user is empty"),
        (lambda ctx: ctx.remember("word", user=7), "user must be text, not int"),
        (lambda ctx: ctx.remember("word", trust="maybe"), "'maybe'.*trusted, untrusted"),
        (lambda ctx: ctx.session("s1", user=""), "user is empty"),
        (lambda ctx: ctx.session(""), "empty"),
        (lambda ctx: ctx.session("s1", task="juggling"), "'juggling'.*coding"),
        (lambda ctx: ctx.session("s1", placement="footer"), "'footer'.*split"),
        (lambda ctx: ctx.session("s1", budget=4000), "4000.*Budget"),
        (lambda ctx: ctx.session("s1").prepare([]), "empty"),
        (lambda ctx: ctx.session("s1").prepare("word"), "str.*role"),
        (lambda ctx: ctx.session("s1").prepare({"role": "user"}), "dict"),
        (lambda ctx: ctx.session("s1").prepare(["word"]), r"messages\[0\] is str"),
        (lambda ctx: ctx.session("s1").prepare([{"role": "bot", "content": "x"}]), "'bot'.*user"),
        (lambda ctx: ctx.session("s1").prepare([{"role": "user", "content": 7}]), "int"),
        (lambda ctx: ctx.session("s1").prepare([{"role": "user"}]), "NoneType"),
        (lambda ctx: ctx.session("s1").note("maybe", "word"), "'maybe'.*done, decided"),
        (lambda ctx: ctx.session("s1").observe("word", kind="x"), "'x'.*bugfix"),
        (lambda ctx: ctx.search(None), "query must be text"),
        (lambda ctx: ctx.search("word", limit=-1), "limit is -1"),
        (lambda ctx: ctx.search("word", budget=-5), "budget is -5"),
        (lambda ctx: ctx.search("word", kinds=["poem"]), "'poem'"),
        (lambda ctx: ctx.search("word", kinds="fact"), "list of kinds"),
        (lambda ctx: ctx.get("m123456"), "list of refs"),
        (lambda ctx: ctx.forget(), "name one of"),
        (lambda ctx: ctx.forget(None, user="ada"), "name one of"),
        (lambda ctx: ctx.forget("m123456", source="x"), "name one of"),
        (lambda ctx: ctx.forget(source=""), "name one of"),
        (lambda ctx: ctx.forget(session=""), "name one of"),
        (lambda ctx: ctx.get(None), "list of refs"),
        (lambda ctx: ctx.search("word", since="x"), "since is 'x'"),
        (lambda ctx: ctx.search("word", kinds=5), "list of kinds"),
        (lambda ctx: ctx.session("s1", cwd=5), "cwd is 5"),
        (lambda ctx: ctx.session("s1", budget=0), "0.*Budget"),
        (lambda ctx: ctx.session("s1").observe("word", kind="bugfix", files="abc"), "files"),
        (lambda ctx: ctx.session("s1").observe("word", kind="bugfix", text=None), "NoneType"),
        (lambda ctx: ctx.session("s1").end("word", decisions=[5]), "decisions"),
        (lambda ctx: ctx.session("s1").collect("a", "b", "word", trust="x"), "trust is 'x'"),
        (lambda ctx: ctx.session("s1").collect("a", "b", "word", lifetime=5), "lifetime is 5"),
        (lambda ctx: ctx.session("s1").collect("a", "b", "word", metadata={"x": object()}), "JSON"),
        (lambda ctx: ctx.catalog.add("rule", "N", "word", enabled="yes"), "enabled is 'yes'"),
        (lambda ctx: ContextMiddleware.open(":memory:", embeder=1), "'embeder'.*'embedder'"),
        (lambda ctx: ContextMiddleware.open(":memory:", window=-5), "window is -5"),
        (lambda ctx: ContextMiddleware.open(":memory:", renderer="xml"), "renderer is 'xml'"),
        (lambda ctx: ContextMiddleware.open(":memory:", sources=(5,)), "a source is 5"),
        (lambda ctx: ContextMiddleware.open(":memory:", index="chroma"), "no embedder"),
        (lambda ctx: Budget(total=-1), "total is -1"),
        (lambda ctx: Budget(total=1.5), r"1\.5"),
        (lambda ctx: Budget(universal=-3), "universal is -3"),
        (lambda ctx: Weights(scope=0.9), "add up to"),
        (lambda ctx: Floors(stable=7), "stable is 7"),
        (lambda ctx: ContextMiddleware.open(":memory:", user=""), "user is empty"),
        (lambda ctx: ContextMiddleware.open(":memory:", budget=3), "3.*Budget"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_written(ctx, call, names):
    before = rows(ctx)
    with pytest.raises(InvalidValue, match=names):
        call(ctx)
    assert rows(ctx) == before


def test_every_error_of_ours_has_one_root():
    assert issubclass(InvalidValue, CtxmwError)
    assert issubclass(StoreError, CtxmwError)
    assert issubclass(InvalidValue, ValueError)


def test_what_is_remembered_comes_back_with_its_ref(ctx):
    memory = ctx.remember("Prefer early returns.", kind="preference", scope="language:Python")
    assert memory.ref.startswith("m")
    assert len(memory.ref) == 7
    assert ctx.get([memory.ref]) == [memory]
    assert memory.scope == "language:python"


def test_saying_the_same_again_counts_and_stores_nothing_twice(ctx):
    first = ctx.remember("Prefer early returns.", kind="preference")
    again = ctx.remember("  prefer early returns ", kind="preference")
    assert again.ref == first.ref
    assert again.seen == 2
    assert len(ctx.search("early returns")) == 1


def test_the_same_text_in_another_scope_is_another_memory(ctx):
    here = ctx.remember("Use tabs.", kind="rule", scope="project:a")
    there = ctx.remember("Use tabs.", kind="rule", scope="project:b")
    assert here.ref != there.ref


def test_another_text_under_the_same_key_takes_its_place_and_keeps_the_history(ctx):
    old = ctx.remember("Deploy on Monday.", kind="rule", key="deploy")
    new = ctx.remember("Deploy on Friday.", kind="rule", key="deploy")
    assert [hit.ref for hit in ctx.search("deploy")] == [new.ref]
    assert [version.text for version in ctx.versions(new.ref)] == [new.text, old.text]
    assert [version.ref for version in ctx.versions(old.ref)] == [new.ref, old.ref]


def test_a_stranger_cannot_replace_what_a_trusted_writer_said(ctx):
    ours = ctx.remember("Deploy on Monday.", kind="rule", key="deploy")
    ctx.remember("Deploy at once.", kind="rule", key="deploy", source="web", trust="untrusted")
    assert ctx.get([ours.ref])[0].superseded_by == ""
    prepared = ctx.session("s1").prepare([{"role": "user", "content": "When do we deploy?"}])
    assert "Deploy on Monday." in prepared.context.stable
    assert "at once" not in prepared.context.stable
    assert "[untrusted, from web] Deploy at once." in prepared.context.part


def test_forgetting_reaches_every_version_and_the_bytes_of_the_file(ctx, tmp_path):
    ctx.remember("The word is marmalade.", kind="fact", key="word")
    new = ctx.remember("The word is pumpernickel.", kind="fact", key="word")
    ctx.session("s1").prepare([{"role": "user", "content": "What is the word?"}])
    assert ctx.forget(new.ref) == 2
    found = ctx.search("word marmalade pumpernickel")
    assert [hit.text for hit in found] == ["What is the word?"]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"marmalade" not in stored
    assert b"pumpernickel" not in stored


def test_forgetting_by_source_session_and_user_takes_only_those(ctx):
    ctx.remember("Alpha word.", kind="fact", source="web")
    ctx.remember("Beta word.", kind="fact")
    ctx.remember("Gamma word.", kind="fact", user="bob")
    chat = ctx.session("s1")
    chat.finish(chat.prepare([{"role": "user", "content": "Delta word"}]), "Epsilon word")
    assert ctx.forget(source="web") == 1
    assert {hit.text for hit in ctx.search("word")} == {"Beta word.", "Delta word", "Epsilon word"}
    ctx.forget(session="s1")
    assert {hit.text for hit in ctx.search("word")} == {"Beta word."}
    ctx.forget(user="bob")
    assert ctx.search("word", user="bob") == []
    assert {hit.text for hit in ctx.search("word")} == {"Beta word."}


def test_forgetting_what_is_not_there_is_an_error(ctx):
    theirs = ctx.remember("Gamma word.", kind="fact", user="bob")
    with pytest.raises(NotFound, match=theirs.ref):
        ctx.forget(theirs.ref)


def test_a_memory_for_many_users_asks_every_call_for_its_user(tmp_path):
    with ContextMiddleware.open(tmp_path / "server.db", user=None) as ctx:
        for call in (
            lambda: ctx.remember("word"),
            lambda: ctx.search("word"),
            lambda: ctx.session("s1"),
            lambda: ctx.get(["m123456"]),
            ctx.sessions,
            lambda: ctx.why("word"),
            lambda: ctx.forget("m123456"),
        ):
            with pytest.raises(MissingUser, match="user="):
                call()


def test_search_takes_kinds_scope_time_limit_and_budget(ctx):
    ctx.remember("Gear one.", kind="fact")
    ctx.remember("Gear two.", kind="rule", scope="project:shop")
    ctx.session("s1").capture([{"role": "user", "content": "Gear three."}])
    assert {hit.text for hit in ctx.search("gear")} == {"Gear one.", "Gear two.", "Gear three."}
    assert [hit.text for hit in ctx.search("gear", kinds=["rule"])] == ["Gear two."]
    assert [hit.text for hit in ctx.search("gear", scope="project:shop")] == ["Gear two."]
    assert len(ctx.search("gear", limit=2)) == 2
    assert len(ctx.search("gear", budget=4)) == 1
    hit = ctx.search("gear", kinds=["fact"])[0]
    assert (hit.text, hit.record.ref) == ("Gear one.", hit.ref)
    assert 0 < hit.score <= 1
    assert "match" in hit.why


def test_editing_puts_another_text_in_place_and_keeps_the_history(ctx):
    old = ctx.remember("Tabs for indentation.", kind="preference", scope="language:python")
    new = ctx.edit(old.ref, "Spaces for indentation.")
    assert (new.kind, new.scope, new.supersedes) == ("preference", "language:python", old.ref)
    assert [version.text for version in ctx.versions(old.ref)] == [new.text, old.text]
    assert [hit.ref for hit in ctx.search("indentation")] == [new.ref]


def test_editing_reaches_conversations_that_show_the_old_text(ctx):
    old = ctx.remember("Tabs for indentation.", kind="preference")
    chat = ctx.session("s")
    asked = [{"role": "user", "content": "Hello"}]
    assert old.text in chat.prepare(asked).context.stable
    ctx.edit(old.ref, "Spaces for indentation.")
    stable = chat.prepare(asked).context.stable
    assert "Spaces for indentation." in stable
    assert "Tabs" not in stable


def test_editing_kind_or_scope_alone_is_an_edit_and_nothing_at_all_is_none(ctx):
    old = ctx.remember("Prices are in cents.", kind="fact")
    assert ctx.edit(old.ref, old.text).ref == old.ref
    new = ctx.edit(old.ref, old.text, kind="decision", scope="project:shop")
    assert (new.kind, new.scope, new.seen) == ("decision", "project:shop", old.seen)


def test_editing_into_what_another_memory_says_leaves_one_of_them(ctx):
    first = ctx.remember("Prices are in cents.")
    second = ctx.remember("Prices are in euros.")
    new = ctx.edit(second.ref, "Prices are in cents.")
    assert [hit.ref for hit in ctx.search("prices")] == [new.ref]
    assert ctx.forget(new.ref) == 3
    assert ctx.get([first.ref, second.ref]) == []


def test_editing_an_old_version_or_nothing_says_what_to_do(ctx):
    old = ctx.remember("Tabs.", kind="preference")
    new = ctx.edit(old.ref, "Spaces.")
    with pytest.raises(InvalidValue, match=f"replaced by '{new.ref}'"):
        ctx.edit(old.ref, "Both.")
    with pytest.raises(NotFound, match="no memory 'mnothing'"):
        ctx.edit("mnothing", "Both.")
    with pytest.raises(InvalidValue, match="is empty"):
        ctx.edit(new.ref, "  ")


def test_the_default_place_is_the_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXMW_HOME", str(tmp_path / "home"))
    with ContextMiddleware.open() as ctx:
        ctx.remember("Word.", kind="fact")
    assert (tmp_path / "home" / "memory.db").exists()


def test_a_folder_tells_project_and_language(ctx, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    (folder / "a.py").write_text("")
    ctx.remember("Prices are in cents.", kind="decision", scope="project:shop")
    prepared = ctx.session("s1", cwd=folder).prepare([{"role": "user", "content": "Hello"}])
    assert "cents" in prepared.context.text


def test_records_come_back_to_the_byte_in_another_process(ctx, tmp_path):
    ctx.remember("Prefer early returns. 日本語 & <tags>", kind="preference")
    chat = ctx.session("s1")
    prepared = chat.prepare([{"role": "user", "content": "Hello"}])
    chat.finish(prepared, "Hi.")
    with ContextMiddleware.open(tmp_path / "memory.db") as other:
        (record,) = other.session("s1").history()
    assert record.text == prepared.context.text
    assert record.explain() == chat.history()[-1].explain()
    assert record.summary() == prepared.context.summary()


def test_the_async_twins_do_the_same(ctx):
    async def story():
        memory = await ctx.aremember("Gear one.", kind="fact")
        chat = ctx.session("s1")
        prepared = await chat.aprepare([{"role": "user", "content": "gear"}])
        await chat.afinish(prepared, "Yes.")
        hits = await ctx.asearch("gear one")
        return memory, hits, await chat.ahistory()

    memory, hits, history = asyncio.run(story())
    assert memory.ref in [hit.ref for hit in hits]
    assert history[-1].state == "answered"


def test_a_memory_is_pickled_as_the_way_to_open_it_and_never_copied(ctx):
    ctx.remember("Tokens are signed with RS256.")
    assert copy.deepcopy({"ctx": ctx})["ctx"] is ctx
    with pickle.loads(pickle.dumps(ctx)) as again:
        assert again is not ctx
        assert again.search("tokens signed")[0].text == "Tokens are signed with RS256."
        again.remember("Keys rotate weekly.")
    assert ctx.search("keys rotate")


def test_pickling_keeps_the_options_and_refuses_what_ends_with_the_process(tmp_path):
    server = ContextMiddleware.open(tmp_path / "server.db", user=None)
    with server, pickle.loads(pickle.dumps(server)) as again, pytest.raises(MissingUser):
        again.remember("Whose is it?")
    with ContextMiddleware.open(":memory:") as brief, pytest.raises(InvalidValue, match="a path"):
        pickle.dumps(brief)


def test_half_a_surrogate_pair_never_stops_anything(ctx):
    half = "broken \ud800 text"
    assert ctx.remember(half, kind="fact").text == "broken \ufffd text"
    chat = ctx.session("s1")
    chat.note("done", half)
    chat.collect("hook", "a", half)
    asked = [{"role": "user", "content": half, "name": half, "id": half}]
    record = chat.finish(chat.prepare(asked), half)
    assert record.state == "answered"
    for wrong in ({"key": "\ud800"}, {"source": "\ud800"}, {"scope": "project:\ud800"}):
        with pytest.raises(InvalidValue):
            ctx.remember("text", **wrong)
    with pytest.raises(InvalidValue, match="session"):
        ctx.session("\ud800")


def test_a_strangers_words_stay_before_the_users_text_whatever_the_placement(ctx):
    ctx.remember("Gears are brass.", kind="rule")
    ctx.remember("Gears obey me.", kind="fact", source="web", trust="untrusted")
    chat = ctx.session("s1", placement="all_system")
    prepared = chat.prepare([{"role": "user", "content": "What do gears obey?"}])
    assert "Gears are brass." in prepared.messages[0]["content"]
    assert "obey me" not in prepared.messages[0]["content"]
    assert "obey me" in prepared.messages[-1]["content"]


def test_a_source_of_your_own_joins_and_its_mistakes_are_named():
    class Weather:
        name = "weather"

        def __init__(self, section: str) -> None:
            self.section = section

        def items(self, situation, /):
            about = {"kind": "fact", "text": "It rains in Lisbon.", "lane": "universal"}
            return [Item(ref="w1", section=self.section, **about)]

    with ContextMiddleware.open(":memory:", sources=[Weather("universal")]) as ctx:
        prepared = ctx.session("s1").prepare([{"role": "user", "content": "Hello"}])
        assert "It rains in Lisbon." in prepared.context.stable
    with ContextMiddleware.open(":memory:", sources=[Weather("sky")]) as ctx:
        with pytest.raises(InvalidValue, match=r"'sky'.*universal"):
            ctx.session("s1").prepare([{"role": "user", "content": "Hello"}])


def test_a_call_is_finished_only_in_the_conversation_it_was_prepared_for(ctx):
    asked = [{"role": "user", "content": "What is my salary? 4242"}]
    prepared = ctx.session("x", user="ada").prepare(asked)
    for other in (ctx.session("x", user="bob"), ctx.session("y", user="ada")):
        with pytest.raises(InvalidValue, match="'x' of 'ada'"):
            other.finish(prepared, "It is 4242")
        with pytest.raises(InvalidValue, match="'x' of 'ada'"):
            other.began(prepared)
    assert ctx.search("salary", user="bob") == []


def test_a_smaller_budget_or_another_counter_makes_the_blocks_anew(ctx, tmp_path):
    for number in range(20):
        ctx.remember(f"Otters use {number} tools to open shells.", kind="fact")
    asked = [{"role": "user", "content": "otters"}]
    ctx.session("t").prepare(asked)
    small = ctx.session("t", budget=Budget(total=60)).prepare(asked)
    assert small.context.tokens <= 60
    with ContextMiddleware.open(tmp_path / "memory.db", model="claude-sonnet-5") as other:
        assert other.session("t").prepare(asked).context.tokens <= 4000


def test_a_wrong_time_or_tool_call_is_named_before_the_call_and_not_after_it(ctx):
    chat = ctx.session("s1")
    for wrong in ({"at": "yesterday"}, {"at": 5}, {"tool_calls": 5}, {"tool_calls": [7]}):
        with pytest.raises(InvalidValue, match=r"at is|tool_calls"):
            chat.prepare([{"role": "user", "content": "hi", **wrong}])


def test_secrets_are_redacted_wherever_they_are_given(ctx, tmp_path):
    key = "sk-proj-" + "a1B2c3D4" * 6
    ctx.remember("text", kind="fact", key=key, source=key)
    chat = ctx.session("s1")
    chat.observe("title", kind="bugfix", text=key, files=[key], concepts=[key])
    chat.collect(key, key, key, metadata={"token": key})
    chat.capture([{"role": "user", "content": "hi", "name": key, "id": key}])
    ctx.catalog.add("rule", f"name {key}", f"content {key}")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in stored


def test_a_conversation_knows_its_own_memory(ctx):
    with ContextMiddleware.open(":memory:") as other:
        assert ctx.owns(ctx.session("s1"))
        assert not ctx.owns(other.session("s1"))


def test_the_token_table_is_loaded_at_once_only_where_somebody_must_not_wait_for_it():
    class Words:
        loaded = False

        def __call__(self, text: str) -> int:
            return len(text.split())

        def warm(self) -> None:
            self.loaded = True

    for deadline, at_once in ((None, False), (200.0, True)):
        words = Words()
        with ContextMiddleware.open(":memory:", count=words, deadline=deadline) as ctx:
            ctx.remember("Prefers tabs.")
            assert ctx.search("tabs")
            assert words.loaded is at_once
