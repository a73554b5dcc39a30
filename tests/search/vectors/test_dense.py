"""Search by meaning joins search by words, and goes on without when it fails."""

from __future__ import annotations

import logging
import random
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.testing import HashEmbedder
from tests.support.rows import python
from tests.support.waiting import PATIENCE, until

ASKED = [{"role": "user", "content": "What are gears made of?"}]


class Twins:
    """Knows that a feline is a cat; everything else is far from it."""

    name = "twins:1"

    def embed(self, texts):
        return [
            [1.0, 0.1] if {"cat", "feline"} & set(t.lower().split()) else [0.0, 1.0] for t in texts
        ]

    def embed_query(self, text):
        return self.embed([text])[0]


class Broken(Twins):
    name = "broken:1"

    def embed(self, texts):
        raise ConnectionError("no route to the model")


def test_what_shares_no_word_is_found_by_meaning():
    with ContextMiddleware.open(":memory:", embedder=Twins()) as ctx:
        ctx.remember("My cat sleeps all day", kind="fact")
        ctx.remember("Gears are made of brass", kind="fact")
        assert ctx.search("feline habits")[0].text == "My cat sleeps all day"
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.remember("My cat sleeps all day", kind="fact")
        assert ctx.search("feline habits") == []


def test_forgetting_reaches_the_vectors():
    with ContextMiddleware.open(":memory:", embedder=Twins()) as ctx:
        memory = ctx.remember("My cat sleeps all day", kind="fact")
        assert ctx.search("feline habits")
        ctx.forget(memory.ref)
        assert ctx.search("feline habits") == []


@pytest.mark.parametrize("index", ["numpy", "chroma"])
def test_both_indexes_find_the_same(tmp_path, index):
    with ContextMiddleware.open(tmp_path / "m.db", embedder=HashEmbedder(), index=index) as ctx:
        for number in range(20):
            ctx.remember(f"Gear number {number} is made of brass and tin", kind="fact")
        assert len(ctx.search("Which are made of brass and tin?")) == 10
        assert "number 7 " in ctx.search("gear number 7")[0].text


def test_when_the_embedder_fails_words_are_enough_and_the_record_says_so(caplog):
    with ContextMiddleware.open(":memory:", embedder=Broken()) as ctx:
        ctx.remember("Gears are made of brass", kind="fact", scope="project:shop")
        with caplog.at_level(logging.WARNING, logger="ctxmw"):
            assert ctx.search("gears")[0].text == "Gears are made of brass"
        assert "words alone" in caplog.text
        chat = ctx.session("s1")
        prepared = chat.prepare(ASKED)
        assert prepared.context.degraded.startswith("meaning: ")
        assert chat.forgiving().finish(prepared, "Brass.").state == "answered"
        assert chat.history()[-1].degraded.startswith("meaning: ")


def test_users_never_share_vectors():
    with ContextMiddleware.open(":memory:", user=None, embedder=Twins()) as ctx:
        ctx.remember("My cat sleeps all day", kind="fact", user="ada")
        assert ctx.search("feline habits", user="bob") == []
        assert ctx.search("feline habits", user="ada")


def test_reindex_needs_an_embedder_and_embeds_everything():
    with ContextMiddleware.open(":memory:") as ctx:
        with pytest.raises(InvalidValue, match="embedder"):
            ctx.reindex()
    with ContextMiddleware.open(":memory:", embedder=HashEmbedder()) as ctx:
        for number in range(5):
            ctx.remember(f"Gear {number}", kind="fact")
        told = []
        assert ctx.reindex(progress=lambda done, total: told.append((done, total))) == 5
        assert told[-1] == (5, 5)


@pytest.mark.parametrize(("options", "names"), [
    ({"embedder": 7}, "embedder"), ({"embedder": HashEmbedder(), "index": "faiss"}, "faiss"),
])  # fmt: skip
def test_a_wrong_embedder_or_index_is_named(options, names):
    with pytest.raises(InvalidValue, match=names):
        ContextMiddleware.open(":memory:", **options)


class Gated(HashEmbedder):
    """Embeds records only while its gate is open, and counts how many at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.batches: list[int] = []
        self.fails = 0

    def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.gate.wait(PATIENCE)
        if self.fails:
            self.fails -= 1
            raise ConnectionError("no route to the model")
        self.batches.append(len(texts))
        return super().embed(texts)


@pytest.fixture
def embedder() -> Iterator[Gated]:
    made = Gated()
    yield made
    made.gate.set()


def waiting(ctx: ContextMiddleware) -> int:
    return ctx.stats()["embedding.waiting"]


def turns(n: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Gear number{i} is brass."} for i in range(n)]


def varied(n: int) -> list[str]:
    """Return texts that are far from each other: Chroma misses some of many that are not."""
    chance = random.Random(3)
    vocabulary = [f"word{i}" for i in range(500)]
    return [" ".join(chance.sample(vocabulary, 15)) for _ in range(n)]


def test_the_first_search_embeds_a_few_and_the_rest_follows_by_itself(tmp_path, embedder):
    with ContextMiddleware.open(tmp_path / "m.db") as ctx:
        ctx.session("s1").capture(turns(1_000))
    with ContextMiddleware.open(tmp_path / "m.db", embedder=embedder, deadline=10_000) as ctx:
        assert ctx.search("number7")
        until(lambda: ctx.stats()["embedding.embedded"] >= 900 and not waiting(ctx))
        assert max(embedder.batches) <= 64
        assert ctx._learner.dense.vectors.refresh("local").embedded == 0


def test_what_is_written_is_embedded_before_anybody_asks(embedder):
    with ContextMiddleware.open(":memory:", embedder=embedder, deadline=10_000) as ctx:
        ctx.remember("Gears are made of brass.", kind="fact")
        until(lambda: embedder.batches == [1])
        ctx.session("s1").capture(turns(3))
        until(lambda: sum(embedder.batches) == 4)


def test_without_a_deadline_everything_is_embedded_when_it_is_searched(embedder):
    with ContextMiddleware.open(":memory:", embedder=embedder, deadline=None) as ctx:
        ctx.session("s1").capture(turns(200))
        assert embedder.batches == []
        ctx.search("number7")
        calibration = 32
        assert sum(embedder.batches) == 200 + calibration
        assert "embedding.waiting" not in ctx.stats()


def test_one_user_with_much_to_embed_does_not_keep_others_waiting(embedder):
    embedder.gate.clear()
    with ContextMiddleware.open(":memory:", user=None, embedder=embedder, deadline=10_000) as ctx:
        ctx.session("s1", user="ada").capture(turns(300))
        ctx.session("s1", user="bob").capture(turns(1))
        embedder.gate.set()
        until(lambda: sum(embedder.batches) == 301)
        assert 1 in embedder.batches[:3]


def test_an_embedder_that_fails_is_tried_again(embedder, caplog, monkeypatch):
    monkeypatch.setattr("ctxmw.search.vectors.dense.LONGEST_PAUSE", 0.01)
    embedder.fails = 4  # each time another text is tried, too: it might be about the text
    with ContextMiddleware.open(":memory:", embedder=embedder, deadline=10_000) as ctx:
        ctx.remember("Gears are made of brass.", kind="fact")
        until(lambda: embedder.batches == [1])
        until(lambda: not waiting(ctx))
        assert ctx.stats()["embedding.failures"] == 2
    assert caplog.text.count("wait to be embedded") == 1


def test_closing_stops_it_after_the_records_at_hand(tmp_path, embedder, monkeypatch):
    monkeypatch.setattr("ctxmw.search.vectors.dense.SECONDS_TO_STOP", PATIENCE)
    ctx = ContextMiddleware.open(tmp_path / "m.db", embedder=embedder, deadline=10_000)
    embedder.gate.clear()
    ctx.session("s1").capture(turns(640))
    until(lambda: any(thread.name == "ctxmw-backlog" for thread in threading.enumerate()))
    stop = ctx._learner.dense._backlog._stop
    opening = threading.Thread(target=lambda: stop.wait(PATIENCE) and embedder.gate.set())
    opening.start()
    ctx.close()
    opening.join()
    assert not any(thread.name == "ctxmw-backlog" for thread in threading.enumerate())
    assert sum(embedder.batches) < 640


def test_closing_does_not_wait_for_a_model_that_hangs(tmp_path, embedder, monkeypatch):
    monkeypatch.setattr("ctxmw.search.vectors.dense.SECONDS_TO_STOP", 0.05)
    ctx = ContextMiddleware.open(tmp_path / "m.db", embedder=embedder, deadline=10_000)
    embedder.gate.clear()
    ctx.remember("Gears are made of brass.", kind="fact")
    ctx.close()
    embedder.gate.set()
    with ContextMiddleware.open(tmp_path / "m.db", embedder=embedder, deadline=None) as again:
        assert again.search("brass")[0].text == "Gears are made of brass."


@pytest.mark.parametrize("index", ["numpy", "chroma"])
def test_a_process_is_killed_while_it_embeds(tmp_path: Path, index: str) -> None:
    path = tmp_path / "m.db"
    process = python(
        "from ctxmw import ContextMiddleware; from ctxmw.testing import HashEmbedder\n"
        "class Slow(HashEmbedder):\n"
        "    done = 0\n"
        "    def embed(self, texts):\n"
        "        Slow.done += len(texts)\n"
        "        print(Slow.done, flush=True)\n"
        "        if Slow.done > 300: time.sleep(3600)\n"
        "        return super().embed(texts)\n"
        "ctx = ContextMiddleware.open(sys.argv[1], embedder=Slow(), index=sys.argv[2],\n"
        "                             deadline=10_000)\n"
        "from tests.search.vectors.test_dense import varied\n"
        "ctx.session('s1').capture([{'role': 'user', 'content': text} for text in varied(640)])\n"
        "time.sleep(3600)",
        path,
        index,
    )
    assert process.stdout is not None
    next(line for line in process.stdout if int(line) > 300)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    embedder = Gated()
    with ContextMiddleware.open(path, embedder=embedder, index=index, deadline=None) as ctx:
        vectors = ctx._learner.dense.vectors
        assert 300 < vectors.refresh("local").embedded <= 640 - 64
        for text in varied(640)[::40]:
            (ref, cosine), *_ = vectors.similar("local", text, 1)
            assert cosine == pytest.approx(1, abs=1e-5)
            assert ctx.get([ref])[0].text == text
