"""One record or conversation that cannot be read or ended stops no other."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware
from ctxmw.calls.end import UNENDED
from ctxmw.conversation.state import SessionState, session_ref
from ctxmw.errors import EmbedderError, StoreError, UnreadableRecord
from ctxmw.protocols import Find, Row
from ctxmw.recall.sources.records import Memories
from ctxmw.search.per_user import Indexes
from ctxmw.search.vectors.dense import Backlog
from ctxmw.search.vectors.follow import space_of
from ctxmw.search.vectors.numpy_index import NumpyIndex
from ctxmw.search.vectors.vectors import Vectors
from ctxmw.store.replica import WORTH_KEEPING
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.values.records import SHARED
from ctxmw.values.situation import Situation, Weights

ASKED = [{"role": "user", "content": "Which colour does the harbour crane have?"}]
CRANE = "The harbour crane is painted yellow."
Told = list[tuple[str, Exception]]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def told() -> Told:
    """What `on_error` was told."""
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def ctx(path: Path, clock: FixedClock, told: Told) -> Iterator[ContextMiddleware]:
    with ContextMiddleware.open(
        path, clock=clock, deadline=None, on_error=lambda *fault: told.append(fault)
    ) as opened:
        yield opened


def damage(ctx: ContextMiddleware, row: Row) -> Row:
    """Leave a record as a version of ctxmw that is not there yet might, and return it."""
    body = json.dumps({**json.loads(row.body), "of_the_future": True})
    damaged = replace(row, body=body)
    ctx.store.put([damaged])
    return damaged


def only(ctx: ContextMiddleware, type_: str, *, user: str = "local") -> Row:
    [row] = ctx.store.query(user, Find(types=(type_,)))
    return row


def note(ctx: ContextMiddleware) -> Row:
    ctx.session("old").note("next", "Paint the harbour crane in another colour.")
    return only(ctx, "note")


def memory(ctx: ContextMiddleware) -> Row:
    ctx.remember("The harbour crane colour was chosen in May.", kind="decision")
    return only(ctx, "memory")


def observation(ctx: ContextMiddleware) -> Row:
    ctx.session("old").observe("The colour of the harbour crane fades.", kind="discovery")
    return only(ctx, "observation")


def turn(ctx: ContextMiddleware) -> Row:
    ctx.session("old").capture([{"role": "user", "content": "The harbour crane has a colour."}])
    return only(ctx, "turn")


def summary(ctx: ContextMiddleware) -> Row:
    ctx.session("old").end("About the colour of the harbour crane.")
    return only(ctx, "summary")


RECORDS: list[Callable[[ContextMiddleware], Row]] = [memory, note, observation, turn, summary]


@pytest.mark.parametrize("make", RECORDS)
@pytest.mark.parametrize("when", ["before the first call", "between calls"])
def test_a_record_that_cannot_be_read_is_left_out_and_told_once(
    ctx: ContextMiddleware,
    told: Told,
    caplog: pytest.LogCaptureFixture,
    make: Callable[[ContextMiddleware], Row],
    when: str,
) -> None:
    row = make(ctx)
    if when == "between calls":
        ctx.session("first").prepare(ASKED)
    damaged = damage(ctx, row)
    ctx.remember(CRANE, kind="fact")
    for number in range(3):
        chat = ctx.session(f"chat-{number}")
        prepared = chat.prepare(ASKED)
        chat.finish(prepared, "It is yellow.")
        assert CRANE in prepared.context.stable + prepared.context.part
        assert row.ref not in {hit.ref for hit in ctx.search("harbour crane colour")}
    assert [stage for stage, _ in told] == ["read"]
    [said] = [message for message in caplog.messages if row.ref in message]
    assert said.startswith(f"the {row.type} {row.ref} is unread (UnreadableRecord); everything")
    assert ctx.stats()["set_aside.read.UnreadableRecord"] == 1
    [kept] = ctx.store.get("local", [row.ref])
    assert kept.body == damaged.body
    ctx.store.put([row])
    assert row.ref in {hit.ref for hit in ctx.search("harbour crane colour")}


@pytest.mark.parametrize("make", [memory, turn])
def test_whoever_asks_for_the_record_itself_is_told_what_is_wrong(
    ctx: ContextMiddleware, make: Callable[[ContextMiddleware], Row]
) -> None:
    row = damage(ctx, make(ctx))
    with pytest.raises(UnreadableRecord, match=rf"'{row.ref}' .* upgrade ctxmw, .* forget it"):
        ctx.get([row.ref])
    assert ctx.forget(row.ref) == 1
    assert ctx.get([row.ref]) == []


def test_a_copy_of_the_indexes_keeps_in_mind_what_could_not_be_read(
    path: Path, clock: FixedClock
) -> None:
    with ContextMiddleware.open(path, clock=clock, deadline=None) as ctx:
        row = memory(ctx)
        damage(ctx, row)
        made = [
            replace(row, ref=f"m{n}", body=row.body.replace(row.ref, f"m{n}"), digest=f"d{n}")
            for n in range(WORTH_KEEPING)
        ]
        ctx.store.put(made)
        ctx.session("one").prepare(ASKED)
        spaces = ctx.store.blob_spaces("local")
        assert any(space.startswith("lexical") for space in spaces)
        assert any(space.startswith("ratings") for space in spaces)
    store = ctx.store
    with ContextMiddleware.open(path, clock=clock, deadline=None) as ctx:
        # As an older version left it, with nothing in the feed to tell of it.
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("UPDATE records SET body = ? WHERE ref = ?", [row.body, row.ref])
        assert store is not ctx.store
        with Indexes(ctx.store).use("local") as kept:
            assert kept.index.place(row.ref) >= 0
            assert kept.unread == set()
        most = {"universal": 2 * WORTH_KEEPING}
        best = Memories(ctx.store).best(_situation(clock), Weights(), most)
        assert row.ref in {item.ref for item in best.items}


def _situation(clock: FixedClock) -> Situation:
    return Situation(user="local", query="", now=clock())


def test_an_entry_of_the_catalog_that_cannot_be_read_is_left_out_for_everybody(
    ctx: ContextMiddleware, told: Told
) -> None:
    ctx.catalog.add("rule", "bad", "Speak of cranes as birds.")
    bad = only(ctx, "catalog", user=SHARED)
    ctx.catalog.add("rule", "good", "Speak of cranes as machines.")
    damage(ctx, bad)
    prepared = ctx.session("s").prepare(ASKED)
    assert "as machines" in prepared.context.stable
    assert "as birds" not in prepared.context.stable
    assert [stage for stage, _ in told] == ["read"]


def test_an_entry_that_waits_and_cannot_be_read_goes_on_waiting(
    ctx: ContextMiddleware, told: Told
) -> None:
    chat = ctx.session("s")
    chat.collect("ci", "bad", "The build failed.")
    bad = only(ctx, "entry")
    chat.collect("ci", "good", "The build works again.")
    damage(ctx, bad)
    prepared = chat.prepare(ASKED)
    chat.finish(prepared, "Good.")
    assert "works again" in prepared.context.part
    assert [stage for stage, _ in told] == ["read"]
    ctx.store.put([bad])
    assert [entry.text for entry in chat.pending()] == ["The build failed."]


def test_an_activity_that_cannot_be_read_is_passed_over(ctx: ContextMiddleware, told: Told) -> None:
    ctx.notice({"type": "file_open", "path": "crane.py"})
    damage(ctx, only(ctx, "activity"))
    for _ in range(2):
        chat = ctx.session("s")
        chat.finish(chat.prepare(ASKED), "Yellow.")
    assert [stage for stage, _ in told] == ["read"]


def test_a_file_of_code_that_cannot_be_read_leaves_the_others(
    ctx: ContextMiddleware, told: Told, tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    (root / "crane.py").write_text("def lift_crane(load):\n    return load\n")
    (root / "boat.py").write_text("def sink_boat(depth):\n    return depth\n")
    ctx.index_code(root)
    rows = ctx.store.query("local", Find(types=("code",)))
    damage(ctx, next(row for row in rows if "sink_boat" in row.body))
    asked = [{"role": "user", "content": "What do `lift_crane` and `sink_boat` do?"}]
    prepared = ctx.session("s", cwd=root).prepare(asked)
    assert "lift_crane(load)" in prepared.context.part
    assert "sink_boat(depth)" not in prepared.context.part
    assert [stage for stage, _ in told] == ["read"]


def test_a_conversation_whose_state_cannot_be_read_is_missing_from_the_list_alone(
    ctx: ContextMiddleware, told: Told
) -> None:
    for name in ("one", "two"):
        ctx.session(name).prepare(ASKED)
    [row] = ctx.store.get("local", [session_ref("one")])
    damage(ctx, row)
    assert [state.session for state in ctx.sessions()] == ["two"]
    ctx.session("three").prepare(ASKED)
    with pytest.raises(UnreadableRecord, match="upgrade ctxmw"):
        ctx.session("one").prepare(ASKED)
    assert [stage for stage, _ in told] == ["read"]


class TestIdleEnds:
    def test_notes_without_an_answer_end_with_a_summary(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        chat = ctx.session("old", project="shop")
        chat.note("done", "Painted the crane.")
        chat.finish(chat.prepare(ASKED), error="the model is down")
        clock.advance(minutes=46)
        ctx.session("new").prepare(ASKED)
        row = only(ctx, "summary")
        assert "Done: Painted the crane." in row.body
        assert row.scope == "project:shop"
        ctx.forget(only(ctx, "note").ref)
        assert "Painted" not in only(ctx, "summary").body

    def test_notes_without_a_word_said_end_with_a_summary(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        chat = ctx.session("old", project="shop")
        chat.note("done", "Painted the crane.")
        chat.finish(chat.prepare(ASKED, capture=False), error="the model is down")
        clock.advance(minutes=46)
        ctx.session("new").prepare(ASKED)
        row = only(ctx, "summary")
        assert "Done: Painted the crane." in row.body
        assert row.scope == "project:shop"
        ctx.forget(only(ctx, "note").ref)
        assert ctx.store.query("local", Find(types=("summary",))) == []

    def test_notes_added_later_make_a_new_summary(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        chat = ctx.session("old")
        chat.note("done", "Painted the crane.")
        chat.end()
        clock.advance(minutes=1)
        chat.note("next", "Oil the crane.")
        kept = chat.end()
        assert kept is not None
        assert kept.text == "Done: Painted the crane. Next: Oil the crane."

    def broken(self, ctx: ContextMiddleware, clock: FixedClock, *names: str) -> list[Row]:
        """Leave conversations that cannot be ended, idle; return the rows as they were."""
        rows = []
        for name in names:
            chat = ctx.session(name)
            chat.finish(chat.prepare(ASKED), "Yellow.")
            chat.end("About the crane.")
            chat.finish(chat.prepare(ASKED), "Still yellow.")
            asked = Find(types=("summary",), sessions=(name,))
            [row] = ctx.store.query("local", asked)
            damage(ctx, row)
            rows.append(row)
        clock.advance(minutes=46)
        return rows

    def is_open(self, ctx: ContextMiddleware, session: str) -> bool:
        [row] = ctx.store.get("local", [session_ref(session)])
        return row.digest == SessionState.OPEN

    def test_one_that_fails_stops_no_call_and_no_other_end(
        self,
        ctx: ContextMiddleware,
        clock: FixedClock,
        told: Told,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        ctx.session("fine").prepare(ASKED)
        self.broken(ctx, clock, "bad")
        before = ctx.store.get("local", [session_ref("bad")])
        for number in range(5):
            ctx.session(f"new-{number}").prepare(ASKED)
            clock.advance(minutes=2)
        assert not self.is_open(ctx, "fine")
        assert self.is_open(ctx, "bad")
        assert ctx.store.get("local", [session_ref("bad")]) == before, "undone as a whole"
        assert sorted(stage for stage, _ in told) == ["end", "read"]
        said = [message for message in caplog.messages if "'bad'" in message]
        assert len(said) == 1
        assert "was not ended (UnreadableRecord); everything else goes on" in said[0]

    def test_it_is_tried_again_after_ever_longer_pauses_and_by_whichever_process(
        self, ctx: ContextMiddleware, clock: FixedClock, path: Path
    ) -> None:
        [row] = self.broken(ctx, clock, "bad")
        ctx.session("new").prepare(ASKED)
        failed = "ends.failed.UnreadableRecord"
        assert ctx.stats()[failed] == 1
        with ContextMiddleware.open(path, clock=clock) as other:
            other.session("other").prepare(ASKED)
            assert failed not in other.stats(), "not before a minute has passed"
            clock.advance(minutes=2)
            other.sessions()
            assert other.stats()[failed] == 1
            clock.advance(minutes=2)
            other.sessions()
            assert other.stats()[failed] == 1, "now four minutes have to pass"
            clock.advance(minutes=3)
            ctx.store.put([row])
            other.sessions()
        assert not self.is_open(ctx, "bad")

    def test_any_number_of_failures_leaves_room_for_the_others(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        ctx.session("fine").prepare(ASKED)
        clock.advance(minutes=1)
        names = [f"bad-{number}" for number in range(25)]
        self.broken(ctx, clock, *names)
        for _ in range(3):
            ctx.session("new").prepare(ASKED)
            clock.advance(minutes=1.5)
        assert not self.is_open(ctx, "fine")
        assert len(ctx.store.blob_refs("local", UNENDED)) == 25

    def test_a_person_who_ends_it_is_told(self, ctx: ContextMiddleware, clock: FixedClock) -> None:
        self.broken(ctx, clock, "bad")
        with pytest.raises(UnreadableRecord):
            ctx.session("bad").end()

    def test_inside_a_transaction_nobody_is_ended(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        self.broken(ctx, clock, "bad")
        with ctx.store.atomic("local"):
            ctx.remember(CRANE, kind="fact")
            ctx.session("new").prepare(ASKED)
        assert CRANE in [hit.text for hit in ctx.search("harbour crane painted")]
        assert self.is_open(ctx, "bad")
        assert "ends.failed.UnreadableRecord" not in ctx.stats()

    def test_a_turn_that_cannot_be_read_is_missing_from_the_summary_alone(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        chat = ctx.session("old")
        chat.finish(chat.prepare(ASKED), "It is yellow.")
        asked = Find(types=("turn",), sessions=("old",), newest_first=False)
        damage(ctx, ctx.store.query("local", asked)[0])
        clock.advance(minutes=46)
        ctx.session("new").prepare(ASKED)
        assert "It is yellow." in only(ctx, "summary").body

    def test_a_store_that_fails_as_a_whole_is_not_hushed_up(
        self, ctx: ContextMiddleware, clock: FixedClock, path: Path
    ) -> None:
        ctx.session("old").prepare(ASKED)
        clock.advance(minutes=46)
        path.unlink()
        with pytest.raises(StoreError, match="was deleted or moved"):
            ctx.session("new").prepare(ASKED)


class Choosy(HashEmbedder):
    """An embedder that cannot take some texts, and fails for whatever comes with them."""

    def __init__(self, poison: str) -> None:
        super().__init__(64)
        self.poison = poison
        self.calls = 0

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.calls += 1
        if any(self.poison in text for text in texts):
            raise RuntimeError("this text is too much for me")
        return super().embed(texts)


class TestEmbedding:
    def vectors(self, ctx: ContextMiddleware, embedder: HashEmbedder) -> Vectors:
        used = ctx._journal
        return Vectors(used.store, embedder, NumpyIndex(), clock=used.clock, faults=used.faults)

    def test_one_text_that_cannot_be_embedded_holds_up_no_other(
        self, ctx: ContextMiddleware, told: Told, clock: FixedClock
    ) -> None:
        for number in range(100):
            ctx.remember(f"Crane number {number} lifts {number} tons.", kind="fact")
        ctx.remember("The poison crane is green.", kind="fact")
        embedder = Choosy("poison")
        vectors = self.vectors(ctx, embedder)
        done = vectors.refresh("local")
        assert (done.embedded, done.refused) == (100, 1)
        assert embedder.calls < 40
        assert [(stage, type(error)) for stage, error in told] == [("embed", EmbedderError)]
        assert len(vectors.similar("local", "crane number 7", 200)) == 100
        clock.advance(minutes=2)
        embedder.poison = "nothing at all"
        assert vectors.refresh("local").embedded == 1

    def test_an_embedder_that_fails_once_blames_no_text(
        self, ctx: ContextMiddleware, told: Told
    ) -> None:
        class Dozing(Choosy):
            def embed(self, texts: Sequence[str], /) -> list[list[float]]:
                self.poison = "" if self.calls == 0 else "nothing at all"
                return super().embed(texts)

        ctx.remember(CRANE, kind="fact")
        assert self.vectors(ctx, Dozing("")).refresh("local").embedded == 1
        assert told == []

    def test_an_embedder_that_is_down_blames_no_text(self, ctx: ContextMiddleware) -> None:
        ctx.remember(CRANE, kind="fact")
        vectors = self.vectors(ctx, Choosy(""))
        with pytest.raises(EmbedderError):
            vectors.refresh("local")
        assert ctx.store.blob_refs("local", space_of("hash:64")) == []

    def test_a_record_that_cannot_be_read_is_not_embedded_and_the_others_are(
        self, ctx: ContextMiddleware, clock: FixedClock
    ) -> None:
        row = memory(ctx)
        damage(ctx, row)
        ctx.remember(CRANE, kind="fact")
        vectors = self.vectors(ctx, HashEmbedder(64))
        assert vectors.refresh("local").embedded == 1
        ctx.store.put([row])
        clock.advance(minutes=2)
        assert vectors.refresh("local").embedded == 1

    def test_a_damaged_vector_is_made_again(self, ctx: ContextMiddleware) -> None:
        first = ctx.remember(CRANE, kind="fact").ref
        ctx.remember("The harbour boat is blue.", kind="fact")
        self.vectors(ctx, HashEmbedder(64)).refresh("local")
        ctx.store.put_blobs("local", space_of("hash:64"), {first: b"seven b"})
        again = self.vectors(ctx, HashEmbedder(64))
        assert again.refresh("local").embedded == 1
        assert len(again.similar("local", "harbour", 5)) == 2

    def test_a_fault_of_one_user_leaves_the_backlog_to_the_others(
        self, ctx: ContextMiddleware, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Sulking(Vectors):
            def freshen(self, user: str) -> tuple[int, int]:
                if user == "bob":
                    raise ZeroDivisionError
                return super().freshen(user)

        ctx.remember(CRANE, kind="fact")
        vectors = Sulking(ctx.store, HashEmbedder(64), NumpyIndex())
        backlog = Backlog(vectors)
        backlog.work_off("bob")
        backlog.work_off("local")
        ends = time.monotonic() + 60
        while not ctx.store.blob_refs("local", space_of("hash:64")):
            assert time.monotonic() < ends
            time.sleep(0.001)
        backlog.close()
        assert backlog.counts()["embedding.failures"] >= 1
        assert "records wait to be embedded: ZeroDivisionError" in caplog.messages


def test_a_fault_of_one_conversation_leaves_the_summarizer_to_the_others(
    tmp_path: Path, clock: FixedClock, told: Told
) -> None:
    def model(prompt: str) -> str:
        return "[1] preference: I like yellow cranes." if "yellow" in prompt else "[1] fact: x"

    with ContextMiddleware.open(
        tmp_path / "memory.db",
        clock=clock,
        summarizer=model,
        on_error=lambda *fault: told.append(fault),
    ) as ctx:
        distiller = ctx._learner.distiller
        assert distiller is not None
        teach = distiller._teach

        def fail_for_bad(learner, who, refs):
            if who.session == "bad":
                raise ZeroDivisionError
            return teach(learner, who, refs)

        distiller._teach = fail_for_bad
        with distiller._changed:  # so that both wait before either is begun
            for name, text in (
                ("bad", "Blue boats."),
                ("good", "Those yellow cranes over all others, mind."),
            ):
                chat = ctx.session(name)
                chat.capture([{"role": "user", "content": text}])
        assert ctx.settle()
        assert [(stage, type(error)) for stage, error in told] == [("learn", ZeroDivisionError)]
        assert "I like yellow cranes." in {hit.text for hit in ctx.search("yellow cranes")}


def test_a_search_answers_though_the_copy_of_its_index_cannot_be_kept(
    ctx: ContextMiddleware, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    row = memory(ctx)
    many = [
        (ref, row.body.replace(row.ref, ref)) for ref in map("m{}".format, range(WORTH_KEEPING))
    ]
    ctx.store.put([replace(row, ref=ref, body=body) for ref, body in many])
    caplog.set_level(logging.DEBUG, "ctxmw")
    full = sqlite3.connect(path)
    full.execute(
        "CREATE TRIGGER full BEFORE INSERT ON blobs BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    full.close()
    assert ctx.search("harbour crane colour")
    assert any("snapshot of an index was not kept" in message for message in caplog.messages)
