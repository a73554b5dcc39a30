"""A wrong object is refused at once, with an error of ours that tells what would do."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, InvalidValue, SqliteStore, memory_tools
from ctxmw.composition import Options

WRONG = [object(), 5, b"x", dict, 1.5]
SAID = [{"role": "user", "content": "Good morning"}]


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        memory.remember("Tokens are signed with RS256.")
        yield memory


@pytest.fixture
def chat(ctx):
    return ctx.session("s1")


# --- opening ---


def test_the_path_of_a_store_is_no_store_and_the_error_says_how_to_open_it():
    with pytest.raises(InvalidValue, match=r"'shop\.db'.*SqliteStore\('shop\.db'\).*\.open\('sho"):
        ContextMiddleware("shop.db")


@pytest.mark.parametrize("wrong", [*WRONG, None, "", {}, SqliteStore])
def test_what_is_no_store_is_refused_before_anything_is_done_with_it(wrong):
    with pytest.raises(InvalidValue, match=r"store is .*ContextMiddleware\.open\("):
        ContextMiddleware(wrong)


def test_a_store_that_lacks_something_is_told_what():
    class Older:
        """A store as it was before it had to say where it is."""

        put = get = query = count = search = delete = changes = head = restore = users = print
        put_blobs = get_blobs = blob_refs = blob_spaces = drop_blobs = atomic = in_atomic = print
        close = print

    with pytest.raises(InvalidValue, match="which has no path, identity, remote, read_blob: give"):
        ContextMiddleware(Older())


def test_a_source_without_a_name_is_refused():
    class Nameless:
        def items(self, situation, /):
            return []

    with pytest.raises(InvalidValue, match=r"it must have a name and items\(\)"):
        ContextMiddleware.open(":memory:", sources=[Nameless()])


@pytest.mark.parametrize("name", sorted(set(Options.__annotations__) - {"deadline", "window"}))
@pytest.mark.parametrize("wrong", [object(), 5, b"x"], ids=type)
def test_an_option_of_the_wrong_kind_is_refused_by_its_name(tmp_path, name, wrong):
    with pytest.raises(InvalidValue) as refused:
        ContextMiddleware.open(tmp_path / "memory.db", **{name: wrong})
    assert name.replace("_", "") in str(refused.value).lower().replace("_", "")


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "8000"])
def test_a_window_is_a_number_of_tokens(wrong):
    with pytest.raises(InvalidValue, match=f"window is {wrong!r}: give the model's window"):
        ContextMiddleware.open(":memory:", window=wrong)


def test_one_pattern_is_no_list_of_patterns():
    # Each of its characters would be one, and everything be taken out.
    with pytest.raises(InvalidValue, match=r"redact is .*: give a list of regular expressions"):
        ContextMiddleware.open(":memory:", redact="shop-[0-9]+")


@pytest.mark.parametrize("name", ["offers", "sources", "modes"])
def test_a_list_of_something_else_is_refused(name):
    with pytest.raises(InvalidValue):
        ContextMiddleware.open(":memory:", **{name: ["x"]})


# --- the memory ---


@pytest.mark.parametrize("name", ["source", "session"])
@pytest.mark.parametrize("wrong", [*WRONG, {}, [], 0, False, ""])
def test_forgetting_something_that_is_no_name_forgets_nothing(ctx, name, wrong):
    with pytest.raises(InvalidValue, match="name one of ref, source, session or metadata"):
        ctx.forget(**{name: wrong})
    assert len(ctx.search("tokens")) == 1


@pytest.mark.parametrize("wrong", [*WRONG, {}, [], 0, False, ""])
def test_forgetting_a_ref_that_is_none_forgets_nothing(ctx, wrong):
    with pytest.raises(InvalidValue, match="name one of ref, source, session or metadata"):
        ctx.forget(wrong)
    assert len(ctx.search("tokens")) == 1


@pytest.mark.parametrize("wrong", [*WRONG, None, [["x"]], [{}], [5], "m222222"])
def test_refs_are_a_list_of_texts(ctx, wrong):
    with pytest.raises(InvalidValue, match=r"refs is .*: give a list"):
        ctx.get(wrong)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "500"])
def test_a_budget_leaves_room_for_something(ctx, chat, wrong):
    with pytest.raises(InvalidValue, match=f"budget is {wrong!r}: give a number of tokens"):
        ctx.search("tokens", budget=wrong)
    with pytest.raises(InvalidValue, match=f"limit is {wrong!r}: give a number of tokens"):
        chat.leave(SAID, limit=wrong)


@pytest.mark.parametrize("wrong", ["", "  ", "\u200b", 5, b"x", object()])
def test_a_conversation_has_an_id_that_says_something(ctx, wrong):
    with pytest.raises(InvalidValue, match="a session's id"):
        ctx.session(wrong)


@pytest.mark.parametrize("wrong", [*WRONG, "src/a.py", {"a": 1}, [5]])
def test_files_are_a_list_of_texts(ctx, wrong):
    with pytest.raises(InvalidValue, match=r"files is .*: give a list of texts"):
        ctx.session("s1", files=wrong)


@pytest.mark.parametrize("wrong", ["", 0, {}])
def test_nothing_is_no_placement_and_no_scope(ctx, wrong):
    with pytest.raises(InvalidValue):
        ctx.session("s1", placement=wrong)
    with pytest.raises(InvalidValue):
        ctx.search("tokens", scope=wrong)


# --- a conversation ---


@pytest.mark.parametrize("wrong", [*WRONG, {}, ["x"]])
def test_a_query_is_text(chat, wrong):
    for call in (chat.prepare, chat.peek):
        with pytest.raises(InvalidValue, match=r"query is .*: give text"):
            call(SAID, query=wrong)


@pytest.mark.parametrize("wrong", [*WRONG, {"name": "x"}, "x"])
def test_tools_are_a_list_of_schemas(chat, wrong):
    with pytest.raises(InvalidValue, match=r"tools is .*: give a list"):
        chat.prepare(SAID, tools=wrong)
    with pytest.raises(InvalidValue, match=r"tools is .*: give a list"):
        chat.compact(SAID, window=8000, tools=wrong)


@pytest.mark.parametrize("wrong", [*WRONG, "x"])
def test_lists_of_texts_are_asked_for_where_they_are_wanted(chat, wrong):
    with pytest.raises(InvalidValue, match="files is"):
        chat.observe("Fixed it", kind="bugfix", files=wrong)
    with pytest.raises(InvalidValue, match="decisions is"):
        chat.end("All done.", decisions=wrong)


@pytest.mark.parametrize("wrong", [*WRONG, None, "c222222"])
def test_a_prompt_is_that_of_a_record(chat, wrong):
    with pytest.raises(InvalidValue, match=r"record is .*history\(\)"):
        chat.prompt(wrong)


def test_a_prompt_of_another_user_is_not_shown(ctx, chat):
    record = ctx.session("s1", user="bob").prepare(SAID).context
    with pytest.raises(InvalidValue, match="record is"):
        chat.prompt(record)


@pytest.mark.parametrize("wrong", [*WRONG, [], {}])
def test_the_source_of_an_entry_is_text(chat, wrong):
    with pytest.raises(InvalidValue, match="an entry's source"):
        chat.collect(wrong, "1", "Something.")


@pytest.mark.parametrize("wrong", [*WRONG, None, "memory.db"])
def test_tools_are_those_of_a_conversation(wrong):
    with pytest.raises(InvalidValue, match=r"give a conversation, such as ctx\.session"):
        memory_tools(wrong)


def test_tools_of_a_memory_are_those_of_one_of_its_conversations(ctx):
    with pytest.raises(InvalidValue, match=r"ContextMiddleware: give a conversation"):
        memory_tools(ctx)
