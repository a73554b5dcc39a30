"""What people expect of a memory, one story at a time."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from ctxmw import Budget, ContextMiddleware, memory_tools
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for

COUNT = counter_for()
NOTES = ("done", "decided", "open")


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def ctx(tmp_path, clock):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=clock) as opened:
        yield opened


def give_tools(ctx) -> None:
    """Let the model fetch: only then it is told what there is to fetch."""
    memory_tools(ctx.session("tools"))


def opening(chat, text: str = "Hello there"):
    """Return the record of the first call of a conversation."""
    return chat.prepare([user(text)]).context


def spent(record, *lanes: str) -> int:
    return sum(record.lanes[lane][0] for lane in lanes)


def test_universal_only_when_neither_language_nor_project_is_known(ctx):
    for number in range(40):
        ctx.remember(f"Universal rule {number} holds in every place and time.", kind="rule")
    ctx.remember("Gofmt everything.", kind="rule", scope="language:go")
    ctx.remember("Hydra has three heads.", kind="decision", scope="project:hydra")
    record = opening(ctx.session("s1", task="coding"))
    assert "Gofmt" not in record.text
    assert "Hydra" not in record.text
    lanes = ("instructions", "universal", "language", "project", "reserve")
    assert 400 < spent(record, *lanes) <= 500


def test_language_and_project_come_together_with_what_is_universal(ctx):
    ctx.remember("Answer briefly.", kind="preference")
    ctx.remember("Gofmt everything.", kind="rule", scope="language:go")
    ctx.remember("Hydra has three heads.", kind="decision", scope="project:hydra")
    text = opening(ctx.session("s1", project="hydra", language="go", task="coding")).text
    assert "## Instructions\n- Answer briefly." in text
    assert "## Go Preferences\n- Gofmt everything." in text
    assert "## Hydra Decisions\n- Hydra has three heads." in text


SCOPES = ("universal", "language:python", "project:shop")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("of_facts", [*SCOPES, "all"])
def test_fresh_facts_never_push_out_an_instruction(ctx, clock, scope, of_facts):
    told = {
        "rule": "Run the linter before every commit.",
        "preference": "I prefer short answers.",
        "anti_pattern": "Mocking the database.",
        "correction": "Say parcel, not package.",
    }
    for kind, text in told.items():
        ctx.remember(text, kind=kind, scope=scope)
    clock.advance(days=20)
    for number in range(80):
        where = SCOPES[number % 3] if of_facts == "all" else of_facts
        ctx.remember(f"Shelf {number} of the store holds {number} boxes.", kind="fact", scope=where)
    record = opening(ctx.session("s1", project="shop", language="python"))
    shown = {used.kind for used in record.used if used.shown == "full"}
    assert shown == {*told, "fact"}
    assert all(text in record.stable for text in told.values())


def test_hundreds_of_preferences_leave_room_for_facts_and_for_the_projects_rules(ctx, clock):
    ctx.remember("Deploy from the release branch only.", kind="rule", scope="project:shop")
    ctx.remember("Checkout is served from Dublin.", kind="fact", scope="project:shop")
    clock.advance(minutes=1)
    for number in range(500):
        ctx.remember(f"I prefer the colour number {number} in charts.", kind="preference")
    for number in range(80):
        ctx.remember(f"Shelf {number} of the store holds {number} boxes.", kind="fact")
    record = opening(ctx.session("s1", project="shop"))
    assert "Deploy from the release branch only." in record.stable
    assert "Checkout is served from Dublin." in record.stable
    full = [used for used in record.used if used.shown == "full"]
    assert sum(used.kind == "fact" for used in full) > 10
    assert sum(used.kind == "preference" for used in full) > 20
    assert "the colour number 499 in" in record.stable
    assert COUNT(record.stable) <= 2800


def test_no_instruction_is_left_out_while_there_is_room_for_it(ctx):
    for number in range(120):
        ctx.remember(f"I prefer the colour number {number} in charts.", kind="preference")
    for number in range(40):
        ctx.remember(f"Shelf {number} of the store holds {number} boxes.", kind="fact")
    stable = opening(ctx.session("s1")).stable
    assert [n for n in range(120) if f"colour number {n} in charts" not in stable] == []


@pytest.mark.parametrize("kind", ["fact", "preference"])
def test_of_many_equal_memories_the_newest_are_shown_whatever_their_refs(tmp_path, kind):
    for seed in range(10):
        with ContextMiddleware.open(
            tmp_path / f"{seed}.db", clock=FixedClock(), random=Random(seed)
        ) as ctx:
            for number in range(61):
                ctx.remember(f"Crate {number} stands in the hall.", kind=kind)
            chat = ctx.session("s1", budget=Budget(total=800))
            lines = [line for line in opening(chat).stable.splitlines() if line[:7] == "- Crate"]
        assert lines == [f"- Crate {60 - at} stands in the hall." for at in range(len(lines))]
        assert 8 < len(lines) < 61


def test_notes_come_open_ones_first_then_newest_first_and_each_once(ctx, clock):
    for day, kind, text in [
        (0, "done", "Wrote the parser."),
        (1, "decided", "Keep the grammar in one file."),
        (2, "done", "Wrote the parser."),
        (3, "next", "Write the docs."),
        (4, "done", "Wrote the tests."),
    ]:
        ctx.session(f"day {day}").note(kind, text)
        clock.advance(days=1)
    stable = opening(ctx.session("s1")).stable
    assert [line for line in stable.splitlines() if line.startswith("- ")] == [
        "- 2026-03-05 next: Write the docs.",
        "- 2026-03-06 done: Wrote the tests.",
        "- 2026-03-04 done: Wrote the parser.",
        "- 2026-03-03 decided: Keep the grammar in one file.",
    ]


def test_more_than_fits_keeps_the_best_and_lists_the_rest(ctx):
    give_tools(ctx)
    for number in range(50):
        rule = f"Rule {number} says that " + "one thing leads to another and " * 8
        for _ in range(1 + number % 3):
            ctx.remember(rule, kind="rule")
    record = opening(ctx.session("s1"))
    shown = [used for used in record.used if used.shown == "full"]
    listed = [used for used in record.used if used.shown == "index"]
    assert spent(record, "universal", "language", "project", "reserve") <= 1200
    assert 0 < len(shown) < 50
    assert listed
    assert min(used.score for used in shown) >= max(used.score for used in listed)
    assert "## Index" in record.text
    assert "mem_search" in record.text


def test_another_languages_rules_are_never_in_however_often_they_were_said(ctx):
    for _ in range(20):
        ctx.remember("Gofmt everything.", kind="rule", scope="language:go")
    record = opening(ctx.session("s1", project="cerberus", language="python"), "How to gofmt?")
    assert "Gofmt" not in record.text
    assert all("Gofmt" not in used.title for used in record.used)


def test_a_project_whose_name_begins_like_this_one_is_another_project(ctx):
    ctx.remember("Acme web uses React.", kind="decision", scope="project:acme:web")
    assert "React" not in opening(ctx.session("s1", project="acme")).text
    assert "React" in opening(ctx.session("s2", project="acme:web")).text


def test_an_old_preference_is_still_in_while_an_old_decision_is_only_listed(ctx, clock):
    give_tools(ctx)
    ctx.remember("Prefer early returns.", kind="preference")
    ctx.remember("Use the blue build server. " + "It is by the window. " * 20, kind="decision")
    clock.advance(days=400)
    record = opening(ctx.session("s1"))
    assert "- Prefer early returns." in record.text
    assert "decision" in record.text.partition("## Index")[2]
    assert "## Recent Decisions" not in record.text


def test_a_correction_said_often_outlives_one_said_once(ctx, clock):
    give_tools(ctx)
    ctx.remember("Use uv and not pip. " + "It is faster than others. " * 20, kind="correction")
    for _ in range(9):
        ctx.remember("Say list, not array.", kind="correction")
    clock.advance(days=200)
    stable = opening(ctx.session("s1")).stable.partition("## Index")
    assert "Say list, not array." in stable[0]
    assert "Use uv and not pip." not in stable[0]
    assert "Use uv and not pip." in stable[2]


def test_of_forty_typical_notes_the_open_ones_and_the_last_of_the_others_open_a_conversation(ctx):
    earlier = ctx.session("before", project="shop")
    closed, waiting = ["done"] * 15 + ["decided"] * 10, ["blocked"] * 7 + ["next"] * 8
    for number, kind in enumerate(closed):
        earlier.note(kind, f"auth: token check moved to service {number}")
    for number, kind in enumerate(waiting):
        earlier.note(kind, f"cart: prices are rounded down in currency {number}")
    record = opening(ctx.session("now", project="shop"))
    notes = Counter(
        used.kind for used in record.used if used.lane in NOTES and used.shown == "full"
    )
    assert notes == {"done": 5, "decided": 5, "blocked": 7, "next": 8}
    assert spent(record, "done", "decided", "open") <= 800


def test_a_task_never_pushes_a_preference_out(ctx):
    ctx.remember("Tea is better than coffee.", kind="preference")
    for task in (None, "coding", "debugging", "documentation", "architecture"):
        record = opening(ctx.session(f"s-{task}", task=task))
        assert "Tea is better than coffee." in record.text


def test_the_task_is_found_in_what_was_said_and_adds_to_the_score(ctx):
    ctx.remember("When you debug an error, fix the test first.", kind="preference")
    ctx.remember("Tea is better than coffee.", kind="preference")
    record = opening(ctx.session("s1"), "There is a bug: an error in the debug test, fix it")
    scores = {used.title: used.score for used in record.used}
    assert scores["When you debug an error, fix the test first."] > 0.7
    assert scores["Tea is better than coffee."] == 0.7


def test_anti_patterns_are_shown_as_what_to_avoid(ctx):
    ctx.remember("global state", kind="anti_pattern")
    ctx.remember("Avoid long functions", kind="anti_pattern")
    text = opening(ctx.session("s1")).text
    assert "- Avoid: global state" in text
    assert "- Avoid long functions" in text


def test_a_startup_with_nothing_to_say_puts_nothing_into_the_prompt(ctx):
    chat = ctx.session("s1")
    prepared = chat.prepare([{"role": "system", "content": "You help."}, user("Hello")])
    assert prepared.messages == [{"role": "system", "content": "You help."}, user("Hello")]
    assert prepared.context.summary() == "0/4000 tokens"


def test_memories_are_shown_though_there_was_no_earlier_conversation(ctx):
    ctx.remember("Answer briefly.", kind="preference")
    assert "Answer briefly." in opening(ctx.session("first-ever")).text


def test_the_last_five_conversations_are_summed_up_and_the_present_one_is_not(ctx, clock):
    for number in range(7):
        ctx.session(f"c{number}", project="shop").end(f"Summary of conversation {number}.")
        clock.advance(hours=1)
    present = ctx.session("c6", project="shop")
    text = opening(present).text.partition("## Index")[0]
    assert "Summary of conversation 6." not in text
    assert [f"conversation {n}." in text for n in range(6)] == [False, *[True] * 5]


def test_summaries_come_before_the_index_and_both_fit_their_lane_when_it_is_tight(ctx, clock):
    give_tools(ctx)
    for number in range(5):
        ctx.session(f"c{number}").end(f"Summary {number}. " + "It was a long conversation. " * 20)
        clock.advance(hours=1)
    for number in range(60):
        ctx.remember(f"Rule {number} " + "with many words to say and more " * 5, kind="rule")
    record = opening(ctx.session("now"))
    assert "## Recent Sessions" in record.text
    assert "## Index" in record.text
    assert record.tokens <= 4000


def test_a_question_brings_what_the_startup_left_out(ctx, clock):
    ctx.remember("The staging password rotates with the moon.", kind="fact")
    clock.advance(days=365)
    record = opening(ctx.session("s1"), "When does the staging password rotate?")
    assert "rotates with the moon" in record.part


def test_small_talk_brings_nothing(ctx):
    chat = ctx.session("before")
    chat.capture([user("We moved the database to Frankfurt."), user("Thanks for the help!")])
    for said in ("thanks!", "ok", "Thank you so much", "yes please", "👍", "haha nice"):
        assert opening(ctx.session(f"now-{said}"), said).part == ""


def test_a_smaller_total_scales_every_lane(ctx):
    for number in range(60):
        ctx.remember(f"Universal rule {number} holds in every place and time.", kind="rule")
    small = opening(ctx.session("s1", budget=Budget(total=1000)))
    large = opening(ctx.session("s2", budget=Budget(total=4000)))
    assert COUNT(small.text) <= 1000
    assert small.lanes["universal"][1] * 4 == large.lanes["universal"][1] == 200


def test_a_budget_of_nothing_still_prepares(ctx):
    ctx.remember("Answer briefly.", kind="preference")
    record = opening(ctx.session("s1", budget=Budget(total=0)))
    assert record.text == ""
    assert [used.reason for used in record.used] == ["over budget"]


def test_two_people_on_one_memory_never_see_each_other(tmp_path):
    with ContextMiddleware.open(tmp_path / "server.db", user=None) as ctx:
        ctx.remember("Ada likes tea.", kind="preference", user="ada")
        ctx.remember("Bob likes beer.", kind="preference", user="bob")
        for name, theirs in (("ada", "Bob"), ("bob", "Ada")):
            chat = ctx.session("s1", user=name)
            assert theirs not in opening(chat, "Who likes tea or beer?").text
