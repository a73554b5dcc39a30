"""Sources of the application's own."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.values.items import Item


class Weather:
    """Tells the weather, in every turn or at the beginning."""

    name = "weather"

    def __init__(self, lane="turn", **values):
        self.asked = []
        self._values = {"lane": lane, "section": "references", **values}

    def items(self, situation, /):
        self.asked.append(situation.query)
        return [Item(ref="w:today", kind="weather", text="It rains.", title="Rome", **self._values)]


def opened(*sources):
    return ContextMiddleware.open(":memory:", sources=sources)


def hello(ctx, text="Hello there", session=None):
    return ctx.session(session).prepare([{"role": "user", "content": text}]).context


def test_what_a_source_has_for_the_turn_stands_in_the_turns_part():
    with opened(Weather()) as ctx:
        context = hello(ctx)
        assert "It rains." in context.part
        assert context.stable == ""


def test_what_a_source_pins_opens_the_conversation():
    with opened(Weather(lane="pinned")) as ctx:
        context = hello(ctx)
        assert "It rains." in context.stable
        assert context.part == ""


def test_a_source_is_asked_once_for_each_turn_and_told_what_was_asked():
    source = Weather()
    with opened(source) as ctx:
        hello(ctx, "Is it raining?", session="s")
        hello(ctx, "And tomorrow?", session="s")
    assert source.asked == ["Is it raining?", "And tomorrow?"]


def test_instructions_of_a_source_are_not_pushed_out_by_facts():
    class Rules:
        name = "rules"

        def items(self, situation, /):
            where = {"lane": "universal", "section": "universal"}
            return [Item(ref="w:rule", kind="rule", text="Wear a coat.", **where)]

    with opened(Rules()) as ctx:
        for number in range(120):
            ctx.remember(f"Street {number} of the town has {number} houses.", kind="fact")
        context = hello(ctx)
        assert "- Wear a coat.\n## Facts\n- Street 119 of" in context.stable
        assert context.lanes["instructions"][0] > 0


def test_the_record_names_it_later_too():
    with opened(Weather()) as ctx:
        chat = ctx.session("s")
        chat.finish(chat.prepare([{"role": "user", "content": "Hello there"}]), "Hi.")
        assert "Rome" in ctx.why("Hi.").explain()


def test_untrusted_words_of_a_source_are_marked_and_stay_out_of_the_system_prompt():
    with opened(Weather(lane="pinned", trust="untrusted")) as ctx:
        assert "It rains." not in hello(ctx).stable
    with opened(Weather(trust="untrusted", source="wire")) as ctx:
        assert "[untrusted, from wire] It rains." in hello(ctx).part


def test_priorities_order_what_sources_and_entries_bring():
    with opened(Weather(priority="low")) as ctx:
        chat = ctx.session("s")
        chat.collect("linter", "x", "Unused name.", priority="high")
        used = chat.prepare([{"role": "user", "content": "ultrawork please"}]).context.used
        assert [one.kind for one in used] == ["notice", "mode", "weather"]


class Alarm:
    name = "alarm"

    def items(self, situation, /):
        return [
            Item(
                ref=f"a:{n}", kind="alarm", text=f"Alarm {n}.", lane="turn", section="notices",
                priority="critical",
            )
            for n in range(4)
        ]  # fmt: skip


def test_a_source_that_finds_everything_critical_is_told_so(caplog):
    with opened(Alarm()) as ctx:
        hello(ctx)
    assert "alarm has 4 critical items" in caplog.text


def test_entries_that_are_all_critical_are_told_so(caplog):
    with ContextMiddleware.open(":memory:") as ctx:
        chat = ctx.session("s")
        for n in range(3):
            chat.collect("hook", str(n), "Careful.", priority="critical")
        assert caplog.text == ""
        chat.collect("hook", "4", "Careful.", priority="critical")
    assert "hook has 4 critical items" in caplog.text


def test_an_item_that_cannot_be_shown_is_refused_by_name():
    with opened(Weather(section="weather")) as ctx, pytest.raises(InvalidValue, match="w:today"):
        hello(ctx)


def test_what_is_no_item_is_refused():
    class Telling:
        name = "telling"

        def items(self, situation, /):
            return ["It rains."]

    with opened(Telling()) as ctx, pytest.raises(InvalidValue, match="is no item"):
        hello(ctx)
