from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.protocols import Renderer
from ctxmw.recall.lanes import NOT_SHOWN, Selection
from ctxmw.recall.render import Compact, Layout, Markdown, Xml, title_of
from ctxmw.recall.selection import (
    Overflow,
    select_lanes,
    select_stable,
    select_turn,
)
from ctxmw.tokens.counter import Counter, counter_for
from ctxmw.tokens.prompt_counter import prompt_counter
from ctxmw.values.budget import MEMORY_LANES, NOTE_LANES, Arriving, Budget
from ctxmw.values.items import Item, Scope
from ctxmw.values.situation import Floors
from tests.support.strategies import NOW, item, texts

RENDERERS = [Markdown(), Xml(), Compact()]
NO_LANES = dict.fromkeys(Budget().lanes(), 0)
FRAME = sum(map(len, Markdown().frame(hint=True)))
"""What the frame costs where a test counts characters instead of tokens."""
PART_FRAME = sum(map(len, Markdown().frame(hint=False)))
HEADING = len("## Instructions\n")


def title(section: str) -> str:
    return title_of(section, project="shop", language="python")


CHARACTERS = Layout(renderer=Markdown(), count=prompt_counter(len), title=title)


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def count(home: None, request: pytest.FixtureRequest) -> Counter:
    counter = counter_for(request.param)
    if not counter.exact:
        pytest.skip("no token tables on this machine: pip install llama-index-core")
    return counter


def stable(items: Sequence[Item], **lanes: int) -> Selection:
    """Choose with these lanes, in characters; the frame is paid for by the index."""
    limits = NO_LANES | lanes | {"index": FRAME + lanes.get("index", 0)}
    return select_stable(items, limits, CHARACTERS, Floors())


def shown(selection: Selection) -> dict[str, str]:
    return {choice.item.ref: choice.shown for choice in selection.choices}


def reasons(selection: Selection) -> dict[str, str]:
    return {choice.item.ref: choice.reason for choice in selection.choices}


def of_length(length: int, ref: str, **values: object) -> Item:
    """Return an item whose bullet is this long, "- " and the line's end included."""
    return item((f"{ref} " + "x" * length)[: length - 3], ref=ref, **values)


LANGUAGE = {"lane": "language", "section": "language"}
PROJECT = {"lane": "project", "section": "project"}
PINNED = {"lane": "pinned", "section": "rules", "kind": "rule"}
SUMMARY = {"lane": "index", "section": "sessions", "kind": "summary"}


# --- lanes of the stable block ---


def test_a_lane_pays_for_its_own_items_only() -> None:
    crowd = [of_length(100, f"m{n}", score=0.9) for n in range(9)]
    other = of_length(100, "m_project", **PROJECT)
    project = len("## Shop Decisions\n") + 100
    chosen = stable([*crowd, other], universal=HEADING + 200, project=project)
    full = [ref for ref, how in shown(chosen).items() if how == "full"]
    assert full == ["m0", "m1", "m_project"]
    assert chosen.lanes["universal"] == (HEADING + 200, HEADING + 200)
    assert chosen.lanes["project"] == (project, project)


def full(selection: Selection) -> list[str]:
    return [ref for ref, how in shown(selection).items() if how == "full"]


def test_the_better_score_goes_first_and_of_equal_ones_the_newest() -> None:
    items = [
        of_length(50, "m1", score=0.7, at=NOW - timedelta(days=2)),
        of_length(50, "m2", score=0.7, at=NOW - timedelta(days=1)),
        of_length(50, "m3", score=0.7),
        of_length(50, "m4", score=0.8, at=NOW - timedelta(days=9)),
    ]
    chosen = stable(items, universal=HEADING + 150)
    assert full(chosen) == ["m4", "m2", "m1"]
    told = [line[2:4] for line in chosen.block.text.splitlines() if line.startswith("- m")]
    assert told == ["m4", "m2", "m1"]


def test_what_is_equal_in_all_comes_in_the_order_of_its_source() -> None:
    items = [of_length(50, ref, at=NOW) for ref in ("m3", "m1", "m2")]
    chosen = stable(items, universal=HEADING + 100)
    assert full(chosen) == ["m3", "m1"]


# --- instructions ---


def instruction(ref: str, **values: object) -> Item:
    return of_length(100, ref, instructs=True, **{"score": 0.7, "at": NOW, **values})


def test_instructions_have_a_lane_that_better_facts_cannot_take() -> None:
    facts = [of_length(100, f"m{n}", kind="fact", score=0.8, at=NOW) for n in range(20)]
    rules = [instruction("r1"), instruction("r2", lane="project", section="project")]
    headings = HEADING + len("## Shop Decisions\n")
    chosen = stable([*facts, *rules], instructions=headings + 200, universal=200)
    assert full(chosen) == ["r1", "r2", "m0", "m1"]
    assert chosen.lanes["instructions"] == (headings + 200, headings + 200)
    assert chosen.lanes["universal"] == (200, 200)


def test_many_instructions_leave_the_lanes_of_facts_alone() -> None:
    rules = [instruction(f"r{n}") for n in range(500)]
    facts = [of_length(100, f"m{n}", kind="fact", score=0.8) for n in range(9)]
    chosen = stable([*rules, *facts], instructions=HEADING + 300, universal=200, reserve=100)
    assert [ref[0] for ref in full(chosen)] == [*"rrr", *"mm", "m"]


def test_an_instruction_that_found_no_room_in_its_lane_competes_with_facts() -> None:
    items = [
        of_length(100, "m1", kind="fact", score=0.6),
        of_length(100, "m2", kind="fact", score=0.75),
        instruction("r1"),
    ]
    assert full(stable(items, universal=HEADING + 200)) == ["m2", "r1"]


def test_what_instructions_leave_over_is_for_other_memories() -> None:
    items = [instruction("r1"), *(of_length(100, f"m{n}", kind="fact") for n in range(5))]
    chosen = stable(items, instructions=HEADING + 300)
    assert full(chosen) == ["r1", "m0", "m1"]
    assert chosen.lanes["instructions"] == (HEADING + 100, HEADING + 300)
    assert chosen.lanes["reserve"] == (200, 0)


def test_what_nobody_else_needs_is_for_instructions_before_it_is_for_the_index() -> None:
    items = [instruction("r1"), of_length(100, "m1", kind="fact", score=0.9)]
    chosen = stable(items, done=HEADING + 100)
    assert shown(chosen) == {"r1": "full", "m1": "none"}


def test_what_was_stated_most_often_goes_first_then_the_newest() -> None:
    items = [
        instruction("r1", seen=1, at=NOW - timedelta(days=2)),
        instruction("r2", seen=1, at=NOW),
        instruction("r3", seen=4, at=NOW - timedelta(days=300)),
        instruction("r4", seen=1, at=NOW - timedelta(days=1)),
    ]
    assert full(stable(items, instructions=HEADING + 300)) == ["r3", "r2", "r4"]


def test_instructions_are_printed_before_facts_that_score_better() -> None:
    items = [of_length(100, "m1", kind="fact", score=0.9), instruction("r1")]
    text = stable(items, instructions=HEADING + 100, universal=100).block.text
    assert text.index("- r1") < text.index("- m1")


def test_scopes_take_turns_so_that_none_pushes_out_anothers_instructions() -> None:
    crowd = [instruction(f"r{n}", seen=9) for n in range(50)]
    own = [
        instruction("l1", **LANGUAGE, scope=Scope("language", "python")),
        instruction("p1", **PROJECT, scope=Scope("project", "shop")),
    ]
    chosen = stable([*crowd, *own], instructions=500)
    assert set(full(chosen)) == {"l1", "p1", "r0", "r1"}


# --- notes ---


def note(ref: str, text: str, days: float, kind: str = "done", **values: object) -> Item:
    lane = kind if kind in NOTE_LANES else "open"
    about = {"lane": lane, "section": "notes", "kind": kind, "label": kind}
    return item(text, ref=ref, at=NOW - timedelta(days=days), **about, **values)


def test_notes_are_a_timeline_whatever_their_kind_and_score() -> None:
    items = [
        note("n1", "Wrote the parser.", 3, score=0.9),
        note("n2", "Write the docs.", 1, "next", score=0.8),
        note("n3", "Use SQLite.", 2, "decided", score=0.7),
    ]
    chosen = stable(items, done=200, decided=200, open=200)
    told = [line for line in chosen.block.text.splitlines() if line.startswith("- ")]
    assert told == [
        "- 2026-03-01 next: Write the docs.",
        "- 2026-02-28 decided: Use SQLite.",
        "- 2026-02-27 done: Wrote the parser.",
    ]


def test_of_notes_in_the_same_words_the_newest_is_shown_and_the_record_says_so() -> None:
    items = [
        note(f"n{days}", "Fixed  the login." if days % 2 else "fixed the login.", days)
        for days in (3, 1, 2)
    ]
    other = note("x1", "Fixed the login.", 0, "decided")
    chosen = stable([*items, other], done=500, decided=500)
    assert shown(chosen) == {"n1": "full", "x1": "full", "n2": "none", "n3": "none"}
    assert reasons(chosen)["n3"] == "same as n1"


def test_what_was_done_since_is_not_shown_as_open() -> None:
    items = [
        note("n1", "Write the docs of the parser.", 3, "next"),
        note("n2", "Wrote the docs of the parser.", 1),
        note("n3", "Load test the parser.", 2, "next"),
        note("n4", "Write the docs of the parser in French.", 0, "next"),
    ]
    chosen = stable(items, done=500, open=500)
    assert shown(chosen) == {"n2": "full", "n4": "full", "n3": "full", "n1": "none"}
    assert reasons(chosen)["n1"] == "closed by n2"


def test_of_what_was_done_the_newest_is_shown_and_all_with_a_full_appetite() -> None:
    items = [note(f"n{days}", f"Fixed page {days}.", days) for days in range(9)]
    done = {ref for ref, form in shown(stable(items, done=900)).items() if form == "full"}
    assert done == {"n0", "n1", "n2", "n3", "n4"}
    eager = replace(CHARACTERS, arriving=Arriving(appetite="full"))
    limits = NO_LANES | {"done": 900, "index": FRAME}
    chosen = select_stable(items, limits, eager, Floors())
    assert set(shown(chosen).values()) == {"full"}


HEARD = {"kind": "fact", "section": "about", "source": "conversation"}


def test_what_was_heard_once_has_its_lane_and_nothing_that_others_leave() -> None:
    said = [of_length(50, f"m{n}", **HEARD) for n in range(6)]
    told = of_length(50, "t1", kind="fact", section="facts", source="user")
    often = of_length(50, "o1", **HEARD, seen=2)
    room = {"universal": 120 + 2 * HEADING, "reserve": 900, "instructions": 900}
    chosen = stable([*said, told, often], **room)
    kept = [ref for ref, form in shown(chosen).items() if form == "full"]
    assert {"t1", "o1"} <= set(kept)
    assert len(kept) < 5


def test_of_what_was_heard_once_who_somebody_is_goes_first_then_the_newest() -> None:
    said = [
        item(text, ref=ref, at=NOW - timedelta(days=days), **HEARD)
        for ref, text, days in (
            ("m1", "I liked that film a lot.", 1),
            ("m2", "I live in Bergen by the sea.", 9),
            ("m3", "I bought a red bicycle.", 0),
        )
    ]
    about = len("## About the User, in Their Words\n")
    chosen = stable(said, universal=about + 60)
    assert [choice.item.ref for choice in chosen.choices if choice.shown == "full"] == ["m2", "m3"]


NO_TOOLS = replace(CHARACTERS, fetches=False)


def test_a_model_without_tools_is_told_of_nothing_that_it_would_have_to_fetch() -> None:
    long = item("Sign every commit. " + "And so on. " * 60, ref="r1", **PINNED)
    seen = item("Looked at web/theme.css " * 20, ref="o1", kind="edit", lane="index")
    items = [long, seen, of_length(400, "m1", score=0.65)]
    limits = NO_LANES | {"pinned": 200, "index": FRAME + 900}
    chosen = select_stable(items, limits, NO_TOOLS, Floors())
    assert chosen.block.text == "<ctxmw>\n## Rules\n- Sign every commit.\n</ctxmw>\n"
    assert shown(chosen) == {"r1": "brief", "o1": "none", "m1": "none"}


@pytest.mark.parametrize("renderer", RENDERERS)
def test_what_is_shown_in_part_has_no_id_where_nothing_can_be_fetched(renderer: Renderer) -> None:
    long = item("Deploys run on Friday. " + "And so on. " * 60, ref="r1", passage="It is Friday.")
    layout = replace(NO_TOOLS, renderer=renderer)
    chosen = select_turn([long], 400, layout, Floors(), hint=True)
    assert "It is Friday." in chosen.block.text
    assert "r1" not in chosen.block.text
    assert "tokens" not in chosen.block.text


def test_of_a_long_pinned_text_as_many_lines_are_shown_as_there_is_room_for() -> None:
    rules = "\n".join(f"- Rule {n} holds." for n in range(50))
    pinned = item(rules, ref="r1", passage="- Rule 0 holds.", **PINNED)
    chosen = stable([pinned], pinned=100, project=300)
    told = chosen.block.text.count("holds.")
    assert 15 <= told < 50
    assert chosen.tokens <= 400 + FRAME


def test_the_reserve_is_overflow_that_memory_lanes_share_best_first() -> None:
    items = [
        of_length(100, "m1", score=0.95),
        of_length(100, "m2", score=0.8),
        of_length(100, "m3", **LANGUAGE, score=0.9),
        of_length(100, "m4", **LANGUAGE, score=0.85),
        of_length(100, "m5", **PROJECT, score=0.75),
    ]
    heading = len("## Python Preferences\n")
    lanes = {"universal": HEADING + 100, "language": heading + 100}
    chosen = stable(items, **lanes, reserve=100)
    assert [ref for ref, how in shown(chosen).items() if how == "full"] == ["m1", "m3", "m4"]
    assert chosen.lanes["reserve"] == (100, 100)


def test_notes_have_no_share_in_the_reserve() -> None:
    note = of_length(60, "n1", lane="done", section="notes", kind="done")
    pour_nothing = {"reserve": 500, "done": 59}
    chosen = select_stable(
        [note, of_length(500 - HEADING, "m1")],
        NO_LANES | pour_nothing | {"index": FRAME},
        CHARACTERS,
        Floors(),
    )
    assert shown(chosen) == {"m1": "full", "n1": "none"}


@pytest.mark.parametrize("lane", NOTE_LANES)
def test_notes_are_paid_for_by_the_lane_of_their_kind(lane: str) -> None:
    note = of_length(60, "n1", lane=lane, section="notes")
    chosen = stable([note], **{lane: 200})
    assert shown(chosen) == {"n1": "full"}
    assert chosen.lanes[lane] == (60 + len("## Session Notes\n"), 200)


def test_what_other_lanes_leave_over_goes_to_pinned_first() -> None:
    rule = of_length(200, "r1", **PINNED)
    lesser = of_length(100, "m1", score=0.65)
    chosen = stable([rule, lesser], universal=100, done=100, reserve=10)
    assert shown(chosen) == {"r1": "full", "m1": "none"}


def test_what_one_scope_leaves_over_goes_to_memories_of_the_others() -> None:
    facts = [of_length(100, f"m{n}") for n in range(3)]
    chosen = stable(facts, universal=130, project=200)
    assert set(shown(chosen).values()) == {"full"}


def test_the_index_has_its_own_lane_and_no_more() -> None:
    listed = of_length(400, "m1", score=0.65)
    assert shown(stable([listed], universal=300)) == {"m1": "none"}
    chosen = stable([listed], index=300)
    assert shown(chosen) == {"m1": "index"}
    assert reasons(chosen)["m1"] == "below floor 0.7"


def test_where_a_line_costs_as_much_as_the_text_the_text_is_shown() -> None:
    notes = {"lane": "done", "section": "notes"}
    assert shown(stable([item("short", ref="m1", score=0.8, **notes)], index=300)) == {"m1": "full"}
    assert shown(stable([item("short", ref="m1", score=0.6, **notes)], index=300)) == {"m1": "none"}


def test_whether_a_line_or_the_text_is_shown_does_not_hang_on_the_letters_of_a_ref() -> None:
    # One of these lengths stands on the border between the two.
    for length in range(60, 240, 2):
        listed = [item("x" * length, ref=ref, score=0.65) for ref in ("m1", "mabcdefghij")]
        forms = {shown(stable([one], index=300))[one.ref] for one in listed}
        assert len(forms) == 1, length


def test_pinned_items_come_first_whatever_they_score() -> None:
    rule = of_length(100, "r1", **PINNED, score=0.1)
    crowd = [of_length(100, f"m{n}", score=1.0) for n in range(50)]
    chosen = stable([*crowd, rule], pinned=120, universal=500)
    assert next(iter(shown(chosen).items())) == ("r1", "full")
    assert chosen.lanes["pinned"] == (100 + len("## Rules\n"), 120)


def test_a_pinned_item_that_does_not_fit_is_shown_briefly_and_the_record_says_why() -> None:
    rule = item("Sign every commit. " + "And so on. " * 60, ref="r1", **PINNED)
    chosen = stable([rule], pinned=200)
    assert "- Sign every commit. (r1, 68" in chosen.block.text
    assert (shown(chosen)["r1"], reasons(chosen)["r1"]) == ("brief", "over budget")


def test_a_pinned_item_without_a_brief_form_becomes_an_index_line() -> None:
    chosen = stable([of_length(300, "r1", **PINNED)], pinned=200)
    assert "- r1 rule: r1 xxx" in chosen.block.text
    assert (shown(chosen)["r1"], reasons(chosen)["r1"]) == ("index", "over budget")


def test_a_pinned_item_that_fits_nowhere_is_in_the_record_with_a_reason() -> None:
    chosen = stable([of_length(300, "r1", **PINNED)], pinned=60)
    assert (shown(chosen)["r1"], reasons(chosen)["r1"]) == ("none", "over budget")
    assert chosen.block.text == ""


def test_an_item_that_is_too_long_is_skipped_and_the_next_still_fits() -> None:
    items = [of_length(1000, f"m{n}", score=0.9) for n in range(30)]
    items += [of_length(100, "m_small", score=0.7)]
    chosen = stable(items, universal=HEADING + 100)
    assert shown(chosen)["m_small"] == "full"
    assert "over budget" in reasons(chosen)["m0"]


def test_untrusted_text_gets_an_index_line_in_our_words_and_no_more() -> None:
    stranger = {"trust": "untrusted", "source": "tool:web", "score": 1.0}
    items = [
        item("alpha", ref="m1", **stranger),
        item("bravo", ref="r1", **PINNED, **stranger),
        item("charlie", ref="s1", **SUMMARY, **stranger),
    ]
    chosen = select_stable(items, Budget(total=40_000).lanes(), CHARACTERS, Floors())
    assert shown(chosen) == {"m1": "index", "r1": "index", "s1": "index"}
    assert set(reasons(chosen).values()) == {"untrusted"}
    assert not any(word in chosen.block.text for word in ("alpha", "bravo", "charlie"))


# --- summaries and the index ---


def summaries(n: int, text: str = "Moved the token check.") -> list[Item]:
    return [
        item(f"{at} {text}", ref=f"s{at}", **SUMMARY, at=NOW - timedelta(days=at))
        for at in range(n)
    ]


def test_the_last_five_summaries_are_shown_and_older_ones_listed() -> None:
    chosen = stable(summaries(7, "It went on. " * 30)[::-1], index=10_000)
    full = {ref for ref, how in shown(chosen).items() if how == "full"}
    assert full == {"s0", "s1", "s2", "s3", "s4"}
    assert shown(chosen)["s5"] == shown(chosen)["s6"] == "index"


def test_a_summary_without_a_date_is_not_taken_for_the_latest() -> None:
    long = "It went on. " * 30
    undated = [replace(one, ref=f"s_{one.ref}", at=None) for one in summaries(2, long)]
    chosen = stable([*undated, *summaries(5, long)], index=10_000)
    assert {shown(chosen)[one.ref] for one in undated} == {"index"}


@pytest.mark.parametrize("pins", [0, 3, 200])
@pytest.mark.parametrize("renderer", RENDERERS, ids=lambda renderer: renderer.name)
def test_summaries_and_the_index_have_their_tokens_when_all_other_lanes_are_full(
    renderer: Renderer, count: Counter, pins: int
) -> None:
    long = "The token check moved into verify and the clock skew on staging is fixed. "
    crowd = [
        item(f"{lane} {n} {long * 2}", ref=f"m{lane}{n}", lane=lane, section="notes", score=0.9)
        for lane in (*MEMORY_LANES, *NOTE_LANES)
        for n in range(40)
    ]
    crowd += [item(f"pin {n} {long * 9}", ref=f"r{n}", **PINNED) for n in range(pins)]
    items = [*crowd, *summaries(9, long * 6)]
    layout = Layout(renderer=renderer, count=count, title=title)
    chosen = select_stable(items, Budget().lanes(), layout, Floors())
    assert all(shown(chosen)[f"s{n}"] != "none" for n in range(5))
    assert sum(shown(chosen)[f"s{n}"] in ("full", "brief") for n in range(5)) >= 2
    assert chosen.lanes["index"][0] >= 300


def test_an_observation_is_listed_in_the_index() -> None:
    observed = {"lane": "index", "section": "sessions", "kind": "bugfix"}
    told = "Clock skew\nbroke login. " + "It took a day to see. " * 10
    chosen = stable([item(told, ref="o1", **observed)], index=500)
    assert "- o1 bugfix: Clock skew broke login. " in chosen.block.text


# --- the law ---


@pytest.mark.parametrize("lane", ["index", "universal", "pinned"])
def test_nothing_is_shown_when_the_frame_alone_takes_the_budget(lane: str) -> None:
    for total in range(FRAME + 1):
        chosen = select_stable(
            [item("x", ref="m1")], NO_LANES | {lane: total}, CHARACTERS, Floors()
        )
        assert (chosen.block.text, chosen.tokens) == ("", 0)
        assert (shown(chosen), reasons(chosen)) == ({"m1": "none"}, {"m1": "over budget"})
        assert set(chosen.lanes.values()) <= {(0, 0), (0, total)}
    for total in range(PART_FRAME + 1):
        assert select_turn([item("x")], total, CHARACTERS, Floors()).block.text == ""


lane_names = st.sampled_from([*MEMORY_LANES, *NOTE_LANES, "pinned", "index", "turn"])
placed = st.builds(
    item,
    texts,
    lane=lane_names,
    section=st.sampled_from(["universal", "language", "project", "notes", "sessions", "rules"]),
    kind=st.sampled_from(["preference", "summary", "rule"]),
    group=st.sampled_from(["", "2026-03-02 s1", "</ctxmw>"]),
    score=st.sampled_from([0.2, 0.3, 0.65, 0.7, 0.9]),
    trust=st.sampled_from(["trusted", "untrusted"]),
    at=st.sampled_from([None, NOW, NOW - timedelta(days=9)]),
)
worlds = st.lists(placed, max_size=12).map(
    lambda items: [replace(one, ref=f"m{at}") for at, one in enumerate(items)]
)


@pytest.mark.parametrize("renderer", RENDERERS, ids=lambda renderer: renderer.name)
@given(items=worlds, total=st.integers(0, 1500))
def test_what_the_lanes_paid_is_the_count_of_the_text(
    count: Counter, renderer: Renderer, items: list[Item], total: int
) -> None:
    layout = Layout(renderer=renderer, count=count, title=title)
    floors, memory_lanes = Floors(), {"universal": total, "language": total, "project": total}
    for chosen in (
        select_stable(items, Budget(total=total).lanes(), layout, floors),
        select_turn(items, total, layout, floors),
        select_turn(items, total, layout, floors, overflow=Overflow(kept_for_index=total // 6)),
        select_lanes(items, memory_lanes, layout),
    ):
        assert chosen.tokens == count(chosen.block.text)
        assert chosen.tokens == sum(spent for spent, _ in chosen.lanes.values())
        assert chosen.tokens <= sum(limit for _, limit in chosen.lanes.values())
        assert {ref for ref, how in shown(chosen).items() if how != "none"} == chosen.block.refs


def test_a_counter_whose_counts_do_not_add_up_still_keeps_the_budget() -> None:
    def superadditive(text: str) -> int:
        return len(text) + 9 * max(0, text.count("\n") - 1)

    layout = replace(CHARACTERS, count=prompt_counter(superadditive))
    items = [of_length(40, f"m{n:02}", score=0.9) for n in range(60)]
    for total in range(0, 4000, 97):
        chosen = select_stable(items, Budget(total=total).lanes(), layout, Floors())
        assert superadditive(chosen.block.text) == chosen.tokens <= Budget(total=total).stable_limit
        used = [ref for ref, how in shown(chosen).items() if how != "none"]
        assert set(used) == chosen.block.refs
        assert len(shown(chosen)) + sum(chosen.left_out.values()) == 60
        assert all(spent >= 0 for spent, _ in chosen.lanes.values())


def test_what_is_dropped_at_the_end_is_what_was_added_last() -> None:
    def one_more_for_the_whole(text: str) -> int:
        return len(text) + (100 if text.count("\n") > 3 else 0)

    items = [of_length(50, "m1", score=0.9), of_length(50, "m2", score=0.8)]
    layout = replace(CHARACTERS, count=prompt_counter(one_more_for_the_whole))
    lanes = NO_LANES | {"universal": HEADING + 100, "index": FRAME}
    chosen = select_stable(items, lanes, layout, Floors())
    assert (shown(chosen), reasons(chosen)["m2"]) == ({"m1": "full", "m2": "none"}, "over budget")
    assert chosen.lanes["universal"] == (HEADING + 50, HEADING + 100)


def test_the_best_of_what_is_left_out_is_kept_one_by_one_and_the_rest_counted() -> None:
    items = [item("x" * 99, ref=f"m{n:03}", score=round(0.2 + n / 1000, 4)) for n in range(90)]
    items += [of_length(9000, f"m9{n:02}", score=0.9) for n in range(20)]
    chosen = stable(items, universal=30)
    none = [choice for choice in chosen.choices if choice.shown == "none"]
    assert len(none) == NOT_SHOWN
    assert {choice.item.ref for choice in none[:20]} == {f"m9{n:02}" for n in range(20)}
    assert dict(chosen.left_out) == {"below floor 0.3": 60}
    assert none[0].tokens == 9000


# --- a turn's part, and answers on demand ---


def test_a_turn_takes_items_in_the_order_given() -> None:
    items = [of_length(100, "m1", score=0.3), of_length(100, "m2", score=0.9)]
    chosen = select_turn(items, PART_FRAME + HEADING + 100, CHARACTERS, Floors())
    assert shown(chosen) == {"m1": "full", "m2": "none"}


def test_what_does_not_fit_a_turn_is_shown_briefly_or_listed() -> None:
    long = item("Keys rotate weekly. " + "More. " * 100, ref="m1")
    short = of_length(250, "m2")
    chosen = select_turn([long, short], 270, CHARACTERS, Floors())
    assert shown(chosen) == {"m1": "brief", "m2": "index"}
    assert set(reasons(chosen).values()) == {"over budget"}


def test_of_a_long_text_a_turn_shows_the_passage_that_matches() -> None:
    long = item("Keys rotate weekly. " * 50, ref="m1", passage="Keys rotate weekly.")
    chosen = select_turn([long, item("short", ref="m2")], 5000, CHARACTERS, Floors())
    assert shown(chosen) == {"m1": "brief", "m2": "full"}
    assert reasons(chosen) == {"m1": "what matches of it", "m2": ""}


def test_a_turn_lists_only_a_few_and_no_notice() -> None:
    notice = of_length(320, "e1", section="notices", kind="notice")
    items = [notice, *(of_length(300, f"m{n:02}") for n in range(30))]
    chosen = select_turn(items, 300, CHARACTERS, Floors(), overflow=Overflow(index_lines=2))
    listed = [ref for ref, how in shown(chosen).items() if how == "index"]
    assert listed == ["m00", "m01"]
    assert shown(chosen)["e1"] == "none"


def test_tokens_kept_for_the_index_are_used_when_not_all_fits() -> None:
    items = [of_length(200, f"m{n}") for n in range(5)]
    room = PART_FRAME + HEADING + 1000
    assert set(shown(select_turn(items, room, CHARACTERS, Floors())).values()) == {"full"}
    kept = select_turn(
        items[:4], room - 200, CHARACTERS, Floors(), overflow=Overflow(kept_for_index=300)
    )
    assert set(shown(kept).values()) == {"full"}
    kept = select_turn(
        items, room - 100, CHARACTERS, Floors(), overflow=Overflow(kept_for_index=300)
    )
    assert list(shown(kept).values()) == ["full", "full", "full", "index", "index"]


def test_an_answer_on_demand_fills_its_lanes_then_lists_the_rest() -> None:
    items = [of_length(200, f"m{n}", score=0.9) for n in range(3)]
    items += [of_length(200, "p1", **PROJECT)]
    lanes = {"universal": HEADING + 200, "language": 0, "project": 580}
    chosen = select_lanes(items, lanes, CHARACTERS)
    assert shown(chosen) == {"m0": "full", "p1": "full", "m1": "full", "m2": "index"}
