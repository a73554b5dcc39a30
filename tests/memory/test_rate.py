"""Ratings: kept with their history, in nobody else's way, gone with what they are about."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Learning, NotFound
from ctxmw.protocols import Find
from ctxmw.search.feedback import Feedback

ASKED = "When does the deploy key rotate?"
SAID = (
    "The deploy key of staging rotates on Monday.",
    "The deploy key of production rotates on Friday.",
    "We rotate the deploy crew every week.",
)


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", user="ada", deadline=None) as opened:
        for text in SAID:
            opened.session().capture([{"role": "user", "content": text}])
        yield opened


def asked(ctx, question=ASKED, **named):
    chat = ctx.session(learn=False, **named)  # so that it is not found itself
    prepared = chat.prepare([{"role": "user", "content": question}])
    return chat.finish(prepared, {"role": "assistant", "content": "On Friday.", "id": "run-7"})


def shown(record):
    return [used.ref for used in record.used if used.block == "turn" and used.shown != "none"]


def feedback_on(ctx, ref, question=ASKED):
    hits = {hit.ref: hit.why for hit in ctx.search(question)}
    found = [why for why in hits.get(ref, "").split(", ") if why.startswith("feedback")]
    return float(found[0].removeprefix("feedback ")) if found else 0.0


def test_what_did_not_help_falls_where_something_alike_is_asked(ctx):
    record = asked(ctx)
    first = shown(record)[0]
    ctx.rate(record, first, -1, note="wrong environment")
    assert feedback_on(ctx, first) < 0
    assert feedback_on(ctx, first, "When will the deploy key rotate again?") < 0


def test_another_question_is_not_moved_by_what_did_not_help(ctx):
    record = asked(ctx)
    first = shown(record)[0]
    ctx.rate(record, first, -1)
    assert feedback_on(ctx, first, "Who is in the deploy crew of production on Monday?") == 0


def test_what_helped_rises_and_says_so(ctx):
    record = asked(ctx)
    last = shown(record)[-1]
    ctx.rate(record, last, 1)
    again = asked(ctx)
    assert shown(again)[0] == last or feedback_on(ctx, last) > 0
    assert "feedback" in again.explain()


def test_zero_takes_back_what_was_said(ctx):
    record = asked(ctx)
    first = shown(record)[0]
    ctx.rate(record, first, -1)
    ctx.rate(record, first, 0)
    assert feedback_on(ctx, first) == 0
    assert [one.value for one in ctx.ratings(ref=first)] == [0, -1]
    assert [one.replaced for one in ctx.ratings(ref=first)] == [False, True]


def test_ratings_of_one_user_move_nothing_for_another(ctx):
    record = asked(ctx)
    ctx.rate(record, shown(record)[0], -1)
    assert ctx.ratings(user="bob") == []
    with pytest.raises(NotFound, match="no record of the call"):
        ctx.rate(record.ref, value=1, user="bob")


def test_a_call_is_named_by_its_ref_or_by_the_id_or_text_of_its_answer(ctx):
    record = asked(ctx)
    for name in (record, record.ref, "run-7", "On Friday."):
        assert ctx.rate(name, value=1).record == record.ref


def test_a_whole_call_counts_a_little_for_all_that_it_brought(ctx):
    record = asked(ctx)
    ctx.rate(record, value=-1)
    moved = [feedback_on(ctx, ref) for ref in shown(record)]
    assert moved
    assert all(-1 < one < 0 for one in moved)


def test_what_was_missing_rises_when_it_is_known(ctx):
    record = asked(ctx)
    said = ctx.rate(record, missing="the crew that we rotate every week")
    assert said.about
    assert ctx.get([said.about])[0].says() == SAID[2]
    assert ctx.rate(record, missing="the colour of the moon").about == ""


def test_what_was_not_shown_cannot_be_rated(ctx):
    record = asked(ctx)
    with pytest.raises(NotFound, match="showed no 'mnothing'"):
        ctx.rate(record, "mnothing", 1)


@pytest.mark.parametrize("value", [2, -2, True, "1", None, 0.5])
def test_only_three_values_make_sense(ctx, value):
    with pytest.raises(InvalidValue, match="value is"):
        ctx.rate(asked(ctx), value=value)


def test_saying_nothing_is_no_praise(ctx):
    record = asked(ctx)
    for nothing in ({}, {"missing": ""}, {"note": "hm"}):
        with pytest.raises(InvalidValue, match="what was missing"):
            ctx.rate(record, **nothing)
    assert ctx.ratings() == []


def test_a_rating_goes_with_what_it_is_about(ctx):
    record = asked(ctx)
    first = shown(record)[0]
    ctx.rate(record, first, -1)
    ctx.forget(first)
    assert ctx.ratings() == []


def test_a_rating_goes_with_its_question_and_with_its_conversation(ctx):
    record = asked(ctx, id="one")
    ctx.rate(record, shown(record)[0], -1)
    ctx.forget(session="one")
    assert ctx.ratings() == []
    record = asked(ctx, id="two")
    (question,) = ctx.store.query("ada", Find(types=("turn",), digests=(record.turn,)))
    ctx.rate(record, shown(record)[0], -1)
    ctx.forget(question.ref)
    assert ctx.ratings() == []


def test_ratings_are_exported_and_come_back(ctx, tmp_path):
    record = asked(ctx)
    ctx.rate(record, shown(record)[0], -1, note="wrong environment")
    ctx.export(tmp_path / "all.jsonl")
    with ContextMiddleware.open(":memory:", user="ada") as other:
        other.import_(tmp_path / "all.jsonl")
        (back,) = other.ratings()
        assert (back.value, back.note) == (-1, "wrong environment")


def test_a_secret_in_a_note_is_not_kept(ctx):
    said = ctx.rate(asked(ctx), value=-1, note="the key was AKIAIOSFODNN7EXAMPLE")
    assert "AKIAIOSFODNN7EXAMPLE" not in said.note
    bodies = [row.body for row in ctx.store.query("ada", Find(types=(Feedback.type,), live=None))]
    assert not any("AKIAIOSFODNN7EXAMPLE" in body for body in bodies)


def test_ratings_can_be_kept_out_of_the_ranking(tmp_path):
    learn = Learning(feedback=False)
    with ContextMiddleware.open(":memory:", user="ada", learn=learn, deadline=None) as ctx:
        for text in SAID:
            ctx.session().capture([{"role": "user", "content": text}])
        record = asked(ctx)
        ctx.rate(record, shown(record)[0], -1)
        assert len(ctx.ratings()) == 1
        assert feedback_on(ctx, shown(record)[0]) == 0


def test_usage_tells_what_came_back_in_answers_and_what_never_did(ctx):
    chat = ctx.session(learn=False)
    prepared = chat.prepare([{"role": "user", "content": ASKED}])
    record = chat.finish(
        prepared, {"role": "assistant", "content": "Production's key rotates on Friday."}
    )
    by_text = {ctx.get([ref])[0].says(): ref for ref in shown(record)}
    friday, monday = by_text[SAID[1]], by_text[SAID[0]]
    assert friday in record.came_back
    assert monday not in record.came_back
    usage = {one.ref: one for one in ctx.usage()}
    assert (usage[friday].calls, usage[friday].came_back) == (1, 1)
    assert (usage[monday].calls, usage[monday].came_back) == (1, 0)
    assert ctx.usage()[0].came_back == 0
    ctx.rate(record, monday, -1)
    assert {one.ref: one.did_not for one in ctx.usage()}[monday] == 1
    assert ctx.usage(user="bob") == []


def test_a_tool_called_with_an_id_takes_it_up(ctx):
    chat = ctx.session(learn=False)
    prepared = chat.prepare([{"role": "user", "content": ASKED}])
    ref = shown(prepared.context)[0]
    call = {"id": "1", "name": "mem_get", "args": {"ids": [ref]}}
    answer = {"role": "assistant", "content": "", "tool_calls": [call]}
    assert ref in chat.finish(prepared, answer).came_back


def test_what_a_look_shows_can_be_rated_before_any_call(ctx):
    def look():
        return ctx.session("s", learn=False).peek([{"role": "user", "content": ASKED}]).context

    first = shown(look())[0]
    ctx.rate(look(), first, -1, asked=ASKED)
    assert feedback_on(ctx, first) < 0
    ctx.rate(look(), first, 0, asked=ASKED)
    assert feedback_on(ctx, first) == 0
    assert [one.replaced for one in ctx.ratings(ref=first)] == [False, True]
    with pytest.raises(NotFound, match="no record of the call"):
        ctx.rate(look(), first, 1, asked=ASKED, user="bob")
    with pytest.raises(InvalidValue, match="asked is 5"):
        ctx.rate(look(), first, 1, asked=5)


def test_what_answers_take_up_rises_unless_that_is_switched_off(tmp_path):
    for learn, told in ((Learning(), True), (Learning(feedback=False), False)):
        with ContextMiddleware.open(tmp_path / f"{told}.db", learn=learn, deadline=None) as ctx:
            ctx.session("told").capture(
                [{"role": "user", "content": "The production key rotates on Friday at noon."}]
            )
            for n in range(3):
                chat = ctx.session(f"day {n}")
                prepared = chat.prepare([{"role": "user", "content": "When does the key rotate?"}])
                record = chat.finish(prepared, "On Friday at noon.")
                assert record.came_back
            hits = {hit.ref: hit.why for hit in ctx.search("When does the production key rotate?")}
            assert ("used 0." in hits[record.came_back[0]]) == told
