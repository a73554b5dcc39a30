from __future__ import annotations

import math
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxmw.errors import EmbedderError, InvalidValue, StoreError
from ctxmw.protocols import Row
from ctxmw.search.vectors.numpy_index import NumpyIndex
from ctxmw.search.vectors.vectors import Refreshed, Vectors
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.values.records import Memory, Note, Observation, SessionSummary, Turn
from tests.support.rows import python
from tests.support.waiting import PATIENCE

AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
DRINKS = {"m1": "We drink green tea.", "m2": "Coffee is for mornings.", "m3": "Water the plants."}


def memory(ref: str, text: str, user: str = "ada", **values: Any) -> Row:
    return Memory(user=user, ref=ref, at=AT, kind="fact", text=text, **values).row()


def memories(texts: dict[str, str], user: str = "ada") -> list[Row]:
    return [memory(ref, text, user) for ref, text in texts.items()]


class Counting(HashEmbedder):
    """Writes down what it is asked, and can be told to fail."""

    def __init__(self, size: int = 256) -> None:
        super().__init__(size)
        self.asked: list[str] = []
        self.fails: Exception | None = None
        self.before: Callable[[], None] = lambda: None

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.before()
        if self.fails:
            raise self.fails
        self.asked += texts
        return super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db", synchronous="NORMAL")
    yield opened
    opened.close()


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def vectors(store: SqliteStore, embedder: Counting) -> Vectors:
    return Vectors(store, embedder, NumpyIndex())


def found(vectors: Vectors, query: str, user: str = "ada", n: int = 10) -> list[str]:
    """Return what shares a word with the query, the nearest first."""
    return [ref for ref, cosine in vectors.similar(user, query, n) if cosine > 1e-6]


class TestRefresh:
    def test_what_is_stored_is_found_by_meaning(self, store: SqliteStore, vectors: Vectors) -> None:
        store.put(memories(DRINKS))
        assert vectors.refresh("ada") == Refreshed(embedded=3, refused=0)
        assert vectors.similar("ada", "green tea", 1) == [("m1", pytest.approx(0.7071, abs=1e-3))]

    def test_every_type_of_record_is_embedded_and_nothing_else(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        common: dict[str, Any] = {"user": "ada", "at": AT}
        store.put(
            [
                Memory(ref="m1", kind="fact", text="one", **common).row(),
                Observation(ref="o1", kind="bugfix", title="two", files=("a.py",), **common).row(),
                SessionSummary(ref="s1", text="three", decisions=("four",), **common).row(),
                Note(ref="n1", kind="next", text="five", **common).row(),
                Turn(ref="t1", role="user", text="six", **common).row(),
                Row(ref="b1", type="block", body="seven", search_text="seven", **common),
            ]
        )
        assert vectors.refresh("ada").embedded == 5
        assert set(embedder.asked) == {"one", "two\na.py", "three\nDecided: four", "five", "six"}

    def test_what_is_undone_takes_no_place_in_the_feed(
        self, store: SqliteStore, vectors: Vectors
    ) -> None:
        store.put([memory("m1", DRINKS["m1"])])
        vectors.refresh("ada")
        with suppress(ZeroDivisionError), store.atomic("ada"):
            store.put([memory("m2", DRINKS["m2"])])
            vectors.refresh("ada")
            assert found(vectors, "coffee") == ["m2"]
            raise ZeroDivisionError
        store.put([memory("m3", DRINKS["m3"])])
        vectors.refresh("ada")
        assert found(vectors, "plants") == ["m3"]
        assert found(vectors, "coffee") == []

    def test_nothing_is_embedded_twice(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put([*memories(DRINKS), memory("m4", DRINKS["m1"])])
        assert vectors.refresh("ada").embedded == 4
        assert sorted(embedder.asked) == sorted(DRINKS.values())
        store.put([memory("m1", DRINKS["m1"], seen=2)])
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=0)
        again = Vectors(store, embedder, NumpyIndex())
        assert again.refresh("ada") == Refreshed(embedded=0, refused=0)
        assert set(found(again, "tea")) == {"m1", "m4"}

    def test_changed_text_is_embedded_anew(self, store: SqliteStore, vectors: Vectors) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        store.put([memory("m1", "We drink juice.")])
        assert found(vectors, "tea") == []
        assert vectors.refresh("ada").embedded == 1
        assert found(vectors, "tea") == []
        assert found(vectors, "juice") == ["m1"]

    def test_what_is_deleted_or_replaced_is_not_found(
        self, store: SqliteStore, vectors: Vectors
    ) -> None:
        store.put([*memories(DRINKS), memory("m4", "Iced tea.")])
        vectors.refresh("ada")
        store.delete("ada", ["m1"])
        store.put([memory("m4", "Iced tea.", superseded_by="m5")])
        assert found(vectors, "tea") == []
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=0)
        assert set(store.blob_refs("ada", f"vector:{HashEmbedder().name}")) == {"m2", "m3"}

    def test_what_comes_back_is_found_again(self, store: SqliteStore, vectors: Vectors) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        store.delete("ada", ["m1"])
        vectors.refresh("ada")
        store.put([memory("m1", DRINKS["m1"])])
        assert vectors.refresh("ada").embedded == 1
        assert found(vectors, "tea") == ["m1"]

    def test_the_newest_come_first_and_progress_is_told(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put([memory(f"m{n}", f"text number{n}") for n in range(150)])
        told: list[tuple[int, int]] = []
        vectors.refresh("ada", lambda done, total: told.append((done, total)))
        assert told == [(64, 150), (128, 150), (150, 150)]
        assert embedder.asked[0] == "text number149"

    def test_long_texts_are_embedded_up_to_a_bound(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put([memory("m1", "word " * 100_000)])
        vectors.refresh("ada")
        vectors.similar("ada", "word " * 100_000, 1)
        assert [len(text) for text in embedder.asked] == [6_000]

    def test_another_process_and_another_store_see_it(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        other = SqliteStore(store.path)
        theirs = Vectors(other, Counting(), NumpyIndex())
        assert found(theirs, "tea") == ["m1"]
        other.put([memory("m4", "Iced tea.")])
        theirs.refresh("ada")
        assert set(found(vectors, "tea")) == {"m1", "m4"}
        assert "Iced tea." not in embedder.asked
        other.delete("ada", ["m1"])
        assert found(vectors, "tea") == ["m4"]
        other.close()


class TestFailing:
    def test_an_embedder_that_fails_is_named_and_nothing_is_lost(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put(memories(DRINKS))
        embedder.fails = ConnectionError("no route to the model")
        with pytest.raises(EmbedderError, match=r"hash:256.*no route to the model.*words alone"):
            vectors.refresh("ada")
        embedder.fails = None
        assert vectors.refresh("ada").embedded == 3

    def test_it_goes_on_where_it_was(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put([memory(f"m{n}", f"text number{n}") for n in range(200)])

        def fail_after_two_batches(done: int, total: int) -> None:
            embedder.fails = OSError("gone") if done >= 128 else None

        with pytest.raises(EmbedderError):
            vectors.refresh("ada", fail_after_two_batches)
        embedder.fails = None
        assert vectors.refresh("ada").embedded == 200 - 128
        assert len(embedder.asked) == len(set(embedder.asked)) == 200

    def test_a_killed_process_loses_at_most_one_batch(self, store: SqliteStore) -> None:
        store.put([memory(f"m{n}", f"text number{n}") for n in range(640)])
        process = python(
            "from ctxmw.search.vectors.vectors import Vectors\n"
            "from ctxmw.testing import HashEmbedder\n"
            "from ctxmw.search.vectors.numpy_index import NumpyIndex\n"
            "vectors = Vectors(SqliteStore(sys.argv[1]), HashEmbedder(), NumpyIndex())\n"
            "def tell(done, total):\n"
            "    print(done, flush=True)\n"
            "    if done > 200: time.sleep(3600)\n"
            "vectors.refresh('ada', tell)",
            store.path,
        )
        assert process.stdout is not None
        done = next(int(line) for line in process.stdout if int(line) > 200)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        embedder = Counting()
        vectors = Vectors(store, embedder, NumpyIndex())
        assert vectors.refresh("ada").embedded == len(embedder.asked) == 640 - done
        for n in range(0, 640, 80):
            every = dict(vectors.similar("ada", f"text number{n}", 640))
            assert every[f"m{n}"] == pytest.approx(1, abs=1e-5)

    def test_an_index_that_fails_is_named_and_healed(
        self, store: SqliteStore, embedder: Counting
    ) -> None:
        class Broken(NumpyIndex):
            broken = True

            def update(self, *args: Any) -> None:
                if self.broken:
                    raise OSError("disk on fire")
                super().update(*args)

        index = Broken()
        vectors = Vectors(store, embedder, index)
        store.put(memories(DRINKS))
        with pytest.raises(StoreError, match=r"'numpy' failed.*disk on fire.*nothing is lost"):
            vectors.refresh("ada")
        index.broken = False
        vectors.refresh("ada")
        assert found(vectors, "tea") == ["m1"]
        assert len(embedder.asked) == 3

    def test_an_index_that_lost_everything_is_filled_again(
        self, store: SqliteStore, embedder: Counting
    ) -> None:
        class Forgetful(NumpyIndex):
            lost = False

            def nearest(self, user: str, vector: Any, n: int, /) -> list[tuple[str, float]]:
                if self.lost:
                    self.lost = False
                    self.close()
                    raise StoreError("began anew")
                return super().nearest(user, vector, n)

        index = Forgetful()
        vectors = Vectors(store, embedder, index)
        store.put([*memories(DRINKS), memory("m1", "Earl grey tea", "bob")])
        vectors.refresh("ada")
        vectors.refresh("bob")
        index.lost = True
        assert found(vectors, "tea") == ["m1"]
        assert found(vectors, "grey", "bob") == ["m1"]
        assert len(embedder.asked) == 4

    def test_a_row_that_changes_while_it_is_embedded_is_embedded_again(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put(memories(DRINKS))

        def change_once() -> None:
            embedder.before = lambda: None
            store.put([memory("m1", "We drink juice.")])
            store.delete("ada", ["m2"])

        embedder.before = change_once
        vectors.refresh("ada")
        assert store.blob_refs("ada", f"vector:{embedder.name}") == ["m3"]
        vectors.refresh("ada")
        assert (found(vectors, "tea"), found(vectors, "coffee")) == ([], [])
        assert found(vectors, "juice") == ["m1"]


class TestRefused:
    @pytest.mark.parametrize("bad", [0.0, math.nan, math.inf, -math.inf])
    def test_a_vector_that_makes_no_sense_is_not_kept(self, store: SqliteStore, bad: float) -> None:
        class Sometimes(Counting):
            def embed(self, texts: Sequence[str], /) -> list[list[float]]:
                return [
                    [bad] * self.size if "tea" in text else vector
                    for text, vector in zip(texts, super().embed(texts), strict=True)
                ]

        embedder = Sometimes()
        vectors = Vectors(store, embedder, NumpyIndex())
        store.put(memories(DRINKS))
        assert vectors.refresh("ada") == Refreshed(embedded=2, refused=1)
        assert "m1" not in dict(vectors.similar("ada", "green tea", 10))
        again = Vectors(store, embedder, NumpyIndex())
        assert again.refresh("ada") == Refreshed(embedded=0, refused=0)
        assert len(embedder.asked) == 3

    @pytest.mark.parametrize("reopened", [False, True])
    def test_a_model_that_had_a_bad_hour_is_asked_again_after_ever_longer_pauses(
        self, store: SqliteStore, reopened: bool
    ) -> None:
        class Moody(Counting):
            mood = math.nan

            def embed(self, texts: Sequence[str], /) -> list[list[float]]:
                given = super().embed(texts)
                return given if self.mood == 1 else [[self.mood] * self.size for _ in given]

        clock, embedder = FixedClock(), Moody()
        vectors = Vectors(store, embedder, NumpyIndex(), clock=clock)
        store.put([*memories(DRINKS), memory("m4", "...")])
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=4)
        clock.advance(minutes=2)
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=3)
        embedder.mood = 1
        clock.advance(minutes=2)
        if reopened:
            vectors = Vectors(store, embedder, NumpyIndex(), clock=clock)
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=0)
        clock.advance(minutes=3)
        assert vectors.refresh("ada") == Refreshed(embedded=3, refused=0)
        assert found(vectors, "tea") == ["m1"]
        assert sorted(embedder.asked) == sorted(3 * [*DRINKS.values()])

    def test_a_text_without_words_is_not_even_sent(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put([memory("m1", "..."), memory("m2", "\U0001f44d")])
        assert vectors.refresh("ada") == Refreshed(embedded=0, refused=2)
        assert embedder.asked == []

    @pytest.mark.parametrize("query", ["", "  \n", "..."])
    def test_a_question_without_words_finds_nothing(
        self, store: SqliteStore, vectors: Vectors, query: str
    ) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        assert vectors.similar("ada", query, 10) == []
        assert vectors.similar("ada", "tea", 0) == []

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    def test_very_small_and_very_large_numbers_are_fine(
        self, store: SqliteStore, scale: float
    ) -> None:
        class Scaled(HashEmbedder):
            def embed(self, texts: Sequence[str], /) -> list[list[float]]:
                return [[scale * number for number in each] for each in super().embed(texts)]

        vectors = Vectors(store, Scaled(), NumpyIndex())
        store.put(memories(DRINKS))
        assert vectors.refresh("ada").embedded == 3
        assert found(vectors, "tea") == ["m1"]

    @pytest.mark.parametrize(
        "given",
        [
            [],
            [[1.0]],
            [[1.0, 2.0], [1.0], [1.0, 2.0]],
            [[], [], []],
            [[[1.0]]] * 3,
            [1.0, 2.0, 3.0],
        ],
    )
    def test_vectors_of_the_wrong_number_or_shape_raise(
        self, store: SqliteStore, given: Any
    ) -> None:
        class Wrong(HashEmbedder):
            def embed(self, texts: Sequence[str], /) -> Any:
                return given

        store.put(memories(DRINKS))
        with pytest.raises(InvalidValue, match="the embedder 'hash:256' gave"):
            Vectors(store, Wrong(), NumpyIndex()).refresh("ada")

    def test_a_model_that_changed_under_its_name_raises(self, store: SqliteStore) -> None:
        store.put(memories(DRINKS))
        Vectors(store, HashEmbedder(256), NumpyIndex()).refresh("ada")
        changed = HashEmbedder(64)
        changed.name = HashEmbedder(256).name
        vectors = Vectors(store, changed, NumpyIndex())
        with pytest.raises(InvalidValue, match=r"hash:256.*64 numbers.*256 before.*reindex"):
            vectors.similar("ada", "tea", 3)
        store.put([memory("m4", "Iced tea.")])
        with pytest.raises(InvalidValue, match=r"64 numbers"):
            vectors.refresh("ada")
        assert vectors.reindex("ada").embedded == 4
        assert set(found(vectors, "tea")) == {"m1", "m4"}


class TestReindex:
    def test_everything_is_embedded_anew(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        embedder.asked.clear()
        told: list[tuple[int, int]] = []
        assert vectors.reindex("ada", lambda *done: told.append(done)).embedded == 3
        assert set(DRINKS.values()) <= set(embedder.asked)
        assert told == [(3, 3)]
        assert found(vectors, "tea") == ["m1"]

    def test_vectors_of_the_model_before_go(self, store: SqliteStore) -> None:
        store.put([*memories(DRINKS), memory("m1", "tea", "bob")])
        index = NumpyIndex()
        old = Vectors(store, HashEmbedder(64), index)
        old.refresh("ada")
        old.refresh("bob")
        new = Vectors(store, HashEmbedder(128), index)
        new.reindex("ada")
        assert store.blob_spaces("ada") == ["vector:hash:128"]
        assert store.blob_spaces("bob") == ["vector:hash:64"]
        assert found(new, "tea") == ["m1"]

    def test_nothing_is_let_go_while_the_embedder_is_down(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        embedder.fails = OSError("down")
        with pytest.raises(EmbedderError):
            vectors.reindex("ada")
        assert found(vectors, "tea") == ["m1"]

    def test_two_models_do_not_meet(self, store: SqliteStore) -> None:
        """Going back to the model before finds its vectors, not those of the other."""
        other = HashEmbedder(256)
        other.name = "other"
        other.embed = lambda texts: [[1.0] * 256 for _ in texts]  # type: ignore[method-assign]
        store.put(memories(DRINKS))
        index = NumpyIndex()
        first, second = Vectors(store, HashEmbedder(), index), Vectors(store, other, index)
        first.refresh("ada")
        second.refresh("ada")
        assert found(first, "tea") == ["m1"]


class TestUsers:
    NAMES = ("u1", "u10", "u%", "u_", "U1", "u1\n", "8:hash:256:u1")

    def test_no_name_is_another(self, store: SqliteStore, vectors: Vectors) -> None:
        for n, name in enumerate(self.NAMES):
            store.put([memory("m1", f"tea number{n}", name)])
            vectors.refresh(name)
        for n, name in enumerate(self.NAMES):
            assert len(vectors.similar(name, "tea", 10)) == 1
            for other in range(len(self.NAMES)):
                assert found(vectors, f"number{other}", name) == ["m1"] * (n == other)

    def test_memory_is_bounded_and_nobody_is_lost(self, store: SqliteStore) -> None:
        names = [f"user{n}" for n in range(6)]
        for name in names:
            store.put([memory(f"m{n}", f"{name} word{n}", name) for n in range(100)])
        limit = 3 * 128 * 256 * 4
        index = NumpyIndex(limit)
        vectors = Vectors(store, HashEmbedder(), index)
        for name in [*names, *names[::-1], *names]:
            vectors.refresh(name)
            assert len(vectors.similar(name, name, 200)) == 100
            assert index.bytes() <= limit
        # One that is larger than the limit is kept while it is used.
        tight = Vectors(store, HashEmbedder(), NumpyIndex(1))
        assert [len(tight.similar(name, name, 200)) for name in names] == [100] * 6

    def test_threads_find_what_is_there_while_others_write(
        self, store: SqliteStore, vectors: Vectors
    ) -> None:
        for name in ("ada", "bob"):
            store.put([memory("first", f"tea of {name}", name)])
            vectors.refresh(name)

        def write(name: str, thread: int) -> None:
            for n in range(15):
                store.put([memory(f"t{thread}n{n}", f"{name} wrote {thread} {n}", name)])
                vectors.refresh(name)

        def search(name: str) -> None:
            for _ in range(60):
                assert found(vectors, f"tea of {name}", name, n=1) == ["first"]

        with ThreadPoolExecutor(6) as threads:
            working = [
                *(threads.submit(write, name, n) for n, name in enumerate(("ada", "bob") * 2)),
                *(threads.submit(search, name) for name in ("ada", "bob")),
            ]
        for work in working:
            work.result()
        for name in ("ada", "bob"):
            vectors.refresh(name)
            assert len(vectors.similar(name, "wrote", 100)) == 31


class TestCalibrated:
    def test_unrelated_is_nothing_and_the_same_is_certain(self, vectors: Vectors) -> None:
        assert vectors.calibrated(-1.0) == 0.0
        assert vectors.calibrated(1.0) == 1.0
        rising = [vectors.calibrated(n / 20) for n in range(21)]
        assert rising == sorted(rising)
        assert len(set(rising)) > 3

    def test_depends_on_the_model_alone_and_is_asked_for_once(
        self, store: SqliteStore, vectors: Vectors, embedder: Counting
    ) -> None:
        before = vectors.calibrated(0.3)
        asked = len(embedder.asked)
        assert asked > 0
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        again = Counting()
        assert Vectors(store, again, NumpyIndex()).calibrated(0.3) == before
        assert again.asked == []
        assert 0 < before < 1

    def test_a_model_that_tells_nothing_apart_matches_nothing(self, store: SqliteStore) -> None:
        from llama_index.core import MockEmbedding

        from ctxmw.search.vectors.embedders import as_embedder

        vectors = Vectors(store, as_embedder(MockEmbedding(embed_dim=5)), NumpyIndex())
        assert vectors.calibrated(1.0) == 0.0

    def test_a_real_model(self, store: SqliteStore) -> None:
        pytest.importorskip("wordllama", reason="wordllama is not installed")
        from ctxmw.search.vectors.embedders import as_embedder

        vectors = Vectors(store, as_embedder("wordllama"), NumpyIndex())
        store.put(memories(DRINKS))
        vectors.refresh("ada")
        match = {
            ref: vectors.calibrated(cosine)
            for ref, cosine in vectors.similar("ada", "Which tea do we drink?", 3)
        }
        assert match["m1"] > 0.6
        assert max(match["m2"], match["m3"]) < 0.4


@settings(max_examples=40)
@given(data=st.data())
def test_the_numpy_index_finds_exactly_what_a_sort_of_all_finds(data: st.DataObject) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    index = NumpyIndex()
    held: dict[str, Any] = {}
    for _ in range(data.draw(st.integers(1, 6))):
        refs = data.draw(st.lists(st.integers(0, 90), max_size=80, unique=True))
        gone = data.draw(
            st.lists(st.sampled_from(sorted(held)), unique=True) if held else st.just([])
        )
        new = {f"m{n}": chance.standard_normal(8).astype(np.float32) for n in refs}
        index.update("ada", new, gone)
        held = {ref: held[ref] for ref in held if ref not in gone} | new
    assert index.refs("ada") == held.keys()
    asked = chance.standard_normal(8).astype(np.float32)
    cosines = {
        ref: float(v @ asked / np.linalg.norm(v) / np.linalg.norm(asked)) for ref, v in held.items()
    }
    n = data.draw(st.integers(0, 100))
    best = sorted(cosines, key=lambda ref: -cosines[ref])[:n]
    hits = index.nearest("ada", asked, n)
    assert [ref for ref, _ in hits] == best
    assert [cosine for _, cosine in hits] == pytest.approx([cosines[r] for r in best], abs=1e-5)
    assert index.nearest("bob", asked, n) == []


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_whatever_happens_the_index_ends_with_what_is_live(seed: int) -> None:
    chance = random.Random(seed)
    store = SqliteStore(":memory:")
    two = [Vectors(store, HashEmbedder(32), NumpyIndex()) for _ in range(2)]
    live: dict[str, str] = {}
    for _ in range(25):
        ref = f"m{chance.randrange(6)}"
        step = chance.choice(["put", "edit", "retire", "delete", "refresh", "similar"])
        if step in ("put", "edit"):
            live[ref] = f"w{chance.randrange(40)}" if step == "edit" else live.get(ref, "tea")
            store.put([memory(ref, live[ref])])
        elif step == "retire" and ref in live:
            store.put([memory(ref, live.pop(ref), superseded_by="m9")])
        elif step == "delete":
            live.pop(ref, None)
            store.delete("ada", [ref])
        elif step == "refresh":
            chance.choice(two).refresh("ada")
        else:
            assert {r for r, _ in chance.choice(two).similar("ada", "tea", 99)} <= live.keys()
    for vectors in two:
        vectors.refresh("ada")
        for ref, text in live.items():
            assert dict(vectors.similar("ada", text, 99))[ref] == pytest.approx(1, abs=1e-5)
        assert len(vectors.similar("ada", "tea", 99)) == len(live)
    store.close()
