"""Which tools go with a call: those that requests called for stay, and the list only grows."""

from __future__ import annotations

import json

import pytest

from ctxmw import ContextMiddleware, catalog_tools

SERVERS = {
    "github": {
        "create_issue": "Create a new issue in a repository.",
        "search_code": "Search for code across repositories.",
    },
    "mail": {"send_email": "Send an email.", "search_emails": "Search for emails."},
    "maps": {"directions": "Get directions between two points."},
}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def schema(name: str, description: str = "") -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "description": description}}


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True) as memory:
        for server, tools in SERVERS.items():
            offered = [schema(name, told) for name, told in tools.items()]
            memory.catalog.add_tools(offered, server=server)
        yield memory


def spelled(way: str) -> list[dict[str, object]]:
    return [
        schema(way.format(server=server, tool=name), told)
        for server, tools in SERVERS.items()
        for name, told in tools.items()
    ]


def test_what_was_spoken_of_stays_bound(ctx):
    chat = ctx.session("s1")
    talk = [user("Can you create an issue in the repository about the login?")]
    first = chat.prepare(talk)
    assert first.tools[0] == "github:create_issue"
    chat.finish(first, "Shall I call it 'Login fails'?")
    talk += [assistant("Shall I call it 'Login fails'?"), user("Yes, please do.")]
    assert chat.prepare(talk).tools == first.tools


def test_a_short_answer_speaks_of_what_was_said_before_it(ctx):
    talk = [user("Hello"), assistant("Shall I send an email to them?"), user("Yes, please do.")]
    assert "mail:send_email" in ctx.session("s1").prepare(talk).tools


def test_the_list_only_grows_and_new_tools_come_last(ctx):
    chat, talk, before = ctx.session("s1"), [], ()
    for asked in ("Create an issue.", "Search my emails.", "Hm.", "Get directions to Rome."):
        talk.append(user(asked))
        prepared = chat.prepare(talk)
        assert prepared.tools[: len(before)] == before
        before = prepared.tools
        chat.finish(prepared, "Done.")
        talk.append(assistant("Done."))
    assert before[0] == "github:create_issue"
    assert "maps:directions" in before


def test_a_tool_that_was_removed_is_not_bound_any_more(ctx):
    chat = ctx.session("s1")
    talk = [user("Create an issue in the repository.")]
    prepared = chat.prepare(talk)
    chat.finish(prepared, "Done.")
    chat.remove("github:create_issue")
    later = chat.prepare([*talk, assistant("Done."), user("Create another issue.")])
    assert "github:create_issue" not in later.tools


@pytest.mark.parametrize(
    "way",
    ["{tool}", "{server}_{tool}", "{server}:{tool}", "mcp__{server}__{tool}", "{server}__{tool}"],
)
def test_tools_are_known_by_the_names_that_adapters_of_servers_write(ctx, way):
    tools = [*spelled(way), schema("own")]
    asked = [user("Create an issue in the repository.")]
    prepared = ctx.session("s1").prepare(asked, tools=tools, choose_tools=True)
    issue = way.format(server="github", tool="create_issue")
    assert prepared.bound[:2] == ("own", issue)
    assert way.format(server="maps", tool="directions") not in prepared.bound
    assert [one["function"]["name"] for one in prepared.sent_tools(tools)] == list(prepared.bound)


def test_the_record_names_what_the_model_was_really_sent(ctx):
    tools, asked = spelled("{tool}"), [user("Create an issue in the repository.")]
    every = tuple(one["function"]["name"] for one in tools)
    assert ctx.session("s1").prepare(asked, tools=tools).context.tools == every
    prepared = ctx.session("s2").prepare(asked, tools=tools, choose_tools=True)
    assert prepared.context.tools == prepared.bound != every
    assert ctx.session("s2").history()[0].tools == prepared.bound


def test_only_bound_tools_count_against_the_window(ctx):
    # Together they would fill the window, and each of them is small beside it.
    tools = [schema(name, "word " * 1_100) for name in ("create_issue", "send_email", "directions")]
    talk = [user("Get directions to Rome.")]
    talk += [turn for _ in range(8) for turn in (assistant("Left. " * 50), user("And on?"))]
    chosen = ctx.session("s1").prepare(talk, window=4_000, tools=tools, choose_tools=True)
    every = ctx.session("s2").prepare(talk, window=4_000, tools=tools)
    assert set(chosen.bound) <= {"directions"}
    assert (bool(chosen.context.view), bool(every.context.view)) == (False, True)


def test_the_share_of_the_prefix_counts_tools_where_providers_put_them(ctx):
    tools, chat = spelled("{tool}"), ctx.session("s1")
    talk = [user("Create an issue in the repository.")]
    chat.finish(chat.prepare(talk, tools=tools, choose_tools=True), "Done.")
    talk += [assistant("Done."), user("Thanks a lot, that was all.")]
    same = chat.prepare(talk, tools=tools, choose_tools=True).context
    assert same.prefix_share > 0.5
    chat.finish(chat.prepare(talk, tools=tools, choose_tools=True), "Bye.")
    talk += [assistant("Bye."), user("Get directions between home and Rome.")]
    grown = chat.prepare(talk, tools=tools, choose_tools=True)
    size = {one["function"]["name"]: len(json.dumps(one)) for one in tools}
    kept, sent = (sum(size[name] for name in names) for names in (same.tools, grown.bound))
    said = sum(len(message["content"]) for message in grown.messages)
    assert set(grown.bound) > set(same.tools)
    # What comes after the tools is read anew once there is one more of them.
    assert grown.context.prefix_share == round(kept / (sent + said), 4)


def test_an_agent_can_ask_for_a_tool_and_has_it_in_its_next_step(ctx):
    chat = ctx.session("s1")
    asked = [user("What is the matter with the login?")]
    assert "mail:search_emails" not in chat.prepare(asked).tools
    (find_tools,) = catalog_tools(chat)
    told = find_tools(query="search emails")
    assert told.startswith("Loaded, to be called in your next step:\n- mail:search_emails: Search")
    assert "mail:search_emails" in chat.prepare(asked).tools


def test_a_tool_can_be_loaded_by_its_name(ctx):
    chat = ctx.session("s1")
    (find_tools,) = catalog_tools(chat)
    assert "maps:directions" in find_tools(names=["directions"])
    assert chat.prepare([user("Hello")]).tools == ("maps:directions",)


def test_where_no_tool_fits_an_agent_is_told_whose_tools_there_are(ctx):
    (find_tools,) = catalog_tools(ctx.session("s1"))
    assert find_tools(query="zzz") == (
        "No tool fits 'zzz'. The catalog has tools of: github (2), mail (2), maps (1).\n"
    )


def test_what_was_looked_at_and_not_bound_is_in_the_record(ctx):
    context = ctx.session("s1").prepare([user("Create an issue about emails and code")]).context
    rated = {used.name: used for used in context.used if used.kind == "tool"}
    declined = [used for used in rated.values() if used.shown == "none"]
    assert rated["github:create_issue"].shown == "full"
    assert all(used.reason for used in declined)
