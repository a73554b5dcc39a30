"""What somebody told of a field of life comes where it is spoken of, whatever the words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxmw import ContextMiddleware, Learning, memory_tools
from ctxmw.testing import FixedClock

DISHES = ("liver", "kidneys", "tripe", "squid", "oysters", "snails", "eel", "tongue")


@pytest.fixture
def ctx() -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def told(ctx: ContextMiddleware, *statements: str) -> None:
    for at, text in enumerate(statements):
        chat = ctx.session(f"told {at}")
        chat.capture([{"role": "user", "content": text}, {"role": "assistant", "content": "Ok."}])
        chat.end()


def asked(ctx: ContextMiddleware, question: str, project: str | None = None) -> str:
    chat = ctx.session("asks", project=project)
    return chat.peek([{"role": "user", "content": question}]).context.text


def test_all_of_a_field_comes_when_it_is_asked_about(ctx: ContextMiddleware) -> None:
    told(ctx, *(f"I dislike {dish} for dinner." for dish in DISHES))
    shown = asked(ctx, "Can you recommend a restaurant?")
    assert [dish for dish in DISHES if f"I dislike {dish} for dinner." not in shown] == []


def test_a_conversation_that_was_one_statement_is_not_told_of_beside_it(
    ctx: ContextMiddleware,
) -> None:
    told(ctx, *(f"I dislike {dish} for dinner." for dish in DISHES))
    shown = asked(ctx, "Can you recommend a restaurant?")
    assert {dish: shown.count(f"I dislike {dish} for dinner") for dish in DISHES} == dict.fromkeys(
        DISHES, 1
    )


def test_what_is_said_of_several_fields_in_one_breath_belongs_to_each(
    ctx: ContextMiddleware,
) -> None:
    many = [f"I like {dish} for dinner." for dish in DISHES]
    whole = "I only use makeup without alcohol, milk or honey, as my church teaches."
    told(ctx, whole, *many)
    assert whole in asked(ctx, "Which eyeliner would you recommend?")


@pytest.mark.parametrize("question", ["What should I cook for dinner?", "A party for Tomas?"])
def test_an_allergy_comes_to_the_table_whoever_has_it(
    ctx: ContextMiddleware, question: str
) -> None:
    told(ctx, "Tomas has a nut allergy so no places with peanut snacks please")
    assert "nut allergy" in asked(ctx, question)
    assert "nut allergy" not in asked(ctx, "How do I revert a commit?")


def test_who_asks_what_to_do_somewhere_travels(ctx: ContextMiddleware) -> None:
    told(ctx, "I hate museums.", *(f"I dislike {dish} for dinner." for dish in DISHES))
    assert "I hate museums." in asked(ctx, "What would you suggest for me to do in Ghent?")


def test_advice_in_an_unknown_field_gets_a_few_but_not_in_a_project(
    ctx: ContextMiddleware,
) -> None:
    told(ctx, *(f"I dislike {dish} for dinner." for dish in DISHES))
    question = "Can you recommend some good quaffables for me?"
    assert "tripe" in asked(ctx, question)
    assert "I dislike liver" not in asked(ctx, "Why is the sky blue?")
    assert "I dislike liver" not in asked(ctx, question, "app")


def test_what_is_sensitive_is_not_told_to_whoever_buys_something(ctx: ContextMiddleware) -> None:
    told(ctx, "I'm allergic to products with nickel.")
    assert "nickel" not in asked(ctx, "Which brand of laptop should I buy?")
    assert "nickel" not in asked(ctx, "Can you recommend some quaffables for me?")
    assert "nickel" in asked(ctx, "Which medicine should I take?")


class TestATurnThatTellsSomethingSensitive:
    SAID = "The boiler in the cellar leaks again. I'm diabetic, so I rest a lot. Call the plumber."

    def test_is_recalled_without_it_where_it_is_not_spoken_of(self, ctx: ContextMiddleware) -> None:
        told(ctx, self.SAID)
        part = asked(ctx, "Who was to be called about the leaking boiler in the cellar?")
        assert "The boiler in the cellar leaks again." in part
        assert "diabetic" not in part

    def test_is_recalled_with_it_where_it_is(self, ctx: ContextMiddleware) -> None:
        told(ctx, self.SAID)
        assert "diabetic" in asked(ctx, "What did I say about being diabetic and the boiler?")

    def test_leaves_out_the_part_of_a_sentence_that_nobody_asks_about(
        self, ctx: ContextMiddleware
    ) -> None:
        told(ctx, "I'm gay and I live in Rome.")
        part = asked(ctx, "Which sights in Rome should I visit where I live?")
        assert "live in Rome" in part
        assert "gay" not in part

    def test_is_never_recalled_with_it_where_that_is_refused(self) -> None:
        learn = Learning(sensitive="never")
        with ContextMiddleware.open(":memory:", clock=FixedClock(), learn=learn) as ctx:
            told(ctx, self.SAID)
            part = asked(ctx, "What did I say about being diabetic and the boiler in the cellar?")
            assert "boiler" in part
            assert "diabetic" not in part

    def test_is_not_found_by_the_agent_either(self) -> None:
        learn = Learning(sensitive="never")
        with ContextMiddleware.open(":memory:", clock=FixedClock(), learn=learn) as ctx:
            told(ctx, self.SAID)
            mem_search = memory_tools(ctx.session("asks"))[0]
            answer = mem_search(query="diabetic boiler cellar")
            assert "boiler" in answer
            assert "diabetic" not in answer

    def test_is_recalled_as_it_is_where_that_is_wanted(self) -> None:
        learn = Learning(sensitive="always")
        with ContextMiddleware.open(":memory:", clock=FixedClock(), learn=learn) as ctx:
            told(ctx, self.SAID)
            assert "diabetic" in asked(ctx, "What about the leaking boiler in the cellar?")


class TestWhatIsRememberedByHand:
    def test_is_marked_where_it_is_sensitive(self, ctx: ContextMiddleware) -> None:
        assert ctx.remember("I'm diabetic.").sensitive
        assert "diabetic" not in asked(ctx, "Why is the sky blue?")
        assert "diabetic" in asked(ctx, "What could I cook for dinner?")

    def test_is_not_where_it_tells_of_nobody(self, ctx: ContextMiddleware) -> None:
        assert not ctx.remember("Never joke about religion.", kind="rule").sensitive
        assert not ctx.remember("The cancer register is at /c.", scope="project:app").sensitive
        assert not ctx.remember("I prefer tea.").sensitive

    def test_is_not_where_that_is_not_wanted(self) -> None:
        learn = Learning(sensitive="always")
        with ContextMiddleware.open(":memory:", learn=learn) as opened:
            assert not opened.remember("I'm diabetic.").sensitive
