"""Metadata beside a memory, and filtering by it, in every store."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.values.argument_checks import checked_metadata
from ctxmw.values.metadata import has_metadata

VALUES = st.one_of(st.text(max_size=20), st.integers(), st.booleans(), st.floats(-1e9, 1e9))
METADATA = st.dictionaries(st.text(min_size=1, max_size=10), VALUES, max_size=4)


@pytest.fixture
def ctx(factory):
    with ContextMiddleware(factory("metadata"), user="ada") as opened:
        opened.remember("Ship the shop on Tuesdays.", metadata={"team": "web", "rank": 1})
        opened.remember("Ship the app on Fridays.", metadata={"team": "app", "rank": 1})
        opened.remember("Ship the blog whenever.")
        yield opened


def texts(found):
    return sorted(getattr(one, "record", one).text for one in found)


def test_search_lists_and_forgets_by_it(ctx):
    web = ["Ship the shop on Tuesdays."]
    assert texts(ctx.search("when do we ship?", metadata={"team": "web"})) == web
    assert texts(ctx.memories(metadata={"team": "web"})) == web
    assert len(ctx.memories(metadata={"rank": 1})) == len(ctx.search("ship", metadata={"rank": 1}))
    assert ctx.memories(metadata={"team": "web", "rank": 2}) == []
    assert ctx.search("ship", metadata={"team": "nobody"}) == []
    assert ctx.forget(metadata={"team": "web"}) == 1
    assert len(ctx.memories()) == 2


def test_true_one_and_its_text_are_three_values(ctx):
    assert len(ctx.memories(metadata={"rank": 1})) == 2
    assert ctx.memories(metadata={"rank": True}) == ctx.memories(metadata={"rank": "1"}) == []


def test_it_is_not_found_by_its_words(ctx):
    ctx.remember("Nobody knows.", metadata={"secretive": "kumquat"})
    assert ctx.search("kumquat secretive tagged") == []


def test_it_survives_an_edit_a_restatement_and_an_export(ctx, tmp_path):
    old = ctx.memories(metadata={"team": "web"})[0]
    assert ctx.edit(old.ref, "Ship it on Mondays.").metadata == {"team": "web", "rank": 1}
    new = ctx.edit(ctx.memories(metadata={"team": "web"})[0].ref, "Later.", metadata={"a": "b"})
    assert new.metadata == {"a": "b"}
    again = ctx.remember("Ship the app on Fridays.", metadata={"more": True})
    assert again.metadata == {"team": "app", "rank": 1, "more": True}
    ctx.export(tmp_path / "all.jsonl")
    with ContextMiddleware.open(":memory:", user="bob") as other:
        other.import_(tmp_path / "all.jsonl")
        [found] = other.search("ship the app", metadata={"more": True})
        assert found.record.metadata == again.metadata


def test_it_is_filtered_by_as_of_a_day_too(ctx):
    today = ctx.memories()[0].at
    [found] = ctx.search("ship", metadata={"team": "app"}, as_of=today)
    assert found.text == "Ship the app on Fridays."


def test_secrets_are_taken_out_of_it(ctx):
    kept = ctx.remember("The key is elsewhere.", metadata={"key": "AKIAIOSFODNN7EXAMPLE"})
    assert "AKIAIOSFODNN7EXAMPLE" not in kept.model_dump_json()


@pytest.mark.parametrize(
    "metadata", [3, "team=web", {"": 1}, {1: "a"}, {"a": None}, {"a": [1]}, {"a": float("nan")}]
)
def test_what_cannot_be_kept_is_refused(ctx, metadata):
    for call in (ctx.remember, ctx.search):
        with pytest.raises(InvalidValue, match="metadata"):
            call("Ship.", metadata=metadata)


def test_too_much_is_refused(ctx):
    with pytest.raises(InvalidValue, match="4000 characters"):
        ctx.remember("Ship.", metadata={"a": "x" * 5000})


@pytest.mark.parametrize("call", ["search", "memories", "forget"])
def test_an_empty_filter_is_refused_and_forgets_nothing(ctx, call):
    asked = ["ship"] if call == "search" else []
    with pytest.raises(InvalidValue):
        getattr(ctx, call)(*asked, metadata={})
    assert len(ctx.memories()) == 3


@given(METADATA, METADATA)
def test_all_that_is_wanted_must_be_there(own, wanted):
    own, wanted = checked_metadata(own), checked_metadata(wanted)
    same = all(name in own and repr(own[name]) == repr(wanted[name]) for name in wanted)
    assert has_metadata(own, wanted) == same
