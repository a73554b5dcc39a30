"""How memories are counted, replaced and linked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


class TestNearEqual:
    def test_is_linked_and_not_merged(self, ctx: ContextMiddleware) -> None:
        first = ctx.remember("Deploy the shop on Monday mornings.")
        second = ctx.remember("Deploy the shop Monday morning.")
        assert second.near == (first.ref,)
        assert len(ctx.search("deploy shop")) == 2

    def test_another_scope_is_another_matter(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploy the shop on Monday mornings.", scope="project:a")
        assert ctx.remember("Deploy the shop Monday morning.", scope="project:b").near == ()

    def test_what_says_something_else_is_not_near(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploy the shop on Monday mornings.")
        assert ctx.remember("Water the plants on Monday mornings.").near == ()

    def test_what_it_replaces_is_not_near(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploy the shop on Monday mornings.", key="deploy")
        assert ctx.remember("Deploy the shop Monday morning.", key="deploy").near == ()

    def test_a_text_without_words_has_none(self, ctx: ContextMiddleware) -> None:
        ctx.remember("!!!")
        assert ctx.remember("???").near == ()


class TestWhatItWas:
    def test_is_told_by_the_one_that_holds(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploys happen on Monday.", key="deploys")
        ctx.remember("Deploys happen on Friday.", key="deploys")
        newest = ctx.remember("Deploys happen daily.", key="deploys")
        assert newest.was == "Deploys happen on Friday."
        hit = ctx.search("deploys")[0]
        assert hit.text == "Deploys happen daily. (was: Deploys happen on Friday.)"

    def test_a_restatement_changes_nothing(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploys happen on Monday.", key="deploys")
        assert ctx.remember("Deploys happen on monday", key="deploys").was == ""

    def test_a_long_one_is_cut(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploys happen " + "very " * 100 + "early.", key="deploys")
        ctx.remember("Deploys happen daily.", key="deploys")
        assert len(ctx.search("deploys")[0].text) < 130

    def test_an_edit_is_no_contradiction(self, ctx: ContextMiddleware) -> None:
        memory = ctx.remember("Deploys hapen on Monday.")
        assert ctx.edit(memory.ref, "Deploys happen on Monday.").was == ""

    def test_it_is_not_found_by_what_it_was(self, ctx: ContextMiddleware) -> None:
        ctx.remember("Deploys happen on Monday.", key="deploys")
        ctx.remember("Releases happen daily.", key="deploys")
        assert ctx.search("monday") == []
