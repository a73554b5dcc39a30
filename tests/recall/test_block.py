from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.protocols import Renderer
from ctxmw.recall.block import FRAME, Block, Draft, hash_of
from ctxmw.recall.render import Compact, Markdown, Xml
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import prompt_counter
from ctxmw.values.items import Item, Shown
from tests.support.strategies import item

RENDERERS = [Markdown(), Xml(), Compact()]
SECTIONS = ("universal", "notes", "sessions")
GROUPS = ("", "2026-03-01 a", "2026-03-02 b")

entries = st.lists(
    st.tuples(
        st.sampled_from(SECTIONS), st.sampled_from(GROUPS), st.sampled_from(["full", "index"])
    ),
    min_size=1,
    max_size=12,
)
"""Where items stand: section, group, and how they are shown."""


def drafted(renderer: Renderer, where: list[tuple[str, str, Shown]]) -> Draft:
    draft = Draft(renderer, prompt_counter(len), str.title, hint=True)
    for at, (section, group, shown) in enumerate(where):
        draft.add(_entry(at, section, group), shown)
    return draft


def _entry(at: int, section: str, group: str) -> Item:
    return item(f"text{at}", ref=f"m{at}", section=section, group=group, place=at)


def test_taking_an_item_out_leaves_every_other_byte_where_it_was() -> None:
    block = drafted(Markdown(), [("universal", "", "full")] * 3 + [("notes", "", "full")]).block()
    assert block.without({"m1"}).text == block.text.replace("- text1\n", "")
    assert block.without({"m1", "m0"}).text == block.text.replace("- text0\n- text1\n", "")


def test_a_heading_goes_with_the_last_item_under_it() -> None:
    block = drafted(Markdown(), [("universal", "", "full"), ("notes", "", "full")]).block()
    assert block.without({"m0"}).text == "<ctxmw>\n## Notes\n- text1\n</ctxmw>\n"
    assert block.without({"m1"}).text == "<ctxmw>\n## Universal\n- text0\n</ctxmw>\n"


def test_a_group_goes_with_its_last_item_and_the_section_stays() -> None:
    where = [("sessions", group, "full") for group in GROUPS]
    block = drafted(Markdown(), where).block()
    frame = "<ctxmw>\n## Sessions\n{}</ctxmw>\n"
    without_the_first_group = "- text0\n### 2026-03-02 b\n- text2\n"
    without_both_groups = "- text0\n"
    without_all_but_the_second_group = "### 2026-03-02 b\n- text2\n"
    assert block.without({"m1"}).text == frame.format(without_the_first_group)
    assert block.without({"m1", "m2"}).text == frame.format(without_both_groups)
    assert block.without({"m0", "m1"}).text == frame.format(without_all_but_the_second_group)


def test_a_section_whose_last_group_went_is_still_closed() -> None:
    where = [("sessions", group, "full") for group in GROUPS]
    block = drafted(Xml(), where).block()
    section = ElementTree.fromstring(block.without({"m1", "m2"}).text).find("section")
    assert section is not None
    assert [child.tag for child in section] == ["item"]


def test_a_block_without_its_last_item_is_empty() -> None:
    block = drafted(Markdown(), [("universal", "", "full")]).block()
    assert block.without({"m0"}) == Block()
    assert (Block().text, Block().hash, Block().refs) == ("", "", frozenset())


def test_taking_out_what_is_not_there_changes_nothing() -> None:
    block = drafted(Markdown(), [("universal", "", "full")]).block()
    assert block.without({"m9", "#", "##", "/", ""}) == block
    assert Block().without({"m9"}) == Block()


@pytest.mark.parametrize("renderer", RENDERERS, ids=lambda renderer: renderer.name)
@given(where=entries, out=st.sets(st.integers(0, 11)))
def test_a_block_without_items_is_the_block_that_never_had_them(
    renderer: Renderer, where: list[tuple[str, str, Shown]], out: set[int]
) -> None:
    block = drafted(renderer, where).block()
    kept = Draft(renderer, prompt_counter(len), str.title, hint=True)
    for at, (section, group, shown) in enumerate(where):
        if at not in out:
            kept.add(_entry(at, section, group), shown)
    # The frame was sent, hint and all, so it stays as it was.
    expected = [piece for piece in kept.block().pieces if piece[0] != FRAME]
    frames = [piece for piece in block.pieces if piece[0] == FRAME]
    without = block.without({f"m{at}" for at in out})
    if not expected:
        assert without == Block()
    else:
        assert without.pieces == (frames[0], *expected, frames[1])


def test_a_block_is_known_by_the_hash_of_its_text() -> None:
    block = drafted(Markdown(), [("universal", "", "full")]).block()
    assert block.hash == hash_of(block.text) == Block(block.pieces).hash
    assert block.hash != block.without({"m0"}).hash
    assert len(hash_of("lone surrogate \ud800")) == 64


def test_a_block_tells_what_it_shows() -> None:
    block = drafted(Xml(), [("sessions", "2026-03-01 a", "full"), ("notes", "", "index")]).block()
    assert block.refs == {"m0", "m1"}


@pytest.mark.parametrize("renderer", RENDERERS, ids=lambda renderer: renderer.name)
@given(where=entries)
def test_prices_add_up_to_the_block(
    renderer: Renderer, where: list[tuple[str, str, Shown]]
) -> None:
    draft = Draft(renderer, prompt_counter(len), str.title, hint=False)
    paid = draft.frame_cost
    for at, (section, group, shown) in enumerate(where):
        entry = _entry(at, section, group)
        paid += draft.price(entry, shown, 10**6)
        draft.add(entry, shown)
    assert paid == len(draft.block().text)


def test_what_a_renderer_of_ones_own_leaves_out_is_not_paid_for() -> None:
    class Short(Markdown):
        def item(self, item: Item, shown: Shown, cost: int) -> str:
            return f"- {item.text[:9]}\n"

    draft = Draft(Short(), counter_for(), str.title, hint=False)
    long = item("Green tea " * 99, section="universal")
    exactly = draft.price(long, "full", 10**6)
    assert draft.price(long, "full", exactly) == exactly


def test_what_was_added_last_is_dropped_first_and_its_heading_is_paid_for_again() -> None:
    draft = drafted(Markdown(), [("universal", "", "full"), ("notes", "", "full")])
    before = drafted(Markdown(), [("universal", "", "full")])
    last = _entry(1, "notes", "")
    assert draft.drop_last() == last
    assert draft.block() == before.block()
    assert draft.price(last, "full", 10**6) == before.price(last, "full", 10**6)
    draft.drop_last()
    assert draft.drop_last() is None
    assert draft.block() == Block()


def test_the_hint_is_given_only_when_something_is_shown_in_part() -> None:
    full = drafted(Markdown(), [("universal", "", "full")]).block()
    partly = drafted(Markdown(), [("universal", "", "full"), ("notes", "", "index")]).block()
    assert "mem_search" not in full.text
    assert partly.text.count("mem_search") == 1
