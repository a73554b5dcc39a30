from __future__ import annotations

import re
from typing import Any

import pytest

from ctxmw.conversation.record import Build, ContextRecord, build_fields, reply_key
from ctxmw.recall.lanes import Choice, Selection
from ctxmw.recall.render import Layout, Markdown
from ctxmw.recall.selection import select_turn
from ctxmw.tokens.prompt_counter import prompt_counter
from ctxmw.values.items import Item
from ctxmw.values.situation import Floors
from tests.support.strategies import NOW, item


def choice(shown: str = "full", reason: str = "", **values: Any) -> Choice:
    return Choice(item=item(**values), shown=shown, tokens=7, reason=reason)  # type: ignore[arg-type]


def build(*choices: Choice, kind: str = "stable", tools: tuple[Item, ...] = ()) -> Build:
    selection = Selection(choices=choices, tokens=0)
    return Build(user="ada", ref="b1", at=NOW, **build_fields(selection, kind, tools))  # type: ignore[arg-type]


def record(*builds: Build, **values: Any) -> ContextRecord:
    standard = {"user": "ada", "ref": "c1", "at": NOW, "turn": "t", "epoch": 1, "tokens": 612}
    standard |= {"limit": 4000, "counter": "o200k_base", "exact": True}
    standard |= {"stable_build": "b1", "part_build": "b2", "builds": builds}
    return ContextRecord(**standard | values)


def rules(n: int, include: str) -> list[Choice]:
    return [choice(ref=f"r{include}{at}", kind="rule", include=include) for at in range(n)]


def decisions(n: int, **values: Any) -> list[Choice]:
    return [choice(ref=f"m{at}", kind="decision", **values) for at in range(n)]


# --- the summary ---


def test_the_summary_counts_kinds_and_how_they_came_in_and_tokens() -> None:
    made = record(build(*rules(2, "always"), *decisions(2)), build(*rules(3, "agent"), kind="turn"))
    assert made.summary() == "5 rules (3 agent, 2 always), 2 decisions, 612/4000 tokens"


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ([], "612/4000 tokens"),
        (decisions(1), "1 decision, 612/4000 tokens"),
        (decisions(1, include="agent"), "1 decision (agent), 612/4000 tokens"),
        (decisions(2, include="manual"), "2 decisions (all manual), 612/4000 tokens"),
        (decisions(2, shown="brief"), "2 decisions, 612/4000 tokens"),
        (decisions(3, shown="index"), "3 in the index, 612/4000 tokens"),
        (decisions(3, shown="none"), "612/4000 tokens"),
        (
            [choice(kind="anti_pattern", ref="a"), choice(kind="anti_pattern", ref="b")],
            "2 anti-patterns, 612/4000 tokens",
        ),
        ([choice(kind="summary")], "1 session summary, 612/4000 tokens"),
        (
            [choice(kind="discovery", ref="a"), choice(kind="discovery", ref="b")],
            "2 discoveries, 612/4000 tokens",
        ),
        ([choice(kind="next")], "1 next step, 612/4000 tokens"),
    ],
)
def test_the_summary_reads_as_people_write(choices: list[Choice], expected: str) -> None:
    assert record(build(*choices)).summary() == expected


def test_the_summary_says_when_tokens_are_estimated() -> None:
    made = record(build(*decisions(1)), exact=False, counter="cl100k_base x 1.5")
    assert made.summary() == "1 decision, 612/4000 tokens (estimated: cl100k_base x 1.5)"


def test_tools_that_were_bound_are_counted_and_cost_nothing() -> None:
    tool = item("look things up", ref="r9", kind="tool", title="web:look")
    made = record(build(tools=(tool,)), tokens=0)
    assert made.summary() == "1 tool, 0/4000 tokens"
    assert [(used.name, used.tokens) for used in made.used] == [("web:look", 0)]


# --- the table ---


def table(text: str) -> list[dict[str, str]]:
    """Read the rows of a table by where its columns stand."""
    _, header, rule, *rows = text.splitlines()
    columns = [match.span() for match in re.finditer("-+", rule)]
    ends = [*(start for start, _ in columns[1:]), None]
    cuts = [slice(start, end) for (start, _), end in zip(columns, ends, strict=True)]
    return [{header[cut].strip(): row[cut].strip() for cut in cuts} for row in rows]


def test_explain_is_a_table_of_what_was_considered_and_why() -> None:
    signals = (("seen", 0.75), ("recency", 1.0))
    stable = build(
        choice(ref="mabcdef", kind="decision", text="Auth uses\nJWT.", score=0.8, reasons=signals),
        choice(ref="mx", shown="none", reason="below floor 0.7", text="old news", score=0.64),
    )
    listed = {"shown": "index", "reason": "over budget", "include": "agent", "score": 0.91}
    made = record(stable, build(choice(ref="m2", **listed), kind="turn"))
    assert made.explain().startswith("1 decision, 1 in the index, 612/4000 tokens\n")
    rows = [
        *[("mabcdef", "decision", "always", "0.80", "full", "Auth uses JWT.")],
        *[("m2", "preference", "agent", "0.91", "index", "Prefer early returns.")],
        *[("mx", "preference", "always", "0.64", "none", "old news")],
    ]
    names = ("ref", "kind", "how", "score", "shown", "title")
    assert [tuple(row[name] for name in names) for row in table(made.explain())] == rows
    assert [row["why"] for row in table(made.explain())] == [
        "seen 0.75, recency 1.00",
        "over budget",
        "below floor 0.7",
    ]
    assert {row["tokens"] for row in table(made.explain())} == {"7"}


def test_explain_ends_with_what_is_not_in_the_table() -> None:
    figures = {"left_out": {"over budget": 3}, "lanes": {"pinned": (5, 400), "turn": (30, 1200)}}
    made = record(build().model_copy(update=figures), prefix_share=0.956, degraded="vectors")
    assert made.explain() == (
        "612/4000 tokens\n"
        "and 3 more not shown: over budget\n"
        "lanes: pinned 5/400, turn 30/1200\n"
        "prefix shared with the last prompt: 96%\n"
        "degraded: vectors"
    )


def test_the_display_of_a_turn_lists_what_was_used_by_section_and_mode() -> None:
    rule = {"kind": "rule", "text": "..."}
    made = record(
        build(
            choice(ref="r1", title="Authentication Rules", **rule),
            choice(ref="r2", title="Error Handling", include="manual", **rule),
            choice(ref="m1", kind="decision", shown="index", text="only listed"),
        ),
        build(
            choice(ref="r3", title="File Operations", include="agent", score=0.87, **rule),
            choice(ref="m2", kind="decision", include="agent", score=0.6, text="Auth uses JWT."),
            choice(ref="o1", kind="bugfix", include="agent", score=0.5, text="Clock skew"),
            kind="turn",
        ),
    )
    assert made.display() == (
        "Context used:\n"
        "Rules (3):\n"
        "- Authentication Rules [always]\n"
        "- Error Handling [manual]\n"
        "- File Operations [agent 0.87]\n"
        "Memories (1):\n"
        "- Auth uses JWT. [agent 0.60]\n"
        "Sessions (1):\n"
        "- Clock skew [agent 0.50]\n"
        "5 items (3 agent, 1 always, 1 manual), 612/4000 tokens"
    )
    assert record(build(*decisions(2, shown="none"))).display() == "Context used: none"


def test_explain_lists_what_is_shown_before_what_is_not_and_the_best_first() -> None:
    made = record(
        build(
            choice(ref="none", shown="none"),
            choice(ref="index", shown="index"),
            choice(ref="low", score=0.7),
            choice(ref="high", score=0.9),
            choice(ref="brief", shown="brief"),
        )
    )
    rows = [line.split()[0] for line in made.explain().splitlines()[3:]]
    assert rows == ["high", "low", "brief", "index", "none"]


def test_a_hostile_title_takes_one_line_of_the_table() -> None:
    made = record(build(choice(text="a\n\n\u2028b\x1b[31m" + "x" * 500)))
    assert len(made.explain().splitlines()) == 4
    assert "\x1b" not in made.explain()


def test_explain_of_nothing_is_the_summary() -> None:
    assert record().explain() == "612/4000 tokens"


# --- what a record keeps ---


def test_what_one_block_shows_is_not_listed_as_left_out_by_the_other() -> None:
    left_out = choice(ref="m1", shown="none", reason="below floor 0.7")
    made = record(build(left_out), build(choice(ref="m1", include="agent"), kind="turn"))
    assert [(used.block, used.shown) for used in made.used] == [("turn", "full")]


def test_counts_of_what_is_not_listed_are_added_up() -> None:
    one, other = (build().model_copy(update={"left_out": {"over budget": n}}) for n in (2, 3))
    assert record(one, other).left_out == {"over budget": 5}


def test_the_text_is_the_stable_block_and_the_part_with_nothing_between() -> None:
    assert record(stable="<a>\n", part="<b>\n").text == "<a>\n<b>\n"


def test_a_record_is_stored_without_a_word_of_what_it_shows() -> None:
    made = record(
        build(choice(text="Auth uses JWT.", title="the title", label="speaker")),
        stable="- Auth uses JWT.\n",
        part="- Auth uses JWT.\n",
    )
    stored = made.row().body + made.builds[0].row().body
    assert made.builds[0].used[0].title == "the title"
    assert not any(words in stored for words in ("Auth", "JWT", "the title", "speaker"))


def test_a_record_and_its_builds_come_back_from_their_rows() -> None:
    made = build(
        *decisions(2, reasons=(("seen", 0.5),)),
        choice(ref="mx", shown="none", reason="over budget"),
    )
    back = Build.model_validate_json(made.row().body)
    untitled = [used._replace(words="") for used in made.used]
    assert back == made.model_copy(update={"used": tuple(untitled)})
    kept = record(made, prefix_share=0.5, entries={"e1": "v1"})
    again = ContextRecord.model_validate_json(kept.row().body)
    assert again == kept.model_copy(update={"builds": ()})


def test_a_build_knows_what_it_shows_and_what_need_not_be_shown_again() -> None:
    made = build(
        choice(ref="m1", version="v1"),
        choice(ref="m2", version="v2", shown="brief"),
        choice(ref="m3", version="v3", shown="index"),
        choice(ref="m4", version="v4", shown="none"),
    )
    assert made.shown == {"m1": "v1", "m2": "v2", "m3": "v3"}
    assert made.in_view == {"m1": "v1"}
    # In a turn's part, what is shown briefly is what the question matched.
    assert made.model_copy(update={"kind": "turn"}).in_view == {"m1": "v1", "m2": "v2"}


def test_a_build_of_a_selection_has_its_hash_lanes_and_reasons() -> None:
    layout = Layout(renderer=Markdown(), count=prompt_counter(len), title=str)
    selection = select_turn([item("x" * 50), item("y" * 900, ref="m2")], 120, layout, Floors())
    fields = build_fields(selection, "turn")
    assert fields["hash"] == selection.block.hash
    assert fields["tokens"] == selection.tokens == fields["lanes"]["turn"][0]
    assert [(used.shown, used.reason) for used in fields["used"]] == [
        ("full", ""),
        ("none", "over budget"),
    ]


def test_an_answer_is_known_by_what_it_says() -> None:
    assert reply_key(" In verify(). ") == reply_key("in  verify()")
    assert reply_key("In verify()?") != reply_key("In verify().")
