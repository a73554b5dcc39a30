"""A copy of an index knows nothing of what is gone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import ContextMiddleware
from ctxmw.search.lexical.index import Document, LexicalIndex
from ctxmw.search.per_user import SPACE
from tests.support.documents import document
from tests.support.rows import NOW
from tests.support.snapshots import restarted, restored

WORDS = st.lists(st.sampled_from("tea milk rye oak fig kiwi jam the".split()), max_size=6)
SAID = st.tuples(
    st.integers(0, 9), st.sampled_from(["", "s1", "s2"]), st.sampled_from(["", "Ann", "Bob"]), WORDS
)


def spoken(said: tuple[int, str, str, list[str]], day: int) -> Document:
    number, session, speaker, words = said
    return document(
        f"t{number}",
        " ".join(words).title(),
        session,
        type="turn" if session else "memory",
        scope=f"project:{number % 3}",
        speaker=speaker,
        at=NOW + timedelta(days=day),
    )


def holders(index: LexicalIndex) -> dict[str, dict[str, float]]:
    """Return which live records hold which word how often."""
    found = {}
    for word in index.vocabulary.names:
        [(places, counts)] = index.postings([index.vocabulary.known([word])[word]])
        live = [index.place(index.ref(place)) == place for place in places.tolist()]
        held = zip(places[live].tolist(), counts[live].tolist(), strict=True)
        found[word] = {index.ref(place): times for place, times in held}
    return {word: by for word, by in found.items() if by}


@given(st.lists(SAID, max_size=30), st.sets(st.integers(0, 9), max_size=6))
def test_it_is_that_of_an_index_which_never_saw_it(said, gone):
    index = LexicalIndex()
    documents = [spoken(one, day) for day, one in enumerate(said)]
    for one in documents:
        index.add([one])
    for number in gone:
        index.remove(f"t{number}")
    again = restarted(index)
    last = {one.ref: one for one in documents}
    left = sorted((ref for ref in last if int(ref[1:]) not in gone), key=lambda ref: last[ref].at)
    fresh = LexicalIndex()
    for ref in left:
        fresh.add([last[ref]])
    assert [again.ref(place) for place in range(len(again))] == left
    assert again.dead == 0
    assert holders(again) == holders(fresh)
    assert set(again.vocabulary.names) == set(fresh.vocabulary.names)
    for name in ("previous", "next", "place", "day", "length", "cost", "alive", "first"):
        np.testing.assert_array_equal(again.columns[name].all, fresh.columns[name].all, name)
    assert again.people.speakers.keys() == fresh.people.speakers.keys()
    names = again.people.dump()["said"].keys()
    assert fresh.people.dump()["said"].keys() <= names <= {*again.vocabulary.names, "the"}
    again.add([spoken((99, "s1", "Ann", ["tea"]), 99)])
    fresh.add([spoken((99, "s1", "Ann", ["tea"]), 99)])
    assert (again.columns["previous"].all == fresh.columns["previous"].all).all()
    assert holders(again) == holders(fresh)


def test_a_forgotten_word_does_not_come_back_with_the_next_copy(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ContextMiddleware.open(path) as ctx:
        lines = [
            {"role": "user", "name": "Ann", "content": f"Gear n{n} is brass."} for n in range(1100)
        ]
        ctx.session("s1").capture(lines)
        secret = [{"role": "user", "name": "Ann", "content": "Hey Zebrafish, it is quagga."}]
        ctx.session("s2").capture(secret)
        assert ctx.search("quagga")
        assert ctx.store.get_blobs("local", SPACE, ["*"])
        ctx.forget(session="s2")
        assert not ctx.store.get_blobs("local", SPACE, ["*"])
        assert ctx.search("quagga") == []
        (copy,) = ctx.store.get_blobs("local", SPACE, ["*"]).values()
        assert restored(copy).vocabulary.names.find("brass") >= 0
    for file in tmp_path.iterdir():
        assert b"zebrafish" not in file.read_bytes().lower(), file
        assert b"quagga" not in file.read_bytes().lower(), file


def test_what_something_newer_replaced_leaves_the_copy_alone(tmp_path: Path) -> None:
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        ctx.session("s1").capture([{"role": "user", "content": f"Gear n{n}."} for n in range(1100)])
        ctx.remember("The port is 8080.", key="port")
        assert ctx.search("port")
        copies = ctx.store.get_blobs("local", SPACE, ["*"])
        ctx.remember("The port is 9090.", key="port")
        assert ctx.store.get_blobs("local", SPACE, ["*"]) == copies
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        assert [hit.text for hit in ctx.search("port")] == [
            "The port is 9090. (was: The port is 8080.)"
        ]
