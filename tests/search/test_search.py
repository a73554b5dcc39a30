"""Search finds the evidence, ranks it, says why, and never falls over."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import pytest

from ctxmw import ContextMiddleware
from ctxmw.search.lexical.index import LexicalIndex
from ctxmw.search.per_user import SPACE
from ctxmw.search.question import Filter
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.values.situation import Situation
from tests.support.documents import document
from tests.support.snapshots import restarted

NOW = datetime(2024, 3, 14, 12, tzinfo=UTC)


@pytest.fixture
def ctx(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", clock=FixedClock(NOW)) as opened:
        yield opened


def said(speaker: str, text: str, day: str = "2024-01-05") -> dict[str, str]:
    return {"role": "user", "name": speaker, "content": text, "at": f"{day}T10:00:00+00:00"}


def texts(hits) -> list[str]:
    return [hit.text for hit in hits]


def test_the_best_match_comes_first_and_says_why(ctx):
    ctx.remember("Gears are made of brass.", kind="fact")
    ctx.remember("Gears are turned by hand in the old mill.", kind="fact")
    hits = ctx.search("What are gears made of, brass?")
    assert hits[0].text == "Gears are made of brass."
    assert "match 1.00" in hits[0].why


def test_other_forms_of_a_word_and_words_that_stand_for_it_are_found(ctx):
    ctx.session("s1").capture([said("Ann", "We adopted a puppy in spring.")])
    assert ctx.search("Which pets were adopted?")


def test_who_said_it_decides_between_two_that_say_the_same_thing(ctx):
    ctx.session("s1").capture(
        [said("Ann", "I play the violin on Sundays."), said("Bob", "I play the drums on Sundays.")]
    )
    (hit,) = ctx.search("What instrument does Bob play?", budget=20)
    assert "drums" in hit.text


def test_a_month_that_is_named_decides_when_words_do_not(ctx):
    ctx.session("s1").capture([said("Ann", "I went to a concert.", "2023-05-20")])
    ctx.session("s2").capture([said("Ann", "I went to a concert!", "2023-09-20")])
    found = ctx.search("Which concert did Ann go to last September?", budget=25)
    assert found[0].record.at.month == 9


def test_the_answer_right_after_a_matching_question_is_brought_along(ctx):
    ctx.session("s1").capture(
        [said("Ann", "What is the name of your boat?"), said("Bob", "Saltimbanco.")]
    )
    assert "Saltimbanco" in "\n".join(texts(ctx.search("name of Bob's boat", budget=60)))


def test_hits_within_a_budget_are_grouped_by_conversation_under_one_date(ctx):
    ctx.session("b").capture([said("Ann", f"Gear {n} is brass.", "2024-02-01") for n in range(3)])
    ctx.session("a").capture([said("Ann", f"Gear {n} is steel.", "2024-01-01") for n in range(3)])
    hits = ctx.search("gear brass steel", budget=200)
    shown = texts(hits)
    assert shown[0].startswith("[2024-01-01 a]\nAnn: ") or shown[0].startswith(
        "[2024-01-01]\nAnn: "
    )
    assert sum(text.startswith("[") for text in shown) == 2
    assert [hit.record.at for hit in hits] == sorted(hit.record.at for hit in hits)


@pytest.mark.parametrize("budget", [1, 7, 30, 200, 1000])
def test_hits_never_cost_more_than_the_budget(ctx, budget):
    lines = [said("Ann", f"Gear {n} turns " + "slowly and surely. " * (n % 40)) for n in range(60)]
    ctx.session("s1").capture(lines)
    hits = ctx.search("Which gear turns slowly?", budget=budget)
    assert counter_for()("\n".join(texts(hits))) <= budget


def test_a_long_text_is_shown_as_the_passage_that_matched_and_marked(ctx):
    filler = "The weather was fine and nothing much happened that day. " * 40
    ctx.session("s1").capture([said("Ann", f"{filler}The vault opens with marmalade. {filler}")])
    (hit,) = ctx.search("What does the vault open with?", budget=600)
    assert "marmalade" in hit.text
    assert "…" in hit.text
    assert len(hit.text) < len(filler) * 1.5


ROWS = [{"subject": f"box {at}", "batch": 7000 + at, "note": "red wood old"} for at in range(90)]
LISTED = {
    "JSON": json.dumps({"status": "ok", "records": ROWS}),
    "table": "subject,batch,note\n" + "\n".join(",".join(map(str, row.values())) for row in ROWS),
    "log": "\n".join(
        f"2026-03-02 09:00 INFO {row['subject']} batch {row['batch']}" for row in ROWS
    ),
}


def looked_up(data: str) -> list[dict[str, object]]:
    call = {"id": "c", "name": "look_up", "args": {"kind": "boxes", "with": "batches"}}
    return [
        {"role": "user", "content": "Look up the boxes."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "look_up", "content": data},
        {"role": "assistant", "content": "I have them."},
    ]


def pasted(data: str) -> list[dict[str, object]]:
    asked = {"role": "user", "content": f"Here are the boxes:\n{data}"}
    return [asked, {"role": "assistant", "content": "I have them."}]


@pytest.mark.parametrize("told", [looked_up, pasted])
@pytest.mark.parametrize("form", LISTED)
def test_one_row_of_data_is_found_among_others_and_among_questions_like_it(ctx, form, told):
    ctx.session("s1").capture(told(LISTED[form].replace("box 47", "Zanzibar")))
    for at in range(12):
        asked = {"role": "user", "content": f"What was the batch of the crate {at} again?"}
        ctx.session("s1").capture([asked, {"role": "assistant", "content": "I will look at it."}])
    question = "What was the batch of Zanzibar again?"
    chat = ctx.session("later")
    prepared = chat.prepare([{"role": "user", "content": question}], window=8_000)
    assert "7047" in prepared.context.part


def test_what_a_tool_answered_comes_before_that_it_was_called(ctx):
    ctx.session("s1").capture(looked_up(LISTED["JSON"]))
    hits = ctx.search("Which boxes have batches?")
    roles = [hit.record.role for hit in hits if hit.record.type == "turn"]
    assert roles.index("tool") < roles.index("assistant")


def test_words_in_quotes_are_wanted_together(ctx):
    ctx.remember("The red light comes before the house.", kind="fact")
    ctx.remember("The light house is red.", kind="fact")
    assert ctx.search('Where is the "light house"?', budget=10)[0].text == "The light house is red."


def test_the_newest_is_preferred_when_the_question_asks_how_things_stand(ctx):
    ctx.session("old").capture([said("Ann", "The deadline is in June.", "2023-01-05")])
    ctx.session("new").capture([said("Ann", "The deadline is in August.", "2024-02-05")])
    assert "August" in ctx.search("What is the current deadline?", budget=18)[0].text


def test_a_record_that_names_a_file_in_play_is_brought(ctx):
    ctx.remember("verify.py must never log a token.", kind="rule", scope="project:other")
    ctx.remember("Logging goes to stderr.", kind="rule", scope="project:other")
    situation = Situation(
        user="local", now=NOW, query="logging", project="other", files=("src/auth/verify.py",)
    )
    texts_found = [item.text for item in ctx._recall.find(situation, Filter()).items]
    assert "verify.py must never log a token." in texts_found


def test_files_and_the_query_can_be_given(ctx):
    ctx.session("old").capture([said("Ann", "verify.py was split in two.")])
    ctx.session("old2").capture([said("Ann", "The splitter is loud.")])
    chat = ctx.session("s1", files=["src/auth/verify.py"])
    prepared = chat.prepare([{"role": "user", "content": "ok"}], query="what was split?")
    assert "verify.py was split" in prepared.context.part


def test_accents_do_not_count(ctx):
    ctx.remember("Käse aus München.", kind="fact")
    assert ctx.search("kase munchen")


def test_of_those_that_match_as_well_the_newest_comes_first(ctx):
    for number in range(10, 40):
        ctx.remember(f"Crate {number} stands in the hall.", kind="fact")
    found = texts(ctx.search("Which crate stands in the hall?", limit=5))
    assert found == [f"Crate {number} stands in the hall." for number in (39, 38, 37, 36, 35)]


def test_texts_that_say_the_same_are_found_once(ctx):
    ctx.session("s1").capture([said("Ann", "Gears are brass."), said("Bob", "gears  are BRASS.")])
    assert len(ctx.search("gears brass", budget=100)) == 1


def test_other_languages_are_found_by_their_words(ctx):
    ctx.remember("私の好きな食べ物は寿司です。", kind="fact")
    ctx.remember("Мой любимый город — Казань.", kind="fact")
    assert "寿司" in texts(ctx.search("寿司が好き"))[0]
    assert "Казань" in texts(ctx.search("любимый город"))[0]


def test_what_another_process_wrote_is_found_at_once(ctx, tmp_path):
    ctx.search("gears")
    with ContextMiddleware.open(tmp_path / "memory.db") as other:
        memory = other.remember("Gears are made of brass.", kind="fact")
        assert [hit.ref for hit in ctx.search("brass gears")] == [memory.ref]
        other.forget(memory.ref)
        assert ctx.search("brass gears") == []


def test_statistics_are_the_users_own(ctx):
    for number in range(50):
        ctx.remember(f"Gear number {number} of bob.", kind="fact", user="bob")
    ctx.remember("Gear oil is green.", kind="fact")
    ctx.remember("Green is a colour.", kind="fact")
    alone = ctx.search("gear green")
    assert alone[0].text == "Gear oil is green."
    assert all("bob" not in hit.text for hit in alone)


def hostile(rng: random.Random) -> str:
    pieces = ['"', "'", "*", "NEAR(", "AND", "OR NOT", "col:", "\0", "\ud800", "--", ";", "(", ")",
              "日本", "🙂", "<|endoftext|>", "a" * 50, "\n", "May", "last", "2023-13-45", "ΑΒΓ",
              "gear", "%", "_", "\\", "{}", "[", "]", "^", "~", "://"]  # fmt: skip
    return "".join(rng.choice(pieces) + rng.choice(["", " "]) for _ in range(rng.randint(1, 30)))


def test_hostile_queries_never_raise(ctx):
    ctx.session("s1").capture([said("Ann", f"Gear {n} is made of brass.") for n in range(50)])
    rng = random.Random(3)
    for _ in range(2_000):
        ctx.search(hostile(rng), budget=rng.choice([None, 50]))
    ctx.search("")
    ctx.search("gear " * 20_000)


# -- the gate -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "brings"),
    [
        ("Which cheese is it?", True),
        ("Tell me more about the cheese", True),
        ("the blue cheese smells again", True),
        ("cheese!", False),
        ("we should be fine, cheese or not", False),
        ("Do you like cheese?", False),
        ("Do you like blue cheese?", True),
        ("Do you know that cheese?", True),
        ("Do you like my cheese?", True),
        ("blue sky, says the moon", False),
    ],
)
def test_a_question_needs_one_word_of_its_subject_and_a_remark_two_in_one_record(
    ctx, message, brings
):
    ctx.session("s1").capture([said("Ann", "The blue cheese of Roquefort smells.")])
    for number in range(10):
        ctx.session(f"other{number}").capture([said("Ann", f"Item {number} is in the shed.")])
    ctx.session("moon").capture([said("Ann", "The moon was out.")])
    part = ctx.session("s2").prepare([{"role": "user", "content": message}]).context.part
    assert ("Roquefort" in part) is brings


@pytest.mark.parametrize(
    ("message", "brings"),
    [
        ("my knee is killing me", True),
        ("hey, our knee hurts", True),
        ("from the bottom of my knee", False),
        ("knee is killing", False),
        ("my elbow is killing me", False),
    ],
)
def test_a_remark_about_something_of_ones_own_that_is_known_needs_no_second_word(
    ctx, message, brings
):
    told = {"role": "user", "content": "I've got dodgy knees, the left one had an op."}
    ctx.session("s1").capture([told, {"role": "assistant", "content": "Avoid hills."}])
    part = ctx.session("s2").prepare([{"role": "user", "content": message}]).context.part
    assert ("dodgy" in part) is brings


def test_in_a_small_memory_a_word_that_half_of_it_holds_opens_it_too(ctx):
    ctx.session("s1").capture([said("Ann", "We build a tracking service. FastAPI, no ORM.")])
    ctx.session("s2").capture([said("Ann", "The tracking service has a new logo.")])
    asked = [{"role": "user", "content": "Write an intro for the tracking service"}]
    assert "FastAPI" in ctx.session("s3").prepare(asked).context.part


@pytest.mark.parametrize(
    ("told", "asked", "brings"),
    [
        ("All of it went over to MariaDB last spring.", "Which database do we use?", True),
        ("The builds run on Buildkite.", "what CI do we have?", True),
        ("People talk on Mattermost there.", "what chat does the team use?", True),
        ("The builds run on Buildkite.", "Which database do we use?", False),
        ("The builds run on Buildkite.", "the CI is slow", False),
    ],
)
def test_a_question_for_a_kind_of_thing_brings_things_of_that_kind(ctx, told, asked, brings):
    ctx.session("s1").capture([said("Ann", told)])
    for number in range(10):
        ctx.session(f"other{number}").capture([said("Ann", f"Item {number} is in the shed.")])
    part = ctx.session("s2").prepare([{"role": "user", "content": asked}]).context.part
    assert (told in part) is brings


# -- the index ------------------------------------------------------------------------------------


def postings(index: LexicalIndex, word: str) -> set[str]:
    [(places, _)] = index.postings([index.vocabulary.known([word])[word]])
    return {index.ref(place) for place in places}


def test_posting_lists_are_the_same_before_and_after_freezing():
    index = LexicalIndex()
    for number in range(700):
        index.add([document(f"t{number}", f"gear {'brass' if number % 3 else 'steel'} n{number}")])
    before = {word: postings(index, word) for word in ("gear", "brass", "steel", "n5")}
    index.freeze()
    assert {word: postings(index, word) for word in before} == before
    assert len(before["gear"]) == 700


def test_removing_a_turn_makes_its_neighbours_each_others():
    index = LexicalIndex()
    for ref in "abc":
        index.add([document(ref, f"gear {ref}", "s1")])
    index.remove("b")
    assert index.columns["next"].all[index.place("a")] == index.place("c")
    assert index.columns["previous"].all[index.place("c")] == index.place("a")
    index.add([document("d", "gear d", "s1")])
    assert index.columns["previous"].all[index.place("d")] == index.place("c")


@pytest.mark.parametrize("size", [50, 300], ids=["without room", "with room"])
def test_an_index_comes_back_from_its_copy(size):
    index = LexicalIndex()
    for number in range(size):
        index.add([document(f"t{number}", f"gear n{number}", f"s{number % 5}")])
    again = restarted(index)
    assert [again.ref(place) for place in range(size)] == [f"t{n}" for n in range(size)]
    for each in (again, index):
        each.remove("t7")
        each.add([document("new", "gear fresh", "s1"), document("t8", "gear changed", "s3")])
    assert [again.place(f"t{n}") for n in range(size + 1)] == [
        index.place(f"t{n}") for n in range(size + 1)
    ]
    assert postings(again, "gear") == postings(index, "gear")
    for name in ("previous", "next", "session", "alive", "length"):
        assert (again.columns[name].all == index.columns[name].all).all()


def test_an_index_grows_beyond_what_its_copy_has_room_for():
    """Numbers are kept in as few bytes as they take: 127 of something fit into one, 128 do not."""
    index = LexicalIndex()
    for number in range(100):
        index.add([document(f"t{number}", f"gear n{number}", f"s{number}")])
    again = restarted(index)
    for number in range(100, 40_000, 1000):
        more = [
            document(f"t{n}", f"gear {'gear ' * (n % 300)}n{n}", f"s{n}")
            for n in range(number, number + 20)
        ]
        for each in (again, index):
            each.add(more)
        again = restarted(again)
    assert postings(again, "gear") == postings(index, "gear")
    assert postings(again, "n39119") == {"t39119"}
    for name in ("session", "previous", "next", "length", "day"):
        assert (again.columns[name].all == index.columns[name].all).all()


def test_a_copy_is_kept_used_and_made_anew_when_it_is_broken(tmp_path, caplog):
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path, clock=FixedClock(NOW)) as ctx:
        start = NOW - timedelta(days=1)
        lines = [{"role": "user", "content": f"Gear n{n} is brass."} for n in range(1200)]
        ctx.session("s1").capture(lines, at=start)
        assert ctx.search("n77")[0].text == "Gear n77 is brass."
        store = ctx.store
        assert store.get_blobs("local", SPACE, ["*"])
    with ContextMiddleware.open(path, clock=FixedClock(NOW)) as ctx:
        ctx.remember("Gear n9999 is new.", kind="fact")
        assert ctx.search("n9999")[0].text == "Gear n9999 is new."
        assert ctx.search("n77")[0].text == "Gear n77 is brass."
        ctx.store.put_blobs("local", SPACE, {"*": b"PK nonsense"})
    with ContextMiddleware.open(path, clock=FixedClock(NOW)) as ctx:
        assert ctx.search("n77")[0].text == "Gear n77 is brass."
        assert "made anew" in caplog.text


def test_an_answer_does_not_depend_on_what_was_asked_before():
    asked = ["Which gear is n77?", "brass", "What about copper n5, n6 and n1200?", "nothing here"]
    answers = []
    for order in (asked, asked[::-1]):
        with ContextMiddleware.open(":memory:", clock=FixedClock(NOW)) as ctx:
            lines = [
                {"role": "user", "content": f"Gear n{n} is {('brass', 'copper')[n % 2]}."}
                for n in range(1300)
            ]
            ctx.session("s1").capture(lines, at=NOW - timedelta(days=1))
            found = {query: ctx.search(query) for query in order}
            answers.append(
                {query: [(hit.text, hit.score) for hit in found[query]] for query in asked}
            )
    assert answers[0] == answers[1]
    assert answers[0]["Which gear is n77?"][0][0] == "Gear n77 is copper."


def test_where_work_goes_on_the_plan_comes_before_what_was_said_of_it(ctx):
    filler = "then water all of it twice, and look for snails at night; "
    ctx.session("s").capture(
        [
            {"role": "user", "content": "Make a herb garden plan. " + filler * 7},
            {"role": "assistant", "content": ("The herb garden plan: " + filler * 5) * 3},
        ]
    )
    (best, *_) = ctx.search("I'm back in town. Let's go on with the herb garden plan.")
    assert best.record.role == "assistant"
    (best, *_) = ctx.search("What did I say about the herb garden plan?")
    assert best.record.role == "user"
