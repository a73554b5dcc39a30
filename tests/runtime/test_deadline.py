"""A turn's part waits for nobody longer than its deadline, and its record says who was late."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from ctxmw import ContextMiddleware, InvalidValue, SqliteStore
from ctxmw.composition import compose
from ctxmw.runtime.deadline import AT_ONCE, HANGING, Aside, Deadline, Late
from ctxmw.search.lexical.index import LexicalIndex
from ctxmw.testing import HashEmbedder
from ctxmw.values.items import Item
from tests.support.waiting import until

SAID = [{"role": "user", "content": "Hello, here I am"}, {"role": "assistant", "content": "Hi."}]
ASKED = [{"role": "user", "content": "What are gears made of?"}]
LONG = 600_000.0
SHORT = 500.0
"""Long enough for whoever is not held up, on a busy machine too."""


class Slow(HashEmbedder):
    """Answers questions when it is let, and embeds records at once."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def embed_query(self, text: str, /) -> Sequence[float]:
        self.let.wait(LONG / 1000)
        return super().embed_query(text)

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        return HashEmbedder().embed(texts)


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.let.set()


def remember_gears(ctx: ContextMiddleware) -> None:
    ctx.session("before").capture([{"role": "user", "content": "Gears are made of brass."}])


def test_a_slow_embedder_means_words_alone_and_the_record_says_so(slow, caplog):
    with ContextMiddleware.open(":memory:", embedder=slow, deadline=SHORT) as ctx:
        remember_gears(ctx)
        prepared = ctx.session("s1").prepare(ASKED)
        assert "brass" in prepared.context.part
        assert prepared.context.degraded == "meaning: deadline"
        assert ctx.session("s1").history()[-1].degraded == "meaning: deadline"
        assert ctx.session("s2").prepare(ASKED).context.degraded == "meaning: deadline"
        assert ctx.stats()["degraded.meaning.deadline"] == 2
        assert caplog.text.count("searching without meaning") == 1


def test_an_embedder_in_time_leaves_nothing_to_say(slow):
    slow.let.set()
    with ContextMiddleware.open(":memory:", embedder=slow, deadline=LONG) as ctx:
        remember_gears(ctx)
        prepared = ctx.session("s1").prepare(ASKED)
        assert "brass" in prepared.context.part
        assert prepared.context.degraded == ""


def test_a_question_asked_on_purpose_waits_for_its_answer(slow):
    with ContextMiddleware.open(":memory:", embedder=slow, deadline=SHORT) as ctx:
        remember_gears(ctx)
        threading.Timer(1.2 * SHORT / 1000, slow.let.set).start()
        assert ctx.search("gears")
        assert ctx.stats().get("degraded.meaning.deadline", 0) == 0


def test_an_index_that_is_still_being_made_means_no_part_and_the_next_turn_has_it(
    tmp_path, monkeypatch
):
    made, let = LexicalIndex.add, threading.Event()

    def slowly(self, documents):
        let.wait(LONG / 1000)
        made(self, documents)

    with ContextMiddleware.open(tmp_path / "m.db", deadline=SHORT) as ctx:
        remember_gears(ctx)
        lines = [{"role": "user", "content": f"Line {number}"} for number in range(300)]
        ctx.session("many").capture(lines)
        with monkeypatch.context() as patch:
            patch.setattr(LexicalIndex, "add", slowly)
            late = ctx.session("s1").prepare(ASKED)
            assert (late.context.part, late.context.degraded) == ("", "words: deadline")
            let.set()
            assert ctx.search("gears")
        assert "brass" in ctx.session("s2").prepare(ASKED).context.part


def test_what_is_built_late_is_kept_for_the_whole_turn(slow):
    with ContextMiddleware.open(":memory:", embedder=slow, deadline=SHORT) as ctx:
        remember_gears(ctx)
        chat = ctx.session("s1")
        first = chat.prepare(ASKED)
        slow.let.set()
        again = chat.prepare(ASKED)
        assert again.messages == first.messages
        assert again.context.degraded == "meaning: deadline"


class Weather:
    """A source of an application's own, which waits to be let."""

    def __init__(self, name: str, let: threading.Event) -> None:
        self.name = name
        self.let = let
        self.hours = 0

    def items(self, situation):
        self.let.wait(LONG / 1000)
        self.hours += 1
        text = f"It {self.name}s at {self.hours}."
        return [Item(ref=text, kind="fact", text=text, lane="turn", section="references")]


def test_a_slow_source_is_left_out_and_named_and_the_others_are_shown():
    let, open_door = threading.Event(), threading.Event()
    let.set()
    open_door.set()
    sources = [Weather("snow", let), Weather("rain", open_door)]
    with ContextMiddleware.open(":memory:", sources=sources, deadline=SHORT) as ctx:
        assert "It snows" in ctx.session("s1").prepare(SAID[:1]).context.part
        let.clear()
        late = ctx.session("s1").prepare([*SAID, *ASKED]).context
        let.set()
        assert late.degraded == "snow: deadline"
        assert "It rains" in late.part
        assert "It snows" not in late.part
        assert ctx.stats()["degraded.snow.deadline"] == 1


def test_a_source_that_hangs_does_not_keep_a_conversation_from_beginning():
    shut, open_door = threading.Event(), threading.Event()
    open_door.set()
    sources = [Weather("snow", shut), Weather("rain", open_door)]
    with ContextMiddleware.open(":memory:", sources=sources, deadline=SHORT) as ctx:
        first = ctx.session("s1").prepare(SAID[:1]).context
        silent = ctx.session("s2").prepare([{"role": "system", "content": "Be brief."}]).context
        shut.set()
    assert "It rains" in first.part
    assert (first.degraded, silent.degraded) == ("snow: deadline", "snow: deadline")


@pytest.mark.parametrize("deadline", [-1, float("nan"), float("inf"), True, "soon", [200]])
def test_a_deadline_that_makes_no_sense_is_named(deadline):
    with pytest.raises(InvalidValue, match="give milliseconds"):
        ContextMiddleware.open(":memory:", deadline=deadline)


@pytest.mark.parametrize(
    ("said", "expected"), [("0", None), ("350", 350.0), (None, 200.0)], ids=["0", "350", "unset"]
)
def test_the_environment_sets_it_unless_it_is_given(monkeypatch, said, expected):
    if said is None:
        monkeypatch.delenv("CTXMW_DEADLINE")
    else:
        monkeypatch.setenv("CTXMW_DEADLINE", said)
    store = SqliteStore(":memory:")
    assert compose(store, {}).recall.limit.milliseconds == expected
    assert compose(store, {"deadline": None}).recall.limit.milliseconds is None
    store.close()


class TestAside:
    def test_returns_and_raises_what_the_call_does(self):
        aside = Aside()
        assert aside.call(lambda: 42, Deadline.within(LONG), "a") == 42
        with pytest.raises(ZeroDivisionError):
            aside.call(lambda: 1 // 0, Deadline.within(LONG), "a")

    def test_calls_that_hang_are_bounded_and_the_next_waits_its_time(self):
        aside, let = Aside(), threading.Event()
        for number in range(AT_ONCE):
            with pytest.raises(Late):
                aside.call(lambda: let.wait(LONG / 1000), Deadline.within(1), f"model {number}")
        with pytest.raises(Late):
            aside.call(lambda: 42, Deadline.within(1), "a")
        let.set()
        assert aside.call(lambda: 42, Deadline.within(LONG), "a") == 42

    def test_who_hangs_is_not_asked_again_until_an_answer_comes(self):
        aside, let, asked = Aside(), threading.Event(), []

        def hang() -> None:
            asked.append(1)
            let.wait(LONG / 1000)

        for _ in range(2 * AT_ONCE):
            with pytest.raises(Late):
                aside.call(hang, Deadline.within(1), "model")
        until(lambda: len(asked) >= HANGING)
        assert len(asked) == HANGING
        assert aside.call(lambda: 42, Deadline.within(LONG), "another") == 42
        let.set()

        def answers() -> bool:
            with suppress(Late):
                return aside.call(lambda: 42, Deadline.within(LONG), "model") == 42
            return False

        until(answers, "being asked again")
