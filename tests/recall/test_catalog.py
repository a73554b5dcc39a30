"""Rules, references and tools: always, manual or agent."""

from __future__ import annotations

from random import Random

import pytest

from ctxmw import ContextMiddleware, InvalidValue, NotFound
from ctxmw.recall.offering.view import AgentSearch
from ctxmw.testing import FixedClock


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db") as opened:
        opened.catalog.add("rule", "Rule A", "Always write tests first.", include="always")
        opened.catalog.add("rule", "Rule B", "Speak like a pirate.", include="manual")
        opened.catalog.add(
            "rule", "Authentication", "Authenticate with signed tokens only.", include="agent"
        )
        opened.catalog.add("reference", "Reference X", "The API lives at /v2.", include="always")
        opened.catalog.add(
            "reference", "Errors", "Error handling: wrap and rethrow.", include="agent"
        )
        yield opened


@pytest.fixture
def chat(ctx):
    return ctx.session("s1")


def test_the_flow_of_the_three_levels(chat):
    chat.add("Rule B")
    assert chat.rules == ["Rule A", "Rule B"]
    assert chat.references == ["Reference X"]
    first = chat.prepare([user("How do I authenticate?")])
    modes = {used.name: used.include for used in first.context.used if used.shown == "full"}
    assert modes == {
        "Rule A": "always",
        "Rule B": "manual",
        "Reference X": "always",
        "Authentication": "agent",
    }
    chat.finish(first, "With tokens.")
    history = [user("How do I authenticate?"), {"role": "assistant", "content": "With tokens."}]
    second = chat.prepare([*history, user("What is the error handling?")])
    assert "wrap and rethrow" in second.context.part
    assert "signed tokens" not in second.context.part


@pytest.mark.parametrize("seed", range(6))
def test_items_that_match_as_well_come_in_the_order_in_which_they_were_added(tmp_path, seed):
    policy = AgentSearch(top_n=3)
    with ContextMiddleware.open(
        tmp_path / "other.db", agent_search=policy, random=Random(seed), clock=FixedClock()
    ) as ctx:
        for number in range(6):
            ctx.catalog.add("rule", f"Rule {number}", "Zebras have stripes.", include="agent")
        for number in range(3):
            ctx.catalog.add("rule", f"Kept {number}", f"Keep {number}.", include="always")
        context = ctx.session("s1").prepare([user("Do zebras have stripes?")]).context
    looked_at = [used for used in context.used if used.include == "agent"]
    brought = [used.name for used in looked_at if used.shown == "full"]
    assert brought == ["Rule 0", "Rule 1", "Rule 2"]
    assert {used.name: used.reason for used in looked_at if used.shown == "none"} == {
        f"Rule {number}": "others match better" for number in (3, 4, 5)
    }
    assert [line for line in context.stable.splitlines() if line.startswith("- Kept")] == [
        f"- Kept {number}: Keep {number}." for number in range(3)
    ]
    told = [line for line in context.part.splitlines() if line.startswith("- Rule")]
    assert told == [f"- {name}: Zebras have stripes." for name in brought]


def test_only_agent_items_are_searched(chat):
    prepared = chat.prepare([user("Should I speak like a pirate?")])
    assert "pirate" not in prepared.context.text


def test_what_was_removed_stays_removed_also_for_search_and_other_processes(ctx, chat, tmp_path):
    chat.remove("Rule A")
    chat.remove("Authentication")
    with ContextMiddleware.open(tmp_path / "memory.db") as other:
        prepared = other.session("s1").prepare([user("How do I authenticate with tests?")])
    assert "tests first" not in prepared.context.text
    assert "signed tokens" not in prepared.context.text
    chat.add("Rule A")
    assert "Rule A" in chat.rules


def test_a_disabled_item_is_not_there(ctx, chat):
    ctx.catalog.add("rule", "Rule A", "Always write tests first.", enabled=False)
    assert chat.rules == []
    with pytest.raises(NotFound):
        chat.add("Rule A")


def test_an_unknown_name_is_an_error_that_names_the_nearest(chat):
    with pytest.raises(NotFound, match=r"'Rule BB'.*'Rule B'"):
        chat.add("Rule BB")


def test_a_tools_own_mode_wins_over_its_servers_then_always(ctx, chat):
    ctx.catalog.add_server("files", include="manual")
    ctx.catalog.add("tool", "read", "Read a file", server="files")
    ctx.catalog.add("tool", "write", "Write a file", server="files", include="always")
    ctx.catalog.add("tool", "query", "Query the database tables", server="db", include="agent")
    ctx.catalog.add("tool", "clock", "Tell the time")
    assert chat.tools == ["files:write", "clock"]
    chat.add("files:read")
    prepared = chat.prepare([user("Please query the database tables")])
    assert prepared.tools == ("files:read", "files:write", "clock", "db:query")
    assert "Write a file" not in prepared.context.text
    assert "1 agent" in prepared.context.summary()


def test_tools_stay_the_same_within_a_turn_and_are_asked_for_anew_in_the_next(ctx, chat):
    ctx.catalog.add("tool", "query", "Query the database tables", server="db", include="agent")
    asked = [user("Please query the database tables")]
    first = chat.prepare(asked)
    assert chat.prepare(asked).tools == first.tools == ("db:query",)
    chat.finish(first, "Done.")
    later = [*asked, {"role": "assistant", "content": "Done."}, user("Query the database tables!")]
    assert chat.prepare(later).tools == ("db:query",)


def test_top_n_and_the_minimum_score_bound_what_a_request_brings(tmp_path):
    policy = AgentSearch(top_n=2, min_score=0.5)
    with ContextMiddleware.open(tmp_path / "other.db", agent_search=policy) as ctx:
        for number in range(5):
            text = f"Zebra crossing rule {number}."
            ctx.catalog.add("rule", f"Zebra {number}", text, include="agent")
        ctx.catalog.add("rule", "Weak", "A zebra is an animal of the plains.", include="agent")
        prepared = ctx.session("s1").prepare([user("zebra crossing")])
        brought = [used for used in prepared.context.used if used.include == "agent"]
        assert len([used for used in brought if used.shown == "full"]) == 2


def test_an_edit_of_a_rule_in_view_begins_a_new_epoch(ctx, chat):
    first = chat.prepare([user("Hello")])
    chat.finish(first, "Hi.")
    ctx.catalog.add("rule", "Rule A", "Never write tests first.", include="always")
    second = chat.prepare([user("Hello"), {"role": "assistant", "content": "Hi."}, user("Go on")])
    assert "Never write tests first." in second.context.stable
    assert second.context.epoch == 2


def test_a_memory_can_be_pinned_by_its_ref(ctx, chat):
    memory = ctx.remember("An old fact about gears.", kind="fact", scope="project:other")
    chat.add(memory.ref)
    prepared = chat.prepare([user("Hello")])
    (used,) = [used for used in prepared.context.used if used.ref == memory.ref]
    assert (used.include, used.lane, used.shown) == ("manual", "pinned", "full")


@pytest.mark.parametrize("wrong", [{"kind": "law"}, {"include": "sometimes"}, {"server": "s"}])
def test_wrong_values_are_named(ctx, wrong):
    values = {"kind": "rule", "name": "N", "content": "text"} | wrong
    with pytest.raises(InvalidValue):
        ctx.catalog.add(values.pop("kind"), values.pop("name"), values.pop("content"), **values)


def test_an_agents_tools_are_bound_free_ones_first_then_those_of_the_request(ctx):
    ctx.catalog.add("tool", "find", "Find a file.", server="fs")
    ctx.catalog.add("tool", "drop", "Drop a table.", include="agent", server="db")
    ctx.catalog.add("tool", "off", "Never.", enabled=False)
    names = ["drop", "off", "own", "find"]
    assert ctx.catalog.bound(names, ["fs:find"]) == ["own", "find"]
    assert ctx.catalog.bound(names, ["fs:find", "db:drop"]) == ["own", "find", "drop"]
    assert ctx.catalog.bound(["own"], ["fs:find"]) == ["own"]


def test_a_rule_that_becomes_always_in_mid_conversation_is_in_the_next_prompt(ctx, chat):
    chat.finish(chat.prepare([user("Hello")]), "Hi.")
    ctx.catalog.add("rule", "Rule Z", "Zebras first.", include="always")
    later = [user("Hello"), {"role": "assistant", "content": "Hi."}, user("Go on")]
    assert "Zebras first." in chat.prepare(later).context.stable


def test_a_name_that_two_kinds_share_must_be_told_apart(ctx, chat):
    ctx.catalog.add("rule", "Dup", "A rule.", include="manual")
    ctx.catalog.add("reference", "Dup", "A reference.", include="manual")
    with pytest.raises(InvalidValue, match="rule:Dup or reference:Dup"):
        chat.add("Dup")
    chat.add("rule:Dup")
    assert "Dup" in chat.rules
